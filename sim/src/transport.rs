//! The way of a call: out of the instance, into the server, and back; every phase is a site.

use crate::agenda::{Action, Ms};
use crate::calls::{Call, CallKey, CallResult};
use crate::faults::{self, Travel};
use crate::keyed::{self, Use};
use crate::servers::{Request, Response};
use crate::world::{World, key_of, run_of};
use evidence::{Ids, Step};
use scenarios::spec::{Phase, RunRef, Server};
use scheduler::ports::CallError;

/// What a call is, before it begins.
pub(crate) struct Calling {
    pub(crate) instance: u8,
    pub(crate) incarnation: u16,
    pub(crate) step: &'static Step,
    pub(crate) ids: Ids,
    pub(crate) server: Server,
    pub(crate) request: Request,
    /// How long the caller waits; `None`: as long as calls wait in this scenario.
    pub(crate) timeout: Option<Ms>,
    pub(crate) long_poll: bool,
}

impl World {
    /// A call that its caller has named and not begun.
    pub(crate) fn prepare_call(&mut self, calling: Calling) -> CallKey {
        let Calling {
            instance,
            incarnation,
            step,
            ids,
            server,
            request,
            timeout,
            long_poll,
        } = calling;
        let run = run_of(&ids);
        self.calls.add(Call {
            step,
            ids,
            instance,
            incarnation,
            server,
            run,
            n: 0,
            key: key_of(instance, step, run),
            task: None,
            timeout: timeout.unwrap_or(self.constants.call_timeout),
            long_poll,
            deadline: 0,
            request: Some(request),
            copy: None,
            refused: false,
            result: None,
            references: 0,
        })
    }

    /// A call begins (phase `before`), unless its instance is dead.
    pub(crate) fn begin_call(&mut self, key: CallKey) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation) = (call.instance, call.incarnation);
        let (step, run) = (call.step, call.run);
        if !self.is_current(instance, incarnation) {
            return;
        }
        self.calls.begun += 1;
        let n = self.occur(instance, step, run);
        let fault = self.reach(instance, step, run, n, Phase::Before);
        let task = self.tasks.current;
        if let Some(call) = self.calls.get(key) {
            call.n = n;
            if matches!(run, RunRef::Slot(_)) {
                call.key |= u64::from(n) << 48;
            }
            call.task = task;
            call.references = 1;
        }
        if let Some(fault) = fault {
            faults::on_message(self, &fault, key);
        }
        let paused = self.processes[usize::from(instance)].paused_until;
        match paused {
            Some(until) => {
                self.agenda.add(until, instance, Action::Depart(key));
            }
            None => self.depart(key),
        }
    }

    /// The request leaves (phase `request`).
    pub(crate) fn depart(&mut self, key: CallKey) {
        let now = self.now;
        let Some(call) = self.calls.get(key) else {
            return;
        };
        if call.task.is_none() {
            self.calls.release(key);
            return;
        }
        call.deadline = now + call.timeout;
        let (instance, incarnation, step) = (call.instance, call.incarnation, call.step);
        let (run, n, server) = (call.run, call.n, call.server);
        if !self.is_current(instance, incarnation) {
            self.drop_call(key);
            return;
        }
        let mut latency = self.latency(key, Use::Request);
        if let Some(fault) = self.reach(instance, step, run, n, Phase::Request) {
            match faults::on_message(self, &fault, key) {
                Travel::On { later } => latency += later,
                Travel::Lost => return self.lost(key),
            }
        }
        if self.processes[usize::from(instance)].links[server as usize].to_server > now {
            return self.lost(key);
        }
        self.expect_by(key, now + latency);
        self.agenda
            .add(now + latency, instance, Action::Arrive(key));
    }

    /// How long one leg of the call takes.
    pub(crate) fn latency(&mut self, key: CallKey, leg: Use) -> Ms {
        let (seed, now) = (self.seed, self.now);
        let constants = &self.constants;
        self.calls.get(key).map_or(1, |call| {
            let key = match call.run {
                RunRef::None => keyed::at_moment(call.key, now),
                RunRef::Slot(_) => call.key,
            };
            let link = &constants.conditions[usize::from(call.instance)].link;
            let slow = link.as_ref().filter(|link| link.to.server() == call.server);
            keyed::latency(seed, key, leg) + slow.map_or(0, |link| link.latency.ms())
        })
    }

    /// Nobody will answer this call: its caller waits until the timeout. A long poll that has
    /// outlived its first timeout was renewed since, at the instants of its instance's grid, and
    /// ends at the next of them.
    fn lost(&mut self, key: CallKey) {
        let (seed, now) = (self.seed, self.now);
        let Some(call) = self.calls.get(key) else {
            return;
        };
        if call.task.is_some() {
            let at = if call.long_poll && call.deadline <= now {
                let every = call.timeout.max(1);
                let phase = keyed::number(seed, call.key, Use::Number) % every;
                now + 1 + (phase + every - (now + 1) % every) % every
            } else {
                call.deadline
            };
            let instance = call.instance;
            // The reference of the lost message now belongs to the end of the wait.
            self.agenda.add(at, instance, Action::Expire(key));
        } else {
            self.calls.release(key);
        }
    }

    /// If the answer cannot be there by the deadline, the caller will give up at it.
    pub(crate) fn expect_by(&mut self, key: CallKey, at: Ms) {
        if let Some(call) = self.calls.get(key)
            && at > call.deadline
            && !call.long_poll
            && call.task.is_some()
        {
            call.references += 1;
            let (instance, deadline) = (call.instance, call.deadline);
            self.agenda.add(deadline, instance, Action::Expire(key));
        }
    }

    /// The request is at its server.
    pub(crate) fn arrive(&mut self, key: CallKey, again: bool) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let request = if again {
            call.copy.take()
        } else {
            call.request.take()
        };
        let Some(request) = request else {
            self.calls.release(key);
            return;
        };
        let server = call.server;
        if call.refused || self.is_down(server) {
            return self.reply_error(key, CallError::Refused);
        }
        self.serve(key, request, again);
    }

    /// The server did nothing; its answer says so.
    pub(crate) fn reply_error(&mut self, key: CallKey, error: CallError) {
        self.reply(key, Err(error));
    }

    /// The server did it (phase `done`); the reply travels back.
    pub(crate) fn done(&mut self, key: CallKey, response: Response) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let waits = call.task.is_some();
        let (instance, incarnation, step) = (call.instance, call.incarnation, call.step);
        let (run, n) = (call.run, call.n);
        if !waits || !self.is_current(instance, incarnation) {
            return self.drop_call(key);
        }
        if let Some(fault) = self.reach(instance, step, run, n, Phase::Done) {
            if faults::on_message(self, &fault, key) == Travel::Lost {
                return self.lost(key);
            }
            if !self.is_current(instance, incarnation) {
                return self.drop_call(key);
            }
        }
        self.reply(key, Ok(response));
    }

    fn reply(&mut self, key: CallKey, result: CallResult) {
        let now = self.now;
        let latency = self.latency(key, Use::Reply);
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, server) = (call.instance, call.server);
        if call.task.is_none() {
            return self.drop_call(key);
        }
        if self.processes[usize::from(instance)].links[server as usize].from_server > now {
            return self.lost(key);
        }
        call.result = Some(result);
        self.expect_by(key, now + latency);
        self.agenda
            .add(now + latency, instance, Action::Answer(key));
    }

    /// The reply is at its instance (phase `reply`).
    pub(crate) fn answer(&mut self, key: CallKey) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (instance, incarnation, step) = (call.instance, call.incarnation, call.step);
        let (run, n) = (call.run, call.n);
        let answered = matches!(call.result, Some(Ok(_)));
        let Some(task) = call.task else {
            return self.drop_call(key);
        };
        if !self.is_current(instance, incarnation) {
            return self.drop_call(key);
        }
        if answered && let Some(fault) = self.reach(instance, step, run, n, Phase::Reply) {
            faults::on_message(self, &fault, key);
            if !self.is_current(instance, incarnation) {
                return self.drop_call(key);
            }
        }
        if let Some(call) = self.calls.get(key) {
            call.task = None;
            call.references = call.references.saturating_sub(1);
        }
        self.tasks.wake(task);
    }

    /// The caller has waited long enough.
    pub(crate) fn expire(&mut self, key: CallKey) {
        let now = self.now;
        let Some(call) = self.calls.get(key) else {
            return;
        };
        call.references = call.references.saturating_sub(1);
        if now < call.deadline {
            return self.calls.free_if_over(key);
        }
        if let Some(task) = call.task.take() {
            call.result = Some(Err(CallError::TimedOut));
            self.tasks.wake(task);
        }
        self.calls.free_if_over(key);
    }

    /// The connection broke: the caller knows at once, without knowing what became of its call.
    pub(crate) fn break_call(&mut self, key: CallKey) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        if let Some(task) = call.task.take() {
            call.result = Some(Err(CallError::Disconnected));
            call.references = call.references.saturating_sub(1);
            self.tasks.wake(task);
        } else {
            self.calls.release(key);
        }
    }

    /// Takes the answer of a call, if it is there.
    pub(crate) fn take_result(&mut self, key: CallKey) -> Option<CallResult> {
        let call = self.calls.get(key)?;
        if call.task.is_some() {
            return None;
        }
        let result = call.result.take()?;
        self.calls.free_if_over(key);
        Some(result)
    }

    /// The caller has gone: nobody waits for the answer.
    pub(crate) fn abandon_call(&mut self, key: CallKey) {
        if let Some(call) = self.calls.get(key) {
            call.task = None;
            call.result = None;
            if call.long_poll {
                let withdrawn = self
                    .broker
                    .model()
                    .forget_consumers(|consumer| consumer == key);
                for call in withdrawn {
                    self.calls.release(call);
                }
            }
            self.calls.free_if_over(key);
        }
    }

    /// A message of a call that nobody waits for any more.
    fn drop_call(&mut self, key: CallKey) {
        self.calls.release(key);
    }

    /// The server has it and will answer later: the caller gives up at its deadline.
    pub(crate) fn answer_pending(&mut self, key: CallKey) {
        self.expect_by(key, Ms::MAX);
    }
}
