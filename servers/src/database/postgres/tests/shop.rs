//! A server with one table, and statements on it in few words.

use crate::Ms;
use crate::database::{Flavor, Server, SessionId, Status};
use scheduler::ports::sql::{
    Assignments, ColumnDef, Comparison, Conflict, Delete, IndexDef, Insert, Locking, Output,
    Predicate, Query, Reply, Scalar, Select, Setting, SqlError, Strength, TableDef, Type, Update,
    WhenLocked,
};
use scheduler::ports::{Column, Isolation, Table, Value};

pub(super) const TABLE: Table = Table(0);
pub(super) const ID: Column = Column(0);
pub(super) const VALUE: Column = Column(1);

/// A server with a table (id INT PRIMARY KEY, value INT) with the rows (1, 10) and (2, 20).
pub(super) struct Shop {
    pub(super) server: Server,
    pub(super) now: Ms,
}

impl Shop {
    pub(super) fn open() -> Self {
        let mut shop = Shop {
            server: Server::new(Flavor::Postgres),
            now: 0,
        };
        let id = shop.server.connect();
        shop.ok(id, Query::CreateTable(TABLE, definition()));
        for (key, value) in [(1, 10), (2, 20)] {
            shop.ok(id, insert(key, value));
        }
        shop
    }

    pub(super) fn session(&mut self, isolation: Isolation) -> SessionId {
        let id = self.server.connect();
        self.ok(id, Query::Set(Setting::Isolation(isolation)));
        id
    }

    pub(super) fn submit(&mut self, id: SessionId, query: Query) {
        self.server.submit(self.now, id, query);
    }

    /// The answer of a statement that does not wait.
    pub(super) fn ask(&mut self, id: SessionId, query: Query) -> Result<Reply, SqlError> {
        self.submit(id, query);
        self.answer(id)
    }

    pub(super) fn answer(&mut self, id: SessionId) -> Result<Reply, SqlError> {
        let status = self.server.status(id);
        self.server
            .take(id)
            .unwrap_or_else(|| panic!("{id:?} has no answer: {status:?}"))
    }

    pub(super) fn ok(&mut self, id: SessionId, query: Query) -> Reply {
        self.ask(id, query).expect("the statement succeeds")
    }

    /// Gives a statement that has to wait for these sessions.
    pub(super) fn waits(&mut self, id: SessionId, query: Query, by: &[SessionId]) {
        self.submit(id, query);
        self.still_waits(id, by);
    }

    pub(super) fn still_waits(&self, id: SessionId, by: &[SessionId]) {
        assert_eq!(self.server.status(id), Status::Waiting { by: by.to_vec() });
    }

    pub(super) fn pass(&mut self, ms: Ms) {
        self.now += ms;
        self.server.advance(self.now);
    }

    pub(super) fn committed(&self) -> Vec<(i64, i64)> {
        let rows = self.server.committed(TABLE);
        rows.iter()
            .map(|row| (row[0].int(), row[1].int()))
            .collect()
    }
}

fn definition() -> TableDef {
    let column = ColumnDef {
        kind: Type::Int,
        nullable: true,
        counts: false,
        default: Value::Null,
    };
    TableDef {
        columns: vec![column.clone(), column],
        indexes: vec![IndexDef {
            columns: vec![ID],
            unique: true,
            primary: true,
            nulls_equal: false,
        }],
    }
}

pub(super) fn begin() -> Query {
    Query::Begin {
        snapshot: false,
        isolation: None,
    }
}

fn number(value: i64) -> Scalar {
    Scalar::Value(Value::Int(value))
}

pub(super) fn is(column: Column, value: i64) -> Predicate {
    Predicate::Compare(Scalar::Column(column), Comparison::Equal, number(value))
}

pub(super) fn insert(key: i64, value: i64) -> Query {
    insert_or(key, value, Conflict::Error)
}

pub(super) fn insert_or(key: i64, value: i64, conflict: Conflict) -> Query {
    Query::Insert(Insert {
        table: TABLE,
        columns: vec![ID, VALUE],
        rows: vec![vec![number(key), number(value)]],
        from_select: false,
        conflict,
        returning: None,
    })
}

pub(super) fn set(value: i64, filter: Predicate) -> Query {
    let set: Assignments = vec![(VALUE, number(value))];
    Query::Update(Update {
        table: TABLE,
        set,
        filter,
        order: Vec::new(),
        limit: None,
        returning: None,
    })
}

pub(super) fn delete(filter: Predicate) -> Query {
    Query::Delete(Delete {
        table: TABLE,
        filter,
        order: Vec::new(),
        limit: None,
        returning: None,
    })
}

pub(super) fn read(filter: Predicate) -> Query {
    select(filter, None)
}

pub(super) fn lock(filter: Predicate, when_locked: WhenLocked) -> Query {
    let locking = Locking {
        strength: Strength::Update,
        when_locked,
    };
    select(filter, Some(locking))
}

pub(super) fn share(filter: Predicate) -> Query {
    let locking = Locking {
        strength: Strength::Share,
        when_locked: WhenLocked::Wait,
    };
    select(filter, Some(locking))
}

fn select(filter: Predicate, locking: Option<Locking>) -> Query {
    Query::Select(Select {
        table: TABLE,
        output: Output::Each(vec![Scalar::Column(ID), Scalar::Column(VALUE)]),
        filter,
        order: Vec::new(),
        limit: None,
        locking,
    })
}

/// The rows of an answer, as pairs of numbers.
pub(super) fn pairs(reply: &Reply) -> Vec<(i64, i64)> {
    let rows = reply.rows.iter().flatten();
    rows.map(|row| (row[0].int(), row[1].int())).collect()
}
