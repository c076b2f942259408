//! The same scenario, seed and plan are the same history, byte for byte: again, on another thread,
//! beside other executions, in another process, and with every idle poll made.
#![allow(clippy::unwrap_used)]

mod set_ups;

use assert_cmd::Command;
use evidence::History;
use explore::{Draw, Table, random_plan};
use rayon::prelude::*;
use scenarios::spec::{Bounds, Plan, Space};
use scenarios::{Scenario, Token, catalogue};
use serde_json::Value;
use set_ups::ready;
use sim::{Outcome, Setup};

/// A scenario of the catalogue with some seeds and plans.
struct Sample {
    scenario: Scenario,
    setup: Setup,
    plans: Vec<(u64, Plan)>,
}

impl Sample {
    /// `count` random plans of the space `full`, of none to three faults, under three seeds.
    fn of(scenario: Scenario, count: u64) -> Sample {
        let setup = ready(&scenario);
        let space = Table::of(&[&Bounds::new(&scenario, Space::Full)]);
        let plan = |number| {
            let (seed, faults) = (1 + number % 3, (number % 4) as u8);
            let mut draw = Draw::new(number);
            let found = random_plan(&setup, &space, seed, faults, &mut draw).unwrap();
            (seed, found.plan)
        };
        Sample {
            plans: (0..count).map(plan).collect(),
            scenario,
            setup,
        }
    }
}

/// Every scenario of the catalogue, each with `count` plans.
fn samples(count: u64) -> Vec<Sample> {
    let entries = catalogue::all().into_iter();
    entries
        .map(|entry| Sample::of(entry.scenario().unwrap(), count))
        .collect()
}

/// The history as the bytes that are hashed.
fn bytes(history: &History) -> Vec<u8> {
    let mut bytes = Vec::new();
    history.hash_with(&mut bytes);
    bytes
}

fn assert_same(name: &str, one: &Outcome, other: &Outcome) {
    assert_eq!(one.trace_hash, other.trace_hash, "{name}");
    assert_eq!(bytes(&one.history), bytes(&other.history), "{name}");
    assert_eq!(one, other, "{name}");
}

#[test]
fn an_execution_repeats_on_this_thread_and_on_another() {
    for Sample {
        scenario,
        setup,
        plans,
    } in samples(8)
    {
        let run = || -> Vec<Outcome> {
            let plans = plans.iter();
            plans
                .map(|(seed, plan)| sim::run(&setup, *seed, plan))
                .collect()
        };
        let once = run();
        let again = run();
        let elsewhere = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        for (place, first) in once.iter().enumerate() {
            assert_same(&scenario.name, first, &again[place]);
            assert_same(&scenario.name, first, &elsewhere[place]);
        }
    }
}

#[test]
fn one_two_and_eight_threads_give_the_same_executions() {
    let samples = samples(8);
    let all_on = |threads| -> Vec<Outcome> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let each = samples.par_iter().flat_map(|sample| {
                let plans = sample.plans.par_iter();
                plans.map(|(seed, plan)| sim::run(&sample.setup, *seed, plan))
            });
            each.collect()
        })
    };
    let alone = all_on(1);
    for threads in [2, 8] {
        for (one, other) in alone.iter().zip(all_on(threads)) {
            assert_same("side by side", one, &other);
        }
    }
}

#[test]
fn another_process_tells_the_same_history() {
    for Sample {
        scenario,
        setup,
        plans,
    } in samples(2)
    {
        let (seed, plan) = plans.last().unwrap();
        let token = Token {
            scenario_hash: scenario.hash32(),
            seed: *seed,
            plan: plan.clone(),
            test: None,
        };
        let mut replay = Command::cargo_bin("runkey").unwrap();
        replay.args(["replay", &token.encode().unwrap(), "--format", "json"]);
        let told: Value =
            serde_json::from_slice(&replay.assert().success().get_output().stdout).unwrap();
        let told = &told["results"][0];
        let outcome = sim::run(&setup, *seed, plan);
        let name = &scenario.name;
        assert_eq!(told["trace_hash"], outcome.trace_hash.to_string(), "{name}");
        assert_eq!(told["verdict"], outcome.judgement.verdict.name(), "{name}");
        assert_eq!(timeline(told), in_words(&outcome.history), "{name}");
    }
}

/// When, where and what, as another process tells it.
fn timeline(told: &Value) -> Vec<[String; 4]> {
    let words = |event: &Value| {
        ["at", "instance", "step", "what"].map(|key| event[key].as_str().unwrap().to_owned())
    };
    told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(words)
        .collect()
}

/// The same, of a history in this process.
fn in_words(history: &History) -> Vec<[String; 4]> {
    let words = |event: &evidence::Event| {
        [
            event.at.to_string(),
            history.cast.instance(event.instance).to_owned(),
            event.step.name.to_owned(),
            event.what.name().to_owned(),
        ]
    };
    history.events.iter().map(words).collect()
}

/// Leases that end by a clock that may be set while they run, and by one that runs fast.
fn leases_by_the_nodes_clock() -> [Scenario; 2] {
    let steady = "
        [guard]
        kind = 'state_machine'
        clock = 'node'
        heartbeat = 'off'
        [work]
        takes = '20s'
    ";
    let fast = "
        [[instance]]
        name = 'executor-1'
        clock = { drift_ppm = 50000 }
    ";
    [
        Scenario::parse(steady, "steady").unwrap(),
        Scenario::parse(&format!("{steady}{fast}"), "fast").unwrap(),
    ]
}

#[test]
fn making_every_idle_poll_changes_nothing() {
    let by_node = leases_by_the_nodes_clock();
    let by_node = by_node
        .into_iter()
        .map(|scenario| Sample::of(scenario, 300));
    for sample in samples(12).into_iter().chain(by_node) {
        let always = sample.setup.polling_always();
        for (seed, plan) in &sample.plans {
            let skipped = sim::run(&sample.setup, *seed, plan);
            let made = sim::run(&always, *seed, plan);
            assert_same(&sample.scenario.name, &skipped, &made);
        }
    }
}
