//! `queued`: schedulers publish runs to a broker, executors consume them.

use super::Blueprint;
use crate::Instance;
use crate::dispatch::{self, Order};
use crate::ports::At;
use crate::recovery::Requeue;
use crate::steps;
use crate::timer::{Timer, TimerLoop};
use evidence::Ids;
use std::sync::Arc;

/// Starts a scheduler: one loop a timer, and the relay of the outbox.
pub(super) fn start_scheduler(
    instance: &Instance,
    blueprint: &Arc<Blueprint>,
    fire_offset_ms: i64,
) {
    let runtime = &instance.ports.runtime;
    let dispatcher = Arc::new(blueprint.dispatcher(instance));
    start_timers(instance, blueprint, &dispatcher, fire_offset_ms);
    if blueprint.dispatch.order == Order::Outbox {
        let every = blueprint.dispatch.relay_every;
        let anchor = runtime.anchor(At::new(&steps::OUTBOX_READ, &Ids::default()), every);
        let relay = dispatch::relay(instance.clone(), every, anchor, blueprint.creates_record());
        runtime.spawn(Box::pin(relay));
    }
}

/// Starts one loop a timer, which hands its slots to the dispatcher.
pub(super) fn start_timers(
    instance: &Instance,
    blueprint: &Arc<Blueprint>,
    dispatcher: &Arc<dispatch::Dispatcher>,
    fire_offset_ms: i64,
) {
    blueprint.start_timers(instance, |place| {
        let (instance, blueprint) = (instance.clone(), blueprint.clone());
        let dispatcher = dispatcher.clone();
        Box::pin(async move {
            let timer = &blueprint.timers[place];
            fire_all(&instance, &blueprint, timer, &dispatcher, fire_offset_ms).await;
        })
    });
}

async fn fire_all(
    instance: &Instance,
    blueprint: &Blueprint,
    timer: &Timer,
    dispatcher: &dispatch::Dispatcher,
    fire_offset_ms: i64,
) {
    let ports = &instance.ports;
    let (catch_up, retry) = (blueprint.dispatch.catch_up, &blueprint.work.retry);
    let Some((ordinal, due)) = dispatch::resume(ports, timer, catch_up, retry).await else {
        return;
    };
    let mut timer_loop = TimerLoop {
        ports,
        timer,
        fire_offset_ms,
        ordinal,
        due,
    };
    while let Some(fire) = timer_loop.next().await {
        dispatcher.dispatch(&fire).await;
        timer_loop.handled();
    }
}

/// Starts an executor: its consumers, and recovery where the guard keeps records.
pub(super) fn start_executor(instance: &Instance, blueprint: &Arc<Blueprint>) {
    let runtime = &instance.ports.runtime;
    let executor = blueprint.executor(instance);
    for _ in 0..blueprint.concurrency {
        runtime.spawn(Box::pin(executor.clone().consume()));
    }
    blueprint.start_recovery(&executor, Requeue::Publish);
}
