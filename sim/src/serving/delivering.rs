//! Deliveries, deadlines and broken connections of the broker.

use crate::agenda::{Action, Ms};
use crate::calls::CallKey;
use crate::servers::Response;
use crate::servers::broker::{named, receipt, settled};
use crate::world::World;
use evidence::{Ids, InstanceId, MessageId, What};
use scheduler::ports::{self, Settled};
use scheduler::steps;
use servers::broker::{GivenUp, HandedOver, Receipt, Settling};

impl World {
    /// Hands messages to waiting consumers for as long as there are both.
    pub(crate) fn hand_over(&mut self) {
        loop {
            let now = self.now;
            let calls = &mut self.calls;
            let over = self
                .broker
                .hand_over(now, |call| calls.get(call).map_or(0, |call| call.instance));
            let (to, delivery) = match over {
                None => return,
                Some(HandedOver::Ahead(ahead)) => {
                    self.await_deadline(ahead.holder as u8, ahead.receipt, ahead.deadline);
                    continue;
                }
                Some(HandedOver::ToConsumer(to, delivery)) => (to, delivery),
            };
            let Some(call) = self.calls.get(to) else {
                continue;
            };
            let (instance, incarnation) = (call.instance, call.incarnation);
            let message = MessageId(delivery.receipt.message + 1);
            let ids = Ids {
                slot: delivery.body.slot,
                run: Some(delivery.body.run.clone()),
                message: Some(message),
                trace: Some(delivery.body.trace),
                delivery: delivery.count,
                attempt: 0,
            };
            self.record(
                instance,
                incarnation,
                &steps::BROKER_DELIVER,
                What::Delivered,
                ids,
            );
            if !delivery.prefetched {
                self.await_deadline(instance, delivery.receipt, delivery.deadline);
            }
            let delivery = ports::Delivery {
                message,
                envelope: delivery.body,
                count: delivery.count,
                receipt: receipt(delivery.receipt),
            };
            self.done(to, Response::Delivery(delivery));
        }
    }

    fn await_deadline(&mut self, instance: u8, of: Receipt, deadline: Option<Ms>) {
        if let Some(deadline) = deadline {
            let (message, delivery) = (of.message, of.delivery);
            let action = Action::AckDeadline { message, delivery };
            self.agenda.add(deadline, instance, action);
        }
    }

    /// What a consumer said of a delivery has been taken in, or refused.
    pub(super) fn settled(
        &mut self,
        key: CallKey,
        of: ports::Receipt,
        settling: Settling,
        accepted: What,
        again: bool,
    ) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation, step) = (call.instance, call.incarnation, call.step);
        let of = named(of);
        let mut ids = Ids {
            message: Some(MessageId(of.message + 1)),
            delivery: of.delivery,
            ..call.ids.clone()
        };
        let told = settled(&settling);
        let what = match told {
            Settled::NotYours => What::AckRefused,
            Settled::Accepted => accepted,
        };
        if let Settling::Another(other) = &settling {
            // Whoever said so means its own message, and another one is gone.
            self.record(instance, incarnation, step, What::AckRefused, ids);
            ids = self.ids_of(other.message, other.delivery);
        }
        self.record(instance, incarnation, step, what, ids);
        match settling {
            Settling::Later(at) => {
                let message = of.message;
                self.agenda.add(at, instance, Action::Available { message });
                if let Some(deadline) = self.broker.model().held_until_deadline(message) {
                    self.await_deadline(instance, of, Some(deadline));
                }
            }
            Settling::Extended(at) => self.await_deadline(instance, of, Some(at)),
            Settling::GivenUp(given_up) => self.given_up(given_up),
            Settling::Closed(given_up) => {
                for given_up in given_up {
                    self.given_up(given_up);
                }
            }
            Settling::Accepted | Settling::Another(_) | Settling::NotYours => {}
        }
        let told = match self.broker.tells_refusals() {
            true => told,
            false => Settled::Accepted,
        };
        self.respond(key, Response::Settled(told), again);
        // What is settled makes room for another message.
        self.hand_over();
    }

    /// The deadline of a delivery.
    pub(crate) fn ack_deadline(&mut self, message: u32, delivery: u32) {
        let now = self.now;
        let given_up = self.broker.model().deadline(now, message, delivery);
        for given_up in given_up {
            self.given_up(given_up);
        }
        if let Some(next) = self.broker.model().held_until_deadline(message) {
            let of = Receipt { message, delivery };
            self.await_deadline(InstanceId::BROKER.0, of, Some(next));
        }
        self.hand_over();
    }

    /// A deferred message is available.
    pub(crate) fn available(&mut self, message: u32) {
        let now = self.now;
        if let Some(given_up) = self.broker.model().available(now, message) {
            self.given_up(given_up);
        }
        self.hand_over();
    }

    /// The session of a consumer that has gone silent is over.
    pub(crate) fn session_over(&mut self) {
        let now = self.now;
        for given_up in self.broker.model().expire(now) {
            self.given_up(given_up);
        }
        self.hand_over();
    }

    fn given_up(&mut self, given_up: GivenUp) {
        let (place, what) = match given_up {
            GivenUp::DeadLettered(place) => (place, What::DeadLettered),
            GivenUp::Dropped(place) | GivenUp::Kept(place) => (place, What::Dropped),
        };
        let Some(message) = self.broker.message(place) else {
            return;
        };
        let ids = self.ids_of(place, message.deliveries);
        let broker = InstanceId::BROKER.0;
        self.record(broker, 1, &steps::BROKER_DELIVER, what, ids);
    }

    fn ids_of(&self, place: u32, delivery: u32) -> Ids {
        let Some(message) = self.broker.message(place) else {
            return Ids::default();
        };
        Ids {
            slot: message.body.slot,
            run: Some(message.body.run.clone()),
            message: Some(MessageId(place + 1)),
            trace: Some(message.body.trace),
            delivery,
            attempt: 0,
        }
    }

    /// An instance's connections are gone.
    pub(crate) fn disconnected(&mut self, instance: u8) {
        let calls = &mut self.calls;
        let gone = self
            .broker
            .model()
            .forget_consumers(|call| calls.get(call).is_none_or(|call| call.instance == instance));
        for call in gone {
            self.calls.release(call);
        }
        let (given_up, session_end) = self.broker.disconnect(self.now, instance);
        for given_up in given_up {
            self.given_up(given_up);
        }
        if let Some(end) = session_end {
            self.agenda.add(end, instance, Action::SessionOver);
        }
        self.hand_over();
    }

    /// The broker goes down, and every connection to it breaks.
    pub(crate) fn broker_goes_down(&mut self) {
        let lost = self.broker.go_down(self.now);
        self.broker_is_away(lost);
    }

    /// A replica that is `behind` takes the broker's place.
    pub(crate) fn broker_fails_over(&mut self, behind: Ms) {
        let lost = self.broker.fail_over(self.now, behind);
        self.broker_is_away(lost);
    }

    fn broker_is_away(&mut self, lost: Vec<GivenUp>) {
        for given_up in lost {
            self.given_up(given_up);
        }
        for call in self.broker.model().forget_consumers(|_| true) {
            self.break_call(call);
        }
    }

    /// The broker is back.
    pub(crate) fn broker_comes_up(&mut self) {
        self.broker.model().come_up();
        self.hand_over();
    }
}
