//! What a broker's profile promises and where it lets go, as runs of a pipeline show it.
#![allow(clippy::unwrap_used)]

use evidence::{Event, Verdict, What};
use runkey_explore::find_plan;
use scenarios::Scenario;
use scenarios::file::BrokerProfile;
use scenarios::spec::Plan;
use sim::{Outcome, Parts, Setup, run};

/// One slot, nothing that protects, and what a case adds.
fn executed(adds: &str) -> Outcome {
    let text = format!(
        "[[timer]]\nid = 'report'\nschedule = {{ every = '1m' }}\nslots = 1\n[recovery]\nenabled = false\n{adds}"
    );
    play(&text)
}

/// Plays a scenario with the faults that are written in it.
fn play(text: &str) -> Outcome {
    let scenario = Scenario::parse(text, "case.toml").unwrap_or_else(|error| panic!("{error}"));
    let faults: Vec<_> = scenario
        .faults
        .iter()
        .map(|f| f.spec(&scenario).unwrap())
        .collect();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let plan = match faults.is_empty() {
        true => Plan::empty(),
        false => find_plan(&setup, 1, &faults).unwrap(),
    };
    run(&setup, 1, &plan)
}

/// The worst of its slots.
fn verdict(adds: &str) -> Verdict {
    let outcome = executed(adds);
    outcome
        .judgement
        .slots
        .iter()
        .map(|slot| slot.verdict)
        .min()
        .unwrap()
}

fn delivered(outcome: &Outcome) -> Vec<&Event> {
    let events = outcome.history.events.iter();
    events
        .filter(|event| event.what == What::Delivered)
        .collect()
}

const CRASH_BEFORE_ACK: &str = "[[fault]]\nat = { step = 'broker.ack' }\ndo = 'crash'\n";
const CRASH_IN_WORK: &str = "[[fault]]\nat = { step = 'downstream.perform' }\ndo = 'crash'\n";

#[test]
fn without_faults_every_broker_hands_every_run_over_once() {
    for profile in BrokerProfile::ALL {
        let text = format!(
            "[[timer]]\nid = 'report'\nschedule = {{ every = '1m' }}\nslots = 4\n\
             [broker]\nprofile = '{}'\n",
            profile.name()
        );
        let outcome = play(&text);
        for slot in &outcome.judgement.slots {
            assert_eq!(
                slot.verdict,
                Verdict::ExactlyOnce,
                "{} {:?}",
                profile.name(),
                slot.slot
            );
        }
        assert_eq!(delivered(&outcome).len(), 4, "{}", profile.name());
        assert_eq!(
            outcome.trace_hash,
            play(&text).trace_hash,
            "{}",
            profile.name()
        );
    }
}

#[test]
fn a_crash_before_the_ack_makes_a_duplicate_wherever_the_broker_waits_for_acks() {
    for profile in BrokerProfile::ALL {
        let at_most_once = ["at-most-once", "sidekiq-basic"].contains(&profile.name());
        let expected = if at_most_once {
            Verdict::Unfinished
        } else {
            Verdict::Duplicate
        };
        let seen = verdict(&format!(
            "[broker]\nprofile = '{}'\n{CRASH_BEFORE_ACK}",
            profile.name()
        ));
        let accepted = seen == expected || (at_most_once && seen == Verdict::ExactlyOnce);
        assert!(accepted, "{}: {seen:?}", profile.name());
    }
}

#[test]
fn a_crash_in_the_work_loses_the_run_where_a_job_is_taken_out_of_the_queue() {
    for (profile, expected) in [
        ("sidekiq-basic", Verdict::Lost),
        ("sidekiq-reliable", Verdict::ExactlyOnce),
        ("rabbitmq-quorum", Verdict::ExactlyOnce),
        ("kafka", Verdict::ExactlyOnce),
    ] {
        let seen = verdict(&format!("[broker]\nprofile = '{profile}'\n{CRASH_IN_WORK}"));
        assert_eq!(seen, expected, "{profile}");
    }
}

#[test]
fn how_soon_a_dead_consumers_run_comes_back_is_the_profiles() {
    let again_after = |profile: &str| {
        let outcome = executed(&format!("[broker]\nprofile = '{profile}'\n{CRASH_IN_WORK}"));
        let delivered = delivered(&outcome);
        (delivered[1].at.0 - delivered[0].at.0) / 1000
    };
    assert!(
        again_after("rabbitmq-classic") < 1,
        "as soon as the connection breaks"
    );
    assert!(
        (45..=46).contains(&again_after("kafka")),
        "when the session is over"
    );
    assert!(
        (60..=61).contains(&again_after("sidekiq-reliable")),
        "when the heartbeat is missed"
    );
    assert!(
        (10..=11).contains(&again_after("pubsub")),
        "at the deadline"
    );
    assert!(
        (3600..=3601).contains(&again_after("celery-redis")),
        "at the deadline"
    );
}

#[test]
fn work_that_outlasts_the_deadline_runs_twice_unless_the_broker_waits_longer() {
    for (profile, expected) in [
        ("sqs-standard", Verdict::Duplicate),
        ("pubsub", Verdict::Duplicate),
        ("nats-jetstream", Verdict::Duplicate),
        ("bullmq", Verdict::ExactlyOnce),
        ("rabbitmq-classic", Verdict::ExactlyOnce),
        ("kafka", Verdict::ExactlyOnce),
        ("pg-skip-locked", Verdict::ExactlyOnce),
    ] {
        let seen = verdict(&format!(
            "[broker]\nprofile = '{profile}'\n[work]\ntakes = '45s'\n"
        ));
        assert_eq!(seen, expected, "{profile}");
    }
}

#[test]
fn a_machine_that_loses_power_forgets_a_message_that_it_confirmed() {
    for (outage, expected) in [
        ("machine", Verdict::Lost),
        ("process", Verdict::ExactlyOnce),
    ] {
        // The second run waits for the only executor while the third one is published.
        let outcome = play(&format!(
            "[[timer]]\nid = 'report'\nschedule = {{ every = '1s' }}\nslots = 3\n\
             [topology]\nexecutors = 1\n[recovery]\nenabled = false\n[work]\ntakes = '10s'\n\
             [broker]\nprofile = 'redis-streams'\nfsync_every = '1h'\noutage = '{outage}'\n\
             [[fault]]\nat = {{ step = 'broker.publish', run = 'report#3' }}\ndo = 'broker_restart'\n"
        ));
        assert_eq!(outcome.judgement.slots[1].verdict, expected, "{outage}");
    }
}

#[test]
fn a_publish_without_confirms_is_lost_without_a_word() {
    let lost = "[[fault]]\nat = { step = 'broker.publish' }\ndo = 'lose_request'\n";
    for (confirm, expected) in [("sent", Verdict::Lost), ("synced", Verdict::ExactlyOnce)] {
        let seen = verdict(&format!("[broker]\nconfirm = '{confirm}'\n{lost}"));
        assert_eq!(seen, expected, "{confirm}");
    }
}

#[test]
fn a_message_taken_ahead_of_the_work_outlives_its_deadline_in_memory() {
    for (prefetch, expected) in [(4, Verdict::Duplicate), (0, Verdict::ExactlyOnce)] {
        let outcome = play(&format!(
            "[[timer]]\nid = 'report'\nschedule = {{ every = '1s' }}\nslots = 4\n\
             [topology]\nexecutors = 2\n[work]\ntakes = '20s'\n[broker]\nprefetch = {prefetch}\n"
        ));
        let worst = outcome
            .judgement
            .slots
            .iter()
            .map(|slot| slot.verdict)
            .min()
            .unwrap();
        assert_eq!(worst, expected, "prefetch {prefetch}");
    }
}

#[test]
fn one_member_reads_a_partition_and_several_share_several() {
    let readers = |partitions: u32| {
        let outcome = play(&format!(
            "[[timer]]\nid = 'report'\nschedule = {{ every = '1s' }}\nslots = 16\n\
             [topology]\nexecutors = 2\n[broker]\nprofile = 'kafka'\npartitions = {partitions}\n"
        ));
        let mut readers: Vec<u8> = delivered(&outcome)
            .iter()
            .map(|event| event.instance.0)
            .collect();
        readers.sort_unstable();
        readers.dedup();
        readers.len()
    };
    assert_eq!((readers(1), readers(8)), (1, 2));
}
