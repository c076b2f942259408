//! The guards over in-memory ports that real threads share: of many claims of one key at once,
//! exactly one may run, with every guard that promises so.
#![allow(clippy::unwrap_used)]

use evidence::{Ids, InstanceId};
use runkey_scheduler::Instance;
use runkey_scheduler::guards::{
    CheckThenInsertConfig, Entry, GuardConfig, GuardContext, InsertFirstConfig, InsertWhen,
    LockRowConfig, LockThenCheckConfig, OptimisticVersionConfig, ProcessMutexConfig,
    RedisLockConfig, SeenSetConfig, SelectForUpdateConfig, SemaphoreConfig, StateMachineConfig,
    UniqueConfig, Visit,
};
use runkey_scheduler::memory::{
    ManualRuntime, ManualTime, MemoryBroker, MemoryCoordinator, MemoryDatabase, MemoryDownstream,
    MemoryLocks, Recognises, Silence, block_on,
};
use runkey_scheduler::ports::Ports;
use std::sync::Arc;

const THREADS: u64 = 8;
const KEYS: usize = 200;

fn instance() -> Instance {
    let time = Arc::<ManualTime>::default();
    let runtime = Arc::new(ManualRuntime::new(time.clone()));
    let journal = Arc::new(Silence);
    Instance {
        name: "executor-1".into(),
        id: InstanceId(0),
        incarnation: 1,
        identity: None,
        ports: Ports {
            runtime: runtime.clone(),
            clock: time.clone(),
            journal: journal.clone(),
            database: Arc::new(MemoryDatabase::new(time.clone())),
            broker: Arc::new(MemoryBroker::new(runtime, journal.clone())),
            locks: Arc::new(MemoryLocks::new(time)),
            coordinator: Arc::new(MemoryCoordinator::default()),
            executors: Arc::new(runkey_scheduler::memory::NoExecutors),
            downstream: Arc::new(MemoryDownstream::new(journal, Recognises::Nothing)),
        },
    }
}

/// How many of the threads, all of which try every key, were let in.
fn let_in(config: &GuardConfig) -> usize {
    let instance = instance();
    let guard = config.build(&GuardContext {
        instance: &instance,
        max_attempts: 8,
    });
    let ids = Ids::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=THREADS)
            .map(|token| {
                let (guard, ids) = (&guard, &ids);
                scope.spawn(move || {
                    (0..KEYS)
                        .filter(|key| {
                            let key = format!("report@{key}").into();
                            let visit = Visit {
                                ids,
                                key: &key,
                                token,
                            };
                            matches!(block_on(guard.enter(visit)), Ok(Entry::Run(_)))
                        })
                        .count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    })
}

#[test]
fn of_many_threads_one_enters() {
    for config in [
        GuardConfig::ProcessMutex(ProcessMutexConfig::default()),
        GuardConfig::CheckThenInsert(CheckThenInsertConfig {
            unique_index: true,
            insert: InsertWhen::Before,
        }),
        GuardConfig::InsertFirst(InsertFirstConfig {}),
        GuardConfig::LockRow(LockRowConfig::default()),
        GuardConfig::RedisLock(RedisLockConfig::default()),
        GuardConfig::StateMachine(StateMachineConfig::default()),
        GuardConfig::SeenSet(SeenSetConfig::default()),
        GuardConfig::SelectForUpdate(SelectForUpdateConfig::default()),
        GuardConfig::OptimisticVersion(OptimisticVersionConfig::default()),
        GuardConfig::LockThenCheck(LockThenCheckConfig::default()),
        GuardConfig::Semaphore(SemaphoreConfig::default()),
        GuardConfig::Unique(UniqueConfig::default()),
    ] {
        assert_eq!(let_in(&config), KEYS, "{}", config.name());
    }
}

#[test]
fn without_a_guard_all_of_them_enter() {
    let all = KEYS * usize::try_from(THREADS).unwrap();
    assert_eq!(let_in(&GuardConfig::default()), all);
}
