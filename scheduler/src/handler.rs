//! The handler: the user's code that does the work of a run, and the context it works in.

use crate::catch_panic::CatchPanic;
use crate::effects::{Effect, EffectError, Protection};
use crate::guards::{Guard, Permit, Visit};
use crate::ports::{At, Fut, Ports};
use crate::work::{HandlerKind, WorkConfig};
use crate::{Span, steps};
use evidence::{Ids, RunKey, Timestamp};

/// Why an attempt of a handler failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandlerError {
    /// The call to the outside world did not succeed.
    #[error(transparent)]
    Effect(#[from] EffectError),
    /// Another attempt may help.
    #[error("{0}")]
    Retryable(String),
    /// No further attempt will help.
    #[error("{0}")]
    Final(String),
}

/// Does the work of a run.
///
/// Built once per incarnation of an instance. Time, sleep, randomness, spawning and the effect come
/// from the [`Ctx`]: real sockets, threads and other runtimes' timers do not work inside the
/// simulator.
pub trait Handler: Send + Sync {
    /// One attempt.
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>>;
}

/// A handler that was built elsewhere.
impl<H: Handler + ?Sized> Handler for Box<H> {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        (**self).handle(ctx)
    }
}

/// What a handler sees of the attempt it makes.
pub struct Ctx<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) ids: &'a Ids,
    pub(crate) visit: Visit<'a>,
    pub(crate) permit: &'a Permit,
    pub(crate) guard: &'a dyn Guard,
    pub(crate) protection: &'a dyn Protection,
    pub(crate) call_timeout: Span,
}

impl Ctx<'_> {
    /// The run: the key to hand on to whatever the handler calls.
    pub fn run_key(&self) -> Option<&RunKey> {
        self.ids.run.as_ref()
    }

    /// The identifiers of the attempt, for calls that the handler makes through its instance's
    /// ports itself.
    pub fn ids(&self) -> &Ids {
        self.ids
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.ids.attempt
    }

    /// What this instance's wall clock reads.
    pub fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }

    /// Works (or waits) so long.
    pub async fn sleep(&self, span: Span) {
        self.ports.runtime.sleep(span).await;
    }

    /// A random number, the same for the same seed, run and attempt.
    pub fn random(&self) -> u64 {
        self.ports.runtime.random(At::new(&steps::WORK, self.ids))
    }

    /// Starts a task that lives until it ends, panics, or the instance dies.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = CatchPanic(Box::pin(task));
        self.ports.runtime.spawn(Box::pin(async {
            // As on any runtime: its panic is its own.
            let _ = task.await;
        }));
    }

    /// Changes the outside world, once, under the protection that the scenario names.
    pub async fn perform(&self) -> Result<(), EffectError> {
        self.protection
            .perform(Effect {
                ports: self.ports,
                ids: self.ids,
                visit: self.visit,
                permit: self.permit,
                guard: self.guard,
                timeout: self.call_timeout,
            })
            .await
    }
}

/// The handlers that a scenario file can name.
pub(crate) struct BuiltIn {
    takes: Span,
    kind: HandlerKind,
}

impl BuiltIn {
    /// As `[work]` says.
    pub(crate) fn new(work: &WorkConfig) -> Self {
        BuiltIn {
            takes: work.takes,
            kind: work.handler,
        }
    }
}

impl Handler for BuiltIn {
    fn handle<'a>(&'a self, ctx: &'a Ctx<'a>) -> Fut<'a, Result<(), HandlerError>> {
        Box::pin(async move {
            if self.takes > Span::ZERO {
                ctx.sleep(self.takes).await;
            }
            match self.kind {
                HandlerKind::Effect => Ok(ctx.perform().await?),
                HandlerKind::Fails => Err(HandlerError::Final("the work fails".to_owned())),
            }
        })
    }
}
