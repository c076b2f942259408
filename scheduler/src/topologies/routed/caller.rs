//! An admin calls: row, route, call, and what came of it, as XXL-JOB's trigger does.
//!
//! A call that is refused or gets no answer is a failure and is not made again here: that is the
//! watch's business, with a call (and a message) of its own. Source: XxlJobTrigger.processTrigger.

use super::RoutedConfig;
use crate::dispatch::{Fire, failed};
use crate::ports::{
    Ask, At, Call, CallError, Condition, Expr, Key, OnConflict, Ports, Said, Statement, Value,
};
use crate::routes::{Choice, Chosen, Route};
use crate::steps;
use crate::tables::{CALLS, calls};
use evidence::{Ids, InstanceId, MessageId, Step, What};
use std::sync::Arc;

/// [`calls::ANSWER`]: the executor took the call.
pub(super) const TAKEN: i64 = 1;
/// [`calls::ANSWER`] and [`calls::RESULT`]: failed.
pub(super) const FAILED: i64 = 2;

/// Calls executors, in one incarnation of an admin.
pub(crate) struct Caller {
    executors: Vec<InstanceId>,
    route: Box<dyn Route>,
    retries: u32,
}

/// One call to be made: of which run, and how often it may be called again after it.
struct Calling<'a> {
    ports: &'a Ports,
    fire: &'a Fire,
    row: Key,
    left: u32,
}

impl Caller {
    /// For one incarnation of an admin.
    pub(super) fn new(config: &RoutedConfig) -> Self {
        Caller {
            executors: config.executors.clone(),
            route: config.route.build(),
            retries: config.retries,
        }
    }

    /// Calls whom the route says to execute a slot's run.
    ///
    /// # Errors
    /// If the row of the call could not be written. Whatever came of the call itself is in the row.
    pub(crate) async fn call_out(
        &self,
        ports: &Ports,
        fire: &Fire,
    ) -> Result<(), (&'static Step, CallError)> {
        self.call(ports, fire, self.retries).await
    }

    /// The same, `left` retries being left.
    pub(super) async fn call(
        &self,
        ports: &Ports,
        fire: &Fire,
        left: u32,
    ) -> Result<(), (&'static Step, CallError)> {
        let chosen = self.choose(ports, fire).await;
        let of = |shard: usize| Calling {
            ports,
            fire,
            // Each firing, each retry and each shard has a row of its own.
            row: Arc::from(format!("{}#{}.{left}.{shard}", fire.run, fire.trace)),
            left,
        };
        if chosen != Chosen::All {
            return of(0).make(&self.executors, &chosen).await;
        }
        for (shard, to) in self.executors.iter().enumerate() {
            of(shard).make(&self.executors, &Chosen::One(*to)).await?;
        }
        Ok(())
    }

    async fn choose(&self, ports: &Ports, fire: &Fire) -> Chosen {
        let at = At::new(&steps::ADMIN_ROUTE, &fire.ids);
        ports.runtime.pass(at).await;
        // Of the timer, not of the run.
        let nobody = Ids::default();
        self.route.choose(&Choice {
            timer: &fire.timer,
            executors: &self.executors,
            steady: ports.runtime.steady(At::new(&steps::ADMIN_ROUTE, &nobody)),
            random: ports.runtime.random(at),
        })
    }
}

impl Calling<'_> {
    /// Row, call, and what came of it.
    async fn make(
        &self,
        executors: &[InstanceId],
        chosen: &Chosen,
    ) -> Result<(), (&'static Step, CallError)> {
        let log = &steps::ADMIN_LOG;
        let at = At::new(log, &self.fire.ids);
        let row = self.ports.database.execute(at, vec![self.insert()]).await;
        row.map_err(|error| (log, error))?;
        let to = match chosen {
            Chosen::One(to) => Some(*to),
            Chosen::WhoSaysYes(ask) => self.who_says_yes(executors, ask).await,
            Chosen::Nobody | Chosen::All => None,
        };
        let taken = match to {
            Some(to) => self.call(to).await,
            None => false,
        };
        self.record(taken).await;
        Ok(())
    }

    /// Asks one after the other; whoever gives no answer is not there.
    async fn who_says_yes(&self, executors: &[InstanceId], ask: &Ask) -> Option<InstanceId> {
        for to in executors {
            if self.ask(&steps::ADMIN_BEAT, *to, ask.clone()).await == Some(Said::Yes) {
                return Some(*to);
            }
        }
        None
    }

    /// True if the executor has said that it took the call.
    async fn call(&self, to: InstanceId) -> bool {
        let call = Call {
            envelope: self.fire.envelope(),
            row: self.row.clone(),
            message: MessageId(0),
        };
        self.ask(&steps::ADMIN_CALL, to, Ask::Run(call)).await == Some(Said::Yes)
    }

    async fn ask(&self, step: &'static Step, to: InstanceId, ask: Ask) -> Option<Said> {
        let at = At::new(step, &self.fire.ids);
        match self.ports.executors.ask(at, to, ask).await {
            Ok(said) => Some(said),
            Err(error) => {
                self.tell(step, failed(error));
                None
            }
        }
    }

    fn insert(&self) -> Statement {
        let text = self.fire.run.text().clone();
        Statement::Insert {
            table: CALLS,
            key: self.row.clone(),
            cells: vec![
                Expr::from(0),
                Expr::from(0),
                Expr::from(0),
                Expr::Now { plus_ms: 0 },
                Expr::from(i64::from(self.left)),
                Expr::from(self.fire.trace_cell()),
                Expr::Value(Value::Text(text)),
            ],
            // A row without an answer of the database may be there already.
            on_conflict: OnConflict::Ignore,
        }
    }

    /// Once: a row that says nothing is looked after by nobody.
    async fn record(&self, taken: bool) {
        let step = &steps::ADMIN_ANSWER;
        let answer = if taken { TAKEN } else { FAILED };
        let statements = vec![Statement::Update {
            table: CALLS,
            key: self.row.clone(),
            when: Condition::always(),
            set: vec![(calls::ANSWER, Expr::from(answer))],
            required: false,
        }];
        let at = At::new(step, &self.fire.ids);
        if let Err(error) = self.ports.database.execute(at, statements).await {
            self.tell(step, failed(error));
        }
    }

    fn tell(&self, step: &'static Step, what: What) {
        let at = At::new(step, &self.fire.ids);
        self.ports.journal.record(at, what);
    }
}
