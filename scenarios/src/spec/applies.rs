//! Where a kind of fault applies: the one table of steps, and how the kinds' scopes are read on it.

use super::faults::{self, Scope};
use super::{FaultKind, Phase, Space};
use crate::Scenario;
use scheduler::dispatch::ClaimConfig;
use scheduler::guards::TimeSource;
use scheduler::{Span, steps};

/// A server that steps call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Server {
    /// Records, outbox, timers, lock rows.
    Database = 0,
    /// The queue.
    Broker = 1,
    /// The lock service.
    Lock = 2,
    /// The outside world.
    Downstream = 3,
    /// Sessions, leaders, shards.
    Coordinator = 4,
    /// The executors that an admin calls; a partition cuts it off from all of them.
    Executors = 5,
}

impl Server {
    /// Every server, by number.
    pub const ALL: [Server; 6] = [
        Server::Database,
        Server::Broker,
        Server::Lock,
        Server::Downstream,
        Server::Coordinator,
        Server::Executors,
    ];

    /// As written in output.
    pub const fn name(self) -> &'static str {
        match self {
            Server::Database => "database",
            Server::Broker => "broker",
            Server::Lock => "lock",
            Server::Downstream => "downstream",
            Server::Coordinator => "coordinator",
            Server::Executors => "executors",
        }
    }
}

/// What a step does where it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// It calls a server: all four phases.
    Calling(Server),
    /// It happens inside the instance: phase `before` only.
    Local,
    /// It is asleep until the next slot: `before`, `request` (asleep) and `done` (awake).
    Waiting,
    /// It is no place of the pipeline but a name for events: never a site.
    Nothing,
}

/// Whether a network can bring the request of a step twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeats {
    /// It can: the server executes it twice.
    Yes,
    /// It cannot, and why.
    No(&'static str),
}

/// When the decision of a step reads the instance's own wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ReadsClock {
    Never,
    Always,
    /// Where the claim's `clock` is `node`.
    OfClaim,
    /// Where the guard's `clock` is `node`.
    OfGuard,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    step: &'static evidence::Step,
    doing: Doing,
    repeats: Repeats,
    clock: ReadsClock,
}

const SESSION: Repeats =
    Repeats::No("statements travel in one ordered connection, which brings each of them once");
const LONG_POLL: Repeats =
    Repeats::No("the broker answers one poll of a consumer at a time; a second one replaces it");
const NO_REQUEST: Repeats = Repeats::No("nothing is sent");

const fn call(step: &'static evidence::Step, server: Server, repeats: Repeats) -> Row {
    Row {
        step,
        doing: Doing::Calling(server),
        repeats,
        clock: ReadsClock::Never,
    }
}

/// A statement in a session of the database.
const fn sql(step: &'static evidence::Step, clock: ReadsClock) -> Row {
    Row {
        clock,
        ..call(step, Server::Database, SESSION)
    }
}

const fn inside(step: &'static evidence::Step, doing: Doing, clock: ReadsClock) -> Row {
    Row {
        step,
        doing,
        repeats: NO_REQUEST,
        clock,
    }
}

/// Every step, by number.
static TABLE: [Row; 57] = {
    use ReadsClock::{Always, Never, OfClaim, OfGuard};
    use Repeats::Yes;
    use Server::{Broker, Coordinator, Downstream, Executors, Lock};
    [
        inside(&steps::TIMER_WAIT, Doing::Waiting, Always),
        inside(&steps::TIMER_FIRE, Doing::Local, Always),
        sql(&steps::DISPATCH_CLAIM, OfClaim),
        sql(&steps::DISPATCH_CLAIM_READ, OfClaim),
        sql(&steps::DISPATCH_CLAIM_WRITE, OfClaim),
        sql(&steps::DISPATCH_ADVANCE, Never),
        sql(&steps::OUTBOX_READ, Never),
        call(&steps::BROKER_PUBLISH, Broker, Yes),
        sql(&steps::OUTBOX_MARK, Never),
        call(&steps::BROKER_DELIVER, Broker, LONG_POLL),
        sql(&steps::GUARD_ENTER, OfGuard),
        sql(&steps::GUARD_ENTER_READ, OfGuard),
        sql(&steps::GUARD_ENTER_WRITE, OfGuard),
        call(&steps::LOCK_ACQUIRE, Lock, Yes),
        call(&steps::LOCK_ACQUIRE_SET, Lock, Yes),
        call(&steps::LOCK_ACQUIRE_EXPIRE, Lock, Yes),
        call(&steps::LOCK_RENEW, Lock, Yes),
        call(&steps::LOCK_RELEASE, Lock, Yes),
        sql(&steps::GUARD_HEARTBEAT, OfGuard),
        call(&steps::DOWNSTREAM_LOOKUP, Downstream, Yes),
        call(&steps::DOWNSTREAM_PERFORM, Downstream, Yes),
        sql(&steps::GUARD_FINISH, OfGuard),
        call(&steps::BROKER_ACK, Broker, Yes),
        call(&steps::BROKER_DEFER, Broker, Yes),
        call(&steps::BROKER_RENEW, Broker, Yes),
        sql(&steps::RECOVERY_SCAN, OfGuard),
        sql(&steps::RECOVERY_REQUEUE, OfGuard),
        sql(&steps::DISPATCH_RESUME, Always),
        call(&steps::BROKER_REJECT, Broker, Yes),
        inside(&steps::WORK, Doing::Local, Never),
        inside(&steps::INSTANCE, Doing::Nothing, Never),
        sql(&steps::DISPATCH_RELEASE, OfClaim),
        call(&steps::COORDINATOR_JOIN, Coordinator, Yes),
        call(&steps::COORDINATOR_BEAT, Coordinator, Yes),
        call(&steps::COORDINATOR_CAMPAIGN, Coordinator, Yes),
        call(&steps::COORDINATOR_SHARDS, Coordinator, Yes),
        call(&steps::COORDINATOR_LEAVE, Coordinator, Yes),
        call(&steps::COORDINATOR_BEGIN, Coordinator, Yes),
        call(&steps::COORDINATOR_FINISH, Coordinator, Yes),
        call(&steps::COORDINATOR_TAKE_OVER, Coordinator, Yes),
        sql(&steps::DISPATCH_RENEW, OfClaim),
        sql(&steps::WORKER_CLAIM, Never),
        sql(&steps::WORKER_CLAIM_READ, Never),
        sql(&steps::WORKER_CLAIM_WRITE, Never),
        sql(&steps::WORKER_DONE, Never),
        sql(&steps::WORKER_DEFER, Never),
        sql(&steps::WORKER_RENEW, Never),
        sql(&steps::WORKER_POLL, Never),
        inside(&steps::ADMIN_ROUTE, Doing::Local, Never),
        sql(&steps::ADMIN_LOG, Never),
        call(&steps::ADMIN_BEAT, Executors, Yes),
        call(&steps::ADMIN_CALL, Executors, Yes),
        sql(&steps::ADMIN_ANSWER, Never),
        inside(&steps::EXECUTOR_ACCEPT, Doing::Local, Never),
        sql(&steps::EXECUTOR_REPORT, Never),
        sql(&steps::ADMIN_WATCH, Never),
        sql(&steps::ADMIN_RECALL, Never),
    ]
};

/// The server that a step calls; `None` for a step inside the instance or an unknown number.
///
/// With protection `transactional` the effect is made in the database instead: see
/// [`StepFacts::server`].
pub fn server_of(step: u8) -> Option<Server> {
    match TABLE.get(usize::from(step))?.doing {
        Doing::Calling(server) => Some(server),
        _ => None,
    }
}

/// A step as it is in one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepFacts {
    /// Its number.
    pub step: u8,
    /// What it does.
    pub doing: Doing,
    /// Whether its request can arrive twice.
    pub repeats: Repeats,
    /// Whether its decision reads the instance's own wall clock.
    pub reads_node_clock: bool,
    /// What its server can lose.
    pub loses: Loses,
}

/// What the servers of a scenario can lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loses {
    /// The lock service, what is not on disk.
    pub locks_by_restart: bool,
    /// The lock service, what its replica has not got.
    pub locks_by_failover: bool,
    /// The downstream, what it remembers of requests.
    pub requests_by_purge: bool,
    /// The database, open transactions and the locks of sessions.
    pub sessions_by_restart: bool,
    /// The database, commits that its standby has not got.
    pub commits_by_failover: bool,
    /// The broker, what its replica has not got.
    pub messages_by_failover: bool,
}

impl Loses {
    fn of(scenario: &Scenario) -> Self {
        Loses {
            locks_by_restart: scenario.lock.forgets(),
            locks_by_failover: scenario.lock.fails_over().is_some(),
            requests_by_purge: scenario.downstream.remembers(),
            sessions_by_restart: scenario.database.is_product() || scenario.guard.holds_sessions(),
            commits_by_failover: scenario.database.failover_loses > Span::ZERO,
            messages_by_failover: scenario.broker.failover_loses.0.is_some(),
        }
    }
}

/// Whether a step belongs to admins that call executors, and to what these do of it.
fn of_calls(step: &evidence::Step) -> bool {
    step.name.starts_with("admin.") || step.name.starts_with("executor.")
}

impl StepFacts {
    /// A step in this scenario; `None` for an unknown number.
    pub fn of(step: u8, scenario: &Scenario) -> Option<StepFacts> {
        let row = TABLE.get(usize::from(step))?;
        let in_database = *row.step == steps::DOWNSTREAM_PERFORM && scenario.effects_in_database();
        let reads_node_clock = match row.clock {
            ReadsClock::Never => false,
            ReadsClock::Always => true,
            ReadsClock::OfClaim => match &scenario.dispatch.claim {
                ClaimConfig::LockRow(claim) => claim.clock == TimeSource::Node,
                _ => false,
            },
            ReadsClock::OfGuard => scenario.guard.reads_node_clock(),
        };
        Some(StepFacts {
            step,
            doing: match row.doing {
                _ if in_database => Doing::Calling(Server::Database),
                Doing::Calling(Server::Coordinator) if scenario.coordinator.is_none() => {
                    Doing::Nothing
                }
                _ if of_calls(row.step) && !scenario.topology.kind.calls_executors() => {
                    Doing::Nothing
                }
                doing => doing,
            },
            repeats: if in_database { SESSION } else { row.repeats },
            reads_node_clock,
            loses: Loses::of(scenario),
        })
    }

    /// Every step in this scenario, by number.
    pub fn all(scenario: &Scenario) -> impl Iterator<Item = StepFacts> {
        (0..=u8::MAX).map_while(|step| StepFacts::of(step, scenario))
    }

    /// The server that it calls.
    pub const fn server(&self) -> Option<Server> {
        match self.doing {
            Doing::Calling(server) => Some(server),
            _ => None,
        }
    }

    /// Whether the step has this phase.
    pub fn has(&self, phase: Phase) -> bool {
        match self.doing {
            Doing::Calling(_) => true,
            Doing::Waiting => phase != Phase::Reply,
            Doing::Local => phase == Phase::Before,
            Doing::Nothing => false,
        }
    }

    /// Whether a space has a kind here; `replayable` tells whether a message of the site's run had
    /// been accepted by then.
    pub fn offers(&self, space: Space, kind: FaultKind, phase: Phase, replayable: bool) -> bool {
        let places = match space {
            Space::Core => faults::of(kind).core,
            Space::Full if !kind.is_inside() => &[],
            Space::Full | Space::Beyond => faults::of(kind).places,
        };
        self.has(phase)
            && places
                .iter()
                .any(|(scope, at)| *at == phase && self.is_in(*scope, replayable))
    }

    /// Whether the step belongs to a scope.
    fn is_in(&self, scope: Scope, replayable: bool) -> bool {
        match scope {
            Scope::Steps => self.doing != Doing::Nothing,
            Scope::Calls => self.server().is_some(),
            Scope::CallsThatRepeat => self.server().is_some() && self.repeats == Repeats::Yes,
            Scope::BrokerCalls => self.server() == Some(Server::Broker),
            Scope::BrokerWithReplica => {
                self.server() == Some(Server::Broker) && self.loses.messages_by_failover
            }
            Scope::LockThatForgets => {
                self.server() == Some(Server::Lock) && self.loses.locks_by_restart
            }
            Scope::LockWithReplica => {
                self.server() == Some(Server::Lock) && self.loses.locks_by_failover
            }
            Scope::DatabaseProduct => {
                self.server() == Some(Server::Database) && self.loses.sessions_by_restart
            }
            Scope::DatabaseWithStandby => {
                self.server() == Some(Server::Database) && self.loses.commits_by_failover
            }
            Scope::CoordinatorCalls => self.server() == Some(Server::Coordinator),
            Scope::CallsOfTheForgetful => {
                self.server() == Some(Server::Downstream) && self.loses.requests_by_purge
            }
            Scope::CallsOfAcceptedRuns => self.server().is_some() && replayable,
            Scope::Waits => self.doing == Doing::Waiting,
            Scope::ClockReaders => self.reads_node_clock,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_step_has_its_row_at_the_place_of_its_number() {
        assert_eq!(TABLE.len(), steps::ALL.len());
        for (row, step) in TABLE.iter().zip(steps::ALL) {
            assert_eq!(row.step, *step);
        }
    }

    #[test]
    fn a_step_named_after_a_server_calls_it() {
        for step in steps::ALL {
            let server = server_of(step.number);
            for named in Server::ALL {
                if step.name.starts_with(&format!("{}.", named.name())) {
                    assert_eq!(server, Some(named), "{step}");
                }
            }
        }
    }

    #[test]
    fn a_transactional_effect_is_a_statement_in_the_database() {
        let text = "[downstream]\nprotection = { kind = 'transactional' }";
        let perform = steps::DOWNSTREAM_PERFORM.number;
        let facts = StepFacts::of(perform, &Scenario::parse(text, "t").unwrap()).unwrap();
        assert_eq!(facts.server(), Some(Server::Database));
        assert!(!facts.offers(
            Space::Full,
            FaultKind::DuplicateRequest,
            Phase::Request,
            true
        ));
        let facts = StepFacts::of(perform, &Scenario::default()).unwrap();
        assert_eq!(facts.server(), Some(Server::Downstream));
        assert!(facts.offers(
            Space::Full,
            FaultKind::DuplicateRequest,
            Phase::Request,
            true
        ));
    }

    #[test]
    fn a_clock_matters_where_the_scenario_reads_the_nodes() {
        let enter = steps::GUARD_ENTER.number;
        let facts = |text: &str| {
            StepFacts::of(enter, &Scenario::parse(text, "t").unwrap())
                .unwrap()
                .offers(Space::Full, FaultKind::ClockStep, Phase::Before, false)
        };
        assert!(!facts("[guard]\nkind = 'state_machine'"));
        assert!(facts("[guard]\nkind = 'state_machine'\nclock = 'node'"));
    }
}
