//! An admin's watch: calls again what failed, and what nobody has reported on for too long.
//!
//! XXL-JOB has two threads for it: JobFailMonitorHelper looks every 10 s for calls that failed,
//! takes each by its alarm_status and triggers it again with one retry less; JobCompleteHelper marks
//! calls failed that are without a report 10 minutes after their trigger (and whose executor is no
//! longer registered, which is not asked here). Both are one poll here.

use super::Caller;
use super::caller::{FAILED, TAKEN};
use crate::dispatch::{Fire, failed};
use crate::ports::{
    Answer, At, Condition, Expr, Interest, Ports, Row, Statement, Test, Value, Wake,
};
use crate::tables::{CALLS, calls};
use crate::{Instance, Span, marks, steps};
use evidence::{Ids, RunKey, TraceId, What};
use std::sync::Arc;

/// How often an admin looks. Source: JobFailMonitorHelper, 10 s.
pub const WATCH_EVERY: Span = Span::secs(10);

/// Starts the watch of an admin.
pub(super) fn start(instance: &Instance, caller: Arc<Caller>, lost_after: Option<Span>) {
    let runtime = &instance.ports.runtime;
    let nobody = Ids::default();
    let anchor = runtime.anchor(At::new(&steps::ADMIN_WATCH, &nobody), WATCH_EVERY);
    let watch = Watch {
        ports: instance.ports.clone(),
        caller,
        lost_after,
    };
    runtime.spawn(Box::pin(async move {
        let interest = Interest::Unanswered {
            table: CALLS,
            lost_after,
        };
        let runtime = &watch.ports.runtime;
        while runtime.idle_until(anchor, WATCH_EVERY, interest).await == Wake::Poll {
            watch.look().await;
        }
    }));
}

struct Watch {
    ports: Ports,
    caller: Arc<Caller>,
    lost_after: Option<Span>,
}

impl Watch {
    async fn look(&self) {
        let nobody = Ids::default();
        let at = At::new(&steps::ADMIN_WATCH, &nobody);
        let scan = Statement::Scan {
            table: CALLS,
            when: self.to_be_called(),
        };
        match self.ports.database.execute(at, vec![scan]).await {
            Ok(answers) => {
                for row in answers.iter().flat_map(Answer::rows) {
                    self.call_again(row).await;
                }
            }
            Err(error) => self.ports.journal.record(at, failed(error)),
        }
    }

    /// Failed, or without a report for too long, and nobody has looked after it.
    fn to_be_called(&self) -> Condition {
        let unseen = || Test::Is(calls::WATCHED, 0);
        let unreported = || Test::Is(calls::RESULT, 0);
        let failed = Condition::all([unseen(), Test::Is(calls::ANSWER, FAILED), unreported()])
            .or_all([unseen(), Test::Is(calls::RESULT, FAILED)]);
        let Some(after) = self.lost_after else {
            return failed;
        };
        let since = Expr::Now {
            plus_ms: -after.as_i64(),
        };
        failed.or_all([
            unseen(),
            Test::Is(calls::ANSWER, TAKEN),
            unreported(),
            Test::AtMost(calls::SINCE, since),
        ])
    }

    /// Takes the row, so that no other admin does, and calls again if there is a retry left.
    async fn call_again(&self, row: &Row) {
        let Some((fire, left)) = read(row) else {
            return;
        };
        let at = At::new(&steps::ADMIN_RECALL, &fire.ids);
        let take = Statement::Update {
            table: CALLS,
            key: row.key.clone(),
            when: self.to_be_called(),
            set: vec![(calls::WATCHED, Expr::from(1))],
            required: false,
        };
        match self.ports.database.execute(at, vec![take]).await {
            Ok(answers) if answers.last().is_some_and(Answer::changed) => {}
            Ok(_) => return,
            Err(error) => return self.ports.journal.record(at, failed(error)),
        }
        let Some(left) = left.checked_sub(1) else {
            return;
        };
        self.ports.journal.mark(match is_lost(row) {
            true => &marks::RECALLED_LOST,
            false => &marks::RECALLED_FAILED,
        });
        self.ports.journal.record(at, What::Requeued);
        if let Err((step, error)) = self.caller.call(&self.ports, &fire, left).await {
            let at = At::new(step, &fire.ids);
            self.ports.journal.record(at, failed(error));
        }
    }
}

fn number(row: &Row, column: crate::ports::Column) -> i64 {
    row.cells.get(usize::from(column.0)).map_or(0, Value::int)
}

fn is_lost(row: &Row) -> bool {
    number(row, calls::ANSWER) == TAKEN && number(row, calls::RESULT) == 0
}

/// The run that a row is about, and how often it may be called again; `None` for a row that no
/// version of this code has written.
fn read(row: &Row) -> Option<(Fire, u32)> {
    let Value::Text(text) = row.cells.get(usize::from(calls::RUN.0))? else {
        return None;
    };
    let run = RunKey::try_from(text.clone()).ok()?;
    let trace = TraceId(number(row, calls::TRACE) as u64);
    let ids = Ids {
        slot: row.slot,
        run: Some(run.clone()),
        trace: Some(trace),
        ..Ids::default()
    };
    let fire = Fire {
        ids,
        timer: run.timer_id(),
        scheduled: run.scheduled(),
        run,
        trace,
        next: None,
    };
    Some((fire, u32::try_from(number(row, calls::LEFT)).unwrap_or(0)))
}
