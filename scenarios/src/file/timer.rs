//! `[[timer]]`: what is due, and when.

use scheduler::schedules::ScheduleConfig;
use scheduler::{NextFrom, Span};
use serde::{Deserialize, Serialize};

/// One `[[timer]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimerTable {
    /// Its name; the first half of every runKey.
    pub id: String,
    /// When it is due. Default: every day at 02:00 UTC.
    pub schedule: ScheduleConfig,
    /// How many of its planned times are simulated, from the epoch on; one exactly at the epoch
    /// counts.
    pub slots: u32,
    /// From where the next planned time is counted.
    pub next: NextFrom,
    /// How often the timer is registered in each instance (2: a start-up hook that ran twice).
    pub registrations: u32,
    /// The instances that run it; empty: all that run timers.
    pub on: Vec<String>,
    /// queued: how long before its planned time a run is published (a task with an ETA, as Celery
    /// has it); the worker that takes the message holds it, unacked and in its memory, until then,
    /// and goes on taking others.
    #[serde(skip_serializing_if = "Span::is_zero")]
    pub publish_ahead: Span,
}

impl Default for TimerTable {
    fn default() -> Self {
        TimerTable {
            id: "report".to_owned(),
            schedule: ScheduleConfig::default(),
            slots: 2,
            next: NextFrom::FromSlot,
            registrations: 1,
            on: Vec::new(),
            publish_ahead: Span::ZERO,
        }
    }
}
