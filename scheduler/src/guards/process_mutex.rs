//! `process_mutex`: one attempt per key inside one process.
//!
//! **Promises** that two workers of one incarnation of one instance never run the same key at once.
//! **Breaks** as soon as there is a second process, and with every redelivery after the first
//! attempt has ended: a mutex says who is inside, not who has been.
//! **Source**: S1.9.

use super::kind::Kind;
use super::record::tell;
use super::{BusyPolicy, Entry, Guard, GuardContext, LockBy, Outcome, Permit, Settle, Visit};
use crate::ports::{CallError, Fut, Key, Ports};
use crate::steps;
use evidence::What;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `kind = "process_mutex"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessMutexConfig {
    /// What is locked. Default: the run.
    #[serde(skip_serializing_if = "LockBy::is_default")]
    pub lock_key: LockBy,
    /// What happens to a message whose key is held; default by topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<BusyPolicy>,
}

impl Kind for ProcessMutexConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(ProcessMutex {
            ports: context.instance.ports.clone(),
            lock_key: self.lock_key,
            held: Mutex::default(),
        })
    }

    fn remembers_in_process(&self) -> bool {
        true
    }

    fn busy(&self) -> Option<BusyPolicy> {
        self.busy
    }
}

/// The keys that are being run in this process.
struct ProcessMutex {
    ports: Ports,
    lock_key: LockBy,
    held: Mutex<BTreeSet<Key>>,
}

impl ProcessMutex {
    fn held(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        // Nothing panics while the set is locked.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guard for ProcessMutex {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let entry = if self.held().insert(self.lock_key.of(&visit)) {
            Entry::Run(Permit::first(visit.token))
        } else {
            tell(&self.ports, &steps::GUARD_ENTER, visit.ids, What::Busy);
            Entry::Busy { retry_in: None }
        };
        Box::pin(std::future::ready(Ok(entry)))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        self.held().remove(&self.lock_key.of(&visit));
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::Span;
    use crate::memory::bench::Bench;

    fn config() -> GuardConfig {
        GuardConfig::ProcessMutex(ProcessMutexConfig::default())
    }

    #[test]
    fn a_second_worker_of_the_process_finds_it_busy_until_the_first_has_ended() {
        let bench = Bench::new();
        let guard = bench.guard(&config());
        let permit = bench.run(&*guard, 1);
        assert_eq!(bench.enter(&*guard, 2), Entry::Busy { retry_in: None });
        assert_eq!(bench.told(), [What::Busy]);
        assert_eq!(
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded),
            Settle::Ack
        );
        bench.run(&*guard, 2);
    }

    #[test]
    fn every_outcome_gives_the_key_back() {
        let bench = Bench::new();
        let guard = bench.guard(&config());
        for (outcome, settle) in [
            (Outcome::Succeeded, Settle::Ack),
            (Outcome::Final, Settle::Reject),
            (Outcome::Quarantined, Settle::Reject),
            (Outcome::Cancelled, Settle::Defer(Span::ZERO)),
            (
                Outcome::Retryable {
                    retry_in: Span::secs(1),
                    counts: true,
                },
                Settle::Defer(Span::secs(1)),
            ),
        ] {
            let permit = bench.run(&*guard, 1);
            assert_eq!(bench.finish(&*guard, 1, &permit, outcome), settle);
        }
    }

    #[test]
    fn another_process_is_not_stopped() {
        let bench = Bench::new();
        let (one, other) = (bench.guard(&config()), bench.guard(&config()));
        bench.run(&*one, 1);
        bench.run(&*other, 2);
    }
}
