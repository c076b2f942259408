//! Every built-in guard against the laws, and guards that are broken on purpose.
#![allow(clippy::unwrap_used)]

use runkey::guards::{GuardConfig, GuardContext};
use runkey::laws::{self, Broken};
use runkey::ports::{At, LockKey, Token};
use runkey::{
    CallError, Entry, Fut, Guard, Instance, Key, Outcome, Permit, Ports, Retries, Settle, Span,
    Visit, steps,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::panic::catch_unwind;
use std::process::Command;
use std::sync::Mutex;

fn built_in(toml: &str) -> impl Fn(&Instance) -> Box<dyn Guard> + Send + Sync + 'static {
    let config: GuardConfig = toml::from_str(toml).unwrap();
    move |instance| {
        config.build(&GuardContext {
            instance,
            max_attempts: 8,
        })
    }
}

fn listed(broken: &[Broken]) -> String {
    let mut list = String::new();
    for broken in broken {
        let by = match broken.by() {
            [] => "no fault".to_owned(),
            by => by.join(", "),
        };
        writeln!(list, "    {}: {by}", broken.law()).unwrap();
    }
    list
}

const GUARDS: [&str; 11] = [
    "kind = 'none'",
    "kind = 'process_mutex'",
    "kind = 'check_then_insert'",
    "kind = 'check_then_insert'\ninsert = 'after'",
    "kind = 'check_then_insert'\nunique_index = true",
    "kind = 'insert_first'",
    "kind = 'lock_row'",
    "kind = 'redis_lock'",
    "kind = 'redis_lock'\nacquire = 'two_step'",
    "kind = 'redis_lock'\nrenew_every = 'off'\nttl = '500ms'",
    "kind = 'state_machine'",
];

#[test]
fn every_built_in_guard_breaks_the_laws_that_it_is_known_to_break() {
    let mut table = String::new();
    for guard in GUARDS {
        let broken = laws::broken_by(built_in(guard)).unwrap();
        writeln!(table, "{}", guard.replace('\n', ", ")).unwrap();
        table.push_str(&listed(&broken));
    }
    insta::assert_snapshot!(table);
}

fn names(broken: &[Broken]) -> Vec<&str> {
    broken.iter().map(Broken::law).collect()
}

/// The soundest guard, which lets the third visit of a key through, whatever has been before.
struct ThirdTimeLucky {
    guard: Box<dyn Guard>,
    visits: Mutex<BTreeMap<Key, u32>>,
}

impl Guard for ThirdTimeLucky {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let number = {
                let mut visits = self.visits.lock().unwrap();
                let number = visits.entry(visit.key.clone()).or_insert(0);
                *number += 1;
                *number
            };
            match number {
                3 => Ok(Entry::Run(Permit::first(visit.token))),
                _ => self.guard.enter(visit).await,
            }
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        self.guard.finish(visit, permit, outcome)
    }

    fn retries(&self) -> Retries {
        self.guard.retries()
    }
}

fn third_time_lucky(instance: &Instance) -> ThirdTimeLucky {
    ThirdTimeLucky {
        guard: built_in("kind = 'state_machine'")(instance),
        visits: Mutex::default(),
    }
}

#[test]
fn a_guard_that_lets_exactly_the_third_attempt_through_is_found() {
    let broken = laws::broken_by(third_time_lucky).unwrap();
    assert!(names(&broken).contains(&"done stays done"), "{broken:?}");
    let done = broken
        .iter()
        .find(|broken| broken.law() == "done stays done")
        .unwrap();
    assert_eq!(done.by(), ["lose_request@guard.enter"]);
}

/// Remembers in memory what is at work and what is done.
#[derive(Default)]
struct InMemory {
    busy: Mutex<BTreeSet<Key>>,
    done: Mutex<BTreeSet<Key>>,
}

impl Guard for InMemory {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let entry = if self.done.lock().unwrap().contains(visit.key) {
            Entry::Done
        } else if self.busy.lock().unwrap().insert(visit.key.clone()) {
            Entry::Run(Permit::first(visit.token))
        } else {
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
        self.busy.lock().unwrap().remove(visit.key);
        if matches!(outcome, Outcome::Succeeded | Outcome::Final) {
            self.done.lock().unwrap().insert(visit.key.clone());
        }
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

#[test]
fn a_guard_that_remembers_in_memory_is_told_so() {
    let broken = laws::broken_by(|_| InMemory::default()).unwrap();
    assert_eq!(
        listed(&broken),
        "    one at a time: no fault\n    no memory needed: crash@broker.ack\n    final stays final: \
         crash@broker.reject\n"
    );
}

/// The soundest guard, behind one lock for all keys.
struct OneLockForAll {
    guard: Box<dyn Guard>,
    ports: Ports,
    key: LockKey,
}

impl Guard for OneLockForAll {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        Box::pin(async move {
            let at = At::new(&steps::LOCK_ACQUIRE, visit.ids);
            let (token, ttl) = (Token(visit.token), Some(Span::secs(700)));
            let locks = &self.ports.locks;
            if !locks.set_if_absent(at, &self.key, token, ttl).await? {
                return Ok(Entry::Busy {
                    retry_in: Some(Span::secs(60)),
                });
            }
            let entry = self.guard.enter(visit).await;
            if !matches!(entry, Ok(Entry::Run(_))) {
                self.release(visit).await;
            }
            entry
        })
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        permit: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(async move {
            let settle = self.guard.finish(visit, permit, outcome).await;
            self.release(visit).await;
            settle
        })
    }

    fn retries(&self) -> Retries {
        self.guard.retries()
    }
}

impl OneLockForAll {
    async fn release(&self, visit: Visit<'_>) {
        let at = At::new(&steps::LOCK_RELEASE, visit.ids);
        let owner = Some(Token(visit.token));
        // One that fails ends by itself.
        let _ = self.ports.locks.delete(at, &self.key, owner).await;
    }
}

fn one_lock_for_all(instance: &Instance) -> OneLockForAll {
    OneLockForAll {
        guard: built_in("kind = 'state_machine'")(instance),
        ports: instance.ports.clone(),
        key: "everything".into(),
    }
}

#[test]
fn a_guard_with_one_lock_for_all_keys_is_told_so() {
    let broken = laws::broken_by(one_lock_for_all).unwrap();
    assert_eq!(names(&broken), ["keys do not block each other"]);
    assert_eq!(broken[0].by(), Vec::<String>::new());
    assert_eq!(
        broken[0].sentence(),
        "quick#1 did not begin as long as slow#1 was at work."
    );
    assert!(broken[0].to_string().contains("LATE"), "{}", broken[0]);
}

#[test]
fn a_guard_that_keeps_the_laws_passes() {
    laws::guard(built_in("kind = 'state_machine'"));
}

#[test]
fn a_guard_that_breaks_a_law_fails_with_its_name_its_plan_and_the_replay_line() {
    let panic = catch_unwind(|| laws::guard(built_in("kind = 'insert_first'"))).unwrap_err();
    insta::assert_snapshot!(panic.downcast_ref::<String>().unwrap());
}

#[test]
#[ignore = "breaks on purpose"]
fn breaks_laws() {
    laws::guard(built_in("kind = 'insert_first'"));
}

#[test]
fn a_law_is_replayed_by_its_line() {
    let run = |token: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "breaks_laws", "--ignored"]);
        command.env("RUNKEY_REPLAY", token.unwrap_or_default());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let broken = run(None);
    assert!(broken.contains("breaks 3 of 8 laws"), "{broken}");
    let line = broken
        .lines()
        .find(|line| line.contains("RUNKEY_REPLAY="))
        .unwrap();
    let token = line
        .split(['=', ' '])
        .find(|word| word.starts_with("rk1-"))
        .unwrap();
    assert!(line.ends_with(" cargo test breaks_laws"));

    let replayed = run(Some(token));
    assert!(
        replayed.contains("breaks 1 of 8 laws: a failure is not the end"),
        "{replayed}"
    );
    assert!(replayed.contains(line));
}
