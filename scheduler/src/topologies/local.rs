//! `local`: every instance fires its own timers and executes in the same process, as Spring
//! @Scheduled does: a timer waits for the end of its own run before its next one.

use super::Blueprint;
use crate::Instance;
use crate::dispatch;
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
    blueprint.start_timers(instance, |place| {
        let (instance, blueprint, worker) = (instance.clone(), blueprint.clone(), worker.clone());
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
            let (catch_up, retry) = (blueprint.dispatch.catch_up, &blueprint.work.retry);
            match dispatch::resume(ports, timer, catch_up, retry).await {
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
            let permit = self.pool.acquire().await;
            if self.dispatcher.claim_here(&fire).await {
                self.executor.execute_here(&fire.ids).await;
                self.dispatcher.release_here(&fire).await;
            }
            drop(permit);
            timer_loop.handled();
        }
    }
}
