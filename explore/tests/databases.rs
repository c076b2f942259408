//! What restarts, failovers, replicas and idle transactions of a database do to a pipeline.
#![allow(clippy::unwrap_used)]

use evidence::Verdict;
use runkey_explore::find_plan;
use scenarios::Scenario;
use scenarios::spec::Plan;
use sim::{Outcome, Parts, Setup, run};

/// Two slots, and what a case adds, with the faults that are written in it.
fn play(adds: &str) -> Outcome {
    let text =
        format!("[[timer]]\nid = 'report'\nschedule = {{ every = '1m' }}\nslots = 2\n{adds}");
    let scenario = Scenario::parse(&text, "case.toml").unwrap_or_else(|error| panic!("{error}"));
    let faults = scenario.faults.iter();
    let faults: Vec<_> = faults.map(|fault| fault.spec(&scenario).unwrap()).collect();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let plan = match faults.is_empty() {
        true => Plan::empty(),
        false => find_plan(&setup, 1, &faults).unwrap(),
    };
    run(&setup, 1, &plan)
}

/// The verdict of the first slot; the second one is always exactly once.
fn first(adds: &str) -> Verdict {
    let outcome = play(adds);
    let verdicts = outcome.judgement.slots.iter().map(|slot| slot.verdict);
    let verdicts: Vec<Verdict> = verdicts.collect();
    assert_eq!(verdicts[1], Verdict::ExactlyOnce, "{adds}");
    verdicts[0]
}

const RECORD: &str = "[guard]\nkind = 'state_machine'\n";
const KEY: &str = "[downstream]\nprotection = { kind = 'idempotency_key' }\n";
const PRODUCTS: [&str; 2] = ["postgresql", "mariadb"];

/// A fault just before the first run is recorded as done.
fn at_finish(kind: &str) -> String {
    format!("[[fault]]\nat = {{ step = 'guard.finish', run = 'report#1' }}\ndo = '{kind}'\n")
}

#[test]
fn a_restart_takes_no_commit_that_is_on_disk_and_every_one_that_is_not() {
    for product in PRODUCTS {
        let database = format!("{RECORD}[database]\nprofile = '{product}'\n");
        let restart = at_finish("database_restart");
        let kept = first(&format!("{database}{restart}"));
        assert_eq!(kept, Verdict::ExactlyOnce, "{product}");
        // The claim is forgotten, and the run is done by the next who asks.
        let lazy = first(&format!("{database}durable = false\n{restart}"));
        assert_eq!(lazy, Verdict::Duplicate, "{product}");
        let keyed = first(&format!("{database}durable = false\n{KEY}{restart}"));
        assert_eq!(keyed, Verdict::ExactlyOnce, "{product}");
    }
}

#[test]
fn a_failover_takes_back_what_was_committed_and_only_a_key_downstream_stands() {
    for product in ["generic", "postgresql", "mariadb"] {
        let behind = "failover_loses = '1s'";
        let database = format!("{RECORD}[database]\nprofile = '{product}'\n{behind}\n");
        let failover = format!("{}lose = '1s'\n", at_finish("database_failover"));
        let bare = first(&format!("{database}{failover}"));
        assert_eq!(bare, Verdict::Duplicate, "{product}");
        let keyed = first(&format!("{database}{KEY}{failover}"));
        assert_eq!(keyed, Verdict::ExactlyOnce, "{product}");
    }
}

#[test]
fn a_check_on_a_replica_that_is_behind_lets_the_run_in_again() {
    let redelivered = "[guard]\nkind = 'check_then_insert'\n\
                       [[fault]]\nat = { step = 'broker.ack', run = 'report#1' }\ndo = 'crash'\n";
    // The message comes again after 30 s.
    for (lag, verdict) in [
        ("0s", Verdict::ExactlyOnce),
        ("3s", Verdict::ExactlyOnce),
        ("40s", Verdict::Duplicate),
    ] {
        let text = format!("[database]\nreplica_lag = '{lag}'\n{redelivered}");
        assert_eq!(first(&text), verdict, "{lag}");
    }
}

#[test]
fn an_idle_transaction_is_cut_under_a_paused_client_and_its_publish_stands() {
    for product in PRODUCTS {
        let text = format!(
            "[dispatch]\norder = 'one_transaction'\n[[fault]]\n\
             at = {{ step = 'broker.publish', run = 'report#1' }}\ndo = 'pause'\nfor = '20s'\n\
             [database]\nprofile = '{product}'\n"
        );
        assert_eq!(first(&text), Verdict::ExactlyOnce, "{product}");
        let cut = format!("{text}idle_in_transaction = '10s'\n");
        assert_eq!(first(&cut), Verdict::Duplicate, "{product}");
    }
}
