//! Calls of executors: into the memory of another process, and its answer back.

use crate::calls::CallKey;
use crate::servers::Response;
use crate::servers::executors::{Asker, ExecutorsRequest};
use crate::world::World;
use evidence::{Ids, What};
use scheduler::ports::{Asking, CallError, Said};
use scheduler::steps;

impl World {
    /// An executor is asked something. Where its process is gone or about to stop, nobody listens;
    /// where it stands still, the request waits at its door.
    pub(super) fn serve_executors(&mut self, key: CallKey, request: ExecutorsRequest, again: bool) {
        let process = self.processes.get(usize::from(request.to));
        if !process.is_some_and(|process| process.alive && !process.stopping) {
            return match again {
                true => self.calls.release(key),
                false => self.reply_error(key, CallError::Refused),
            };
        }
        let waiting = self.executors.arrive(key, request, again);
        if !again {
            self.answer_pending(key);
        }
        if let Some(task) = waiting {
            self.tasks.wake(task);
        }
    }

    /// An executor says something to what it was asked.
    pub(crate) fn executor_says(&mut self, asking: Asking, said: Said) {
        let Some(asker) = self.executors.said(asking, said == Said::Yes) else {
            return;
        };
        if said == Said::Yes {
            self.taken(&asker);
        }
        self.respond(asker.call, Response::Said(said), asker.again);
    }

    /// A call is in the executor's memory now: the message was accepted, and delivered.
    fn taken(&mut self, asker: &Asker) {
        let Some((message, delivery)) = asker.message else {
            return;
        };
        let Some(call) = self.calls.get(asker.call) else {
            return;
        };
        let (instance, incarnation) = (call.instance, call.incarnation);
        let ids = Ids {
            message: Some(message),
            ..call.ids.clone()
        };
        if !asker.again {
            let step = &steps::ADMIN_CALL;
            self.record(instance, incarnation, step, What::Published, ids.clone());
        }
        let ids = Ids { delivery, ..ids };
        let incarnation = self.processes[usize::from(asker.to)].incarnation;
        let step = &steps::EXECUTOR_ACCEPT;
        self.record(asker.to, incarnation, step, What::Delivered, ids);
    }

    /// An executor's process is gone: what it was asked has no answer, and the caller sees the
    /// connection break.
    pub(crate) fn executor_is_gone(&mut self, instance: u8) {
        for asker in self.executors.lose(instance) {
            match asker.again {
                true => self.calls.release(asker.call),
                false => self.break_call(asker.call),
            }
        }
    }
}
