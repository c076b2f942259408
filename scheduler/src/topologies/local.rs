//! `local`: every instance fires its own timers and executes in the same process (Spring
//! @Scheduled, node-cron, gocron).

use super::Blueprint;
use crate::Instance;
use crate::dispatch;
use crate::executor::Executor;
use crate::permits::Permits;
use crate::ports::At;
use crate::recovery::{self, Requeue};
use crate::steps;
use crate::timer::{Timer, TimerLoop, first_slot};
use evidence::Ids;
use std::sync::Arc;

/// Starts an instance: one loop a timer, all sharing the pool, and recovery where the guard keeps
/// records.
pub fn start(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    let runtime = &instance.ports.runtime;
    let worker = Arc::new(Worker {
        executor: Arc::new(blueprint.executor(instance)),
        dispatcher: blueprint.dispatcher(instance),
        pool: Permits::new(blueprint.concurrency),
    });
    for (place, timer) in blueprint.timers.iter().enumerate() {
        if !timer.is_on(instance.id) {
            continue;
        }
        for _ in 0..timer.registrations {
            let (instance, blueprint) = (instance.clone(), blueprint.clone());
            let worker = worker.clone();
            runtime.spawn(Box::pin(async move {
                let timer = &blueprint.timers[place];
                worker
                    .fire_all(&instance, &blueprint, timer, fire_offset_ms)
                    .await;
            }));
        }
    }
    if let Some(sweep) = blueprint.sweep() {
        let config = blueprint.recovery.clone();
        let anchor = runtime.anchor(
            At::new(&steps::RECOVERY_SCAN, &Ids::default()),
            config.every,
        );
        let executor = worker.executor.clone();
        let recover = recovery::recover(executor, config, sweep, Requeue::Here, anchor);
        runtime.spawn(Box::pin(recover));
    }
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
        let (ordinal, due) = if blueprint.claims() {
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
