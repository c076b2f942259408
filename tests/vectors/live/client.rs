//! A session of a live server: a connection on a thread of its own, so that a statement can wait.

use serde_json::{Map, Value, json};
use servers::database::Flavor;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// What a statement came to, as a vector tells it.
pub type Answer = Map<String, Value>;

/// A connection.
pub enum Connection {
    Postgres(Box<postgres::Client>),
    MariaDb(Box<mysql::Conn>),
}

/// Where a server is expected, unless the environment says otherwise.
pub fn address(flavor: Flavor) -> String {
    let (variable, default) = match flavor {
        Flavor::Postgres => (
            "RUNKEY_LIVE_POSTGRES",
            "postgresql://postgres@127.0.0.1:5432",
        ),
        Flavor::MariaDb => ("RUNKEY_LIVE_MARIADB", "mysql://root@127.0.0.1:3306"),
    };
    std::env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// What to do where there is no server.
pub const HOW_TO_START: &str = "\
start PostgreSQL 15 and MariaDB 10.11 on loopback, for tests only, such that these work:
  psql postgresql://postgres@127.0.0.1:5432 -c 'select 1'
  mariadb -h 127.0.0.1 -u root -e 'select 1'
or name others in RUNKEY_LIVE_POSTGRES and RUNKEY_LIVE_MARIADB (the same forms of address);
the check makes databases called runkey_live_... there and drops them";

impl Connection {
    /// Opens a connection; `database`: empty for the server's own.
    pub fn open(flavor: Flavor, database: &str) -> Result<Self, String> {
        let address = address(flavor);
        let told = |error: String| format!("no server at {address} ({error});\n{HOW_TO_START}");
        match flavor {
            Flavor::Postgres => {
                let database = if database.is_empty() {
                    "postgres"
                } else {
                    database
                };
                let url = format!("{address}/{database}");
                postgres::Client::connect(&url, postgres::NoTls)
                    .map(|client| Connection::Postgres(Box::new(client)))
                    .map_err(|error| told(error.to_string()))
            }
            Flavor::MariaDb => {
                let url = format!("{address}/{database}");
                let options = mysql::Opts::from_url(&url).map_err(|e| told(e.to_string()))?;
                mysql::Conn::new(options)
                    .map(|client| Connection::MariaDb(Box::new(client)))
                    .map_err(|error| told(error.to_string()))
            }
        }
    }

    /// The server's number of this connection.
    pub fn number(&mut self) -> String {
        match self {
            Connection::Postgres(_) => self.first("SELECT pg_backend_pid()"),
            Connection::MariaDb(_) => self.first("SELECT CONNECTION_ID()"),
        }
    }

    fn first(&mut self, sql: &str) -> String {
        let rows = self.texts(sql);
        rows.into_iter().next().unwrap_or_default()
    }

    /// The first column of each row, as text.
    pub fn texts(&mut self, sql: &str) -> Vec<String> {
        let answer = self.run(sql);
        let rows = answer.get("rows").and_then(Value::as_array);
        let text = |row: &Value| match &row[0] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        rows.map_or_else(Vec::new, |rows| rows.iter().map(text).collect())
    }

    /// Runs a statement of which nothing but success is expected.
    pub fn must(&mut self, sql: &str) -> Result<(), String> {
        match self.run(sql).get("error") {
            None => Ok(()),
            Some(error) => Err(format!("{sql}: {error}")),
        }
    }

    pub fn run(&mut self, sql: &str) -> Answer {
        let mut answer = Answer::new();
        match self {
            Connection::Postgres(client) => postgres_answer(client, sql, &mut answer),
            Connection::MariaDb(client) => {
                if let Err(error) = mariadb_answer(client, sql, &mut answer) {
                    answer.clear();
                    answer.insert("error".to_owned(), json!(error));
                }
            }
        }
        answer
    }
}

/// Columns that hold numbers, in every table of the cases.
const NUMBERS: [&str; 5] = ["id", "value", "count", "pg_backend_pid", "n"];

fn postgres_answer(client: &mut postgres::Client, sql: &str, answer: &mut Answer) {
    use postgres::SimpleQueryMessage::{CommandComplete, Row, RowDescription};
    let messages = match client.simple_query(sql) {
        Ok(messages) => messages,
        Err(error) => {
            let code = error.code().map_or("conn_lost", |state| state.code());
            answer.insert("error".to_owned(), json!(code));
            return;
        }
    };
    let mut rows: Option<Vec<Value>> = None;
    for message in messages {
        match message {
            RowDescription(_) => rows = Some(Vec::new()),
            Row(row) => {
                let cell = |at: usize| match row.get(at) {
                    None => Value::Null,
                    Some(text) if NUMBERS.contains(&row.columns()[at].name()) => text
                        .parse()
                        .map_or(Value::Null, |number: i64| json!(number)),
                    Some(text) => json!(text),
                };
                let row = (0..row.len()).map(cell).collect();
                rows.get_or_insert_default().push(row);
            }
            CommandComplete(affected) if rows.is_none() && counts(sql) => {
                answer.insert("affected".to_owned(), json!(affected));
            }
            _ => {}
        }
    }
    if let Some(rows) = rows {
        answer.insert("rows".to_owned(), json!(rows));
    }
}

fn mariadb_answer(client: &mut mysql::Conn, sql: &str, answer: &mut Answer) -> Result<(), String> {
    use mysql::prelude::Queryable;
    let code = |error: mysql::Error| match error {
        mysql::Error::MySqlError(error) => error.code.to_string(),
        _ => "conn_lost".to_owned(),
    };
    let warned;
    {
        let mut result = client.query_iter(sql).map_err(code)?;
        if result.columns().as_ref().is_empty() {
            if counts(sql) {
                answer.insert("affected".to_owned(), json!(result.affected_rows()));
            }
        } else {
            let mut rows = Vec::new();
            for row in result.by_ref() {
                let row = row.map_err(code)?;
                let columns = row.columns();
                let cell = |at: usize| match row.as_ref(at) {
                    Some(mysql::Value::Bytes(bytes)) => {
                        let text = String::from_utf8_lossy(bytes);
                        let kind = columns[at].column_type();
                        match text.parse::<i64>() {
                            Ok(number) if kind.is_numeric_type() => json!(number),
                            _ => json!(text),
                        }
                    }
                    Some(mysql::Value::Int(number)) => json!(number),
                    Some(mysql::Value::UInt(number)) => json!(number),
                    _ => Value::Null,
                };
                rows.push((0..row.len()).map(cell).collect::<Value>());
            }
            answer.insert("rows".to_owned(), json!(rows));
        }
        warned = result.warnings() > 0;
    }
    if warned && counts(sql) {
        let warnings: Vec<(String, u16, String)> = client.query("SHOW WARNINGS").map_err(code)?;
        let numbers: Vec<u16> = warnings.iter().map(|(_, number, _)| *number).collect();
        answer.insert("warnings".to_owned(), json!(numbers));
    }
    Ok(())
}

/// Whether a statement is one whose rows are counted.
fn counts(sql: &str) -> bool {
    ["INSERT", "UPDATE", "DELETE", "REPLACE"]
        .iter()
        .any(|word| sql.starts_with(word))
}

/// A connection on its own thread.
pub struct Session {
    /// The server's number of the connection.
    pub number: String,
    ask: Sender<String>,
    answers: Receiver<Answer>,
}

impl Session {
    pub fn open(flavor: Flavor, database: &str) -> Result<Self, String> {
        let mut connection = Connection::open(flavor, database)?;
        let number = connection.number();
        let (ask, asked) = channel::<String>();
        let (tell, answers) = channel();
        std::thread::spawn(move || {
            for sql in asked {
                if tell.send(connection.run(&sql)).is_err() {
                    return;
                }
            }
        });
        Ok(Session {
            number,
            ask,
            answers,
        })
    }

    /// Gives the session a statement.
    pub fn ask(&self, sql: &str) {
        let _ = self.ask.send(sql.to_owned());
    }

    /// The answer, if it comes in this time.
    pub fn answer(&self, within: Duration) -> Option<Answer> {
        match self.answers.recv_timeout(within) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(
                json!({"error": "conn_lost"})
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            ),
        }
    }
}
