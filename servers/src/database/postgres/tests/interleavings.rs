//! Random interleavings of three sessions: whatever the order, nobody waits for ever, nothing that
//! was committed is lost, and no row is locked twice.

use super::shop::{ID, Shop, begin, insert, is, lock, pairs, set};
use crate::database::{SessionId, Status};
use proptest::prelude::*;
use scheduler::ports::Isolation;
use scheduler::ports::sql::{Query, Reply, SqlError, Tag, WhenLocked};
use std::collections::BTreeMap;

/// What a session does next.
#[derive(Clone, Copy, Debug)]
enum Do {
    Lock(i64),
    Change(i64),
    Insert(i64),
    Commit,
    Rollback,
}

impl Do {
    fn query(self) -> Query {
        match self {
            Do::Lock(key) => lock(is(ID, key), WhenLocked::Wait),
            Do::Change(key) => set(0, is(ID, key)),
            Do::Insert(key) => insert(key, 0),
            Do::Commit => Query::Commit,
            Do::Rollback => Query::Rollback,
        }
    }
}

fn act() -> impl Strategy<Value = Do> {
    prop_oneof![
        3 => (1_i64..4).prop_map(Do::Lock),
        3 => (1_i64..4).prop_map(Do::Change),
        2 => (3_i64..6).prop_map(Do::Insert),
        2 => Just(Do::Commit),
        1 => Just(Do::Rollback),
    ]
}

/// What a test keeps in mind of a run.
#[derive(Default)]
struct Books {
    /// Who has been given which row to itself.
    locked: BTreeMap<i64, SessionId>,
    /// Keys that a session has inserted and not committed.
    inserted: Vec<(SessionId, i64)>,
    /// Keys that are committed.
    committed: Vec<i64>,
}

impl Books {
    /// Whether the row is to be had: it may not be another's.
    fn locks(&mut self, id: SessionId, key: i64) -> Result<(), String> {
        match self.locked.insert(key, id) {
            Some(holder) if holder != id => Err(format!("{key} is {holder:?}'s and {id:?}'s")),
            _ => Ok(()),
        }
    }

    fn ends(&mut self, id: SessionId, commits: bool) {
        self.locked.retain(|_, holder| *holder != id);
        let (own, others) = self.inserted.drain(..).partition(|(by, _)| *by == id);
        self.inserted = others;
        let own: Vec<(SessionId, i64)> = own;
        if commits {
            self.committed.extend(own.into_iter().map(|(_, key)| key));
        }
    }

    fn nothing_is_lost(&self, rows: &[(i64, i64)]) -> Result<(), String> {
        let lost = |key: &&i64| !rows.iter().any(|(there, _)| there == *key);
        match self.committed.iter().find(lost) {
            Some(key) => Err(format!("{key} was committed and is gone")),
            None => Ok(()),
        }
    }

    fn answered(
        &mut self,
        id: SessionId,
        act: Do,
        answer: &Result<Reply, SqlError>,
    ) -> Result<(), String> {
        let Ok(reply) = answer else {
            self.ends(id, false);
            return Ok(());
        };
        match act {
            Do::Lock(key) if !pairs(reply).is_empty() => self.locks(id, key),
            Do::Change(key) if reply.affected == Some(1) => self.locks(id, key),
            Do::Insert(key) => {
                self.inserted.push((id, key));
                Ok(())
            }
            Do::Lock(_) | Do::Change(_) => Ok(()),
            Do::Commit | Do::Rollback => {
                self.ends(id, reply.tag == Tag::Commit);
                Ok(())
            }
        }
    }
}

/// Every statement that has an answer is entered in the books, those that end something first.
fn settle(
    shop: &mut Shop,
    at_work: &mut BTreeMap<SessionId, Do>,
    books: &mut Books,
) -> Result<(), String> {
    let mut answers = Vec::new();
    for (id, act) in at_work.clone() {
        if let Some(answer) = shop.server.take(id) {
            at_work.remove(&id);
            answers.push((id, act, answer));
        }
    }
    answers.sort_by_key(|(_, act, answer)| {
        answer.is_ok() && !matches!(act, Do::Commit | Do::Rollback)
    });
    for (id, act, answer) in answers {
        books.answered(id, act, &answer)?;
    }
    Ok(())
}

fn run(isolation: Isolation, acts: &[(usize, Do)]) -> Result<(), String> {
    let mut shop = Shop::open();
    let sessions = [(); 3].map(|()| shop.session(isolation));
    let mut books = Books::default();
    let mut at_work = BTreeMap::new();
    let mut open = [false; 3];
    for (who, act) in acts {
        let id = sessions[*who];
        if shop.server.status(id) != Status::Idle {
            continue;
        }
        if !open[*who] {
            shop.ok(id, begin());
        }
        open[*who] = !matches!(act, Do::Commit | Do::Rollback);
        shop.submit(id, act.query());
        at_work.insert(id, *act);
        settle(&mut shop, &mut at_work, &mut books)?;
        shop.pass(100);
        settle(&mut shop, &mut at_work, &mut books)?;
    }
    // Whoever is not waiting ends; each end lets somebody go on, and so does each check.
    for _ in 0..10 {
        for id in sessions {
            if shop.server.status(id) == Status::Idle {
                shop.submit(id, Query::Rollback);
                at_work.insert(id, Do::Rollback);
            }
        }
        shop.pass(2_000);
        settle(&mut shop, &mut at_work, &mut books)?;
    }
    if !at_work.is_empty() {
        return Err(format!("{at_work:?} waits for ever"));
    }
    books.nothing_is_lost(&shop.committed())
}

fn isolation() -> impl Strategy<Value = Isolation> {
    prop_oneof![
        Just(Isolation::ReadCommitted),
        Just(Isolation::RepeatableRead),
        Just(Isolation::Serializable),
    ]
}

proptest! {
    #[test]
    fn nobody_waits_for_ever_nothing_is_lost_and_no_row_is_locked_twice(
        isolation in isolation(),
        acts in prop::collection::vec((0_usize..3, act()), 1..24),
    ) {
        if let Err(why) = run(isolation, &acts) {
            prop_assert!(false, "{}", why);
        }
    }
}

#[test]
fn a_row_that_two_have_is_told() {
    let mut books = Books::default();
    assert_eq!(books.locks(SessionId(1), 1), Ok(()));
    assert_eq!(books.locks(SessionId(1), 1), Ok(()));
    assert!(books.locks(SessionId(2), 1).is_err());
}

#[test]
fn a_committed_row_that_is_gone_is_told() {
    let mut books = Books::default();
    books.inserted.push((SessionId(1), 3));
    assert_eq!(books.nothing_is_lost(&[]), Ok(()));
    books.ends(SessionId(1), true);
    assert_eq!(books.nothing_is_lost(&[(3, 0)]), Ok(()));
    assert!(books.nothing_is_lost(&[(4, 0)]).is_err());
}
