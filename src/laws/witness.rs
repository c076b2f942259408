//! Stands before a guard and notes in the history what it answers.
//!
//! That a run is finished is between guard and executor; not every guard tells the journal. The
//! notes change nothing of what happens.

use evidence::{RecordState, What};
use scheduler::Instance;
use scheduler::guards::{Entry, Guard, Outcome, Permit, Retries, Settle, Visit};
use scheduler::ports::{At, CallError, Fut, Ports, Statements};
use scheduler::steps;

/// What is noted of a run that is finished as succeeded.
pub(super) const DONE: What = What::Recorded(RecordState::Succeeded);
/// What is noted of a run that is finished as failed for good.
pub(super) const FAILED: What = What::Recorded(RecordState::Dead);

/// A guard under observation.
pub(super) struct Witness {
    guard: Box<dyn Guard>,
    ports: Ports,
}

impl Witness {
    pub fn of(guard: Box<dyn Guard>, instance: &Instance) -> Self {
        Witness {
            guard,
            ports: instance.ports.clone(),
        }
    }
}

impl Guard for Witness {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        self.guard.enter(visit)
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, permit: &'a Permit) -> Option<Fut<'a, ()>> {
        self.guard.hold(visit, permit)
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let settle = self.guard.finish(visit, permit, outcome).await?;
            let note = match (outcome, settle) {
                (Outcome::Succeeded, Settle::Ack) => Some(DONE),
                (Outcome::Final, _) => Some(FAILED),
                _ => None,
            };
            if let Some(note) = note {
                let at = At::new(&steps::GUARD_FINISH, visit.ids);
                self.ports.journal.record(at, note);
            }
            Ok(settle)
        })
    }

    fn record_success(&self, visit: Visit<'_>, permit: &Permit) -> Statements {
        self.guard.record_success(visit, permit)
    }

    fn retries(&self) -> Retries {
        self.guard.retries()
    }
}
