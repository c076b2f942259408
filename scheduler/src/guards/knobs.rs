//! Knobs that several guards share.

use super::Visit;
use crate::IdentityKey;
use crate::ports::{Clock, Expr, Key};
use serde::{Deserialize, Serialize};

/// What happens to a message whose run is in somebody else's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyPolicy {
    /// It is given back and delivered again later. Default where there is a broker.
    Defer,
    /// It is settled as done without having run. Default where there is none (`local`).
    Drop,
    /// The executor waits and asks again, keeping the message.
    Wait,
}

/// What happens to the work of an attempt that has lost its lease or lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// It goes on: the loss is only noted.
    #[default]
    Continue,
    /// It is cancelled at its next await.
    Cancel,
}

/// How a lock is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// Only if it still carries this owner's token.
    #[default]
    OwnerChecked,
    /// Whoever holds it now: may take away the lock of the next owner.
    Blind,
    /// Not at all: it ends by itself.
    Off,
}

/// Whose clock says when a lease or a hold has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// The instance's wall clock: skew between instances counts.
    Node,
    /// The database's, at the start of each statement.
    #[default]
    Statement,
    /// The database's, at the start of the transaction. The guards ask in one round trip, so that
    /// it differs from `statement` only by the time that a statement waits for a row.
    Transaction,
}

impl TimeSource {
    /// "Now, plus so many milliseconds", for a statement sent now.
    pub(crate) fn now(self, clock: &dyn Clock, plus_ms: i64) -> Expr {
        match self {
            TimeSource::Node => Expr::from(clock.now().plus_ms(plus_ms).0),
            TimeSource::Statement | TimeSource::Transaction => Expr::Now { plus_ms },
        }
    }
}

/// What a lock is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockBy {
    /// One run, by what `[identity] key` compares.
    #[default]
    Run,
    /// The timer: its slots exclude each other.
    Timer,
    /// Everything: unrelated timers exclude each other.
    All,
}

impl LockBy {
    pub(super) fn is_default(&self) -> bool {
        *self == LockBy::Run
    }

    /// The key that is locked.
    pub(super) fn of(self, visit: &Visit<'_>) -> Key {
        match self {
            LockBy::Run => visit.key.clone(),
            LockBy::Timer => IdentityKey::TimerId.of(visit.ids),
            LockBy::All => "all".into(),
        }
    }
}
