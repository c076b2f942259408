//! Can this scheduled or queued job run twice, or never, and by which smallest chain of faults?
//!
//! runkey runs a complete scheduler -> queue -> executor pipeline inside a deterministic simulator,
//! injects the faults that cause duplicates in production, and judges every execution by what
//! reached the outside world. This crate is what tests use; the command `runkey` does the same for
//! scenario files.
//!
//! # The words
//!
//! A **timer** is due at **slots**. A slot becomes a **run**, known by its *run key* (timer and
//! scheduled time); the run is published as a **message**, handed over in **deliveries**, worked on
//! in **attempts**; and an attempt makes an **effect** in the outside world. Effects are what is
//! judged: more than one for a slot is a [duplicate](Verdict::Duplicate), none and nobody left to
//! make it is [lost](Verdict::Lost), one and all at rest is
//! [exactly once](Verdict::ExactlyOnce).
//!
//! A **guard** decides whether an attempt may run. A **plan** is what goes wrong in one execution: a
//! list of **faults**, each at a point that the execution reaches, such as `crash@broker.ack`. A
//! **scenario** is a set-up; with a seed (how long messages take) and a plan it determines the
//! execution.
//!
//! # A toy
//!
//! A scheduler, a queue, an executor, and no protection at all. What is the smallest plan that makes
//! the job run twice?
//!
//! ```
//! use runkey::Verdict;
//!
//! let report = runkey::check_toml(
//!     "
//!     [topology]
//!     kind = 'queued'
//!     schedulers = 1
//!     executors = 1
//!     ",
//! )
//! .faults(1)
//! .assert_verdict(Verdict::Duplicate);
//!
//! assert_eq!(report.faults_needed(), Some(1));
//! assert_eq!(report.effects(), Some(2));
//! assert!(report.to_string().contains("DUPLICATE"));
//! ```
//!
//! The report prints as a timeline with the reason and a line that replays it. The same with what
//! is recommended holds, under every plan of one fault:
//!
//! ```
//! let report = runkey::check("recommended-stack").faults(1).seeds(1..=2).assert_exactly_once();
//! assert!(report.exhausted());
//! assert!(report.plans() > 100);
//! ```
//!
//! # Your own guard
//!
//! A guard is built once for each incarnation of each instance, from the [`Instance`] and its
//! [`Ports`]. This one marks a run in a lock that never ends, and leaves it at that:
//!
//! ```
//! use runkey::ports::{At, Token};
//! use runkey::{
//!     CallError, Entry, Fut, Guard, Outcome, Permit, Ports, Settle, Verdict, Visit, check, laws, steps,
//! };
//!
//! struct MarkFirst {
//!     ports: Ports,
//! }
//!
//! impl Guard for MarkFirst {
//!     fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
//!         Box::pin(async move {
//!             let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
//!             let mine = Token(visit.token);
//!             match self.ports.locks.set_if_absent(at, visit.key, mine, None).await? {
//!                 true => Ok(Entry::Run(Permit::first(visit.token))),
//!                 false => Ok(Entry::Taken),
//!             }
//!         })
//!     }
//!
//!     fn finish<'a>(
//!         &'a self,
//!         _: Visit<'a>,
//!         _: &'a Permit,
//!         outcome: Outcome,
//!     ) -> Fut<'a, Result<Settle, CallError>> {
//!         Box::pin(async move { Ok(outcome.settle_without_record()) })
//!     }
//! }
//!
//! // Whoever dies after the mark leaves a run that nobody will ever touch again.
//! let report = check("recommended-stack")
//!     .guard(|instance| MarkFirst { ports: instance.ports.clone() })
//!     .faults(1)
//!     .seeds(1..=1)
//!     .assert_verdict(Verdict::Lost);
//! assert_eq!(report.faults_needed(), Some(1));
//!
//! // What may be asked of a guard alone says the same in other words.
//! let broken = laws::broken_by(|instance| MarkFirst { ports: instance.ports.clone() })?;
//! let names: Vec<&str> = broken.iter().map(|broken| broken.law()).collect();
//! assert_eq!(
//!     names,
//!     ["a failure is not the end", "a crash is not the end", "enter can be repeated"]
//! );
//! # Ok::<(), runkey::Error>(())
//! ```
//!
//! `docs/testing-your-own-guard.md` goes on from here: a guard that holds, handlers, outside worlds,
//! replaying, and what works inside the simulator.
//!
//! # Map
//!
//! | item | is |
//! |---|---|
//! | [`check()`], [`check_toml`], [`Check`], [`Report`], [`Error`] | a set-up checked from a test |
//! | [`laws`] | what every guard must satisfy |
//! | [`Guard`], [`Handler`], [`Outside`], [`Instance`], [`Ports`], [`ports`] | what your own parts implement and use |
//! | [`guards`], [`effects`], [`steps`], [`tables`] | the built-in ones; where in the pipeline; which rows |
//! | [`observe`] | log lines with all identifiers, counts, health |
//! | [`report`] | what a person and a program read about an execution or a check |
//! | [`evidence`], [`scenarios`], [`sim`] | histories and verdicts; scenario files, plans, tokens; one execution |

mod facade;
pub mod laws;
pub mod report;

pub use facade::{Check, Error, Report, Source, check, check_toml};

pub use evidence::{self, Attribution, Layer, Verdict};
pub use scenarios::spec::Space;
pub use scenarios::{self, Scenario};
pub use scheduler::guards::{self, Entry, Guard, Outcome, Permit, Retries, Settle, Visit};
pub use scheduler::handler::{Ctx, Handler, HandlerError};
pub use scheduler::ports::{self, CallError, Fut, Key, Ports};
pub use scheduler::{Instance, Span, effects, observe, steps, tables};
pub use sim::{self, Outside};

/// The page's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/testing-your-own-guard.md")]
mod testing_your_own_guard {}

/// README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
