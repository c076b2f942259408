//! Topologies: which part of the pipeline runs in which instance.
//!
//! Each is a small wiring file over the same parts.

mod local;
mod polled;
mod queued;
pub mod routed;
mod sharded;

pub use polled::{PolledConfig, Rows};

use crate::dispatch::{self, ClaimConfig, Cursor, DispatchConfig, Dispatcher, Leadership};
use crate::effects::ProtectionConfig;
use crate::executor::Executor;
use crate::guards::{BusyPolicy, Guard, GuardConfig, GuardContext};
use crate::handler::{BuiltIn, Handler};
use crate::ports::{At, Fut, Ports};
use crate::race::{self, First};
use crate::recovery::{self, RecoveryConfig, Requeue, Sweep};
use crate::session::{Session, SessionTerms};
use crate::steps;
use crate::timer::Timer;
use crate::work::WorkConfig;
use crate::{IdentityKey, Instance, Span};
use evidence::{Ids, Timestamp};
use routed::RoutedConfig;
use std::sync::Arc;

/// What an instance does: which parts of the pipeline run in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `local`: fires timers and executes their runs.
    Instance,
    /// `queued`: fires timers and publishes their runs.
    Scheduler,
    /// `queued`: consumes messages and executes runs.
    Executor,
    /// `sharded`: fires timers and executes the runs of the shards that it owns.
    Shardee,
    /// `polled`: claims due rows of the database and executes their runs.
    Worker,
    /// `routed`: fires timers and calls executors.
    Admin,
    /// `routed`: is called, and executes runs.
    Called,
}

/// Starts what runs in an instance. `fire_offset_ms` is how much later than planned it fires.
pub fn start(role: Role, instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    match role {
        Role::Instance => local::start(instance, blueprint, fire_offset_ms),
        Role::Scheduler => queued::start_scheduler(instance, blueprint, fire_offset_ms),
        Role::Executor => queued::start_executor(instance, blueprint),
        Role::Shardee => sharded::start(instance, blueprint, fire_offset_ms),
        Role::Worker => polled::start(instance, blueprint, fire_offset_ms),
        Role::Admin => routed::start_admin(instance, blueprint, fire_offset_ms),
        Role::Called => routed::start_executor(instance, blueprint),
    }
}

/// Makes a guard for one incarnation of an instance.
pub type GuardFactory = dyn Fn(&Instance) -> Box<dyn Guard> + Send + Sync;
/// Makes a handler for one incarnation of an instance.
pub type HandlerFactory = dyn Fn(&Instance) -> Box<dyn Handler> + Send + Sync;

/// Parts that a test brings along instead of the scenario's.
#[derive(Clone, Default)]
pub struct Parts {
    /// Instead of `[guard]`.
    pub guard: Option<Arc<GuardFactory>>,
    /// Instead of `[work] handler`.
    pub handler: Option<Arc<HandlerFactory>>,
}

/// Everything that the instances of a set-up are built from.
pub struct Blueprint {
    /// The timers.
    pub timers: Vec<Timer>,
    /// How slots are dispatched.
    pub dispatch: DispatchConfig,
    /// The guard.
    pub guard: GuardConfig,
    /// The protection of the downstream.
    pub protection: ProtectionConfig,
    /// The work.
    pub work: WorkConfig,
    /// What guards and downstream compare.
    pub identity: IdentityKey,
    /// Recovery.
    pub recovery: RecoveryConfig,
    /// How instances and their coordinator get on, where there is one.
    pub coordinator: Option<SessionTerms>,
    /// The shard of each timer, by its place (`sharded`).
    pub shards: Vec<u32>,
    /// How many runs an instance executes at once.
    pub concurrency: u16,
    /// What happens to a busy run where the guard does not say.
    pub busy: BusyPolicy,
    /// What the workers of `polled` do.
    pub polled: PolledConfig,
    /// A test's own parts.
    pub parts: Parts,
    /// How admins call executors, where they do.
    pub routed: Option<RoutedConfig>,
}

impl Blueprint {
    /// Whether the guard's record of a run stands under its runKey, so that the claim makes it.
    pub fn creates_record(&self) -> bool {
        self.keeps_runs() && self.identity == IdentityKey::RunKey
    }

    /// Whether the guard keeps execution records that recovery can read.
    pub fn keeps_runs(&self) -> bool {
        self.parts.guard.is_none() && matches!(self.guard, GuardConfig::StateMachine(_))
    }

    /// Whether the timers' positions survive in the database where there is no queue.
    fn keeps_positions(&self) -> bool {
        let claim = &self.dispatch.claim;
        let kept = *claim == ClaimConfig::UniqueRunKey || claim.is_by_position();
        self.dispatch.cursor == Cursor::Stored && kept
    }

    /// Where a starting instance takes a timer up again; `None` if it was stopped on the way.
    async fn resume(&self, ports: &Ports, timer: &Timer) -> Option<(u32, Option<Timestamp>)> {
        let (dispatch, retry) = (&self.dispatch, &self.work.retry);
        dispatch::resume(ports, timer, dispatch.catch_up, &dispatch.claim, retry).await
    }

    /// The session of an instance at the coordinator, where there is one.
    fn session(&self, instance: &Instance) -> Option<Arc<Session>> {
        let terms = self.coordinator?;
        Some(Arc::new(Session::new(
            &instance.ports,
            terms,
            &self.work.retry,
        )))
    }

    /// What an instance does about leadership, where slots are claimed by it.
    fn leadership(&self, instance: &Instance) -> Option<Arc<Leadership>> {
        let ClaimConfig::Leader(config) = &self.dispatch.claim else {
            return None;
        };
        let session = self.session(instance);
        let leadership = Leadership::new(instance, config, session.as_ref(), &self.work.retry);
        Some(Arc::new(leadership))
    }

    fn dispatcher(&self, instance: &Instance) -> Dispatcher {
        Dispatcher::new(
            instance,
            &self.dispatch,
            &self.work.retry,
            self.creates_record(),
        )
    }

    fn executor(&self, instance: &Instance) -> Arc<Executor> {
        let context = GuardContext {
            instance,
            max_attempts: self.work.retry.max_attempts,
        };
        let guard = match &self.parts.guard {
            Some(make) => make(instance),
            None => self.guard.build(&context),
        };
        let handler = match &self.parts.handler {
            Some(make) => make(instance),
            None => Box::new(BuiltIn::new(&self.work)),
        };
        Arc::new_cyclic(|itself| Executor {
            instance: instance.clone(),
            guard,
            handler,
            protection: self.protection.build(),
            work: self.work.clone(),
            identity: self.identity,
            busy: self.guard.busy().unwrap_or(self.busy),
            on_lost: self.guard.on_lost(),
            holds: self
                .timers
                .iter()
                .any(|timer| timer.publish_ahead > Span::ZERO),
            itself: itself.clone(),
        })
    }

    /// Starts the loops of the timers that an instance carries, one a registration. `run` gets
    /// the timer's place.
    fn start_timers(&self, instance: &Instance, run: impl Fn(usize) -> Fut<'static, ()>) {
        let ports = &instance.ports;
        for (place, timer) in self.timers.iter().enumerate() {
            if !timer.is_on(instance.id) || timer.is_over(ports.clock.now()) {
                continue;
            }
            for _ in 0..timer.registrations {
                let run = run(place);
                let Some(wait) = timer.until_registered(ports.clock.now()) else {
                    ports.runtime.spawn(run);
                    continue;
                };
                let runtime = ports.runtime.clone();
                ports.runtime.spawn(Box::pin(async move {
                    let registered = race::first(runtime.sleep(wait), runtime.stop_requested());
                    if let First::Left(()) = registered.await {
                        run.await;
                    }
                }));
            }
        }
    }

    /// Starts recovery, where the guard keeps records.
    fn start_recovery(&self, executor: &Arc<Executor>, requeue: Requeue) {
        let Some(sweep) = self.sweep() else { return };
        let config = self.recovery.clone();
        let runtime = &executor.ports().runtime;
        let nobody = Ids::default();
        let anchor = runtime.anchor(At::new(&steps::RECOVERY_SCAN, &nobody), config.every);
        let recover = recovery::recover(executor.clone(), config, sweep, requeue, anchor);
        runtime.spawn(Box::pin(recover));
    }

    /// What recovery scans for; `None` where nothing keeps records, or recovery is off.
    fn sweep(&self) -> Option<Sweep> {
        match &self.guard {
            GuardConfig::StateMachine(config) if self.keeps_runs() && self.recovery.enabled => {
                Some(Sweep {
                    sweep_after: config.sweep_queued_after.0,
                    clock: config.clock,
                })
            }
            _ => None,
        }
    }
}
