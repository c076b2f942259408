//! One execution, with all that is needed to tell it.

use evidence::{Event, History, Judgement, Slot, SlotVerdict, TraceHash};
use scenarios::spec::{Fault, Plan};
use scenarios::{Scenario, Token};

/// One execution, ready to be told.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// What was simulated.
    pub scenario: &'a Scenario,
    /// The seed of all message timings.
    pub seed: u64,
    /// What went wrong.
    pub plan: &'a Plan,
    /// Replays it; `None` for a plan that is too long for a token.
    pub token: Option<&'a str>,
    /// The scenario's file, where it is not in the catalogue and replaying needs to be told.
    pub path: Option<&'a str>,
    /// What happened.
    pub history: &'a History,
    /// What it means.
    pub judgement: &'a Judgement,
    /// Identifies it.
    pub trace_hash: TraceHash,
}

impl<'a> Execution<'a> {
    /// The slot that the story is about: the worst; where all is well, the first that a fault
    /// struck.
    pub fn told(&self) -> Option<&'a SlotVerdict> {
        let slots = &self.judgement.slots;
        let struck = |slot: &&SlotVerdict| {
            self.faults()
                .any(|(_, event)| event.ids.slot.truth() == Some(slot.slot))
        };
        match self.judgement.failure {
            true => self.judgement.worst(),
            false => slots.iter().find(struck).or(self.judgement.worst()),
        }
    }

    /// The events of one slot's run, in order.
    pub fn events_of(&self, slot: Slot) -> impl DoubleEndedIterator<Item = &'a Event> {
        let events = self.history.events.iter();
        events.filter(move |event| event.ids.slot.truth() == Some(slot))
    }

    /// The faults of the plan, each with the event of its strike.
    pub fn faults(&self) -> impl DoubleEndedIterator<Item = (&'a Fault, &'a Event)> {
        let struck: Vec<&Event> = self
            .history
            .events
            .iter()
            .filter(|event| matches!(event.what, evidence::What::Fault(_)))
            .collect();
        self.plan.faults.iter().zip(struck)
    }

    /// The command that shows it again.
    pub fn replay(&self) -> Option<String> {
        let token = self.token?;
        // What a test brings along is in the test's binary only.
        if let Some(test) = Token::decode(token).ok().and_then(|token| token.test) {
            // `name#2` is the second check of the test `name`.
            let test = test.split('#').next().unwrap_or_default();
            return Some(format!("RUNKEY_REPLAY={token} cargo test {test}"));
        }
        Some(match self.path {
            Some(path) => format!("runkey replay {token} {path}"),
            None => format!("runkey replay {token}"),
        })
    }

    /// The name of an instance.
    pub fn name(&self, event: &Event) -> &'a str {
        let cast: &'a evidence::Cast = &self.history.cast;
        cast.instance(event.instance)
    }
}
