//! Set-ups inside the envelope: every number of the recommended stack is drawn, and the conditions
//! of the design hold.

use proptest::prelude::*;
use scenarios::Scenario;
use scenarios::file::{DownstreamTable, InFlight, TimerTable, Topology};
use scenarios::spec::{MEMORY_FACTOR, Magnitudes};
use scheduler::effects::{IdempotencyKeyConfig, ProtectionConfig, TransactionalConfig};
use scheduler::guards::{GuardConfig, OnLost, StateMachineConfig};
use scheduler::schedules::ScheduleConfig;
use scheduler::work::{RetryConfig, WorkConfig};
use scheduler::{Span, Switchable};

/// The most faults of a plan; `max_attempts` is greater.
pub const MOST_FAULTS: u32 = 4;

/// When the first slot is due: after every instance has recorded that its timers exist, whatever
/// goes wrong at its start. A slot before that is a slot before the timer's time.
const REGISTERED: Span = Span::secs(3600);

/// How the effect is protected.
#[derive(Clone, Copy, Debug)]
pub enum Protected {
    /// By a key; a second call waits for the first.
    KeyWait,
    /// By a key; a second call is told that the first is at work.
    KeyConflict,
    /// By a transaction with the record.
    Transaction,
}

/// The numbers of a set-up, in milliseconds where they are times.
#[derive(Clone, Debug)]
pub struct Knobs {
    topology: (u8, u8, u16, u64),
    /// How often each timer is due, and how many slots it has.
    timers: Vec<(u64, u32)>,
    protected: Protected,
    takes: u64,
    call_timeout: u64,
    latency: u64,
    lease: u64,
    /// As a share of the lease, in hundredths; `None`: off, and the lease is longer than the work.
    heartbeat: Option<u64>,
    on_lost: OnLost,
    sweep_queued_after: u64,
    recovery_every: u64,
    relay_every: u64,
    ack_deadline: u64,
    /// As a share of the deadline, in hundredths.
    renewal: Option<u64>,
    dedup_window: Option<u64>,
    redeliver_on_disconnect: bool,
    ack_fencing: bool,
    loses_on_restart: bool,
    backoff: (u64, u64),
    spare_attempts: u32,
    /// How long keys are kept, in multiples of the longest deadline or work.
    retention: u64,
}

impl Knobs {
    /// Any set-up inside the envelope.
    pub fn any() -> impl Strategy<Value = Knobs> {
        let topology = (1..=3u8, 1..=3u8, 1..=3u16, 500..=20_000u64);
        let timer = (prop_oneof![5_000..=60_000u64, Just(86_400_000)], 1..=3u32);
        let protected = prop_oneof![
            Just(Protected::KeyWait),
            Just(Protected::KeyConflict),
            Just(Protected::Transaction)
        ];
        let work = (
            prop_oneof![Just(0), 1..=60_000u64],
            500..=8_000u64,
            10..=90u64,
        );
        let guard = (
            10_000..=120_000u64,
            prop::option::of(10..=40u64),
            prop_oneof![Just(OnLost::Continue), Just(OnLost::Cancel)],
            20_000..=180_000u64,
            1_000..=30_000u64,
        );
        let broker = (
            5_000..=120_000u64,
            prop::option::of(10..=50u64),
            prop::option::of(1_000..=120_000u64),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        );
        let retry = ((200..=5_000u64, 5_000..=90_000u64), 0..=4u32);
        let relay_every = 200..=10_000u64;
        let retention = prop_oneof![MEMORY_FACTOR..=MEMORY_FACTOR + 4, Just(10_000)];
        let timers = prop::collection::vec(timer, 1..=2);
        (
            topology,
            timers,
            protected,
            work,
            guard,
            broker,
            retry,
            (relay_every, retention),
        )
            .prop_map(
                |(topology, timers, protected, work, guard, broker, retry, others)| {
                    let (relay_every, retention) = others;
                    let (takes, call_timeout, latency_percent) = work;
                    let (lease, heartbeat, on_lost, sweep_queued_after, recovery_every) = guard;
                    let (ack_deadline, renewal, dedup_window, redeliver, fencing, loses) = broker;
                    let (backoff, spare_attempts) = retry;
                    Knobs {
                        topology,
                        timers,
                        protected,
                        takes,
                        call_timeout,
                        latency: call_timeout * latency_percent / 100,
                        lease,
                        heartbeat,
                        on_lost,
                        sweep_queued_after,
                        recovery_every,
                        relay_every,
                        ack_deadline,
                        renewal,
                        dedup_window,
                        redeliver_on_disconnect: redeliver,
                        ack_fencing: fencing,
                        loses_on_restart: loses,
                        backoff,
                        spare_attempts,
                        retention,
                    }
                },
            )
    }

    /// The set-up.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = Scenario {
            name: "envelope".to_owned(),
            timers: self.timers(),
            guard: self.guard(),
            downstream: self.downstream(),
            ..Scenario::default()
        };
        let (schedulers, executors, concurrency, restart_after) = self.topology;
        scenario.topology = Topology {
            schedulers,
            executors,
            concurrency,
            restart_after: Span::millis(restart_after),
            ..Topology::default()
        };
        scenario.dispatch.relay_every = Span::millis(self.relay_every);
        scenario.recovery.every = Span::millis(self.recovery_every);
        let share = |percent: u64| Span::millis((self.ack_deadline * percent / 100).max(1));
        let broker = &mut scenario.broker;
        broker.ack_deadline = on(self.ack_deadline);
        broker.renew_every = Switchable(self.renewal.map(share));
        broker.dedup_window = Switchable(self.dedup_window.map(Span::millis));
        broker.redeliver_on_disconnect = self.redeliver_on_disconnect;
        broker.ack_fencing = self.ack_fencing.into();
        broker.loses_on_restart = self.loses_on_restart;
        scenario.work = self.work(&scenario);
        self.keep_keys(&mut scenario);
        scenario
    }

    /// Keys are kept longer than the time to rest.
    fn keep_keys(&self, scenario: &mut Scenario) {
        let deadlines = Magnitudes::of(scenario).deadlines;
        let longest = deadlines.iter().map(|deadline| deadline.span.ms()).max();
        let longest = longest.unwrap_or(0).max(self.takes);
        if let ProtectionConfig::IdempotencyKey(config) = &mut scenario.downstream.protection {
            config.retention = Span::millis(self.retention * longest);
        }
    }

    fn timers(&self) -> Vec<TimerTable> {
        let timers = (1..).zip(&self.timers);
        timers
            .map(|(number, (every, slots))| TimerTable {
                id: format!("timer-{number}"),
                schedule: ScheduleConfig::Every {
                    every: Span::millis(*every),
                    phase: REGISTERED,
                },
                slots: *slots,
                ..TimerTable::default()
            })
            .collect()
    }

    /// The lease is renewed, or longer than the work.
    fn guard(&self) -> GuardConfig {
        let work = self.takes + self.call_timeout + 1_000;
        let (lease, heartbeat) = match self.heartbeat {
            Some(percent) => (self.lease, Some(Span::millis(self.lease * percent / 100))),
            None => (self.lease.max(work), None),
        };
        GuardConfig::StateMachine(StateMachineConfig {
            lease: Span::millis(lease),
            heartbeat: Switchable(heartbeat),
            on_lost: self.on_lost,
            sweep_queued_after: on(self.sweep_queued_after),
            ..StateMachineConfig::default()
        })
    }

    fn downstream(&self) -> DownstreamTable {
        DownstreamTable {
            protection: match self.protected {
                Protected::KeyWait | Protected::KeyConflict => {
                    ProtectionConfig::IdempotencyKey(IdempotencyKeyConfig::default())
                }
                Protected::Transaction => ProtectionConfig::Transactional(TransactionalConfig {}),
            },
            latency: Span::millis(self.latency),
            in_flight: match self.protected {
                Protected::KeyConflict => InFlight::Conflict,
                Protected::KeyWait | Protected::Transaction => InFlight::Wait,
            },
        }
    }

    /// More attempts than outages, one a fault, can fail.
    fn work(&self, scenario: &Scenario) -> WorkConfig {
        let (backoff, max_backoff) = self.backoff;
        let mut work = WorkConfig {
            takes: Span::millis(self.takes),
            call_timeout: Span::millis(self.call_timeout),
            retry: RetryConfig {
                max_attempts: MOST_FAULTS + 1,
                backoff: Span::millis(backoff),
                max_backoff: Span::millis(max_backoff),
                ..RetryConfig::default()
            },
            ..WorkConfig::default()
        };
        let with = Scenario {
            work: work.clone(),
            ..scenario.clone()
        };
        let longest = Magnitudes::of(&with).past_longest_ms.unsigned_abs();
        while outages_needed(&work, longest) <= MOST_FAULTS {
            work.retry.max_attempts += 1;
        }
        work.retry.max_attempts += self.spare_attempts;
        work
    }
}

/// How many outages of a length it takes to fail every attempt: one fails all that are made while it
/// lasts, and the next begins when it does most harm, with the first attempt after it.
///
/// That the attempts together last longer than the outages is not enough: nothing is tried between
/// the end of an outage and the next attempt, which may be long.
pub fn outages_needed(work: &WorkConfig, length_ms: u64) -> u32 {
    let (mut outages, mut at, mut over) = (0, 0, None);
    for attempt in 1..=work.retry.max_attempts {
        if over.is_none_or(|over| at > over) {
            outages += 1;
            over = Some(at + length_ms);
        }
        let wait = work.retry.backoff_after(attempt).ms();
        at += work.call_timeout.ms() + wait + work.takes.ms();
    }
    outages
}

fn on(ms: u64) -> Switchable {
    Switchable(Some(Span::millis(ms)))
}
