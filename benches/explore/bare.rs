//! A hand-written event loop that makes the calls of the simulator.
//!
//! One heap, four instances and three servers as state machines, no future, no task, no port, no
//! fault. It has what any loop for this scenario must have: keyed latencies, the total order by
//! (time, instance, sequence), the deadline of each delivery, a heartbeat beside the work, and the
//! polls of relay and recovery that are arranged when a row changes. It never keeps a call that could
//! be lost, and knows that nobody ever waits for a row.
//!
//! There are two of them. The *floor* ([`floor`]) changes three maps and nothing else. The *general*
//! one ([`general`]) makes the calls as the pipeline makes them and gives what an explorer needs:
//! requests to the database are statements, built for each call and run by a database that knows
//! nothing of the scenario; occurrences are counted; every strike point is kept.

mod agenda;
mod pollers;
mod serving;
mod sites;

use super::servers::{Broker, Database, Downstream, StatementDatabase, Store};
use super::{Executed, Standard, keyed, rest};
use agenda::{Action, Answer, Call, Entry, Ms};
use evidence::{
    AttemptEnd, Event, Ids, InstanceId, RecordState, SlotTag, Step, Timestamp, TraceId, What,
};
use pollers::{Poller, RECOVERY_EVERY, RELAY_EVERY};
use scenarios::spec::Phase;
use scheduler::steps;
use sim::Reached;
use sites::{Blind, Place, Sites, Watch};
use std::collections::BinaryHeap;

/// `[guard] heartbeat`.
const HEARTBEAT: Ms = 15_000;
/// Instances 0 and 1 are schedulers, 2 and 3 executors.
const SCHEDULERS: u8 = 2;
const INSTANCES: u8 = 4;

/// One process: a scheduler or an executor.
#[derive(Default)]
struct Instance {
    /// The run that it is at work on.
    ids: Ids,
    /// The call that it waits for, and its key; it never has two.
    place: Option<Place>,
    call: u64,
    /// A scheduler's slot.
    ordinal: u32,
    /// An executor's long polls so far.
    long_polls: u16,
    /// An executor's attempt, while it is at work.
    token: u64,
    working: bool,
    poller: Poller,
}

struct Loop<'a, S, W> {
    standard: &'a Standard,
    seed: u64,
    now: Ms,
    heap: BinaryHeap<Entry>,
    sequence: u32,
    instances: [Instance; INSTANCES as usize],
    database: S,
    broker: Broker<u8>,
    downstream: Downstream,
    /// What each executor has asked the downstream for.
    performing: [Option<Ids>; INSTANCES as usize],
    events: Vec<Event>,
    watch: W,
}

/// Executes the standard scenario once, with the least that it takes.
pub fn floor(standard: &Standard, seed: u64) -> Executed {
    execute::<Database, Blind>(standard, seed).0
}

/// Executes it once, with statements and strike points.
pub fn general(standard: &Standard, seed: u64) -> (Executed, Vec<Reached>) {
    let (executed, sites) = execute::<StatementDatabase, Sites>(standard, seed);
    (executed, sites.reached)
}

fn execute<S: Store, W: Watch>(standard: &Standard, seed: u64) -> (Executed, W) {
    let mut bare = Loop {
        standard,
        seed,
        now: 0,
        heap: BinaryHeap::with_capacity(64),
        sequence: 0,
        instances: Default::default(),
        database: S::default(),
        broker: Broker::new(),
        downstream: Downstream::default(),
        performing: Default::default(),
        events: Vec::with_capacity(64),
        watch: W::default(),
    };
    for instance in 0..INSTANCES {
        bare.add(0, instance, Action::Start);
    }
    while let Some(entry) = bare.heap.pop() {
        // The heartbeat of an attempt that has ended: not even its moment is reached.
        if matches!(entry.action, Action::Heartbeat(token) if !bare.works(entry.instance, token)) {
            continue;
        }
        bare.now = entry.at;
        bare.act(entry);
    }
    let rest = rest(bare.timestamp(), &bare.database, &bare.broker);
    (standard.executed(bare.events, rest), bare.watch)
}

impl<S: Store, W: Watch> Loop<'_, S, W> {
    fn add(&mut self, at: Ms, instance: u8, action: Action) {
        self.sequence += 1;
        self.heap.push(Entry {
            at,
            instance,
            sequence: self.sequence,
            action,
        });
    }

    fn timestamp(&self) -> Timestamp {
        self.standard.scenario.epoch.plus_ms(self.now as i64)
    }

    fn since_epoch(&self, at: Timestamp) -> Ms {
        (at.0 - self.standard.scenario.epoch.0) as Ms
    }

    fn of(&mut self, instance: u8) -> &mut Instance {
        &mut self.instances[usize::from(instance)]
    }

    fn works(&self, instance: u8, token: u64) -> bool {
        let instance = &self.instances[usize::from(instance)];
        instance.working && instance.token == token
    }

    fn tell(&mut self, instance: u8, step: &'static Step, what: What, ids: Ids) {
        self.events.push(Event {
            at: self.timestamp(),
            instance: InstanceId(instance),
            incarnation: 1,
            step,
            what,
            ids,
        });
    }

    /// The same of the run that the instance is at work on.
    fn tell_own(&mut self, instance: u8, step: &'static Step, what: What) {
        let ids = self.of(instance).ids.clone();
        self.tell(instance, step, what, ids);
    }

    fn act(&mut self, entry: Entry) {
        let Entry {
            at,
            instance,
            action,
            ..
        } = entry;
        match action {
            Action::Start => self.start(instance),
            Action::SlotDue => self.fire(instance),
            Action::Arrive(call) => self.serve(instance, call),
            Action::Answer(answer) => self.go_on(instance, answer),
            Action::Poll => self.poll(instance, at),
            Action::Heartbeat(_) => unreachable!("no work of this scenario takes that long"),
            Action::EffectDone => self.effect_done(instance),
            Action::AckDeadline(message, delivery) => {
                self.broker.deadline(message, delivery);
                self.hand_over();
            }
        }
    }

    fn start(&mut self, instance: u8) {
        let (step, every, call) = if instance < SCHEDULERS {
            (&steps::OUTBOX_READ, RELAY_EVERY, Call::Resume)
        } else {
            (&steps::RECOVERY_SCAN, RECOVERY_EVERY, Call::Deliver)
        };
        self.of(instance).poller.anchor = keyed::phase(self.seed, instance, step, every);
        self.call(instance, call);
    }

    // Calls: out of the instance, into the server, and back; every phase is a strike point.

    fn call(&mut self, instance: u8, call: Call) {
        let of = self.of(instance);
        let (slot, n) = match call {
            Call::Resume => (SlotTag::NONE, 1),
            Call::Deliver => {
                of.long_polls += 1;
                (SlotTag::NONE, of.long_polls)
            }
            _ => (of.ids.slot, 1),
        };
        let place = self.count(instance, call.step(), slot, n);
        self.reach(place, Phase::Before);
        let key = keyed::call(instance, place.step, slot, place.n);
        let of = self.of(instance);
        of.place = Some(place);
        of.call = key;
        self.reach(place, Phase::Request);
        let latency = keyed::latency(self.seed, key, slot, keyed::REQUEST, self.now);
        self.add(self.now + latency, instance, Action::Arrive(call));
    }

    fn reply(&mut self, instance: u8, answer: Answer) {
        self.reach_called(instance, Phase::Done);
        let (seed, now) = (self.seed, self.now);
        let of = self.of(instance);
        let slot = of.place.map_or(SlotTag::NONE, |place| place.slot);
        let latency = keyed::latency(seed, of.call, slot, keyed::REPLY, now);
        self.add(self.now + latency, instance, Action::Answer(answer));
    }

    fn count(&mut self, instance: u8, step: &'static Step, slot: SlotTag, n: u16) -> Place {
        let place = Place {
            instance,
            step,
            slot,
            n,
        };
        let n = self.watch.count(place);
        Place { n, ..place }
    }

    fn reach(&mut self, place: Place, phase: Phase) {
        let broker = &self.broker;
        self.watch
            .reach(place, phase, || broker.accepted(place.slot));
    }

    /// A phase of the call that the instance waits for.
    fn reach_called(&mut self, instance: u8, phase: Phase) {
        if let Some(place) = self.of(instance).place {
            self.reach(place, phase);
        }
    }

    // What the instances do with an answer.

    fn go_on(&mut self, instance: u8, answer: Answer) {
        self.reach_called(instance, Phase::Reply);
        match answer {
            Answer::Resumed(position) => {
                let planned = self.standard.planned.iter();
                let over = planned.filter(|planned| planned.scheduled <= position);
                self.of(instance).ordinal = over.count() as u32 + 1;
                self.wait(instance);
            }
            Answer::Claimed(true) => {
                self.tell_own(instance, &steps::DISPATCH_CLAIM, What::Claimed);
                self.call(instance, Call::Publish);
            }
            Answer::Claimed(false) => {
                self.tell_own(instance, &steps::DISPATCH_CLAIM, What::ClaimTaken);
                self.next_slot(instance);
            }
            Answer::Published => self.call(instance, Call::Mark),
            Answer::Marked => {
                self.tell_own(instance, &steps::OUTBOX_MARK, What::Marked);
                self.next_slot(instance);
            }
            Answer::Delivered => {
                let seed = self.seed;
                let of = self.of(instance);
                of.token = keyed::random(seed, instance, &steps::GUARD_ENTER, of.ids.slot);
                self.call(instance, Call::Enter);
            }
            Answer::Entered(attempt) => self.work(instance, attempt),
            Answer::Performed => {
                self.of(instance).working = false;
                let ended = What::AttemptEnded(AttemptEnd::Succeeded);
                self.tell_own(instance, &steps::WORK, ended);
                self.call(instance, Call::Finish);
            }
            Answer::Finished(recorded) => {
                let what = if recorded {
                    What::Recorded(RecordState::Succeeded)
                } else {
                    What::RecordRefused
                };
                self.tell_own(instance, &steps::GUARD_FINISH, what);
                self.call(instance, Call::Ack);
            }
            Answer::Acked => self.call(instance, Call::Deliver),
        }
    }

    /// Waits for the scheduler's next slot, if there is one.
    fn wait(&mut self, instance: u8) {
        let place = self.of(instance).ordinal as usize - 1;
        if let Some(planned) = self.standard.planned.get(place) {
            let at = self.since_epoch(planned.scheduled);
            let slot = SlotTag::seal(planned.slot);
            let place = self.count(instance, &steps::TIMER_WAIT, slot, 1);
            self.reach(place, Phase::Before);
            self.add(at, instance, Action::SlotDue);
            self.reach(place, Phase::Request);
            self.of(instance).place = Some(place);
        }
    }

    fn next_slot(&mut self, instance: u8) {
        self.of(instance).ordinal += 1;
        self.wait(instance);
    }

    /// The slot becomes a run.
    fn fire(&mut self, instance: u8) {
        let seed = self.seed;
        let planned =
            &self.standard.planned[self.instances[usize::from(instance)].ordinal as usize - 1];
        let slot = SlotTag::seal(planned.slot);
        self.reach_called(instance, Phase::Done);
        let place = self.count(instance, &steps::TIMER_FIRE, slot, 1);
        self.reach(place, Phase::Before);
        self.of(instance).ids = Ids {
            slot,
            run: Some(planned.run.clone()),
            trace: Some(TraceId(keyed::random(
                seed,
                instance,
                &steps::TIMER_FIRE,
                slot,
            ))),
            ..Ids::default()
        };
        self.tell_own(instance, &steps::TIMER_FIRE, What::Fired);
        self.call(instance, Call::Claim);
    }

    fn work(&mut self, instance: u8, attempt: Option<u32>) {
        let Some(attempt) = attempt else {
            unreachable!("nobody else has the run")
        };
        let of = self.of(instance);
        of.ids.attempt = attempt;
        of.working = true;
        let token = of.token;
        let running = What::Recorded(RecordState::Running);
        self.tell_own(instance, &steps::GUARD_ENTER, running);
        self.tell_own(instance, &steps::WORK, What::AttemptStarted);
        self.call(instance, Call::Perform);
        let at = self.now + HEARTBEAT;
        self.add(at, instance, Action::Heartbeat(token));
    }
}
