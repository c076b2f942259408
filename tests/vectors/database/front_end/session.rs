//! Transactions, savepoints and settings.

use super::normalise::Asides;
use super::scalar::literal;
use super::{FrontEnd, Prepared, Unsupported, simple, unsupported};
use scheduler::ports::sql::{Query, Setting};
use scheduler::ports::{Isolation, Value};
use servers::database::Flavor;
use sqlparser::ast::{
    ContextModifier, Expr, Set, Statement, TransactionIsolationLevel, TransactionMode,
};

impl FrontEnd {
    pub(super) fn of_session(
        &self,
        statement: &Statement,
        asides: &Asides,
    ) -> Result<Prepared, Unsupported> {
        let query = match statement {
            Statement::StartTransaction { modes, .. } => Query::Begin {
                snapshot: asides.snapshot,
                isolation: level_of(modes)?,
            },
            Statement::Commit { chain: false, .. } => Query::Commit,
            Statement::Rollback {
                chain: false,
                savepoint: None,
            } => Query::Rollback,
            Statement::Rollback {
                chain: false,
                savepoint: Some(name),
            } => Query::RollbackTo(name.value.as_str().into()),
            Statement::Savepoint { name } => Query::Savepoint(name.value.as_str().into()),
            Statement::ReleaseSavepoint { name } => {
                Query::ReleaseSavepoint(name.value.as_str().into())
            }
            Statement::Set(set) => return self.set(set, asides.system),
            other => {
                let text = other.to_string();
                let words: Vec<&str> = text.split_whitespace().take(2).collect();
                return unsupported(format!("the statement {}", words.join(" ")));
            }
        };
        Ok(Prepared::silent(query))
    }

    fn set(&self, set: &Set, system: bool) -> Result<Prepared, Unsupported> {
        match set {
            Set::SingleAssignment {
                scope,
                variable,
                values,
                ..
            } => {
                if *scope == Some(ContextModifier::Local) {
                    return unsupported("SET LOCAL");
                }
                let [value] = values.as_slice() else {
                    return unsupported("SET of several values");
                };
                let name = simple(variable);
                let name = name.trim_start_matches("@@");
                let whole = variable.to_string().to_lowercase();
                let everywhere = system
                    || *scope == Some(ContextModifier::Global)
                    || whole.starts_with("@@global.");
                Ok(Prepared {
                    everywhere,
                    ..Prepared::silent(Query::Set(self.setting(name, value)?))
                })
            }
            Set::SetTransaction {
                modes,
                snapshot: None,
                session: true,
            } => match level_of(modes)? {
                Some(level) => Ok(Prepared::silent(Query::Set(Setting::Isolation(level)))),
                None => Ok(Prepared::silent(Query::Set(Setting::Nothing))),
            },
            Set::SetTransaction { .. } => unsupported("SET TRANSACTION for one transaction"),
            Set::SetTimeZone { .. } => unsupported("SET TIME ZONE"),
            Set::SetNames { .. } => Ok(Prepared::silent(Query::Set(Setting::Nothing))),
            _ => unsupported("a SET of another kind"),
        }
    }

    fn setting(&self, name: &str, value: &Expr) -> Result<Setting, Unsupported> {
        let setting = match (self.flavor, name) {
            (Flavor::Postgres, "lock_timeout") => Setting::LockWait(never(duration(value)?)),
            (Flavor::Postgres, "deadlock_timeout") => Setting::DeadlockCheck(duration(value)?),
            (Flavor::Postgres, "idle_in_transaction_session_timeout") => {
                Setting::IdleInTransaction(never(duration(value)?))
            }
            (Flavor::Postgres, "idle_session_timeout") => {
                Setting::IdleSession(never(duration(value)?))
            }
            (Flavor::Postgres, "synchronous_commit") => Setting::Durable(word(value) != "off"),
            // How late a commit that is not waited for is written: it is never, here.
            (Flavor::Postgres, "wal_writer_delay") => Setting::Nothing,
            (Flavor::Postgres, "default_transaction_isolation") => {
                Setting::Isolation(named_level(&word(value))?)
            }
            (Flavor::MariaDb, "tx_isolation" | "transaction_isolation") => {
                Setting::Isolation(named_level(&word(value))?)
            }
            (Flavor::MariaDb, "innodb_lock_wait_timeout") => {
                Setting::LockWait(Some(seconds(value)?))
            }
            (Flavor::MariaDb, "wait_timeout") => Setting::IdleSession(Some(seconds(value)?)),
            (Flavor::MariaDb, "idle_transaction_timeout") => {
                Setting::IdleInTransaction(never(seconds(value)?))
            }
            (Flavor::MariaDb, "innodb_snapshot_isolation") => {
                Setting::SnapshotIsolation(is_on(value))
            }
            (Flavor::MariaDb, "innodb_flush_log_at_trx_commit") => {
                Setting::Durable(word(value) == "1")
            }
            (Flavor::MariaDb, "autocommit") => Setting::Autocommit(is_on(value)),
            // They say who the client is.
            (_, "application_name" | "client_min_messages") => Setting::Nothing,
            (_, other) => return unsupported(format!("SET {other}")),
        };
        Ok(setting)
    }
}

fn level_of(modes: &[TransactionMode]) -> Result<Option<Isolation>, Unsupported> {
    let mut level = None;
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(given) => {
                level = Some(match given {
                    TransactionIsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
                    TransactionIsolationLevel::ReadCommitted => Isolation::ReadCommitted,
                    TransactionIsolationLevel::RepeatableRead => Isolation::RepeatableRead,
                    TransactionIsolationLevel::Serializable => Isolation::Serializable,
                    TransactionIsolationLevel::Snapshot => return unsupported("SNAPSHOT"),
                });
            }
            TransactionMode::AccessMode(_) => return unsupported("READ ONLY, READ WRITE"),
        }
    }
    Ok(level)
}

/// An isolation level by its name, as the vectors and both servers write it.
pub fn named_level(name: &str) -> Result<Isolation, Unsupported> {
    match name.to_lowercase().replace(['-', '_'], " ").as_str() {
        "read uncommitted" => Ok(Isolation::ReadUncommitted),
        "read committed" => Ok(Isolation::ReadCommitted),
        "repeatable read" => Ok(Isolation::RepeatableRead),
        "serializable" => Ok(Isolation::Serializable),
        other => unsupported(format!("the isolation level {other}")),
    }
}

/// The value of a setting as a word: `ON`, `'on'`, `1`.
fn word(value: &Expr) -> String {
    match literal(value) {
        Ok(Value::Text(text)) => text.to_lowercase(),
        Ok(Value::Int(number)) => number.to_string(),
        _ => value.to_string().to_lowercase(),
    }
}

fn is_on(value: &Expr) -> bool {
    matches!(word(value).as_str(), "on" | "1" | "true")
}

fn seconds(value: &Expr) -> Result<u64, Unsupported> {
    match word(value).parse::<u64>() {
        Ok(seconds) => Ok(seconds * 1_000),
        Err(_) => unsupported("a time that is no number of seconds"),
    }
}

/// PostgreSQL's way to write a time: milliseconds, or a number with a unit.
fn duration(value: &Expr) -> Result<u64, Unsupported> {
    let text = word(value);
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit_ms = match text[end..].trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return unsupported("a time in another unit"),
    };
    match text[..end].parse::<u64>() {
        Ok(number) => Ok(number * unit_ms),
        Err(_) => unsupported("a time that is no number"),
    }
}

/// 0 is never, in both servers.
fn never(ms: u64) -> Option<u64> {
    (ms > 0).then_some(ms)
}
