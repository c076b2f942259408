//! What happened in one execution of a scheduled job, and what it means.
//!
//! A scheduled job passes through many hands: a timer fires a **slot** (one planned time), the slot
//! becomes a **run**, the run a **message**, the message a **delivery**, the delivery an
//! **attempt**, and the attempt, at last, an **effect** in the outside world: money moved, an SMS
//! sent. Any of these steps can happen twice or not at all. This crate writes down what happened
//! and says what it comes to.
//!
//! The idea that everything rests on: **runKey = timerId + scheduledTime** ([`RunKey`]). Retries,
//! redeliveries and recovery keep it, so that two effects of one run can be recognised as such,
//! in a log as in a database. Its text is made so that no collation, padding or truncation can
//! merge the keys of two slots.
//!
//! An execution leaves a [`History`]: who took part ([`Cast`]), which slots were due ([`Planned`]),
//! the [`Event`]s in order, each with its instance, its [`Step`] and all its [`Ids`], and what was
//! left in the end ([`Rest`]): what still holds a run, and what the records say. Two executions
//! with the same [`History::hash`] are the same execution, on any machine.
//!
//! [`judge`] reads a history and gives each slot a [`Verdict`]. Only effects and what is left count,
//! never how the pipeline works inside: more than one effect is a `duplicate`, none and nobody left
//! to bring it is `lost`, one effect and a record that calls it failed is `misrecorded`, and so on
//! down to `exactly_once`. Whether that is a failure depends on what was promised ([`Judging`]).
//!
//! [`attribute`] says where a failure was born ([`Layer`]), and it may use only what a person has
//! in logs: two effects with different traces come from two schedulings, two messages of one trace
//! from two publishes, two deliveries of one message from a redelivery. Where an identifier is
//! missing it says which, and does not guess.
//!
//! The crate knows no simulator, no clock and no async runtime: histories of simulations and of
//! real servers are judged by the same code.
//!
//! # Example
//!
//! An executor does the work and dies before its ack; the broker hands the message to another:
//!
//! ```
//! # fn main() -> Result<(), runkey_evidence::RunKeyError> {
//! use runkey_evidence::*;
//!
//! static DELIVER: Step = Step { number: 9, name: "broker.deliver", layer: Layer::Delivery };
//! static PERFORM: Step = Step { number: 20, name: "downstream.perform", layer: Layer::Effect };
//!
//! let slot = Slot { timer: 0, ordinal: 1 };
//! let two: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap_or_default();
//! let run = RunKey::new(&TimerId::new("report"), two)?;
//! assert_eq!(run.as_str(), "report@2026-01-01T02:00:00.000Z");
//!
//! let delivered = |delivery: u32, after_ms| Event {
//!     at: two.plus_ms(after_ms),
//!     instance: InstanceId(0),
//!     incarnation: delivery as u16,
//!     step: &DELIVER,
//!     what: What::Delivered,
//!     ids: Ids {
//!         slot: SlotTag::seal(slot),
//!         run: Some(run.clone()),
//!         message: Some(MessageId(1)),
//!         trace: Some(TraceId(7)),
//!         delivery,
//!         attempt: delivery,
//!     },
//! };
//! let effect = |number, after: Event| Event {
//!     step: &PERFORM,
//!     what: What::Effect { number },
//!     ..after
//! };
//! let history = History {
//!     planned: [Planned { slot, scheduled: two, run: run.clone() }].into(),
//!     events: vec![
//!         delivered(1, 31),
//!         effect(1, delivered(1, 240)),
//!         delivered(2, 30_031),
//!         effect(2, delivered(2, 30_236)),
//!     ],
//!     ..History::default()
//! };
//!
//! let judgement = judge(&history, &Judging::default());
//! assert_eq!(judgement.verdict, Verdict::Duplicate);
//! assert_eq!(judgement.layer, Some(Attribution::Layer(Layer::Delivery)));
//!
//! assert_eq!(history.events[2].describe(&history.cast), "m1, delivery 2");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | holds |
//! |---|---|
//! | `timestamp` | a moment in UTC, and the one place that formats and parses one |
//! | `ids` | slots, timers, messages, traces, instances |
//! | `run_key` | the identity of a run |
//! | `step` | a point of the pipeline and the layer that owns it (the list is `scheduler::steps`) |
//! | `event` | one thing that happened |
//! | `describe` | the same in a person's words |
//! | `history` | everything that happened, and what was left |
//! | `hash` | the identity of a history |
//! | `verdict` | the words of the judge |
//! | `judge` | the judge: `facts`, `promise`, and one file for each verdict |
//! | `layer` | where a verdict was born |

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
