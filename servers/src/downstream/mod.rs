//! The outside world: an API that changes something which cannot be rolled back.
//!
//! What it does with a second request is a matter of [`Terms`]: keys that are remembered for a
//! while, equal contents within a window, fencing tokens, look-ups that lag. A request is answered
//! when its effect is done, some time after it arrived; what becomes of another one with its key in
//! that time is [`InFlight`]. Whether an answer reaches anybody is not this model's business.
//!
//! | term | who does so |
//! |---|---|
//! | key remembered for 24 h | Stripe |
//! | same key, other content: refused | Stripe (error 400), IETF draft "Idempotency-Key" (422) |
//! | key in flight: refused | Stripe (409), the same draft (409) |
//! | equal content within 2 min is a duplicate | Authorize.Net (`duplicateWindow`, 120 s) |
//! | look-up lags | anything read from a replica or an index |
//!
//! Requests carry a key, a content and a caller of types that the driver chooses.

mod batch;
mod ledger;

pub use batch::{Batch, Batched};
pub use ledger::{Ledger, Staged};

use crate::Ms;
use std::collections::BTreeMap;

/// What the downstream does with requests that it has seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// How long a key is remembered after its effect; `None`: keys are not looked at.
    pub retention: Option<Ms>,
    /// What becomes of a request while an earlier one with its key is still at work.
    pub in_flight: InFlight,
    /// What becomes of a request whose key was used with another content.
    pub on_mismatch: OnMismatch,
    /// How long after an effect a request with the same content, whatever its key, counts as the
    /// same; `None`: contents are not looked at.
    pub dedup_window: Option<Ms>,
    /// How long after an effect a look-up finds it.
    pub lookup_lag: Ms,
}

/// What becomes of a request while an earlier one with its key is still at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InFlight {
    /// It waits for the earlier one and is answered as that was.
    #[default]
    Wait,
    /// It is told that the key is in progress.
    Conflict,
    /// It is not noticed: keys are stored when the work is done.
    Naive,
}

/// What becomes of a request whose key was used with another content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnMismatch {
    /// It is answered as the first one was: contents are not compared.
    #[default]
    Ignore,
    /// It is refused.
    Refuse,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<K> {
    /// The idempotency key.
    pub key: Option<K>,
    /// The fencing token, and what it protects.
    pub fence: Option<(K, u64)>,
    /// What it asks for: equal contents ask for the same.
    pub content: Option<K>,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The effect happened now.
    Performed,
    /// The effect happened before; nothing happened now.
    Repeated,
    /// An earlier request with this key is at work.
    InProgress,
    /// The fencing token was superseded; nothing happened.
    Stale,
    /// The key belongs to another content; nothing happened.
    Mismatch,
}

/// What arriving came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrived {
    /// It is at work; the number names it.
    Working(u32),
    /// It is answered at once.
    Answered(Answer),
    /// It will be answered with the earlier one that has its key.
    Waiting,
}

/// What finishing came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Finished<C, A> {
    /// Who asked for the effect.
    pub asker: A,
    /// What the request itself came to.
    pub answer: Answer,
    /// Every caller to answer, with its answer.
    pub answers: Vec<(C, Answer)>,
}

/// A request at work.
struct Performing<K, C, A> {
    call: Option<C>,
    asker: A,
    request: Request<K>,
}

/// A key that was used.
enum Known<K, C> {
    InFlight { content: Option<K>, waiting: Vec<C> },
    Done { at: Ms, content: Option<K> },
}

/// The state of the downstream: `K` are its keys, `C` its callers, `A` who asked for an effect.
pub struct Downstream<K, C, A> {
    terms: Terms,
    keys: BTreeMap<K, Known<K, C>>,
    /// When a content was last made.
    contents: BTreeMap<K, Ms>,
    /// When the effect with a key happened, for look-ups.
    performed: BTreeMap<K, Ms>,
    fences: BTreeMap<K, u64>,
    performing: Vec<Option<Performing<K, C, A>>>,
}

impl<K, C, A> Default for Downstream<K, C, A> {
    fn default() -> Self {
        Downstream {
            terms: Terms::default(),
            keys: BTreeMap::new(),
            contents: BTreeMap::new(),
            performed: BTreeMap::new(),
            fences: BTreeMap::new(),
            performing: Vec::new(),
        }
    }
}

/// Something that the downstream remembers: see [`Downstream::remembered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// A key, and when its effect was done ([`Ms::MAX`]: it is at work).
    Key(Ms),
    /// A key that a look-up finds from this moment on.
    Performed(Ms),
    /// The highest fencing token of what it protects.
    Fence(u64),
    /// A content, and when it was last made.
    Content(Ms),
}

impl<K: Clone + Ord, C, A> Downstream<K, C, A> {
    /// Nothing has happened yet, and these terms hold.
    pub fn open(&mut self, terms: Terms) {
        self.terms = terms;
        self.keys.clear();
        self.contents.clear();
        self.performed.clear();
        self.fences.clear();
        self.performing.clear();
    }

    /// A request arrives; `call` is whom to answer, if anybody.
    pub fn arrive(&mut self, now: Ms, call: Option<C>, asker: A, request: Request<K>) -> Arrived {
        if let Some((resource, fence)) = &request.fence {
            if self.is_stale(resource, *fence) {
                return Arrived::Answered(Answer::Stale);
            }
            self.fences.insert(resource.clone(), *fence);
        }
        // The caller moves into the list of those that wait, or on to the work.
        let mut call = call;
        if let Some(arrived) = self.known(now, &mut call, &request) {
            return arrived;
        }
        self.work(call, asker, request)
    }

    /// A request goes to work whatever was before: its effect is decided elsewhere.
    pub fn work(&mut self, call: Option<C>, asker: A, request: Request<K>) -> Arrived {
        let number = u32::try_from(self.performing.len()).unwrap_or(u32::MAX);
        self.performing.push(Some(Performing {
            call,
            asker,
            request,
        }));
        Arrived::Working(number)
    }

    /// What the request at work says.
    pub fn at_work(&self, number: u32) -> Option<&Request<K>> {
        let performing = self.performing.get(number as usize)?.as_ref()?;
        Some(&performing.request)
    }

    /// The work of a request is over. `decided` is what it came to where that is decided
    /// elsewhere; keys are then not looked at.
    pub fn finish(
        &mut self,
        now: Ms,
        number: u32,
        decided: Option<Answer>,
    ) -> Option<Finished<C, A>> {
        let performing = self.performing.get_mut(number as usize)?.take()?;
        let (asker, request) = (performing.asker, performing.request);
        let answer = decided.unwrap_or_else(|| self.decide(now, &request));
        let mut answers: Vec<(C, Answer)> = performing
            .call
            .map(|call| (call, answer))
            .into_iter()
            .collect();
        if decided.is_none()
            && let (Some(_), Some(key), None) = (self.terms.retention, request.key, request.fence)
            && let Some(Known::InFlight { waiting, .. }) = self.keys.insert(
                key,
                Known::Done {
                    at: now,
                    content: request.content,
                },
            )
        {
            answers.extend(waiting.into_iter().map(|call| (call, Answer::Repeated)));
        }
        Some(Finished {
            asker,
            answer,
            answers,
        })
    }

    /// Whether a look-up finds the effect with this key.
    pub fn lookup(&self, now: Ms, key: &K) -> bool {
        let found_from = |at: &Ms| at.saturating_add(self.terms.lookup_lag);
        self.performed
            .get(key)
            .is_some_and(|at| found_from(at) <= now)
    }

    /// What was remembered of requests that are done is forgotten before its time (a retention
    /// shortened, a table purged, a cache flushed); effects and fencing tokens stay.
    pub fn purge(&mut self) {
        self.keys
            .retain(|_, known| matches!(known, Known::InFlight { .. }));
        self.contents.clear();
    }

    /// Whether no request is at work.
    pub fn rests(&self) -> bool {
        self.performing.iter().all(Option::is_none)
    }

    /// Everything that is remembered, in an order that depends on nothing else.
    pub fn remembered(&self) -> impl Iterator<Item = (&K, Remembered)> {
        let lag = self.terms.lookup_lag;
        let keys = self.keys.iter().map(|(key, known)| match known {
            Known::Done { at, .. } => (key, Remembered::Key(*at)),
            Known::InFlight { .. } => (key, Remembered::Key(Ms::MAX)),
        });
        let found = move |at: &Ms| if lag == 0 { 0 } else { at.saturating_add(lag) };
        let performed = self.performed.iter();
        let performed = performed.map(move |(key, at)| (key, Remembered::Performed(found(at))));
        let fences = self.fences.iter();
        let fences = fences.map(|(key, fence)| (key, Remembered::Fence(*fence)));
        let contents = self.contents.iter();
        let contents = contents.map(|(content, at)| (content, Remembered::Content(*at)));
        keys.chain(performed).chain(fences).chain(contents)
    }

    fn is_stale(&self, resource: &K, fence: u64) -> bool {
        self.fences
            .get(resource)
            .is_some_and(|highest| fence < *highest)
    }

    /// What is known of a request's key or content, if that answers it.
    fn known(&mut self, now: Ms, call: &mut Option<C>, request: &Request<K>) -> Option<Arrived> {
        let answered = |answer| Some(Arrived::Answered(answer));
        if let (Some(retention), Some(key), None) =
            (self.terms.retention, &request.key, &request.fence)
        {
            let refuses = self.terms.on_mismatch == OnMismatch::Refuse;
            match self.keys.get_mut(key) {
                Some(Known::Done { at, content }) if now < at.saturating_add(retention) => {
                    return answered(if refuses && *content != request.content {
                        Answer::Mismatch
                    } else {
                        Answer::Repeated
                    });
                }
                Some(Known::InFlight { content, waiting }) => match self.terms.in_flight {
                    InFlight::Naive => return None,
                    _ if refuses && *content != request.content => {
                        return answered(Answer::Mismatch);
                    }
                    InFlight::Wait => {
                        waiting.extend(call.take());
                        return Some(Arrived::Waiting);
                    }
                    InFlight::Conflict => return answered(Answer::InProgress),
                },
                _ => {}
            }
        }
        if let (Some(window), Some(content)) = (self.terms.dedup_window, &request.content)
            && let Some(at) = self.contents.get(content)
            && now < at.saturating_add(window)
        {
            return answered(Answer::Repeated);
        }
        if let (Some(_), Some(key), None) = (self.terms.retention, &request.key, &request.fence)
            && self.terms.in_flight != InFlight::Naive
        {
            let content = match self.terms.on_mismatch {
                OnMismatch::Refuse => request.content.clone(),
                OnMismatch::Ignore => None,
            };
            let waiting = Vec::new();
            self.keys
                .insert(key.clone(), Known::InFlight { content, waiting });
        }
        None
    }

    fn decide(&mut self, now: Ms, request: &Request<K>) -> Answer {
        if let Some((resource, fence)) = &request.fence
            && self.is_stale(resource, *fence)
        {
            return Answer::Stale;
        }
        if let Some(key) = &request.key {
            self.performed.entry(key.clone()).or_insert(now);
        }
        if let (Some(_), Some(content)) = (self.terms.dedup_window, &request.content) {
            self.contents.insert(content.clone(), now);
        }
        Answer::Performed
    }
}

#[cfg(test)]
mod tests;
