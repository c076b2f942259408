//! The claim by a lock row per timer: whoever holds the row dispatches.
//!
//! Promises that two schedulers do not dispatch one timer at the same time. It says nothing about
//! the slot: a scheduler whose clock is later than the holder's release (and than `min_hold`) takes
//! the free row and dispatches the same slot again. Source: S1.10, ShedLock's lockAtLeastFor and
//! lockAtMostFor.

use super::{Claim, Fire};
use crate::Instance;
use crate::Span;
use crate::ports::{
    At, CallError, Column, Condition, Expr, Fut, Key, OnConflict, Ports, Statement, Statements,
    Test,
};
use crate::tables::{LOCKS, locks};
use crate::{guards::TimeSource, steps};
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
}

impl Default for LockRowClaimConfig {
    fn default() -> Self {
        LockRowClaimConfig {
            min_hold: Span::ZERO,
            max_hold: Span::secs(1800),
            clock: TimeSource::Node,
        }
    }
}

/// Holds a row of the table of locks.
pub(crate) struct LockRowClaim {
    config: LockRowClaimConfig,
    owner: i64,
}

impl LockRowClaim {
    /// For one incarnation of an instance.
    pub(crate) fn new(config: LockRowClaimConfig, instance: &Instance) -> Self {
        let owner = match instance.identity {
            Some(_) => instance.identity_number() as i64,
            None => i64::from(instance.id.0) << 16 | i64::from(instance.incarnation),
        };
        LockRowClaim { config, owner }
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
                        (locks::UNTIL, self.now(ports, self.config.max_hold)),
                        (locks::OWNER, Expr::from(self.owner)),
                        (locks::SINCE, self.now(ports, Span::ZERO)),
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
