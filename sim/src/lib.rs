//! One execution of a scheduled job's whole pipeline, in a world where every clock, message, crash
//! and lock is simulated, and nothing happens by chance.
//!
//! [`Setup`] is a scenario made ready; [`run()`] executes it under a seed and a plan of faults and
//! gives an [`Outcome`]: the history, the judge's verdicts, every site at which something could
//! have gone wrong, and whether the plan's faults took effect. The same set-up, seed and plan give
//! the same history hash on any thread, in any process and build profile.
//!
//! # How an execution works
//!
//! ```text
//!   plan --> injector     agenda: (time, instance, sequence) --> action
//!                |           |                                      |
//!                v           v                                      v
//!   instances' tasks <-- engine (one madsim task) --> transport --> servers
//!   (the pipeline)  --- ports: calls, sleeps, polls --->   database, broker, lock, downstream
//! ```
//!
//! - `engine` pumps the `agenda` and polls the instances' tasks; it is the only file that names
//!   madsim. Time is whole milliseconds; what happens in one of them is ordered by instance and
//!   sequence, never by an executor's queue.
//! - A call (`transport`) has four phases: `before`, `request`, `done` (the server did it)
//!   and `reply`. Each is a site; the `injector` strikes there if the plan says so, and `faults`
//!   holds what each kind does.
//! - Latencies are `keyed` by (seed, instance, step, run, occurrence, leg): taking a fault out of a
//!   plan leaves all others as they were.
//! - `pollers` are woken only when a poll would find something, and timeouts are armed only for
//!   answers that will not come, so that an execution costs what its calls cost.
//! - It ends when nothing is left to happen (*settled*), or at the horizon; `rest` then says what
//!   still holds a run.
//!
//! # Example
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use evidence::Verdict;
//! use scenarios::{Scenario, spec::Plan};
//! use runkey_sim::{Parts, Setup, run};
//!
//! let scenario = Scenario::parse("name = 'two-schedulers'\ndispatch.claim.kind = 'none'", "example")?;
//! let setup = Setup::new(&scenario, Parts::default())?;
//! let outcome = run(&setup, 1, &Plan::empty());
//! assert_eq!(outcome.judgement.verdict, Verdict::Duplicate);
//! assert_eq!(outcome.trace_hash, run(&setup, 1, &Plan::empty()).trace_hash);
//! # Ok(())
//! # }
//! ```

#[cfg(not(madsim))]
compile_error!(
    "runkey simulates with madsim and needs `--cfg madsim`: add to `.cargo/config.toml` of your workspace\n\n[target.'cfg(all())']\nrustflags = [\"--cfg\", \"madsim\"]\n\n[build]\nrustdocflags = [\"--cfg\", \"madsim\"]\n\nor, without a file, run cargo with `--config 'target.\"cfg(all())\".rustflags=[\"--cfg\",\"madsim\"]'`; RUSTFLAGS in the environment replaces these flags and must not be set"
);

#[cfg(madsim)]
mod act;
#[cfg(madsim)]
mod agenda;
#[cfg(madsim)]
mod calls;
#[cfg(madsim)]
mod clock;
#[cfg(madsim)]
mod counts;
#[cfg(madsim)]
mod engine;
#[cfg(madsim)]
mod faults;
#[cfg(madsim)]
mod injector;
#[cfg(madsim)]
mod keyed;
#[cfg(madsim)]
mod outcome;
#[cfg(madsim)]
mod pollers;
#[cfg(madsim)]
mod ports;
#[cfg(madsim)]
mod process;
#[cfg(madsim)]
mod rest;
#[cfg(madsim)]
mod rest_point;
#[cfg(madsim)]
mod run;
#[cfg(madsim)]
mod servers;
#[cfg(madsim)]
mod serving;
#[cfg(madsim)]
mod sessions;
#[cfg(madsim)]
mod setup;
#[cfg(madsim)]
mod stage;
#[cfg(madsim)]
mod state;
#[cfg(madsim)]
mod tasks;
mod timers;
#[cfg(madsim)]
mod transport;
#[cfg(madsim)]
mod watchdog;
#[cfg(madsim)]
mod world;

#[cfg(madsim)]
pub use counts::Counts;
#[cfg(madsim)]
pub use outcome::{Outcome, Reached};
#[cfg(madsim)]
pub use rest_point::{Known, Opaque, RestPoint, State};
#[cfg(madsim)]
pub use run::{run, run_counted, run_until};
#[cfg(madsim)]
pub use servers::downstream::Outside;
#[cfg(madsim)]
pub use setup::{OutsideFactory, Parts, Setup, SetupError};
#[cfg(madsim)]
pub use watchdog::{Cut, EXECUTION_THREAD, WATCHDOG};
