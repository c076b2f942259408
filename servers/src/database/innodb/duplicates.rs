//! What an insert does with a row whose key it meets: nothing, change it, or take its place.

use super::compatibility::{Mode, Span};
use super::insert::{self, Failure};
use super::records::{IndexId, Key, Row};
use super::update;
use super::waiting::{Asker, Got, Want};
use crate::database::evaluate::Scope;
use scheduler::ports::sql::{Assignments, Conflict, Insert, SqlError, WhenLocked};

/// A row that could not be inserted, and the key that it met.
pub(super) struct Meeting {
    pub(super) index: usize,
    pub(super) key: Key,
    pub(super) row: Row,
}

/// What comes of it: how many rows count as affected and the row that is there now; `None` where
/// nothing is done.
pub(super) async fn meet(
    asker: &Asker,
    insert: &Insert,
    mut meeting: Meeting,
) -> Result<Option<(u64, Row)>, SqlError> {
    match &insert.conflict {
        Conflict::Error => Err(SqlError::UniqueViolation),
        Conflict::Ignore | Conflict::Nothing { .. } => Ok(None),
        Conflict::Update { set, .. } => {
            let (primary, old) = fetch(asker, insert, &meeting).await?;
            let new = changed(asker, insert, set, &old, &meeting.row)?;
            let found_rows = asker
                .handle
                .borrow()
                .session(asker.session)
                .settings
                .found_rows;
            let count = match (new == old, found_rows) {
                (true, true) => 1,
                (true, false) => 0,
                (false, _) => 2,
            };
            update::change(asker, insert.table, &primary, &old, Some(&new)).await?;
            Ok(Some((count, new)))
        }
        Conflict::Replace => {
            let mut count = 1;
            loop {
                let (primary, old) = fetch(asker, insert, &meeting).await?;
                count += u64::from(old != meeting.row);
                let row = meeting.row.clone();
                if is_last_unique(asker, insert, meeting.index) {
                    // In the last unique index the row in the way is changed into the new one.
                    update::change(asker, insert.table, &primary, &old, Some(&row)).await?;
                    return Ok(Some((count, row)));
                }
                update::change(asker, insert.table, &primary, &old, None).await?;
                let point = asker.undo_point();
                match insert::put(asker, insert.table, &row, &insert.conflict).await {
                    Ok(()) => return Ok(Some((count, row))),
                    Err(Failure::Error(error)) => return Err(error),
                    Err(Failure::Duplicate { index, key }) => {
                        asker.undo_to(point);
                        meeting = Meeting { index, key, row };
                    }
                }
            }
        }
    }
}

/// Reads and locks the row that was met.
async fn fetch(asker: &Asker, insert: &Insert, meeting: &Meeting) -> Result<(Key, Row), SqlError> {
    let primary = {
        let core = asker.handle.borrow();
        core.innodb.tables[&insert.table].primary_of(meeting.index, &meeting.key)
    };
    let want = Want {
        index: IndexId::clustered(insert.table),
        key: Some(primary.clone()),
        mode: Mode::Exclusive,
        span: Span::Record,
        implicit: false,
        when_locked: WhenLocked::Wait,
    };
    while asker.lock(&want).await? == Got::Waited {}
    if asker.has_changed(want.index, &primary) {
        return Err(SqlError::RecordChanged);
    }
    let core = asker.handle.borrow();
    let record = core.innodb.index(want.index).records.get(&primary);
    let version = record.and_then(|record| record.versions.last());
    match version {
        Some(version) if !version.deleted => Ok((primary, version.row.clone())),
        // The row went while its lock was waited for.
        _ => Err(SqlError::UniqueViolation),
    }
}

fn changed(
    asker: &Asker,
    insert: &Insert,
    set: &Assignments,
    old: &Row,
    excluded: &Row,
) -> Result<Row, SqlError> {
    let core = asker.handle.borrow();
    let def = &core.tables[&insert.table];
    update::assigned(set, old, def, |row, scalar| {
        Scope {
            excluded,
            ..Scope::of_row(&core, asker.session, def, row)
        }
        .value(scalar)
    })
}

fn is_last_unique(asker: &Asker, insert: &Insert, index: usize) -> bool {
    let core = asker.handle.borrow();
    let indexes = &core.innodb.tables[&insert.table].indexes;
    indexes[index + 1..].iter().all(|other| !other.unique)
}
