//! The claim by a lock row per timer: whoever holds the row dispatches.
//!
//! Promises that two schedulers do not dispatch one timer at the same time. It says nothing about
//! the slot: a scheduler whose clock is later than the holder's release (and than `min_hold`) takes
//! the free row and dispatches the same slot again. A hold that is counted from an earlier moment
//! ends before its time. Source: S1.10, ShedLock's lockAtLeastFor and lockAtMostFor, B25, B28.

use super::{Claim, Fire};
use crate::Instance;
use crate::Span;
use crate::ports::{
    At, CallError, Column, Condition, Expr, Fut, Key, OnConflict, Ports, Statement, Statements,
    Test,
};
use crate::tables::{LOCKS, locks};
use crate::{guards::TimeSource, steps};
use evidence::Timestamp;
use serde::{Deserialize, Serialize};

/// `claim = { kind = "lock_row", .. }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockRowClaimConfig {
    /// The row stays locked at least so long after it was taken. Default: not at all.
    pub min_hold: Span,
    /// The row is free again after so long, whatever its holder does. Default 30 minutes, the
    /// takeover time of S1.10.
    pub max_hold: Span,
    /// Whose clock is compared with the row. Default: the instance's own.
    pub clock: TimeSource,
    /// The moment that a hold is counted from. Default: now, on that clock.
    #[serde(skip_serializing_if = "Base::is_now")]
    pub base: Base,
    /// How long before the claim the caller had opened the transaction that the claim joins; of
    /// `base = "transaction_start"`. Default 60 s (B28).
    #[serde(skip_serializing_if = "is_a_minute")]
    pub opened_before: Span,
}

/// The moment that a hold is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// When the row is written.
    #[default]
    Now,
    /// A time that the instance read once, when it started: a hold is over before it begins as
    /// soon as the instance is older than the hold is long.
    InstanceStart,
    /// The start of a transaction that the caller had opened before: what `now()` says inside it
    /// (PostgreSQL's transaction_timestamp).
    TransactionStart,
}

impl Base {
    const fn is_now(&self) -> bool {
        matches!(self, Base::Now)
    }
}

const A_MINUTE: Span = Span::secs(60);

fn is_a_minute(span: &Span) -> bool {
    *span == A_MINUTE
}

impl Default for LockRowClaimConfig {
    fn default() -> Self {
        LockRowClaimConfig {
            min_hold: Span::ZERO,
            max_hold: Span::secs(1800),
            clock: TimeSource::Node,
            base: Base::Now,
            opened_before: A_MINUTE,
        }
    }
}

/// Holds a row of the table of locks.
pub(crate) struct LockRowClaim {
    config: LockRowClaimConfig,
    owner: i64,
    started: Timestamp,
}

impl LockRowClaim {
    /// For one incarnation of an instance.
    pub(crate) fn new(config: LockRowClaimConfig, instance: &Instance) -> Self {
        let owner = match instance.identity {
            Some(_) => instance.identity_number() as i64,
            None => i64::from(instance.id.0) << 16 | i64::from(instance.incarnation),
        };
        let started = match config.base {
            Base::InstanceStart => instance.ports.clock.now(),
            _ => Timestamp::default(),
        };
        LockRowClaim {
            config,
            owner,
            started,
        }
    }

    /// The moment that a hold is counted from, and so much later.
    fn base(&self, ports: &Ports, plus: Span) -> Expr {
        match self.config.base {
            Base::Now => self.now(ports, plus),
            Base::InstanceStart => Expr::from(self.started.plus_ms(plus.as_i64()).0),
            Base::TransactionStart => Expr::Now {
                plus_ms: plus.as_i64() - self.config.opened_before.as_i64(),
            },
        }
    }

    fn now(&self, ports: &Ports, plus: Span) -> Expr {
        self.config.clock.now(&*ports.clock, plus.as_i64())
    }

    fn mine(&self) -> Condition {
        Condition::all([Test::Is(locks::OWNER, self.owner)])
    }
}

fn key(fire: &Fire) -> Key {
    format!("timer:{}", fire.timer).into()
}

fn update(key: Key, when: Condition, set: Vec<(Column, Expr)>) -> Statement {
    Statement::Update {
        table: LOCKS,
        key,
        when,
        set,
        required: false,
    }
}

impl Claim for LockRowClaim {
    fn acquires(&self) -> bool {
        true
    }

    fn acquire<'a>(&'a self, ports: &'a Ports, fire: &'a Fire) -> Fut<'a, Result<bool, CallError>> {
        Box::pin(async move {
            let key = key(fire);
            let statements = vec![
                Statement::Insert {
                    table: LOCKS,
                    key: key.clone(),
                    cells: vec![Expr::from(i64::MIN), Expr::from(0), Expr::from(0)],
                    on_conflict: OnConflict::Ignore,
                },
                update(
                    key,
                    Condition::all([Test::AtMost(locks::UNTIL, self.now(ports, Span::ZERO))]),
                    vec![
                        (locks::UNTIL, self.base(ports, self.config.max_hold)),
                        (locks::OWNER, Expr::from(self.owner)),
                        (locks::SINCE, self.base(ports, Span::ZERO)),
                    ],
                ),
            ];
            let at = At::new(&steps::DISPATCH_CLAIM, &fire.ids);
            let answers = ports.database.execute(at, statements).await?;
            Ok(answers.last().is_some_and(crate::ports::Answer::changed))
        })
    }

    fn release<'a>(&'a self, ports: &'a Ports, fire: &'a Fire) -> Fut<'a, ()> {
        Box::pin(async move {
            let mut statements = Statements::new();
            // Free from now, but not before the row has been held for min_hold.
            statements.push(update(
                key(fire),
                self.mine(),
                vec![(locks::UNTIL, self.now(ports, Span::ZERO))],
            ));
            if self.config.min_hold > Span::ZERO {
                let earliest = Expr::Plus(locks::SINCE, self.config.min_hold.as_i64());
                statements.push(update(
                    key(fire),
                    Condition::all([
                        Test::Is(locks::OWNER, self.owner),
                        Test::AtMost(locks::UNTIL, earliest.clone()),
                    ]),
                    vec![(locks::UNTIL, earliest)],
                ));
            }
            let at = At::new(&steps::DISPATCH_RELEASE, &fire.ids);
            // A release that fails leaves the row to max_hold.
            let _ = ports.database.execute(at, statements).await;
        })
    }
}
