//! The summary of a batch, as bytes.

use super::{Packed, packed_fields};
use crate::known::Proposal;
use crate::tally::{Form, Tally};
use crate::{Coverage, Level, LevelName, Part, Places, Symptoms};
use sim::State;

packed_fields!(LevelName { faults, merged });
packed_fields!(Part { level, whole });
packed_fields!(Form { run, past });
packed_fields!(Tally { whole, between });
packed_fields!(Proposal {
    owner,
    verdict,
    next,
    rank
});
packed_fields!(Places { words });
packed_fields!(Symptoms { seen, left_out });

// What was to be executed twice has been when a batch is finished.
packed_fields!(Level {
    faults, cut, plans, merged, executions, repeated, failing, matching, next_plans, verdicts,
    failing_verdicts, symptoms, first_failing, first_matching, coverage, places, digest,
    most_effects, proposals, tally,
} Level::default());

impl Packed for State {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Packed::get(from).map(State)
    }
}

/// Only what is not zero: a batch strikes in few of all cells.
impl Packed for Coverage {
    fn put(&self, to: &mut Vec<u8>) {
        self.cells().put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let cells: Vec<_> = Packed::get(from)?;
        let mut coverage = Coverage::default();
        for (cell, count) in cells {
            coverage.add_many(cell, count);
        }
        Some(coverage)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{packed, unpacked};
    use super::*;
    use crate::toy::Courier;
    use crate::{Bound, Check, Control, Expectation, Journal, Walking, check};
    use proptest::prelude::*;
    use scenarios::spec::Space;
    use std::sync::Mutex;

    /// Keeps the parts, and finds none.
    #[derive(Default)]
    struct Kept(Mutex<Vec<Part>>);

    impl Journal for Kept {
        fn finished(&self, _: LevelName, _: u64) -> Option<Part> {
            None
        }

        fn finish(&self, _: LevelName, _: u64, part: &Part) {
            self.0.lock().unwrap().push(part.clone());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn whatever_a_batch_gave_is_read_as_it_was_written(
            keyed in any::<bool>(),
            tries in 1_u8..6,
            seeds in 1_u64..4,
            up_to in 0_u8..4,
        ) {
            let courier = Courier { keyed, tries: tries.into() };
            let kept = Kept::default();
            check(&Check {
                execute: &courier,
                seeds: &(1..=seeds),
                bounds: &[Bound { space: Space::Core, up_to, choices: &courier }],
                expectation: &Expectation::Holds { faults: None },
                all_plans: true,
                show_next_up_to: 0,
                walking: Walking { journal: Some(&kept), ..Walking::default() },
                control: &Control::new(),
            }).unwrap();
            let parts = kept.0.into_inner().unwrap();
            prop_assert!(!parts.is_empty());
            for part in parts {
                let bytes = packed(&part);
                prop_assert_eq!(unpacked::<Part>(&bytes), Some(part));
                // Less than all of it is nothing.
                prop_assert_eq!(unpacked::<Part>(&bytes[..bytes.len() - 1]), None);
            }
        }
    }
}
