//! What servers lose, and what comes of it: lock, coordinator and downstream in the simulator.

use evidence::{Ids, Step, What};
use runkey_sim::{Outcome, Parts, Reached, Setup, run};
use scenarios::Scenario;
use scenarios::spec::{Fault, FaultKind, Phase, Plan};
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::{At, Epoch, Fut, SessionId, Standing};
use scheduler::{Instance, Span, steps};
use std::sync::{Arc, Mutex};

/// A fault before or around the first site of a step at or after this place in the order.
type Strike = (FaultKind, &'static Step, Phase, i64);

/// The plan in which these strike one after the other, each at the first site of its step after the
/// one before.
fn planned(setup: &Setup, strikes: &[Strike]) -> Plan {
    let mut plan = Plan::empty();
    let mut later = 0;
    for (kind, step, phase, magnitude_ms) in strikes {
        let sites = run(setup, 1, &plan).sites;
        let meant = |it: &Reached| it.site.step == step.number && it.site.phase == *phase;
        let place = sites[later..].iter().position(meant);
        later += place.expect("the step is reached") + 1;
        plan.faults.push(Fault {
            site: sites[later - 1].site,
            kind: *kind,
            magnitude_ms: *magnitude_ms,
        });
    }
    plan
}

/// What comes of these.
fn struck(setup: &Setup, strikes: &[Strike]) -> Outcome {
    let outcome = run(setup, 1, &planned(setup, strikes));
    assert!(outcome.took_effect.iter().all(|took| *took));
    outcome
}

fn ready(text: &str) -> Setup {
    let mut text = text.to_owned();
    if !text.contains("[[timer]]") {
        text.push_str("[[timer]]\nid = 'report'\nslots = 1\nschedule = { every = '1m' }\n");
    }
    let scenario = Scenario::parse(&text, "losing").expect("a scenario");
    Setup::new(&scenario, Parts::default()).expect("a set-up")
}

/// The most attempts that were at work at once.
fn at_once(outcome: &Outcome) -> usize {
    let mut open = 0_usize;
    let events = outcome.history.events.iter();
    let counts = events.map(|event| {
        match event.what {
            What::AttemptStarted => open += 1,
            What::AttemptEnded(_) => open -= 1,
            _ => {}
        }
        open
    });
    counts.max().unwrap_or(0)
}

fn effects(outcome: &Outcome) -> usize {
    let events = outcome.history.events.iter();
    events
        .filter(|event| matches!(event.what, What::Effect { .. }))
        .count()
}

fn told(outcome: &Outcome, what: fn(&What) -> bool) -> usize {
    let events = outcome.history.events.iter();
    events.filter(|event| what(&event.what)).count()
}

/// A lock of 20 s, renewed every 6.7 s, for work that takes 25 s.
fn locked(lock: &str, guard: &str) -> Setup {
    ready(&format!(
        "topology.executors = 2\n[guard]\nkind = 'redis_lock'\n{guard}\n\
         [work]\ntakes = '25s'\n[lock]\n{lock}\n"
    ))
}

const TWICE: Strike = (
    FaultKind::DuplicateRequest,
    &steps::BROKER_PUBLISH,
    Phase::Request,
    0,
);

#[test]
fn a_lock_service_that_keeps_its_locks_lets_nobody_in_beside_the_holder() {
    assert_eq!(at_once(&struck(&locked("", ""), &[TWICE])), 1);
}

#[test]
fn a_restart_lets_a_second_one_in_where_the_locks_were_not_on_disk() {
    let restart = (FaultKind::LockRestart, &steps::LOCK_RENEW, Phase::Before, 0);
    for (lock, most) in [
        ("persistence = false", 2),
        ("persistence = true", 1),
        // The last snapshot is older than the lock.
        ("snapshot_every = '1h'", 2),
    ] {
        let outcome = struck(&locked(lock, ""), &[TWICE, restart]);
        assert_eq!(at_once(&outcome), most, "{lock}");
    }
}

#[test]
fn a_failover_lets_a_second_one_in_where_the_replica_had_not_got_the_lock() {
    for (losing, most) in [(1000, 1), (10_000, 2)] {
        let failover = (
            FaultKind::LockFailover,
            &steps::LOCK_RENEW,
            Phase::Before,
            losing,
        );
        let outcome = struck(&locked("replication_lag = '10s'", ""), &[TWICE, failover]);
        assert_eq!(at_once(&outcome), most, "{losing} ms");
    }
}

#[test]
fn a_client_that_repeats_by_itself_finds_its_own_lock_taken() {
    let lost = (FaultKind::LoseReply, &steps::LOCK_ACQUIRE, Phase::Done, 0);
    for (retries, heard_of) in [(0, 1), (2, 0)] {
        let lock = format!("client_retries = {retries}");
        let outcome = struck(&locked(&lock, "ttl = '60s'\nbusy = 'drop'"), &[lost]);
        assert_eq!(told(&outcome, |what| *what == What::TimedOut), heard_of);
        // Either way the next claim meets a lock that nobody works under.
        assert_eq!(told(&outcome, |what| *what == What::Busy), 1);
        assert_eq!(effects(&outcome), 0);
    }
}

#[test]
fn keys_that_are_purged_let_the_effect_happen_again() {
    let setup =
        ready("topology.executors = 2\n[downstream]\nprotection = { kind = 'idempotency_key' }\n");
    let (perform, before) = (&steps::DOWNSTREAM_PERFORM, Phase::Before);
    // The first call is over by the time that the second one's deferred retry is made.
    let late = (FaultKind::Delay, perform, Phase::Request, 1);
    let paused = (FaultKind::Pause, perform, before, 1000);
    assert_eq!(effects(&struck(&setup, &[TWICE, late, paused])), 1);
    let lost = (FaultKind::LoseReply, perform, Phase::Done, 0);
    assert_eq!(effects(&struck(&setup, &[lost])), 1);
    let purge = (FaultKind::Purge, perform, before, 0);
    assert_eq!(effects(&struck(&setup, &[lost, purge])), 2);
}

#[test]
fn a_window_that_compares_contents_needs_no_key() {
    let lost = (
        FaultKind::LoseReply,
        &steps::DOWNSTREAM_PERFORM,
        Phase::Done,
        0,
    );
    for (window, made) in [("off", 2), ("2m", 1)] {
        let setup = ready(&format!("[downstream]\ndedup_window = '{window}'\n"));
        assert_eq!(effects(&struck(&setup, &[lost])), made, "{window}");
    }
}

#[test]
fn a_key_that_several_runs_share_is_refused_where_contents_are_compared() {
    for (on_mismatch, refused) in [("ignore", 0), ("refuse", 1)] {
        let setup = ready(&format!(
            "identity.key = 'timer_id'\n[[timer]]\nid = 'report'\nslots = 2\n\
             schedule = {{ every = '1m' }}\n[downstream]\non_mismatch = '{on_mismatch}'\n\
             protection = {{ kind = 'idempotency_key' }}\n"
        ));
        let outcome = struck(&setup, &[]);
        assert_eq!(effects(&outcome), 1, "{on_mismatch}");
        let told = told(&outcome, |what| *what == What::EffectRefused);
        assert_eq!(told, refused, "{on_mismatch}");
    }
}

#[test]
fn a_look_up_that_lags_finds_nothing_and_the_effect_is_made_again() {
    let lost = (
        FaultKind::LoseReply,
        &steps::DOWNSTREAM_PERFORM,
        Phase::Done,
        0,
    );
    for (lag, made) in [("0s", 1), ("1h", 2)] {
        let setup = ready(&format!(
            "[downstream]\nlookup_lag = '{lag}'\nprotection = {{ kind = 'lookup_before_retry' }}\n"
        ));
        assert_eq!(effects(&struck(&setup, &[lost])), made, "{lag}");
    }
}

/// What a leader hears: when, and what.
type Heard = Arc<Mutex<Vec<(u8, Standing<Option<Epoch>>)>>>;

/// Asks to lead in each attempt, under one session of its instance.
struct Candidate {
    instance: Instance,
    session: Mutex<Option<SessionId>>,
    heard: Heard,
}

impl Handler for Candidate {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            let (coordinator, nobody) = (&self.instance.ports.coordinator, Ids::default());
            let known = *self.session.lock().expect("nobody panics");
            let session = match known {
                Some(session) => session,
                None => {
                    let at = At::new(&steps::COORDINATOR_JOIN, &nobody);
                    let joined = coordinator.join(at).await;
                    joined.map_err(|error| HandlerError::Retryable(error.to_string()))?
                }
            };
            *self.session.lock().expect("nobody panics") = Some(session);
            let at = At::new(&steps::COORDINATOR_CAMPAIGN, &nobody);
            let election = "report".into();
            if let Ok(standing) = coordinator.campaign(at, session, &election).await {
                let mut heard = self.heard.lock().expect("nobody panics");
                heard.push((self.instance.id.0, standing));
            }
            Ok(ctx.perform().await?)
        })
    }
}

/// What candidates hear in three slots, so far apart, under these faults.
fn candidates(every: &str, strikes: &[Strike]) -> Vec<(u8, Standing<Option<Epoch>>)> {
    let text = format!(
        "topology.executors = 1\n[coordinator]\n[[timer]]\nid = 'report'\nslots = 3\n\
         schedule = {{ every = '{every}' }}\n"
    );
    let scenario = Scenario::parse(&text, "candidates").expect("a scenario");
    let heard = Heard::default();
    let make = {
        let heard = heard.clone();
        move |instance: &Instance| -> Box<dyn Handler> {
            Box::new(Candidate {
                instance: instance.clone(),
                session: Mutex::default(),
                heard: heard.clone(),
            })
        }
    };
    let parts = Parts {
        handler: Some(Arc::new(make)),
        ..Parts::default()
    };
    let setup = Setup::new(&scenario, parts).expect("a set-up");
    let plan = planned(&setup, strikes);
    heard.lock().expect("nobody panics").clear();
    run(&setup, 1, &plan);
    std::mem::take(&mut *heard.lock().expect("nobody panics"))
}

#[test]
fn a_session_is_kept_by_its_client_until_it_is_lost() {
    use Standing::{Expired, Lives};
    let leads = |standing: &Standing<Option<Epoch>>| *standing == Lives(Some(Epoch(1)));
    let heard = candidates("5s", &[]);
    assert_eq!(heard.len(), 3);
    // Its client keeps a session alive for as long as the process runs, however long that is.
    let standings: Vec<_> = heard.into_iter().map(|(_, standing)| standing).collect();
    assert!(standings.iter().all(leads), "{standings:?}");
    let late = candidates("20s", &[]);
    let late: Vec<_> = late.into_iter().map(|(_, standing)| standing).collect();
    assert!(late.iter().all(leads), "{late:?}");
    let lost = (
        FaultKind::SessionLoss,
        &steps::COORDINATOR_CAMPAIGN,
        Phase::Before,
        0,
    );
    let first = (
        FaultKind::Delay,
        &steps::COORDINATOR_CAMPAIGN,
        Phase::Request,
        1,
    );
    let heard = candidates("5s", &[first, lost]);
    let standings: Vec<_> = heard.into_iter().map(|(_, standing)| standing).collect();
    assert_eq!(standings, [Lives(Some(Epoch(1))), Expired, Expired]);
}

#[test]
fn a_partition_concerns_the_coordinator_alone() {
    let cut = (
        FaultKind::Partition,
        &steps::COORDINATOR_CAMPAIGN,
        Phase::Before,
        Span::secs(4).as_i64(),
    );
    let heard = candidates("5s", &[cut]);
    // The first candidacy is lost; its slot is done all the same, and the next one leads.
    assert_eq!(heard.len(), 2);
}
