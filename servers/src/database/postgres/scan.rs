//! Going through a table for the versions that a statement sees.

use super::super::core::Core;
use super::super::evaluate::Scope;
use super::super::values::collated;
use super::conditions::parts;
use super::heap::Tid;
use super::job::Job;
use super::plan::{Way, usable};
use super::predicate::Target;
use scheduler::ports::sql::{IndexDef, Predicate, SqlError, TableDef, Type};
use scheduler::ports::{Table, Value};
use std::collections::VecDeque;

/// What an index sorts by: NULL comes last.
pub(super) type SortKey = Vec<(bool, Value)>;

/// A way through a table, begun.
#[derive(Debug)]
pub(super) struct Scan {
    table: Table,
    /// Index entries that are not followed yet.
    entries: VecDeque<Tid>,
    /// Versions that were found.
    found: VecDeque<Tid>,
}

impl Job {
    /// Begins; whatever lies on the one page of a table is looked at at once.
    pub(super) fn scan(
        &self,
        table: Table,
        definition: &TableDef,
        filter: &Predicate,
        way: &Way,
    ) -> Result<Scan, SqlError> {
        let mut core = self.handle.borrow_mut();
        let core = &mut *core;
        let mut scan = Scan {
            table,
            entries: VecDeque::new(),
            found: VecDeque::new(),
        };
        match way {
            Way::Table => {
                let serializable = &mut core.postgres.serializable;
                serializable.read(self.id, Target::Table(table));
                for tid in 0..core.postgres.len(table) {
                    if self.visit(core, table, tid)? {
                        scan.found.push_back(tid);
                    }
                }
            }
            Way::Index { index, backward } => {
                let mut entries = self.entries(core, table, definition, *index, filter);
                if *backward {
                    entries.reverse();
                }
                scan.entries = entries.into();
            }
            Way::Bitmap { indexes } => {
                let branches = branches(filter, indexes.len());
                let mut entries: Vec<Tid> = indexes
                    .iter()
                    .zip(&branches)
                    .flat_map(|(index, part)| self.entries(core, table, definition, *index, part))
                    .collect();
                entries.sort_unstable();
                entries.dedup();
                for entry in entries {
                    scan.found.extend(self.follow(core, table, entry)?);
                }
            }
        }
        Ok(scan)
    }

    /// The next version.
    pub(super) fn next(&self, scan: &mut Scan) -> Result<Option<Tid>, SqlError> {
        let mut core = self.handle.borrow_mut();
        loop {
            if let Some(found) = scan.found.pop_front() {
                return Ok(Some(found));
            }
            let Some(entry) = scan.entries.pop_front() else {
                return Ok(None);
            };
            let found = self.follow(&mut core, scan.table, entry)?;
            scan.found.extend(found);
        }
    }

    /// The entries of an index that answer the condition, in the order of the index.
    fn entries(
        &self,
        core: &mut Core,
        table: Table,
        definition: &TableDef,
        index: usize,
        filter: &Predicate,
    ) -> Vec<Tid> {
        let serializable = &mut core.postgres.serializable;
        serializable.read(self.id, Target::Index(table, index));
        let Some(with) = definition.indexes.get(index) else {
            return Vec::new();
        };
        let parts = parts(filter);
        let usable = usable(with, &parts);
        let mut entries: Vec<(SortKey, Tid)> = Vec::new();
        for tid in core.postgres.entries(table, index) {
            let Some(version) = core.postgres.version(table, tid) else {
                continue;
            };
            let scope = Scope::of_row(core, self.id, definition, &version.row);
            if usable.iter().all(|part| scope.holds(part.predicate)) {
                entries.push((sort_key(definition, with, &version.row), tid));
            }
        }
        entries.sort();
        entries.into_iter().map(|(_, tid)| tid).collect()
    }

    /// The version that the statement sees of those that an index entry leads to.
    fn follow(&self, core: &mut Core, table: Table, entry: Tid) -> Result<Option<Tid>, SqlError> {
        let Some(heap) = core.postgres.heaps.get(&table) else {
            return Ok(None);
        };
        for tid in core.postgres.view(self.id).chain(heap, entry) {
            if self.visit(core, table, tid)? {
                let read = Target::Version(table, tid);
                let store = &mut core.postgres;
                let xmin = store.version(table, tid).map(|version| version.xmin);
                if !xmin.is_some_and(|xmin| store.xids.is_own(xmin, self.id)) {
                    store.serializable.read(self.id, read);
                }
                return Ok(Some(tid));
            }
        }
        Ok(None)
    }

    /// Looks at a version: whether the statement sees it. What it must not see, or what somebody
    /// has changed since, was written after this transaction in any order.
    pub(super) fn visit(&self, core: &mut Core, table: Table, tid: Tid) -> Result<bool, SqlError> {
        let visible = self.sees(core, table, tid);
        let store = &mut core.postgres;
        let Some(oldest) = store.serializable.reader(self.id)? else {
            return Ok(visible);
        };
        let Some(version) = store.version(table, tid) else {
            return Ok(visible);
        };
        if version.gone || store.xids.has_aborted(version.xmin) {
            return Ok(visible);
        }
        let updater = store.view(self.id).updater(version);
        let writer = match (visible, updater) {
            (true, updater) => updater,
            (false, _) => Some(version.xmin),
        };
        let Some(writer) = writer.filter(|xid| !store.xids.is_own(*xid, self.id)) else {
            return Ok(visible);
        };
        let top = store.xids.top(writer);
        if top >= oldest {
            store.serializable.came_upon(self.id, top)?;
        }
        Ok(visible)
    }
}

/// The parts of a condition that several indexes answer one each.
fn branches(filter: &Predicate, indexes: usize) -> Vec<Predicate> {
    if indexes == 1 {
        return vec![filter.clone()];
    }
    let any = parts(filter).into_iter().find_map(|part| match part {
        Predicate::Any(any) if any.len() == indexes => Some(any.clone()),
        _ => None,
    });
    any.unwrap_or_default()
}

fn sort_key(definition: &TableDef, index: &IndexDef, row: &[Value]) -> SortKey {
    let values = key(definition, index, row).into_iter();
    values.map(|value| (value == Value::Null, value)).collect()
}

/// The values of a row by which an index knows it.
pub(super) fn key(definition: &TableDef, index: &IndexDef, row: &[Value]) -> Vec<Value> {
    let value = |column: &scheduler::ports::Column| {
        let at = usize::from(column.0);
        let kind = definition.columns.get(at).map_or(Type::Int, |c| c.kind);
        row.get(at)
            .map(|value| collated(value, kind))
            .unwrap_or_default()
    };
    index.columns.iter().map(value).collect()
}
