//! The database port.

use super::Window;
use crate::agenda::Action;
use crate::servers::database::DatabaseRequest;
use crate::servers::{Request, Response};
use scenarios::spec::Server;
use scheduler::ports::{Answers, At, CallError, Database, Fut, Isolation, Statements, Transaction};

fn answers(response: Response) -> Option<Answers> {
    match response {
        Response::Answers(answers) => Some(answers),
        _ => None,
    }
}

impl Database for Window {
    fn execute<'a>(
        &'a self,
        at: At<'a>,
        statements: Statements,
    ) -> Fut<'a, Result<Answers, CallError>> {
        let request = Request::Database(DatabaseRequest {
            session: None,
            statements,
            commit: true,
        });
        self.call(at, Server::Database, request, answers)
    }

    fn begin(&self, _: Isolation) -> Box<dyn Transaction> {
        let session = self.with(|world| world.database.sessions.fresh());
        Box::new(OpenTransaction {
            window: *self,
            session: session.unwrap_or_default(),
            open: false,
        })
    }
}

/// A transaction that the client has begun.
struct OpenTransaction {
    window: Window,
    session: u32,
    /// Whether the server may still have it open.
    open: bool,
}

impl Transaction for OpenTransaction {
    fn execute<'a>(
        &'a mut self,
        at: At<'a>,
        statements: Statements,
        commit: bool,
    ) -> Fut<'a, Result<Answers, CallError>> {
        self.open = true;
        let session = Some(self.session);
        let request = Request::Database(DatabaseRequest {
            session,
            statements,
            commit,
        });
        let call = self.window.call(at, Server::Database, request, answers);
        Box::pin(async move {
            let result = call.await;
            if commit && result.is_ok() {
                self.open = false;
            }
            result
        })
    }
}

impl Drop for OpenTransaction {
    /// The server notices the closed session: at once where the process died, else as soon as the
    /// link lets the news through.
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let (instance, session) = (self.window.instance, self.session);
        self.window.with(|world| {
            let link = world.processes[usize::from(instance)].links[Server::Database as usize];
            let at = (world.now + 1).max(link.to_server);
            world.agenda.add(at, instance, Action::Abandon(session));
        });
    }
}
