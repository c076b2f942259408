//! `session_lock`: an advisory lock that lives with the connection that took it.
//!
//! **Promises** that two attempts of a key do not run at once, as long as the holder's connection
//! lives, without any deadline.
//! **Breaks** where the connection ends before the work: a restart of the database, a connection
//! that the pool drops. The lock is free at once, and the holder hears of it at its next statement
//! only. Behind a pooler in transaction mode it is given up as soon as it is taken. And after the
//! release: a lock keeps no record. It is modelled as a row that an open transaction has locked.
//! **Source**: B76.

use super::kind::Kind;
use super::open::Open;
use super::record::tell;
use super::{
    BusyPolicy, Entry, Guard, GuardContext, LockBy, OnLost, Outcome, Permit, Settle, Visit,
};
use crate::dispatch::failed;
use crate::ports::{
    At, CallError, Expr, Fut, Isolation, Key, OnConflict, Ports, RowLock, Statement,
};
use crate::tables::LOCKS;
use crate::{Span, Switchable, marks, steps};
use evidence::{Step, What};
use serde::{Deserialize, Serialize};

/// `kind = "session_lock"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionLockConfig {
    /// What the connection is to the database. Default: its own session.
    pub pooling: Pooling,
    /// How often the holder asks whether its connection is still there while it works. Default:
    /// never.
    pub check_every: Switchable,
    /// What is locked. Default: the run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message whose key is locked; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
    /// What happens to the work when the lock is found lost. Default: it goes on.
    pub on_lost: OnLost,
}

/// What a client's connection is to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// A session of its own, for as long as it is open.
    #[default]
    Session,
    /// A pooler gives it a session for one transaction: what belongs to the session is lost at its
    /// end.
    Transaction,
}

impl Kind for SessionLockConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(SessionLock {
            ports: context.instance.ports.clone(),
            config: self.clone(),
            open: Open::default(),
        })
    }

    fn calls(&self) -> Vec<&'static Step> {
        let mut calls = vec![
            &steps::GUARD_ENTER_READ,
            &steps::GUARD_ENTER_WRITE,
            &steps::GUARD_ENTER,
        ];
        if self.pooling == Pooling::Session {
            calls.push(&steps::GUARD_FINISH);
        }
        if self.renewal().is_some() {
            calls.push(&steps::GUARD_HEARTBEAT);
        }
        calls
    }

    fn renewal(&self) -> Option<Span> {
        let session = self.pooling == Pooling::Session;
        self.check_every.0.filter(|_| session)
    }

    fn holds_sessions(&self) -> bool {
        true
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }

    fn on_lost(&self) -> OnLost {
        self.on_lost
    }
}

struct SessionLock {
    ports: Ports,
    config: SessionLockConfig,
    open: Open,
}

fn select(key: &Key, lock: RowLock) -> Statement {
    Statement::Select {
        table: LOCKS,
        key: key.clone(),
        lock,
    }
}

impl SessionLock {
    /// What is locked has to be there, in a transaction that is over.
    async fn make_row(&self, visit: &Visit<'_>, key: &Key) -> Result<(), CallError> {
        let at = At::new(&steps::GUARD_ENTER_READ, visit.ids);
        let look = vec![select(key, RowLock::None)];
        let answers = self.ports.database.execute(at, look).await?;
        if answers
            .last()
            .is_some_and(|answer| !answer.rows().is_empty())
        {
            return Ok(());
        }
        let insert = Statement::Insert {
            table: LOCKS,
            key: key.clone(),
            cells: vec![Expr::from(0), Expr::from(0), Expr::from(0)],
            on_conflict: OnConflict::Ignore,
        };
        let at = At::new(&steps::GUARD_ENTER_WRITE, visit.ids);
        self.ports.database.execute(at, vec![insert]).await?;
        Ok(())
    }

    async fn enter(&self, visit: Visit<'_>) -> Result<Entry, CallError> {
        let key = self.config.lock_key.of(&visit);
        self.make_row(&visit, &key).await?;
        let mut session = self.ports.database.begin(Isolation::default());
        let step = &steps::GUARD_ENTER;
        let at = At::new(step, visit.ids);
        let ends = self.config.pooling == Pooling::Transaction;
        let lock = vec![select(&key, RowLock::SkipLocked)];
        let answers = session.execute(at, lock, ends).await?;
        if answers.last().is_none_or(|answer| answer.rows().is_empty()) {
            tell(&self.ports, step, visit.ids, What::Busy);
            self.ports.journal.mark(&marks::LOCK_BUSY);
            return Ok(Entry::Busy { retry_in: None });
        }
        if !ends {
            self.open.keep(&visit, session);
        }
        Ok(Entry::Run(Permit::first(visit.token)))
    }

    /// A statement on the connection that holds the lock: true if it is still there.
    async fn is_alive(&self, visit: &Visit<'_>, step: &'static Step, ends: bool) -> bool {
        let Some(mut session) = self.open.take(visit) else {
            return false;
        };
        let key = self.config.lock_key.of(visit);
        let asks = vec![select(&key, RowLock::None)];
        match session.execute(At::new(step, visit.ids), asks, ends).await {
            Ok(_) if ends => true,
            Ok(_) => {
                self.open.keep(visit, session);
                true
            }
            Err(error) => {
                tell(&self.ports, step, visit.ids, failed(error));
                false
            }
        }
    }

    fn lost(&self, visit: &Visit<'_>, step: &'static Step) {
        tell(&self.ports, step, visit.ids, What::OwnershipLost);
        self.ports.journal.mark(&marks::LOCK_LOST);
    }
}

impl Guard for SessionLock {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(self.enter(visit))
    }

    fn hold<'a>(&'a self, visit: Visit<'a>, _: &'a Permit) -> Option<Fut<'a, ()>> {
        let every = self.config.renewal()?;
        Some(Box::pin(async move {
            let step = &steps::GUARD_HEARTBEAT;
            loop {
                self.ports.runtime.sleep(every).await;
                if !self.is_alive(&visit, step, false).await {
                    return self.lost(&visit, step);
                }
            }
        }))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let step = &steps::GUARD_FINISH;
            let session = self.config.pooling == Pooling::Session;
            if session && !self.is_alive(&visit, step, true).await {
                self.lost(&visit, step);
            }
            Ok(outcome.settle_without_record())
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::Bench;

    // The database in memory lets one open transaction have all of it, so that a second visit
    // would wait; what two visits do to each other is asserted in the catalogue.
    fn guard(bench: &Bench, pooling: Pooling) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::SessionLock(SessionLockConfig {
            pooling,
            ..SessionLockConfig::default()
        }))
    }

    #[test]
    fn after_the_release_everybody_may_enter() {
        let bench = Bench::new();
        let guard = guard(&bench, Pooling::Session);
        for token in 1..3 {
            let permit = bench.run(&*guard, token);
            let settle = bench.finish(&*guard, token, &permit, Outcome::Succeeded);
            assert_eq!(settle, Settle::Ack);
        }
        assert_eq!(bench.told(), []);
    }

    #[test]
    fn in_transaction_mode_the_lock_is_given_up_at_once() {
        let bench = Bench::new();
        let guard = guard(&bench, Pooling::Transaction);
        bench.run(&*guard, 1);
        bench.run(&*guard, 2);
    }

    #[test]
    fn a_holder_without_a_connection_is_told_at_its_next_statement() {
        let bench = Bench::new();
        let guard = guard(&bench, Pooling::Session);
        let permit = Permit::first(1);
        bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
        assert_eq!(bench.told(), [What::OwnershipLost]);
    }
}
