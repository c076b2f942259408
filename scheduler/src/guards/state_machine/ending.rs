//! How an attempt ends: what is recorded of it, by whom, and what becomes of the message.

use super::super::record::{self, Record, tell};
use super::super::{Outcome, Permit, Settle, Visit};
use super::{StateMachine, not_ended, owned_by};
use crate::ports::{Answer, Answers, At, CallError, Condition, Expr, RowLock, Value};
use crate::tables::runs;
use crate::weakness::Weakness;
use crate::{Span, marks, steps};
use evidence::RecordState::{Dead, Failed, Succeeded, Unknown};
use evidence::{RecordState, What};

/// What is written of an outcome, and what becomes of the message.
struct Ending {
    state: RecordState,
    until: Expr,
    attempt: u32,
    settle: Settle,
}

impl StateMachine {
    /// What is written of an outcome, and what becomes of the message once it is written.
    fn ending(&self, permit: &Permit, outcome: Outcome) -> Option<Ending> {
        let ending = |state, until, settle| Ending {
            state,
            until,
            attempt: permit.attempt,
            settle,
        };
        Some(match outcome {
            Outcome::Succeeded => ending(Succeeded, Expr::Value(Value::Null), Settle::Ack),
            Outcome::Quarantined => ending(Unknown, Expr::Value(Value::Null), Settle::Ack),
            Outcome::Retryable { retry_in, counts }
                if (!counts || permit.attempt < self.max_attempts)
                    && !self.ports.weak(Weakness::FailureIsDead) =>
            {
                Ending {
                    attempt: permit.attempt - u32::from(!counts && permit.attempt > 0),
                    ..ending(Failed, self.now(retry_in), Settle::Defer(retry_in))
                }
            }
            Outcome::Retryable { .. } | Outcome::Final => {
                ending(Dead, Expr::Value(Value::Null), Settle::Ack)
            }
            Outcome::Cancelled => return None,
        })
    }

    /// Who may record that. A success is true whatever was recorded of its own attempt meanwhile.
    fn may_record(&self, token: u64, state: RecordState) -> Condition {
        match (self.config.finalise_check, state) {
            _ if self.ports.weak(Weakness::FinishOwnerUnasked) => Condition::always(),
            _ if self.ports.weak(Weakness::FinishStateUnasked) => Condition::all([owned_by(token)]),
            (false, _) => Condition::always(),
            (true, Succeeded) => Condition::all([owned_by(token)]),
            (true, _) => Condition::all([owned_by(token), not_ended()]),
        }
    }

    pub(super) async fn finish(
        &self,
        visit: Visit<'_>,
        permit: &Permit,
        outcome: Outcome,
    ) -> Result<Settle, CallError> {
        let Some(ending) = self.ending(permit, outcome) else {
            return Ok(Settle::Defer(Span::ZERO));
        };
        let write = record::update(
            visit.key,
            self.may_record(visit.token, ending.state),
            vec![
                record::state(ending.state),
                (runs::ATTEMPT, Expr::from(i64::from(ending.attempt))),
                (runs::UNTIL, ending.until.clone()),
            ],
        );
        let step = &steps::GUARD_FINISH;
        let statements = vec![write, record::select(visit.key, RowLock::None)];
        let at = At::new(step, visit.ids);
        let answers = self.ports.database.execute(at, statements).await?;
        let (what, settle) = self.finished(&visit, &ending, &answers);
        let dead = what == What::Recorded(Dead);
        tell(&self.ports, step, visit.ids, what);
        if dead {
            tell(&self.ports, step, visit.ids, What::GaveUp);
        }
        Ok(settle)
    }

    fn finished(&self, visit: &Visit<'_>, ending: &Ending, answers: &Answers) -> (What, Settle) {
        if answers.first().is_some_and(Answer::changed) {
            return (What::Recorded(ending.state), ending.settle);
        }
        let record = Record::of(answers);
        let ours = record.is_some_and(|record| record.owner == visit.token);
        self.ports.journal.mark(if ours {
            &marks::FINISH_FOUND
        } else {
            &marks::FINISH_REFUSED
        });
        match record {
            // An earlier try of this visit wrote it and never heard so, or the effect brought its
            // record with it.
            Some(record) if ours => match record.state {
                Some(state @ (Succeeded | Dead | Unknown)) => (What::Recorded(state), Settle::Ack),
                _ => (What::Recorded(ending.state), ending.settle),
            },
            Some(record) if record.state == Some(Succeeded) => (What::RecordRefused, Settle::Ack),
            // The next delivery looks at what the current owner has made of it.
            _ => (What::RecordRefused, Settle::Defer(self.config.lease)),
        }
    }
}
