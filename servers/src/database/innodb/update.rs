//! UPDATE and DELETE.

use super::compatibility::{Mode, Span};
use super::insert::{self, Failure};
use super::plan::{Plan, Purpose, Reach, plan};
use super::records::{IndexId, Key, Row};
use super::scan::{Found, Scan};
use super::waiting::Asker;
use crate::database::engine::Flavor;
use crate::database::evaluate::{Scope, ordering, slept};
use crate::database::values::fit;
use scheduler::ports::sql::{
    Assignments, Delete, Order, Predicate, Reply, Scalar, SqlError, TableDef, Tag, Update,
    WhenLocked,
};
use scheduler::ports::{Table, Value};

/// Which rows a statement changes.
struct Target<'a> {
    table: Table,
    filter: &'a Predicate,
    order: &'a [Order],
    limit: Option<u64>,
    /// What is set; `None`: the rows are removed.
    set: Option<&'a Assignments>,
}

/// What came of it.
#[derive(Default)]
struct Outcome {
    matched: u64,
    changed: u64,
    /// The rows as they were.
    before: Vec<Row>,
    /// The rows as they are.
    after: Vec<Row>,
}

/// Runs an UPDATE.
pub(super) async fn update(asker: &Asker, update: &Update) -> Result<Reply, SqlError> {
    let target = Target {
        table: update.table,
        filter: &update.filter,
        order: &update.order,
        limit: update.limit,
        set: Some(&update.set),
    };
    let outcome = run(asker, &target).await?;
    let found_rows = asker
        .handle
        .borrow()
        .session(asker.session)
        .settings
        .found_rows;
    let affected = match found_rows {
        true => outcome.matched,
        false => outcome.changed,
    };
    let rows = returned(
        asker,
        update.table,
        update.returning.as_deref(),
        &outcome.after,
    );
    Ok(reply(Tag::Update, affected, rows))
}

/// Runs a DELETE.
pub(super) async fn delete(asker: &Asker, delete: &Delete) -> Result<Reply, SqlError> {
    let target = Target {
        table: delete.table,
        filter: &delete.filter,
        order: &delete.order,
        limit: delete.limit,
        set: None,
    };
    let outcome = run(asker, &target).await?;
    let rows = returned(
        asker,
        delete.table,
        delete.returning.as_deref(),
        &outcome.before,
    );
    Ok(reply(Tag::Delete, outcome.changed, rows))
}

fn reply(tag: Tag, affected: u64, rows: Option<Vec<Vec<Value>>>) -> Reply {
    Reply {
        affected: Some(affected),
        rows,
        ..Reply::done(tag)
    }
}

fn returned(
    asker: &Asker,
    table: Table,
    returning: Option<&[Scalar]>,
    rows: &[Row],
) -> Option<Vec<Vec<Value>>> {
    let returning = returning?;
    let core = asker.handle.borrow();
    let def = &core.tables[&table];
    let output = |row: &Row| Scope::of_row(&core, asker.session, def, row).outputs(returning);
    Some(rows.iter().map(output).collect())
}

async fn run(asker: &Asker, target: &Target<'_>) -> Result<Outcome, SqlError> {
    let (plan, def) = {
        let mut core = asker.handle.borrow_mut();
        let table = target.table;
        core.innodb.intend(asker.trx, table, Mode::Exclusive);
        let purpose = Purpose {
            table,
            filter: target.filter,
            order: target.order,
            limited: target.limit.is_some(),
            output: None,
        };
        let plan = plan(&core.innodb, &Scope::bare(&core, asker.session), &purpose);
        (plan, core.tables[&table].clone())
    };
    let at_once = plan.ordered && !moves(asker, target, &plan);
    let most = target.limit.unwrap_or(u64::MAX);
    let limit = if plan.ordered { most } else { u64::MAX };
    let mut scan = Scan::new(asker, target.table, plan, Mode::Exclusive, WhenLocked::Wait);
    if target.set.is_some() {
        scan = scan.semi_consistent(target.filter);
    }
    let (mut outcome, mut kept) = (Outcome::default(), Vec::new());
    let mut found = 0;
    while found < limit {
        let Some(row) = scan.next().await? else {
            break;
        };
        if !wanted(asker, target, &def, &row) {
            scan.release();
            continue;
        }
        found += 1;
        if at_once {
            apply(asker, target, &def, row, &mut outcome).await?;
        } else {
            kept.push(row);
        }
    }
    kept.sort_by(|a, b| ordering(&def, target.order, &a.row, &b.row));
    kept.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    for row in kept {
        apply(asker, target, &def, row, &mut outcome).await?;
    }
    Ok(outcome)
}

fn wanted(asker: &Asker, target: &Target<'_>, def: &TableDef, found: &Found) -> bool {
    let core = asker.handle.borrow();
    Scope::of_row(&core, asker.session, def, &found.row).holds(target.filter)
}

/// Whether a change moves records within the index that is read: then all are read first.
fn moves(asker: &Asker, target: &Target<'_>, plan: &Plan) -> bool {
    if matches!(plan.reaches.as_slice(), [Reach::Point(_)]) {
        return false;
    }
    let core = asker.handle.borrow();
    let indexes = &core.innodb.tables[&target.table].indexes;
    let sets = target.set.into_iter().flatten();
    sets.into_iter()
        .any(|(column, _)| indexes[plan.index].columns.contains(column))
}

async fn apply(
    asker: &Asker,
    target: &Target<'_>,
    def: &TableDef,
    found: Found,
    outcome: &mut Outcome,
) -> Result<(), SqlError> {
    let Found { primary, row } = found;
    let new = match target.set {
        Some(set) => {
            let scalars = set.iter().map(|(_, scalar)| scalar);
            let slept = slept(&asker.handle, asker.session, scalars).await?;
            let columns = set.iter().map(|(column, _)| *column);
            let slept = slept.map(|slept| columns.zip(slept).collect::<Assignments>());
            let core = asker.handle.borrow();
            let value = |row: &Row, scalar: &Scalar| {
                Scope::of_row(&core, asker.session, def, row).value(scalar)
            };
            Some(assigned(slept.as_ref().unwrap_or(set), &row, def, value)?)
        }
        None => None,
    };
    outcome.matched += 1;
    if new.as_ref() != Some(&row) {
        change(asker, target.table, &primary, &row, new.as_ref()).await?;
        outcome.changed += 1;
    }
    outcome.before.push(row);
    outcome.after.extend(new);
    Ok(())
}

/// A row with its new values. Each assignment sees those before it.
pub(super) fn assigned(
    set: &Assignments,
    old: &Row,
    def: &TableDef,
    value: impl Fn(&Row, &Scalar) -> Value,
) -> Result<Row, SqlError> {
    let mut row = old.clone();
    for (column, scalar) in set {
        let at = usize::from(column.0);
        if let Some(column) = def.columns.get(at) {
            let (value, _) = fit(value(&row, scalar), column, Flavor::MariaDb, false)?;
            row[at] = value;
        }
    }
    Ok(row)
}

/// Changes a row that is locked, or removes it: first the row, then its entries in the other
/// indexes.
pub(super) async fn change(
    asker: &Asker,
    table: Table,
    primary: &Key,
    old: &Row,
    new: Option<&Row>,
) -> Result<(), SqlError> {
    if new == Some(old) {
        return Ok(());
    }
    match move_row(asker, table, primary, old, new).await {
        Ok(()) => Ok(()),
        Err(Failure::Duplicate { .. }) => Err(SqlError::UniqueViolation),
        Err(Failure::Error(error)) => Err(error),
    }
}

async fn move_row(
    asker: &Asker,
    table: Table,
    primary: &Key,
    old: &Row,
    new: Option<&Row>,
) -> Result<(), Failure> {
    let clustered = IndexId::clustered(table);
    while !asker
        .writes(clustered, Some(primary.clone()), Span::Record)
        .await?
    {}
    let (indexes, stays) = {
        let core = &mut *asker.handle.borrow_mut();
        let store = &mut core.innodb;
        let tables = &store.tables[&table];
        let key = |row: &Row| match tables.has_primary_key() {
            true => tables.own_key(0, row),
            false => primary.clone(),
        };
        let stays = new.filter(|row| key(row) == *primary);
        let indexes = tables.indexes.len();
        let (row, deleted) = (stays.unwrap_or(old).clone(), stays.is_none());
        store.write(asker.trx, table, primary, row, deleted);
        (indexes, stays.is_some())
    };
    // A row whose primary key changes is another row: this one goes, that one comes.
    if let (Some(row), false) = (new, stays) {
        insert::put_moved(asker, table, row).await?;
    }
    let becomes = match stays {
        true => new.map(|row| (primary.clone(), row)),
        false => new.map(|row| {
            let core = asker.handle.borrow();
            (core.innodb.tables[&table].own_key(0, row), row)
        }),
    };
    for number in 1..indexes {
        move_entry(
            asker,
            IndexId { table, number },
            (primary, old),
            becomes.as_ref(),
        )
        .await?;
    }
    Ok(())
}

/// Marks a row's entry in an index and inserts the new one, unless both are the same.
async fn move_entry(
    asker: &Asker,
    index: IndexId,
    (primary, old): (&Key, &Row),
    new: Option<&(Key, &Row)>,
) -> Result<(), Failure> {
    let (was, becomes) = {
        let core = asker.handle.borrow();
        let table = &core.innodb.tables[&index.table];
        let was = table.key(index.number, old, primary);
        (was, new.map(|(key, row)| table.key(index.number, row, key)))
    };
    if becomes.as_ref() == Some(&was) {
        return Ok(());
    }
    while !asker.writes(index, Some(was.clone()), Span::Record).await? {}
    asker
        .handle
        .borrow_mut()
        .innodb
        .mark_entry(asker.trx, index, &was, true);
    if let Some((key, row)) = new {
        insert::put_entry(asker, index.table, index.number, key, row).await?;
    }
    Ok(())
}
