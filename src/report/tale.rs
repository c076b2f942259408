//! Histories made by hand, for tests: who did what at which step, one line an event.

#![allow(clippy::unwrap_used)]

use super::{Execution, why};
use evidence::{
    AttemptEnd, Event, FaultNote, Held, History, Holder, Ids, InstanceId, MessageId, Planned,
    RecordAtRest, RecordState, RunKey, Slot, SlotTag, Step, TimerId, Timestamp, TraceId, What,
    judge,
};
use scenarios::Scenario;
use scenarios::spec::{Fault, FaultKind, Phase, Plan, RunRef, Site};
use scheduler::steps::*;
use std::sync::Arc;

/// 2026-01-01T02:00:00Z, when the first slot is due; one day to the next.
pub const TWO: Timestamp = Timestamp(1_767_232_800_000);
pub const DAY: i64 = 86_400_000;

/// A history in the making. What names an identifier sets it for the events that follow.
#[derive(Clone)]
pub struct Tale {
    pub scenario: Scenario,
    pub history: History,
    pub plan: Plan,
    pub ids: Ids,
    pub slot: Slot,
    pub who: u8,
    pub at: Timestamp,
}

/// Two slots of one timer, two schedulers, two executors, and what the TOML says.
pub fn tale(toml: &str) -> Tale {
    let scenario = Scenario::parse(toml, "tale.toml").unwrap();
    let timer = TimerId::new("report");
    let planned = (1..=2).map(|ordinal| {
        let scheduled = TWO.plus_ms(i64::from(ordinal - 1) * DAY);
        Planned {
            slot: Slot { timer: 0, ordinal },
            scheduled,
            run: RunKey::new(&timer, scheduled).unwrap(),
        }
    });
    let history = History {
        cast: Arc::new(scenario.cast()),
        planned: planned.collect(),
        ..History::default()
    };
    Tale {
        scenario,
        history,
        plan: Plan::empty(),
        ids: Ids::default(),
        slot: Slot {
            timer: 0,
            ordinal: 1,
        },
        who: 0,
        at: TWO,
    }
}

impl Tale {
    /// What follows is about this slot and trace.
    pub fn of(mut self, ordinal: u32, trace: u64) -> Self {
        let planned = self.history.planned[ordinal as usize - 1].clone();
        self.slot = planned.slot;
        self.at = self.at.max(planned.scheduled);
        self.ids = Ids {
            slot: SlotTag::seal(planned.slot),
            run: Some(planned.run),
            trace: Some(TraceId(trace)),
            ..Ids::default()
        };
        self
    }

    pub fn by(mut self, name: &str) -> Self {
        let names = &self.history.cast.instances;
        self.who = names.iter().position(|known| &**known == name).unwrap() as u8;
        self
    }

    pub fn after(mut self, ms: i64) -> Self {
        self.at = self.at.plus_ms(ms);
        self
    }

    pub fn says(mut self, step: &'static Step, what: What) -> Self {
        self.history.events.push(Event {
            at: self.at,
            instance: InstanceId(self.who),
            incarnation: 1,
            step,
            what,
            ids: self.ids.clone(),
        });
        self
    }

    pub fn fired(self, ordinal: u32, trace: u64) -> Self {
        self.of(ordinal, trace).says(&TIMER_FIRE, What::Fired)
    }

    pub fn published(mut self, message: u32) -> Self {
        self.ids.message = Some(MessageId(message));
        self.says(&BROKER_PUBLISH, What::Published)
    }

    pub fn delivered(mut self, message: u32, delivery: u32) -> Self {
        self.ids.message = Some(MessageId(message));
        self.ids.delivery = delivery;
        self.says(&BROKER_DELIVER, What::Delivered)
    }

    pub fn attempt(mut self, attempt: u32) -> Self {
        self.ids.attempt = attempt;
        self.says(&WORK, What::AttemptStarted)
    }

    pub fn effect(self) -> Self {
        let effects = self.history.events.iter();
        let number = effects
            .filter(|event| matches!(event.what, What::Effect { .. }))
            .count();
        self.says(
            &DOWNSTREAM_PERFORM,
            What::Effect {
                number: number as u32 + 1,
            },
        )
    }

    pub fn ended(self, end: AttemptEnd) -> Self {
        self.says(&WORK, What::AttemptEnded(end))
    }

    pub fn acked(self) -> Self {
        self.says(&BROKER_ACK, What::Acked)
    }

    pub fn fault(mut self, kind: FaultKind, step: &'static Step, phase: Phase, ms: i64) -> Self {
        let site = Site {
            instance: InstanceId(self.who),
            step: step.number,
            run: RunRef::Slot(self.slot),
            n: 1,
            phase,
        };
        self.plan.faults.push(Fault {
            site,
            kind,
            magnitude_ms: ms,
        });
        self.says(
            step,
            What::Fault(FaultNote {
                kind: kind as u8,
                name: kind.name(),
                detail: "".into(),
                magnitude_ms: ms,
            }),
        )
    }

    pub fn crash(self, step: &'static Step, phase: Phase) -> Self {
        self.fault(FaultKind::Crash, step, phase, 0)
    }

    /// From the timer to a hand-over to executor-1.
    pub fn handed_over(self) -> Self {
        self.by("scheduler-1")
            .after(12)
            .fired(1, 1)
            .says(&DISPATCH_CLAIM, What::Claimed)
            .after(7)
            .published(1)
            .after(12)
            .by("executor-1")
            .delivered(1, 1)
    }

    /// The same, with an attempt that has its effect.
    pub fn worked(self) -> Self {
        self.handed_over().attempt(1).after(209).effect()
    }

    /// The first slot as it should be.
    pub fn done(self) -> Self {
        self.worked().ended(AttemptEnd::Succeeded).after(5).acked()
    }

    pub fn held(mut self, by: Holder) -> Self {
        let slot = self.slot;
        self.history.rest.held.push(Held { slot, by });
        self
    }

    pub fn record(mut self, state: RecordState) -> Self {
        let slot = self.slot;
        self.history.rest.records.push(RecordAtRest {
            slot,
            state,
            listed: false,
        });
        self
    }

    /// Verdict, layer and sentence.
    pub fn told(self) -> String {
        self.tell(|execution| {
            let layer = match &execution.judgement.layer {
                Some(layer) => format!(" at {layer}"),
                None => String::new(),
            };
            format!("{}{layer}: {}", execution.judgement.verdict, why(execution))
        })
    }

    /// Judges it and tells it; the second slot is not planned if nothing is said of it.
    pub fn tell<T>(mut self, tell: impl FnOnce(&Execution<'_>) -> T) -> T {
        let events = self.history.events.iter();
        let slots = events.filter_map(|event| event.ids.slot.truth());
        let spoken_of = slots.map(|slot| slot.ordinal).max().unwrap_or(1);
        self.history.planned = self.history.planned[..spoken_of as usize].into();
        tell(&Execution {
            scenario: &self.scenario,
            seed: 1,
            plan: &self.plan,
            token: None,
            path: None,
            history: &self.history,
            judgement: &judge(&self.history, &self.scenario.judge),
            trace_hash: self.history.hash(),
        })
    }

    /// Everything happens a minute later than it should.
    pub fn a_minute_later(mut self) -> Self {
        for event in &mut self.history.events {
            event.at = event.at.plus_ms(60_000);
        }
        self
    }
}
