//! What guards and downstream compare to recognise a run.

use crate::ports::Key;
use evidence::Ids;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `[identity] key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityKey {
    /// timerId + scheduledTime: the same for every copy of a run, different for every slot.
    #[default]
    RunKey,
    /// The timer alone: every later slot looks like the first.
    TimerId,
    /// The message: a repeated publish looks like another run.
    MessageId,
    /// A row id minted when a slot becomes a run: two schedulers make two.
    Fresh,
}

impl IdentityKey {
    /// The text to compare; empty where the identifier does not exist (`message_id` in `local`
    /// falls back to `fresh`).
    pub fn of(self, ids: &Ids) -> Key {
        let fresh = || {
            ids.trace
                .map_or_else(|| Arc::from(""), |trace| trace.to_string().into())
        };
        match self {
            IdentityKey::RunKey => ids
                .run
                .as_ref()
                .map_or_else(|| Arc::from(""), |run| run.text().clone()),
            IdentityKey::TimerId => ids
                .run
                .as_ref()
                .and_then(|run| run.as_str().rsplit_once('@'))
                .map_or_else(|| Arc::from(""), |(timer, _)| timer.into()),
            IdentityKey::MessageId => ids
                .message
                .map_or_else(fresh, |message| message.to_string().into()),
            IdentityKey::Fresh => fresh(),
        }
    }
}
