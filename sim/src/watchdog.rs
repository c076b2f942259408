//! Runs code that is not runkey's own on a thread of its own, and cuts it if it never comes back.

use crate::{Known, Outcome, Setup, run, run_until};
use scenarios::spec::Plan;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long an execution with parts of a user's own may take in real time, unless
/// [`Setup::cut_after`] says otherwise. One takes microseconds; whatever takes this long is blocked.
pub const WATCHDOG: Duration = Duration::from_secs(10);

/// The name of the threads on which code that is not runkey's own is executed.
pub const EXECUTION_THREAD: &str = "runkey-execution";

/// Why an execution gave no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// It blocks its thread.
    #[error(
        "a guard, handler or downstream blocked its thread for {after:?}; the thread is left behind"
    )]
    Blocked {
        /// The limit, in real time.
        after: Duration,
    },
    /// A part of the user's own panicked where no attempt could be ended by it.
    #[error("a guard, handler or downstream panicked outside of an attempt: {message}")]
    PartPanicked {
        /// What it said.
        message: String,
    },
    /// It panicked, and no part was anybody's own.
    #[error("the execution panicked outside of the handler")]
    Panicked,
    /// There is no thread to be had.
    #[error("no thread could be started for the execution")]
    NoThread,
}

impl Setup {
    /// The same, with another limit in real time for executions with parts of a user's own.
    pub fn cut_after(self, limit: Duration) -> Self {
        Setup {
            watchdog: limit,
            ..self
        }
    }

    /// Executes the set-up once; with parts of a user's own on a fresh thread, under a watchdog.
    ///
    /// The fresh thread also makes std's HashMap order, rand and uuid repeat: madsim seeds them by
    /// thread.
    ///
    /// # Errors
    ///
    /// If the execution blocks or panics.
    pub fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, Cut> {
        if self.parts.any() {
            return self.execute_apart(seed, plan);
        }
        // What arrives here is a defect of the simulator, and must not take other executions with
        // it.
        catch_unwind(AssertUnwindSafe(|| run(self, seed, plan))).map_err(|_| Cut::Panicked)
    }

    /// Executes the set-up until the world rests in a state that is known; see [`run_until`].
    ///
    /// # Errors
    ///
    /// If the execution blocks or panics.
    pub fn execute_until(&self, seed: u64, plan: &Plan, known: Known<'_>) -> Result<Outcome, Cut> {
        if self.parts.any() {
            return self.execute_apart(seed, plan);
        }
        let watched = || run_until(self, seed, plan, known);
        catch_unwind(AssertUnwindSafe(watched)).map_err(|_| Cut::Panicked)
    }

    fn execute_apart(&self, seed: u64, plan: &Plan) -> Result<Outcome, Cut> {
        let (tell, told) = mpsc::sync_channel(1);
        let (setup, plan) = (self.clone(), plan.clone());
        let spawned = thread::Builder::new()
            .name(EXECUTION_THREAD.to_owned())
            .spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| run(&setup, seed, &plan)));
                // The receiver may have given up.
                let _ = tell.send(outcome.map_err(|panic| Cut::PartPanicked {
                    message: message_of(&*panic),
                }));
            });
        if spawned.is_err() {
            return Err(Cut::NoThread);
        }
        match told.recv_timeout(self.watchdog) {
            Ok(outcome) => outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(Cut::Blocked {
                after: self.watchdog,
            }),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Cut::Panicked),
        }
    }
}

/// What a panic said, where it said something.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}
