//! Whatever decides which of several claims of a run may go on.

use evidence::{Ids, InstanceId, RunKey};
use scheduler::Instance;
use scheduler::guards::{
    CheckThenInsertConfig, Entry, Guard, GuardConfig, GuardContext, InsertFirstConfig, InsertWhen,
    LockRowConfig, NoneConfig, Outcome, ProcessMutexConfig, RedisLockConfig, StateMachineConfig,
    Visit,
};
use scheduler::memory::{
    ManualRuntime, ManualTime, MemoryBroker, MemoryCoordinator, MemoryDatabase, MemoryDownstream,
    MemoryLocks, Recognises, Silence, block_on,
};
use scheduler::ports::{Key, Ports};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Decides which of several claims of a run may go on; any thread may ask.
pub trait Claimant: Sync {
    /// Claims the run; true if the work may be done. `token` tells this claim from all others.
    ///
    /// With `finishes` the claim is followed at once by the record that the work is done (a lock is
    /// given back then); without, the run stays in the hands of whoever was let in.
    fn claim(&self, run: &Ids, token: u64, finishes: bool) -> bool;
}

/// A claimant that takes part.
pub struct Candidate {
    /// As the table calls it.
    pub name: &'static str,
    /// Whether it promises that of several claims of a run at once only one is let in.
    pub lets_in_one: bool,
    /// Makes it, without any claim so far.
    pub make: Box<dyn Fn() -> Box<dyn Claimant>>,
}

/// Everybody; the plain set, to which the others are compared, first.
pub fn all() -> Vec<Candidate> {
    let mut all = vec![Candidate {
        name: "plain set",
        lets_in_one: true,
        make: Box::new(|| Box::new(PlainSet::default())),
    }];
    all.extend(in_memory());
    all
}

/// Every guard over the in-memory ports.
fn in_memory() -> impl Iterator<Item = Candidate> {
    [
        GuardConfig::None(NoneConfig::default()),
        GuardConfig::ProcessMutex(ProcessMutexConfig::default()),
        GuardConfig::CheckThenInsert(CheckThenInsertConfig {
            unique_index: true,
            insert: InsertWhen::Before,
        }),
        GuardConfig::InsertFirst(InsertFirstConfig::default()),
        GuardConfig::LockRow(LockRowConfig::default()),
        GuardConfig::RedisLock(RedisLockConfig::default()),
        GuardConfig::StateMachine(StateMachineConfig::default()),
    ]
    .into_iter()
    .map(|config| Candidate {
        name: config.name(),
        lets_in_one: !matches!(config, GuardConfig::None(_)),
        make: Box::new(move || Box::new(OverPorts::new(&config, memory()))),
    })
}

/// The least that a deduplication can be.
#[derive(Default)]
struct PlainSet(Mutex<HashSet<Key>>);

impl Claimant for PlainSet {
    fn claim(&self, run: &Ids, _: u64, _: bool) -> bool {
        let key = run.run.as_ref().map(RunKey::text);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        key.is_some_and(|key| known.insert(key.clone()))
    }
}

/// A guard, as the executors of one process share it, over whatever is behind these ports.
struct OverPorts(Box<dyn Guard>);

impl OverPorts {
    fn new(config: &GuardConfig, ports: Ports) -> Self {
        let instance = Instance {
            name: "executor-1".into(),
            id: InstanceId(0),
            incarnation: 1,
            identity: None,
            ports,
        };
        OverPorts(config.build(&GuardContext {
            instance: &instance,
            max_attempts: 8,
        }))
    }
}

impl Claimant for OverPorts {
    fn claim(&self, run: &Ids, token: u64, finishes: bool) -> bool {
        let Some(key) = run.run.as_ref().map(RunKey::text) else {
            return false;
        };
        let visit = Visit {
            ids: run,
            key,
            token,
        };
        let Ok(Entry::Run(permit)) = block_on(self.0.enter(visit)) else {
            return false;
        };
        !finishes || block_on(self.0.finish(visit, &permit, Outcome::Succeeded)).is_ok()
    }
}

/// Servers in this process, whose time stands still: no lease ends.
fn memory() -> Ports {
    let time = Arc::<ManualTime>::default();
    let runtime = Arc::new(ManualRuntime::new(time.clone()));
    let journal = Arc::new(Silence);
    Ports {
        runtime: runtime.clone(),
        clock: time.clone(),
        journal: journal.clone(),
        database: Arc::new(MemoryDatabase::new(time.clone())),
        broker: Arc::new(MemoryBroker::new(runtime, journal.clone())),
        locks: Arc::new(MemoryLocks::new(time)),
        coordinator: Arc::new(MemoryCoordinator::default()),
        executors: Arc::new(scheduler::memory::NoExecutors),
        downstream: Arc::new(MemoryDownstream::new(journal, Recognises::Nothing)),
    }
}
