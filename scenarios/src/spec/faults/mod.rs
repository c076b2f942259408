//! The kinds of faults, each in one file: what it is, where it applies, how much.

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

use super::Phase;

/// A kind of fault. Numbers are part of tokens and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FaultKind {
    /// The request never arrives.
    LoseRequest = 0,
    /// The server did it and the caller never hears.
    LoseReply = 1,
    /// The request arrives later.
    Delay = 2,
    /// The request arrives twice.
    DuplicateRequest = 3,
    /// The server says no and does nothing.
    Refuse = 4,
    /// The instance dies, and is back after `restart_after`.
    Crash = 5,
    /// The instance stands still (garbage collection, a stopped virtual machine); its
    /// connections stay.
    Pause = 6,
    /// Nothing passes between instance and server, in either direction.
    Partition = 7,
    /// Nothing passes from the instance to the server.
    PartitionToServer = 8,
    /// Nothing passes from the server to the instance.
    PartitionFromServer = 9,
    /// The instance is asked to stop, finishes what it does, and is back after `restart_after`.
    GracefulStop = 10,
    /// The broker restarts: connections break, what was handed over goes back as its profile says.
    BrokerRestart = 11,
    /// A person publishes a copy of a message of this run that was already accepted.
    OperatorReplay = 12,
    /// The wall clock of the instance jumps.
    ClockStep = 13,
    /// A replica of the lock service takes over that was behind.
    LockFailover = 14,
    /// The lock service restarts, with what was on disk.
    LockRestart = 15,
    /// The coordinator forgets the sessions of an instance.
    SessionLoss = 16,
    /// The downstream forgets before its time what it has done.
    Purge = 17,
    /// A standby of the database takes over that was behind.
    DatabaseFailover = 18,
    /// The database restarts: connections break, open transactions are gone.
    DatabaseRestart = 19,
    /// A replica of the broker takes over that was behind.
    BrokerFailover = 20,
    /// A person puts every dead letter back into the queue.
    DeadLetterReplay = 21,
}

impl FaultKind {
    /// Every kind, by number.
    pub const ALL: [FaultKind; 22] = [
        FaultKind::LoseRequest,
        FaultKind::LoseReply,
        FaultKind::Delay,
        FaultKind::DuplicateRequest,
        FaultKind::Refuse,
        FaultKind::Crash,
        FaultKind::Pause,
        FaultKind::Partition,
        FaultKind::PartitionToServer,
        FaultKind::PartitionFromServer,
        FaultKind::GracefulStop,
        FaultKind::BrokerRestart,
        FaultKind::OperatorReplay,
        FaultKind::ClockStep,
        FaultKind::LockFailover,
        FaultKind::LockRestart,
        FaultKind::SessionLoss,
        FaultKind::Purge,
        FaultKind::DatabaseFailover,
        FaultKind::DatabaseRestart,
        FaultKind::BrokerFailover,
        FaultKind::DeadLetterReplay,
    ];

    /// As written in files, tokens' explanations and output. The three partitions share a name
    /// and differ in `direction`.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::LoseRequest => "lose_request",
            FaultKind::LoseReply => "lose_reply",
            FaultKind::Delay => "delay",
            FaultKind::DuplicateRequest => "duplicate_request",
            FaultKind::Refuse => "refuse",
            FaultKind::Crash => "crash",
            FaultKind::Pause => "pause",
            FaultKind::Partition
            | FaultKind::PartitionToServer
            | FaultKind::PartitionFromServer => "partition",
            FaultKind::GracefulStop => "graceful_stop",
            FaultKind::BrokerRestart => "broker_restart",
            FaultKind::OperatorReplay => "operator_replay",
            FaultKind::ClockStep => "clock_step",
            FaultKind::LockFailover => "lock_failover",
            FaultKind::LockRestart => "lock_restart",
            FaultKind::SessionLoss => "session_loss",
            FaultKind::Purge => "purge",
            FaultKind::DatabaseFailover => "database_failover",
            FaultKind::DatabaseRestart => "database_restart",
            FaultKind::BrokerFailover => "broker_failover",
            FaultKind::DeadLetterReplay => "dead_letter_replay",
        }
    }

    /// Whether it is inside the envelope of the recommended stack: every kind but failovers that
    /// lose what was committed, the purge of a memory, and (so that `full/1` stays what its
    /// certificates say) the replay of dead letters. `full` has these, `beyond` all.
    pub const fn is_inside(self) -> bool {
        !matches!(
            self,
            FaultKind::LockFailover
                | FaultKind::DatabaseFailover
                | FaultKind::BrokerFailover
                | FaultKind::DeadLetterReplay
                | FaultKind::Purge
        )
    }
}

/// What a kind of fault is and where it applies.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The kind.
    pub kind: FaultKind,
    /// What happens, in a sentence.
    pub what: &'static str,
    /// Where it happens outside the simulator.
    pub source: &'static str,
    /// How much of it.
    pub amount: Amount,
    /// Where it applies in the space `full`, or in `beyond` where it is outside the envelope.
    pub places: &'static [(Scope, Phase)],
    /// Where it applies in the space `core`; of a list of amounts only the one just past the
    /// longest deadline.
    pub core: &'static [(Scope, Phase)],
}

/// What a magnitude means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// The kind has none.
    Nothing,
    /// How long it lasts: just below and just past every deadline.
    Lasting,
    /// How far it jumps: the same, in both directions.
    Jumping,
    /// Of how long the changes are lost: as far as a replica may be behind, and just below and
    /// just past every deadline that is shorter.
    Losing,
}

/// A set of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every step that is a site.
    Steps,
    /// Steps that call a server.
    Calls,
    /// Of these, steps whose request can arrive twice.
    CallsThatRepeat,
    /// Steps that call the broker.
    BrokerCalls,
    /// Steps that call the broker, where it has a replica that is behind.
    BrokerWithReplica,
    /// Steps that call a server for a run of which the broker has already accepted a message.
    CallsOfAcceptedRuns,
    /// Steps that call the lock service, where a restart loses something.
    LockThatForgets,
    /// Steps that call the lock service, where it has a replica.
    LockWithReplica,
    /// Steps that call the database, where the scenario names the product or a guard holds a session.
    DatabaseProduct,
    /// Steps that call the database, where it has a standby that is behind.
    DatabaseWithStandby,
    /// Steps that call the coordinator.
    CoordinatorCalls,
    /// Steps that call a downstream that remembers requests for a while.
    CallsOfTheForgetful,
    /// `timer.wait`.
    Waits,
    /// Steps whose decision reads the instance's own wall clock.
    ClockReaders,
}

/// Every description, by the number of its kind.
static ALL: [&Description; FaultKind::ALL.len()] = [
    &lose_request::LOSE_REQUEST,
    &lose_reply::LOSE_REPLY,
    &delay::DELAY,
    &duplicate_request::DUPLICATE_REQUEST,
    &refuse::REFUSE,
    &crash::CRASH,
    &pause::PAUSE,
    &partition::PARTITION,
    &partition::PARTITION_TO_SERVER,
    &partition::PARTITION_FROM_SERVER,
    &graceful_stop::GRACEFUL_STOP,
    &broker_restart::BROKER_RESTART,
    &operator_replay::OPERATOR_REPLAY,
    &clock_step::CLOCK_STEP,
    &lock_failover::LOCK_FAILOVER,
    &lock_restart::LOCK_RESTART,
    &session_loss::SESSION_LOSS,
    &purge::PURGE,
    &database_failover::DATABASE_FAILOVER,
    &database_restart::DATABASE_RESTART,
    &broker_failover::BROKER_FAILOVER,
    &dead_letter_replay::DEAD_LETTER_REPLAY,
];

/// The description of a kind.
pub fn of(kind: FaultKind) -> &'static Description {
    ALL[kind as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_description_at_the_place_of_its_number() {
        for (number, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(of(kind).kind, kind);
            assert!(!of(kind).places.is_empty(), "{}", kind.name());
        }
    }
}
