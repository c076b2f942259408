//! The outside world: a ledger of effects that cannot be rolled back.
//!
//! A request takes `latency` to have its effect; what becomes of a second one with the same key in
//! that time is `in_flight`. A test can put its own judgement in place of the built-in protections
//! ([`Outside`]).

use crate::agenda::Ms;
use crate::calls::CallKey;
use evidence::{Ids, Timestamp};
use scenarios::file::InFlight;
use scheduler::ports::{Key, Reply};
use std::collections::{BTreeMap, BTreeSet};

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

/// A request at work.
struct Performing {
    call: Option<CallKey>,
    asker: Asker,
    request: scheduler::ports::Request,
}

enum Known {
    InFlight { waiting: Vec<CallKey> },
    Done { at: Ms },
}

/// What arriving came to.
pub(crate) enum Arrived {
    /// The effect will be there after the latency; the number names the request.
    Working(u32),
    /// Answered at once.
    Answered(Reply),
    /// The call waits for another one.
    Waiting,
}

/// What finishing came to.
pub(crate) struct Finished {
    pub(crate) asker: Asker,
    /// The calls to answer, each with its reply.
    pub(crate) answers: Vec<(CallKey, Reply)>,
    /// What the request itself came to.
    pub(crate) reply: Reply,
}

/// The state of the downstream.
pub(crate) struct DownstreamModel {
    retention: Option<Ms>,
    in_flight: InFlight,
    keys: BTreeMap<Key, Known>,
    /// Keys of effects that have happened, for lookups.
    performed: BTreeSet<Key>,
    fences: BTreeMap<Key, u64>,
    performing: Vec<Option<Performing>>,
    outside: Option<Box<dyn Outside>>,
}

impl DownstreamModel {
    /// An outside world in which nothing has happened.
    pub(crate) fn new() -> Self {
        DownstreamModel {
            retention: None,
            in_flight: InFlight::default(),
            keys: BTreeMap::new(),
            performed: BTreeSet::new(),
            fences: BTreeMap::new(),
            performing: Vec::new(),
            outside: None,
        }
    }

    /// Nothing has happened yet. `retention`: how long a key is remembered; `None`: keys are not
    /// looked at.
    pub(crate) fn open(
        &mut self,
        retention: Option<Ms>,
        in_flight: InFlight,
        outside: Option<Box<dyn Outside>>,
    ) {
        self.retention = retention;
        self.in_flight = in_flight;
        self.outside = outside;
        self.keys.clear();
        self.performed.clear();
        self.fences.clear();
        self.performing.clear();
    }

    /// A request to perform arrives; `call` is whom to answer.
    pub(crate) fn arrive(
        &mut self,
        now: Ms,
        call: Option<CallKey>,
        asker: Asker,
        request: scheduler::ports::Request,
    ) -> Arrived {
        if self.outside.is_none() {
            if let Some(reply) = self.fenced(&asker, &request) {
                return Arrived::Answered(reply);
            }
            if let Some(arrived) = self.known(now, call, &request) {
                return arrived;
            }
        }
        let number = u32::try_from(self.performing.len()).unwrap_or(u32::MAX);
        self.performing.push(Some(Performing {
            call,
            asker,
            request,
        }));
        Arrived::Working(number)
    }

    /// Whether no request is at work.
    pub(crate) fn rests(&self) -> bool {
        self.performing.iter().all(Option::is_none)
    }

    /// What it knows by key: (1, since when), (2, performed), (3, highest fence), in key order.
    pub(crate) fn remembered(&self) -> impl Iterator<Item = (u64, &Key, u64)> {
        let keys = self.keys.iter().map(|(key, known)| match known {
            Known::Done { at } => (1, key, *at),
            Known::InFlight { .. } => (1, key, Ms::MAX),
        });
        let performed = self.performed.iter().map(|key| (2, key, 0));
        let fences = self.fences.iter().map(|(key, fence)| (3, key, *fence));
        keys.chain(performed).chain(fences)
    }

    /// A stale fencing token is refused; a newer one is remembered.
    fn fenced(&mut self, asker: &Asker, request: &scheduler::ports::Request) -> Option<Reply> {
        let fence = request.fence?;
        let resource = resource(asker, request)?;
        let highest = self.fences.entry(resource).or_insert(fence);
        if fence < *highest {
            return Some(Reply::Stale);
        }
        *highest = fence;
        None
    }

    fn known(
        &mut self,
        now: Ms,
        call: Option<CallKey>,
        request: &scheduler::ports::Request,
    ) -> Option<Arrived> {
        let (Some(retention), Some(key), None) = (self.retention, &request.key, request.fence)
        else {
            return None;
        };
        match self.keys.get_mut(key) {
            Some(Known::Done { at }) if now < at.saturating_add(retention) => {
                Some(Arrived::Answered(Reply::Repeated))
            }
            Some(Known::InFlight { waiting }) => match self.in_flight {
                InFlight::Wait => {
                    waiting.extend(call);
                    Some(Arrived::Waiting)
                }
                InFlight::Conflict => Some(Arrived::Answered(Reply::InProgress)),
                InFlight::Naive => None,
            },
            _ => {
                if self.in_flight != InFlight::Naive {
                    self.keys.insert(
                        key.clone(),
                        Known::InFlight {
                            waiting: Vec::new(),
                        },
                    );
                }
                None
            }
        }
    }

    /// The latency of a request is over.
    pub(crate) fn finish(&mut self, now: Ms, number: u32, at: Timestamp) -> Option<Finished> {
        let performing = self.performing.get_mut(number as usize)?.take()?;
        let Performing {
            call,
            asker,
            request,
        } = performing;
        let reply = self.decide(&asker, &request, at);
        let mut answers: Vec<(CallKey, Reply)> =
            call.map(|call| (call, reply)).into_iter().collect();
        if let (None, Some(_), Some(key), None) =
            (&self.outside, self.retention, &request.key, request.fence)
            && let Some(Known::InFlight { waiting }) =
                self.keys.insert(key.clone(), Known::Done { at: now })
        {
            answers.extend(waiting.into_iter().map(|call| (call, Reply::Repeated)));
        }
        Some(Finished {
            asker,
            answers,
            reply,
        })
    }

    fn decide(
        &mut self,
        asker: &Asker,
        request: &scheduler::ports::Request,
        at: Timestamp,
    ) -> Reply {
        if let Some(outside) = &mut self.outside {
            return outside.perform(request, at);
        }
        match (request.fence, resource(asker, request)) {
            (Some(fence), Some(resource))
                if self
                    .fences
                    .get(&resource)
                    .is_some_and(|highest| fence < *highest) =>
            {
                Reply::Stale
            }
            _ => {
                self.performed.extend(request.key.clone());
                Reply::Performed
            }
        }
    }

    /// Whether the effect with this key has happened.
    pub(crate) fn lookup(&mut self, key: &Key, at: Timestamp) -> bool {
        match &mut self.outside {
            Some(outside) => outside.lookup(key, at),
            None => self.performed.contains(key),
        }
    }
}

/// What a fencing token protects.
fn resource(asker: &Asker, request: &scheduler::ports::Request) -> Option<Key> {
    request
        .key
        .clone()
        .or_else(|| asker.ids.run.as_ref().map(|run| run.text().clone()))
}
