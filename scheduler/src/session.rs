//! The session of an instance at the coordinator: opened, believed in, over, opened again.
//!
//! The client behind the port keeps it alive; what is decided here is what an instance believes of
//! it while no answer comes. **Breaks** where the coordinator ends a session whose instance is alive
//! and goes on believing: two instances act as if each were the only one. Source: B17, B48.

use crate::dispatch::failed;
use crate::permits::Permits;
use crate::ports::{At, Failover, Monotonic, Ports, SessionId, Wake};
use crate::work::RetryConfig;
use crate::{Span, backoff, marks, steps};
use evidence::Ids;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long an instance that gets no answer believes that it leads, or owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Belief {
    /// As long as its session or lease can last, by its own clock, since it last heard of it.
    #[default]
    Session,
    /// Until an answer says otherwise, however long that takes.
    UntilTold,
}

/// How an instance and its coordinator get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTerms {
    /// How long it believes in a session of which it hears nothing.
    pub belief: Belief,
    /// So long after it last heard of its session it takes it for over ([`Belief::Session`]).
    pub gives_up_after: Span,
    /// How often it looks whether its standing has changed; 1 ms where it is told.
    pub looks_every: Span,
    /// What the next owner of a shard does again.
    pub failover: Failover,
}

/// The session of one incarnation of one instance.
pub(crate) struct Session {
    ports: Ports,
    pub(crate) terms: SessionTerms,
    pub(crate) retry: RetryConfig,
    open: Mutex<Option<Open>>,
    /// Whoever opens the session does so alone.
    opening: Permits,
}

#[derive(Clone, Copy)]
struct Open {
    id: SessionId,
    since: Monotonic,
}

impl Session {
    /// Not opened yet.
    pub(crate) fn new(ports: &Ports, terms: SessionTerms, retry: &RetryConfig) -> Self {
        Session {
            ports: ports.clone(),
            terms,
            retry: retry.clone(),
            open: Mutex::default(),
            opening: Permits::new(1),
        }
    }

    /// The session, opened if there is none; `None` if the instance stops before that succeeds.
    pub(crate) async fn id(&self) -> Option<SessionId> {
        if let Some(open) = self.known() {
            return Some(open);
        }
        let _alone = self.opening.acquire().await;
        let nobody = Ids::default();
        let at = At::new(&steps::COORDINATOR_JOIN, &nobody);
        let mut failures = 0;
        while !self.ports.runtime.stopping() {
            if let Some(open) = self.known() {
                return Some(open);
            }
            match self.ports.coordinator.join(at).await {
                Ok(id) => {
                    let since = self.ports.runtime.monotonic();
                    *self.state() = Some(Open { id, since });
                }
                Err(error) => {
                    self.ports.journal.record(at, failed(error));
                    failures += 1;
                    backoff::pause(&*self.ports.runtime, &self.retry, failures).await;
                }
            }
        }
        None
    }

    /// The session, if it is open as far as the instance knows.
    pub(crate) fn known(&self) -> Option<SessionId> {
        self.state().map(|open| open.id)
    }

    /// An answer said that this session is over.
    pub(crate) fn over(&self, id: SessionId) {
        self.ports.journal.mark(&marks::SESSION_OVER);
        let mut state = self.state();
        if state.is_some_and(|open| open.id == id) {
            *state = None;
        }
    }

    /// Whether the instance believes that this session lives, though it got no answer.
    pub(crate) fn believes(&self, id: SessionId) -> bool {
        let Some(open) = *self.state() else {
            return false;
        };
        let Some(heard) = self.ports.coordinator.heard(id) else {
            return false;
        };
        let believes = open.id == id
            && match self.terms.belief {
                Belief::UntilTold => true,
                Belief::Session => {
                    let until = heard.max(open.since).plus(self.terms.gives_up_after);
                    self.ports.runtime.monotonic() < until
                }
            };
        if believes {
            self.ports.journal.mark(&marks::BELIEVED);
        }
        believes
    }

    /// Ends the session where the instance stops, once.
    pub(crate) async fn leave(&self) {
        let open = self.state().take();
        if let Some(open) = open {
            let nobody = Ids::default();
            let at = At::new(&steps::COORDINATOR_LEAVE, &nobody);
            // One that fails ends by its timeout.
            let _ = self.ports.coordinator.leave(at, open.id).await;
        }
    }

    /// Sleeps until the instance may lead, is owed something, or has no session any more.
    pub(crate) async fn idle(&self, id: SessionId) -> Wake {
        let runtime = &self.ports.runtime;
        let every = self.terms.looks_every;
        let nobody = Ids::default();
        let anchor = runtime.anchor(At::new(&steps::COORDINATOR_CAMPAIGN, &nobody), every);
        let interest = crate::ports::Interest::Standing { session: id };
        runtime.idle_until(anchor, every, interest).await
    }

    fn state(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::memory::bench::Bench;
    use crate::memory::block_on;

    fn session(bench: &Bench, belief: Belief) -> Session {
        let terms = SessionTerms {
            belief,
            gives_up_after: Span::secs(10),
            looks_every: Span::secs(2),
            failover: Failover::Off,
        };
        Session::new(bench.ports(), terms, &RetryConfig::default())
    }

    #[test]
    fn it_is_opened_once_and_again_when_it_is_over() {
        let bench = Bench::new();
        let session = session(&bench, Belief::Session);
        let first = block_on(session.id()).unwrap();
        assert_eq!(block_on(session.id()), Some(first));
        session.over(SessionId(99));
        assert_eq!(session.known(), Some(first), "another's end is not its own");
        session.over(first);
        assert_eq!(session.known(), None);
        let second = block_on(session.id()).unwrap();
        assert!(second > first);
    }

    #[test]
    fn who_has_no_session_or_was_told_that_it_is_over_believes_nothing() {
        let bench = Bench::new();
        for belief in [Belief::Session, Belief::UntilTold] {
            let session = session(&bench, belief);
            assert!(!session.believes(SessionId(1)));
            let id = block_on(session.id()).unwrap();
            assert!(session.believes(id));
            block_on(session.leave());
            assert!(!session.believes(id), "{belief:?}");
        }
    }
}
