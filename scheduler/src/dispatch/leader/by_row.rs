//! Leadership by a lease row in the database: whoever finds it over takes it, its holder extends it.

use super::{Election, LeaderClaimConfig};
use crate::dispatch::failed;
use crate::ports::{
    Answer, At, CallError, Condition, Expr, Fut, Interest, Monotonic, OnConflict, Ports, Statement,
    Statements, Test, Wake,
};
use crate::session::Belief;
use crate::tables::{LOCKS, locks};
use crate::{Instance, marks, steps};
use evidence::{Ids, Step};
use std::sync::{Mutex, PoisonError};

/// The row.
const KEY: &str = "leader";

/// Asks the database.
pub(super) struct ByRow {
    ports: Ports,
    config: LeaderClaimConfig,
    owner: i64,
    /// When it asked last and was told that it leads.
    led: Mutex<Option<Monotonic>>,
}

impl ByRow {
    pub(super) fn new(instance: &Instance, config: &LeaderClaimConfig) -> Self {
        ByRow {
            ports: instance.ports.clone(),
            config: config.clone(),
            owner: i64::from(instance.id.0) << 16 | i64::from(instance.incarnation),
            led: Mutex::default(),
        }
    }

    /// Extends the lease where the row says so.
    fn extend(&self, when: Test) -> Statement {
        let until = Expr::Now {
            plus_ms: self.config.lease.as_i64(),
        };
        Statement::Update {
            table: LOCKS,
            key: KEY.into(),
            when: Condition::all([when]),
            set: vec![
                (locks::UNTIL, until),
                (locks::OWNER, Expr::from(self.owner)),
            ],
            required: false,
        }
    }

    async fn ask(&self, at: At<'_>, statements: Statements) -> Result<bool, CallError> {
        let asked = self.ports.runtime.monotonic();
        let answers = self.ports.database.execute(at, statements).await?;
        let leads = answers.iter().any(Answer::changed);
        self.tell(leads.then_some(asked));
        Ok(leads)
    }

    fn tell(&self, led: Option<Monotonic>) {
        *self.led.lock().unwrap_or_else(PoisonError::into_inner) = led;
    }

    /// Whether it leads as far as it was told.
    fn led(&self) -> Option<Monotonic> {
        *self.led.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Election for ByRow {
    fn campaign<'a>(&'a self, ids: &'a Ids) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(async move {
            let mut statements = Statements::new();
            if self.led().is_none() {
                statements.push(Statement::Insert {
                    table: LOCKS,
                    key: KEY.into(),
                    cells: vec![Expr::from(i64::MIN), Expr::from(0), Expr::from(0)],
                    on_conflict: OnConflict::Ignore,
                });
            }
            let inserts = statements.len();
            // Its own first: a lease that is over and that nobody took is still its own.
            statements.push(self.extend(Test::Is(locks::OWNER, self.owner)));
            statements.push(self.extend(Test::AtMost(locks::UNTIL, Expr::Now { plus_ms: 0 })));
            let asked = self.ports.runtime.monotonic();
            let at = At::new(self.step(), ids);
            let answers = self.ports.database.execute(at, statements).await?;
            let leads = answers.iter().skip(inserts).any(Answer::changed);
            self.tell(leads.then_some(asked));
            Ok(leads)
        })
    }

    fn step(&self) -> &'static Step {
        &steps::DISPATCH_CLAIM
    }

    fn believes(&self) -> bool {
        let believes = match (self.led(), self.config.belief) {
            (None, _) => false,
            (Some(_), Belief::UntilTold) => true,
            (Some(asked), Belief::Session) => {
                self.ports.runtime.monotonic() < asked.plus(self.config.lease)
            }
        };
        if believes {
            self.ports.journal.mark(&marks::BELIEVED);
        }
        believes
    }

    fn idle(&self) -> Fut<'_, Wake> {
        let (runtime, every) = (&self.ports.runtime, self.config.renew_every);
        let anchor = runtime.anchor(At::new(self.step(), &Ids::default()), every);
        let interest = Interest::Lapsed {
            table: LOCKS,
            key: KEY,
        };
        runtime.idle_until(anchor, every, interest)
    }

    fn keep(&self) -> Fut<'_, ()> {
        Box::pin(async move {
            let nobody = Ids::default();
            let at = At::new(&steps::DISPATCH_RENEW, &nobody);
            loop {
                self.ports.runtime.sleep(self.config.renew_every).await;
                let own = vec![self.extend(Test::Is(locks::OWNER, self.owner))];
                if let Err(error) = self.ask(at, own).await {
                    self.ports.journal.record(at, failed(error));
                }
            }
        })
    }

    fn resign(&self) -> Fut<'_, ()> {
        Box::pin(async move {
            if self.led().is_none() {
                return;
            }
            let nobody = Ids::default();
            let at = At::new(&steps::DISPATCH_RELEASE, &nobody);
            let free = Statement::Update {
                table: LOCKS,
                key: KEY.into(),
                when: Condition::all([Test::Is(locks::OWNER, self.owner)]),
                set: vec![(locks::UNTIL, Expr::Now { plus_ms: 0 })],
                required: false,
            };
            // One that fails leaves the row to its lease.
            let _ = self.ports.database.execute(at, vec![free]).await;
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Span;
    use crate::memory::bench::Bench;
    use crate::memory::block_on;

    /// One incarnation of an instance that leads by the row of the bench.
    fn candidate(bench: &Bench, incarnation: u16, belief: Belief) -> ByRow {
        let instance = Instance {
            incarnation,
            ..bench.instance().clone()
        };
        let config = LeaderClaimConfig {
            belief,
            ..LeaderClaimConfig::default()
        };
        ByRow::new(&instance, &config)
    }

    fn ask(candidate: &ByRow) -> Result<bool, CallError> {
        block_on(candidate.campaign(&Ids::default()))
    }

    #[test]
    fn one_leads_until_its_lease_is_over() {
        let bench = Bench::new();
        let (first, second) = (
            candidate(&bench, 1, Belief::Session),
            candidate(&bench, 2, Belief::Session),
        );
        assert_eq!(ask(&first), Ok(true));
        assert_eq!(ask(&second), Ok(false));
        bench.pass(Span::millis(59_999));
        assert_eq!(ask(&second), Ok(false));
        bench.pass(Span::millis(1));
        assert_eq!(ask(&second), Ok(true));
        assert_eq!(ask(&first), Ok(false));
    }

    #[test]
    fn whoever_stops_gives_the_row_back_and_only_its_own() {
        let bench = Bench::new();
        let (first, second) = (
            candidate(&bench, 1, Belief::Session),
            candidate(&bench, 2, Belief::Session),
        );
        assert_eq!(ask(&first), Ok(true));
        block_on(second.resign());
        assert_eq!(ask(&second), Ok(false));
        block_on(first.resign());
        assert_eq!(ask(&second), Ok(true));
    }

    #[test]
    fn a_question_without_an_answer_leaves_it_to_what_is_believed() {
        for (belief, after) in [(Belief::Session, false), (Belief::UntilTold, true)] {
            let bench = Bench::new();
            let candidate = candidate(&bench, 1, belief);
            assert!(!candidate.believes());
            assert_eq!(ask(&candidate), Ok(true));
            bench.database.refuse_next();
            assert_eq!(ask(&candidate), Err(CallError::Refused));
            assert!(candidate.believes());
            bench.pass(Span::secs(60));
            assert_eq!(candidate.believes(), after, "{belief:?}");
        }
    }
}
