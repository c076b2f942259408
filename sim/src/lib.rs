//! One deterministic execution of a scenario under a plan of faults.

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
mod run;
#[cfg(madsim)]
mod servers;
#[cfg(madsim)]
mod serving;
#[cfg(madsim)]
mod setup;
#[cfg(madsim)]
mod tasks;
#[cfg(madsim)]
mod transport;
#[cfg(madsim)]
mod watchdog;
#[cfg(madsim)]
mod world;

#[cfg(madsim)]
pub use outcome::{Outcome, Reached};
#[cfg(madsim)]
pub use run::run;
#[cfg(madsim)]
pub use servers::downstream::Outside;
#[cfg(madsim)]
pub use setup::{OutsideFactory, Parts, Setup, SetupError};
#[cfg(madsim)]
pub use watchdog::{Cut, EXECUTION_THREAD, WATCHDOG};
