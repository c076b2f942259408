//! SELECT: plain reads, which lock nothing, and locking ones.

use super::compatibility::Mode;
use super::plan::{Plan, Purpose, plan};
use super::records::Row;
use super::scan::Scan;
use super::versions::View;
use super::waiting::Asker;
use crate::database::evaluate::{self, Scope, ordering};
use scheduler::ports::Isolation;
use scheduler::ports::Value;
use scheduler::ports::sql::{
    Locking, Reply, Select, SqlError, Strength, TableDef, Tag, WhenLocked,
};

/// Whether a statement's locks cover gaps.
pub(super) fn locks_gaps(asker: &Asker) -> bool {
    let core = asker.handle.borrow();
    let trx = core.innodb.trxs.get(&asker.trx);
    trx.is_some_and(|trx| trx.locks_gaps())
}

/// Runs a SELECT.
pub(super) async fn run(asker: &Asker, select: &Select) -> Result<Reply, SqlError> {
    let rows = rows(asker, select).await?;
    Ok(Reply {
        affected: u64::try_from(rows.len()).ok(),
        rows: Some(rows),
        ..Reply::done(Tag::Select)
    })
}

/// What a SELECT gives.
pub(super) async fn rows(asker: &Asker, select: &Select) -> Result<Vec<Vec<Value>>, SqlError> {
    let (plan, locking) = {
        let core = asker.handle.borrow();
        let purpose = Purpose {
            table: select.table,
            filter: &select.filter,
            order: &select.order,
            limited: select.limit.is_some(),
            output: Some(&select.output),
        };
        let plan = plan(&core.innodb, &Scope::bare(&core, asker.session), &purpose);
        (plan, select.locking.or_else(|| implied(asker, &core)))
    };
    let def = asker.handle.borrow().tables[&select.table].clone();
    let rows = match locking {
        Some(locking) => locked(asker, select, plan, locking, &def).await?,
        None => seen(asker, select, &plan, &def),
    };
    let core = asker.handle.borrow();
    Ok(evaluate::output(
        &core,
        asker.session,
        &def,
        &select.output,
        &rows,
    ))
}

/// At SERIALIZABLE a plain SELECT in a transaction locks as LOCK IN SHARE MODE does.
fn implied(asker: &Asker, core: &crate::database::core::Core) -> Option<Locking> {
    let in_transaction = core.session(asker.session).in_transaction;
    let level = core.innodb.trxs.get(&asker.trx)?.isolation;
    (in_transaction && level == Isolation::Serializable).then_some(Locking {
        strength: Strength::Share,
        when_locked: WhenLocked::Wait,
    })
}

/// The rows of a plain read, in order.
fn seen(asker: &Asker, select: &Select, plan: &Plan, def: &TableDef) -> Vec<Row> {
    let mut core = asker.handle.borrow_mut();
    let view = core.innodb.view(asker.trx);
    let core = &*core;
    let table = &core.innodb.tables[&select.table];
    let mut rows: Vec<Row> = table.indexes[0]
        .records
        .iter()
        .filter_map(|(primary, record)| Some((primary, view.row(record)?)))
        // Who reads what is not committed finds a row by way of an index only where it has its
        // entry already.
        .filter(|(primary, row)| {
            !matches!(view, View::Newest) || table.has_entry(plan.index, row, primary)
        })
        .map(|(_, row)| row)
        .filter(|row| Scope::of_row(core, asker.session, def, row).holds(&select.filter))
        .cloned()
        .collect();
    if plan.index > 0 {
        rows.sort_by_cached_key(|row| table.own_key(plan.index, row));
    }
    in_order(select, def, &mut rows);
    rows
}

fn in_order(select: &Select, def: &TableDef, rows: &mut Vec<Row>) {
    rows.sort_by(|a, b| ordering(def, &select.order, a, b));
    if let Some(limit) = select.limit {
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
}

/// The rows of a locking read, locked.
async fn locked(
    asker: &Asker,
    select: &Select,
    plan: Plan,
    locking: Locking,
    def: &TableDef,
) -> Result<Vec<Row>, SqlError> {
    let mode = match locking.strength {
        Strength::Update => Mode::Exclusive,
        Strength::Share => Mode::Shared,
    };
    asker
        .handle
        .borrow_mut()
        .innodb
        .intend(asker.trx, select.table, mode);
    let most = select.limit.filter(|_| plan.ordered).unwrap_or(u64::MAX);
    // A row of a unique key is read before the rest of the condition is looked at, and stays locked.
    let constant = matches!(plan.reaches.as_slice(), [super::plan::Reach::Point(_)]);
    let mut scan = Scan::new(asker, select.table, plan, mode, locking.when_locked);
    let mut rows = Vec::new();
    while (rows.len() as u64) < most {
        let Some(found) = scan.next().await? else {
            break;
        };
        let wanted = {
            let core = asker.handle.borrow();
            Scope::of_row(&core, asker.session, def, &found.row).holds(&select.filter)
        };
        if wanted {
            rows.push(found.row);
        } else if !constant {
            scan.release();
        }
    }
    in_order(select, def, &mut rows);
    Ok(rows)
}
