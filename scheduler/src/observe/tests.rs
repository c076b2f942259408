#![allow(clippy::unwrap_used)]

use super::*;
use crate::memory::bench::Bench;
use crate::memory::block_on;
use crate::ports::{At, Request};
use crate::schedules::{Schedule, ScheduleConfig, Timetable};
use crate::{NextFrom, Span, steps};
use evidence::{AttemptEnd, Ids, MessageId, TimerId, TraceId, What};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::fmt::{Debug, Write};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Keeps every line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let meta = event.metadata();
        let mut line = Line(format!("{} {}", meta.level(), meta.target()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
}

fn ids() -> Ids {
    Ids {
        run: Some("report@2026-01-01T02:00:00.000Z".parse().unwrap()),
        message: Some(MessageId(1)),
        trace: Some(TraceId(7)),
        delivery: 2,
        attempt: 3,
        ..Ids::default()
    }
}

fn daily(slots: u32) -> Timer {
    let (id, epoch) = (TimerId::new("report"), Timestamp(1_767_225_600_000));
    let schedule = Schedule::compile(&ScheduleConfig::default(), epoch).unwrap();
    Timer {
        timetable: Arc::new(Timetable::new(0, &id, &schedule, epoch, slots).unwrap()),
        id,
        index: 0,
        delay: None,
        epoch,
        slots,
        next: NextFrom::FromSlot,
        registrations: 1,
        on: Vec::new(),
        life: Default::default(),
        publish_ahead: Span::ZERO,
    }
}

#[test]
fn a_step_is_told_at_its_start_and_at_its_end_or_error_with_all_identifiers() {
    let (bench, lines) = (Bench::new(), Lines::default());
    let instance = Observer::new("none").watch(&bench.instance);
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    tracing::subscriber::with_default(subscriber, || {
        let ids = ids();
        let at = At::new(&steps::DOWNSTREAM_PERFORM, &ids);
        let perform = || {
            let downstream = &instance.ports.downstream;
            block_on(downstream.perform(at, Request::default(), Span::secs(3)))
        };
        perform().unwrap();
        bench.downstream.refuse_next();
        perform().unwrap_err();
        instance.ports.journal.record(at, What::Found);
    });
    let tail = "timer_id=report run_key=report@2026-01-01T02:00:00.000Z message_id=m1 \
                trace_id=0000000000000007 retry_count=3 delivery_count=2";
    let who = format!(
        "instance=\"{}\" incarnation=1 at={}",
        bench.instance.name,
        bench.instance.ports.clock.now()
    );
    let line = |level: &str, phase: &str| {
        format!("{level} runkey step=\"downstream.perform\" phase={phase} {tail} {who}")
    };
    assert_eq!(
        *lines.0.lock().unwrap(),
        [
            line("DEBUG", "\"start\""),
            line("DEBUG", "\"end\""),
            line("DEBUG", "\"start\""),
            line(
                "WARN",
                "\"error\" error=the call was refused; nothing was changed"
            ),
            line("INFO", "\"happened\" what=\"found\""),
        ]
    );
}

#[test]
fn attempts_are_counted_and_timed_for_their_timer_and_guard() {
    let bench = Bench::new();
    let instance = Observer::new("insert_first").watch(&bench.instance);
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let ids = ids();
        let at = At::new(&steps::WORK, &ids);
        let journal = &instance.ports.journal;
        journal.record(At::new(&steps::TIMER_FIRE, &ids), What::Fired);
        journal.record(at, What::AttemptStarted);
        bench.runtime.advance(Span::millis(1500));
        journal.record(at, What::AttemptEnded(AttemptEnd::Unknown));
        journal.record(at, What::SkippedDone);
        journal.record(at, What::TimedOut);
        // An end without a begin is counted, and has no duration.
        journal.record(at, What::AttemptEnded(AttemptEnd::Succeeded));
    });
    let mut found: Vec<String> = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels = key.key().labels();
            let labels: Vec<_> = labels
                .map(|l| format!("{}={}", l.key(), l.value()))
                .collect();
            let value = match value {
                DebugValue::Counter(count) => count.to_string(),
                other => format!("{other:?}"),
            };
            format!("{} {} {value}", key.key().name(), labels.join(","))
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "runkey_attempt_seconds timer=report,guard=insert_first Histogram([1.5])",
            "runkey_attempts_total timer=report,guard=insert_first,end=succeeded 1",
            "runkey_attempts_total timer=report,guard=insert_first,end=unknown 1",
            "runkey_errors_total timer=report,step=work 1",
            "runkey_fired_total timer=report 1",
            "runkey_skipped_total timer=report,guard=insert_first,why=skipped_done 1",
        ]
    );
}

#[test]
fn health_is_the_last_slot_its_outcome_and_the_next_slot() {
    let bench = Bench::new();
    let observer = Observer::new("none");
    let instance = observer.watch(&bench.instance);
    let timers = [daily(2)];
    let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    let health = |last_slot, last_outcome, next_slot: Option<&str>| Health {
        timer: TimerId::new("report"),
        last_slot,
        last_outcome,
        next_slot: next_slot.map(|text| text.parse().unwrap()),
    };
    let second = Some("2026-01-02T02:00:00Z");
    assert_eq!(observer.health(&timers, now), [health(None, None, second)]);

    let ids = ids();
    let at = At::new(&steps::WORK, &ids);
    let first = Some(ids.run.as_ref().unwrap().scheduled());
    instance.ports.journal.record(at, What::AttemptStarted);
    assert_eq!(observer.health(&timers, now), [health(first, None, second)]);
    let ended = What::AttemptEnded(AttemptEnd::Final);
    instance.ports.journal.record(at, ended);
    let later = now.plus_ms(24 * 3_600_000);
    let outcome = Some(AttemptEnd::Final);
    assert_eq!(
        observer.health(&timers, later),
        [health(first, outcome, None)]
    );
}
