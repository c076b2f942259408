//! `[[change]]`: a timer is deleted, created or rescheduled while everything runs (S1.20).
//!
//! A condition, not a fault. Every instance that carries the timer hears of it at once, on its own
//! clock. Nothing removes a timer that is only created once more: the old one fires beside it.

use super::check::Checked;
use super::document::Document;
use super::{Scenario, ScenarioError, TimerTable, repairing};
use scheduler::Span;
use serde::{Deserialize, Serialize};

/// One `[[change]]`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeTable {
    /// When, from the epoch.
    pub at: Span,
    /// What is done.
    #[serde(rename = "do")]
    pub kind: ChangeKind,
    /// The timer.
    pub timer: String,
    /// `create`, `reschedule`: what the timer is from then on, over what its table says: keys of
    /// `[[timer]]`, such as `schedule`.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub set: toml::Table,
    /// `create`, `reschedule`: what becomes of the timer's stored position.
    pub cursor: Cursor,
    /// The timer as it is from then on.
    #[serde(skip)]
    pub becomes: Box<TimerTable>,
}

/// What is done to a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It fires no slot that is planned for later.
    Delete,
    /// It is registered (once more, where nobody has deleted it).
    Create,
    /// It is deleted and created in one.
    #[default]
    Reschedule,
}

impl ChangeKind {
    /// Whether the timer is gone, as far as it was there before.
    pub const fn ends(self) -> bool {
        matches!(self, ChangeKind::Delete | ChangeKind::Reschedule)
    }

    /// Whether there is a timer from then on.
    pub const fn begins(self) -> bool {
        matches!(self, ChangeKind::Create | ChangeKind::Reschedule)
    }
}

/// What becomes of the stored position of a timer that is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cursor {
    /// It stays: slots of the new schedule since then are caught up with.
    #[default]
    Kept,
    /// It is thrown away: the timer begins as a new one.
    Cleared,
}

/// Fills in [`ChangeTable::becomes`].
pub(super) fn build(
    document: &Document<'_>,
    scenario: &mut Scenario,
    path: &str,
) -> Result<(), ScenarioError> {
    let mut changes = std::mem::take(&mut scenario.changes);
    for (place, change) in changes.iter_mut().enumerate() {
        let ids: Vec<&str> = scenario
            .timers
            .iter()
            .map(|timer| timer.id.as_str())
            .collect();
        let at = |key: &str| format!("change.{place}.{key}");
        let Some(timer) = ids.iter().position(|id| *id == change.timer) else {
            let message = format!(
                "there is no timer `{}` here; allowed are {}",
                change.timer,
                ids.join(", ")
            );
            return Err(document.error(&at("timer"), message));
        };
        let changed = repairing::retimed(document, scenario, &at("set"), timer, path)?;
        let table = changed.timers.get(timer).cloned();
        *change.becomes = table.unwrap_or_default();
    }
    scenario.changes = changes;
    Ok(())
}

/// Refuses a change that says what the deleted timer is, or gives it another name.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    for (place, change) in scenario.changes.iter().enumerate() {
        let at = |key: &str| format!("change.{place}.{key}");
        if !change.kind.begins() && !change.set.is_empty() {
            let message = "`set` says what a timer becomes; a deleted one becomes nothing";
            return Err(document.key_error(&at("set"), message));
        }
        if change.becomes.id != change.timer {
            let message =
                "a change cannot rename a timer: its id is the first half of every runKey";
            return Err(document.error(&at("set"), message));
        }
    }
    Ok(())
}
