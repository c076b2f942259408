//! A vector, translated: what is to be done step by step, and what is to be seen.

use super::front_end::{FrontEnd, Prepared, Unsupported, session::named_level};
use crate::format::{Step, Variant, Vector};
use scheduler::ports::sql::Setting;
use serde::Deserialize;
use serde_json::Value;
use servers::Ms;
use servers::database::Flavor;

/// A vector in the port's words.
pub struct Plan {
    pub flavor: Flavor,
    pub sessions: Vec<String>,
    /// What every session has set from its beginning.
    pub settings: Vec<Setting>,
    /// What every session runs at its beginning.
    pub init: Vec<Prepared>,
    pub setup: Vec<Prepared>,
    /// One, or the recorded outcomes of a race.
    pub courses: Vec<Course>,
}

/// One way that things went.
pub struct Course {
    pub moves: Vec<Move>,
    pub final_state: Option<(Prepared, Vec<Vec<Value>>)>,
}

/// One step.
pub struct Move {
    /// Whose it is; empty: nobody's.
    pub session: String,
    pub action: Action,
    pub expect: Expect,
    /// For how long a wait was looked at, if not for the usual time.
    pub settle: Option<Ms>,
}

/// What is done in a step.
pub enum Action {
    Run(Box<Prepared>),
    /// The answer of the session's waiting statement is fetched.
    Await,
    /// The connection ends, by whomever: the server sees it.
    End,
    Reconnect,
    Sleep(Ms),
    CrashServer,
    /// The statement arrives, its answer is lost, and with it the connection.
    LoseReply(Box<Prepared>),
    /// The statement is lost, and with it the connection.
    LoseRequest,
}

/// What was seen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub rows: Option<Vec<Vec<Value>>>,
    pub affected: Option<u64>,
    pub tag: Option<String>,
    pub ok: Option<bool>,
    pub error: Option<String>,
    #[serde(default)]
    pub blocks: bool,
    pub by: Option<Vec<String>>,
    pub warnings: Option<Vec<u16>>,
}

/// Why a vector has no plan.
pub enum Unplanned {
    /// It asks for something that the port does not have.
    OutOfScope(String),
    /// It is not of the format.
    NotRead { step: usize, why: String },
}

impl From<Unsupported> for Unplanned {
    fn from(Unsupported(kind): Unsupported) -> Self {
        Unplanned::OutOfScope(kind)
    }
}

/// Translates a vector.
pub fn plan(flavor: Flavor, vector: &Vector) -> Result<Plan, Unplanned> {
    let mut front_end = FrontEnd::new(flavor);
    let setup = prepare_all(&mut front_end, vector.setup.iter().map(Value::as_str))?;
    let init = vector.session_init.iter().map(|sql| Some(sql.as_str()));
    let init = prepare_all(&mut front_end, init)?;
    let plain = [Variant {
        steps: vector.steps.clone(),
        final_state: vector.final_state.clone(),
    }];
    let courses = match vector.variants.as_slice() {
        [] => &plain,
        variants => variants,
    };
    let courses: Result<_, _> = courses
        .iter()
        .map(|course| course_of(front_end.clone(), course))
        .collect();
    Ok(Plan {
        flavor,
        sessions: vector.sessions.clone(),
        settings: settings(flavor, vector)?,
        init,
        setup,
        courses: courses?,
    })
}

/// What the recorder set for each session, beside what the vector says.
fn settings(flavor: Flavor, vector: &Vector) -> Result<Vec<Setting>, Unplanned> {
    let mut settings = vec![match flavor {
        Flavor::Postgres => Setting::DeadlockCheck(200),
        Flavor::MariaDb => Setting::LockWait(Some(5_000)),
    }];
    for (name, value) in &vector.conn {
        match (flavor, name.as_str(), value.as_bool()) {
            (Flavor::MariaDb, "found_rows", Some(on)) => settings.push(Setting::FoundRows(on)),
            _ => {
                let kind = format!("the connection option {name}");
                return Err(Unplanned::OutOfScope(kind));
            }
        }
    }
    if let Some(level) = &vector.isolation {
        settings.push(Setting::Isolation(named_level(level)?));
    }
    Ok(settings)
}

fn prepare_all<'a>(
    front_end: &mut FrontEnd,
    statements: impl Iterator<Item = Option<&'a str>>,
) -> Result<Vec<Prepared>, Unplanned> {
    statements
        .map(|sql| match sql {
            Some(sql) => Ok(front_end.prepare(sql)?),
            None => Err(Unplanned::OutOfScope("a setup that is no SQL".to_owned())),
        })
        .collect()
}

fn course_of(mut front_end: FrontEnd, course: &Variant) -> Result<Course, Unplanned> {
    let moves: Result<_, _> = course
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| move_of(&mut front_end, at + 1, step))
        .collect();
    let moves: Vec<Move> = moves?;
    let final_state = match &course.final_state {
        None | Some(Value::Null) => None,
        Some(state) => {
            let not_read = || Unplanned::NotRead {
                step: moves.len() + 1,
                why: "the final state is not of the format".to_owned(),
            };
            let query = state["query"].as_str().ok_or_else(not_read)?;
            let rows = serde_json::from_value(state["result"].clone()).map_err(|_| not_read())?;
            Some((front_end.prepare(query)?, rows))
        }
    };
    Ok(Course { moves, final_state })
}

fn move_of(front_end: &mut FrontEnd, at: usize, step: &Step) -> Result<Move, Unplanned> {
    let not_read = |why: String| Unplanned::NotRead { step: at, why };
    let mut prepared = || match &step.sql {
        Some(sql) => Ok(Box::new(front_end.prepare(sql)?)),
        None => Err(not_read("a step without its SQL".to_owned())),
    };
    let ms = |name: &str| step.arguments.get(name).and_then(Value::as_u64);
    let action = match step.op.as_deref() {
        None => Action::Run(prepared()?),
        Some("await") => Action::Await,
        Some("kill" | "cut") => Action::End,
        Some("reconnect") => Action::Reconnect,
        Some("sleep") => Action::Sleep(
            ms("ms").ok_or_else(|| not_read("a sleep without its length".to_owned()))?,
        ),
        Some("crash_server" | "restart_server") => Action::CrashServer,
        Some("cut_after_send") => Action::LoseReply(prepared()?),
        Some("cut_before_send") => {
            prepared()?;
            Action::LoseRequest
        }
        Some(other) => {
            let kind = format!("the operation {other}");
            return Err(Unplanned::OutOfScope(kind));
        }
    };
    let expect = match &step.expect {
        None => Expect::default(),
        Some(expect) => serde_json::from_value(expect.clone())
            .map_err(|error| not_read(format!("the expectation is not read: {error}")))?,
    };
    Ok(Move {
        session: step.session.clone().unwrap_or_default(),
        action,
        expect,
        settle: ms("settle_ms"),
    })
}
