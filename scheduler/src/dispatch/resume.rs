//! Where a starting instance takes a timer up again.
//!
//! The first instance that ever starts records that the timer exists from now on, so that a slot
//! which nobody dispatched can be told from a slot before the timer's time.

use super::CatchUp;
use super::dispatcher::failed;
use crate::backoff;
use crate::marks;
use crate::ports::{At, Expr, OnConflict, Ports, RowLock, Statement, Wake};
use crate::schedules::Timetable;
use crate::steps;
use crate::tables::{TIMERS, timers};
use crate::timer::{Timer, first_slot};
use crate::weakness::Weakness;
use crate::work::RetryConfig;
use evidence::{Ids, TimerId, Timestamp};

/// The ordinal of the slot to fire first (and when, where the timer has a delay); `None` if the
/// instance was stopped on the way.
pub async fn resume(
    ports: &Ports,
    timer: &Timer,
    catch_up: CatchUp,
    retry: &RetryConfig,
) -> Option<(u32, Option<Timestamp>)> {
    let cursor = read_cursor(ports, &timer.id, retry).await?;
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

async fn read_cursor(ports: &Ports, timer: &TimerId, retry: &RetryConfig) -> Option<Timestamp> {
    let nobody = Ids::default();
    let at = At::new(&steps::DISPATCH_RESUME, &nobody);
    // Taken before the call: a slot that comes due while the call is on its way is not missed.
    let started = ports.clock.now();
    let mut failures = 0;
    loop {
        let statements = vec![
            Statement::Insert {
                table: TIMERS,
                key: timer.text().clone(),
                cells: vec![Expr::from(started.0 - 1)],
                on_conflict: OnConflict::Ignore,
            },
            Statement::Select {
                table: TIMERS,
                key: timer.text().clone(),
                lock: RowLock::None,
            },
        ];
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
