//! When would a poll find something? Lets the simulator skip the polls that would not.

use super::Database;
use evidence::{RecordState, Timestamp};
use scheduler::Span;
use scheduler::guards::{TimeSource, state_number};
use scheduler::ports::{Interest, Table, Value};
use scheduler::tables::{CALLS, OUTBOX, QUEUE, RUNS, calls, locks, outbox, queue, runs, timers};

impl Database {
    /// The first moment, on the database's clock, at which a poll finds something as things are;
    /// `None`: not before something changes. `when` tells at which moment the poller's own clock
    /// reads a time.
    pub(crate) fn next_due(
        &self,
        interest: Interest,
        when: impl Fn(Timestamp) -> Timestamp,
    ) -> Option<Timestamp> {
        match interest {
            Interest::Pending { table, after } => self
                .tables
                .open_rows(table)
                .filter(|row| number(&row.cells, outbox::SENT.0) == 0)
                .map(|row| number(&row.cells, outbox::SINCE.0) + after.as_i64())
                .min(),
            Interest::Overdue {
                table,
                sweep_after,
                leases,
            } => {
                let lease_ends = |until| match leases {
                    TimeSource::Node => when(Timestamp(until)).0,
                    TimeSource::Statement | TimeSource::Transaction => until,
                };
                let due = |cells: &[Value]| {
                    let state = number(cells, runs::STATE.0);
                    let until = number(cells, runs::UNTIL.0);
                    if state == state_number(RecordState::Running) {
                        return Some(lease_ends(until));
                    }
                    let forgotten = state == state_number(RecordState::Queued)
                        || state == state_number(RecordState::Failed);
                    sweep_after
                        .filter(|_| forgotten)
                        .map(|after| until + after.as_i64())
                };
                self.tables
                    .open_rows(table)
                    .filter_map(|row| due(&row.cells))
                    .min()
            }
            Interest::Lapsed { table, key } => {
                let row = self.tables.get(table, &key.into());
                Some(row.map_or(0, |row| number(&row.cells, locks::UNTIL.0).max(0)))
            }
            // The coordinator is asked.
            Interest::Standing { .. } => None,
            Interest::DueTimers {
                table,
                recover_after,
            } => self
                .tables
                .open_rows(table)
                .filter_map(|row| slot_due(&row.cells, recover_after))
                .min(),
            Interest::Claimable { table } => self
                .tables
                .open_rows(table)
                .map(|row| number(&row.cells, queue::UNTIL.0))
                .filter(|until| *until < i64::MAX)
                .min(),
            Interest::Unanswered { table, lost_after } => self
                .tables
                .open_rows(table)
                .filter_map(|row| call_due(&row.cells, lost_after))
                .min(),
        }
        .map(Timestamp)
    }
}

/// When a poll finds a timer's row: its next slot has come, and nobody has the row, or for too long.
fn slot_due(cells: &[Value], recover_after: Option<Span>) -> Option<i64> {
    let next = Some(number(cells, timers::NEXT.0)).filter(|next| *next < i64::MAX)?;
    match number(cells, timers::STATE.0) {
        0 => Some(next),
        _ => recover_after.map(|after| next.max(number(cells, timers::SINCE.0) + after.as_i64())),
    }
}

/// From when on a call that nobody has looked after counts as failed: at once where it was, after
/// so long where nobody has reported on it.
pub(crate) fn call_due(cells: &[Value], lost_after: Option<Span>) -> Option<i64> {
    let (answer, result) = (
        number(cells, calls::ANSWER.0),
        number(cells, calls::RESULT.0),
    );
    let since = number(cells, calls::SINCE.0);
    match (answer, result) {
        (_, 2) | (2, 0) => Some(since),
        (1, 0) => lost_after.map(|after| since + after.as_i64()),
        _ => None,
    }
}

/// Whether some poller may find a row as it stands: what is done is found by nobody, however much of
/// it there is.
pub(crate) fn is_open(table: Table, cells: &[Value]) -> bool {
    let open = |state| state_number(state) == number(cells, runs::STATE.0);
    match table {
        OUTBOX => number(cells, outbox::SENT.0) == 0,
        QUEUE => [queue::WAITS, queue::CLAIMED].contains(&number(cells, queue::STATE.0)),
        RUNS => [
            RecordState::Queued,
            RecordState::Running,
            RecordState::Failed,
        ]
        .into_iter()
        .any(open),
        CALLS => number(cells, calls::WATCHED.0) == 0 && number(cells, calls::RESULT.0) != 1,
        // Of a table that a guard of somebody else's has: as its poller says.
        _ => true,
    }
}

fn number(cells: &[Value], column: u8) -> i64 {
    cells.get(usize::from(column)).map_or(0, Value::int)
}
