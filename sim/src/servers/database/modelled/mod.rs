//! A database that behaves as a real server does, version by version and lock by lock.
//!
//! Each request is what a client's driver sends: BEGIN where it is more than one statement, the
//! statements one by one, COMMIT. What is committed is kept besides as plain rows
//! ([`super::Tables`]), which is what pollers, judge and digest look at.

mod mirror;
mod translate;

pub(super) use mirror::Mirror;

use super::{Committed, Ran, Tables, Working};
use crate::calls::CallKey;
use evidence::Timestamp;
use scheduler::ports::sql::{Query, Reply, Setting, SqlError};
use scheduler::ports::{Answer, Isolation, Statement, Table};
use scheduler::tables;
use servers::Ms;
use servers::database::{Flavor, Server, SessionId};
use std::collections::BTreeMap;

/// What a scenario says of the server.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) flavor: Flavor,
    pub(crate) isolation: Isolation,
    pub(crate) settings: Vec<Setting>,
}

/// A server with its clients' connections.
pub(crate) struct Modelled {
    server: Server,
    profile: Profile,
    /// The connections that are in use, by the sessions of the simulator.
    connections: BTreeMap<u32, Connection>,
    /// Connections that wait in a pool.
    idle: Vec<SessionId>,
    waiting: Vec<Requested>,
}

struct Connection {
    id: SessionId,
    /// Whether a transaction is open.
    open: bool,
    /// What the transaction, or the statement without one, has touched.
    touched: Committed,
}

/// A request at work.
struct Requested {
    working: Working,
    stage: Stage,
}

/// What the server was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begin,
    Statement,
    Commit,
}

/// How a request is over.
enum End {
    /// Every statement is done, or one of them has rolled back the transaction.
    Done(Committed),
    /// The server has refused it.
    Refused,
}

fn ms(now: Timestamp) -> Ms {
    u64::try_from(now.0).unwrap_or(0)
}

impl Modelled {
    /// A server without rows.
    pub(crate) fn new(profile: Profile) -> Self {
        let mut server = Server::new(profile.flavor);
        let maker = server.connect();
        for number in 0..tables::COUNT {
            let table = Table(number as u8);
            let definition = translate::definition(profile.flavor, table);
            server.submit(0, maker, Query::CreateTable(table, definition));
            server.take(maker);
        }
        server.kill(0, maker);
        Modelled {
            server,
            profile,
            connections: BTreeMap::new(),
            idle: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// A request arrives.
    pub(crate) fn arrive(
        &mut self,
        now: Timestamp,
        working: Working,
        mirror: &mut Mirror<'_>,
    ) -> Ran {
        let open = self.connection(now, working.session).open;
        let stage = match open || alone(&working) {
            true => Stage::Statement,
            false => Stage::Begin,
        };
        self.go_on(now, Requested { working, stage }, mirror)
    }

    fn connection(&mut self, now: Timestamp, session: u32) -> &mut Connection {
        if !self.connections.contains_key(&session) {
            let connection = Connection {
                id: self.take_from_pool(now),
                open: false,
                touched: Committed::default(),
            };
            self.connections.insert(session, connection);
        }
        self.connections
            .get_mut(&session)
            .expect("it was put there just now")
    }

    fn take_from_pool(&mut self, now: Timestamp) -> SessionId {
        // A connection is as old as the server's clock says.
        self.server.advance(ms(now));
        let id = self.idle.pop().unwrap_or_else(|| self.server.connect());
        let isolation = Setting::Isolation(self.profile.isolation);
        // A pool keeps its connections alive.
        let common = [isolation, Setting::IdleSession(None)];
        for setting in common.iter().chain(&self.profile.settings) {
            self.server.submit(ms(now), id, Query::Set(*setting));
            self.server.take(id);
        }
        id
    }

    /// Sends what comes next until the request is over or has to wait.
    fn go_on(&mut self, now: Timestamp, mut requested: Requested, mirror: &mut Mirror<'_>) -> Ran {
        loop {
            let query = self.next_query(&requested);
            let on = self.connection(now, requested.working.session).id;
            self.server.submit(ms(now), on, query);
            let Some(reply) = self.server.take(on) else {
                self.waiting.push(requested);
                return Ran::Waits;
            };
            match self.answered(now, &mut requested, reply, mirror) {
                None => {}
                Some(end) => return self.ended(requested.working, end),
            }
        }
    }

    fn next_query(&self, requested: &Requested) -> Query {
        let working = &requested.working;
        let statement = working.statements.get(working.next);
        match (requested.stage, statement) {
            (Stage::Begin, _) => Query::Begin {
                snapshot: false,
                isolation: None,
            },
            (Stage::Statement, Some(statement)) => {
                translate::query(self.profile.flavor, statement, working.ids.slot)
            }
            (Stage::Statement | Stage::Commit, _) => Query::Commit,
        }
    }

    /// What the server's answer means for the request; `None`: it goes on.
    fn answered(
        &mut self,
        now: Timestamp,
        requested: &mut Requested,
        reply: Result<Reply, SqlError>,
        mirror: &mut Mirror<'_>,
    ) -> Option<End> {
        let working = &mut requested.working;
        let session = working.session;
        match (requested.stage, reply) {
            (Stage::Begin, Ok(_)) => {
                self.connection(now, session).open = true;
                requested.stage = Stage::Statement;
                self.done_or_commit(requested)
            }
            (Stage::Commit, Ok(_)) => Some(End::Done(self.committed(now, session, mirror))),
            (Stage::Statement, Ok(reply)) => {
                let statement = working.statements.get(working.next)?;
                let answer = answer(statement, reply);
                let connection = self.connections.get_mut(&session)?;
                note(&mut connection.touched, statement, &answer);
                let missed = is_required(statement) && !answer.changed();
                working.answers.push(answer);
                working.next += 1;
                if missed {
                    self.roll_back(now, session);
                    return Some(End::Done(Committed::default()));
                }
                if alone(working) {
                    return Some(End::Done(self.committed(now, session, mirror)));
                }
                self.done_or_commit(requested)
            }
            (_, Err(error)) => {
                self.roll_back(now, session);
                if error != SqlError::UniqueViolation {
                    return Some(End::Refused);
                }
                requested.working.answers.push(Answer::Conflict);
                Some(End::Done(Committed::default()))
            }
        }
    }

    /// Behind the last statement: the end of the round trip, or of the transaction.
    fn done_or_commit(&mut self, requested: &mut Requested) -> Option<End> {
        let working = &requested.working;
        if working.next < working.statements.len() {
            return None;
        }
        if working.interactive && !working.commit {
            return Some(End::Done(Committed::default()));
        }
        requested.stage = Stage::Commit;
        None
    }

    /// The transaction is over and its rows are there for everybody.
    fn committed(&mut self, now: Timestamp, session: u32, mirror: &mut Mirror<'_>) -> Committed {
        let connection = self.connection(now, session);
        connection.open = false;
        let touched = std::mem::take(&mut connection.touched);
        mirror.follow(&self.server, now, touched.tables);
        touched
    }

    fn roll_back(&mut self, now: Timestamp, session: u32) {
        let connection = self.connection(now, session);
        let (id, open) = (connection.id, std::mem::take(&mut connection.open));
        connection.touched = Committed::default();
        if open {
            self.server.submit(ms(now), id, Query::Rollback);
            if self.server.take(id) == Some(Err(SqlError::ConnectionLost)) {
                // The server has ended the connection; the next request gets another one.
                self.connections.remove(&session);
            }
        }
    }

    fn ended(&mut self, working: Working, end: End) -> Ran {
        if !working.interactive
            && let Some(connection) = self.connections.remove(&working.session)
        {
            self.idle.push(connection.id);
        }
        match end {
            End::Done(committed) => Ran::Done(working, committed),
            End::Refused => Ran::Refused(working),
        }
    }

    /// Runs those that waited and can go on, in the order in which they came. Gives what each came
    /// to.
    pub(crate) fn wake_waiting(&mut self, now: Timestamp, mirror: &mut Mirror<'_>) -> Vec<Ran> {
        self.server.advance(ms(now));
        let mut outcomes = Vec::new();
        let mut place = 0;
        while place < self.waiting.len() {
            let session = self.waiting[place].working.session;
            let on = self.connection(now, session).id;
            let Some(reply) = self.server.take(on) else {
                place += 1;
                continue;
            };
            let mut requested = self.waiting.remove(place);
            let ran = match self.answered(now, &mut requested, reply, mirror) {
                Some(end) => self.ended(requested.working, end),
                None => self.go_on(now, requested, mirror),
            };
            // One that waits again stands at the end of the line.
            if !matches!(ran, Ran::Waits) {
                outcomes.push(ran);
                place = 0;
            }
        }
        outcomes
    }

    /// The client of an open transaction is gone or gave up: the server ends its connection.
    pub(crate) fn abandon(&mut self, now: Timestamp, session: u32) {
        self.waiting
            .retain(|requested| requested.working.session != session);
        if let Some(connection) = self.connections.remove(&session) {
            self.server.kill(ms(now), connection.id);
        }
    }

    /// Whether no transaction is open and none waits.
    pub(crate) fn rests(&self) -> bool {
        self.waiting.is_empty() && self.connections.values().all(|connection| !connection.open)
    }

    /// When the server next does something by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let at = self.server.next_deadline()?;
        Some(Timestamp(i64::try_from(at).unwrap_or(i64::MAX)))
    }

    /// The server stops without warning and starts again. Gives the calls that waited.
    pub(crate) fn crash(&mut self, now: Timestamp, mirror: &mut Mirror<'_>) -> Vec<CallKey> {
        self.server.crash(ms(now));
        self.connections.clear();
        self.idle.clear();
        mirror.follow(&self.server, now, u32::MAX);
        let waiting = self.waiting.drain(..);
        waiting
            .filter_map(|requested| requested.working.call)
            .collect()
    }

    /// Another server takes over, with these rows.
    pub(crate) fn restore(&mut self, now: Timestamp, rows: &Tables) {
        *self = Modelled::new(self.profile.clone());
        let filler = self.take_from_pool(now);
        for number in 0..tables::COUNT {
            let table = Table(number as u8);
            for (key, stored) in rows.rows(table) {
                let query = translate::restored(self.profile.flavor, table, key, stored);
                self.server.submit(ms(now), filler, query);
                self.server.take(filler);
            }
        }
        self.idle.push(filler);
    }
}

/// Whether the request is one statement, which needs no transaction around it.
fn alone(working: &Working) -> bool {
    working.statements.len() == 1 && !working.interactive
}

fn is_required(statement: &Statement) -> bool {
    matches!(statement, Statement::Update { required: true, .. })
}

fn table_of(statement: &Statement) -> Table {
    match statement {
        Statement::Insert { table, .. }
        | Statement::Update { table, .. }
        | Statement::Select { table, .. }
        | Statement::Scan { table, .. }
        | Statement::Take { table, .. }
        | Statement::Delete { table, .. } => *table,
    }
}

fn answer(statement: &Statement, reply: Reply) -> Answer {
    match reply.rows {
        Some(rows) => {
            let table = table_of(statement);
            let rows = rows
                .iter()
                .filter_map(|values| translate::row(table, values));
            Answer::Rows(rows.collect())
        }
        None => Answer::Affected(u32::try_from(reply.affected.unwrap_or(0)).unwrap_or(u32::MAX)),
    }
}

/// What a statement has changed, as far as others care.
fn note(touched: &mut Committed, statement: &Statement, answer: &Answer) {
    let taken = matches!(statement, Statement::Take { .. }) && !answer.rows().is_empty();
    if !answer.changed() && !taken {
        return;
    }
    let table = table_of(statement);
    touched.tables |= 1 << table.0;
    let inserted = matches!(statement, Statement::Insert { .. });
    touched.effects += u32::from(inserted && table == tables::EFFECTS);
}
