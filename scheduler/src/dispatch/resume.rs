//! Where a starting instance takes a timer up again.
//!
//! The first instance that ever starts records that the timer exists from now on, so that a slot
//! which nobody dispatched can be told from a slot before the timer's time.

use super::CatchUp;
use super::dispatcher::failed;
use crate::backoff;
use crate::marks;
use crate::ports::{
    At, Column, Condition, Expr, OnConflict, Ports, RowLock, Statement, Statements, Wake,
};
use crate::schedules::Timetable;
use crate::steps;
use crate::tables::{COLUMNS, TIMERS, timers};
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
    retry: &RetryConfig,
) -> Option<(u32, Option<Timestamp>)> {
    let cursor = read_cursor(ports, timer, retry).await?;
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
fn registration(timer: &Timer, started: Timestamp) -> Statements {
    let key = || timer.id.text().clone();
    let mut statements = Statements::with_capacity(2);
    if timer.life.clears_cursor {
        statements.push(Statement::Delete {
            table: TIMERS,
            key: key(),
            when: Condition::always(),
        });
    }
    statements.push(Statement::Insert {
        table: TIMERS,
        key: key(),
        cells: vec![Expr::from(started.0 - 1)],
        on_conflict: OnConflict::Ignore,
    });
    let rest = timers::CURSOR.0 + 1..COLUMNS[usize::from(TIMERS.0)];
    if timer.life.resets_row && !rest.is_empty() {
        statements.push(Statement::Update {
            table: TIMERS,
            key: key(),
            when: Condition::always(),
            set: rest.map(|column| (Column(column), Expr::from(0))).collect(),
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

async fn read_cursor(ports: &Ports, timer: &Timer, retry: &RetryConfig) -> Option<Timestamp> {
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_RESUME, &nobody);
    // Taken before the call: a slot that comes due while the call is on its way is not missed.
    let started = ports.clock.now();
    let mut failures = 0;
    loop {
        let statements = registration(timer, started);
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
