//! The relay of the outbox: publishes the rows that their writer left behind.
//!
//! The writer publishes its row itself, right after its transaction; the relay of any instance
//! takes over what is still pending after [`RELAY_AFTER`]. A row whose mark was lost is published
//! again: an outbox is at-least-once.

use super::Fire;
use super::dispatcher::{StepError, failed};
use super::statements::mark;
use crate::ports::{
    At, Condition, Expr, Interest, Key, Monotonic, Ports, Row, Statement, Statements, Test, Value,
    Wake,
};
use crate::tables::{OUTBOX, outbox};
use crate::weakness::Weakness;
use crate::{Instance, Span, marks, steps};
use evidence::{Ids, RunKey, TraceId, What};

/// How long the writer has for publishing its row itself: longer than the default call timeout.
pub const RELAY_AFTER: Span = Span::secs(5);

/// Polls for rows left behind until the instance stops.
pub async fn relay(instance: Instance, every: Span, anchor: Monotonic, creates_record: bool) {
    let ports = &instance.ports;
    let interest = Interest::Pending {
        table: OUTBOX,
        after: RELAY_AFTER,
    };
    while ports.runtime.idle_until(anchor, every, interest).await == Wake::Poll {
        let nobody = Ids::default();
        let at = At::new(&steps::OUTBOX_READ, &nobody);
        match ports.database.execute(at, pending()).await {
            Ok(answers) => {
                let rows = answers.iter().flat_map(|answer| answer.rows());
                for row in rows.filter(|_| !ports.weak(Weakness::RelayFindsNothing)) {
                    publish_row(ports, row, creates_record).await;
                }
            }
            Err(error) => ports.journal.record(at, failed(error)),
        }
    }
}

fn pending() -> Statements {
    vec![Statement::Scan {
        table: OUTBOX,
        when: Condition::all([
            Test::Is(outbox::SENT, 0),
            Test::AtMost(
                outbox::SINCE,
                Expr::Now {
                    plus_ms: -RELAY_AFTER.as_i64(),
                },
            ),
        ]),
    }]
}

async fn publish_row(ports: &Ports, row: &Row, creates_record: bool) {
    let Some(mut fire) = read(row) else { return };
    if ports.weak(Weakness::RelayMintsTrace) {
        fire.trace = TraceId(!fire.trace.0);
        fire.ids.trace = Some(fire.trace);
    }
    ports.journal.mark(&marks::RELAYED);
    ports
        .journal
        .record(At::new(&steps::OUTBOX_READ, &fire.ids), What::OutboxRead);
    if let Err((step, error)) = send(ports, &fire, &row.key, creates_record).await {
        ports
            .journal
            .record(At::new(step, &fire.ids), failed(error));
    }
}

/// Publishes one row and marks it.
pub(super) async fn send(
    ports: &Ports,
    fire: &Fire,
    key: &Key,
    creates_record: bool,
) -> Result<(), StepError> {
    if ports.weak(Weakness::MarkBeforePublish) {
        mark_sent(ports, fire, key, creates_record).await?;
    }
    let publish = &steps::BROKER_PUBLISH;
    let at = At::new(publish, &fire.ids);
    let published = ports.broker.publish(at, fire.envelope()).await;
    if !ports.weak(Weakness::FailedPublishIsMarked) {
        published.map_err(|error| (publish, error))?;
    }
    if ports.weak(Weakness::MarkForgotten) {
        return Ok(());
    }
    mark_sent(ports, fire, key, creates_record).await
}

/// The row is sent, and the record QUEUED.
async fn mark_sent(
    ports: &Ports,
    fire: &Fire,
    key: &Key,
    creates_record: bool,
) -> Result<(), StepError> {
    let step = &steps::OUTBOX_MARK;
    let mut statements = mark(key, creates_record.then(|| fire.run.text()));
    if ports.weak(Weakness::MarkOverwritesRecord) {
        for statement in &mut statements {
            if let Statement::Update { when, .. } = statement {
                *when = Condition::always();
            }
        }
    }
    let at = At::new(step, &fire.ids);
    let marked = ports.database.execute(at, statements).await;
    marked.map_err(|error| (step, error))?;
    ports.journal.record(at, What::Marked);
    Ok(())
}

/// The run that a row is about; `None` for a row that no version of this code has written.
fn read(row: &Row) -> Option<Fire> {
    let Value::Text(text) = &row.cells[usize::from(outbox::RUN.0)] else {
        return None;
    };
    let run = RunKey::try_from(text.clone()).ok()?;
    let trace = TraceId(row.cells[usize::from(outbox::TRACE.0)].int() as u64);
    let ids = Ids {
        slot: row.slot,
        run: Some(run.clone()),
        trace: Some(trace),
        ..Ids::default()
    };
    Some(Fire {
        ids,
        timer: run.timer_id(),
        scheduled: run.scheduled(),
        next: None,
        run,
        trace,
    })
}
