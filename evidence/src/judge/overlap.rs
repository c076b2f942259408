//! Two attempts of one run, or of one timer, at once (judged if `[judge] overlap` asks).

use super::facts::{Facts, Setting, place};
use crate::{Event, History, Ids, InstanceId, What};

pub(super) fn holds(facts: &Facts, _: &Setting) -> bool {
    facts.overlap
}

/// An attempt that has begun and not ended.
struct Open<'a> {
    place: usize,
    instance: InstanceId,
    ids: &'a Ids,
}

/// Marks every slot of which an attempt was at work while another of the same timer was.
///
/// An attempt ends with its event, or with its process: when that crashes, stops or is seen back.
/// Before and after are the order of the history, so that of two events in the same millisecond an
/// end before a start is no overlap. The attempts open at one time are few: as many as instances
/// have room for.
pub(super) fn mark(history: &History, facts: &mut [Facts]) {
    let mut open: Vec<Open<'_>> = Vec::new();
    for event in &history.events {
        if ends_process(event) {
            open.retain(|attempt| attempt.instance != event.instance);
            continue;
        }
        let slot = event.ids.slot.truth();
        let Some(place) = slot.and_then(|slot| place(&history.planned, slot)) else {
            continue;
        };
        match event.what {
            What::AttemptStarted => {
                let timer = history.planned[place].slot.timer;
                for other in &open {
                    if history.planned[other.place].slot.timer == timer {
                        facts[other.place].overlap = true;
                        facts[place].overlap = true;
                    }
                }
                open.push(Open {
                    place,
                    instance: event.instance,
                    ids: &event.ids,
                });
            }
            What::AttemptEnded(_) | What::HandlerPanic => open
                .retain(|attempt| (attempt.instance, attempt.ids) != (event.instance, &event.ids)),
            _ => {}
        }
    }
}

/// The name that `scenarios` gives the fault of a dying process.
const CRASH: &str = "crash";

fn ends_process(event: &Event) -> bool {
    match &event.what {
        What::Fault(note) => note.name == CRASH,
        What::Restarted | What::Stopped => true,
        _ => false,
    }
}
