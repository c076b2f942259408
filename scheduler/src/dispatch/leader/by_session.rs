//! Leadership by an election of the coordinator.

use super::Election;
use crate::ports::{self, CallError, Fut, Ports, Standing, Wake};
use crate::session::Session;
use crate::steps;
use evidence::{Ids, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is led: all that schedulers do.
const ELECTION: &str = "scheduler";

/// Asks the coordinator, under the instance's session.
pub(super) struct BySession {
    ports: Ports,
    session: Arc<Session>,
    election: ports::Election,
    /// What the last answer said.
    led: AtomicBool,
}

impl BySession {
    pub(super) fn new(ports: &Ports, session: Arc<Session>) -> Self {
        BySession {
            ports: ports.clone(),
            session,
            election: ELECTION.into(),
            led: AtomicBool::new(false),
        }
    }
}

impl Election for BySession {
    fn campaign<'a>(&'a self, ids: &'a Ids) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(async move {
            let Some(session) = self.session.id().await else {
                return Ok(false);
            };
            let at = ports::At::new(self.step(), ids);
            let asked = self.ports.coordinator.campaign(at, session, &self.election);
            let leads = match asked.await? {
                Standing::Lives(epoch) => epoch.is_some(),
                Standing::Expired => {
                    self.session.over(session);
                    false
                }
            };
            self.led.store(leads, Ordering::Relaxed);
            Ok(leads)
        })
    }

    fn step(&self) -> &'static Step {
        &steps::COORDINATOR_CAMPAIGN
    }

    fn believes(&self) -> bool {
        let known = self.session.known();
        self.led.load(Ordering::Relaxed) && known.is_some_and(|id| self.session.believes(id))
    }

    fn idle(&self) -> Fut<'_, Wake> {
        Box::pin(async move {
            match self.session.known() {
                Some(session) => self.session.idle(session).await,
                None => Wake::Poll,
            }
        })
    }

    fn keep(&self) -> Fut<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn resign(&self) -> Fut<'_, ()> {
        Box::pin(self.session.leave())
    }
}
