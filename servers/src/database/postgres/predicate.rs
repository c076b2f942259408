//! What a SERIALIZABLE transaction has read: locks that stop nobody and are only looked at.
//!
//! They are on a version, on a page of the table, on the whole table (after reading all of it), or
//! on an index. Three versions of one page are made into the page, as PostgreSQL does
//! (`max_pred_locks_per_page` is 2); whoever inserts there conflicts although it is about another
//! row. An index is taken as one page, which is what the index of a small table is.

use super::heap::Tid;
use scheduler::ports::Table;
use std::collections::BTreeSet;

/// Something that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Table(Table),
    Page(Table, usize),
    Version(Table, Tid),
    Index(Table, usize),
}

/// What one transaction has read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads(BTreeSet<Target>);

/// `max_pred_locks_per_page`.
const VERSIONS_OF_A_PAGE: usize = 2;

/// About how many narrow rows a page of 8 kB takes.
const PAGE: usize = 185;

/// The page that a version is on.
pub(super) const fn page(tid: Tid) -> usize {
    tid / PAGE
}

impl Reads {
    pub(super) fn contains(&self, target: Target) -> bool {
        self.0.contains(&target)
    }

    /// Remembers a read, unless a coarser one covers it.
    pub(super) fn add(&mut self, target: Target) {
        match target {
            Target::Version(table, tid) => {
                let page = page(tid);
                if self.contains(Target::Table(table)) || self.contains(Target::Page(table, page)) {
                    return;
                }
                self.0.insert(target);
                if self.versions_of(table, page).count() > VERSIONS_OF_A_PAGE {
                    self.add(Target::Page(table, page));
                }
            }
            Target::Page(table, page) => {
                if self.contains(Target::Table(table)) {
                    return;
                }
                let covered: Vec<Target> = self.versions_of(table, page).collect();
                self.0.retain(|target| !covered.contains(target));
                self.0.insert(target);
            }
            Target::Table(table) => {
                self.0.retain(|held| !of_heap(*held, table));
                self.0.insert(target);
            }
            Target::Index(..) => {
                self.0.insert(target);
            }
        }
    }

    /// Who writes a row no longer needs to have read it.
    pub(super) fn remove(&mut self, target: Target) {
        self.0.remove(&target);
    }

    fn versions_of(&self, of: Table, on: usize) -> impl Iterator<Item = Target> {
        self.0.iter().copied().filter(move |target| {
            matches!(target, Target::Version(table, tid) if *table == of && page(*tid) == on)
        })
    }
}

fn of_heap(target: Target, of: Table) -> bool {
    match target {
        Target::Page(table, _) | Target::Version(table, _) => table == of,
        Target::Table(_) | Target::Index(..) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_versions_of_a_page_become_the_page() {
        let (table, mut reads) = (Table(0), Reads::default());
        reads.add(Target::Version(table, 0));
        reads.add(Target::Version(table, 1));
        assert!(!reads.contains(Target::Page(table, 0)));
        reads.add(Target::Version(table, 2));
        assert!(reads.contains(Target::Page(table, 0)));
        assert!(!reads.contains(Target::Version(table, 1)));
        reads.add(Target::Version(table, PAGE));
        assert!(reads.contains(Target::Version(table, PAGE)));
    }

    #[test]
    fn the_table_covers_its_versions_but_not_its_indexes() {
        let (table, mut reads) = (Table(0), Reads::default());
        reads.add(Target::Version(table, 0));
        reads.add(Target::Index(table, 0));
        reads.add(Target::Table(table));
        reads.add(Target::Version(table, 1));
        assert!(!reads.contains(Target::Version(table, 0)));
        assert!(!reads.contains(Target::Version(table, 1)));
        assert!(reads.contains(Target::Index(table, 0)));
    }
}
