//! Lost, stuck and the like are judged only after the last fault is over and the world has come to
//! rest: every instance is back and at work, and whatever goes on without end has had its time.
#![allow(clippy::unwrap_used)]

mod set_ups;

use evidence::{Ended, Event, Timestamp, Verdict, What};
use explore::{Draw, Outcome, Table, random_plan};
use scenarios::Scenario;
use scenarios::spec::{Bounds, FaultKind, Space};
use set_ups::{named, ready};
use std::collections::BTreeMap;

/// A crash between the two steps of the lock leaves one without end: the message is put off, once a
/// second, for ever.
const NEVER_AT_REST: &str = "
    [[timer]]
    id = 'report'
    slots = 1
    [guard]
    kind = 'redis_lock'
    acquire = 'two_step'
    [downstream]
    protection = { kind = 'idempotency_key' }
";

/// How long an execution of it goes on after its last fault: four times the longest backoff, 60 s.
const PATIENCE_MS: i64 = 240_000;
/// A message that was put off comes back within so long: 1 s, and the legs of the calls.
const NEXT_DELIVERY_MS: i64 = 1_100;

/// Kinds that last as long as their magnitude says.
const LASTING: [FaultKind; 2] = [FaultKind::Pause, FaultKind::Partition];

/// When each lasting fault of the execution is over.
fn ends(outcome: &Outcome, kinds: &[FaultKind]) -> impl Iterator<Item = Timestamp> {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    outcome
        .history
        .events
        .iter()
        .filter_map(move |event| match &event.what {
            What::Fault(note) if names.contains(&note.name) => {
                Some(event.at.plus_ms(note.magnitude_ms))
            }
            _ => None,
        })
}

/// How often an instance died or stopped, less how often it came back.
fn down(events: &[Event]) -> i64 {
    let each = events.iter().map(|event| match &event.what {
        What::Fault(note) if note.name == FaultKind::Crash.name() => 1,
        What::Stopped => 1,
        What::Restarted => -1,
        _ => 0,
    });
    each.sum()
}

/// What is wrong with the moment at which an execution was judged.
fn too_early(outcome: &Outcome) -> Option<String> {
    let (rest, events) = (&outcome.history.rest, &outcome.history.events);
    if down(events) != 0 {
        return Some("an instance is not back".to_owned());
    }
    if ends(outcome, &[FaultKind::Pause]).any(|end| end > rest.at) {
        return Some("an instance stands still".to_owned());
    }
    let told = |event: &&Event| matches!(event.what, What::Fault(_) | What::Restarted);
    let struck = events.iter().filter(told).map(|event| event.at);
    let healed = struck.chain(ends(outcome, &LASTING)).max()?;
    let patience = rest.at.0 - healed.0;
    let is_cut = rest.ended == Ended::Horizon && patience < PATIENCE_MS - NEXT_DELIVERY_MS;
    is_cut.then(|| format!("cut {patience} ms after the last fault"))
}

/// So many random plans of up to three faults, what is wrong, and how often which end came of them.
fn explored(scenario: &Scenario, plans: u64) -> (Vec<String>, BTreeMap<(Verdict, bool), u32>) {
    let setup = ready(scenario);
    let space = Table::of(&[&Bounds::new(scenario, Space::Full)]);
    let (mut wrong, mut ended) = (Vec::new(), BTreeMap::new());
    for number in 0..plans {
        let mut draw = Draw::new(number);
        let found = random_plan(&setup, &space, 1 + number % 16, 3, &mut draw).unwrap();
        if let Some(why) = too_early(&found.outcome) {
            wrong.push(format!("{}: {why}", set_ups::words(scenario, &found.plan)));
        }
        let settled = found.outcome.history.rest.ended == Ended::Settled;
        let verdict = found.outcome.judgement.verdict;
        *ended.entry((verdict, settled)).or_insert(0) += 1;
    }
    (wrong, ended)
}

#[test]
fn what_never_comes_to_rest_is_judged_long_after_the_last_fault() {
    let scenario = Scenario::parse(NEVER_AT_REST, "never-at-rest.toml").unwrap();
    let (wrong, ended) = explored(&scenario, 1_000);
    assert_eq!(wrong, [""; 0]);
    let cut = ended.iter().filter(|((_, settled), _)| !settled);
    assert!(cut.map(|(_, count)| count).sum::<u32>() > 50, "{ended:?}");
}

#[test]
fn what_comes_to_rest_is_judged_when_every_instance_is_back() {
    for name in [
        "no-catch-up",
        "recovery-off-dead-letter",
        "recommended-stack",
    ] {
        let (wrong, ended) = explored(&named(name), 500);
        assert_eq!(wrong, [""; 0], "{name}");
        assert!(
            ended.keys().all(|(_, settled)| *settled),
            "{name}: {ended:?}"
        );
    }
}

#[test]
fn an_execution_that_is_judged_too_early_is_found_out() {
    let scenario = named("recommended-stack");
    let (setup, space) = (ready(&scenario), Bounds::new(&scenario, Space::Full));
    let space = Table::of(&[&space]);
    let mut found = BTreeMap::new();
    for number in 0..200 {
        let mut draw = Draw::new(number);
        let mut outcome = random_plan(&setup, &space, 1, 1, &mut draw)
            .unwrap()
            .outcome;
        // Judged when the first fault struck.
        let strikes = |event: &Event| matches!(event.what, What::Fault(_));
        let Some(place) = outcome.history.events.iter().position(strikes) else {
            continue;
        };
        outcome.history.events.truncate(place + 1);
        outcome.history.rest.at = outcome.history.events[place].at;
        outcome.history.rest.ended = Ended::Horizon;
        if let Some(why) = too_early(&outcome) {
            let words = why.split(' ').take(3).collect::<Vec<_>>().join(" ");
            *found.entry(words).or_insert(0) += 1;
        }
    }
    let found: Vec<&str> = found.keys().map(String::as_str).collect();
    assert!(found.contains(&"an instance is"), "{found:?}");
    assert!(found.contains(&"an instance stands"), "{found:?}");
    assert!(found.iter().any(|why| why.starts_with("cut ")), "{found:?}");
}
