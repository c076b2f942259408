//! The hash of a history: two executions with the same hash are the same execution.
//!
//! The history is written as bytes whose form is the same on every platform (little-endian, every
//! text and list with its length before it, every enum by a number that never changes) and hashed
//! with xxh3-64. [`FaultNote::detail`](crate::FaultNote::detail) is presentation and left out; a
//! step is its number, a slot is what the seal hides.

use crate::{Cast, Event, History, Planned, Rest, Slot, TimerId, What};
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// Hash of a history; prints as 16 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceHash(pub u64);

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Stands at the start of the bytes; changes with their form, and then every hash does.
const FORM: &[u8] = b"runkey history/1";

impl History {
    /// The hash of everything that happened.
    pub fn hash(&self) -> TraceHash {
        self.hash_with(&mut Vec::with_capacity(256 + 96 * self.events.len()))
    }

    /// [`History::hash`], written into a buffer that the caller keeps from one execution to the
    /// next (its content is replaced).
    pub fn hash_with(&self, buffer: &mut Vec<u8>) -> TraceHash {
        buffer.clear();
        buffer.extend_from_slice(FORM);
        write_cast(buffer, &self.cast);
        write_length(buffer, self.planned.len());
        for planned in self.planned.iter() {
            write_planned(buffer, planned);
        }
        write_length(buffer, self.events.len());
        for event in &self.events {
            write_event(buffer, event);
        }
        write_rest(buffer, &self.rest);
        TraceHash(xxh3_64(buffer))
    }
}

fn write_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_length(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn write_slot(bytes: &mut Vec<u8>, slot: Slot) {
    bytes.extend_from_slice(&slot.timer.to_le_bytes());
    bytes.extend_from_slice(&slot.ordinal.to_le_bytes());
}

fn write_cast(bytes: &mut Vec<u8>, cast: &Cast) {
    let Cast {
        instances,
        timers,
        local,
        keeps_record,
    } = cast;
    write_length(bytes, instances.len());
    for name in instances {
        write_text(bytes, name);
    }
    write_length(bytes, timers.len());
    for name in timers.iter().map(TimerId::as_str) {
        write_text(bytes, name);
    }
    bytes.extend_from_slice(&[u8::from(*local), u8::from(*keeps_record)]);
}

fn write_planned(bytes: &mut Vec<u8>, planned: &Planned) {
    let Planned {
        slot,
        scheduled,
        run,
    } = planned;
    write_slot(bytes, *slot);
    bytes.extend_from_slice(&scheduled.0.to_le_bytes());
    write_text(bytes, run.as_str());
}

/// Everything of fixed size goes through one array and one copy: an execution has about a hundred
/// events and the hash of all of them has a microsecond.
fn write_event(bytes: &mut Vec<u8>, event: &Event) {
    let Event {
        at,
        instance,
        incarnation,
        step,
        what,
        ids,
    } = event;
    let slot = ids.slot.truth();
    let given = u8::from(slot.is_some())
        | u8::from(ids.run.is_some()) << 1
        | u8::from(ids.message.is_some()) << 2
        | u8::from(ids.trace.is_some()) << 3;
    let (timer, ordinal) = slot.map_or((0, 0), |slot| (slot.timer, slot.ordinal));
    let message = ids.message.map_or(0, |message| message.0);
    let trace = ids.trace.map_or(0, |trace| trace.0);
    let run = ids.run.as_ref().map_or("", |run| run.as_str());

    let mut fixed = [0; 48];
    fixed[0..8].copy_from_slice(&at.0.to_le_bytes());
    fixed[8] = instance.0;
    fixed[9..11].copy_from_slice(&incarnation.to_le_bytes());
    fixed[11] = step.number;
    fixed[12] = what.number();
    fixed[13] = given;
    fixed[14..16].copy_from_slice(&timer.to_le_bytes());
    fixed[16..20].copy_from_slice(&ordinal.to_le_bytes());
    fixed[20..24].copy_from_slice(&message.to_le_bytes());
    fixed[24..32].copy_from_slice(&trace.to_le_bytes());
    fixed[32..36].copy_from_slice(&ids.delivery.to_le_bytes());
    fixed[36..40].copy_from_slice(&ids.attempt.to_le_bytes());
    fixed[40..48].copy_from_slice(&(run.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&fixed);
    bytes.extend_from_slice(run.as_bytes());
    write_particulars(bytes, what);
}

/// What [`What::number`] does not tell.
fn write_particulars(bytes: &mut Vec<u8>, what: &What) {
    match what {
        What::Deferred { for_ms: number } | What::Effect { number } => {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        What::AttemptEnded(end) => bytes.push(*end as u8),
        What::Recorded(state) => bytes.push(*state as u8),
        What::Failed { request } => bytes.push(u8::from(*request)),
        What::Fault(note) => {
            bytes.push(note.kind);
            bytes.extend_from_slice(&note.magnitude_ms.to_le_bytes());
            write_text(bytes, note.name);
        }
        _ => {}
    }
}

fn write_rest(bytes: &mut Vec<u8>, rest: &Rest) {
    let Rest {
        ended,
        at,
        held,
        records,
    } = rest;
    bytes.push(*ended as u8);
    bytes.extend_from_slice(&at.0.to_le_bytes());
    write_length(bytes, held.len());
    for held in held {
        write_slot(bytes, held.slot);
        bytes.push(held.by as u8);
    }
    write_length(bytes, records.len());
    for record in records {
        write_slot(bytes, record.slot);
        bytes.extend_from_slice(&[record.state as u8, u8::from(record.listed)]);
    }
}
