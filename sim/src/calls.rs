//! Calls on their way: from the instance that waits to the server that answers, and back.

use crate::agenda::Ms;
use crate::servers::{Request, Response};
use crate::tasks::TaskKey;
use evidence::{Ids, Step};
use scenarios::spec::{RunRef, Server};
use scheduler::ports::CallError;

/// A call, and which of the calls that have had its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallKey {
    place: u32,
    generation: u32,
}

/// What a call came to.
pub(crate) type CallResult = Result<Response, CallError>;

/// One call.
pub(crate) struct Call {
    pub(crate) step: &'static Step,
    pub(crate) ids: Ids,
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
    pub(crate) server: Server,
    pub(crate) run: RunRef,
    pub(crate) n: u16,
    /// Key of the call's randomness.
    pub(crate) key: u64,
    /// The task that waits; `None` once it has its answer or has gone.
    pub(crate) task: Option<TaskKey>,
    pub(crate) timeout: Ms,
    /// A long poll is renewed every `timeout` for as long as nothing was lost.
    pub(crate) long_poll: bool,
    pub(crate) deadline: Ms,
    pub(crate) request: Option<Request>,
    /// What a duplicate of the request says.
    pub(crate) copy: Option<Request>,
    pub(crate) refused: bool,
    pub(crate) result: Option<CallResult>,
    /// Actions and server states that still name the call.
    pub(crate) references: u8,
}

struct Place {
    generation: u32,
    call: Option<Call>,
}

/// All calls of one execution.
pub(crate) struct Calls {
    places: Vec<Place>,
    free: Vec<u32>,
    /// How many have begun.
    pub(crate) begun: u32,
}

impl Calls {
    /// No calls.
    pub(crate) fn new() -> Self {
        Calls {
            places: Vec::with_capacity(8),
            free: Vec::with_capacity(8),
            begun: 0,
        }
    }

    /// No calls, as after [`Calls::new`].
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.free.clear();
        self.begun = 0;
    }

    /// Adds a call.
    pub(crate) fn add(&mut self, call: Call) -> CallKey {
        if let Some(place) = self.free.pop() {
            let slot = &mut self.places[place as usize];
            slot.call = Some(call);
            return CallKey {
                place,
                generation: slot.generation,
            };
        }
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.push(Place {
            generation: 0,
            call: Some(call),
        });
        CallKey {
            place,
            generation: 0,
        }
    }

    /// The call, if it is still on its way.
    pub(crate) fn get(&mut self, key: CallKey) -> Option<&mut Call> {
        let place = self.places.get_mut(key.place as usize)?;
        if place.generation != key.generation {
            return None;
        }
        place.call.as_mut()
    }

    /// How many calls somebody waits for.
    pub(crate) fn waited_for(&self) -> usize {
        let calls = self.places.iter().filter_map(|place| place.call.as_ref());
        calls.filter(|call| call.task.is_some()).count()
    }

    /// One action or server state names the call no more.
    pub(crate) fn release(&mut self, key: CallKey) {
        if let Some(call) = self.get(key) {
            call.references = call.references.saturating_sub(1);
            self.free_if_over(key);
        }
    }

    /// Frees the place of a call that nobody waits for or works on.
    pub(crate) fn free_if_over(&mut self, key: CallKey) {
        let over = self.get(key).is_some_and(|call| {
            call.references == 0 && call.task.is_none() && call.result.is_none()
        });
        if over {
            let place = &mut self.places[key.place as usize];
            place.call = None;
            place.generation = place.generation.wrapping_add(1);
            self.free.push(key.place);
        }
    }
}
