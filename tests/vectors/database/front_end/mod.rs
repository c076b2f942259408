//! SQL to the port's operations: what a statement says, with tables and columns by number.
//!
//! The parser is `sqlparser`; what is here only says the same thing in the words of
//! [`scheduler::ports::sql`]. A statement of a kind that the port does not have is [`Unsupported`],
//! with the kind as the reason: what is refused is decided by what a statement asks for, never by
//! which table, key or vector it is.

mod catalog;
mod modify;
mod normalise;
mod scalar;
mod select;
pub mod session;
mod tables;

use catalog::Catalog;
use scheduler::ports::sql::Query;
use servers::database::Flavor;
use sqlparser::ast::{ObjectName, Statement};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect};
use sqlparser::parser::Parser;

/// A kind of statement, expression or type that the port does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

/// The kind, in a few words.
fn unsupported<T>(kind: impl Into<String>) -> Result<T, Unsupported> {
    Err(Unsupported(kind.into()))
}

/// What a cell of an answer is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// As it is kept.
    Plain,
    /// A time, which is kept as milliseconds.
    Time,
    /// PostgreSQL's boolean.
    Truth,
    /// Nothing to show (PostgreSQL's `void`).
    Void,
}

/// A statement that can be given to a model.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub query: Query,
    /// How the answer's cells are shown.
    pub cells: Vec<Cell>,
    /// Whether the order of the answer's rows was asked for.
    pub ordered: bool,
    /// Whether it is for every session, and those to come (`SET GLOBAL`).
    pub everywhere: bool,
}

impl Prepared {
    fn silent(query: Query) -> Self {
        Prepared {
            query,
            cells: Vec::new(),
            ordered: true,
            everywhere: false,
        }
    }
}

/// Reads the SQL of one server, and remembers its tables.
#[derive(Clone)]
pub struct FrontEnd {
    flavor: Flavor,
    catalog: Catalog,
}

impl FrontEnd {
    pub fn new(flavor: Flavor) -> Self {
        FrontEnd {
            flavor,
            catalog: Catalog::default(),
        }
    }

    /// What the statement says. A table that it makes is known from then on.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, Unsupported> {
        let (statement, asides) = parsed(self.flavor, sql)?;
        self.statement(&statement, &asides)
    }

    fn statement(
        &mut self,
        statement: &Statement,
        asides: &normalise::Asides,
    ) -> Result<Prepared, Unsupported> {
        match statement {
            Statement::CreateTable(table) => self.create_table(table).map(Prepared::silent),
            Statement::CreateIndex(index) => self.create_index(index).map(Prepared::silent),
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert, asides.replace),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            other => self.of_session(other, asides),
        }
    }
}

/// The statement as the parser has it, and what was said in words that it does not have.
fn parsed(flavor: Flavor, sql: &str) -> Result<(Statement, normalise::Asides), Unsupported> {
    let (tokens, asides) = normalise::tokens(dialect(flavor), sql)?;
    let mut statements = Parser::new(dialect(flavor))
        .with_tokens(tokens)
        .parse_statements()
        .map_err(|error| Unsupported(format!("a statement that is not parsed ({error})")))?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok((statement, asides)),
        _ => unsupported("not one statement"),
    }
}

/// The names that a statement makes up: of a table, its columns and indexes, of a savepoint.
pub fn declared_names(flavor: Flavor, sql: &str) -> Vec<String> {
    let name_of = |name: &ObjectName| name.0.last()?.as_ident().map(|ident| ident.value.clone());
    match parsed(flavor, sql) {
        Ok((Statement::CreateTable(table), _)) => {
            let columns = table.columns.iter().map(|column| column.name.value.clone());
            let indexes = table.constraints.iter().filter_map(tables::name_of_index);
            columns.chain(indexes).chain(name_of(&table.name)).collect()
        }
        Ok((Statement::CreateIndex(index), _)) => {
            index.name.as_ref().and_then(name_of).into_iter().collect()
        }
        Ok((Statement::Savepoint { name }, _)) => vec![name.value],
        _ => Vec::new(),
    }
}

/// The parser's name for a server.
pub fn dialect(flavor: Flavor) -> &'static dyn Dialect {
    match flavor {
        Flavor::Postgres => &PostgreSqlDialect {},
        Flavor::MariaDb => &MySqlDialect {},
    }
}

/// The last part of a name, which is all that a schema of one database needs.
fn simple(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|part| part.as_ident())
        .map(|ident| ident.value.to_lowercase())
        .unwrap_or_default()
}
