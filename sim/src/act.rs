//! Does the actions of the agenda.

use crate::agenda::{Action, Entry, Ms};
use crate::world::World;
use evidence::{Ids, What};
use scheduler::steps;

impl World {
    /// Does one action.
    pub(crate) fn act(&mut self, entry: Entry) {
        match entry.action {
            Action::Wake(task) => self.tasks.wake(task),
            Action::Depart(call) => self.depart(call),
            Action::Arrive(call) => self.arrive(call, false),
            Action::ArriveAgain(call) => self.arrive(call, true),
            Action::Answer(call) => self.answer(call),
            Action::Expire(call) => self.expire(call),
            Action::Poll(poller) => self.poll(poller, entry.at),
            Action::Start(instance) => self.begin_incarnation(instance),
            Action::Retire(instance) => {
                if self.processes[usize::from(instance)].alive {
                    self.ask_to_stop(instance);
                }
            }
            Action::StopGraceOver(instance, incarnation) => {
                let stops = self.processes[usize::from(instance)].stopping;
                if stops && self.is_current(instance, incarnation) {
                    self.stop(instance);
                }
            }
            Action::AckDeadline { message, delivery } => self.ack_deadline(message, delivery),
            Action::Available { message } => self.available(message),
            Action::SessionOver => self.session_over(),
            Action::BrokerUp => self.broker_comes_up(),
            Action::DatabaseUp => self.database_comes_up(),
            Action::LockUp => self.locks.server.start(),
            Action::EffectDone(number) => self.effect_done(number),
            Action::DatabaseDue => self.database_due(),
            Action::Abandon(session) => self.abandon_session(session),
            // What had to wait is done one by one, by the engine.
            Action::Resume(_) => {}
        }
    }

    fn begin_incarnation(&mut self, instance: u8) {
        let process = &mut self.processes[usize::from(instance)];
        let retired = self.constants.retirements[usize::from(instance)];
        if process.alive || retired.is_some_and(|at| at <= self.now) {
            return;
        }
        process.alive = true;
        process.incarnation += 1;
        let incarnation = process.incarnation;
        if incarnation > 1 {
            self.record(
                instance,
                incarnation,
                &steps::INSTANCE,
                What::Restarted,
                Ids::default(),
            );
        }
        self.forget_dead_attempts();
        self.starting.push(instance);
    }

    /// The last moment that belongs to the execution.
    pub(crate) fn horizon(&self) -> Ms {
        self.constants
            .last_slot
            .max(self.healed_at)
            .max(self.last_discovered)
            + self.constants.patience
    }
}
