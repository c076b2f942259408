//! Statements against the whole server, and what must hold however they interleave.

use super::compatibility::{Mode, Span};
use super::locks::Lock;
use super::records::SUPREMUM;
use super::transaction::TrxId;
use crate::database::core::Core;
use crate::database::{Flavor, Server, SessionId, Status};
use proptest::prelude::*;
use scheduler::ports::sql::{
    Arithmetic, Assignments, Collation, ColumnDef, Comparison, Conflict, Delete, IndexDef, Insert,
    Locking, Output, Predicate, Query, Reply, Scalar, Select, Setting, SqlError, Strength,
    TableDef, Type, Update, WhenLocked,
};
use scheduler::ports::{Column, Isolation, Table, Value};
use std::collections::BTreeMap;

const RUNS: Table = Table(0);
const ID: Column = Column(0);
const KEY: Column = Column(1);
const COUNT: Column = Column(2);

/// `id INT AUTO_INCREMENT PRIMARY KEY, run_key VARCHAR(64) NOT NULL, count INT, UNIQUE (run_key)`
fn runs() -> TableDef {
    let column = |kind, counts| ColumnDef {
        kind,
        nullable: false,
        counts,
        default: Value::Int(0),
    };
    let text = Type::Text {
        max_chars: 64,
        collation: Collation::GeneralCi,
    };
    let index = |column, primary| IndexDef {
        columns: vec![column],
        unique: true,
        primary,
        nulls_equal: false,
    };
    TableDef {
        columns: vec![
            column(Type::Int, true),
            column(text, false),
            column(Type::Int, false),
        ],
        indexes: vec![index(ID, true), index(KEY, false)],
    }
}

fn text(key: &str) -> Scalar {
    Scalar::Value(Value::Text(key.into()))
}

fn key_is(key: &str) -> Predicate {
    Predicate::Compare(Scalar::Column(KEY), Comparison::Equal, text(key))
}

fn insert(key: &str, conflict: Conflict) -> Query {
    Query::Insert(Insert {
        table: RUNS,
        columns: vec![KEY],
        rows: vec![vec![text(key)]],
        from_select: false,
        conflict,
        returning: None,
    })
}

fn count_up() -> Assignments {
    let one = Scalar::Value(Value::Int(1));
    let more = Scalar::Combined(
        Arithmetic::Add,
        Box::new(Scalar::Column(COUNT)),
        Box::new(one),
    );
    vec![(COUNT, more)]
}

fn update(filter: Predicate) -> Query {
    Query::Update(Update {
        table: RUNS,
        set: count_up(),
        filter,
        order: Vec::new(),
        limit: None,
        returning: None,
    })
}

fn delete(key: &str) -> Query {
    Query::Delete(Delete {
        table: RUNS,
        filter: key_is(key),
        order: Vec::new(),
        limit: None,
        returning: None,
    })
}

fn select(filter: Predicate, strength: Option<Strength>) -> Query {
    Query::Select(Select {
        table: RUNS,
        output: Output::Each(vec![Scalar::Column(KEY)]),
        filter,
        order: Vec::new(),
        limit: None,
        locking: strength.map(|strength| Locking {
            strength,
            when_locked: WhenLocked::Wait,
        }),
    })
}

fn begin() -> Query {
    Query::Begin {
        snapshot: false,
        isolation: None,
    }
}

/// A server with the table and some rows, and sessions at a level.
struct Stage {
    server: Server,
    now: u64,
}

impl Stage {
    fn with(keys: &[&str]) -> Self {
        let mut stage = Stage {
            server: Server::new(Flavor::MariaDb),
            now: 0,
        };
        let admin = stage.server.connect();
        let created = stage.does(admin, Query::CreateTable(RUNS, runs()));
        assert!(created.is_ok());
        for key in keys {
            assert_eq!(stage.affects(admin, insert(key, Conflict::Error)), 1);
        }
        stage
    }

    fn session(&mut self, isolation: Isolation) -> SessionId {
        let id = self.server.connect();
        let set = self.does(id, Query::Set(Setting::Isolation(isolation)));
        assert!(set.is_ok());
        id
    }

    /// A statement that is done at once.
    fn does(&mut self, id: SessionId, query: Query) -> Result<Reply, SqlError> {
        self.server.submit(self.now, id, query);
        self.server.take(id).expect("it is done at once")
    }

    /// A statement that waits.
    fn waits(&mut self, id: SessionId, query: Query, by: &[SessionId]) {
        self.server.submit(self.now, id, query);
        let by = by.to_vec();
        assert_eq!(self.server.status(id), Status::Waiting { by });
    }

    fn affects(&mut self, id: SessionId, query: Query) -> u64 {
        let reply = self.does(id, query).expect("it goes well");
        reply.affected.expect("it counts")
    }

    fn got(&mut self, id: SessionId) -> Result<u64, SqlError> {
        let result = self.server.take(id).expect("it is done");
        result.map(|reply| reply.affected.unwrap_or(0))
    }
}

const RC: Isolation = Isolation::ReadCommitted;
const RR: Isolation = Isolation::RepeatableRead;

#[test]
fn a_deleted_record_keeps_its_gaps_apart_until_it_is_purged() {
    for (passed, waits) in [(500, false), (1_500, true)] {
        let mut stage = Stage::with(&["a", "m", "z"]);
        let [a, b] = [RR, RR].map(|level| stage.session(level));
        stage.affects(a, delete("m"));
        stage.now += passed;
        stage.does(a, begin()).expect("it goes well");
        let by_id = Predicate::Compare(
            Scalar::Column(ID),
            Comparison::Equal,
            Scalar::Value(Value::Int(2)),
        );
        stage
            .does(a, select(by_id, Some(Strength::Update)))
            .expect("it goes well");
        // The clustered record of "m" is still there, and locked alone; or it is gone, and the gap
        // in which it was is locked.
        let core = stage.server.core_of_a_test();
        let gaps = core.innodb.locks.all.iter();
        let gap = gaps.filter(|lock| lock.index.is_clustered() && lock.span == Span::Gap);
        assert_eq!(gap.count() > 0, waits, "after {passed} ms");
        drop(core);
        let _ = b;
    }
}

#[test]
fn a_snapshot_keeps_what_it_shows_from_being_purged() {
    let mut stage = Stage::with(&["k"]);
    let [a, b] = [RR, RR].map(|level| stage.session(level));
    stage.does(b, begin()).expect("it goes well");
    let look = || select(key_is("k"), None);
    let before = stage.does(b, look()).expect("it goes well").rows;
    stage.affects(a, delete("k"));
    stage.now += 60_000;
    assert_eq!(stage.affects(a, update(key_is("k"))), 0);
    assert_eq!(stage.does(b, look()).expect("it goes well").rows, before);
}

#[test]
fn commits_that_were_not_on_disk_are_lost_with_the_server() {
    for (passed, rows) in [(10, 1), (2_000, 2)] {
        let mut stage = Stage::with(&["kept"]);
        let a = stage.session(RR);
        stage
            .does(a, Query::Set(Setting::Durable(false)))
            .expect("it goes well");
        stage.affects(a, insert("young", Conflict::Error));
        stage.now += passed;
        stage.server.crash(stage.now);
        assert_eq!(stage.server.committed(RUNS).len(), rows);
    }
}

#[test]
fn a_commit_on_disk_takes_earlier_ones_with_it() {
    let mut stage = Stage::with(&[]);
    let [a, b] = [RR, RR].map(|level| stage.session(level));
    stage
        .does(a, Query::Set(Setting::Durable(false)))
        .expect("it goes well");
    stage.affects(a, insert("young", Conflict::Error));
    stage.affects(b, insert("kept", Conflict::Error));
    stage.server.crash(stage.now);
    assert_eq!(stage.server.committed(RUNS).len(), 2);
}

#[test]
fn rolling_back_to_a_savepoint_undoes_what_came_after_it() {
    let mut stage = Stage::with(&[]);
    let a = stage.session(RR);
    stage.does(a, begin()).expect("it goes well");
    stage.affects(a, insert("before", Conflict::Error));
    stage
        .does(a, Query::Savepoint("s".into()))
        .expect("it goes well");
    stage.affects(a, insert("after", Conflict::Error));
    stage
        .does(a, Query::RollbackTo("s".into()))
        .expect("it goes well");
    let missing = stage.does(a, Query::ReleaseSavepoint("t".into()));
    assert_eq!(missing, Err(SqlError::NoSavepoint));
    stage.does(a, Query::Commit).expect("it goes well");
    assert_eq!(stage.server.committed(RUNS).len(), 1);
}

#[test]
fn read_committed_does_not_wait_for_a_row_that_does_not_match() {
    let mut stage = Stage::with(&["a", "b"]);
    let [a, b, c] = [RC, RC, RR].map(|level| stage.session(level));
    stage.does(a, begin()).expect("it goes well");
    stage.affects(a, update(key_is("a")));
    let counted = || {
        let seven = Scalar::Value(Value::Int(7));
        Predicate::Compare(Scalar::Column(COUNT), Comparison::Equal, seven)
    };
    assert_eq!(stage.affects(b, update(counted())), 0);
    stage.waits(c, update(counted()), &[a]);
}

#[test]
fn who_waits_is_told_who_waits_ahead() {
    let mut stage = Stage::with(&["k"]);
    let [a, b, c] = [RC, RC, RC].map(|level| stage.session(level));
    stage.does(b, begin()).expect("it goes well");
    let ignored = stage.affects(b, insert("k", Conflict::Ignore));
    assert_eq!(ignored, 0);
    stage.waits(a, update(key_is("k")), &[b]);
    stage.waits(c, delete("k"), &[a, b]);
    stage.does(b, Query::Commit).expect("it goes well");
    assert_eq!((stage.got(a), stage.got(c)), (Ok(1), Ok(1)));
}

#[test]
fn a_killed_session_lets_the_others_go_on() {
    let mut stage = Stage::with(&[]);
    let [a, b] = [RR, RR].map(|level| stage.session(level));
    stage.does(a, begin()).expect("it goes well");
    stage.affects(a, insert("k", Conflict::Error));
    stage.waits(b, insert("k", Conflict::Error), &[a]);
    stage.server.kill(stage.now, a);
    assert_eq!(stage.got(b), Ok(1));
}

/// Whether some waiting transactions wait for one another.
fn has_circle(arrows: &BTreeMap<TrxId, TrxId>) -> bool {
    arrows.keys().any(|start| {
        let mut at = *start;
        (0..=arrows.len()).any(|_| match arrows.get(&at) {
            Some(next) => {
                at = *next;
                at == *start
            }
            None => false,
        })
    })
}

/// Whether two transactions hold one record although one of them holds it for itself.
fn is_shared_wrongly(locks: &[Lock]) -> bool {
    let on_record =
        |lock: &&Lock| !lock.waiting && matches!(lock.span, Span::Record | Span::NextKey);
    locks.iter().filter(on_record).any(|one| {
        locks.iter().filter(on_record).any(|other| {
            one.mode == Mode::Exclusive
                && one.trx != other.trx
                && one.index == other.index
                && one
                    .heaps
                    .iter()
                    .any(|heap| *heap != SUPREMUM && other.heaps.contains(heap))
        })
    })
}

#[test]
fn a_circle_is_seen() {
    let arrow = |from, to| (TrxId(from), TrxId(to));
    assert!(has_circle(&BTreeMap::from([arrow(1, 2), arrow(2, 1)])));
    assert!(!has_circle(&BTreeMap::from([arrow(1, 2), arrow(2, 3)])));
}

#[test]
fn a_record_held_twice_is_seen() {
    let held = |trx, mode| Lock {
        trx: TrxId(trx),
        index: super::records::IndexId::clustered(RUNS),
        mode,
        span: Span::Record,
        heaps: [super::records::Heap(1)].into(),
        waiting: false,
    };
    let (shared, exclusive) = (Mode::Shared, Mode::Exclusive);
    assert!(is_shared_wrongly(&[held(1, exclusive), held(2, shared)]));
    assert!(!is_shared_wrongly(&[held(1, shared), held(2, shared)]));
}

fn holds_in_every_state(core: &Core) {
    let locks = &core.innodb.locks;
    assert!(!has_circle(&locks.waits_for), "nobody ends a circle");
    assert!(!is_shared_wrongly(&locks.all), "a record is held twice");
    for waiting in locks.waits_for.keys() {
        let place = locks.waiting_of(*waiting).expect("it waits for something");
        assert!(
            locks.ahead_of(place).next().is_some(),
            "it waits for nobody"
        );
    }
}

/// A statement of a random interleaving.
fn any_query() -> impl Strategy<Value = Query> {
    let key = prop_oneof![Just("a"), Just("b"), Just("c")];
    (key, 0..9_u8).prop_map(|(key, which)| match which {
        0 => insert(key, Conflict::Error),
        1 => insert(key, Conflict::Ignore),
        2 => insert(
            key,
            Conflict::Update {
                target: None,
                set: count_up(),
            },
        ),
        3 => update(key_is(key)),
        4 => update(Predicate::Always),
        5 => select(key_is(key), Some(Strength::Update)),
        6 => select(key_is(key), Some(Strength::Share)),
        7 => begin(),
        _ => Query::Commit,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_interleaving_leaves_a_circle_or_loses_a_row(
        level in prop_oneof![Just(RC), Just(RR), Just(Isolation::Serializable)],
        steps in prop::collection::vec((0..3_usize, any_query()), 1..30),
    ) {
        let mut stage = Stage::with(&["a"]);
        let sessions = [level; 3].map(|level| stage.session(level));
        let mut rows = 1;
        for (who, query) in steps {
            let id = sessions[who];
            if !matches!(stage.server.status(id), Status::Waiting { .. }) {
                stage.now += 1;
                stage.server.submit(stage.now, id, query);
            }
            holds_in_every_state(&stage.server.core_of_a_test());
            let committed = stage.server.committed(RUNS).len();
            prop_assert!(committed >= rows, "nobody deletes, but a row is gone");
            rows = committed;
        }
        // Whoever still waits goes on when the others are gone, or gives up in time.
        stage.server.advance(stage.now + 120_000);
        for id in sessions {
            let waits = matches!(stage.server.status(id), Status::Waiting { .. });
            prop_assert!(!waits, "it waits for ever");
        }
    }
}
