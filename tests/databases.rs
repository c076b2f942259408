//! The quick database against the model of a real one: what the pipeline sees is the same.
#![allow(clippy::unwrap_used)]

mod set_ups;

use explore::{Draw, Table, perform, random_plan};
use scenarios::catalogue;
use scenarios::file::DatabaseProfile;
use scenarios::spec::{Bounds, Space};
use set_ups::ready;

/// Random plans of each scenario.
const PLANS: u64 = 60;

#[test]
fn under_read_committed_postgresql_gives_the_histories_of_the_quick_database() {
    let mut differ = Vec::new();
    for entry in catalogue::all() {
        let scenario = entry.scenario().unwrap();
        let mut named = scenario.clone();
        named.database.profile = DatabaseProfile::Postgresql;
        let (quick, modelled) = (ready(&scenario), ready(&named));
        let space = Table::of(&[&Bounds::new(&scenario, Space::Full)]);
        for number in 0..PLANS {
            let (seed, faults) = (1 + number % 4, (number % 4) as u8);
            let mut draw = Draw::new(number);
            let plan = random_plan(&quick, &space, seed, faults, &mut draw)
                .unwrap()
                .plan;
            let one = perform(&quick, seed, &plan).unwrap();
            let same = perform(&modelled, seed, &plan)
                .is_ok_and(|other| other.trace_hash == one.trace_hash);
            if !same {
                let faults = plan.faults.iter().map(|fault| fault.text(&scenario.cast()));
                differ.push((scenario.name.clone(), seed, faults.collect::<Vec<_>>()));
            }
        }
    }
    assert!(
        differ.is_empty(),
        "{} {:#?}",
        differ.len(),
        &differ[..differ.len().min(12)]
    );
}
