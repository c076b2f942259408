//! What really gave rise to an effect: the chain of events that led to it, back to the timer.
//!
//! Nothing here compares the identifiers of two effects, as the attribution does. Each effect is
//! followed back, event by event: to the attempt that asked for it, to the delivery that began the
//! attempt, to the message that was delivered, to the firing that the message is of. Each of these is
//! *one event* of the history, at one place in it; two effects were born apart at the first of these
//! links at which their chains stand at different places.

use evidence::{Event, History, Layer, Slot, What};

/// The places in a history of what led to an effect, from the timer on.
#[derive(Debug, PartialEq)]
struct Chain {
    fired: Option<usize>,
    published: Option<usize>,
    delivered: Option<usize>,
    attempted: Option<usize>,
}

/// Where the first two effects of a slot parted; `None` where it has fewer.
pub fn origin(history: &History, slot: Slot) -> Option<Layer> {
    let events: Vec<(usize, &Event)> = (history.events.iter().enumerate())
        .filter(|(_, event)| event.ids.slot.truth() == Some(slot))
        .collect();
    let effects = events.iter().filter(|(_, event)| is_effect(event));
    let mut chains = effects.map(|(place, event)| chain(&events, *place, event));
    let (first, second) = (chains.next()?, chains.next()?);
    Some(if first.fired != second.fired {
        Layer::Scheduling
    } else if first.published != second.published {
        Layer::Publishing
    } else if first.delivered != second.delivered {
        Layer::Delivery
    } else if first.attempted != second.attempted {
        Layer::Execution
    } else {
        Layer::Effect
    })
}

fn is_effect(event: &Event) -> bool {
    matches!(event.what, What::Effect { .. })
}

fn chain(events: &[(usize, &Event)], effect: usize, asked_by: &Event) -> Chain {
    let same_life = |event: &Event| {
        event.instance == asked_by.instance && event.incarnation == asked_by.incarnation
    };
    // A process may have several deliveries at work at once.
    let of_the_delivery = |event: &Event| {
        event.ids.message == asked_by.ids.message && event.ids.delivery == asked_by.ids.delivery
    };
    // The last such event before a place.
    let last = |before: usize, is: &dyn Fn(&Event) -> bool| {
        let mut earlier = events.iter().rev().filter(|(place, _)| *place < before);
        earlier
            .find(|(_, event)| is(event))
            .map(|(place, _)| *place)
    };
    let attempted = last(effect, &|event| {
        event.what == What::AttemptStarted
            && same_life(event)
            && event.ids.attempt == asked_by.ids.attempt
            && of_the_delivery(event)
    });
    let delivered = last(attempted.unwrap_or(effect), &|event| {
        event.what == What::Delivered && same_life(event) && of_the_delivery(event)
    });
    // Whoever is called may have begun before the caller hears that it was taken.
    let published = events.iter().find(|(_, event)| {
        event.what == What::Published && event.ids.message == asked_by.ids.message
    });
    let published = published.map(|(place, _)| *place);
    let fired = last(published.unwrap_or(effect), &|event| {
        event.what == What::Fired && event.ids.trace == asked_by.ids.trace
    });
    Chain {
        fired,
        published,
        delivered,
        attempted,
    }
}
