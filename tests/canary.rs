//! A canary that must be found: a guard that is right twice and lets the third attempt through.
#![allow(clippy::unwrap_used)]

mod set_ups;

use scheduler::guards::{
    Entry, Guard, GuardConfig, GuardContext, Outcome, Permit, Retries, Settle, StateMachineConfig,
    Visit,
};
use scheduler::ports::{
    Answer, At, CallError, Condition, Expr, Fut, OnConflict, Ports, Statement, Statements, Test,
};
use scheduler::tables::{LOCKS, locks};
use scheduler::{Instance, steps};
use set_ups::{explore_core, found, named};
use sim::Parts;
use std::sync::Arc;

/// Marks the permit that should not have been given.
const FORGED: Option<u64> = Some(u64::MAX);

/// The state machine, except that of those who find the run done the second is let in.
struct ThirdTime {
    right: Box<dyn Guard>,
    ports: Ports,
}

fn state_machine(instance: &Instance) -> Box<dyn Guard> {
    GuardConfig::StateMachine(StateMachineConfig::default()).build(&GuardContext {
        instance,
        max_attempts: 8,
    })
}

impl ThirdTime {
    /// Counts one who has found the run done; true for the second.
    async fn is_second(&self, visit: Visit<'_>) -> Result<bool, CallError> {
        let key: Arc<str> = format!("found done:{}", visit.key).into();
        let statements = Statements::from_iter([
            Statement::Insert {
                table: LOCKS,
                key: key.clone(),
                cells: [Expr::from(0), Expr::from(0), Expr::from(0)]
                    .into_iter()
                    .collect(),
                on_conflict: OnConflict::Ignore,
            },
            Statement::Update {
                table: LOCKS,
                key: key.clone(),
                when: Condition::always(),
                set: [(locks::UNTIL, Expr::Plus(locks::UNTIL, 1))]
                    .into_iter()
                    .collect(),
                required: false,
            },
            Statement::Update {
                table: LOCKS,
                key,
                when: Condition::all([Test::Is(locks::UNTIL, 2)]),
                set: [(locks::OWNER, Expr::from(1))].into_iter().collect(),
                required: false,
            },
        ]);
        let at = At::new(&steps::GUARD_ENTER_WRITE, visit.ids);
        let answers = self.ports.database.execute(at, statements).await?;
        Ok(answers.last().is_some_and(Answer::changed))
    }
}

impl Guard for ThirdTime {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let entry = self.right.enter(visit).await?;
            if entry != Entry::Done || !self.is_second(visit).await? {
                return Ok(entry);
            }
            Ok(Entry::Run(Permit {
                fence: FORGED,
                ..Permit::first(visit.token)
            }))
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        if permit.fence == FORGED {
            return Box::pin(std::future::ready(Ok(Settle::Ack)));
        }
        self.right.finish(visit, permit, outcome)
    }

    fn record_success(&self, visit: Visit<'_>, permit: &Permit) -> Statements {
        if permit.fence == FORGED {
            return Statements::new();
        }
        self.right.record_success(visit, permit)
    }

    fn retries(&self) -> Retries {
        self.right.retries()
    }
}

fn guarded_by(guard: fn(&Instance) -> Box<dyn Guard>) -> Parts {
    Parts {
        guard: Some(Arc::new(guard)),
        ..Parts::default()
    }
}

#[test]
fn the_third_attempt_is_found_with_two_faults_and_no_fewer() {
    let scenario = named("recommended-stack-transactional");
    let canary = guarded_by(|instance| {
        Box::new(ThirdTime {
            right: state_machine(instance),
            ports: instance.ports.clone(),
        })
    });
    let checked = explore_core(&scenario, canary, 2);
    assert_eq!(
        found(&scenario, &checked),
        "duplicate (publishing) with 2 faults: \
         pause@timer.fire before scheduler-1 report#1 n=1 for=45201ms + \
         pause@broker.publish before scheduler-2 report#1 n=1 for=45201ms"
    );
}

#[test]
fn the_same_guard_without_the_flaw_is_sound() {
    let scenario = named("recommended-stack-transactional");
    let checked = explore_core(&scenario, guarded_by(state_machine), 2);
    assert_eq!(checked.counterexample, None);
}
