//! What happened in one execution of a scheduled job, and what it means.

mod describe;
mod event;
mod hash;
mod history;
mod ids;
mod judge;
mod layer;
mod run_key;
mod step;
mod timestamp;
mod verdict;

pub use event::{AttemptEnd, Event, FaultNote, RecordState, What};
pub use hash::TraceHash;
pub use history::{Cast, Ended, Held, History, Holder, Planned, RecordAtRest, Rest};
pub use ids::{Ids, InstanceId, MessageId, Slot, SlotTag, TimerId, TraceId};
pub use judge::{GaveUpAs, Judging, SkippedAs, judge};
pub use layer::attribute;
pub use run_key::{RunKey, RunKeyError};
pub use step::{Layer, Step};
pub use timestamp::{Clock, Timestamp, TimestampError};
pub use verdict::{Attribution, Judgement, Promise, SlotVerdict, Verdict};
