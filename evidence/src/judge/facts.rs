//! What the judge knows of a slot: gathered in one pass over the history.

use super::{Judging, SkippedAs};
use crate::{Ended, History, Holder, Planned, RecordState, Slot, What};
use std::collections::BTreeMap;

/// What holds for every slot of the execution.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// The execution was cut because it went on and on.
    pub livelock: bool,
    /// An execution record exists that ends in a final state.
    pub keeps_record: bool,
    /// No messages, no deliveries.
    pub local: bool,
    /// What a slot is that a policy dropped.
    pub skipped: SkippedAs,
}

impl Setting {
    pub fn of(history: &History, judging: &Judging) -> Self {
        Setting {
            livelock: history.rest.ended == Ended::Livelock,
            keeps_record: history.cast.keeps_record,
            local: history.cast.local,
            skipped: judging.skipped,
        }
    }
}

/// What is known of one slot.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    /// The slot belongs to no planned one.
    pub unplanned: bool,
    /// Entries of the downstream's ledger.
    pub effects: u32,
    /// Which records it has at the end.
    records: Set,
    /// What holds it at the end.
    held: Set,
    /// A list of open work shows its record.
    listed: bool,
    /// A policy dropped it, and nobody went on with it after that.
    skipped: bool,
    /// The broker accepted a message of it.
    published: bool,
    /// An attempt began.
    started: bool,
    /// The attempt that began last has ended.
    pub ended: bool,
    /// An effect came from a superseded attempt (if asked).
    pub stale: bool,
    /// Two attempts at once (if asked).
    pub overlap: bool,
    /// An effect came too early (if asked).
    pub early: bool,
    /// An effect came too late (if asked).
    pub late: bool,
}

/// A set of variants of a small enum, by their place.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Set(u8);

impl Set {
    const fn of(places: &[u8]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < places.len() {
            set |= 1 << places[i];
            i += 1;
        }
        Set(set)
    }

    fn add(&mut self, place: u8) {
        self.0 |= 1 << place;
    }

    const fn has_any(self, of: Set) -> bool {
        self.0 & of.0 != 0
    }
}

const SUCCEEDED: Set = Set::of(&[RecordState::Succeeded as u8]);
const FAILED: Set = Set::of(&[RecordState::Failed as u8]);
const DEAD: Set = Set::of(&[RecordState::Dead as u8]);
const UNKNOWN: Set = Set::of(&[RecordState::Unknown as u8]);
const ANY: Set = Set(u8::MAX);
const FINAL: Set = Set(SUCCEEDED.0 | FAILED.0 | DEAD.0 | UNKNOWN.0);

const DEAD_LETTER: Set = Set::of(&[Holder::DeadLetter as u8]);
const ARMED_TIMER: Set = Set::of(&[Holder::ArmedTimer as u8]);
/// What goes on by itself: everything but a dead letter.
const LIVE: Set = Set(!DEAD_LETTER.0);
/// What keeps a run that has had its effect from being at rest. A timer is not among it: what it
/// may still do is to find the slot dispatched.
const UNSETTLED: Set = Set(!ARMED_TIMER.0);
const LIVE_AFTER_EFFECT: Set = Set(LIVE.0 & UNSETTLED.0);

impl Facts {
    /// Effects that belong to no planned slot.
    pub fn phantom(effects: u32) -> Self {
        Facts {
            unplanned: true,
            effects,
            ..Facts::default()
        }
    }

    pub fn recorded_succeeded(&self) -> bool {
        self.records.has_any(SUCCEEDED)
    }

    pub fn recorded_dead(&self) -> bool {
        self.records.has_any(DEAD)
    }

    pub fn recorded_failed(&self) -> bool {
        self.records.has_any(FAILED)
    }

    pub fn recorded_unknown(&self) -> bool {
        self.records.has_any(UNKNOWN)
    }

    /// Somebody has written down how the run ended, truly or not, for good.
    pub fn has_outcome(&self) -> bool {
        self.recorded_succeeded() || self.recorded_dead() || self.recorded_unknown()
    }

    /// No record says anything of the run's execution. Where none ends in a final state, an open
    /// row is the claim's and says only that the run was dispatched.
    pub fn is_unrecorded(&self, setting: &Setting) -> bool {
        let telling = if setting.keeps_record { ANY } else { FINAL };
        !self.records.has_any(telling)
    }

    /// A person or a component can still find the run.
    pub fn is_held(&self) -> bool {
        self.held.has_any(ANY) || self.listed
    }

    pub fn has_dead_letter(&self) -> bool {
        self.held.has_any(DEAD_LETTER)
    }

    /// A message, an outbox row or an attempt is left.
    pub fn is_unsettled(&self) -> bool {
        self.held.has_any(UNSETTLED)
    }

    /// The run was still going round when the execution was cut. Before its effect, everything
    /// that may still bring one counts; after it, only what is not yet settled.
    pub fn goes_round(&self, setting: &Setting) -> bool {
        let round = match self.effects {
            0 => self.held.has_any(LIVE) || self.listed,
            _ => self.held.has_any(LIVE_AFTER_EFFECT),
        };
        setting.livelock && round
    }

    /// A declared policy dropped the slot: no attempt began, and nothing holds it.
    pub fn dropped_by_policy(&self) -> bool {
        self.skipped && !self.started && self.held == Set::default()
    }

    fn learn(&mut self, what: &What, of_message: bool) {
        match what {
            What::Effect { .. } => self.effects += 1,
            What::Published | What::Requeued => {
                self.published = true;
                self.skipped = false;
            }
            // What one scheduler skips, another may have dispatched; what an executor drops is
            // the message itself.
            What::SkippedByPolicy => self.skipped |= of_message || !self.published,
            What::AttemptStarted => {
                self.started = true;
                self.ended = false;
            }
            What::AttemptEnded(_) | What::HandlerPanic => self.ended = true,
            _ => {}
        }
    }
}

/// The facts of every planned slot, in the order of `planned`, and how many effects each unplanned
/// slot has.
pub(super) fn gather(history: &History) -> (Vec<Facts>, BTreeMap<Slot, u32>) {
    let mut facts = vec![Facts::default(); history.planned.len()];
    let mut phantoms = BTreeMap::new();
    for event in &history.events {
        let slot = event.ids.slot.truth();
        match slot.and_then(|slot| place(&history.planned, slot)) {
            Some(place) => facts[place].learn(&event.what, event.ids.message.is_some()),
            None if matches!(event.what, What::Effect { .. }) => {
                *phantoms.entry(slot.unwrap_or(Slot::NOWHERE)).or_default() += 1;
            }
            None => {}
        }
    }
    for held in &history.rest.held {
        if let Some(place) = place(&history.planned, held.slot) {
            facts[place].held.add(held.by as u8);
        }
    }
    for record in &history.rest.records {
        if let Some(place) = place(&history.planned, record.slot) {
            facts[place].records.add(record.state as u8);
            let open = matches!(record.state, RecordState::Created | RecordState::Queued);
            facts[place].listed |= record.listed && open;
        }
    }
    (facts, phantoms)
}

/// Where a slot stands among the planned ones, which are ordered by slot.
pub(super) fn place(planned: &[Planned], slot: Slot) -> Option<usize> {
    planned
        .binary_search_by_key(&slot, |planned| planned.slot)
        .ok()
}
