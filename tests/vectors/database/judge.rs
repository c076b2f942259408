//! Whether what a model said is what was recorded.

use super::front_end::{Cell, Prepared};
use super::plan::Expect;
use scheduler::ports::Value;
use scheduler::ports::sql::{Reply, SqlError, Tag};
use serde_json::Value as Json;
use servers::database::{Flavor, code};

/// What a step came to.
#[derive(Debug)]
pub enum Seen {
    /// An answer.
    Answer(Result<Reply, SqlError>),
    /// It waits for these sessions.
    Waits(Vec<String>),
    /// Nothing to see.
    Nothing,
}

/// What is wrong with it, in words. `prepared`: the statement, for what its answer looks like.
pub fn judge(
    flavor: Flavor,
    expect: &Expect,
    prepared: Option<&Prepared>,
    seen: &Seen,
) -> Result<(), String> {
    match seen {
        Seen::Waits(by) => waits(expect, by),
        Seen::Nothing => match &expect.error {
            Some(error) => Err(format!("it should fail with {error}")),
            None => Ok(()),
        },
        Seen::Answer(_) if expect.blocks => Err(format!(
            "it should wait for {:?}, but is done: {}",
            expect.by.as_deref().unwrap_or_default(),
            told(flavor, seen)
        )),
        Seen::Answer(Err(error)) => failed(flavor, expect, *error),
        Seen::Answer(Ok(reply)) => answered(flavor, expect, prepared, reply),
    }
}

fn waits(expect: &Expect, by: &[String]) -> Result<(), String> {
    if !expect.blocks {
        return Err(format!("it waits for {by:?}"));
    }
    let Some(expected) = &expect.by else {
        return Ok(());
    };
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if sorted(expected) == sorted(by) {
        return Ok(());
    }
    Err(format!("it waits for {by:?}, not for {expected:?}"))
}

fn failed(flavor: Flavor, expect: &Expect, error: SqlError) -> Result<(), String> {
    let code = code(flavor, error);
    let Some(expected) = &expect.error else {
        return Err(format!("it fails with {code}: {error}"));
    };
    // Which of its errors a client makes of a connection that is gone depends on the client, and
    // on whether it notices when it writes or when it reads.
    let lost = matches!(
        error,
        SqlError::ConnectionLost | SqlError::IdleInTransaction
    );
    let lost = lost && matches!(expected.as_str(), "conn_lost" | "2006" | "2013");
    if lost || expected == code {
        return Ok(());
    }
    Err(format!("it fails with {code}, not with {expected}"))
}

fn answered(
    flavor: Flavor,
    expect: &Expect,
    prepared: Option<&Prepared>,
    reply: &Reply,
) -> Result<(), String> {
    if let Some(error) = &expect.error {
        return Err(format!("it should fail with {error}, but is done"));
    }
    if let Some(expected) = &expect.rows {
        let shown = prepared.map(|prepared| rows(prepared, reply));
        let (shown, ordered) = (
            shown.unwrap_or_default(),
            prepared.is_some_and(|prepared| prepared.ordered),
        );
        same_rows(expected, &shown, ordered)?;
    }
    if let Some(expected) = expect.affected
        && reply.affected != Some(expected)
    {
        return Err(match reply.affected {
            Some(affected) => format!("{affected} rows are affected, not {expected}"),
            None => format!("no rows are counted, not {expected}"),
        });
    }
    if let Some(expected) = &expect.tag {
        let tag = tag(reply.tag);
        let said = expected.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        if said != tag && !(said == "START TRANSACTION" && reply.tag == Tag::Begin) {
            return Err(format!("its tag is {tag}, not {expected}"));
        }
    }
    if expect.ok == Some(true) && reply.rows.is_some() {
        return Err("it gives rows".to_owned());
    }
    // What MariaDB does not warn of is recorded by saying nothing.
    let counted = expect.rows.is_some() || expect.affected.is_some();
    let expected = match (&expect.warnings, flavor) {
        (Some(warnings), _) => warnings.as_slice(),
        (None, Flavor::MariaDb) if counted => &[],
        (None, _) => return Ok(()),
    };
    let sorted = |warnings: &[u16]| {
        let mut warnings = warnings.to_vec();
        warnings.sort_unstable();
        warnings
    };
    if sorted(expected) != sorted(&reply.warnings) {
        return Err(format!("it warns {:?}, not {expected:?}", reply.warnings));
    }
    Ok(())
}

/// Whether rows are the same; in any order, where none was asked for.
pub fn same_rows(expected: &[Vec<Json>], shown: &[Vec<Json>], ordered: bool) -> Result<(), String> {
    let sorted = |rows: &[Vec<Json>]| {
        let mut rows: Vec<String> = rows
            .iter()
            .map(|row| text(std::slice::from_ref(row)))
            .collect();
        if !ordered {
            rows.sort();
        }
        rows
    };
    if sorted(expected) == sorted(shown) {
        return Ok(());
    }
    Err(format!(
        "the rows are {}, not {}",
        text(shown),
        text(expected)
    ))
}

fn text(rows: &[Vec<Json>]) -> String {
    serde_json::to_string(rows).unwrap_or_default()
}

/// The rows of an answer, as the recorder's clients show them.
pub fn rows(prepared: &Prepared, reply: &Reply) -> Vec<Vec<Json>> {
    let cell = |(at, value): (usize, &Value)| {
        let cell = prepared.cells.get(at).copied().unwrap_or(Cell::Plain);
        match (value, cell) {
            (Value::Null, _) => Json::Null,
            (_, Cell::Void) => Json::from(""),
            (Value::Int(number), Cell::Truth) => Json::from(*number != 0),
            (Value::Int(ms), Cell::Time) => Json::from(time(*ms)),
            (Value::Int(number), Cell::Plain) => Json::from(*number),
            (Value::Text(text), _) => Json::from(text.as_ref()),
        }
    };
    let rows = reply.rows.iter().flatten();
    rows.map(|row| row.iter().enumerate().map(cell).collect())
        .collect()
}

/// A time as Python writes it: with six digits behind the seconds, or none.
fn time(ms: i64) -> String {
    let Some(time) = chrono::DateTime::from_timestamp_millis(ms) else {
        return ms.to_string();
    };
    match ms.rem_euclid(1_000) {
        0 => time.format("%Y-%m-%d %H:%M:%S").to_string(),
        _ => time.format("%Y-%m-%d %H:%M:%S%.6f").to_string(),
    }
}

/// What was seen, in a few words.
pub fn told(flavor: Flavor, seen: &Seen) -> String {
    match seen {
        Seen::Answer(Ok(reply)) => match (&reply.rows, reply.affected) {
            (Some(rows), _) => format!("{} rows", rows.len()),
            (None, Some(affected)) => format!("{affected} affected"),
            (None, None) => tag(reply.tag).to_owned(),
        },
        Seen::Answer(Err(error)) => format!("error {}", code(flavor, *error)),
        Seen::Waits(by) => format!("waits for {by:?}"),
        Seen::Nothing => "nothing".to_owned(),
    }
}

const fn tag(tag: Tag) -> &'static str {
    match tag {
        Tag::Begin => "BEGIN",
        Tag::Commit => "COMMIT",
        Tag::Rollback => "ROLLBACK",
        Tag::Savepoint => "SAVEPOINT",
        Tag::Release => "RELEASE",
        Tag::Select => "SELECT",
        Tag::Insert => "INSERT",
        Tag::Update => "UPDATE",
        Tag::Delete => "DELETE",
        Tag::Set => "SET",
        Tag::CreateTable => "CREATE TABLE",
        Tag::CreateIndex => "CREATE INDEX",
    }
}
