//! Which kinds of faults are tried first, where the order is free.

use scenarios::spec::FaultKind;

/// Kinds by how often a single fault of theirs shows a known bug of the catalogue, most often first.
///
/// Measured by the example `calibrate`; the numbers are in `docs/calibration.md`. It may decide in
/// which order a level is executed, never what is reported of it.
pub const LIKELY_FIRST: [FaultKind; 14] = [
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
];

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
