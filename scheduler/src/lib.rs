//! The pipeline under test: from a timer that fires to an effect in the outside world.
//!
//! Three places decide whether a scheduled job runs once, and each is chosen on its own:
//!
//! 1. [`dispatch`]: a slot becomes a run, and the run a message. Who may do it (the *claim*), and in
//!    which *order* are the message published and the timer's position recorded?
//! 2. [`guards`]: a delivery becomes an attempt. May this one run, or has another one had it?
//! 3. [`effects`]: the attempt changes the outside world. What protects that against the second
//!    attempt?
//!
//! Around them: [`schedules`] says when a timer is due, the [`executor`] takes a delivery from guard
//! to ack, [`recovery`] brings back runs whose owner is gone, and [`topologies`] wires the parts
//! into processes. A guard, a protection, a claim, a schedule: one file each.
//!
//! ```text
//!   timer.wait > timer.fire > dispatch.claim > broker.publish      a scheduler
//!                                                   |
//!   broker.deliver > guard.enter > downstream.perform > guard.finish > broker.ack   an executor
//! ```
//!
//! The names are [`steps`]: the append-only list in which faults, events and tokens speak.
//!
//! Nothing here knows a simulator or an async runtime. All that the pipeline touches outside itself
//! goes through the traits in [`ports`]: the simulator implements them, the in-memory servers of
//! [`memory`] do, and real servers will. It is the same code in all of them.
//!
//! # Example
//!
//! When is a daily report due around the day on which Berlin skips an hour, and under which keys?
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use evidence::{TimerId, Timestamp};
//! use runkey_scheduler::schedules::{Schedule, ScheduleConfig, Timetable};
//!
//! let epoch: Timestamp = "2026-03-28T00:00:00Z".parse()?;
//! let config = ScheduleConfig::Cron {
//!     cron: "0 30 2 * * *".to_owned(),
//!     zone: "Europe/Berlin".to_owned(),
//! };
//! let schedule = Schedule::compile(&config, epoch)?;
//! let timetable = Timetable::new(0, &TimerId::new("report"), &schedule, epoch, 2)?;
//! let keys: Vec<&str> = timetable.planned().iter().map(|planned| planned.run.as_str()).collect();
//! assert_eq!(keys, ["report@2026-03-28T01:30:00.000Z", "report@2026-03-29T01:00:00.000Z"]);
//! # Ok(())
//! # }
//! ```

mod ahead;
mod backoff;
mod cancelling;
mod catch_panic;
pub mod dispatch;
pub mod effects;
pub mod executor;
pub mod guards;
pub mod handler;
mod identity;
mod instance;
pub mod marks;
pub mod memory;
pub mod observe;
mod permits;
pub mod ports;
mod race;
pub mod recovery;
pub mod routes;
pub mod row_queue;
pub mod schedules;
mod session;
mod signal;
mod span;
pub mod steps;
pub mod tables;
mod timer;
pub mod topologies;
pub mod weakness;
pub mod work;

pub use identity::IdentityKey;
pub use instance::Instance;
pub use session::{Belief, SessionTerms};
pub use span::{Span, Switchable};
pub use timer::{Life, NextFrom, Timer};
