//! The claim by a version column: the row is written where its version is still the one that was
//! read.
//!
//! Promises that of all who read the same version one claims the slot. The position moves with the
//! claim: whoever dies between claim and publish takes the run along, unless a row of the outbox
//! goes with the claim. A position remembers the last slot only: whoever hears nothing of its claim
//! for longer than the next slot takes can no longer tell that it was its own. Source: S1.11.

use super::position::{Position, PositionClaim};
use super::statements::moved;
use super::{Claim, Fire};
use crate::ports::{Condition, Expr, Statement, Test};
use crate::tables::{TIMERS, timers};

/// Writes version + 1 where the version is the one read.
pub(crate) struct CompareVersion;

impl Claim for CompareVersion {
    fn by_position(&self) -> Option<&dyn PositionClaim> {
        Some(self)
    }
}

impl PositionClaim for CompareVersion {
    fn write(&self, seen: &Position, fire: &Fire) -> Option<Statement> {
        let mut set = moved(fire);
        set.push((timers::VERSION, Expr::Plus(timers::VERSION, 1)));
        set.push((timers::OWNER, Expr::from(fire.trace_cell())));
        Some(Statement::Update {
            table: TIMERS,
            key: fire.timer.text().clone(),
            when: Condition::all([Test::Is(timers::VERSION, seen.version)]),
            set,
            required: true,
        })
    }
}
