//! The events of one slot, and the questions that the templates ask of them.

use super::super::{Execution, Spoken};
use super::causes;
use evidence::{Event, Holder, InstanceId, MessageId, RecordState, SlotVerdict, Timestamp, What};
use scenarios::spec::{Fault, FaultKind};

/// What happened to one slot.
pub(super) struct Story<'a> {
    pub execution: &'a Execution<'a>,
    pub told: &'a SlotVerdict,
    /// The events of the slot, in order.
    pub events: Vec<&'a Event>,
    /// The faults of the whole execution, in order.
    pub faults: Vec<(&'a Fault, &'a Event)>,
}

/// The slot's first two effects.
pub(super) struct Two<'a> {
    pub first: &'a Event,
    pub second: &'a Event,
}

impl<'a> Story<'a> {
    pub fn of(execution: &'a Execution<'a>, told: &'a SlotVerdict) -> Self {
        Story {
            execution,
            told,
            events: execution.events_of(told.slot).collect(),
            faults: execution.faults().collect(),
        }
    }

    /// The name of an event's instance.
    pub fn who(&self, event: &Event) -> &'a str {
        self.execution.name(event)
    }

    /// The slot, such as `report#2`.
    pub fn slot(&self) -> String {
        self.execution.history.cast.slot(self.told.slot)
    }

    /// The first event of the slot that says this.
    pub fn first(&self, says: impl Fn(&What) -> bool) -> Option<&'a Event> {
        self.events.iter().copied().find(|event| says(&event.what))
    }

    /// The last event of the slot that says this.
    pub fn last(&self, says: impl Fn(&What) -> bool) -> Option<&'a Event> {
        self.events.iter().copied().rfind(|event| says(&event.what))
    }

    /// The effects of the slot, in order.
    pub fn effects(&self) -> impl Iterator<Item = &'a Event> {
        let events = self.events.iter().copied();
        events.filter(|event| matches!(event.what, What::Effect { .. }))
    }

    /// The hand-over of a message with this delivery count.
    pub fn delivered(&self, message: Option<MessageId>, delivery: u32) -> Option<&'a Event> {
        self.events.iter().copied().find(|event| {
            event.what == What::Delivered
                && event.ids.message == message
                && event.ids.delivery == delivery
        })
    }

    /// The first event that bears a message: its publish.
    pub fn published(&self, message: Option<MessageId>) -> Option<&'a Event> {
        self.events
            .iter()
            .copied()
            .find(|event| event.what == What::Published && event.ids.message == message)
    }

    /// The start of the attempt that an event belongs to.
    pub fn started(&self, of: &Event) -> Option<&'a Event> {
        self.events.iter().copied().rfind(|event| {
            event.what == What::AttemptStarted && event.at <= of.at && is_same_attempt(event, of)
        })
    }

    /// The end of the attempt that an event belongs to.
    pub fn ended(&self, of: &Event) -> Option<&'a Event> {
        self.events.iter().copied().find(|event| {
            matches!(event.what, What::AttemptEnded(_))
                && event.at >= of.at
                && is_same_attempt(event, of)
        })
    }

    /// The faults up to an event, the last first.
    pub fn faults_before(&self, event: &Event) -> impl Iterator<Item = (&'a Fault, &'a Event)> {
        let until = event.at;
        let faults = self.faults.iter().rev().copied();
        faults.filter(move |(_, strike)| strike.at <= until)
    }

    /// The last fault of these kinds that struck one instance up to an event.
    pub fn struck(
        &self,
        instance: InstanceId,
        until: &Event,
        kinds: &[FaultKind],
    ) -> Option<(&'a Fault, &'a Event)> {
        self.faults_before(until).find(|(fault, strike)| {
            strike.instance == instance && (kinds.is_empty() || kinds.contains(&fault.kind))
        })
    }

    /// The last fault of all, as a clause such as `executor-1 died before it acked`.
    pub fn last_cause(&self) -> Option<String> {
        let (fault, strike) = self.faults.last()?;
        Some(self.cause(fault, strike))
    }

    /// The last fault up to an event, as a clause.
    pub fn cause_before(&self, event: &Event) -> Option<String> {
        let (fault, strike) = self.faults_before(event).next()?;
        Some(self.cause(fault, strike))
    }

    /// Every fault, as one clause; what happened several times is said once.
    pub fn all_causes(&self) -> Option<String> {
        let mut causes: Vec<(String, String, u32)> = Vec::new();
        for (fault, strike) in &self.faults {
            let cause = self.cause(fault, strike);
            let timeless = cause.replacen(&causes::moment(strike), "", 1);
            match causes.iter_mut().find(|(_, said, _)| *said == timeless) {
                Some((.., times)) => *times += 1,
                None => causes.push((cause, timeless, 1)),
            }
        }
        let causes = causes
            .into_iter()
            .map(|(cause, timeless, times)| match times {
                1 => cause,
                2 => format!("{timeless}, twice"),
                _ => format!("{timeless}, {times} times"),
            });
        let causes: Vec<String> = causes.collect();
        (!causes.is_empty()).then(|| causes.join(", and "))
    }

    /// A fault as a clause.
    pub fn cause(&self, fault: &Fault, strike: &Event) -> String {
        causes::clause(self, fault, strike)
    }

    /// A fault as a clause about somebody who was named just before: `it died before it acked`.
    pub fn cause_of(&self, who: &str, cause: &str) -> String {
        match cause.strip_prefix(who) {
            Some(rest) if rest.starts_with("'s ") => format!("its {}", &rest[3..]),
            Some(rest) if rest.starts_with(' ') => format!("it{rest}"),
            _ => cause.replacen(&format!("{who}'s"), "its", 1),
        }
    }

    /// True if something still holds the slot's run like this at the end.
    pub fn is_held(&self, by: Holder) -> bool {
        let held = &self.execution.history.rest.held;
        held.iter()
            .any(|held| held.slot == self.told.slot && held.by == by)
    }

    /// The state of the slot's record at the end.
    pub fn record(&self) -> Option<RecordState> {
        let records = &self.execution.history.rest.records;
        let own = records.iter().filter(|row| row.slot == self.told.slot);
        own.map(|record| record.state).max()
    }

    /// How many events of the slot say this.
    pub fn number(&self, says: impl Fn(&What) -> bool) -> u64 {
        let events = self.events.iter();
        events.filter(|event| says(&event.what)).count() as u64
    }

    /// Whether an admin calls executors, so that no broker lies between.
    pub(super) fn calls_executors(&self) -> bool {
        self.execution.scenario.topology.kind.calls_executors()
    }

    /// The guard, as scenario files write it; `None` where there is none.
    pub fn guard(&self) -> Option<&'static str> {
        match self.execution.scenario.guard.name() {
            "none" => None,
            name => Some(name),
        }
    }

    /// The latest message of the run that was handed over, published or parked.
    pub fn message(&self) -> String {
        let message = self.events.iter().rev().find_map(|event| event.ids.message);
        message.map_or_else(|| "the message".to_owned(), |message| message.to_string())
    }

    /// The time from one event to another, as a sentence says it.
    pub fn between(&self, from: &Event, to: &Event) -> Spoken {
        Spoken::about(to.at.ms_since(from.at))
    }
}

/// Whether two events are of one attempt of one instance's life.
fn is_same_attempt(one: &Event, other: &Event) -> bool {
    let of = |event: &Event| {
        let Event {
            instance,
            incarnation,
            ids,
            ..
        } = event;
        (
            *instance,
            *incarnation,
            ids.trace,
            ids.message,
            ids.delivery,
            ids.attempt,
        )
    };
    of(one) == of(other)
}

/// The time of day.
pub(super) fn at(moment: Timestamp) -> evidence::Clock {
    moment.clock()
}

/// A message's name.
pub(super) fn message(event: &Event) -> String {
    match event.ids.message {
        Some(message) => message.to_string(),
        None => "the message".to_owned(),
    }
}
