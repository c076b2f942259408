//! The kinds of faults, each in one file: what it is, where it applies, how much.

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
}

impl FaultKind {
    /// Every kind, by number.
    pub const ALL: [FaultKind; 14] = [
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
        }
    }
}
