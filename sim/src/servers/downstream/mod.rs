//! The outside world: a ledger of effects that cannot be rolled back.
//!
//! The model of `servers`, with the simulator's keys and callers. A test can put its own judgement
//! in place of the built-in protections ([`Outside`]).

use crate::agenda::Ms;
use crate::calls::CallKey;
use evidence::{Ids, Timestamp};
use scheduler::ports::{Key, Reply};
use servers::downstream as model;
use servers::downstream::{Answer, OnMismatch, Terms};

pub(crate) use servers::downstream::{Arrived, Remembered};

/// What finishing a request came to.
pub(crate) type Finished = model::Finished<CallKey, Asker>;

/// What a call asks of the downstream.
#[derive(Clone, Debug)]
pub(crate) enum DownstreamRequest {
    Perform(scheduler::ports::Request),
    Lookup { key: Key },
}

/// A test's own downstream: decides, for each request that arrives, whether it has an effect.
///
/// Built once per execution.
pub trait Outside: Send {
    /// Called when the request's latency is over. [`Reply::Performed`] means that the effect
    /// happens now, and only then.
    fn perform(&mut self, request: &scheduler::ports::Request, now: Timestamp) -> Reply;

    /// Whether the effect with this key has happened.
    fn lookup(&mut self, key: &Key, now: Timestamp) -> bool {
        let _ = (key, now);
        false
    }
}

/// Who asked, and for which run: the ledger's entry is attributed to it.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
    pub(crate) ids: Ids,
}

/// The state of the downstream.
pub(crate) struct DownstreamModel {
    model: model::Downstream<Key, CallKey, Asker>,
    /// Whether requests are told apart by what they ask for.
    compares_contents: bool,
    outside: Option<Box<dyn Outside>>,
}

impl DownstreamModel {
    /// An outside world in which nothing has happened.
    pub(crate) fn new() -> Self {
        DownstreamModel {
            model: model::Downstream::default(),
            compares_contents: false,
            outside: None,
        }
    }

    /// Nothing has happened yet.
    pub(crate) fn open(&mut self, terms: Terms, outside: Option<Box<dyn Outside>>) {
        self.compares_contents =
            terms.dedup_window.is_some() || terms.on_mismatch == OnMismatch::Refuse;
        self.model.open(terms);
        self.outside = outside;
    }

    /// A request to perform arrives; `call` is whom to answer.
    pub(crate) fn arrive(
        &mut self,
        now: Ms,
        call: Option<CallKey>,
        asker: Asker,
        request: scheduler::ports::Request,
    ) -> Arrived {
        let run = asker.ids.run.as_ref().map(|run| run.text().clone());
        // Two requests ask for the same where they are for the same run.
        let content = run.clone().filter(|_| self.compares_contents);
        let fence = request.fence.map(|fence| {
            // What a token protects: what the key names, or the run.
            let resource = request.key.clone().or(run);
            (resource.unwrap_or_default(), fence)
        });
        let request = model::Request {
            key: request.key,
            fence,
            content,
        };
        if self.outside.is_some() {
            self.model.work(call, asker, request)
        } else {
            self.model.arrive(now, call, asker, request)
        }
    }

    /// The latency of a request is over.
    pub(crate) fn finish(&mut self, now: Ms, number: u32, at: Timestamp) -> Option<Finished> {
        let decided = match &mut self.outside {
            None => None,
            Some(outside) => {
                let request = self.model.at_work(number)?;
                let request = scheduler::ports::Request {
                    key: request.key.clone(),
                    fence: request.fence.as_ref().map(|(_, fence)| *fence),
                };
                Some(answer(outside.perform(&request, at)))
            }
        };
        self.model.finish(now, number, decided)
    }

    /// Whether a look-up finds the effect with this key.
    pub(crate) fn lookup(&mut self, now: Ms, key: &Key, at: Timestamp) -> bool {
        match &mut self.outside {
            Some(outside) => outside.lookup(key, at),
            None => self.model.lookup(now, key),
        }
    }

    /// It forgets before its time what it has done. A test's own downstream remembers by itself.
    pub(crate) fn purge(&mut self) {
        self.model.purge();
    }

    /// Whether no request is at work.
    pub(crate) fn rests(&self) -> bool {
        self.model.rests()
    }

    /// What it remembers, in an order that depends on nothing else.
    pub(crate) fn remembered(&self) -> impl Iterator<Item = (&Key, Remembered)> {
        self.model.remembered()
    }
}

/// An answer as the port gives it.
pub(crate) fn reply(answer: Answer) -> Reply {
    match answer {
        Answer::Performed => Reply::Performed,
        Answer::Repeated => Reply::Repeated,
        Answer::InProgress => Reply::InProgress,
        Answer::Stale => Reply::Stale,
        Answer::Mismatch => Reply::Mismatch,
    }
}

fn answer(reply: Reply) -> Answer {
    match reply {
        Reply::Performed => Answer::Performed,
        Reply::Repeated => Answer::Repeated,
        Reply::InProgress => Answer::InProgress,
        Reply::Stale => Answer::Stale,
        Reply::Mismatch => Answer::Mismatch,
    }
}
