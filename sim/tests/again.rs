//! A thread uses again what an execution has left: nothing of it may be seen by the next.

use evidence::{Ids, Timestamp, TraceHash, What};
use runkey_sim::{Parts, Setup, run};
use scenarios::spec::Plan;
use scenarios::{Scenario, catalogue};
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::{At, Fut, Ports};
use scheduler::{Instance, steps};
use std::sync::{Arc, Mutex};
use std::thread;

fn hash(scenario: &Scenario, seed: u64) -> TraceHash {
    let setup = Setup::new(scenario, Parts::default()).expect("the catalogue is sound");
    run(&setup, seed, &Plan::empty()).trace_hash
}

#[test]
fn a_thread_that_has_executed_everything_else_gives_what_a_new_one_gives() {
    let scenarios: Vec<Scenario> = catalogue::all()
        .iter()
        .map(|entry| entry.scenario().expect("the catalogue is sound"))
        .collect();
    let fresh = |scenario: &Scenario| {
        thread::scope(|scope| scope.spawn(|| hash(scenario, 7)).join().expect("a hash"))
    };
    let expected: Vec<TraceHash> = scenarios.iter().map(fresh).collect();
    let forwards: Vec<TraceHash> = scenarios.iter().map(|it| hash(it, 7)).collect();
    let mut backwards: Vec<TraceHash> = scenarios.iter().rev().map(|it| hash(it, 7)).collect();
    backwards.reverse();
    assert_eq!(forwards, expected);
    assert_eq!(backwards, expected);
}

/// Keeps its ports beyond its execution, and tells through those of an earlier one.
struct Keeps(Arc<Mutex<Vec<Ports>>>);

impl Handler for Keeps {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        let earlier = self.0.lock().expect("nobody panics").first().cloned();
        Box::pin(async move {
            if let Some(ports) = earlier {
                let at = At::new(&steps::WORK, ctx.ids());
                ports.journal.record(at, What::HandlerPanic);
            }
            Ok(ctx.perform().await?)
        })
    }
}

#[test]
fn what_is_kept_of_an_execution_that_is_over_finds_nobody() {
    let scenario = Scenario::parse("name = 'kept'", "kept").expect("a scenario");
    let kept: Arc<Mutex<Vec<Ports>>> = Arc::default();
    let make = {
        let kept = kept.clone();
        move |instance: &Instance| -> Box<dyn Handler> {
            kept.lock()
                .expect("nobody panics")
                .push(instance.ports.clone());
            Box::new(Keeps(kept.clone()))
        }
    };
    let parts = Parts {
        handler: Some(Arc::new(make)),
        ..Parts::default()
    };
    let setup = Setup::new(&scenario, parts).expect("a set-up");
    // In the first one the earlier ports are those of its own first executor, in the second they
    // are those of an execution that is over: it tells exactly what one without a keeper tells.
    drop(run(&setup, 1, &Plan::empty()));
    let plain = Setup::new(&scenario, Parts::default()).expect("a set-up");
    assert_eq!(
        run(&setup, 1, &Plan::empty()).trace_hash,
        run(&plain, 1, &Plan::empty()).trace_hash
    );
    let ports = kept
        .lock()
        .expect("nobody panics")
        .first()
        .cloned()
        .expect("some");
    assert!(ports.runtime.stopping());
    assert_eq!(ports.clock.now(), Timestamp::default());
    assert_eq!(
        ports.runtime.random(At::new(&steps::WORK, &Ids::default())),
        0
    );
}
