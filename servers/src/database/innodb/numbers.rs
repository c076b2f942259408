//! AUTO_INCREMENT: the numbers that a statement gives its rows.

/// The numbers of one statement: taken at once for all rows to come, and what is left over is burnt.
#[derive(Default)]
pub(super) struct Numbers {
    /// Rows that are still to be inserted, the one at hand among them.
    pub(super) rows_left: usize,
    /// The next one, and behind which all are taken.
    next: i64,
    end: i64,
    /// Whether the row at hand has taken one.
    pub(super) took: bool,
}

impl Numbers {
    /// The number of the row at hand; `table` is the table's next one.
    pub(super) fn take(&mut self, table: &mut i64) -> i64 {
        if self.next == self.end {
            self.next = *table;
            *table += i64::try_from(self.rows_left).unwrap_or(i64::MAX);
            self.end = *table;
        }
        self.took = true;
        self.next += 1;
        self.next - 1
    }

    /// The row was not inserted: the next one gets its number.
    pub(super) fn give_back(&mut self) {
        if std::mem::take(&mut self.took) {
            self.next -= 1;
        }
    }
}
