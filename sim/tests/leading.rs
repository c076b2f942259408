//! Who leads and who owns shards: what comes of pauses, partitions and crashes.

use evidence::{Verdict, What};
use runkey_sim::{Outcome, Parts, Setup, run};
use scenarios::Scenario;
use scenarios::spec::{Fault, FaultKind, Phase, Plan};
use scheduler::steps;

/// What comes of a scenario under its own faults.
fn outcome(scenario: &Scenario, seed: u64) -> Outcome {
    let setup = Setup::new(scenario, Parts::default()).expect("a set-up");
    let mut plan = Plan::empty();
    for fault in &scenario.faults {
        let spec = fault.spec(scenario).expect("a fault");
        let sites = run(&setup, seed, &plan).sites;
        let found = spec.find(sites.iter().map(|reached| reached.site));
        plan.faults.push(found.expect("the site is reached"));
    }
    run(&setup, seed, &plan)
}

fn worst(scenario: &Scenario) -> Vec<Verdict> {
    let verdicts = (1..=8).map(|seed| {
        let outcome = outcome(scenario, seed);
        let slots = outcome.judgement.slots.iter().map(|slot| slot.verdict);
        slots.min().expect("a slot")
    });
    verdicts.collect()
}

fn effects(outcome: &Outcome) -> usize {
    let events = outcome.history.events.iter();
    events
        .filter(|event| matches!(event.what, What::Effect { .. }))
        .count()
}

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text, "leading").expect("a scenario")
}

/// The broken one is broken under every seed, and each of its repairs is not.
fn broken_and_repaired(name: &str, verdict: Verdict) {
    let path = format!("{}/tests/leading/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let broken = Scenario::load(path).expect("a scenario");
    assert_eq!(worst(&broken), [verdict; 8], "{name}");
    for repair in &broken.repairs {
        let verdicts = worst(&repair.scenario);
        assert_eq!(
            verdicts,
            [Verdict::ExactlyOnce; 8],
            "{name}: {}",
            repair.name
        );
    }
}

#[test]
fn a_leader_that_believes_until_it_is_told_dispatches_beside_the_next() {
    broken_and_repaired("leader-until-told", Verdict::Duplicate);
    broken_and_repaired("leader-by-row-keeps-believing", Verdict::Duplicate);
}

#[test]
fn a_leader_that_stands_still_acts_on_what_it_heard_before() {
    broken_and_repaired("leader-asked-once", Verdict::Duplicate);
}

#[test]
fn a_slot_in_the_gap_between_two_leaders_is_lost_unless_somebody_looks_back() {
    broken_and_repaired("leader-gap", Verdict::Lost);
    broken_and_repaired("leader-token-gap", Verdict::Lost);
}

#[test]
fn a_leader_that_leads_again_goes_on_where_it_was_unless_it_forgets() {
    broken_and_repaired("leader-remembers-too-much", Verdict::Duplicate);
}

#[test]
fn failover_does_again_what_its_policy_says() {
    broken_and_repaired("failover-on-leave", Verdict::Duplicate);
    broken_and_repaired("failover-off", Verdict::Lost);
    broken_and_repaired("failover-of-the-living", Verdict::Duplicate);
    broken_and_repaired("sharded-died-before-its-note", Verdict::Lost);
    broken_and_repaired("stopped-owner-finishes-first", Verdict::ExactlyOnce);
}

#[test]
fn one_leads_and_every_slot_is_dispatched_once_while_all_are_well() {
    for claim in ["kind = 'leader'", "kind = 'leader', via = 'database'"] {
        for kind in ["queued", "local"] {
            let text = format!(
                "topology.kind = '{kind}'\ndispatch.claim = {{ {claim} }}\n\
                 [[timer]]\nid = 'a'\nschedule = {{ every = '1m', phase = '1m' }}\nslots = 3\n\
                 [[timer]]\nid = 'b'\nschedule = {{ every = '90s', phase = '90s' }}\nslots = 2\n"
            );
            let outcome = outcome(&parsed(&text), 1);
            assert_eq!(effects(&outcome), 5, "{kind} {claim}");
            let fired = outcome.history.events.iter();
            let fired = fired.filter(|event| event.what == What::Fired);
            let mut by: Vec<_> = fired.map(|event| event.instance).collect();
            by.dedup();
            assert_eq!(by.len(), 1, "only the leader fires: {kind} {claim}");
        }
    }
}

#[test]
fn every_shard_of_every_slot_is_one_run_of_its_owner() {
    let text = "topology = { kind = 'sharded', instances = 2 }\n[coordinator]\nshards = 3\n";
    let outcome = outcome(&parsed(text), 1);
    assert_eq!(outcome.history.planned.len(), 6);
    assert_eq!(effects(&outcome), 6);
    let effects = outcome.history.events.iter();
    let effects = effects.filter(|event| matches!(event.what, What::Effect { .. }));
    let mut by: Vec<_> = effects.map(|event| event.instance).collect();
    by.sort_unstable();
    by.dedup();
    assert_eq!(by.len(), 2, "the shards are dealt to both");
}

/// A session ends so long after the last beat, and the beats of a day cost nothing.
#[test]
fn a_session_is_kept_for_days_and_ends_when_its_instance_stands_still() {
    let text = "dispatch.claim = { kind = 'leader' }\n[[timer]]\nid = 'report'\nslots = 2\n";
    let setup = Setup::new(&parsed(text), Parts::default()).expect("a set-up");
    let quiet = run(&setup, 1, &Plan::empty());
    assert_eq!(effects(&quiet), 2);
    assert!(quiet.sites.len() < 120, "{} sites", quiet.sites.len());
    let wait = quiet.sites.iter().find(|reached| {
        reached.site.step == steps::TIMER_WAIT.number && reached.site.phase == Phase::Before
    });
    let plan = |magnitude_ms| Plan {
        faults: vec![Fault {
            site: wait.expect("the leader waits").site,
            kind: FaultKind::Pause,
            magnitude_ms,
        }],
    };
    // Elected again: the other leads from then on.
    for (pause, leaders) in [(12_000, 1), (20_000, 2)] {
        let outcome = run(&setup, 1, &plan(pause));
        let fired = outcome.history.events.iter();
        let claims = fired.filter(|event| event.what == What::Fired);
        let mut by: Vec<_> = claims.map(|event| event.instance).collect();
        by.sort_unstable();
        by.dedup();
        assert_eq!(by.len(), leaders, "a pause of {pause} ms");
        assert_eq!(effects(&outcome), 2);
    }
}
