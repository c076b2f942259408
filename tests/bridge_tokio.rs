//! The same pipeline on a real runtime: one slot on tokio with a paused clock and servers in memory.
//!
//! What the simulator runs and what a production process runs is one code: `topologies::start`
//! over the ports. Here the ports are tokio's timers and tasks instead of the simulator's.
#![allow(clippy::unwrap_used)]

use evidence::{Ids, InstanceId, RecordState, TimerId, Timestamp, What};
use scheduler::dispatch::DispatchConfig;
use scheduler::effects::{IdempotencyKeyConfig, ProtectionConfig};
use scheduler::guards::{BusyPolicy, GuardConfig, StateMachineConfig, state_number};
use scheduler::memory::{
    MemoryBroker, MemoryCoordinator, MemoryDatabase, MemoryDownstream, MemoryLocks, Recognises,
};
use scheduler::ports::{At, Clock, Fut, Interest, Journal, Monotonic, Ports, Runtime, Wake};
use scheduler::recovery::RecoveryConfig;
use scheduler::schedules::{Schedule, ScheduleConfig, Timetable};
use scheduler::topologies::{self, Blueprint, Role};
use scheduler::work::WorkConfig;
use scheduler::{IdentityKey, Instance, NextFrom, Span, Timer, tables};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

/// 2026-01-01T01:59:50Z, ten seconds before the slot.
const EPOCH: Timestamp = Timestamp(1_767_225_600_000 + 7_190_000);

/// Tokio as the pipeline's runtime and clock.
struct Tokio {
    began: Instant,
    stop: watch::Sender<bool>,
    drawn: AtomicU64,
}

impl Tokio {
    fn new() -> Self {
        Tokio {
            began: Instant::now(),
            stop: watch::Sender::new(false),
            drawn: AtomicU64::new(0),
        }
    }
}

impl Clock for Tokio {
    fn now(&self) -> Timestamp {
        EPOCH.plus_ms(i64::try_from(self.monotonic().0).unwrap())
    }
}

impl Runtime for Tokio {
    fn monotonic(&self) -> Monotonic {
        Monotonic(u64::try_from(self.began.elapsed().as_millis()).unwrap())
    }

    fn sleep(&self, span: Span) -> Fut<'_, ()> {
        Box::pin(tokio::time::sleep(span.duration()))
    }

    fn pass<'a>(&'a self, _: At<'a>) -> Fut<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn wait_until<'a>(&'a self, _: At<'a>, until: Timestamp, cap: Option<Span>) -> Fut<'a, ()> {
        let ms = u64::try_from(until.ms_since(self.now())).unwrap_or(0);
        let span = Span::millis(ms);
        self.sleep(cap.map_or(span, |cap| cap.min(span)))
    }

    fn spawn(&self, task: Fut<'static, ()>) {
        tokio::spawn(task);
    }

    fn idle_until(&self, anchor: Monotonic, every: Span, _: Interest) -> Fut<'_, Wake> {
        let passed = self.monotonic().0.saturating_sub(anchor.0) / every.ms();
        let next = anchor.0 + (passed + 1) * every.ms();
        Box::pin(async move {
            tokio::select! {
                biased;
                () = self.stop_requested() => Wake::Stop,
                () = tokio::time::sleep_until(self.began + Duration::from_millis(next)) => Wake::Poll,
            }
        })
    }

    fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    fn stop_requested(&self) -> Fut<'_, ()> {
        Box::pin(async {
            let mut stop = self.stop.subscribe();
            stop.wait_for(|stop| *stop).await.unwrap();
        })
    }

    fn steady(&self, _: At<'_>) -> u64 {
        0
    }

    fn random(&self, _: At<'_>) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }
}

/// What everybody tells, one line an event, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn of(&self, who: &'static str, clock: &Arc<Tokio>) -> Arc<dyn Journal> {
        Arc::new(Teller {
            who,
            clock: clock.clone(),
            diary: self.clone(),
        })
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Teller {
    who: &'static str,
    clock: Arc<Tokio>,
    diary: Diary,
}

impl Journal for Teller {
    fn record(&self, at: At<'_>, what: What) {
        let Ids {
            message, attempt, ..
        } = at.ids;
        let message = message.map_or_else(|| "-".to_owned(), |message| message.to_string());
        let line = format!(
            "{} {} {} {}: {message}, attempt {attempt}",
            self.clock.now().clock(),
            self.who,
            at.step,
            what.name(),
        );
        self.diary.0.lock().unwrap().push(line);
    }
}

/// The servers, and what they and the instances tell.
struct World {
    time: Arc<Tokio>,
    diary: Diary,
    database: Arc<MemoryDatabase>,
    broker: Arc<MemoryBroker>,
    downstream: Arc<MemoryDownstream>,
}

impl World {
    fn new() -> Self {
        let (time, diary) = (Arc::new(Tokio::new()), Diary::default());
        let servers = diary.of("server", &time);
        World {
            database: Arc::new(MemoryDatabase::new(time.clone())),
            broker: Arc::new(MemoryBroker::new(time.clone(), servers.clone())),
            downstream: Arc::new(MemoryDownstream::new(servers, Recognises::Keys)),
            time,
            diary,
        }
    }

    fn instance(&self, id: u8, name: &'static str) -> Instance {
        Instance {
            name: name.into(),
            id: InstanceId(id),
            incarnation: 1,
            identity: None,
            ports: Ports {
                runtime: self.time.clone(),
                clock: self.time.clone(),
                journal: self.diary.of(name, &self.time),
                database: self.database.clone(),
                broker: self.broker.clone(),
                locks: Arc::new(MemoryLocks::on(self.time.clone())),
                coordinator: Arc::new(MemoryCoordinator::default()),
                executors: Arc::new(scheduler::memory::NoExecutors),
                downstream: self.downstream.clone(),
            },
        }
    }

    /// Time passes until all is over, then everybody is asked to stop.
    async fn live_until_all_is_over(&self) {
        tokio::time::sleep(Duration::from_secs(600)).await;
        self.time.stop.send_replace(true);
    }

    /// One effect, under the runKey; the record says so, and nothing is left in the queue.
    fn assert_one_effect(&self) {
        let key = "report@2026-01-01T02:00:00.000Z";
        let [effect] = &self.downstream.ledger()[..] else {
            panic!("{:?}", self.downstream.ledger());
        };
        assert_eq!(effect.key.as_deref(), Some(key));
        let [run] = &self.database.rows(tables::RUNS)[..] else {
            panic!("not one record");
        };
        assert_eq!(&*run.key, key);
        let state = run.cells[usize::from(tables::runs::STATE.0)].int();
        assert_eq!(state, state_number(RecordState::Succeeded));
        assert_eq!(self.broker.unsettled(), 0);
        assert_eq!(self.broker.dead_letters(), []);
    }
}

/// One timer with one slot at 02:00, and the recommended stack.
fn recommended() -> Arc<Blueprint> {
    let id = TimerId::new("report");
    let schedule = Schedule::compile(&ScheduleConfig::default(), EPOCH).unwrap();
    let timer = Timer {
        timetable: Arc::new(Timetable::new(0, &id, &schedule, EPOCH, 1).unwrap()),
        id,
        index: 0,
        delay: None,
        epoch: EPOCH,
        slots: 1,
        next: NextFrom::FromSlot,
        registrations: 1,
        on: Vec::new(),
        life: Default::default(),
        publish_ahead: Span::ZERO,
    };
    Arc::new(Blueprint {
        timers: vec![timer],
        dispatch: DispatchConfig::default(),
        guard: GuardConfig::StateMachine(StateMachineConfig::default()),
        protection: ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig::default()),
        work: WorkConfig {
            takes: Span::secs(20),
            ..WorkConfig::default()
        },
        identity: IdentityKey::RunKey,
        coordinator: None,
        shards: Vec::new(),
        recovery: RecoveryConfig::default(),
        concurrency: 1,
        busy: BusyPolicy::Defer,
        polled: Default::default(),
        parts: Default::default(),
        routed: None,
    })
}

#[tokio::test(start_paused = true)]
async fn a_slot_becomes_one_effect_through_the_queue() {
    let (world, blueprint) = (World::new(), recommended());
    topologies::start(
        Role::Scheduler,
        &world.instance(0, "scheduler-1"),
        &blueprint,
        0,
    );
    topologies::start(
        Role::Scheduler,
        &world.instance(1, "scheduler-2"),
        &blueprint,
        0,
    );
    topologies::start(
        Role::Executor,
        &world.instance(2, "executor-1"),
        &blueprint,
        0,
    );
    topologies::start(
        Role::Executor,
        &world.instance(3, "executor-2"),
        &blueprint,
        0,
    );
    world.live_until_all_is_over().await;
    assert_eq!(
        world.diary.lines(),
        [
            "02:00:00.000 scheduler-1 timer.fire fired: -, attempt 0",
            "02:00:00.000 scheduler-1 dispatch.claim claimed: -, attempt 0",
            "02:00:00.000 server broker.publish published: m1, attempt 0",
            "02:00:00.000 scheduler-1 outbox.mark marked: -, attempt 0",
            "02:00:00.000 scheduler-2 timer.fire fired: -, attempt 0",
            "02:00:00.000 scheduler-2 dispatch.claim claim_taken: -, attempt 0",
            "02:00:00.000 server broker.deliver delivered: m1, attempt 0",
            "02:00:00.000 executor-1 guard.enter recorded: m1, attempt 1",
            "02:00:00.000 executor-1 work attempt_started: m1, attempt 1",
            "02:00:20.000 server downstream.perform effect: m1, attempt 1",
            "02:00:20.000 executor-1 work attempt_ended: m1, attempt 1",
            "02:00:20.000 executor-1 guard.finish recorded: m1, attempt 1",
            "02:00:20.000 server broker.ack acked: m1, attempt 0",
        ]
    );
    world.assert_one_effect();
}

#[tokio::test(start_paused = true)]
async fn a_slot_becomes_one_effect_in_the_process_that_fired_it() {
    let (world, blueprint) = (World::new(), recommended());
    topologies::start(
        Role::Instance,
        &world.instance(0, "instance-1"),
        &blueprint,
        0,
    );
    topologies::start(
        Role::Instance,
        &world.instance(1, "instance-2"),
        &blueprint,
        0,
    );
    world.live_until_all_is_over().await;
    assert_eq!(
        world.diary.lines(),
        [
            "02:00:00.000 instance-1 timer.fire fired: -, attempt 0",
            "02:00:00.000 instance-1 dispatch.claim claimed: -, attempt 0",
            "02:00:00.000 instance-1 guard.enter recorded: -, attempt 1",
            "02:00:00.000 instance-1 work attempt_started: -, attempt 1",
            "02:00:00.000 instance-2 timer.fire fired: -, attempt 0",
            "02:00:00.000 instance-2 dispatch.claim claim_taken: -, attempt 0",
            "02:00:20.000 server downstream.perform effect: -, attempt 1",
            "02:00:20.000 instance-1 work attempt_ended: -, attempt 1",
            "02:00:20.000 instance-1 guard.finish recorded: -, attempt 1",
        ]
    );
    world.assert_one_effect();
}
