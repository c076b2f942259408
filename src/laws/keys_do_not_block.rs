//! `keys do not block each other`: a run does not wait for another key's.
//!
//! One run is at work for ten minutes; another one, of another timer, is due a second after it began.

use super::law::{Breach, Law};
use evidence::{History, What};
use scheduler::Span;
use scheduler::handler::{Ctx, Handler, HandlerError};
use scheduler::ports::Fut;

pub(super) static LAW: Law = Law {
    name: "keys do not block each other",
    about: "a run does not wait for another key's",
    scenario: "
        horizon = '1h'
        [[timer]]
        id = 'slow'
        schedule = { at = ['2026-01-01T00:01:00Z'] }
        [[timer]]
        id = 'quick'
        schedule = { at = ['2026-01-01T00:01:01Z'] }
        [topology]
        kind = 'queued'
        schedulers = 1
        executors = 2
        concurrency = 2
        [broker]
        renew_every = '10s'
        [judge]
        tolerance = '1m'
    ",
    handler: Some(|| Box::new(SlowOrQuick)),
    kinds: &[],
    faults: 0,
    breach,
};

/// Makes the effect, and then, if slow, goes on for ten minutes.
struct SlowOrQuick;

impl Handler for SlowOrQuick {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            ctx.perform().await?;
            if ctx
                .run_key()
                .is_some_and(|run| run.as_str().starts_with("slow@"))
            {
                ctx.sleep(Span::secs(600)).await;
            }
            Ok(())
        })
    }
}

fn breach(history: &History) -> Option<Breach> {
    let [slow, quick] = &*history.planned else {
        return None;
    };
    let place = |slot, what: fn(&What) -> bool| {
        let mut events = history.events.iter();
        events.position(|event| event.ids.slot.truth() == Some(slot) && what(&event.what))
    };
    let ended = place(slow.slot, |what| matches!(what, What::AttemptEnded(_)));
    let began = place(quick.slot, |what| *what == What::AttemptStarted);
    let waited = match (began, ended) {
        (Some(began), Some(ended)) => ended < began,
        (None, _) => true,
        (Some(_), None) => false,
    };
    waited.then_some(Breach::Waited {
        slot: quick.slot,
        for_slot: slow.slot,
    })
}
