//! What a request does at its server, and whom the server tells.

use super::agenda::{Action, Answer, Call, Ms};
use super::sites::Watch;
use super::{Downstream, Loop, Store};
use evidence::{Ids, MessageId, What};
use scheduler::steps;

/// `[broker] ack_deadline`.
const ACK_DEADLINE: Ms = 30_000;

impl<S: Store, W: Watch> Loop<'_, S, W> {
    /// The request is at its server.
    pub(super) fn serve(&mut self, instance: u8, call: Call) {
        let now = self.timestamp();
        let of = &self.instances[usize::from(instance)];
        let timer = &self.standard.timer;
        match call {
            Call::Resume => {
                let started = self.standard.scenario.epoch;
                let position = self.database.resume(timer, started);
                self.reply(instance, Answer::Resumed(position));
            }
            Call::Claim => {
                let claimed = self.database.claim(now, &of.ids, timer);
                self.reply(instance, Answer::Claimed(claimed));
                if claimed {
                    self.arrange_relays();
                    self.arrange_recoveries();
                }
            }
            Call::Mark => {
                let queued = self.database.mark(now, &of.ids);
                self.reply(instance, Answer::Marked);
                self.arrange_relays();
                if queued {
                    self.arrange_recoveries();
                }
            }
            Call::Enter => {
                let attempt = self.database.enter(now, &of.ids, of.token);
                self.reply(instance, Answer::Entered(attempt));
                if attempt.is_some() {
                    self.arrange_recoveries();
                }
            }
            Call::Finish => {
                let done = self.database.finish(now, &of.ids, of.token);
                self.reply(instance, Answer::Finished(done));
                if done {
                    self.arrange_recoveries();
                }
            }
            Call::Publish | Call::Deliver | Call::Ack => self.serve_broker(instance, call),
            Call::Perform => {
                let ids = of.ids.clone();
                if self.downstream.begin(&ids) {
                    self.performing[usize::from(instance)] = Some(ids);
                    let at = self.now + Downstream::LATENCY_MS;
                    self.add(at, instance, Action::EffectDone);
                }
            }
        }
    }

    fn serve_broker(&mut self, instance: u8, call: Call) {
        let of = &self.instances[usize::from(instance)];
        match call {
            Call::Deliver => self.broker.consume(instance),
            Call::Ack => {
                let ids = Ids {
                    attempt: 0,
                    ..of.ids.clone()
                };
                let message = ids.message.unwrap_or(MessageId(0));
                let what = if self.broker.ack(message, ids.delivery) {
                    What::Acked
                } else {
                    What::AckRefused
                };
                self.tell(instance, &steps::BROKER_ACK, what, ids);
                return self.reply(instance, Answer::Acked);
            }
            _ => {
                let message = self.broker.publish(&of.ids);
                let ids = Ids {
                    message: Some(message),
                    ..of.ids.clone()
                };
                self.tell(instance, &steps::BROKER_PUBLISH, What::Published, ids);
                self.reply(instance, Answer::Published);
            }
        }
        self.hand_over();
    }

    pub(super) fn hand_over(&mut self) {
        while let Some((consumer, ids)) = self.broker.hand_over() {
            let (message, delivery) = (ids.message.unwrap_or(MessageId(0)), ids.delivery);
            self.of(consumer).ids = ids.clone();
            self.tell(consumer, &steps::BROKER_DELIVER, What::Delivered, ids);
            let deadline = Action::AckDeadline(message, delivery);
            self.add(self.now + ACK_DEADLINE, consumer, deadline);
            self.reply(consumer, Answer::Delivered);
        }
    }

    pub(super) fn effect_done(&mut self, instance: u8) {
        let Some(ids) = self.performing[usize::from(instance)].take() else {
            return;
        };
        let number = self.downstream.perform(&ids);
        let step = &steps::DOWNSTREAM_PERFORM;
        self.tell(instance, step, What::Effect { number }, ids);
        self.reply(instance, Answer::Performed);
    }
}
