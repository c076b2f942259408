//! Handlers and guards that misbehave: each ends as a verdict or as one sentence, never as a hang.
#![allow(clippy::unwrap_used)]

use runkey::evidence::{AttemptEnd, Ids, What};
use runkey::ports::{At, Ports, Request};
use runkey::{
    CallError, Check, Ctx, Entry, Error, Fut, Guard, Handler, HandlerError, Outcome, Permit,
    Report, Settle, Span, Verdict, Visit, check_toml, steps,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

type Handled<'a> = Fut<'a, Result<(), HandlerError>>;

/// A handler that is nothing but a function.
struct Does(for<'a> fn(&'a Ctx<'a>) -> Handled<'a>);

impl Handler for Does {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Handled<'a> {
        (self.0)(ctx)
    }
}

/// One timer, one slot; the handler is the given one.
fn with(guard: &str, handler: for<'a> fn(&'a Ctx<'a>) -> Handled<'a>) -> Check {
    let text = format!(
        "[[timer]]\nid = 'report'\nschedule = {{ cron = '0 0 2 * * *' }}\nslots = 1\n\
         [guard]\nkind = '{guard}'\n[downstream]\nprotection = {{ kind = 'idempotency_key' }}"
    );
    check_toml(&text)
        .handler(move |_| Does(handler))
        .faults(0)
        .seeds(1..=2)
}

fn panics<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
    Box::pin(async move {
        ctx.sleep(Span::secs(1)).await;
        panic!("boom in handler")
    })
}

fn never_returns<'a>(_: &'a Ctx<'a>) -> Handled<'a> {
    Box::pin(std::future::pending())
}

fn told(report: &Report) -> Vec<What> {
    let events = &report.history().unwrap().events;
    events.iter().map(|event| event.what.clone()).collect()
}

#[test]
fn a_handler_that_panics_ends_its_attempt_as_a_final_error() {
    let report = with("none", panics).assert_verdict(Verdict::Stuck);
    let told = told(&report);
    let panicked = told.iter().position(|what| *what == What::HandlerPanic);
    let ended = What::AttemptEnded(AttemptEnd::Final);
    assert_eq!(
        told.iter().position(|what| *what == ended),
        panicked.map(|place| place + 1)
    );
    assert!(told.contains(&What::DeadLettered));

    // With a record: given up, and nobody tries again.
    with("state_machine", panics).assert_verdict(Verdict::GaveUp);
}

#[test]
fn a_handler_that_never_returns_leaves_its_run_stuck() {
    for guard in ["none", "insert_first", "redis_lock", "state_machine"] {
        let report = with(guard, never_returns).assert_verdict(Verdict::Stuck);
        assert_eq!(report.effects(), Some(0), "{guard}");
    }
}

#[test]
fn a_handler_that_yields_for_ever_makes_no_progress() {
    fn yields<'a>(_: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async {
            loop {
                madsim_tokio::task::yield_now().await;
            }
        })
    }
    with("none", yields).assert_verdict(Verdict::NoProgress);
}

#[test]
fn a_handler_that_sleeps_for_no_time_or_little_for_ever_makes_no_progress() {
    fn sleeps_not<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async {
            loop {
                ctx.sleep(Span::ZERO).await;
            }
        })
    }
    fn sleeps_little<'a>(_: &'a Ctx<'a>) -> Handled<'a> {
        Box::pin(async {
            loop {
                madsim_tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }
    with("none", sleeps_not).assert_verdict(Verdict::NoProgress);
    with("none", sleeps_little).assert_verdict(Verdict::NoProgress);
}

#[test]
fn two_tasks_that_wake_each_other_for_ever_make_no_progress() {
    fn ping_pong<'a>(ctx: &'a Ctx<'a>) -> Handled<'a> {
        use madsim_tokio::sync::mpsc::unbounded_channel;
        let (there, mut arrives) = unbounded_channel::<()>();
        let (back, mut returns) = unbounded_channel::<()>();
        ctx.spawn(async move {
            while arrives.recv().await.is_some() {
                if back.send(()).is_err() {
                    return;
                }
            }
        });
        Box::pin(async move {
            loop {
                let _ = there.send(());
                returns.recv().await;
            }
        })
    }
    with("none", ping_pong).assert_verdict(Verdict::NoProgress);
}

static RELEASED: AtomicBool = AtomicBool::new(false);

fn spins<'a>(_: &'a Ctx<'a>) -> Handled<'a> {
    while !RELEASED.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    Box::pin(std::future::ready(Ok(())))
}

fn blocks<'a>(_: &'a Ctx<'a>) -> Handled<'a> {
    Box::pin(async {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    })
}

#[test]
fn a_handler_that_blocks_its_thread_is_cut_with_one_sentence() {
    for handler in [blocks as for<'a> fn(&'a Ctx<'a>) -> Handled<'a>, spins] {
        let began = Instant::now();
        let limit = Duration::from_millis(200);
        let error = with("none", handler)
            .seeds(1..=1)
            .cut_after(limit)
            .explore()
            .unwrap_err();
        assert!(began.elapsed() >= limit && began.elapsed() < Duration::from_secs(5));
        assert!(error.is_blocked());
        assert_eq!(
            error.to_string(),
            "seed 1, plan []: the execution was cut after 200ms of real time: a handler, guard or \
             downstream blocks its thread, which is left behind"
        );
    }
    RELEASED.store(true, Ordering::Relaxed);
}

/// A lease of 20 s, 60 s of work before the effect, and whatever stops in between stops for 30 s.
fn losing_its_lease(make: fn(&Ports) -> Box<dyn Handler>) -> Report {
    check_toml(
        "
        [[timer]]
        id = 'report'
        schedule = { cron = '0 0 2 * * *' }
        slots = 1
        [topology]
        kind = 'queued'
        executors = 2
        [broker]
        renew_every = '10s'
        [guard]
        kind = 'state_machine'
        lease = '20s'
        heartbeat = '5s'
        on_lost = 'cancel'
        [[fault]]
        at = { instance = 'executor-1', step = 'guard.heartbeat', phase = 'before' }
        do = 'pause'
        for = '50s'
        ",
    )
    .handler(move |instance| make(&instance.ports))
    .seeds(SEED..=SEED)
    .explore()
    .unwrap()
}

/// A seed under which executor-1 is handed the message first.
const SEED: u64 = 1;

#[test]
fn work_that_ignores_cancellation_reaches_the_outside_world_twice() {
    struct Obeys;
    impl Handler for Obeys {
        fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Handled<'a> {
            Box::pin(async move {
                ctx.sleep(Span::secs(60)).await;
                Ok(ctx.perform().await?)
            })
        }
    }
    struct Ignores(Ports);
    impl Handler for Ignores {
        fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Handled<'a> {
            let (ports, ids): (Ports, Ids) = (self.0.clone(), ctx.ids().clone());
            ctx.spawn(async move {
                ports.runtime.sleep(Span::secs(60)).await;
                let at = At::new(&steps::DOWNSTREAM_PERFORM, &ids);
                let request = Request::default();
                let _ = ports.downstream.perform(at, request, Span::secs(3)).await;
            });
            Box::pin(async move {
                ctx.sleep(Span::secs(61)).await;
                Ok(())
            })
        }
    }
    let obeyed = losing_its_lease(|_| Box::new(Obeys));
    assert_eq!(obeyed.verdict(), Some(Verdict::ExactlyOnce), "{obeyed}");
    let ignored = losing_its_lease(|ports| Box::new(Ignores(ports.clone())));
    assert_eq!(ignored.verdict(), Some(Verdict::Duplicate), "{ignored}");
    let cancelled = What::AttemptEnded(AttemptEnd::Cancelled);
    assert!(told(&ignored).contains(&cancelled));
}

#[test]
fn what_panics_outside_of_an_attempt_is_told_in_its_own_words() {
    struct Panics;
    impl Handler for Panics {
        fn handle<'a>(&'a self, _: &'a Ctx<'a>) -> Handled<'a> {
            Box::pin(std::future::ready(Ok(())))
        }
    }
    fn make() -> Panics {
        panic!("no configuration")
    }
    let error = check_toml("")
        .handler(|_| make())
        .seeds(1..=1)
        .explore()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "seed 1, plan []: a guard, handler or downstream of the test's own panicked outside of an \
         attempt: no configuration"
    );
    assert!(matches!(error, Error::Explore(_)));
}

#[test]
fn a_guard_that_panics_is_told_in_its_own_words() {
    struct Panics;
    impl Guard for Panics {
        fn enter<'a>(&'a self, _: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
            Box::pin(async { panic!("no such table") })
        }
        fn finish<'a>(
            &'a self,
            _: Visit<'a>,
            _: &'a Permit,
            _: Outcome,
        ) -> Fut<'a, Result<Settle, CallError>> {
            Box::pin(std::future::ready(Ok(Settle::Ack)))
        }
    }
    let error = check_toml("")
        .guard(|_| Panics)
        .seeds(1..=1)
        .explore()
        .unwrap_err();
    assert!(error.to_string().contains("no such table"), "{error}");
}
