//! What each kind of fault does when it strikes; where each applies is in `scenarios::spec`.

mod broker_failover;
mod broker_restart;
mod clock_step;
mod crash;
mod database_failover;
mod database_restart;
mod dead_letter_replay;
mod delay;
mod duplicate_request;
mod graceful_stop;
mod lock_failover;
mod lock_restart;
mod lose_reply;
mod lose_request;
mod operator_replay;
mod partition;
mod pause;
mod purge;
mod refuse;
mod session_loss;

use crate::agenda::Ms;
use crate::calls::CallKey;
use crate::world::World;
use evidence::{Ids, Step};
use scenarios::spec::{Fault, FaultKind, Phase, Server};

/// What becomes of the message at whose side a fault struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Travel {
    /// It goes on, so much later.
    On { later: Ms },
    /// It is gone.
    Lost,
}

/// Where a fault strikes.
pub(crate) struct Strike<'a> {
    pub(crate) fault: &'a Fault,
    pub(crate) step: &'static Step,
    pub(crate) ids: &'a Ids,
    /// The server that the step calls; `None` for a step that is no call.
    pub(crate) server: Option<Server>,
    /// The call.
    pub(crate) call: Option<CallKey>,
}

impl Strike<'_> {
    pub(crate) const fn instance(&self) -> u8 {
        self.fault.site.instance.0
    }

    /// The magnitude as a length of time.
    pub(crate) fn lasts(&self) -> Ms {
        u64::try_from(self.fault.magnitude_ms).unwrap_or(0)
    }
}

/// A fault strikes at a call.
pub(crate) fn on_message(world: &mut World, fault: &Fault, key: CallKey) -> Travel {
    let Some(call) = world.calls.get(key) else {
        return Travel::On { later: 0 };
    };
    let (step, ids, server) = (call.step, call.ids.clone(), call.server);
    strike(
        world,
        &Strike {
            fault,
            step,
            ids: &ids,
            server: Some(server),
            call: Some(key),
        },
    )
}

/// A fault strikes at a step that is no call.
pub(crate) fn on_step(world: &mut World, fault: &Fault, step: &'static Step, ids: &Ids) {
    strike(
        world,
        &Strike {
            fault,
            step,
            ids,
            server: None,
            call: None,
        },
    );
}

fn strike(world: &mut World, strike: &Strike<'_>) -> Travel {
    world.keep_sessions();
    let travel = struck(world, strike);
    world.standings_changed();
    travel
}

fn struck(world: &mut World, strike: &Strike<'_>) -> Travel {
    let strike_by = match strike.fault.kind {
        FaultKind::LoseRequest => return lose_request::strike(world, strike),
        FaultKind::LoseReply => return lose_reply::strike(world, strike),
        FaultKind::Delay => return delay::strike(world, strike),
        FaultKind::DuplicateRequest => duplicate_request::strike,
        FaultKind::Refuse => refuse::strike,
        FaultKind::Crash => crash::strike,
        FaultKind::Pause => pause::strike,
        FaultKind::Partition | FaultKind::PartitionToServer | FaultKind::PartitionFromServer => {
            partition::strike
        }
        FaultKind::GracefulStop => graceful_stop::strike,
        FaultKind::BrokerRestart => broker_restart::strike,
        FaultKind::OperatorReplay => operator_replay::strike,
        FaultKind::ClockStep => clock_step::strike,
        FaultKind::LockFailover => lock_failover::strike,
        FaultKind::DatabaseFailover => database_failover::strike,
        FaultKind::DatabaseRestart => database_restart::strike,
        FaultKind::BrokerFailover => broker_failover::strike,
        FaultKind::DeadLetterReplay => dead_letter_replay::strike,
        FaultKind::LockRestart => lock_restart::strike,
        FaultKind::SessionLoss => session_loss::strike,
        FaultKind::Purge => purge::strike,
    };
    strike_by(world, strike);
    Travel::On { later: 0 }
}

/// One clause for the timeline: where the fault struck, and until when it lasts.
pub(crate) fn tell(world: &World, fault: &Fault, step: &'static Step, until: Option<Ms>) -> String {
    let place = match fault.site.phase {
        Phase::Before => format!("before {step}"),
        Phase::Request => match fault.kind {
            FaultKind::Crash | FaultKind::Pause | FaultKind::ClockStep => format!("during {step}"),
            _ => format!("request of {step}"),
        },
        Phase::Done => match fault.kind {
            FaultKind::LoseReply => format!("reply of {step}"),
            _ => format!("after {step} was done"),
        },
        Phase::Reply => format!("after the reply of {step}"),
    };
    let until = until.map(|until| {
        let at = world
            .constants
            .epoch
            .plus_ms(i64::try_from(until).unwrap_or(0));
        match fault.kind {
            FaultKind::Crash | FaultKind::GracefulStop => format!("; back at {}", at.clock()),
            FaultKind::Delay => format!("; arrives at {}", at.clock()),
            _ => format!("; until {}", at.clock()),
        }
    });
    let by = match fault.kind {
        FaultKind::ClockStep => format!(" by {} ms", fault.magnitude_ms),
        FaultKind::LockFailover | FaultKind::DatabaseFailover | FaultKind::BrokerFailover => {
            format!(" losing {} ms", fault.magnitude_ms)
        }
        FaultKind::PartitionToServer => " (to the server)".to_owned(),
        FaultKind::PartitionFromServer => " (from the server)".to_owned(),
        _ => String::new(),
    };
    format!("{place}{by}{}", until.unwrap_or_default())
}
