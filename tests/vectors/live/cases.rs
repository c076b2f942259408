//! Random interleavings: tables, sessions and statements of the kinds that the vectors have.

use crate::dice::Dice;
use serde_json::{Value, json};
use servers::database::Flavor;

/// An isolation level, as a session sets it.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub name: &'static str,
    pub isolation: &'static str,
    /// MariaDB's innodb_snapshot_isolation.
    pub snapshot: bool,
}

/// The levels of a server.
pub const fn levels(flavor: Flavor) -> &'static [Level] {
    const fn level(name: &'static str, isolation: &'static str, snapshot: bool) -> Level {
        Level {
            name,
            isolation,
            snapshot,
        }
    }
    const POSTGRES: &[Level] = &[
        level("rc", "READ COMMITTED", false),
        level("rr", "REPEATABLE READ", false),
        level("ser", "SERIALIZABLE", false),
    ];
    const MARIADB: &[Level] = &[
        level("ru", "READ UNCOMMITTED", false),
        level("rc", "READ COMMITTED", false),
        level("rr", "REPEATABLE READ", false),
        level("rr-snapiso", "REPEATABLE READ", true),
        level("ser", "SERIALIZABLE", false),
    ];
    match flavor {
        Flavor::Postgres => POSTGRES,
        Flavor::MariaDb => MARIADB,
    }
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub flavor: Flavor,
    pub level: Level,
    pub setup: Vec<String>,
    pub sessions: Vec<String>,
    /// Whose statement, and which. A statement of a session that waits comes when its turn comes
    /// after the wait.
    pub steps: Vec<(usize, String)>,
    /// What tells the end.
    pub query: String,
}

impl Case {
    /// What every session sets at its beginning.
    pub fn init(&self) -> Vec<String> {
        match self.flavor {
            // Sooner than the recorder looks at a wait: a circle is ended by who closes it.
            Flavor::Postgres => vec!["SET deadlock_timeout='60ms'".to_owned()],
            Flavor::MariaDb => {
                let mut init = vec!["SET SESSION innodb_lock_wait_timeout=50".to_owned()];
                if self.level.snapshot {
                    init.push("SET SESSION innodb_snapshot_isolation=ON".to_owned());
                }
                init
            }
        }
    }

    /// The parts of a vector that are known before it is run.
    pub fn head(&self) -> Value {
        json!({
            "id": self.id,
            "server": match self.flavor {
                Flavor::Postgres => "postgresql",
                Flavor::MariaDb => "mariadb",
            },
            "claim": "found",
            "isolation": self.level.isolation,
            "session_init": self.init(),
            "sessions": self.sessions,
            "setup": self.setup,
        })
    }
}

/// The case that a seed makes.
pub fn case(flavor: Flavor, level: Level, seed: u64) -> Case {
    let mut dice = Dice::new(seed, &format!("{flavor:?} {}", level.name));
    let kind = dice.below(3);
    let (setup, query) = table(flavor, kind, &mut dice);
    let count = 2 + dice.below(2);
    let keys = 2 + dice.below(3);
    let mut sessions: Vec<String> = ["A", "B", "C"][..count]
        .iter()
        .map(|s| (*s).to_owned())
        .collect();
    let mut scripts: Vec<Vec<String>> = (0..count)
        .map(|_| script(flavor, kind, keys, &mut dice))
        .collect();
    let mut steps = Vec::new();
    if flavor == Flavor::MariaDb {
        // Somebody who still reads the past, so that no row is purged while the case runs: when
        // purge runs is not for a client to see.
        sessions.push("P".to_owned());
        for sql in [
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        ] {
            steps.push((count, sql.to_owned()));
        }
    }
    while scripts.iter().any(|script| !script.is_empty()) {
        let session = dice.below(count);
        if !scripts[session].is_empty() {
            steps.push((session, scripts[session].remove(0)));
        }
    }
    Case {
        id: format!("found-{}-{}-{seed}", server_name(flavor), level.name),
        flavor,
        level,
        setup,
        sessions,
        steps,
        query,
    }
}

pub const fn server_name(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Postgres => "pg",
        Flavor::MariaDb => "maria",
    }
}

/// A table with some rows, and the query that tells its final state.
fn table(flavor: Flavor, kind: usize, dice: &mut Dice) -> (Vec<String>, String) {
    let maria = flavor == Flavor::MariaDb;
    let (create, rows, query) = match kind {
        0 => {
            let create = if maria {
                "CREATE TABLE run (id INT AUTO_INCREMENT PRIMARY KEY, run_key VARCHAR(64) NOT NULL, \
                 owner VARCHAR(16), UNIQUE KEY uk (run_key)) ENGINE=InnoDB"
            } else {
                "CREATE TABLE run (id SERIAL PRIMARY KEY, run_key VARCHAR(64) NOT NULL, \
                 owner VARCHAR(16), UNIQUE (run_key))"
            };
            let rows =
                some(4, dice).map(|n| format!("INSERT INTO run(run_key,owner) VALUES('k{n}','x')"));
            (
                create,
                rows.collect::<Vec<_>>(),
                "SELECT run_key, owner FROM run ORDER BY run_key",
            )
        }
        1 => {
            let create = if maria {
                "CREATE TABLE test (id INT PRIMARY KEY, value INT) ENGINE=InnoDB"
            } else {
                "CREATE TABLE test (id INT PRIMARY KEY, value INT)"
            };
            let rows = some(4, dice).map(|n| format!("INSERT INTO test VALUES ({n},{n}0)"));
            (
                create,
                rows.collect(),
                "SELECT id, value FROM test ORDER BY id",
            )
        }
        _ => {
            let create = match (maria, dice.below(2)) {
                (true, 0) => {
                    "CREATE TABLE q (id INT PRIMARY KEY, st VARCHAR(8), KEY (st)) ENGINE=InnoDB"
                }
                (true, _) => "CREATE TABLE q (id INT PRIMARY KEY, st VARCHAR(8)) ENGINE=InnoDB",
                (false, _) => "CREATE TABLE q (id INT PRIMARY KEY, st VARCHAR(8))",
            };
            let state = dice.one(&["new", "new", "done"]);
            let rows = some(4, dice).map(|n| format!("INSERT INTO q VALUES ({n},'{state}')"));
            (create, rows.collect(), "SELECT id, st FROM q ORDER BY id")
        }
    };
    let mut setup = vec![create.to_owned()];
    setup.extend(rows);
    (setup, query.to_owned())
}

/// Some of `1..=most`.
fn some(most: usize, dice: &mut Dice) -> impl Iterator<Item = usize> {
    let taken: Vec<usize> = (1..=most).filter(|_| dice.below(2) == 0).collect();
    taken.into_iter()
}

/// The statements of one session.
fn script(flavor: Flavor, kind: usize, keys: usize, dice: &mut Dice) -> Vec<String> {
    let mut script = Vec::new();
    for _ in 0..=dice.below(2) {
        let transaction = dice.below(4) > 0;
        if transaction {
            script.push("BEGIN".to_owned());
        }
        for _ in 0..=dice.below(3) {
            script.push(statement(flavor, kind, keys, dice));
        }
        if transaction {
            script.push(dice.one(&["COMMIT", "COMMIT", "ROLLBACK"]).to_owned());
        }
    }
    script
}

fn statement(flavor: Flavor, kind: usize, keys: usize, dice: &mut Dice) -> String {
    let shapes: Vec<&str> = match kind {
        0 => RUN
            .iter()
            .chain(own(flavor, PG_RUN, MARIA_RUN))
            .copied()
            .collect(),
        1 => TEST.to_vec(),
        _ => QUEUE
            .iter()
            .chain(own(flavor, PG_QUEUE, MARIA_QUEUE))
            .copied()
            .collect(),
    };
    let shape = dice.one(&shapes);
    let mut number = || (1 + dice.below(keys)).to_string();
    let (k, l) = (number(), number());
    let value = 10 * (1 + dice.below(keys)) + dice.below(3);
    let owner = dice.one(&["A", "B", "C"]);
    shape
        .replace("{k}", &k)
        .replace("{l}", &l)
        .replace("{v}", &value.to_string())
        .replace("{o}", owner)
}

const fn own(
    flavor: Flavor,
    postgres: &'static [&'static str],
    mariadb: &'static [&'static str],
) -> &'static [&'static str] {
    match flavor {
        Flavor::Postgres => postgres,
        Flavor::MariaDb => mariadb,
    }
}

const RUN: &[&str] = &[
    "SELECT owner FROM run WHERE run_key='k{k}'",
    "SELECT owner FROM run WHERE run_key='k{k}'",
    "SELECT owner FROM run WHERE run_key='k{k}' FOR UPDATE",
    "SELECT owner FROM run WHERE run_key='k{k}' FOR UPDATE",
    "SELECT run_key, owner FROM run ORDER BY run_key",
    "SELECT count(*) FROM run",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}')",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}')",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}')",
    "UPDATE run SET owner='{o}' WHERE run_key='k{k}'",
    "UPDATE run SET owner='{o}' WHERE run_key='k{k}'",
    "DELETE FROM run WHERE run_key='k{k}'",
];

const PG_RUN: &[&str] = &[
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}') ON CONFLICT (run_key) DO NOTHING",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}') ON CONFLICT (run_key) DO NOTHING",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}') ON CONFLICT (run_key) DO UPDATE SET owner=EXCLUDED.owner",
    "SELECT owner FROM run WHERE run_key='k{k}' FOR SHARE",
];

const MARIA_RUN: &[&str] = &[
    "INSERT IGNORE INTO run(run_key,owner) VALUES('k{k}','{o}')",
    "INSERT IGNORE INTO run(run_key,owner) VALUES('k{k}','{o}')",
    "INSERT INTO run(run_key,owner) VALUES('k{k}','{o}') ON DUPLICATE KEY UPDATE owner=VALUES(owner)",
    "SELECT owner FROM run WHERE run_key='k{k}' LOCK IN SHARE MODE",
];

const TEST: &[&str] = &[
    "SELECT value FROM test WHERE id={k}",
    "SELECT value FROM test WHERE id={k}",
    "SELECT id, value FROM test ORDER BY id",
    "SELECT id, value FROM test WHERE value % 3 = 0",
    "SELECT id, value FROM test WHERE value={v}",
    "SELECT value FROM test WHERE id={k} FOR UPDATE",
    "UPDATE test SET value={v} WHERE id={k}",
    "UPDATE test SET value={v} WHERE id={k}",
    "UPDATE test SET value={v} WHERE id={k}",
    "UPDATE test SET value=value+10",
    "INSERT INTO test VALUES ({k},{v})",
    "DELETE FROM test WHERE value={v}",
    "DELETE FROM test WHERE id={k}",
];

const QUEUE: &[&str] = &[
    "SELECT id FROM q WHERE st='new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT id FROM q WHERE st='new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT id FROM q WHERE st='new' ORDER BY id LIMIT 1 FOR UPDATE",
    "SELECT id FROM q WHERE id={k} FOR UPDATE NOWAIT",
    "SELECT id FROM q WHERE id={k} FOR UPDATE",
    "SELECT id, st FROM q ORDER BY id",
    "UPDATE q SET st='run' WHERE id={k}",
    "UPDATE q SET st='run' WHERE id={k}",
    "UPDATE q SET st='new' WHERE id={k} AND st='run'",
];

const PG_QUEUE: &[&str] = &[
    "UPDATE q SET st='run' WHERE id=(SELECT id FROM q WHERE st='new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
];

const MARIA_QUEUE: &[&str] = &["UPDATE q SET st='{o}' WHERE st='new' ORDER BY id LIMIT 1"];
