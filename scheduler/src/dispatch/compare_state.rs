//! The claim by a state column: the row turns from waiting to acquired, is dispatched, and waits
//! for its next slot again.
//!
//! Promises that of all who find the row waiting one acquires it. Breaks where only the state is
//! compared and somebody else goes through a whole cycle between read and write: the row waits
//! again, as if nothing had happened (ABA). A crash leaves the row acquired, until another takes it
//! over after `recover_after`; whoever is merely slower than that has its row taken away at work.
//! Source: B01, B09; Quartz's JobStoreSupport, which acquires triggers without the cluster's lock
//! unless acquireTriggersWithinLock is set.

use super::position::{ACQUIRED, Position, PositionClaim, WAITING};
use super::statements::moved;
use super::{Claim, Fire};
use crate::ports::{Condition, Expr, Statement, Test};
use crate::tables::{TIMERS, timers};
use crate::{Span, Switchable};
use serde::{Deserialize, Serialize};

/// `claim = { kind = "compare_state", .. }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CompareStateConfig {
    /// What must still be as it was read. Default: the state alone, as in Quartz.
    pub compare: Compare,
    /// An acquired row may be acquired by another after so long; `"off"`: never. Default 15 s:
    /// Quartz calls a node failed when it has not checked in for its interval (7.5 s) and 7.5 s more
    /// (JobStoreSupport, clusterCheckinInterval and calcFailedIfAfter).
    pub recover_after: Switchable,
}

impl Default for CompareStateConfig {
    fn default() -> Self {
        CompareStateConfig {
            compare: Compare::State,
            recover_after: Switchable(Some(Span::secs(15))),
        }
    }
}

/// What must still be as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// The state: waiting.
    State,
    /// The state and the slot that is next, and later that the row is still this claim's.
    StateAndSlot,
}

/// Acquires the timer's row, and gives it back with its position moved.
pub(crate) struct CompareState(CompareStateConfig);

impl CompareState {
    pub(crate) const fn new(config: CompareStateConfig) -> Self {
        CompareState(config)
    }

    /// The row waits, or was acquired too long ago.
    fn free(&self, seen: &Position) -> Condition {
        let same = || match self.0.compare {
            Compare::State => None,
            Compare::StateAndSlot => Some(Test::Is(timers::CURSOR, seen.cursor)),
        };
        let waiting = Test::Is(timers::STATE, WAITING);
        let condition = Condition::all([waiting].into_iter().chain(same()));
        let Some(after) = self.0.recover_after.0 else {
            return condition;
        };
        let long_ago = Expr::Now {
            plus_ms: -after.as_i64(),
        };
        let abandoned = [
            Test::Is(timers::STATE, ACQUIRED),
            Test::AtMost(timers::SINCE, long_ago),
        ];
        condition.or_all(abandoned.into_iter().chain(same()))
    }
}

fn update(fire: &Fire, when: Condition, set: Vec<(crate::ports::Column, Expr)>) -> Statement {
    Statement::Update {
        table: TIMERS,
        key: fire.timer.text().clone(),
        when,
        set,
        required: true,
    }
}

impl Claim for CompareState {
    fn by_position(&self) -> Option<&dyn PositionClaim> {
        Some(self)
    }
}

impl PositionClaim for CompareState {
    fn write(&self, seen: &Position, fire: &Fire) -> Option<Statement> {
        let set = vec![
            (timers::STATE, Expr::from(ACQUIRED)),
            (timers::OWNER, Expr::from(fire.trace_cell())),
            (timers::SINCE, Expr::Now { plus_ms: 0 }),
        ];
        Some(update(fire, self.free(seen), set))
    }

    fn holds(&self, seen: &Position, fire: &Fire) -> bool {
        seen.acquired && seen.owner == fire.trace_cell()
    }

    fn let_go(&self, fire: &Fire) -> Option<Statement> {
        let mine = match self.0.compare {
            Compare::State => None,
            Compare::StateAndSlot => Some(Test::Is(timers::OWNER, fire.trace_cell())),
        };
        let acquired = Test::Is(timers::STATE, ACQUIRED);
        let mut set = moved(fire);
        set.push((timers::STATE, Expr::from(WAITING)));
        let when = Condition::all([acquired].into_iter().chain(mine));
        Some(update(fire, when, set))
    }

    fn look_again(&self) -> Option<Span> {
        self.0.recover_after.0
    }
}
