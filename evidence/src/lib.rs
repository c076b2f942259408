//! What happened in one execution of a scheduled job, and what it means.

mod event;
mod history;
mod ids;
mod run_key;
mod step;
mod timestamp;
mod verdict;

pub use event::{AttemptEnd, Event, FaultNote, RecordState, What};
pub use history::{Cast, Ended, Held, History, Holder, Planned, RecordAtRest, Rest};
pub use ids::{Ids, InstanceId, MessageId, Slot, SlotTag, TimerId, TraceId};
pub use run_key::{RunKey, RunKeyError};
pub use step::{Layer, Step};
pub use timestamp::{Clock, Timestamp, TimestampError};
pub use verdict::{Attribution, Judgement, Promise, SlotVerdict, Verdict};
