//! `queued`: schedulers publish runs to a broker, executors consume them.

use super::Blueprint;
use crate::Instance;
use crate::dispatch::{self, Cursor, Leadership, Led, Order};
use crate::ports::At;
use crate::recovery::Requeue;
use crate::steps;
use crate::timer::{Timer, TimerLoop, first_slot};
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

/// Starts one loop a timer, each of which dispatches what it fires.
pub(super) fn start_timers(
    instance: &Instance,
    blueprint: &Arc<Blueprint>,
    dispatcher: &Arc<dispatch::Dispatcher>,
    fire_offset_ms: i64,
) {
    let leadership = blueprint.leadership(instance);
    blueprint.start_timers(instance, |place| {
        let (instance, blueprint) = (instance.clone(), blueprint.clone());
        let dispatcher = dispatcher.clone();
        if let Some(leadership) = leadership.clone() {
            return Box::pin(async move {
                let timer = &blueprint.timers[place];
                fire_led(&blueprint, timer, &dispatcher, &leadership, fire_offset_ms).await;
            });
        }
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
    let (ordinal, due) = match blueprint.dispatch.cursor {
        Cursor::Memory => first_slot(timer, ports.clock.now()),
        Cursor::Stored => match blueprint.resume(ports, timer).await {
            Some(position) => position,
            None => return,
        },
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

/// Fires a timer whenever the instance leads.
async fn fire_led(
    blueprint: &Blueprint,
    timer: &Timer,
    dispatcher: &dispatch::Dispatcher,
    leadership: &Leadership,
    fire_offset_ms: i64,
) {
    let led = Led {
        timer,
        fire_offset_ms,
        cursor: blueprint.dispatch.cursor,
        catch_up: blueprint.dispatch.catch_up,
        act: &|fire| Box::pin(async move { dispatcher.dispatch(&fire).await }),
    };
    leadership.fire_all(&led).await;
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
