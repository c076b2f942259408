//! Deliveries, deadlines and broken connections of the broker.

use super::about;
use crate::agenda::Action;
use crate::calls::CallKey;
use crate::servers::Response;
use crate::servers::broker::{GivenUp, Settling};
use crate::world::World;
use evidence::{Ids, InstanceId, MessageId, What};
use scheduler::ports::Receipt;
use scheduler::steps;

impl World {
    /// Hands messages to waiting consumers for as long as there are both.
    pub(crate) fn hand_over(&mut self) {
        loop {
            let now = self.now;
            let calls = &mut self.calls;
            let over = self
                .broker
                .hand_over(now, |call| calls.get(call).map_or(0, |call| call.instance));
            let Some(over) = over else { return };
            let Some(call) = self.calls.get(over.call) else {
                continue;
            };
            let (instance, incarnation) = (call.instance, call.incarnation);
            let ids = Ids {
                slot: over.delivery.envelope.slot,
                run: Some(over.delivery.envelope.run.clone()),
                message: Some(over.delivery.message),
                trace: Some(over.delivery.envelope.trace),
                delivery: over.delivery.count,
                attempt: 0,
            };
            self.record(
                instance,
                incarnation,
                &steps::BROKER_DELIVER,
                What::Delivered,
                ids,
            );
            if let Some(deadline) = over.deadline {
                let (message, delivery) = (over.message, over.delivery.count);
                self.agenda.add(
                    deadline,
                    instance,
                    Action::AckDeadline { message, delivery },
                );
            }
            self.done(over.call, Response::Delivery(over.delivery));
        }
    }

    /// What a consumer said of a delivery has been taken in, or refused.
    pub(super) fn settled(
        &mut self,
        key: CallKey,
        receipt: Receipt,
        settling: Settling,
        accepted: What,
        again: bool,
    ) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation, step) = (call.instance, call.incarnation, call.step);
        let (message, delivery) = about(receipt);
        let ids = Ids {
            message: Some(message),
            delivery,
            ..call.ids.clone()
        };
        let what = if settling == Settling::NotYours {
            What::AckRefused
        } else {
            accepted
        };
        self.record(instance, incarnation, step, what, ids);
        let message = message.0 - 1;
        match settling {
            Settling::Later(at) => {
                self.agenda.add(at, instance, Action::Available { message });
            }
            Settling::Extended(at) => {
                self.agenda
                    .add(at, instance, Action::AckDeadline { message, delivery });
            }
            Settling::Accepted | Settling::NotYours => {}
        }
        self.respond(key, Response::Settled(settling.settled()), again);
    }

    /// The deadline of a delivery.
    pub(crate) fn ack_deadline(&mut self, message: u32, delivery: u32) {
        if let Some(given_up) = self.broker.deadline(self.now, message, delivery) {
            self.given_up(given_up);
        }
        self.hand_over();
    }

    /// A deferred message is available.
    pub(crate) fn available(&mut self, message: u32) {
        if let Some(given_up) = self.broker.available(message) {
            self.given_up(given_up);
        }
        self.hand_over();
    }

    fn given_up(&mut self, given_up: GivenUp) {
        let (place, what) = match given_up {
            GivenUp::DeadLettered(place) => (place, What::DeadLettered),
            GivenUp::Dropped(place) => (place, What::Dropped),
        };
        let message = &self.broker.messages[place as usize];
        let ids = Ids {
            slot: message.envelope.slot,
            run: Some(message.envelope.run.clone()),
            message: Some(MessageId(place + 1)),
            trace: Some(message.envelope.trace),
            delivery: message.deliveries,
            attempt: 0,
        };
        let broker = InstanceId::BROKER.0;
        self.record(broker, 1, &steps::BROKER_DELIVER, what, ids);
    }

    /// An instance's connections are gone.
    pub(crate) fn disconnected(&mut self, instance: u8) {
        let calls = &mut self.calls;
        let gone = self
            .broker
            .forget_consumers(|call| calls.get(call).is_none_or(|call| call.instance == instance));
        for call in gone {
            self.calls.release(call);
        }
        for given_up in self.broker.disconnect(instance) {
            self.given_up(given_up);
        }
        self.hand_over();
    }

    /// The broker goes down, and every connection to it breaks.
    pub(crate) fn broker_goes_down(&mut self) {
        for given_up in self.broker.go_down() {
            self.given_up(given_up);
        }
        for call in self.broker.forget_consumers(|_| true) {
            self.break_call(call);
        }
    }

    /// The broker is back.
    pub(crate) fn broker_comes_up(&mut self) {
        self.broker.down = false;
        self.hand_over();
    }
}
