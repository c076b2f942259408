//! What a handler does for itself does not show: a yield, a log line, an abandoned timer, an
//! iteration over a HashMap leave the history hash as it is, on every thread and in every process.
#![allow(clippy::unwrap_used)]

use runkey::scenarios::spec::Plan;
use runkey::sim::{Parts, Setup};
use runkey::{Ctx, Fut, Handler, HandlerError, Scenario, Span, scenarios};
use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

type Handled<'a> = Fut<'a, Result<(), HandlerError>>;
type Work = for<'a> fn(&'a Ctx<'a>) -> Handled<'a>;

struct Does(Work);

impl Handler for Does {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Handled<'a> {
        (self.0)(ctx)
    }
}

fn setup(work: Work) -> Setup {
    let scenario: Scenario = scenarios::catalogue::find("recommended-stack")
        .unwrap()
        .scenario()
        .unwrap();
    let parts = Parts {
        handler: Some(Arc::new(move |_| Box::new(Does(work)))),
        ..Parts::default()
    };
    Setup::new(&scenario, parts).unwrap()
}

/// The hashes under four seeds, of the empty plan and of the first that crashes an executor.
fn hashes(work: Work) -> Vec<String> {
    let setup = setup(work);
    let crash = |seed| {
        use scenarios::spec::{Fault, FaultKind, Phase};
        let outcome = setup.execute(seed, &Plan::empty()).unwrap();
        let perform = runkey::steps::DOWNSTREAM_PERFORM.number;
        let site = |site: &scenarios::spec::Site| site.step == perform && site.phase == Phase::Done;
        let reached = outcome
            .sites
            .iter()
            .find(|reached| site(&reached.site))
            .unwrap();
        Plan {
            faults: vec![Fault {
                site: reached.site,
                kind: FaultKind::Crash,
                magnitude_ms: 0,
            }],
        }
    };
    let mut hashes = Vec::new();
    for seed in 1..=4 {
        for plan in [Plan::empty(), crash(seed)] {
            hashes.push(setup.execute(seed, &plan).unwrap().trace_hash.to_string());
        }
    }
    hashes
}

fn plain<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
    Box::pin(async move {
        ctx.sleep(Span::secs(1)).await;
        Ok(ctx.perform().await?)
    })
}

#[test]
fn a_yield_changes_nothing() {
    fn yields<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            madsim_tokio::task::yield_now().await;
            ctx.sleep(Span::secs(1)).await;
            for _ in 0..100 {
                madsim_tokio::task::yield_now().await;
            }
            let performed = ctx.perform().await;
            madsim_tokio::task::yield_now().await;
            Ok(performed?)
        })
    }
    assert_eq!(hashes(yields), hashes(plain));
}

#[test]
fn a_log_line_changes_nothing() {
    fn logs<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            println!("{:?}: attempt {}", ctx.run_key(), ctx.attempt());
            ctx.sleep(Span::secs(1)).await;
            eprintln!("it is {}", ctx.now());
            Ok(ctx.perform().await?)
        })
    }
    assert_eq!(hashes(logs), hashes(plain));
}

/// Polls a future once, with the waker of the task.
async fn poll_once<F: Future>(future: F) {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        let _ = future.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

#[test]
fn a_timer_that_is_made_and_dropped_changes_nothing() {
    fn drops_timers<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            drop(madsim::time::sleep(Duration::from_millis(3)));
            drop(ctx.sleep(Span::millis(3)));
            // Begun, and given up: shorter and longer than everything else, and for years.
            for ms in [1, 700, 5_000, 90_000, 100_000_000_000] {
                poll_once(madsim_tokio::time::sleep(Duration::from_millis(ms))).await;
                poll_once(ctx.sleep(Span::millis(ms))).await;
            }
            ctx.sleep(Span::secs(1)).await;
            poll_once(madsim::time::sleep(Duration::from_millis(77))).await;
            Ok(ctx.perform().await?)
        })
    }
    assert_eq!(hashes(drops_timers), hashes(plain));
}

#[test]
fn a_race_that_the_timer_loses_changes_nothing() {
    fn races<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            madsim_tokio::select! {
                biased;
                () = ctx.sleep(Span::secs(1)) => {}
                () = ctx.sleep(Span::secs(400)) => unreachable!(),
                () = madsim_tokio::time::sleep(Duration::from_secs(500)) => unreachable!(),
            }
            match madsim_tokio::time::timeout(Duration::from_secs(3_000), ctx.perform()).await {
                Ok(performed) => Ok(performed?),
                Err(_) => unreachable!(),
            }
        })
    }
    assert_eq!(hashes(races), hashes(plain));
}

#[test]
fn a_sleep_of_tokio_is_as_good_as_one_of_the_context() {
    fn of_tokio<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            madsim_tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ctx.perform().await?)
        })
    }
    assert_eq!(hashes(of_tokio), hashes(plain));
}

#[test]
fn the_clock_of_tokio_goes_with_the_contexts() {
    fn measures<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            let began = madsim_tokio::time::Instant::now();
            ctx.sleep(Span::secs(1)).await;
            let passed = began.elapsed();
            assert!((999..=1_001).contains(&passed.as_millis()), "{passed:?}");
            Ok(ctx.perform().await?)
        })
    }
    assert_eq!(hashes(measures), hashes(plain));
}

/// Lets ambient randomness decide how long the work takes: whatever does not repeat shows at once.
fn ambient<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
    Box::pin(async move {
        let names: HashMap<String, u64> = (0..50).map(|n| (format!("name-{n}"), n)).collect();
        let first = names.values().next().copied().unwrap_or(0);
        let again: HashSet<u64> = names.into_values().collect();
        let second = again.into_iter().next().unwrap_or(0);
        let rand = u64::from(rand::random::<u8>());
        let uuid = u64::from(uuid::Uuid::new_v4().as_bytes()[0]);
        let ms = 1_000 + first + 50 * second + 11 * rand + 13 * uuid;
        ctx.sleep(Span::millis(ms)).await;
        Ok(ctx.perform().await?)
    })
}

#[test]
fn hash_maps_random_numbers_and_uuids_repeat_on_every_thread() {
    let expected = hashes(ambient);
    assert_ne!(expected, hashes(plain));
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(|| hashes(ambient)))
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

const CHILD: &str = "RUNKEY_TEST_PRINTS_ITS_HASHES";

#[test]
fn hash_maps_random_numbers_and_uuids_repeat_in_every_process() {
    if std::env::var_os(CHILD).is_some() {
        println!("hashes: {}", hashes(ambient).join(" "));
        return;
    }
    let expected = format!("hashes: {}", hashes(ambient).join(" "));
    for _ in 0..3 {
        let name = "hash_maps_random_numbers_and_uuids_repeat_in_every_process";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8(child.stdout).unwrap();
        assert!(printed.contains(&expected), "{printed}\n{expected}");
    }
}

#[test]
fn a_waker_that_nobody_wakes_does_not_stop_the_clock() {
    fn keeps_its_waker<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async move {
            let mut kept: Option<Waker> = None;
            std::future::poll_fn(|cx: &mut Context<'_>| {
                kept = Some(cx.waker().clone());
                Poll::Ready(())
            })
            .await;
            ctx.sleep(Span::secs(1)).await;
            let performed = ctx.perform().await;
            drop(kept);
            Ok(performed?)
        })
    }
    assert_eq!(hashes(keeps_its_waker), hashes(plain));
}
