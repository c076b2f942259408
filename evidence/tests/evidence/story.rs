//! Histories made by hand: who did what at which step, one line an event.

use runkey_evidence::*;
use std::sync::Arc;

macro_rules! steps {
    ($($name:ident = $number:literal, $text:literal, $layer:ident;)*) => {
        $(pub static $name: Step = Step { number: $number, name: $text, layer: Layer::$layer };)*
    };
}

steps! {
    FIRE = 1, "timer.fire", Scheduling;
    CLAIM = 2, "dispatch.claim", Scheduling;
    ADVANCE = 5, "dispatch.advance", Scheduling;
    READ = 6, "outbox.read", Publishing;
    PUBLISH = 7, "broker.publish", Publishing;
    MARK = 8, "outbox.mark", Publishing;
    DELIVER = 9, "broker.deliver", Delivery;
    ENTER = 10, "guard.enter", Execution;
    PERFORM = 20, "downstream.perform", Effect;
    FINISH = 21, "guard.finish", Execution;
    ACK = 22, "broker.ack", Delivery;
    DEFER = 23, "broker.defer", Delivery;
    REQUEUE = 26, "recovery.requeue", Execution;
    REJECT = 28, "broker.reject", Delivery;
    WORK = 29, "work", Execution;
    INSTANCE = 30, "instance", Execution;
}

/// 2026-01-01T02:00:00Z, when the first slot is due; one day to the next.
pub const TWO: Timestamp = Timestamp(1_767_232_800_000);

pub fn slot(ordinal: u32) -> Slot {
    Slot { timer: 0, ordinal }
}

pub fn run(ordinal: u32) -> RunKey {
    RunKey::new(&TimerId::new("report"), scheduled(ordinal)).unwrap()
}

pub fn scheduled(ordinal: u32) -> Timestamp {
    TWO.plus_ms(i64::from(ordinal - 1) * 86_400_000)
}

/// A history in the making. Methods that name an identifier set it for the events that follow.
#[derive(Clone)]
pub struct Story {
    pub history: History,
    pub ids: Ids,
    pub instance: InstanceId,
    pub incarnation: u16,
    pub at: Timestamp,
}

/// One timer, so many slots, in a queue, without a record.
pub fn story(slots: u32) -> Story {
    let planned = (1..=slots).map(|ordinal| Planned {
        slot: slot(ordinal),
        scheduled: scheduled(ordinal),
        run: run(ordinal),
    });
    let history = History {
        cast: Arc::new(Cast {
            instances: ["scheduler-1", "executor-1", "executor-2"]
                .map(Arc::from)
                .into(),
            timers: vec![TimerId::new("report")],
            local: false,
            keeps_record: false,
        }),
        planned: planned.collect(),
        ..History::default()
    };
    Story {
        history,
        ids: Ids::default(),
        instance: InstanceId(0),
        incarnation: 1,
        at: TWO,
    }
    .of(1)
}

impl Story {
    /// The events that follow belong to this slot's run; its trace is the slot's number.
    pub fn of(mut self, ordinal: u32) -> Self {
        self.ids = Ids {
            slot: SlotTag::seal(slot(ordinal)),
            run: Some(run(ordinal)),
            trace: Some(TraceId(ordinal.into())),
            ..Ids::default()
        };
        self.at = scheduled(ordinal);
        self
    }

    pub fn by(mut self, instance: u8) -> Self {
        self.instance = InstanceId(instance);
        self
    }

    pub fn life(mut self, incarnation: u16) -> Self {
        self.incarnation = incarnation;
        self
    }

    pub fn trace(mut self, trace: u64) -> Self {
        self.ids.trace = Some(TraceId(trace));
        self
    }

    pub fn message(mut self, message: u32) -> Self {
        self.ids.message = Some(MessageId(message));
        self
    }

    pub fn delivery(mut self, delivery: u32) -> Self {
        self.ids.delivery = delivery;
        self
    }

    pub fn attempt(mut self, attempt: u32) -> Self {
        self.ids.attempt = attempt;
        self
    }

    pub fn after(mut self, ms: i64) -> Self {
        self.at = self.at.plus_ms(ms);
        self
    }

    pub fn says(mut self, step: &'static Step, what: What) -> Self {
        self.history.events.push(Event {
            at: self.at,
            instance: self.instance,
            incarnation: self.incarnation,
            step,
            what,
            ids: self.ids.clone(),
        });
        self
    }

    pub fn fault(self, step: &'static Step, name: &'static str) -> Self {
        let kind = if name == "crash" { 5 } else { 1 };
        self.says(
            step,
            What::Fault(FaultNote {
                kind,
                name,
                detail: "".into(),
                magnitude_ms: 0,
            }),
        )
    }

    /// Fired, claimed and published as this message.
    pub fn dispatched(self, message: u32) -> Self {
        self.by(0)
            .says(&FIRE, What::Fired)
            .says(&CLAIM, What::Claimed)
            .message(message)
            .says(&PUBLISH, What::Published)
    }

    /// Handed over to executor-1 or executor-2, and an attempt begun.
    pub fn started(self, executor: u8, delivery: u32, attempt: u32) -> Self {
        self.by(executor)
            .delivery(delivery)
            .says(&DELIVER, What::Delivered)
            .attempt(attempt)
            .says(&WORK, What::AttemptStarted)
    }

    pub fn effect(self) -> Self {
        let is_effect = |event: &&Event| matches!(event.what, What::Effect { .. });
        let number = 1 + self.history.events.iter().filter(is_effect).count() as u32;
        self.says(&PERFORM, What::Effect { number })
    }

    pub fn ended(self, end: AttemptEnd) -> Self {
        self.says(&WORK, What::AttemptEnded(end))
    }

    pub fn acked(self) -> Self {
        self.says(&ACK, What::Acked)
    }

    /// From dispatch to ack, as it should be.
    pub fn done(self, message: u32) -> Self {
        self.dispatched(message)
            .started(1, 1, 1)
            .effect()
            .ended(AttemptEnd::Succeeded)
            .acked()
    }

    pub fn local(mut self) -> Self {
        Arc::make_mut(&mut self.history.cast).local = true;
        self
    }

    pub fn keeps_record(mut self) -> Self {
        Arc::make_mut(&mut self.history.cast).keeps_record = true;
        self
    }

    pub fn livelock(mut self) -> Self {
        self.history.rest.ended = Ended::Livelock;
        self
    }

    pub fn held(mut self, ordinal: u32, by: Holder) -> Self {
        let slot = slot(ordinal);
        self.history.rest.held.push(Held { slot, by });
        self
    }

    pub fn record(mut self, ordinal: u32, state: RecordState) -> Self {
        self.history.rest.records.push(RecordAtRest {
            slot: slot(ordinal),
            state,
            listed: false,
        });
        self
    }

    /// A record that a list of open work shows.
    pub fn listed(self, ordinal: u32, state: RecordState) -> Self {
        let mut story = self.record(ordinal, state);
        story.history.rest.records.last_mut().unwrap().listed = true;
        story
    }

    pub fn judged(&self) -> Judgement {
        self.judged_by(&Judging::default())
    }

    pub fn judged_by(&self, judging: &Judging) -> Judgement {
        judge(&self.history, judging)
    }

    /// The verdict of the first slot.
    pub fn verdict(&self) -> Verdict {
        self.judged().slots[0].verdict
    }

    /// The verdict of the execution and, where it is a failure, its layer.
    pub fn verdict_and_layer(&self) -> (Verdict, Option<Attribution>) {
        let judgement = self.judged();
        (judgement.verdict, judgement.layer)
    }
}

/// One of each.
pub fn every_what() -> Vec<What> {
    vec![
        What::Fired,
        What::Claimed,
        What::ClaimTaken,
        What::Advanced,
        What::SkippedByPolicy,
        What::OutboxRead,
        What::Published,
        What::PublishDeduplicated,
        What::Marked,
        What::Delivered,
        What::Deferred { for_ms: 1000 },
        What::Acked,
        What::AckRefused,
        What::DeadLettered,
        What::Dropped,
        What::Renewed,
        What::AttemptStarted,
        What::AttemptEnded(AttemptEnd::Succeeded),
        What::HandlerPanic,
        What::SkippedDone,
        What::SkippedTaken,
        What::Busy,
        What::GaveUp,
        What::TakenOver,
        What::OwnershipLost,
        What::Recorded(RecordState::Running),
        What::RecordRefused,
        What::Effect { number: 1 },
        What::Repeated,
        What::EffectRefused,
        What::Found,
        What::NotFound,
        What::Requeued,
        What::TimedOut,
        What::Failed { request: true },
        What::Fault(FaultNote {
            kind: 5,
            name: "crash",
            detail: "before broker.ack".into(),
            magnitude_ms: 0,
        }),
        What::Restarted,
        What::Stopped,
    ]
}
