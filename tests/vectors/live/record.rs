//! Runs a case on a live server, step by step, and writes down what was seen as a vector.
//!
//! A step counts as blocked only when the server itself reports the wait, and still does after a
//! while ([`settle`]). Whatever a step releases is waited for before the next one, so that who goes
//! first is a race only where a step releases several at once.

use super::cases::Case;
use super::client::{Answer, Connection, Session};
use serde_json::{Value, json};
use servers::database::Flavor;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// How long a wait is looked at, in milliseconds: longer than the deadlock check of PostgreSQL.
const SETTLE: u64 = 150;
/// Before the server is asked whether a session waits.
const QUICK: Duration = Duration::from_millis(15);
/// How old MariaDB's own list of waits can be, with a margin.
const STALE: Duration = Duration::from_millis(110);
/// For a step that neither ends nor waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a database for the cases; dropped with it.
pub struct Live {
    flavor: Flavor,
    database: String,
    admin: Connection,
}

impl Live {
    pub fn open(flavor: Flavor, number: usize) -> Result<Self, String> {
        let mut admin = Connection::open(flavor, "")?;
        let server = super::cases::server_name(flavor);
        let database = format!("runkey_live_{server}_{}_{number}", std::process::id());
        admin.must(&format!("DROP DATABASE IF EXISTS {database}"))?;
        let charset = match flavor {
            Flavor::Postgres => "",
            Flavor::MariaDb => " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        };
        admin.must(&format!("CREATE DATABASE {database}{charset}"))?;
        Ok(Live {
            flavor,
            database,
            admin,
        })
    }

    /// Runs a case, and gives its vector.
    pub fn record(&mut self, case: &Case) -> Result<Value, String> {
        let mut own = Connection::open(self.flavor, &self.database)?;
        for table in ["run", "test", "q"] {
            own.must(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        for sql in &case.setup {
            own.must(sql)?;
        }
        let mut recording = Recording {
            live: self,
            sessions: Vec::new(),
            waiting: BTreeMap::new(),
            steps: Vec::new(),
        };
        for _ in &case.sessions {
            let session = recording.begin(case)?;
            recording.sessions.push(session);
        }
        recording.run(case)?;
        let steps = recording.steps;
        let result = own.run(&case.query).remove("rows").unwrap_or_default();
        let mut vector = case.head();
        vector["steps"] = json!(steps);
        vector["final_state"] = json!({"query": case.query, "result": result});
        Ok(vector)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let force = match self.flavor {
            Flavor::Postgres => " WITH (FORCE)",
            Flavor::MariaDb => "",
        };
        let _ = self
            .admin
            .must(&format!("DROP DATABASE IF EXISTS {}{force}", self.database));
    }
}

struct Recording<'a> {
    live: &'a mut Live,
    sessions: Vec<Session>,
    /// Sessions that wait.
    waiting: BTreeMap<usize, ()>,
    steps: Vec<Value>,
}

impl Recording<'_> {
    fn begin(&mut self, case: &Case) -> Result<Session, String> {
        let session = Session::open(self.live.flavor, &self.live.database)?;
        let level = case.level.isolation;
        let set = match self.live.flavor {
            Flavor::Postgres => {
                format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}")
            }
            Flavor::MariaDb => format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
        };
        for sql in std::iter::once(set).chain(case.init()) {
            session.ask(&sql);
            let answer = session.answer(PATIENCE);
            if answer.is_none_or(|answer| answer.contains_key("error")) {
                return Err(format!("{sql}: it fails"));
            }
        }
        Ok(session)
    }

    fn run(&mut self, case: &Case) -> Result<(), String> {
        let mut ahead: VecDeque<(usize, String)> = case.steps.iter().cloned().collect();
        // Whatever a session left open ends, so that whoever waits can go on.
        for session in 0..case.sessions.len() {
            ahead.push_back((session, "ROLLBACK".to_owned()));
        }
        while !ahead.is_empty() || !self.waiting.is_empty() {
            let next = ahead
                .iter()
                .position(|(session, _)| !self.waiting.contains_key(session));
            let Some((session, sql)) = next.and_then(|at| ahead.remove(at)) else {
                return Err("everybody waits".to_owned());
            };
            self.step(case, session, &sql)?;
            self.collect(case)?;
        }
        Ok(())
    }

    fn step(&mut self, case: &Case, session: usize, sql: &str) -> Result<(), String> {
        self.sessions[session].ask(sql);
        let name = &case.sessions[session];
        let began = Instant::now();
        let mut reported: Option<Instant> = None;
        while began.elapsed() < PATIENCE {
            if let Some(answer) = self.sessions[session].answer(QUICK) {
                let expect = told(answer);
                self.steps
                    .push(json!({"session": name, "sql": sql, "expect": expect}));
                return Ok(());
            }
            let by = self.blockers(case, session);
            match reported {
                _ if by.is_empty() => reported = None,
                None => reported = Some(Instant::now()),
                Some(since) if since.elapsed() >= Duration::from_millis(SETTLE) => {
                    self.steps.push(json!({
                        "session": name, "sql": sql, "settle_ms": SETTLE,
                        "expect": {"blocks": true, "by": by},
                    }));
                    self.waiting.insert(session, ());
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        Err(format!("{sql} neither ends nor waits"))
    }

    /// Fetches the answers of whoever the last step has released, until all others are seen to
    /// wait.
    fn collect(&mut self, case: &Case) -> Result<(), String> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let mut quiet: Option<Instant> = None;
        while began.elapsed() < PATIENCE {
            let mut all_wait = true;
            for session in self.waiting.keys().copied().collect::<Vec<_>>() {
                if let Some(answer) = self.sessions[session].answer(Duration::from_millis(2)) {
                    self.waiting.remove(&session);
                    quiet = None;
                    self.steps.push(json!({
                        "session": case.sessions[session], "op": "await", "expect": told(answer),
                    }));
                } else if self.blockers(case, session).is_empty() {
                    all_wait = false;
                }
            }
            if self.waiting.is_empty() {
                return Ok(());
            }
            let since = *quiet.get_or_insert_with(Instant::now);
            if !all_wait {
                quiet = None;
            } else if since.elapsed() >= STALE {
                // The model's clock goes on as far, so that what was due has happened there, too.
                let ms = u64::try_from(STALE.as_millis()).unwrap_or(u64::MAX);
                self.steps
                    .push(json!({"op": "sleep", "ms": ms, "expect": {}}));
                return Ok(());
            }
        }
        Err("a session that waited neither ends nor waits".to_owned())
    }

    /// Whom a session waits for, as the server says.
    fn blockers(&mut self, case: &Case, session: usize) -> Vec<String> {
        let number = &self.sessions[session].number;
        let sql = match self.live.flavor {
            Flavor::Postgres => format!("SELECT unnest(pg_blocking_pids({number})) AS n"),
            Flavor::MariaDb => format!(
                "SELECT DISTINCT holder.trx_mysql_thread_id AS n \
                 FROM information_schema.INNODB_LOCK_WAITS wait \
                 JOIN information_schema.INNODB_TRX holder ON holder.trx_id = wait.blocking_trx_id \
                 JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = wait.requesting_trx_id \
                 WHERE waiter.trx_mysql_thread_id = {number}"
            ),
        };
        let numbers = self.live.admin.texts(&sql);
        let mut names: Vec<String> = self
            .sessions
            .iter()
            .zip(&case.sessions)
            .filter(|(session, _)| numbers.contains(&session.number))
            .map(|(_, name)| name.clone())
            .collect();
        names.sort();
        names
    }
}

/// What a vector expects of an answer: success, where there is nothing else to tell.
fn told(answer: Answer) -> Value {
    match answer.is_empty() {
        true => json!({"ok": true}),
        false => Value::Object(answer),
    }
}
