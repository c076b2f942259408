//! What a request does when it has reached its server, and what follows from it.

use crate::agenda::{Action, Ms};
use crate::calls::CallKey;
use crate::servers::broker::{Accepted, BrokerRequest, named};
use crate::servers::coordinator::{Coordinated, Member};
use crate::servers::database::{DatabaseRequest, Ran, Working};
use crate::servers::downstream::{Arrived, Asker, DownstreamRequest, reply};
use crate::servers::{Request, Response, coordinator};
use crate::world::World;
use evidence::{Ids, Slot, SlotTag, What};
use scenarios::spec::Server;
use scheduler::ports::{CallError, Envelope, Published, Reply};
use scheduler::steps;

mod calling;
mod delivering;

impl World {
    /// The server gets a request.
    pub(crate) fn serve(&mut self, key: CallKey, request: Request, again: bool) {
        match request {
            Request::Database(request) => self.serve_database(key, request),
            Request::Broker(request) => self.serve_broker(key, request, again),
            Request::Lock(request) => {
                let done = self.locks.handle(self.now, request);
                self.respond(key, Response::Locked(done), again);
            }
            Request::Coordinator(request) => {
                let Some(call) = self.calls.get(key) else {
                    return;
                };
                let (instance, incarnation) = (call.instance, call.incarnation);
                let member = Member {
                    instance,
                    incarnation,
                };
                self.keep_sessions();
                let answer = coordinator::handle(&mut self.coordinator, self.now, member, request);
                if let Coordinated::Joined(session) = answer
                    && !again
                {
                    self.session_opened(instance, session);
                }
                self.respond(key, Response::Coordinated(answer), again);
                self.standings_changed();
            }
            Request::Downstream(DownstreamRequest::Lookup { key: of }) => {
                let at = self.timestamp();
                let found = self.downstream.lookup(self.now, &of, at);
                self.respond(key, Response::Found(found), again);
            }
            Request::Downstream(DownstreamRequest::Perform(request)) => {
                self.serve_perform(key, request, again);
            }
            Request::Executors(request) => self.serve_executors(key, request, again),
        }
    }

    /// Only the first copy of a request is answered; the second one's answer goes nowhere.
    pub(crate) fn respond(&mut self, key: CallKey, response: Response, again: bool) {
        if again {
            self.calls.release(key);
        } else {
            self.done(key, response);
        }
    }

    fn serve_database(&mut self, key: CallKey, request: DatabaseRequest) {
        if request
            .session
            .is_some_and(|session| self.database.sessions.is_closed(session))
        {
            return self.calls.release(key);
        }
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation, ids) = (call.instance, call.incarnation, call.ids.clone());
        let interactive = request.session.is_some();
        let session = request
            .session
            .unwrap_or_else(|| self.database.sessions.fresh());
        let working = Working {
            call: Some(key),
            session,
            interactive,
            statements: request.statements,
            next: 0,
            answers: Default::default(),
            commit: request.commit,
            instance,
            incarnation,
            ids,
        };
        let now = self.timestamp();
        let ran = self.database.arrive(now, working);
        self.database_ran(ran, key);
        self.wake_blocked();
    }

    fn database_ran(&mut self, ran: Ran, key: CallKey) {
        match ran {
            Ran::Waits => self.answer_pending(key),
            Ran::Done(working, committed) => {
                for _ in 0..committed.effects {
                    self.effect(working.instance, working.incarnation, working.ids.clone());
                }
                if let Some(call) = working.call {
                    self.done(call, Response::Answers(working.answers));
                }
                if committed.tables != 0 {
                    self.rearrange_polls(|interest| {
                        interest
                            .table()
                            .is_some_and(|table| committed.touches(table))
                    });
                }
            }
            Ran::Refused(working) => {
                if let Some(call) = working.call {
                    self.reply_error(call, CallError::Refused);
                }
            }
        }
    }

    /// Transactions that waited for one that has ended go on.
    pub(crate) fn wake_blocked(&mut self) {
        loop {
            let now = self.timestamp();
            let outcomes = self.database.wake_waiting(now);
            if outcomes.is_empty() {
                return self.arm_database();
            }
            for ran in outcomes {
                let key = match &ran {
                    Ran::Done(working, _) | Ran::Refused(working) => working.call,
                    Ran::Waits => None,
                };
                if let Some(key) = key {
                    self.database_ran(ran, key);
                }
            }
        }
    }

    /// The client of an open transaction is gone or gave up.
    pub(crate) fn abandon_session(&mut self, session: u32) {
        let now = self.timestamp();
        self.database.abandon(now, session);
        self.wake_blocked();
    }

    /// A database that looks after those who wait is due to look.
    fn arm_database(&mut self) {
        let Some(due) = self.database.next_deadline() else {
            return;
        };
        let at = u64::try_from(due.0 - self.constants.epoch.0)
            .unwrap_or(0)
            .max(self.now);
        if self.database_due != Some(at) {
            self.database_due = Some(at);
            self.agenda.add(at, 0, Action::DatabaseDue);
        }
    }

    /// The database stops, until it, or a standby that is `lose_ms` behind, is there at `up`.
    pub(crate) fn database_goes_down(&mut self, instance: u8, up: Ms, lose_ms: i64) {
        let now = self.timestamp();
        for call in self.database.go_down(now, lose_ms) {
            self.break_call(call);
        }
        self.agenda.add(up, instance, Action::DatabaseUp);
        self.rearrange_polls(|_| true);
    }

    /// The database is back.
    pub(crate) fn database_comes_up(&mut self) {
        self.database.down = false;
    }

    /// Whether a server refuses everything because it is away.
    pub(crate) fn is_down(&self, server: Server) -> bool {
        match server {
            Server::Database => self.database.down,
            Server::Broker => self.broker.is_down(),
            Server::Lock => self.locks.server.is_down(),
            Server::Downstream | Server::Coordinator | Server::Executors => false,
        }
    }

    /// A wait has lasted long enough, or a transaction has stood idle.
    pub(crate) fn database_due(&mut self) {
        self.database_due = None;
        self.wake_blocked();
    }

    fn serve_perform(&mut self, key: CallKey, request: scheduler::ports::Request, again: bool) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let asker = Asker {
            instance: call.instance,
            incarnation: call.incarnation,
            ids: call.ids.clone(),
        };
        let instance = call.instance;
        let answer_to = (!again).then_some(key);
        match self.downstream.arrive(self.now, answer_to, asker, request) {
            Arrived::Working(number) => {
                let at = self.now + self.constants.effect_latency;
                self.agenda.add(at, instance, Action::EffectDone(number));
                if again {
                    self.calls.release(key);
                } else {
                    self.answer_by(key, at);
                }
            }
            Arrived::Waiting if again => self.calls.release(key),
            Arrived::Waiting => self.answer_pending(key),
            Arrived::Answered(answer) => {
                let reply = reply(answer);
                self.tell_reply(key, reply);
                self.respond(key, Response::Reply(reply), again);
            }
        }
    }

    fn tell_reply(&mut self, key: CallKey, reply: Reply) {
        let what = match reply {
            Reply::Performed => return,
            Reply::Repeated => What::Repeated,
            Reply::InProgress | Reply::Stale | Reply::Mismatch => What::EffectRefused,
        };
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation, ids) = (call.instance, call.incarnation, call.ids.clone());
        self.record(instance, incarnation, &steps::DOWNSTREAM_PERFORM, what, ids);
    }

    /// The latency of an effect is over.
    pub(crate) fn effect_done(&mut self, number: u32) {
        let at = self.timestamp();
        let Some(finished) = self.downstream.finish(self.now, number, at) else {
            return;
        };
        if reply(finished.answer) == Reply::Performed {
            let asker = finished.asker;
            self.effect(asker.instance, asker.incarnation, asker.ids);
        }
        for (call, answer) in finished.answers {
            let reply = reply(answer);
            self.tell_reply(call, reply);
            self.done(call, Response::Reply(reply));
        }
    }

    /// One more entry of the ledger.
    fn effect(&mut self, instance: u8, incarnation: u16, ids: Ids) {
        self.ledger += 1;
        let what = What::Effect {
            number: self.ledger,
        };
        self.record(instance, incarnation, &steps::DOWNSTREAM_PERFORM, what, ids);
    }

    fn serve_broker(&mut self, key: CallKey, request: BrokerRequest, again: bool) {
        let now = self.now;
        match request {
            BrokerRequest::Publish(envelope) => self.serve_publish(key, envelope, again),
            BrokerRequest::Deliver => self.serve_deliver(key),
            BrokerRequest::Ack(receipt) => {
                let settling = self.broker.model().ack_at(now, named(receipt));
                self.settled(key, receipt, settling, What::Acked, again);
            }
            BrokerRequest::Reject(receipt) => {
                let settling = self.broker.model().reject(now, named(receipt));
                self.settled(key, receipt, settling, What::DeadLettered, again);
            }
            BrokerRequest::Defer(receipt, delay) => {
                let settling = self.broker.model().defer(now, named(receipt), delay);
                let for_ms = u32::try_from(delay).unwrap_or(u32::MAX);
                self.settled(key, receipt, settling, What::Deferred { for_ms }, again);
            }
            BrokerRequest::Renew(receipt) => {
                let settling = self.broker.model().renew(now, named(receipt));
                self.settled(key, receipt, settling, What::Renewed, again);
            }
        }
    }

    /// A consumer waits for a message; unless it has gone since it asked. Its connection closed
    /// right behind the request, and a message must not be handed to nobody.
    fn serve_deliver(&mut self, key: CallKey) {
        let waiting = self.calls.get(key).filter(|call| call.task.is_some());
        let Some(instance) = waiting.map(|call| call.instance) else {
            return self.calls.release(key);
        };
        self.broker.model().consume(key, instance.into());
        self.hand_over();
    }

    fn serve_publish(&mut self, key: CallKey, envelope: Envelope, again: bool) {
        let accepted = self.broker.publish(self.now, envelope);
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation) = (call.instance, call.incarnation);
        let ids = Ids {
            message: Some(accepted.message),
            ..call.ids.clone()
        };
        let what = published(&accepted);
        self.record(instance, incarnation, &steps::BROKER_PUBLISH, what, ids);
        let published = Published {
            message: accepted.message,
            deduplicated: accepted.deduplicated,
        };
        self.respond(key, Response::Published(published), again);
        self.hand_over();
    }

    /// An operator publishes a copy of a run's newest message.
    pub(crate) fn replay(&mut self, instance: u8, slot: Slot, ids: &Ids) {
        let Some(place) = self.broker.accepted(slot) else {
            return;
        };
        let Some(envelope) = self.broker.message(place).map(|message| &message.body) else {
            return;
        };
        let (run, trace) = (envelope.run.clone(), envelope.trace);
        let Some(accepted) = self.broker.replay(self.now, slot) else {
            return;
        };
        let ids = Ids {
            slot: SlotTag::seal(slot),
            run: Some(run),
            trace: Some(trace),
            message: Some(accepted.message),
            delivery: 0,
            attempt: ids.attempt,
        };
        let incarnation = self.processes[usize::from(instance)].incarnation;
        let what = published(&accepted);
        self.record(instance, incarnation, &steps::BROKER_PUBLISH, what, ids);
        self.hand_over();
    }

    fn answer_by(&mut self, key: CallKey, at: Ms) {
        self.expect_by(key, at + 1);
    }
}

const fn published(accepted: &Accepted) -> What {
    match accepted.deduplicated {
        true => What::PublishDeduplicated,
        false => What::Published,
    }
}
