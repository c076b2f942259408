//! The scenarios that come with runkey, and the one that a new file begins with.
#![allow(clippy::unwrap_used)]

use runkey_scenarios::{Scenario, TEMPLATE, catalogue};
use std::collections::BTreeMap;

#[test]
fn every_file_of_the_catalogue_is_a_scenario_under_its_own_name() {
    let mut names = BTreeMap::new();
    for entry in catalogue::all() {
        let scenario = entry.scenario().unwrap();
        assert_eq!(scenario.name, entry.name, "{}", entry.path);
        assert!(
            !scenario.about.is_empty(),
            "{} says nothing about itself",
            entry.path
        );
        assert!(scenario.source.is_some(), "{} has no source", entry.path);
        assert_eq!(
            names.insert(entry.name, entry.path),
            None,
            "{} twice",
            entry.name
        );
    }
    assert!(names.len() >= 2);
}

#[test]
fn a_scenario_is_found_by_its_name_and_by_its_hash() {
    let entry = catalogue::find("crash-before-ack").unwrap();
    assert_eq!(entry.path, "delivery/crash-before-ack.toml");
    assert_eq!(entry.layer, "delivery");
    let scenario = entry.scenario().unwrap();
    let found = catalogue::find_by_hash(scenario.hash32()).unwrap();
    assert_eq!(found, (entry, scenario));
    assert_eq!(catalogue::find("crash-after-ack"), None);
}

#[test]
fn different_scenarios_of_the_catalogue_have_different_hashes() {
    let mut hashes = BTreeMap::new();
    for entry in catalogue::all() {
        let hash = entry.scenario().unwrap().hash32();
        assert_eq!(hashes.insert(hash, entry.name), None, "{}", entry.name);
    }
}

#[test]
fn the_template_is_a_scenario_of_ten_useful_lines() {
    let scenario = Scenario::parse(TEMPLATE, "runkey.toml").unwrap();
    assert_eq!(scenario.name, "my-job");
    let useful = |line: &&str| !line.is_empty() && !line.starts_with(['#', '[']);
    assert_eq!(TEMPLATE.lines().filter(useful).count(), 10);
    let uncommented = TEMPLATE
        .replace("# [expect]", "[expect]")
        .replace("# verdict", "verdict")
        .replace("# faults_needed", "faults_needed");
    assert!(
        Scenario::parse(&uncommented, "runkey.toml")
            .unwrap()
            .expect
            .is_some()
    );
}
