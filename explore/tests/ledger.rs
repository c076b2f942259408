//! The outside world forgets nothing that was done to it.
#![allow(clippy::unwrap_used)]

use evidence::What;
use runkey_explore::{Draw, Table, perform, random_plan};
use scenarios::catalogue;
use scenarios::spec::{Bounds, Space};
use sim::{Parts, Setup};

/// Under random plans of every kind there is, failovers and purges too: the entries of the ledger
/// are numbered without a gap in the order of the events, so none was ever taken back.
#[test]
fn the_ledger_of_effects_is_append_only() {
    let mut effects = 0;
    for entry in catalogue::all() {
        let scenario = entry.scenario().unwrap();
        let setup = Setup::new(&scenario, Parts::default()).unwrap();
        let space = Table::of(&[&Bounds::new(&scenario, Space::Beyond)]);
        for number in 0..40 {
            let (seed, faults) = (1 + number % 4, (number % 5) as u8);
            let mut draw = Draw::new(number);
            let plan = random_plan(&setup, &space, seed, faults, &mut draw)
                .unwrap()
                .plan;
            let outcome = perform(&setup, seed, &plan).unwrap();
            let numbers = outcome
                .history
                .events
                .iter()
                .filter_map(|event| match event.what {
                    What::Effect { number } => Some(number),
                    _ => None,
                });
            let numbers: Vec<u32> = numbers.collect();
            let expected: Vec<u32> = (1..).take(numbers.len()).collect();
            assert_eq!(numbers, expected, "{}", scenario.name);
            effects += numbers.len();
        }
    }
    assert_eq!(effects, 20_236);
}
