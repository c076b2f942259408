//! Dispatch: how a slot becomes a run, and a run becomes a message.
//!
//! Two choices are made one by one: who may dispatch the slot (the *claim*, one file each) and in
//! which *order* the message is published and the timer's position recorded. Both are read from
//! [`DispatchConfig`].

mod by_position;
mod compare_state;
mod compare_version;
mod dispatcher;
mod fire;
mod leader;
mod lock_row;
mod none;
mod order;
mod position;
mod relay;
mod resume;
mod select_for_update;
mod statements;
mod unique_run_key;

pub use compare_state::{Compare, CompareStateConfig};
pub use dispatcher::Dispatcher;
pub use fire::Fire;
pub use leader::{LeaderClaimConfig, LeaderVia};
pub use lock_row::{Base, LockRowClaimConfig};
pub use relay::{RELAY_AFTER, relay};
pub use resume::resume;
pub use select_for_update::{LockedRow, LocksPer, ReadsFrom, SelectForUpdateConfig};

pub(crate) use dispatcher::failed;
pub(crate) use leader::{Leadership, Led};
pub(crate) use position::{ACQUIRED, Position, WAITING};
pub(crate) use resume::{due, enrol, ordinal_from};

use crate::ports::{CallError, Fut, Ports, Statements, Table};
use crate::{Instance, Span};
use serde::{Deserialize, Serialize};

/// `[dispatch]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DispatchConfig {
    /// Who may dispatch a slot.
    pub claim: ClaimConfig,
    /// In which order the message is published and the position recorded.
    pub order: Order,
    /// What a starting instance does about slots that nobody dispatched.
    pub catch_up: CatchUp,
    /// Where the timers' positions are kept.
    #[serde(skip_serializing_if = "Cursor::is_stored")]
    pub cursor: Cursor,
    /// How often the relay looks for outbox rows that were left behind. Default 1 s.
    pub relay_every: Span,
}

impl Default for DispatchConfig {
    fn default() -> Self {
        DispatchConfig {
            claim: ClaimConfig::UniqueRunKey,
            order: Order::Outbox,
            catch_up: CatchUp::All,
            cursor: Cursor::Stored,
            relay_every: Span::secs(1),
        }
    }
}

/// `[dispatch] claim`: who may dispatch a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClaimConfig {
    /// Everybody: every scheduler dispatches every slot.
    None,
    /// Whoever inserts the runKey first.
    UniqueRunKey,
    /// Whoever holds the timer's lock row.
    LockRow(LockRowClaimConfig),
    /// Whoever believes that it leads.
    Leader(LeaderClaimConfig),
    /// Whoever has locked a row with SELECT FOR UPDATE and then finds the slot ahead of the
    /// timer's position.
    SelectForUpdate(SelectForUpdateConfig),
    /// Whoever turns the timer's row from waiting to acquired.
    CompareState(CompareStateConfig),
    /// Whoever finds the version of the timer's row as it was when it read it.
    CompareVersion,
}

impl ClaimConfig {
    /// As written in files.
    pub const fn name(&self) -> &'static str {
        match self {
            ClaimConfig::None => "none",
            ClaimConfig::UniqueRunKey => "unique_run_key",
            ClaimConfig::LockRow(_) => "lock_row",
            ClaimConfig::Leader(_) => "leader",
            ClaimConfig::SelectForUpdate(_) => "select_for_update",
            ClaimConfig::CompareState(_) => "compare_state",
            ClaimConfig::CompareVersion => "compare_version",
        }
    }

    /// Whether it is the timer's row that is claimed, by its position.
    pub const fn is_by_position(&self) -> bool {
        matches!(
            self,
            ClaimConfig::SelectForUpdate(_)
                | ClaimConfig::CompareState(_)
                | ClaimConfig::CompareVersion
        )
    }

    /// Whether the claim itself moves the timer's position past the slot, so that nobody can
    /// record it later.
    pub const fn moves_position(&self) -> bool {
        matches!(
            self,
            ClaimConfig::SelectForUpdate(_) | ClaimConfig::CompareVersion
        )
    }

    /// Builds the claim for one incarnation of an instance. `table` is where the unique runKey
    /// lives: the table of runs where the guard shares it, else a table of its own.
    pub(crate) fn build(&self, instance: &Instance, table: Table) -> Box<dyn Claim> {
        match self {
            // Whether its instance leads is asked before a slot comes so far.
            ClaimConfig::None | ClaimConfig::Leader(_) => Box::new(none::NoClaim),
            ClaimConfig::UniqueRunKey => Box::new(unique_run_key::UniqueRunKey::new(table)),
            ClaimConfig::LockRow(config) => {
                Box::new(lock_row::LockRowClaim::new(config.clone(), instance))
            }
            ClaimConfig::SelectForUpdate(config) => {
                Box::new(select_for_update::SelectForUpdate::new(*config))
            }
            ClaimConfig::CompareState(config) => {
                Box::new(compare_state::CompareState::new(*config))
            }
            ClaimConfig::CompareVersion => Box::new(compare_version::CompareVersion),
        }
    }
}

/// `[dispatch] order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Publish, then record the position: a crash in between publishes again.
    DispatchThenAdvance,
    /// Record the position, then publish: a crash in between loses the run.
    AdvanceThenDispatch,
    /// Publish inside the database transaction that claims and records: the commit can still fail
    /// after the publish.
    OneTransaction,
    /// Claim, position and an outbox row in one transaction; a relay publishes the row.
    Outbox,
}

/// `[dispatch] catch_up`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// Every slot since the last recorded one.
    All,
    /// Only the latest of them.
    One,
    /// None of them: the slots of the downtime are not dispatched.
    None,
}

/// `[dispatch] cursor`: where the timers' positions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cursor {
    /// In the database: whoever starts, or comes to lead, goes on from the last slot dispatched.
    #[default]
    Stored,
    /// In the memory of whoever fires: it begins with the first slot that is still to come, and
    /// `catch_up` has nothing to look back to.
    Memory,
}

impl Cursor {
    /// Whether it is as it was before there was a choice.
    const fn is_stored(&self) -> bool {
        matches!(self, Cursor::Stored)
    }
}

/// Decides which instance may dispatch a slot.
pub(crate) trait Claim: Send + Sync {
    /// A call of its own before the dispatch; false: somebody else has the slot.
    fn acquire<'a>(&'a self, ports: &'a Ports, fire: &'a Fire) -> Fut<'a, Result<bool, CallError>> {
        let _ = (ports, fire);
        Box::pin(std::future::ready(Ok(true)))
    }

    /// Statements for the transaction that makes the run; a conflict means that somebody else has
    /// the slot.
    fn statements(&self, fire: &Fire, creates_record: bool) -> Statements {
        let _ = (fire, creates_record);
        Statements::new()
    }

    /// Whether [`Claim::acquire`] makes a call.
    fn acquires(&self) -> bool {
        false
    }

    /// How the timer's row is claimed, where that is the claim.
    fn by_position(&self) -> Option<&dyn position::PositionClaim> {
        None
    }

    /// After the dispatch.
    fn release<'a>(&'a self, ports: &'a Ports, fire: &'a Fire) -> Fut<'a, ()> {
        let _ = (ports, fire);
        Box::pin(std::future::ready(()))
    }

    /// The table whose row tells, after an unknown outcome, whether the claim is our own.
    fn table(&self) -> Option<Table> {
        None
    }
}
