//! `routed`: admins fire timers and call executors one by one, as XXL-JOB does: no queue between.
//!
//! A run that an executor has taken sits in its memory and dies with it. The executor writes down
//! how it ended; an admin's watch calls again what failed, or what nobody reported on.

mod block;
mod caller;
mod config;
mod inbox;
mod watch;

pub use block::BlockStrategy;
pub(crate) use caller::Caller;
pub use config::RoutedConfig;
pub use watch::WATCH_EVERY;

use super::{Blueprint, queued};
use crate::Instance;
use crate::recovery::Requeue;
use std::sync::Arc;

/// Starts an admin: one loop a timer, and its watch where something may be called again.
pub(super) fn start_admin(instance: &Instance, blueprint: &Arc<Blueprint>, fire_offset_ms: i64) {
    let Some(config) = &blueprint.routed else {
        return;
    };
    let caller = Arc::new(Caller::new(config));
    let dispatcher = Arc::new(blueprint.dispatcher(instance).calling(caller.clone()));
    queued::start_timers(instance, blueprint, &dispatcher, fire_offset_ms);
    if config.retries > 0 {
        watch::start(instance, caller, config.lost_after.0);
    }
}

/// Starts an executor: what takes its calls, and recovery where the guard keeps records.
pub(super) fn start_executor(instance: &Instance, blueprint: &Arc<Blueprint>) {
    let Some(config) = &blueprint.routed else {
        return;
    };
    let executor = blueprint.executor(instance);
    inbox::start(&executor, config, blueprint.concurrency);
    blueprint.start_recovery(&executor, Requeue::Here);
}
