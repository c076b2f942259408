//! Runs a case on a live server, step by step, and writes down what was seen as a vector.
//!
//! A step counts as blocked only when the server itself reports the wait, and still does after a
//! while ([`settle`]). Whatever a step releases is waited for before the next one, so that who goes
//! first is a race only where a step releases several at once.

use super::cases::Case;
use super::client::{Answer, Connection, Session};
use serde_json::{Value, json};
use servers::database::Flavor;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a wait is looked at, in milliseconds: longer than the deadlock check of PostgreSQL.
const SETTLE: u64 = 100;
/// Before the server is asked whether a session waits.
const QUICK: Duration = Duration::from_millis(15);
/// For a step that neither ends nor waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a database for the cases; dropped with it.
pub struct Live {
    flavor: Flavor,
    database: String,
    admin: Connection,
}

impl Live {
    pub fn open(flavor: Flavor) -> Result<Self, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
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
            waiting: BTreeSet::new(),
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
    waiting: BTreeSet<usize>,
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
                .position(|(session, _)| !self.waiting.contains(session));
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
            let waits = self.waits();
            let by = self.blockers(case, session, &waits);
            if waits.at < began || by.names.is_empty() {
                reported = None;
                continue;
            }
            let since = *reported.get_or_insert(waits.at);
            if waits.at - since >= Duration::from_millis(SETTLE) {
                let mut expect = json!({"blocks": true});
                if by.certain {
                    expect["by"] = json!(by.names);
                }
                self.steps.push(json!({
                    "session": name, "sql": sql, "settle_ms": SETTLE, "expect": expect,
                }));
                self.waiting.insert(session);
                return Ok(());
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
            let waits = self.waits();
            let mut all_wait = waits.at >= began;
            for session in self.waiting.clone() {
                if let Some(answer) = self.sessions[session].answer(Duration::from_millis(2)) {
                    self.waiting.remove(&session);
                    all_wait = false;
                    self.steps.push(json!({
                        "session": case.sessions[session], "op": "await", "expect": told(answer),
                    }));
                } else if self.blockers(case, session, &waits).names.is_empty() {
                    all_wait = false;
                }
            }
            if self.waiting.is_empty() {
                return Ok(());
            }
            if !all_wait {
                quiet = None;
                continue;
            }
            let since = *quiet.get_or_insert(waits.at);
            if waits.at - since >= Duration::from_millis(SETTLE) {
                // The model's clock goes on as far, so that what was due has happened there, too.
                self.steps
                    .push(json!({"op": "sleep", "ms": SETTLE, "expect": {}}));
                return Ok(());
            }
        }
        Err("a session that waited neither ends nor waits".to_owned())
    }

    /// Who waits for whom, as the server says.
    fn waits(&mut self) -> Waits {
        match self.live.flavor {
            Flavor::Postgres => self.waits_of_postgres(),
            Flavor::MariaDb => waits_of_mariadb(&mut self.live.admin),
        }
    }

    fn waits_of_postgres(&mut self) -> Waits {
        let at = Instant::now();
        let mut pairs = Vec::new();
        for session in &self.sessions {
            let waiter = &session.number;
            let sql = format!("SELECT unnest(pg_blocking_pids({waiter})) AS n");
            for holder in self.live.admin.texts(&sql) {
                pairs.push(Pair {
                    waiter: waiter.clone(),
                    holder,
                    certain: true,
                });
            }
        }
        Waits { at, pairs }
    }

    /// Whom a session waits for.
    fn blockers(&self, case: &Case, session: usize, waits: &Waits) -> Blockers {
        let number = &self.sessions[session].number;
        let own = waits.pairs.iter().filter(|pair| pair.waiter == *number);
        let own: Vec<&Pair> = own.filter(|pair| pair.holder != *number).collect();
        let named = self.sessions.iter().zip(&case.sessions);
        let mut names: Vec<String> = named
            .filter(|(holder, _)| own.iter().any(|pair| pair.holder == holder.number))
            .map(|(_, name)| name.clone())
            .collect();
        names.sort();
        Blockers {
            certain: names.len() == 1 || own.iter().all(|pair| pair.certain),
            names,
        }
    }
}

/// Whom a session waits for, by name.
struct Blockers {
    names: Vec<String>,
    /// Whether the server could tell them from others.
    certain: bool,
}

/// What a server says of its waits.
#[derive(Clone)]
struct Waits {
    /// When it was asked.
    at: Instant,
    pairs: Vec<Pair>,
}

/// One waits for another, by the server's numbers.
#[derive(Clone)]
struct Pair {
    waiter: String,
    holder: String,
    certain: bool,
}

/// MariaDB keeps what it says of its waits until nobody has asked for 100 ms: all cases ask
/// together, and seldom.
static ASKED: Mutex<Option<Waits>> = Mutex::new(None);
const SELDOM: Duration = Duration::from_millis(120);

fn waits_of_mariadb(admin: &mut Connection) -> Waits {
    let mut asked = ASKED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(waits) = asked.as_ref().filter(|waits| waits.at.elapsed() < SELDOM) {
        return waits.clone();
    }
    let at = Instant::now();
    // A transaction that has written nothing has the number 0 there, as all such have.
    let pairs = admin.texts(
        "SELECT CONCAT(waiter.trx_mysql_thread_id, ' ', holder.trx_mysql_thread_id, ' ', \
                       waits.blocking_trx_id <> 0 AND waits.requesting_trx_id <> 0) \
         FROM information_schema.INNODB_LOCK_WAITS waits \
         JOIN information_schema.INNODB_TRX holder ON holder.trx_id = waits.blocking_trx_id \
         JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = waits.requesting_trx_id \
         WHERE waiter.trx_state = 'LOCK WAIT' AND holder.trx_lock_structs > 0",
    );
    let pair = |pair: &String| {
        let mut words = pair.split(' ').map(str::to_owned);
        Some(Pair {
            waiter: words.next()?,
            holder: words.next()?,
            certain: words.next()? == "1",
        })
    };
    let pairs = pairs.iter().filter_map(pair).collect();
    asked.insert(Waits { at, pairs }).clone()
}

/// What a vector expects of an answer: success, where there is nothing else to tell.
fn told(answer: Answer) -> Value {
    match answer.is_empty() {
        true => json!({"ok": true}),
        false => Value::Object(answer),
    }
}
