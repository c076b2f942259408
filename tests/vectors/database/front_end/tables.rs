//! CREATE TABLE and CREATE INDEX.

use super::scalar::literal;
use super::{FrontEnd, Unsupported, simple, unsupported};
use scheduler::ports::Value;
use scheduler::ports::sql::{Collation, ColumnDef, IndexDef, Query, TableDef, Type};
use servers::database::Flavor;
use sqlparser::ast::{
    CharacterLength, ColumnDef as Given, ColumnOption, CreateIndex, CreateTable,
    CreateTableOptions, DataType, Expr, IndexColumn, NullsDistinctOption, TableConstraint,
    TimezoneInfo,
};
use sqlparser::tokenizer::Token;

impl FrontEnd {
    pub(super) fn create_table(&mut self, given: &CreateTable) -> Result<Query, Unsupported> {
        if given.query.is_some() || given.like.is_some() || given.temporary {
            return unsupported("CREATE TABLE from another table");
        }
        self.table_options(&given.table_options)?;
        let names: Vec<String> = given.columns.iter().map(|c| c.name.value.clone()).collect();
        let mut def = TableDef::default();
        for column in &given.columns {
            let (column, index) = self.column(column, def.columns.len())?;
            def.columns.push(column);
            def.indexes.extend(index);
        }
        for constraint in &given.constraints {
            def.indexes.push(index_of(constraint, &names)?);
        }
        // A primary key has no NULL, whether that was said or not.
        for index in def.indexes.iter().filter(|index| index.primary) {
            for column in &index.columns {
                def.columns[usize::from(column.0)].nullable = false;
            }
        }
        let table = self.catalog.add(simple(&given.name), names, def.clone())?;
        Ok(Query::CreateTable(table, def))
    }

    /// Of the options of a MariaDB table only those that say what holds anyway.
    fn table_options(&self, options: &CreateTableOptions) -> Result<(), Unsupported> {
        if let CreateTableOptions::None = options {
            return Ok(());
        }
        for option in options
            .to_string()
            .to_lowercase()
            .replace(" = ", "=")
            .split([' ', ','])
        {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match (name.trim(), value.trim()) {
                ("", _)
                | ("engine", "innodb")
                | ("default" | "charset" | "character" | "set", "" | "utf8mb4")
                | ("collate", "utf8mb4_general_ci")
                | ("row_format", "dynamic") => {}
                (name, value) => return unsupported(format!("the table option {name} {value}")),
            }
        }
        Ok(())
    }

    fn column(
        &self,
        given: &Given,
        at: usize,
    ) -> Result<(ColumnDef, Option<IndexDef>), Unsupported> {
        let (kind, mut counts) = self.kind(&given.data_type)?;
        let (mut kind, mut nullable) = (kind, !counts);
        let (mut default, mut index) = (Value::Null, None);
        let own = |unique, primary| {
            let at = u8::try_from(at).unwrap_or(u8::MAX);
            Some(IndexDef {
                columns: vec![scheduler::ports::Column(at)],
                unique,
                primary,
                nulls_equal: false,
            })
        };
        for option in &given.options {
            match &option.option {
                ColumnOption::Null => nullable = true,
                ColumnOption::NotNull => nullable = false,
                ColumnOption::PrimaryKey(_) => index = own(true, true),
                ColumnOption::Unique(_) => index = own(true, false),
                ColumnOption::Default(value) => default = literal(value)?,
                ColumnOption::CharacterSet(name) if simple(name) == "utf8mb4" => {}
                ColumnOption::Collation(name) => set_collation(&mut kind, &simple(name))?,
                ColumnOption::DialectSpecific(tokens) if counts_up(tokens) => {
                    counts = true;
                    nullable = false;
                }
                ColumnOption::Generated {
                    generation_expr: None,
                    ..
                } => {
                    counts = true;
                    nullable = false;
                }
                other => return unsupported(format!("a column with {other}")),
            }
        }
        let column = ColumnDef {
            kind,
            nullable,
            counts,
            default,
        };
        Ok((column, index))
    }

    /// The type, and whether it counts up by itself.
    fn kind(&self, given: &DataType) -> Result<(Type, bool), Unsupported> {
        let text = |max_chars| Type::Text {
            max_chars,
            collation: match self.flavor {
                Flavor::Postgres => Collation::Binary,
                Flavor::MariaDb => Collation::GeneralCi,
            },
        };
        let kind = match (given, self.flavor) {
            (
                DataType::Int(_)
                | DataType::Integer(_)
                | DataType::BigInt(_)
                | DataType::SmallInt(_)
                | DataType::TinyInt(_),
                _,
            ) => Type::Int,
            (DataType::Custom(name, _), Flavor::Postgres)
                if matches!(simple(name).as_str(), "serial" | "bigserial") =>
            {
                return Ok((Type::Int, true));
            }
            (DataType::Varchar(length) | DataType::CharacterVarying(length), _) => match length {
                None => text(u32::MAX),
                Some(CharacterLength::IntegerLength { length, .. }) => {
                    text(u32::try_from(*length).unwrap_or(u32::MAX))
                }
                Some(CharacterLength::Max) => text(u32::MAX),
            },
            (DataType::Text, Flavor::Postgres) => text(u32::MAX),
            (DataType::Timestamp(digits, zone), Flavor::Postgres)
                if matches!(zone, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
                    && digits.is_none_or(|digits| digits >= 3) =>
            {
                Type::Time { digits: 3 }
            }
            (DataType::Datetime(digits), Flavor::MariaDb) => Type::Time {
                digits: u8::try_from(digits.unwrap_or(0).min(3)).unwrap_or(3),
            },
            (other, _) => return unsupported(format!("a column of the type {other}")),
        };
        Ok((kind, false))
    }

    pub(super) fn create_index(&mut self, given: &CreateIndex) -> Result<Query, Unsupported> {
        if given.predicate.is_some() {
            return unsupported("an index on some rows only");
        }
        let table = self.catalog.table(&simple(&given.table_name))?;
        let index = IndexDef {
            columns: columns_of(&given.columns, &table.columns)?,
            unique: given.unique,
            primary: false,
            nulls_equal: given.nulls_distinct == Some(false),
        };
        Ok(Query::CreateIndex(table.number, index))
    }
}

fn counts_up(tokens: &[Token]) -> bool {
    let [Token::Word(word)] = tokens else {
        return false;
    };
    word.value.eq_ignore_ascii_case("AUTO_INCREMENT")
}

/// The collations that the port has. MariaDB's others fold other letters, or pad otherwise.
fn set_collation(kind: &mut Type, name: &str) -> Result<(), Unsupported> {
    let Type::Text { collation, .. } = kind else {
        return unsupported("a collation of something else than a text");
    };
    *collation = match name {
        "utf8mb4_general_ci" => Collation::GeneralCi,
        "utf8mb4_nopad_bin" | "c" | "posix" => Collation::Binary,
        other => return unsupported(format!("the collation {other}")),
    };
    Ok(())
}

fn index_of(constraint: &TableConstraint, names: &[String]) -> Result<IndexDef, Unsupported> {
    let (columns, unique, primary, nulls_equal) = match constraint {
        TableConstraint::PrimaryKey(key) => (&key.columns, true, true, false),
        TableConstraint::Unique(key) => {
            let nulls_equal = matches!(key.nulls_distinct, NullsDistinctOption::NotDistinct);
            (&key.columns, true, false, nulls_equal)
        }
        TableConstraint::Index(key) => (&key.columns, false, false, false),
        _ => return unsupported("a table constraint that is no key"),
    };
    Ok(IndexDef {
        columns: columns_of(columns, names)?,
        unique,
        primary,
        nulls_equal,
    })
}

fn columns_of(
    given: &[IndexColumn],
    names: &[String],
) -> Result<Vec<scheduler::ports::Column>, Unsupported> {
    given
        .iter()
        .map(|index_column| {
            let Expr::Identifier(name) = &index_column.column.expr else {
                return unsupported("an index on a prefix or an expression");
            };
            names
                .iter()
                .position(|column| column.eq_ignore_ascii_case(&name.value))
                .and_then(|at| u8::try_from(at).ok())
                .map(scheduler::ports::Column)
                .ok_or_else(|| Unsupported("an index on a column that is not there".to_owned()))
        })
        .collect()
}

/// The name of a key, where it has one.
pub(super) fn name_of_index(constraint: &TableConstraint) -> Option<String> {
    let name = match constraint {
        TableConstraint::PrimaryKey(key) => key.name.as_ref().or(key.index_name.as_ref()),
        TableConstraint::Unique(key) => key.name.as_ref().or(key.index_name.as_ref()),
        TableConstraint::Index(key) => key.name.as_ref(),
        _ => None,
    };
    name.map(|name| name.value.clone())
}
