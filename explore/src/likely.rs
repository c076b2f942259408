//! Which kinds of faults are tried first, where the order is free.

use scenarios::spec::FaultKind;

/// Kinds that are cheap (one fault a site) and often show a bug by themselves come first, kinds with
/// a fault for every deadline behind them.
///
/// Chosen by hand, and kept because of the orders that the example `calibrate` compares it finds
/// most of the known bugs within 100 executions: `docs/calibration.md`. It may decide in which order
/// a level is executed, never what is reported of it.
pub const LIKELY_FIRST: [FaultKind; 22] = [
    FaultKind::DuplicateRequest,
    FaultKind::Crash,
    FaultKind::LoseReply,
    FaultKind::OperatorReplay,
    FaultKind::Pause,
    FaultKind::BrokerRestart,
    FaultKind::LoseRequest,
    FaultKind::Partition,
    FaultKind::PartitionFromServer,
    FaultKind::PartitionToServer,
    FaultKind::Refuse,
    FaultKind::Delay,
    FaultKind::GracefulStop,
    FaultKind::ClockStep,
    FaultKind::LockRestart,
    FaultKind::Purge,
    FaultKind::SessionLoss,
    FaultKind::LockFailover,
    FaultKind::DatabaseRestart,
    FaultKind::DatabaseFailover,
    FaultKind::BrokerFailover,
    FaultKind::DeadLetterReplay,
];

/// The place of a kind in [`LIKELY_FIRST`].
pub(crate) fn likelihood(kind: FaultKind) -> usize {
    let place = LIKELY_FIRST.iter().position(|likely| *likely == kind);
    place.unwrap_or(LIKELY_FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_names_every_kind_once() {
        let mut kinds = LIKELY_FIRST;
        kinds.sort_unstable();
        assert_eq!(kinds, FaultKind::ALL);
    }
}
