//! The changes that are tried when a plan breaks a scenario: which fit, and what they come to.
#![allow(clippy::unwrap_used)]

use runkey_scenarios::cures::{Cost, Cured, cures_of, list};
use runkey_scenarios::{Scenario, catalogue};
use std::collections::BTreeSet;

fn named(name: &str) -> Scenario {
    catalogue::find(name).unwrap().scenario().unwrap()
}

/// Every scenario of the catalogue, and every repair in it.
fn catalogue() -> Vec<Scenario> {
    let scenarios = catalogue::all()
        .into_iter()
        .map(|entry| entry.scenario().unwrap());
    let both = scenarios.flat_map(|mut scenario| {
        let repairs = std::mem::take(&mut scenario.repairs).into_iter();
        let repairs: Vec<Scenario> = repairs.map(|repair| *repair.scenario).collect();
        std::iter::once(scenario).chain(repairs)
    });
    both.collect()
}

fn cure<'a>(cures: &'a [Cured], name: &str) -> &'a Cured {
    cures
        .iter()
        .find(|cured| cured.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn set(text: &str) -> toml::Table {
    toml::from_str(text).unwrap()
}

#[test]
fn without_a_change_a_scenario_stays_what_it_is() {
    for scenario in catalogue() {
        let same = scenario.changed(&toml::Table::new()).unwrap();
        assert_eq!(same.canonical(), scenario.canonical(), "{}", scenario.name);
        assert_eq!(same.name, scenario.name);
        assert_eq!(same.explore, scenario.explore);
        assert_eq!(same.expect, None);
    }
}

#[test]
fn a_change_is_what_a_repair_with_the_same_keys_is() {
    for scenario in catalogue::all()
        .into_iter()
        .map(|entry| entry.scenario().unwrap())
    {
        // One that replaces the plan changes more than its keys.
        let of_keys = scenario
            .repairs
            .iter()
            .filter(|repair| repair.fault.is_none());
        for repair in of_keys {
            let changed = scenario.changed(&repair.set).unwrap();
            assert_eq!(
                changed.hash(),
                repair.scenario.hash(),
                "{}",
                repair.scenario.name
            );
        }
    }
}

#[test]
fn a_change_that_leads_nowhere_is_refused_with_what_is_allowed() {
    let refused = |text: &str| {
        let error = named("crash-before-ack").changed(&set(text)).unwrap_err();
        error.to_string()
    };
    let said = refused("'guard.lease' = '45s'");
    assert!(said.contains("unknown key `lease`"), "{said}");
    let said = refused("'expect.verdict' = 'lost'");
    assert!(said.contains("cannot be changed by a repair"), "{said}");
}

#[test]
fn cures_go_from_cheap_to_dear_and_each_is_another_set_up() {
    for scenario in catalogue() {
        let cures = cures_of(&scenario);
        assert!(
            cures.is_sorted_by_key(|cured| cured.cost),
            "{}",
            scenario.name
        );
        let mut seen = BTreeSet::from([scenario.hash()]);
        for cured in &cures {
            let again = scenario.changed(&cured.set).unwrap();
            assert_eq!(again.hash(), cured.scenario.hash(), "{}", cured.name);
            assert!(
                seen.insert(again.hash()),
                "{}: {}",
                scenario.name,
                cured.name
            );
        }
    }
}

/// An entry that fits nothing would be dead, and nobody would notice.
#[test]
fn every_single_change_fits_a_scenario_of_the_catalogue_or_one_of_these() {
    let more = [
        "[guard]\nkind = 'redis_lock'\nacquire = 'two_step'\nrelease = 'blind'\nttl = '1s'\n\
         [work]\ntakes = '5s'\n[lock]\npersistence = false\n[downstream]\nlatency = '10s'\n",
        "[guard]\nkind = 'lock_row'\nmax_hold = '1s'\n[work]\ntakes = '5s'\n",
        "[[timer]]\nid = 'report'\nnext = 'from_now'\n",
    ];
    let more = more.map(|text| Scenario::parse(text, "more.toml").unwrap());
    let mut fitting = BTreeSet::new();
    for scenario in catalogue().into_iter().chain(more) {
        fitting.extend(cures_of(&scenario).into_iter().map(|cured| cured.name));
    }
    let single = list()
        .into_iter()
        .filter(|listed| listed.cost != Cost::Several);
    let missing: Vec<String> = single
        .map(|listed| listed.name)
        .filter(|name| !fitting.contains(name))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_is_there_already_is_no_change() {
    let names: Vec<String> = cures_of(&named("recommended-stack"))
        .into_iter()
        .filter(|cured| cured.cost == Cost::Several)
        .map(|cured| cured.name)
        .collect();
    assert_eq!(names, [""; 0], "every part of the stack is there");
}

#[test]
fn of_several_changes_only_those_are_named_that_change_something() {
    let cures = cures_of(&named("crash-before-ack"));
    // The unique run key and the outbox are there by default.
    let stack = cure(&cures, "guard state_machine + idempotency key downstream");
    assert_eq!(
        stack.set,
        set("guard = { kind = 'state_machine' }\n\
             'downstream.protection' = { kind = 'idempotency_key' }")
    );
    assert!(stack.extends(cure(&cures, "guard state_machine")));
    assert!(stack.extends(cure(&cures, "idempotency key downstream")));
    assert!(!stack.extends(cure(&cures, "guard insert_first")));
    assert!(!stack.extends(stack));
    assert!(
        !cures
            .iter()
            .any(|cured| cured.name.contains("unique run key"))
    );
}

#[test]
fn values_come_out_of_the_scenario() {
    let cures = cures_of(&named("lock-ttl-shorter-than-work"));
    let renewed = cure(&cures, "lock renewed");
    assert_eq!(renewed.cost, Cost::Setting);
    assert_eq!(renewed.set, set("'guard.renew_every' = '6s 666ms'"));
    // 45 s of work and 200 ms at the downstream, twice, in whole seconds.
    let longer = cure(&cures, "lock longer than the work");
    assert_eq!(longer.set, set("'guard.ttl' = '1m 31s'"));
}

#[test]
fn every_timer_is_changed_and_no_broker_where_there_is_none() {
    let scenario = Scenario::parse(
        "[[timer]]\nid = 'a.b'\n[[timer]]\nid = 'c'\n[topology]\nkind = 'local'\n",
        "two.toml",
    )
    .unwrap();
    let cures = cures_of(&scenario);
    let one = cure(&cures, "timer on one instance");
    assert_eq!(
        one.set,
        set("'timer.a.b.on' = ['instance-1']\n'timer.c.on' = ['instance-1']")
    );
    for timer in &one.scenario.timers {
        assert_eq!(timer.on, ["instance-1"]);
    }
    assert!(
        !cures
            .iter()
            .any(|cured| cured.set.keys().any(|path| path.starts_with("broker")))
    );
}
