//! INSERT, UPDATE and DELETE.

use super::catalog::Known;
use super::scalar::Place;
use super::select::{limit_number, orders};
use super::{Cell, FrontEnd, Prepared, Unsupported, simple, unsupported};
use scheduler::ports::Column;
use scheduler::ports::sql::{Assignments, Conflict, Delete, Insert, Query, Scalar, Update};
use sqlparser::ast::{
    self, Assignment, AssignmentTarget, ConflictTarget, Expr, FromTable, OnConflict,
    OnConflictAction, OnInsert, SelectItem, SetExpr, TableObject,
};

impl FrontEnd {
    pub(super) fn insert(
        &self,
        given: &ast::Insert,
        replace: bool,
    ) -> Result<Prepared, Unsupported> {
        let TableObject::TableName(name) = &given.table else {
            return unsupported("an INSERT into something else than a table");
        };
        if given.table_alias.is_some() || given.insert_alias.is_some() {
            return unsupported("an INSERT with an alias");
        }
        let table = self.catalog.table(&simple(name))?;
        let (columns, rows, from_select) = if given.assignments.is_empty() {
            let columns: Vec<Column> = if given.columns.is_empty() {
                table.every_column().collect()
            } else {
                let named = given.columns.iter();
                named
                    .map(|name| table.column(&simple(name)))
                    .collect::<Result<_, _>>()?
            };
            let (rows, from_select) = self.rows(given.source.as_deref())?;
            (columns, rows, from_select)
        } else {
            let set = self.assignments(&given.assignments, table, Place::NOWHERE)?;
            let (columns, row) = set.into_iter().unzip();
            (columns, vec![row], false)
        };
        let columns = fewer_columns(columns, &rows)?;
        let (returning, cells) = self.returning(given.returning.as_ref(), table)?;
        let insert = Insert {
            table: table.number,
            columns,
            rows,
            from_select,
            conflict: self.conflict(given, replace, table)?,
            returning,
        };
        Ok(Prepared {
            query: Query::Insert(insert),
            cells,
            ordered: false,
            everywhere: false,
        })
    }

    /// The rows of VALUES or of a SELECT of values, and whether it was a SELECT.
    fn rows(&self, source: Option<&ast::Query>) -> Result<(Vec<Vec<Scalar>>, bool), Unsupported> {
        let Some(source) = source else {
            return unsupported("INSERT ... DEFAULT VALUES");
        };
        match source.body.as_ref() {
            SetExpr::Values(values) => {
                let row = |row: &Vec<Expr>| {
                    row.iter()
                        .map(|value| self.scalar(value, Place::NOWHERE))
                        .collect()
                };
                let rows: Result<_, _> = values.rows.iter().map(|r| row(&r.content)).collect();
                Ok((rows?, false))
            }
            SetExpr::Select(select) if select.from.is_empty() && select.selection.is_none() => {
                let (row, _) = self.outputs(&select.projection, Place::NOWHERE)?;
                Ok((vec![row], true))
            }
            SetExpr::Select(_) => unsupported("INSERT ... SELECT from a table or with a condition"),
            _ => unsupported("INSERT of something else than VALUES or SELECT"),
        }
    }

    fn conflict(
        &self,
        given: &ast::Insert,
        replace: bool,
        table: &Known,
    ) -> Result<Conflict, Unsupported> {
        let place = Place {
            table: Some(table),
            excluded: true,
        };
        match &given.on {
            None if replace => Ok(Conflict::Replace),
            None if given.ignore => Ok(Conflict::Ignore),
            None => Ok(Conflict::Error),
            Some(_) if replace || given.ignore => unsupported("INSERT IGNORE with an update part"),
            Some(OnInsert::DuplicateKeyUpdate(set)) => Ok(Conflict::Update {
                target: None,
                set: self.assignments(set, table, place)?,
            }),
            Some(OnInsert::OnConflict(OnConflict {
                conflict_target,
                action,
            })) => {
                let target = match conflict_target {
                    None => None,
                    Some(ConflictTarget::Columns {
                        columns,
                        predicate: None,
                    }) => {
                        let columns = columns.iter().map(|name| table.column(&name.value));
                        Some(columns.collect::<Result<_, _>>()?)
                    }
                    Some(ConflictTarget::Columns { .. }) => {
                        return unsupported("ON CONFLICT (...) WHERE");
                    }
                    Some(ConflictTarget::OnConstraint(_)) => {
                        return unsupported("ON CONFLICT ON CONSTRAINT");
                    }
                };
                match action {
                    OnConflictAction::DoNothing => Ok(Conflict::Nothing { target }),
                    OnConflictAction::DoUpdate(update) if update.selection.is_some() => {
                        unsupported("ON CONFLICT DO UPDATE ... WHERE")
                    }
                    OnConflictAction::DoUpdate(update) => Ok(Conflict::Update {
                        target,
                        set: self.assignments(&update.assignments, table, place)?,
                    }),
                }
            }
            Some(_) => unsupported("an INSERT with another clause"),
        }
    }

    pub(super) fn update(&self, given: &ast::Update) -> Result<Prepared, Unsupported> {
        if given.from.is_some() {
            return unsupported("UPDATE ... FROM");
        }
        let table = self.one_table(std::slice::from_ref(&given.table))?;
        let place = Place::row_of(table);
        let (returning, cells) = self.returning(given.returning.as_ref(), table)?;
        let update = Update {
            table: table.number,
            set: self.assignments(&given.assignments, table, place)?,
            filter: self.filter(given.selection.as_ref(), place)?,
            order: orders(&given.order_by, table)?,
            limit: given.limit.as_ref().map(limit_number).transpose()?,
            returning,
        };
        Ok(Prepared {
            query: Query::Update(update),
            cells,
            ordered: false,
            everywhere: false,
        })
    }

    pub(super) fn delete(&self, given: &ast::Delete) -> Result<Prepared, Unsupported> {
        if given.using.is_some() || !given.tables.is_empty() {
            return unsupported("DELETE from several tables");
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &given.from;
        let table = self.one_table(from)?;
        let (returning, cells) = self.returning(given.returning.as_ref(), table)?;
        let delete = Delete {
            table: table.number,
            filter: self.filter(given.selection.as_ref(), Place::row_of(table))?,
            order: orders(&given.order_by, table)?,
            limit: given.limit.as_ref().map(limit_number).transpose()?,
            returning,
        };
        Ok(Prepared {
            query: Query::Delete(delete),
            cells,
            ordered: false,
            everywhere: false,
        })
    }

    fn assignments(
        &self,
        given: &[Assignment],
        table: &Known,
        place: Place<'_>,
    ) -> Result<Assignments, Unsupported> {
        given
            .iter()
            .map(|assignment| {
                let AssignmentTarget::ColumnName(name) = &assignment.target else {
                    return unsupported("SET (a, b) = ...");
                };
                let column = table.column(&simple(name))?;
                Ok((column, self.scalar(&assignment.value, place)?))
            })
            .collect()
    }

    fn returning(
        &self,
        given: Option<&Vec<SelectItem>>,
        table: &Known,
    ) -> Result<(Option<Vec<Scalar>>, Vec<Cell>), Unsupported> {
        let Some(items) = given else {
            return Ok((None, Vec::new()));
        };
        let (scalars, cells) = self.outputs(items, Place::row_of(table))?;
        Ok((Some(scalars), cells))
    }
}

/// PostgreSQL lets a row be shorter than the table where no column is named.
fn fewer_columns(
    mut columns: Vec<Column>,
    rows: &[Vec<Scalar>],
) -> Result<Vec<Column>, Unsupported> {
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    columns.truncate(widest);
    match rows.iter().all(|row| row.len() == columns.len()) {
        true => Ok(columns),
        false => unsupported("rows of another width than the columns"),
    }
}
