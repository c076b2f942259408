//! INSERT: the row into the clustered index, then an entry into each other index.

use super::compatibility::{Mode, Span};
use super::duplicates;
use super::inheritance::split_gap;
use super::numbers::Numbers;
use super::records::{IndexId, Key, Row, SUPREMUM};
use super::waiting::{Asker, Got, Want};
use crate::broken::{self, Broken};
use crate::database::core::race;
use crate::database::engine::Flavor;
use crate::database::evaluate::{Scope, slept};
use crate::database::values::fit;
use scheduler::ports::sql::{Conflict, Insert, Reply, Scalar, SqlError, Tag, WhenLocked};
use scheduler::ports::{Table, Value};
use std::ops::Bound;

/// MariaDB's warning for a row that INSERT IGNORE passed over.
const WARN_DUPLICATE: u16 = 1062;

/// Why a row was not inserted.
#[derive(Debug)]
pub(super) enum Failure {
    /// An index has this key already.
    Duplicate {
        index: usize,
        key: Key,
    },
    Error(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Failure::Error(error)
    }
}

/// Runs an INSERT.
pub(super) async fn run(asker: &Asker, insert: &Insert) -> Result<Reply, SqlError> {
    let replaces = matches!(insert.conflict, Conflict::Update { .. } | Conflict::Replace);
    {
        let store = &mut asker.handle.borrow_mut().innodb;
        store.intend(asker.trx, insert.table, Mode::Exclusive);
        if let Some(trx) = store.trxs.get_mut(&asker.trx) {
            trx.replaces = replaces;
        }
    }
    let (mut affected, mut warnings, mut stored) = (0, Vec::new(), Vec::new());
    let mut numbers = Numbers::default();
    for (place, values) in insert.rows.iter().enumerate() {
        (numbers.rows_left, numbers.took) = (insert.rows.len() - place, false);
        let slept = slept(&asker.handle, asker.session, values.iter()).await?;
        let values = slept.as_ref().unwrap_or(values);
        let row = fill(asker, insert, values, &mut warnings, &mut numbers)?;
        let point = asker.undo_point();
        match put(asker, insert.table, &row, &insert.conflict).await {
            Ok(()) => {
                affected += 1;
                stored.push(row);
            }
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Duplicate { index, key }) => {
                asker.undo_to(point);
                if insert.conflict != Conflict::Replace {
                    numbers.give_back();
                }
                let meet = duplicates::Meeting { index, key, row };
                match duplicates::meet(asker, insert, meet).await? {
                    Some((count, row)) => {
                        affected += count;
                        stored.push(row);
                    }
                    None => warnings.push(WARN_DUPLICATE),
                }
            }
        }
    }
    if matches!(insert.conflict, Conflict::Nothing { .. }) {
        warnings.clear();
    }
    let core = asker.handle.borrow();
    let def = &core.tables[&insert.table];
    let returned = insert.returning.as_ref().map(|returning| {
        let output = |row: &Row| Scope::of_row(&core, asker.session, def, row).outputs(returning);
        stored.iter().map(output).collect()
    });
    Ok(Reply {
        affected: Some(affected),
        rows: returned,
        warnings,
        ..Reply::done(Tag::Insert)
    })
}

/// The row that is to be inserted.
fn fill(
    asker: &Asker,
    insert: &Insert,
    values: &[Scalar],
    warnings: &mut Vec<u16>,
    numbers: &mut Numbers,
) -> Result<Row, SqlError> {
    let mut core = asker.handle.borrow_mut();
    let lenient = insert.conflict == Conflict::Ignore;
    let def = core.tables[&insert.table].clone();
    let mut row: Row = def.columns.iter().map(|c| c.default.clone()).collect();
    for (column, scalar) in insert.columns.iter().zip(values) {
        if let Some(cell) = row.get_mut(usize::from(column.0)) {
            *cell = Scope::bare(&core, asker.session).value(scalar);
        }
    }
    let mut fitted = Row::with_capacity(row.len());
    for (value, column) in row.into_iter().zip(&def.columns) {
        if column.counts && matches!(value, Value::Null | Value::Int(0)) {
            fitted.push(Value::Null);
            continue;
        }
        let (value, warning) = fit(value, column, Flavor::MariaDb, lenient)?;
        warnings.extend(warning);
        fitted.push(value);
    }
    // Numbers are taken last: a row that does not fit takes none, one that fails later has taken it.
    let table = core.innodb.tables.get_mut(&insert.table);
    let next = &mut table.expect("a statement's table is there").next_number;
    for (value, column) in fitted.iter_mut().zip(&def.columns) {
        if column.counts {
            match value {
                Value::Int(given) => *next = (*next).max(*given + 1),
                _ => *value = Value::Int(numbers.take(next)),
            }
        }
    }
    Ok(fitted)
}

/// Puts a row into every index.
pub(super) async fn put(
    asker: &Asker,
    table: Table,
    row: &Row,
    conflict: &Conflict,
) -> Result<(), Failure> {
    let (primary, indexes) = {
        let mut core = asker.handle.borrow_mut();
        let store = core.innodb.tables.get_mut(&table);
        let store = store.expect("a statement's table is there");
        let primary = if store.has_primary_key() {
            store.own_key(0, row)
        } else {
            store.next_number += 1;
            vec![Value::Int(store.next_number - 1)]
        };
        (primary, store.indexes.len())
    };
    let place = Place {
        asker,
        table,
        conflict,
    };
    place.put_row(&primary, row).await?;
    for number in 1..indexes {
        place.put_entry(number, &primary, row).await?;
    }
    Ok(())
}

/// Puts a row whose primary key has changed into the clustered index.
pub(super) async fn put_moved(asker: &Asker, table: Table, row: &Row) -> Result<(), Failure> {
    let primary = asker.handle.borrow().innodb.tables[&table].own_key(0, row);
    let conflict = &Conflict::Error;
    Place {
        asker,
        table,
        conflict,
    }
    .put_row(&primary, row)
    .await
}

/// Puts a row's entry into one index, where the row has changed.
pub(super) async fn put_entry(
    asker: &Asker,
    table: Table,
    number: usize,
    primary: &Key,
    row: &Row,
) -> Result<(), Failure> {
    let conflict = &Conflict::Error;
    Place {
        asker,
        table,
        conflict,
    }
    .put_entry(number, primary, row)
    .await
}

/// Who inserts, and where.
struct Place<'a> {
    asker: &'a Asker,
    table: Table,
    conflict: &'a Conflict,
}

impl Place<'_> {
    /// The lock on a record that may be a duplicate.
    fn looks(&self, index: IndexId, key: Option<Key>, span: Span) -> Want {
        let core = self.asker.handle.borrow();
        let trx = core.innodb.trxs.get(&self.asker.trx);
        let ignores = *self.conflict == Conflict::Ignore;
        Want {
            index,
            key,
            mode: match trx.is_some_and(|trx| trx.replaces) {
                true => Mode::Exclusive,
                false => Mode::Shared,
            },
            span,
            implicit: false,
            when_locked: match ignores && broken::is(Broken::MariaIgnoreReturnsAtOnce) {
                true => WhenLocked::Skip,
                false => WhenLocked::Wait,
            },
        }
    }

    fn duplicate(&self, index: IndexId, key: &Key) -> Failure {
        if broken::is(Broken::MariaFailedInsertKeepsNoLock) {
            let store = &mut self.asker.handle.borrow_mut().innodb;
            if let Some(heap) = store.index(index).records.get(key).map(|r| r.heap) {
                store
                    .locks
                    .unlock(self.asker.trx, index, heap, Mode::Shared);
            }
        }
        let (index, key) = (index.number, key.clone());
        Failure::Duplicate { index, key }
    }

    /// Puts the row into the clustered index: as a new record, or as a new version of a record whose
    /// row is gone.
    async fn put_row(&self, primary: &Key, row: &Row) -> Result<(), Failure> {
        let index = IndexId::clustered(self.table);
        loop {
            let there = self.marked(index, primary);
            let Some(deleted) = there else {
                if self.may_insert(index, primary).await? {
                    let store = &mut self.asker.handle.borrow_mut().innodb;
                    store.write(self.asker.trx, self.table, primary, row.clone(), false);
                    store.settle_into_gap(index, primary);
                    return Ok(());
                }
                continue;
            };
            let want = self.looks(index, Some(primary.clone()), Span::Record);
            match self.asker.lock(&want).await? {
                Got::Waited => continue,
                Got::Skipped => return Err(self.duplicate(index, primary)),
                // Whoever locks a row has to have seen it as it is, whatever for.
                Got::Had | Got::Fresh if self.asker.has_changed(index, primary) => {
                    return Err(SqlError::RecordChanged.into());
                }
                Got::Had | Got::Fresh if !deleted => return Err(self.duplicate(index, primary)),
                Got::Had | Got::Fresh => {}
            }
            if self.may_change(index, primary).await? {
                let store = &mut self.asker.handle.borrow_mut().innodb;
                store.write(self.asker.trx, self.table, primary, row.clone(), false);
                return Ok(());
            }
        }
    }

    /// Puts an entry into a secondary index.
    async fn put_entry(&self, number: usize, primary: &Key, row: &Row) -> Result<(), Failure> {
        let index = IndexId {
            table: self.table,
            number,
        };
        let key = self.asker.handle.borrow().innodb.tables[&self.table].key(number, row, primary);
        loop {
            if !self.is_free(index, &key).await? {
                continue;
            }
            race(&self.asker.handle, self.asker.session).await;
            if self.marked(index, &key).is_some() {
                if self.may_change(index, &key).await? {
                    let store = &mut self.asker.handle.borrow_mut().innodb;
                    store.mark_entry(self.asker.trx, index, &key, false);
                    return Ok(());
                }
            } else if self.may_insert(index, &key).await? {
                let store = &mut self.asker.handle.borrow_mut().innodb;
                store.insert_entry(self.asker.trx, index, &key);
                store.settle_into_gap(index, &key);
                return Ok(());
            }
        }
    }

    /// Looks whether a unique index has the key already, and locks what it sees on the way: every
    /// record with the key and, where none of them is a row, the one behind them. False: it has
    /// waited, and has to look again.
    async fn is_free(&self, index: IndexId, key: &Key) -> Result<bool, Failure> {
        let Some(own) = self.own_values(index, key) else {
            return Ok(true);
        };
        let mut from = Bound::Included(own.clone());
        loop {
            let next = {
                let core = self.asker.handle.borrow();
                let next = core.innodb.index(index).first(from.as_ref());
                next.map(|(key, record)| (key.clone(), record.is_deleted()))
            };
            let at = next.as_ref().map(|(key, _)| key.clone());
            let same = at.as_ref().is_some_and(|at| at.starts_with(&own));
            let got = self
                .asker
                .lock(&self.looks(index, at, Span::NextKey))
                .await?;
            match (next, got) {
                (_, Got::Waited) => return Ok(false),
                (Some((at, _)), Got::Skipped) if same => return Err(self.duplicate(index, &at)),
                (Some((at, false)), _) if same => return Err(self.duplicate(index, &at)),
                (Some((at, _)), _) if same => from = Bound::Excluded(at),
                _ => return Ok(true),
            }
        }
    }

    /// The index's own values, if it has them already and nobody may have them twice (NULL is
    /// unlike NULL).
    fn own_values(&self, index: IndexId, key: &Key) -> Option<Key> {
        let core = self.asker.handle.borrow();
        let index = core.innodb.index(index);
        let own = key[..index.columns.len()].to_vec();
        if !index.unique || own.contains(&Value::Null) {
            return None;
        }
        let (first, _) = index.first(Bound::Included(&own))?;
        first.starts_with(&own).then_some(own)
    }

    /// Whether a record is there, and if so whether it is marked.
    fn marked(&self, index: IndexId, key: &Key) -> Option<bool> {
        let core = self.asker.handle.borrow();
        let record = core.innodb.index(index).records.get(key);
        record.map(|record| record.is_deleted())
    }

    /// Whether nobody has the gap; else it has waited, and has to look again.
    async fn may_insert(&self, index: IndexId, key: &Key) -> Result<bool, SqlError> {
        let successor = {
            let core = self.asker.handle.borrow();
            let next = core.innodb.index(index).first(Bound::Excluded(key));
            next.map(|(key, _)| key.clone())
        };
        self.asker
            .writes(index, successor, Span::InsertIntention)
            .await
    }

    async fn may_change(&self, index: IndexId, key: &Key) -> Result<bool, SqlError> {
        self.asker
            .writes(index, Some(key.clone()), Span::Record)
            .await
    }
}

impl Asker {
    /// Takes the lock of whoever changes something; false: it has waited.
    pub(super) async fn writes(
        &self,
        index: IndexId,
        key: Option<Key>,
        span: Span,
    ) -> Result<bool, SqlError> {
        let want = Want {
            index,
            key,
            mode: Mode::Exclusive,
            span,
            implicit: true,
            when_locked: WhenLocked::Wait,
        };
        Ok(self.lock(&want).await? != Got::Waited)
    }

    /// Where the transaction's log ends now.
    pub(super) fn undo_point(&self) -> usize {
        let core = self.handle.borrow();
        let trx = core.innodb.trxs.get(&self.trx);
        trx.map_or(0, |trx| trx.undo.len())
    }

    /// Undoes what the transaction did since then.
    pub(super) fn undo_to(&self, point: usize) {
        let mut core = self.handle.borrow_mut();
        core.innodb.undo_to(self.trx, point);
        super::tell(&mut core);
    }
}

impl super::Store {
    /// A record that was just inserted is in the gap of whoever has locked it.
    fn settle_into_gap(&mut self, index: IndexId, key: &Key) {
        let heap = self.index(index).records.get(key).map(|r| r.heap);
        let successor = self.index(index).successor(key);
        split_gap(&mut self.locks, index, heap.unwrap_or(SUPREMUM), successor);
    }
}
