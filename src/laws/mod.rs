//! What every guard must satisfy, whatever it is made of.
//!
//! A guard decides whether an attempt may run. Whether a whole set-up runs a job exactly once
//! depends on more than its guard; what may be asked of the guard alone is written down here as
//! *laws*. Each law is one file: a small set-up that tempts a guard to break it, the faults that may
//! strike there, and how a broken law looks in a history. The set-ups are explored like any other,
//! so that what is shown is the smallest plan that breaks the law.
//!
//! ```no_run
//! # use runkey::*;
//! # struct MyGuard;
//! # impl MyGuard { fn new(_: &Instance) -> Box<dyn Guard> { unimplemented!() } }
//! # #[allow(unused)]
//! #[test]
//! fn my_guard_keeps_the_laws() {
//!     runkey::laws::guard(|instance| MyGuard::new(instance));
//! }
//! ```
//!
//! | law | says |
//! |---|---|
//! | one at a time | while an attempt is at work, no other begins for the same key |
//! | done stays done | once a run is finished as succeeded, nobody runs it again |
//! | no memory needed | the same, in another process and after a restart |
//! | final stays final | once a run has failed for good, nobody runs it again |
//! | a failure is not the end | a run whose attempt failed is tried again |
//! | a crash is not the end | a run whose holder died is run by somebody in the end |
//! | enter can be repeated | a lost answer does not lose the run |
//! | keys do not block each other | a run does not wait for another key's |
//!
//! A lock alone keeps no record, so that it breaks the second, third and fourth: what it needs
//! beside it is then a matter of the whole set-up, see [`check`](crate::check). Where that is so on
//! purpose, compare [`broken_by`] with the list of what may break.
//!
//! The laws assume that a lease or lock ends within ten minutes, and that it outlasts the work of a
//! second without a pause; nothing stands still and no clock jumps while they are tried.

mod crash_is_not_the_end;
mod done_stays_done;
mod enter_can_be_repeated;
mod failure_is_not_the_end;
mod final_stays_final;
mod keys_do_not_block;
mod law;
mod no_memory_needed;
mod one_at_a_time;
mod trial;
mod witness;

pub use law::{Broken, Law};

use crate::facade::{Error, Named, hush_executions};
use scheduler::Instance;
use scheduler::guards::Guard;
use std::sync::Arc;
use trial::Trial;

/// Every law, in the order in which they are tried.
pub static ALL: [&Law; 8] = [
    &one_at_a_time::LAW,
    &done_stays_done::LAW,
    &no_memory_needed::LAW,
    &final_stays_final::LAW,
    &failure_is_not_the_end::LAW,
    &crash_is_not_the_end::LAW,
    &enter_can_be_repeated::LAW,
    &keys_do_not_block::LAW,
];

/// Asserts that a guard keeps every law. `make` is called once for each incarnation of each
/// instance.
///
/// # Panics
///
/// If it breaks one: names the laws, and shows for the first the smallest plan, its timeline and a
/// line that replays it.
#[track_caller]
pub fn guard<G: Guard + 'static>(make: impl Fn(&Instance) -> G + Send + Sync + 'static) {
    match tried(Named::by_test(), make) {
        Ok(broken) if broken.is_empty() => {}
        Ok(broken) => {
            let names: Vec<&str> = broken.iter().map(Broken::law).collect();
            panic!(
                "runkey: the guard breaks {} of {} laws: {}\n\n{}",
                broken.len(),
                ALL.len(),
                names.join(", "),
                broken[0]
            );
        }
        Err(error) => panic!("runkey: {error}"),
    }
}

/// The laws that a guard breaks, each with its smallest plan; empty if it keeps all of them.
///
/// # Errors
///
/// If the guard blocks its thread, panics or does not repeat; if `RUNKEY_REPLAY` does not fit.
pub fn broken_by<G: Guard + 'static>(
    make: impl Fn(&Instance) -> G + Send + Sync + 'static,
) -> Result<Vec<Broken>, Error> {
    tried(Named::by_test(), make)
}

fn tried<G: Guard + 'static>(
    named: Named,
    make: impl Fn(&Instance) -> G + Send + Sync + 'static,
) -> Result<Vec<Broken>, Error> {
    hush_executions();
    let make: Arc<scheduler::topologies::GuardFactory> =
        Arc::new(move |instance| Box::new(make(instance)));
    let mut broken = Vec::new();
    let mut another = None;
    let mut asked = 0;
    for law in ALL {
        match Trial::of(law, &make)?.run(&named) {
            Ok(found) => {
                asked += 1;
                broken.extend(found);
            }
            // A token is of one law.
            Err(error @ Error::AnotherScenario { .. }) => another = Some(error),
            Err(error) => return Err(error),
        }
    }
    match another {
        Some(error) if asked == 0 => Err(error),
        _ => Ok(broken),
    }
}
