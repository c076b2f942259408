//! SELECT.

use super::catalog::Known;
use super::scalar::{Place, arguments, literal, seconds_in_ms};
use super::{Cell, FrontEnd, Prepared, Unsupported, simple, unsupported};
use scheduler::ports::Value;
use scheduler::ports::sql::{
    Locking, NamedLock, Order, Output, Predicate, Query, Scalar, Select, Strength, WhenLocked,
};
use servers::database::Flavor;
use sqlparser::ast::{
    self, Expr, Function, GroupByExpr, LimitClause, LockClause, LockType, NonBlock, OrderByExpr,
    OrderByKind, OrderBySort, SelectItem, SetExpr, TableFactor, TableWithJoins,
};

impl FrontEnd {
    pub(super) fn query(&self, query: &ast::Query) -> Result<Prepared, Unsupported> {
        let select = plain_select(query)?;
        if select.from.is_empty() {
            return self.tableless(query, select);
        }
        let (select, cells) = self.select(query)?;
        Ok(Prepared {
            ordered: !select.order.is_empty(),
            query: Query::Select(select),
            cells,
            everywhere: false,
        })
    }

    /// A SELECT from a table, and how its cells are shown.
    pub(super) fn select(&self, query: &ast::Query) -> Result<(Select, Vec<Cell>), Unsupported> {
        let select = plain_select(query)?;
        let table = self.one_table(&select.from)?;
        let place = Place::row_of(table);
        let (output, cells) = if is_count(&select.projection) {
            (Output::Count, vec![Cell::Plain])
        } else {
            let (scalars, cells) = self.outputs(&select.projection, place)?;
            (Output::Each(scalars), cells)
        };
        let order = match &query.order_by {
            None => Vec::new(),
            Some(by) => match &by.kind {
                OrderByKind::Expressions(by) => orders(by, table)?,
                OrderByKind::All(_) => return unsupported("ORDER BY ALL"),
            },
        };
        let select = Select {
            table: table.number,
            output,
            filter: self.filter(select.selection.as_ref(), place)?,
            order,
            limit: limit_of(query.limit_clause.as_ref())?,
            locking: locking_of(&query.locks)?,
        };
        Ok((select, cells))
    }

    pub(super) fn filter(
        &self,
        selection: Option<&Expr>,
        place: Place<'_>,
    ) -> Result<Predicate, Unsupported> {
        selection.map_or(Ok(Predicate::Always), |expr| self.predicate(expr, place))
    }

    /// The only table of a FROM.
    pub(super) fn one_table(&self, from: &[TableWithJoins]) -> Result<&Known, Unsupported> {
        let [TableWithJoins { relation, joins }] = from else {
            return unsupported("a statement on several tables");
        };
        match relation {
            TableFactor::Table {
                name, alias: None, ..
            } if joins.is_empty() => self.catalog.table(&simple(name)),
            TableFactor::Table { .. } => unsupported("a join or an alias of a table"),
            _ => unsupported("a SELECT from something else than a table"),
        }
    }

    /// What a SELECT or RETURNING gives.
    pub(super) fn outputs(
        &self,
        items: &[SelectItem],
        place: Place<'_>,
    ) -> Result<(Vec<Scalar>, Vec<Cell>), Unsupported> {
        let mut scalars = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    scalars.push(self.scalar(expr, place)?);
                }
                SelectItem::Wildcard(_) => match place.table {
                    Some(table) => scalars.extend(table.every_column().map(Scalar::Column)),
                    None => return unsupported("* without a table"),
                },
                _ => return unsupported("an output of another kind than an expression or *"),
            }
        }
        let cells = scalars
            .iter()
            .map(|scalar| self.cell(scalar, place))
            .collect();
        Ok((scalars, cells))
    }

    fn tableless(&self, query: &ast::Query, select: &ast::Select) -> Result<Prepared, Unsupported> {
        if select.selection.is_some() || query.limit_clause.is_some() {
            return unsupported("a SELECT without a table but with a condition");
        }
        if let [SelectItem::UnnamedExpr(Expr::Function(function))] = select.projection.as_slice()
            && let Some((query, cell)) = self.named_lock(function)?
        {
            return Ok(Prepared {
                query,
                cells: vec![cell],
                ordered: true,
                everywhere: false,
            });
        }
        let (scalars, cells) = self.outputs(&select.projection, Place::NOWHERE)?;
        Ok(Prepared {
            query: Query::Values(scalars),
            cells,
            ordered: true,
            everywhere: false,
        })
    }

    /// The functions of locks with names, where it is one.
    fn named_lock(&self, function: &Function) -> Result<Option<(Query, Cell)>, Unsupported> {
        let name = simple(&function.name);
        let arguments = arguments(function)?;
        let lock = match (name.as_str(), self.flavor) {
            ("get_lock", Flavor::MariaDb) => {
                let [name, wait] = arguments.as_slice() else {
                    return unsupported("GET_LOCK without a time");
                };
                let wait = u64::try_from(seconds_in_ms(wait)?).ok();
                take(&name_of(std::slice::from_ref(name))?, wait, false)
            }
            ("release_lock", Flavor::MariaDb) => release(&name_of(&arguments)?),
            ("pg_advisory_lock", Flavor::Postgres) => take(&name_of(&arguments)?, None, false),
            ("pg_advisory_xact_lock", Flavor::Postgres) => take(&name_of(&arguments)?, None, true),
            ("pg_try_advisory_lock", Flavor::Postgres) => {
                take(&name_of(&arguments)?, Some(0), false)
            }
            ("pg_try_advisory_xact_lock", Flavor::Postgres) => {
                take(&name_of(&arguments)?, Some(0), true)
            }
            ("pg_advisory_unlock", Flavor::Postgres) => release(&name_of(&arguments)?),
            // What was set for the whole server holds at once, here.
            ("pg_reload_conf", Flavor::Postgres) => {
                let done = Query::Values(vec![Scalar::Value(Value::Int(1))]);
                return Ok(Some((done, Cell::Truth)));
            }
            _ => return Ok(None),
        };
        let cell = match (self.flavor, &lock) {
            (Flavor::MariaDb, _) => Cell::Plain,
            (Flavor::Postgres, NamedLock::Take { wait: None, .. }) => Cell::Void,
            (Flavor::Postgres, _) => Cell::Truth,
        };
        Ok(Some((Query::Named(lock), cell)))
    }
}

fn take(name: &str, wait: Option<u64>, transaction: bool) -> NamedLock {
    NamedLock::Take {
        name: name.into(),
        wait,
        transaction,
    }
}

fn release(name: &str) -> NamedLock {
    NamedLock::Release { name: name.into() }
}

/// The name of a lock: a text, or one or two numbers.
fn name_of(arguments: &[Expr]) -> Result<String, Unsupported> {
    let parts: Result<Vec<String>, _> = arguments
        .iter()
        .map(|argument| match literal(argument)? {
            Value::Text(text) => Ok(text.to_string()),
            Value::Int(number) => Ok(number.to_string()),
            Value::Null => unsupported("a lock without a name"),
        })
        .collect();
    Ok(parts?.join(","))
}

/// The SELECT of a query that has nothing more than the port has.
fn plain_select(query: &ast::Query) -> Result<&ast::Select, Unsupported> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return unsupported("UNION, VALUES and the like");
    };
    if query.with.is_some() {
        return unsupported("WITH");
    }
    if query.fetch.is_some() {
        return unsupported("FETCH");
    }
    let grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(by, _) => !by.is_empty(),
    };
    if grouped || select.having.is_some() {
        return unsupported("GROUP BY");
    }
    if select.distinct.is_some() {
        return unsupported("DISTINCT");
    }
    Ok(select)
}

/// `count(*)`, and nothing else.
fn is_count(projection: &[SelectItem]) -> bool {
    let [SelectItem::UnnamedExpr(Expr::Function(function))] = projection else {
        return false;
    };
    simple(&function.name) == "count"
        && function.args.to_string().trim() == "(*)"
        && function.over.is_none()
}

pub(super) fn orders(by: &[OrderByExpr], table: &Known) -> Result<Vec<Order>, Unsupported> {
    by.iter()
        .map(|by| {
            let Expr::Identifier(name) = &by.expr else {
                return unsupported("ORDER BY something else than a column");
            };
            let descending = match &by.options.sort {
                None | Some(OrderBySort::Asc) => false,
                Some(OrderBySort::Desc) => true,
                Some(OrderBySort::Using(_)) => return unsupported("ORDER BY ... USING"),
            };
            if by.options.nulls_first.is_some() {
                return unsupported("NULLS FIRST and NULLS LAST");
            }
            let column = table.column(&name.value)?;
            Ok(Order { column, descending })
        })
        .collect()
}

fn limit_of(clause: Option<&LimitClause>) -> Result<Option<u64>, Unsupported> {
    match clause {
        None => Ok(None),
        Some(LimitClause::LimitOffset {
            limit,
            offset: None,
            limit_by,
        }) if limit_by.is_empty() => limit.as_ref().map(limit_number).transpose(),
        Some(_) => unsupported("OFFSET"),
    }
}

pub(super) fn limit_number(expr: &Expr) -> Result<u64, Unsupported> {
    match literal(expr)? {
        Value::Int(number) => {
            u64::try_from(number).map_err(|_| Unsupported("a negative LIMIT".to_owned()))
        }
        _ => unsupported("a LIMIT that is no number"),
    }
}

fn locking_of(locks: &[LockClause]) -> Result<Option<Locking>, Unsupported> {
    let lock = match locks {
        [] => return Ok(None),
        [lock] => lock,
        _ => return unsupported("several FOR UPDATE"),
    };
    if lock.of.is_some() {
        return unsupported("FOR UPDATE OF");
    }
    let strength = match lock.lock_type {
        LockType::Update => Strength::Update,
        LockType::Share => Strength::Share,
    };
    let when_locked = match lock.nonblock {
        None => WhenLocked::Wait,
        Some(NonBlock::SkipLocked) => WhenLocked::Skip,
        Some(NonBlock::Nowait) => WhenLocked::Fail,
    };
    Ok(Some(Locking {
        strength,
        when_locked,
    }))
}
