//! `seen_set`: the process remembers in its memory which keys it has seen.
//!
//! **Promises** that one incarnation of one instance runs a key once, as long as it remembers.
//! **Breaks** as soon as there is a second process, or the same one again after a restart; after
//! `remembers`, where it forgets; and with `on_seen = "ignore"` the other way: a message whose ack
//! was lost comes back and is left unsettled each time, until the broker gives it up, though its
//! effect was made.
//! **Source**: B112.

use super::kind::Kind;
use super::record::tell;
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::ports::{CallError, Fut, Key, Monotonic, Ports};
use crate::{Span, Switchable, steps};
use evidence::What;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `kind = "seen_set"`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SeenSetConfig {
    /// What happens to a message whose key was seen. Default: it is settled as done.
    pub on_seen: OnSeen,
    /// How long a key is remembered after it was seen; `"off"`: as long as the process lives.
    pub remembers: Switchable,
}

/// What happens to a message whose key was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSeen {
    /// It is settled as done.
    #[default]
    Ack,
    /// It is neither settled nor given back: its deadline brings it back.
    Ignore,
}

impl Kind for SeenSetConfig {
    fn build(&self, context: &GuardContext) -> Box<dyn Guard> {
        Box::new(SeenSet {
            ports: context.instance.ports.clone(),
            config: self.clone(),
            seen: Mutex::default(),
        })
    }

    fn remembers_in_process(&self) -> bool {
        true
    }

    fn memory(&self) -> Option<(&'static str, Span)> {
        Some(("guard.remembers", self.remembers.0?))
    }
}

/// The keys that were seen in this process, each with the moment.
struct SeenSet {
    ports: Ports,
    config: SeenSetConfig,
    seen: Mutex<BTreeMap<Key, Monotonic>>,
}

impl SeenSet {
    fn seen(&self) -> MutexGuard<'_, BTreeMap<Key, Monotonic>> {
        // Nothing panics while the set is locked.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the key is new, or forgotten: it is seen from now on.
    fn is_new(&self, key: &Key) -> bool {
        let now = self.ports.runtime.monotonic();
        let mut seen = self.seen();
        if let Some(span) = self.config.remembers.0 {
            seen.retain(|_, since| since.plus(span) > now);
        }
        if seen.contains_key(key) {
            return false;
        }
        seen.insert(key.clone(), now);
        true
    }
}

impl Guard for SeenSet {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let entry = if self.is_new(visit.key) {
            Entry::Run(Permit::first(visit.token))
        } else {
            let what = What::SkippedTaken;
            tell(&self.ports, &steps::GUARD_ENTER, visit.ids, what);
            match self.config.on_seen {
                OnSeen::Ack => Entry::Taken,
                OnSeen::Ignore => Entry::Ignored,
            }
        };
        Box::pin(std::future::ready(Ok(entry)))
    }

    /// What has failed may be tried again.
    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        if outcome != Outcome::Succeeded {
            self.seen().remove(visit.key);
        }
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::GuardConfig;
    use super::*;
    use crate::memory::bench::Bench;

    fn guard(bench: &Bench, on_seen: OnSeen, remembers: Option<Span>) -> Box<dyn Guard> {
        bench.guard(&GuardConfig::SeenSet(SeenSetConfig {
            on_seen,
            remembers: Switchable(remembers),
        }))
    }

    #[test]
    fn what_was_seen_is_settled_or_left_alone_as_the_scenario_says() {
        for (on_seen, entry) in [
            (OnSeen::Ack, Entry::Taken),
            (OnSeen::Ignore, Entry::Ignored),
        ] {
            let bench = Bench::new();
            let guard = guard(&bench, on_seen, None);
            let permit = bench.run(&*guard, 1);
            bench.finish(&*guard, 1, &permit, Outcome::Succeeded);
            assert_eq!(bench.enter(&*guard, 2), entry);
            assert_eq!(bench.told(), [What::SkippedTaken]);
        }
    }

    #[test]
    fn a_key_is_forgotten_so_long_after_it_was_seen_first() {
        let bench = Bench::new();
        let guard = guard(&bench, OnSeen::Ack, Some(Span::secs(60)));
        bench.run(&*guard, 1);
        bench.pass(Span::millis(59_999));
        assert_eq!(bench.enter(&*guard, 2), Entry::Taken);
        bench.pass(Span::millis(1));
        bench.run(&*guard, 3);
    }

    #[test]
    fn what_has_failed_is_tried_again() {
        let bench = Bench::new();
        let guard = guard(&bench, OnSeen::Ack, None);
        let permit = bench.run(&*guard, 1);
        bench.finish(&*guard, 1, &permit, Outcome::Final);
        bench.run(&*guard, 2);
    }

    #[test]
    fn another_process_has_seen_nothing() {
        let bench = Bench::new();
        bench.run(&*guard(&bench, OnSeen::Ack, None), 1);
        bench.run(&*guard(&bench, OnSeen::Ack, None), 2);
    }
}
