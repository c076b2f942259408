//! The claim by leadership: only the instance that believes that it leads dispatches.
//!
//! Promises that one instance dispatches while everybody is well. Breaks where a leader that was
//! superseded goes on believing (it was paused, cut off, or nobody told it), and, without a look
//! back, where a slot comes due while nobody leads. Source: B48, B50, B55, B83.

mod by_row;
mod by_session;

use super::dispatcher::failed;
use super::{CatchUp, ClaimConfig, Cursor, Fire};
use crate::ports::{At, CallError, Fut, Ports, Wake};
use crate::race;
use crate::session::{Belief, Session};
use crate::timer::{Timer, TimerLoop, first_slot};
use crate::work::RetryConfig;
use crate::{Instance, Span, backoff, marks, steps};
use by_row::ByRow;
use by_session::BySession;
use evidence::{Ids, Timestamp, What};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `claim = { kind = "leader", .. }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeaderClaimConfig {
    /// Where leadership is kept.
    pub via: LeaderVia,
    /// By a row: how long a leader whose renewals get no answer believes that it leads. With a
    /// coordinator `[coordinator] belief` says so.
    pub belief: Belief,
    /// By a row: so long after it was last extended another may lead. Default 60 s, the leader
    /// token of B50.
    pub lease: Span,
    /// By a row: how often the leader extends it, and the others look whether it is over. Each time
    /// is simulated, so that slots should lie minutes apart, not days. Default 15 s, as B50.
    pub renew_every: Span,
    /// Whether a leader that is superseded forgets where it was, if it keeps that in memory. `false`:
    /// when it leads again it goes on from there, through all that others have dispatched since.
    pub clear_on_loss: bool,
}

impl Default for LeaderClaimConfig {
    fn default() -> Self {
        LeaderClaimConfig {
            via: LeaderVia::Coordinator,
            belief: Belief::Session,
            lease: Span::secs(60),
            renew_every: Span::secs(15),
            clear_on_loss: true,
        }
    }
}

/// `via`: where leadership is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaderVia {
    /// In an election of the coordinator, under a session that its client keeps alive.
    #[default]
    Coordinator,
    /// In a lease row of the database, which the leader extends.
    Database,
}

/// Where leadership is kept, as one incarnation of an instance asks there.
pub(super) trait Election: Send + Sync {
    /// Asks to lead, or whether it still does.
    fn campaign<'a>(&'a self, ids: &'a Ids) -> Fut<'a, Result<bool, CallError>>;

    /// The step at which it asks.
    fn step(&self) -> &'static evidence::Step;

    /// Whether it believes that it leads, though it got no answer.
    fn believes(&self) -> bool;

    /// Sleeps until asking again may have another answer, or the instance stops.
    fn idle(&self) -> Fut<'_, Wake>;

    /// Keeps what leadership hangs on alive, for as long as it is polled.
    fn keep(&self) -> Fut<'_, ()>;

    /// Gives it up: the instance stops.
    fn resign(&self) -> Fut<'_, ()>;
}

/// What one incarnation of an instance does about leadership.
pub(crate) struct Leadership {
    ports: Ports,
    election: Box<dyn Election>,
    retry: RetryConfig,
    clear_on_loss: bool,
}

/// A timer to be fired while its instance leads.
pub(crate) struct Led<'a> {
    pub(crate) timer: &'a Timer,
    pub(crate) fire_offset_ms: i64,
    pub(crate) cursor: Cursor,
    pub(crate) catch_up: CatchUp,
    /// What becomes of each slot.
    pub(crate) act: &'a (dyn Fn(Fire) -> Fut<'a, ()> + Send + Sync),
}

/// Where a timer stands: its next slot, and when it is due if the timetable does not say.
type Position = (u32, Option<Timestamp>);

impl Leadership {
    /// Of one incarnation. `session` is there where leadership is kept at a coordinator.
    pub(crate) fn new(
        instance: &Instance,
        config: &LeaderClaimConfig,
        session: Option<&Arc<Session>>,
        retry: &RetryConfig,
    ) -> Self {
        let election: Box<dyn Election> = match (config.via, session) {
            (LeaderVia::Coordinator, Some(session)) => {
                Box::new(BySession::new(&instance.ports, session.clone()))
            }
            _ => Box::new(ByRow::new(instance, config)),
        };
        Leadership {
            ports: instance.ports.clone(),
            election,
            retry: retry.clone(),
            clear_on_loss: config.clear_on_loss,
        }
    }

    /// Fires a timer whenever the instance leads, until there is no further slot or it stops.
    pub(crate) async fn fire_all(&self, led: &Led<'_>) {
        // Whoever starts first records that the timer exists from now on, whether or not it leads:
        // a slot that comes due before anybody does is then one to look back to.
        if led.cursor == Cursor::Stored && self.position(led, None).await.is_none() {
            return;
        }
        let mut before: Option<Position> = None;
        while self.elected().await {
            let Some((ordinal, due)) = self.position(led, before).await else {
                break;
            };
            let mut timer_loop = TimerLoop {
                ports: &self.ports,
                timer: led.timer,
                fire_offset_ms: led.fire_offset_ms,
                ordinal,
                due,
            };
            if !self.while_leading(led, &mut timer_loop).await {
                break;
            }
            before = Some((timer_loop.ordinal, timer_loop.due));
        }
        if self.ports.runtime.stopping() {
            self.election.resign().await;
        }
    }

    /// Fires slot after slot; true if it was superseded, false if nothing is left to fire.
    async fn while_leading(&self, led: &Led<'_>, timer_loop: &mut TimerLoop<'_>) -> bool {
        loop {
            let next = race::beside(Box::pin(timer_loop.next()), self.election.keep());
            let Some(fire) = next.await else {
                return false;
            };
            if !self.still_leads(&fire).await {
                return true;
            }
            race::beside((led.act)(fire), self.election.keep()).await;
            timer_loop.handled();
        }
    }

    /// Where to take the timer up.
    async fn position(&self, led: &Led<'_>, before: Option<Position>) -> Option<Position> {
        match (led.cursor, before) {
            (Cursor::Stored, _) => {
                super::resume(
                    &self.ports,
                    led.timer,
                    led.catch_up,
                    &ClaimConfig::None,
                    &self.retry,
                )
                .await
            }
            (Cursor::Memory, Some(before)) if !self.clear_on_loss => Some(before),
            (Cursor::Memory, _) => Some(first_slot(led.timer, self.ports.clock.now())),
        }
    }

    /// Waits until the instance leads; false if it stops before.
    async fn elected(&self) -> bool {
        let nobody = Ids::default();
        let runtime = &*self.ports.runtime;
        let mut failures = 0;
        while !runtime.stopping() {
            match self.election.campaign(&nobody).await {
                Ok(true) => {
                    self.ports.journal.mark(&marks::ELECTED);
                    return true;
                }
                Ok(false) => {
                    failures = 0;
                    self.election.idle().await;
                }
                Err(error) => {
                    let at = At::new(self.election.step(), &nobody);
                    self.ports.journal.record(at, failed(error));
                    failures += 1;
                    backoff::pause(runtime, &self.retry, failures).await;
                }
            }
        }
        false
    }

    /// Asked at every slot: an answer decides; where there is none, what the instance believes.
    async fn still_leads(&self, fire: &Fire) -> bool {
        let leads = match self.election.campaign(&fire.ids).await {
            Ok(leads) => leads,
            Err(error) => {
                let at = At::new(self.election.step(), &fire.ids);
                self.ports.journal.record(at, failed(error));
                self.election.believes()
            }
        };
        if !leads {
            self.ports.journal.mark(&marks::DEPOSED);
            let at = At::new(&steps::DISPATCH_CLAIM, &fire.ids);
            self.ports.journal.record(at, What::ClaimTaken);
        }
        leads
    }
}
