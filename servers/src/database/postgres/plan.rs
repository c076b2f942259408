//! Which way a statement goes to its rows: the whole table, an index in its order, or an index first
//! and then the table in its own order.
//!
//! It matters: rows are locked in the order in which they are come upon, and what a SERIALIZABLE
//! transaction has read depends on the way it went. PostgreSQL decides by cost; a table that was
//! never analysed counts as ten pages, so the way does not depend on the rows in it. These are its
//! formulas (`costsize.c`, `selfuncs.c`) with its default parameters, as far as one small table
//! needs them; held against EXPLAIN.

use super::conditions::{Indexable, Test, indexable, operators, parts, share};
use scheduler::ports::sql::{IndexDef, Order, Predicate, TableDef, Type};

/// The way.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    /// All of the table, as it lies.
    Table,
    /// By an index, in its order.
    Index { index: usize, backward: bool },
    /// By indexes (several: for the parts of an OR), then as the table lies.
    Bitmap { indexes: Vec<usize> },
}

/// The way, and whether the rows have to be sorted then.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) way: Way,
    pub(super) sorts: bool,
}

const PAGES: f64 = 10.0;
const RANDOM_PAGE: f64 = 4.0;
const TUPLE: f64 = 0.01;
const INDEX_TUPLE: f64 = 0.005;
const OPERATOR: f64 = 0.0025;

#[derive(Clone, Copy)]
struct Cost {
    startup: f64,
    total: f64,
}

/// What is to be planned.
struct Question<'a> {
    table: &'a TableDef,
    parts: Vec<&'a Predicate>,
    order: &'a [Order],
    /// How many rows PostgreSQL takes the table to have.
    rows: f64,
    /// How many of them it expects to find.
    found: f64,
}

/// Plans a statement on one table.
pub(super) fn plan(
    table: &TableDef,
    filter: &Predicate,
    order: &[Order],
    limit: Option<u64>,
) -> Plan {
    let rows = PAGES * density(table);
    let question = Question {
        table,
        found: found(table, filter, rows),
        parts: parts(filter),
        order,
        rows,
    };
    let limit = limit.map(|limit| f64::from(u32::try_from(limit).unwrap_or(u32::MAX)));
    let mut best: Option<(f64, Plan)> = None;
    for (way, cost) in question.ways() {
        let sorts = !order.is_empty() && !question.is_ordered(&way);
        let cost = if sorts {
            question.sorted(cost, limit)
        } else {
            cost
        };
        let cost = match limit {
            Some(limit) => {
                let share = (limit / question.found).min(1.0);
                cost.startup + (cost.total - cost.startup) * share
            }
            None => cost.total,
        };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, Plan { way, sorts }));
        }
    }
    best.map_or(
        Plan {
            way: Way::Table,
            sorts: !order.is_empty(),
        },
        |(_, plan)| plan,
    )
}

/// How many rows a page takes, from what the columns are likely to need.
fn density(table: &TableDef) -> f64 {
    let width: u32 = table
        .columns
        .iter()
        .map(|column| match column.kind {
            Type::Int => 4,
            Type::Time { .. } | Type::Any => 8,
            Type::Text {
                max_chars: u32::MAX,
                ..
            } => 32,
            Type::Text { max_chars, .. } => {
                let most = max_chars.saturating_mul(4).saturating_add(4).min(1_000);
                if most <= 32 {
                    most
                } else {
                    32 + (most - 32) / 2
                }
            }
        })
        .sum();
    f64::from((8_192 - 24) / (width + 28))
}

/// How many rows it expects to find: one, where a unique index says so.
fn found(table: &TableDef, filter: &Predicate, rows: f64) -> f64 {
    let parts = parts(filter);
    let unique = |index: &IndexDef| {
        let exact = usable(index, &parts);
        let exact = exact.iter().filter(|part| part.test == Test::Equal).count();
        index.unique && exact == index.columns.len()
    };
    if table.indexes.iter().any(unique) {
        1.0
    } else {
        (rows * share(filter)).round().max(1.0)
    }
}

/// How many of `pages` are read where `tuples` rows lie anywhere in them.
fn pages_read(tuples: f64, pages: f64) -> f64 {
    (2.0 * pages * tuples / (2.0 * pages + tuples))
        .min(pages)
        .ceil()
}

impl Question<'_> {
    /// All ways; where two cost the same the first is taken. PostgreSQL looks at the newest index
    /// first.
    fn ways(&self) -> Vec<(Way, Cost)> {
        let all = self.parts.iter().copied().map(operators).sum::<f64>();
        let table = PAGES + self.rows * (TUPLE + OPERATOR * all);
        let mut ways = Vec::new();
        for (number, index) in self.table.indexes.iter().enumerate().rev() {
            let usable = usable(index, &self.parts);
            let way = Way::Index {
                index: number,
                backward: self.order.first().is_some_and(|order| order.descending),
            };
            if !usable.is_empty() || self.is_ordered(&way) {
                ways.push((way, self.by_index(index, &usable)));
            }
            if !usable.is_empty() {
                let (cost, tuples) = self.entries(index, &usable);
                let way = Way::Bitmap {
                    indexes: vec![number],
                };
                ways.push((way, self.by_bitmap(cost, tuples)));
            }
        }
        ways.extend(self.parts.iter().filter_map(|part| self.by_several(part)));
        let cost = Cost {
            startup: 0.0,
            total: table,
        };
        ways.push((Way::Table, cost));
        ways
    }

    /// What the entries of an index cost, and how many there are likely to be.
    fn entries(&self, index: &IndexDef, usable: &[Indexable<'_>]) -> (f64, f64) {
        let exact = usable
            .iter()
            .filter(|part| part.test == Test::Equal)
            .count();
        let single = index.unique && exact == index.columns.len();
        let scans: f64 = usable
            .iter()
            .map(|part| match part.test {
                Test::In(values) => f64::from(u32::try_from(values).unwrap_or(u32::MAX)),
                _ => 1.0,
            })
            .product();
        let all = Predicate::All(usable.iter().map(|part| part.predicate.clone()).collect());
        let unique_in = index.unique && index.columns.len() == 1 && scans > 1.0;
        let tuples = match (single, unique_in) {
            (true, _) => 1.0,
            (false, true) => scans,
            (false, false) => (self.rows * share(&all)).round().max(1.0),
        };
        let per_scan = (tuples / scans).max(1.0);
        let pages = (per_scan * 2.0 / self.rows).ceil().max(1.0);
        let pages = if scans > 1.0 {
            pages_read(pages * scans, 2.0)
        } else {
            pages
        };
        let quals = OPERATOR * f64::from(u32::try_from(usable.len()).unwrap_or(u32::MAX));
        let cost =
            descent(self.rows) * scans + pages * RANDOM_PAGE + tuples * (INDEX_TUPLE + quals);
        (cost, tuples)
    }

    fn by_index(&self, index: &IndexDef, usable: &[Indexable<'_>]) -> Cost {
        let (entries, tuples) = if usable.is_empty() {
            let entries = 2.0 * RANDOM_PAGE + self.rows * INDEX_TUPLE;
            (descent(self.rows) + entries, self.rows)
        } else {
            self.entries(index, usable)
        };
        let in_index = usable
            .iter()
            .map(|part| operators(part.predicate))
            .sum::<f64>();
        let all = self.parts.iter().copied().map(operators).sum::<f64>();
        let each = TUPLE + OPERATOR * (all - in_index);
        Cost {
            startup: descent(self.rows),
            total: entries + pages_read(tuples, PAGES) * RANDOM_PAGE + tuples * each,
        }
    }

    fn by_bitmap(&self, entries: f64, tuples: f64) -> Cost {
        let startup = entries + 0.1 * OPERATOR * tuples;
        let pages = pages_read(tuples, PAGES);
        let page = if pages >= 2.0 {
            RANDOM_PAGE - (RANDOM_PAGE - 1.0) * (pages / PAGES).sqrt()
        } else {
            RANDOM_PAGE
        };
        let all = self.parts.iter().copied().map(operators).sum::<f64>();
        Cost {
            startup,
            total: startup + pages * page + tuples * (TUPLE + OPERATOR * all),
        }
    }

    /// An OR whose every part an index can answer.
    fn by_several(&self, part: &Predicate) -> Option<(Way, Cost)> {
        let Predicate::Any(any) = part else {
            return None;
        };
        let (mut indexes, mut cost, mut tuples) = (Vec::new(), 0.0, 0.0);
        for one in any {
            let parts = parts(one);
            let best = self
                .table
                .indexes
                .iter()
                .enumerate()
                .rev()
                .map(|(number, index)| (number, index, usable(index, &parts)))
                .filter(|(_, _, usable)| !usable.is_empty())
                .map(|(number, index, usable)| (number, self.entries(index, &usable)))
                .min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
            let (number, (entries, found)) = best?;
            indexes.push(number);
            cost += entries;
            tuples += found;
        }
        Some((Way::Bitmap { indexes }, self.by_bitmap(cost, tuples)))
    }

    /// Whether the way gives the rows in the order that is asked for.
    fn is_ordered(&self, way: &Way) -> bool {
        let Way::Index { index, .. } = way else {
            return false;
        };
        let columns = &self.table.indexes[*index].columns;
        let several = |part: &&Predicate| {
            indexable(part).is_some_and(|part| matches!(part.test, Test::In(_)))
        };
        let descending = self.order.first().map(|order| order.descending);
        !self.order.is_empty()
            && self.order.len() <= columns.len()
            && !self.parts.iter().any(several)
            && self.order.iter().zip(columns).all(|(order, column)| {
                order.column == *column && Some(order.descending) == descending
            })
    }

    fn sorted(&self, cost: Cost, limit: Option<f64>) -> Cost {
        let rows = self.found.max(2.0);
        let kept = match limit {
            Some(limit) if rows > 2.0 * limit => 2.0 * limit,
            _ => rows,
        };
        let startup = cost.total + 2.0 * OPERATOR * rows * kept.log2();
        Cost {
            startup,
            total: startup + OPERATOR * rows,
        }
    }
}

/// What it costs to come to an entry of an index.
fn descent(rows: f64) -> f64 {
    rows.log2().ceil() * OPERATOR + 50.0 * OPERATOR
}

/// The parts that an index can answer: none unless its first column is asked for.
pub(super) fn usable<'a>(index: &IndexDef, parts: &[&'a Predicate]) -> Vec<Indexable<'a>> {
    let usable: Vec<Indexable<'a>> = parts
        .iter()
        .filter_map(|part| indexable(part))
        .filter(|part| index.columns.contains(&part.column))
        .collect();
    let first = index.columns.first();
    if usable.iter().any(|part| Some(&part.column) == first) {
        usable
    } else {
        Vec::new()
    }
}
