//! `sharded`: every instance fires the timers by its own clock and executes, of each slot, the
//! shards that the coordinator says are its own, as Elastic-Job does. A timer here is one shard of
//! a timer of the scenario.
//!
//! What makes a run twice: an owner that is cut off from the coordinator, or stands still, goes on
//! with what it has begun (nothing interrupts it) while the next owner takes it over. Source: B17,
//! B19.

use super::Blueprint;
use crate::dispatch::Fire;
use crate::dispatch::failed;
use crate::executor::Executor;
use crate::permits::Permits;
use crate::ports::{At, Failover, Item, SessionId, Standing};
use crate::recovery::Requeue;
use crate::session::Session;
use crate::timer::{Timer, TimerLoop, first_slot};
use crate::{Instance, backoff, dispatch, marks, steps};
use evidence::{Ids, What};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts an instance: its session, one loop a timer, all sharing the pool, and the watch for what
/// other owners leave behind.
pub(super) fn start(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    let Some(session) = blueprint.session(instance) else {
        return;
    };
    let runtime = &instance.ports.runtime;
    let shardee = Arc::new(Shardee {
        instance: instance.clone(),
        executor: blueprint.executor(instance),
        dispatcher: blueprint.dispatcher(instance),
        pool: Permits::new(blueprint.concurrency),
        at_once: blueprint.concurrency,
        owned: Mutex::default(),
        session,
    });
    let watching = shardee.clone();
    runtime.spawn(Box::pin(async move { watching.watch().await }));
    blueprint.start_timers(instance, |place| {
        let (shardee, blueprint) = (shardee.clone(), blueprint.clone());
        Box::pin(async move {
            let shard = blueprint.shards.get(place).copied().unwrap_or_default();
            let timer = &blueprint.timers[place];
            shardee.fire_all(timer, shard, fire_offset_ms).await;
        })
    });
    blueprint.start_recovery(&shardee.executor, Requeue::Here);
}

struct Shardee {
    instance: Instance,
    session: Arc<Session>,
    executor: Arc<Executor>,
    dispatcher: dispatch::Dispatcher,
    pool: Permits,
    /// How many runs the pool takes.
    at_once: u16,
    /// The shards that were its own when it last heard.
    owned: Mutex<BTreeSet<u32>>,
}

impl Shardee {
    async fn fire_all(&self, timer: &Timer, shard: u32, fire_offset_ms: i64) {
        let ports = &self.instance.ports;
        let (ordinal, due) = first_slot(timer, ports.clock.now());
        let mut timer_loop = TimerLoop {
            ports,
            timer,
            fire_offset_ms,
            ordinal,
            due,
        };
        while let Some(fire) = timer_loop.next().await {
            if let Some(session) = self.owns(&fire.ids, shard).await {
                self.work(session, shard, &fire).await;
            }
            timer_loop.handled();
        }
    }

    /// Whether the shard is its own, asked at every slot: under which session. Where no answer
    /// comes, what it believes.
    async fn owns(&self, ids: &Ids, shard: u32) -> Option<SessionId> {
        let session = self.session.id().await?;
        let ports = &self.instance.ports;
        let at = At::new(&steps::COORDINATOR_SHARDS, ids);
        let owns = match ports.coordinator.shards(at, session).await {
            Ok(Standing::Lives(shards)) => {
                let mut owned = self.owned();
                *owned = shards.iter().map(|shard| shard.number).collect();
                owned.contains(&shard)
            }
            Ok(Standing::Expired) => {
                self.session.over(session);
                self.owned().clear();
                false
            }
            Err(error) => {
                ports.journal.record(at, failed(error));
                let believed = self.owned().contains(&shard);
                believed && self.session.believes(session)
            }
        };
        owns.then_some(session)
    }

    /// One slot of a shard, noted at the coordinator from its beginning to its end.
    async fn work(&self, session: SessionId, shard: u32, fire: &Fire) {
        let permit = self.pool.acquire().await;
        if self.dispatcher.claim_here(fire).await {
            let item = Item {
                shard,
                run: fire.run.clone(),
                trace: fire.trace,
                slot: fire.ids.slot,
            };
            self.begin(session, &item, &fire.ids).await;
            self.executor.execute_here(&fire.ids).await;
            self.finish(session, shard, &fire.ids).await;
            self.dispatcher.release_here(fire).await;
        }
        drop(permit);
    }

    fn notes(&self) -> bool {
        self.session.terms.failover != Failover::Off
    }

    /// A note that fails is not there; the work goes on.
    async fn begin(&self, session: SessionId, item: &Item, ids: &Ids) {
        if self.notes() {
            let ports = &self.instance.ports;
            let at = At::new(&steps::COORDINATOR_BEGIN, ids);
            if let Err(error) = ports.coordinator.begin(at, session, item).await {
                ports.journal.record(at, failed(error));
            }
        }
    }

    /// Tried again through errors, since a run that is not noted as done is done again.
    async fn finish(&self, session: SessionId, shard: u32, ids: &Ids) {
        let ports = &self.instance.ports;
        let at = At::new(&steps::COORDINATOR_FINISH, ids);
        let retry = &self.session.retry;
        for failures in 1..=retry.max_attempts {
            if !self.notes() {
                return;
            }
            match ports.coordinator.finish(at, session, shard).await {
                Ok(_) => return,
                Err(error) => ports.journal.record(at, failed(error)),
            }
            ports.runtime.sleep(retry.backoff_after(failures)).await;
        }
    }

    /// Keeps a session open, so that shards are dealt to the instance, and takes over what other
    /// owners of its shards leave behind; leaves when the instance stops.
    async fn watch(&self) {
        let ports = &self.instance.ports;
        let mut failures = 0;
        while let Some(session) = self.session.id().await {
            let nobody = Ids::default();
            let at = At::new(&steps::COORDINATOR_TAKE_OVER, &nobody);
            match ports.coordinator.take_over(at, session).await {
                Ok(Standing::Lives(items)) => {
                    failures = 0;
                    for item in &items {
                        self.take_over(session, item).await;
                    }
                    self.session.idle(session).await;
                }
                Ok(Standing::Expired) => self.session.over(session),
                Err(error) => {
                    ports.journal.record(at, failed(error));
                    failures += 1;
                    backoff::pause(&*ports.runtime, &self.session.retry, failures).await;
                }
            }
        }
        // What it has begun it ends first, or another would do it again.
        let mut idle = Vec::new();
        for _ in 0..self.at_once {
            idle.push(self.pool.acquire().await);
        }
        self.session.leave().await;
    }

    /// Does again what another owner left behind.
    async fn take_over(&self, session: SessionId, item: &Item) {
        let ports = &self.instance.ports;
        ports.journal.mark(&marks::FAILED_OVER);
        let ids = Ids {
            slot: item.slot,
            run: Some(item.run.clone()),
            trace: Some(item.trace),
            ..Ids::default()
        };
        let at = At::new(&steps::COORDINATOR_TAKE_OVER, &ids);
        ports.journal.record(at, What::Requeued);
        let permit = self.pool.acquire().await;
        self.executor.execute_here(&ids).await;
        self.finish(session, item.shard, &ids).await;
        drop(permit);
    }

    fn owned(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
