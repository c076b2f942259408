//! Where a starting instance takes a timer up again.
//!
//! The first instance that ever starts records that the timer exists from now on, so that a slot
//! which nobody dispatched can be told from a slot before the timer's time.

use super::dispatcher::failed;
use super::{CatchUp, ClaimConfig, WAITING, position};
use crate::backoff;
use crate::marks;
use crate::ports::{At, Condition, Expr, OnConflict, Ports, RowLock, Statement, Statements, Wake};
use crate::schedules::Timetable;
use crate::steps;
use crate::tables::{TIMERS, timers};
use crate::timer::{Timer, first_slot};
use crate::weakness::Weakness;
use crate::work::RetryConfig;
use evidence::{Ids, Timestamp};

/// The ordinal of the slot to fire first (and when, where the timer has a delay); `None` if the
/// instance was stopped on the way.
pub async fn resume(
    ports: &Ports,
    timer: &Timer,
    catch_up: CatchUp,
    claim: &ClaimConfig,
    retry: &RetryConfig,
) -> Option<(u32, Option<Timestamp>)> {
    let cursor = read_cursor(ports, timer, claim, false, retry).await?;
    if timer.delay.is_some() {
        return Some(first_slot(timer, ports.clock.now()));
    }
    let timetable = &timer.timetable;
    let now = ports.clock.now();
    let first_missed = ordinal_from(timetable, Timestamp(cursor.0.saturating_add(1)));
    let first_future = ordinal_from(timetable, now);
    if first_missed < first_future {
        ports.journal.mark(&marks::CAUGHT_UP);
    }
    let ordinal = match catch_up {
        _ if ports.weak(Weakness::ResumeFromNow) => first_future.max(first_missed),
        CatchUp::All => first_missed,
        CatchUp::One if first_missed < first_future => first_future - 1,
        CatchUp::One => first_missed,
        CatchUp::None => first_future.max(first_missed),
    };
    Some((ordinal, None))
}

/// The ordinal of the first slot planned at `from` or later.
pub(crate) fn ordinal_from(timetable: &Timetable, from: Timestamp) -> u32 {
    let mut ordinal = 1;
    while timetable
        .get(ordinal)
        .is_some_and(|planned| planned.scheduled < from)
    {
        ordinal += 1;
    }
    ordinal
}

/// Registers the timer, from `started` on, if nobody has, and reads its position.
fn registration(
    timer: &Timer,
    started: Timestamp,
    claim: &ClaimConfig,
    polled: bool,
) -> Statements {
    let key = || timer.id.text().clone();
    let mut statements = Statements::with_capacity(2);
    if timer.life.clears_cursor {
        statements.push(Statement::Delete {
            table: TIMERS,
            key: key(),
            when: Condition::always(),
        });
    }
    if let ClaimConfig::SelectForUpdate(config) = claim
        && let Some(key) = config.row_of(&timer.id)
    {
        statements.push(position::seeded(key));
    }
    statements.push(Statement::Insert {
        table: TIMERS,
        key: key(),
        cells: row_of(timer, started, claim, polled),
        on_conflict: OnConflict::Ignore,
    });
    if timer.life.resets_row {
        statements.push(Statement::Update {
            table: TIMERS,
            key: key(),
            when: Condition::always(),
            set: vec![(timers::STATE, Expr::from(WAITING))],
            required: false,
        });
    }
    statements.push(Statement::Select {
        table: TIMERS,
        key: key(),
        lock: RowLock::None,
    });
    statements
}

/// Makes the row of a timer that workers poll, unless it is there; false if the instance was
/// stopped on the way.
pub(crate) async fn enrol(
    ports: &Ports,
    timer: &Timer,
    claim: &ClaimConfig,
    retry: &RetryConfig,
) -> bool {
    let cursor = read_cursor(ports, timer, claim, true, retry).await;
    cursor.is_some()
}

/// What stands in a timer's row from now on: the position, and what the claim or a poller needs.
fn row_of(timer: &Timer, started: Timestamp, claim: &ClaimConfig, polled: bool) -> Vec<Expr> {
    let cursor = started.0 - 1;
    if !polled && !claim.is_by_position() {
        return vec![Expr::from(cursor)];
    }
    let first = ordinal_from(&timer.timetable, started);
    position::unclaimed(cursor, due(&timer.timetable, first))
}

/// When a slot is due, ms; `i64::MAX` where there is none.
pub(crate) fn due(timetable: &Timetable, ordinal: u32) -> i64 {
    let planned = timetable.get(ordinal);
    planned.map_or(i64::MAX, |planned| planned.scheduled.0)
}

async fn read_cursor(
    ports: &Ports,
    timer: &Timer,
    claim: &ClaimConfig,
    polled: bool,
    retry: &RetryConfig,
) -> Option<Timestamp> {
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_RESUME, &nobody);
    // Taken before the call: a slot that comes due while the call is on its way is not missed.
    let started = ports.clock.now();
    let mut failures = 0;
    loop {
        let statements = registration(timer, started, claim, polled);
        match ports.database.execute(at, statements).await {
            Ok(answers) => {
                let row = answers.last().and_then(|answer| answer.rows().first());
                let cursor = row.map_or(started.0 - 1, |row| {
                    row.cells[usize::from(timers::CURSOR.0)].int()
                });
                return Some(Timestamp(cursor));
            }
            Err(error) => ports.journal.record(at, failed(error)),
        }
        failures += 1;
        if backoff::pause(&*ports.runtime, retry, failures).await == Wake::Stop {
            return None;
        }
    }
}
