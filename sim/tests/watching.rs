//! A simulated pipeline is watched as a real one is, and its history stays what it is.
#![allow(clippy::unwrap_used)]

use runkey_sim::{Parts, Setup, run};
use scenarios::spec::Plan;
use scenarios::{Scenario, catalogue};
use scheduler::observe::Observer;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Keeps the lines of one step.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0.trim_end().to_owned());
    }
}

fn recommended() -> Scenario {
    catalogue::find("recommended-stack")
        .unwrap()
        .scenario()
        .unwrap()
}

#[test]
fn every_line_of_an_attempt_has_all_identifiers_and_the_history_stays_what_it_is() {
    let scenario = recommended();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let observer = Observer::new(scenario.guard.name());
    let watched = setup.watched(observer.clone());
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let seen = tracing::subscriber::with_default(subscriber, || run(&watched, 1, &Plan::empty()));
    let alone = run(&setup, 1, &Plan::empty());
    assert_eq!(seen.trace_hash, alone.trace_hash);

    let lines = lines.0.lock().unwrap();
    let of_the_effect: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("step=\"downstream.perform\""))
        .collect();
    // Two slots, each with one call: its start and its end.
    assert_eq!(of_the_effect.len(), 4);
    for line in of_the_effect {
        for field in [
            "timer_id=",
            "run_key=",
            "message_id=",
            "trace_id=",
            "retry_count=1",
            "delivery_count=1",
            "instance=",
            "incarnation=1",
            "at=",
        ] {
            assert!(line.contains(field), "{line} has no {field}");
        }
    }
}
