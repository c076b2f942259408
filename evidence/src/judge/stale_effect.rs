//! An effect accepted after its fencing token was superseded (judged if `[judge] stale` asks).

use super::facts::{Facts, Setting, place};
use crate::{Event, History, InstanceId, MessageId, What};

pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    facts.stale
}

/// Which attempt an event belongs to, among all attempts of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Attempt {
    instance: InstanceId,
    incarnation: u16,
    message: Option<MessageId>,
    delivery: u32,
    attempt: u32,
}

impl Attempt {
    fn of(event: &Event) -> Self {
        Attempt {
            instance: event.instance,
            incarnation: event.incarnation,
            message: event.ids.message,
            delivery: event.ids.delivery,
            attempt: event.ids.attempt,
        }
    }
}

/// Marks every slot with an effect that came from another attempt than the one that began last.
pub(super) fn mark(history: &History, facts: &mut [Facts]) {
    let mut current: Vec<Option<Attempt>> = vec![None; facts.len()];
    for event in &history.events {
        let Some(place) = event
            .ids
            .slot
            .truth()
            .and_then(|slot| place(&history.planned, slot))
        else {
            continue;
        };
        match event.what {
            What::AttemptStarted | What::TakenOver => current[place] = Some(Attempt::of(event)),
            What::Effect { .. } => {
                let superseded = current[place].is_some_and(|last| last != Attempt::of(event));
                facts[place].stale |= superseded;
            }
            _ => {}
        }
    }
}
