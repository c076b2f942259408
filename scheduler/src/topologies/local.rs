//! `local`: every instance fires its own timers and executes in the same process, as Spring
//! @Scheduled does: a timer waits for the end of its own run before its next one.

use super::Blueprint;
use crate::Instance;
use crate::dispatch::{self, Fire, Leadership, Led};
use crate::executor::Executor;
use crate::permits::Permits;
use crate::recovery::Requeue;
use crate::timer::{Timer, TimerLoop, first_slot};
use std::sync::Arc;

/// Starts an instance: one loop a timer, all sharing the pool, and recovery where the guard keeps
/// records.
pub(super) fn start(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    let worker = Arc::new(Worker {
        executor: blueprint.executor(instance),
        dispatcher: blueprint.dispatcher(instance),
        pool: Permits::new(blueprint.concurrency),
    });
    let leadership = blueprint.leadership(instance);
    blueprint.start_timers(instance, |place| {
        let (instance, blueprint, worker) = (instance.clone(), blueprint.clone(), worker.clone());
        if let Some(leadership) = leadership.clone() {
            return Box::pin(async move {
                let timer = &blueprint.timers[place];
                worker
                    .fire_led(&blueprint, timer, &leadership, fire_offset_ms)
                    .await;
            });
        }
        Box::pin(async move {
            let timer = &blueprint.timers[place];
            worker
                .fire_all(&instance, &blueprint, timer, fire_offset_ms)
                .await;
        })
    });
    blueprint.start_recovery(&worker.executor, Requeue::Here);
}

struct Worker {
    executor: Arc<Executor>,
    dispatcher: dispatch::Dispatcher,
    pool: Permits,
}

impl Worker {
    async fn fire_all(
        &self,
        instance: &Instance,
        blueprint: &Blueprint,
        timer: &Timer,
        fire_offset_ms: i64,
    ) {
        let ports = &instance.ports;
        let (ordinal, due) = if blueprint.keeps_positions() {
            match blueprint.resume(ports, timer).await {
                Some(position) => position,
                None => return,
            }
        } else {
            first_slot(timer, ports.clock.now())
        };
        let mut timer_loop = TimerLoop {
            ports,
            timer,
            fire_offset_ms,
            ordinal,
            due,
        };
        while let Some(fire) = timer_loop.next().await {
            self.work(&fire).await;
            timer_loop.handled();
        }
    }

    /// One slot, from the claim to the end of its run.
    async fn work(&self, fire: &Fire) {
        let permit = self.pool.acquire().await;
        if self.dispatcher.claim_here(fire).await {
            self.executor.execute_here(&fire.ids).await;
            self.dispatcher.release_here(fire).await;
        }
        drop(permit);
    }

    /// Fires a timer whenever the instance leads.
    async fn fire_led(
        &self,
        blueprint: &Blueprint,
        timer: &Timer,
        leadership: &Leadership,
        fire_offset_ms: i64,
    ) {
        let led = Led {
            timer,
            fire_offset_ms,
            cursor: blueprint.dispatch.cursor,
            catch_up: blueprint.dispatch.catch_up,
            act: &|fire| Box::pin(async move { self.work(&fire).await }),
        };
        leadership.fire_all(&led).await;
    }
}
