//! Names of tables and columns, and the numbers that the port has for them.

use super::{Unsupported, unsupported};
use scheduler::ports::sql::{ColumnDef, TableDef};
use scheduler::ports::{Column, Table};

/// A table, by name.
#[derive(Clone, Debug)]
pub struct Known {
    pub name: String,
    pub number: Table,
    /// The columns' names, in order.
    pub columns: Vec<String>,
    pub def: TableDef,
}

impl Known {
    /// The column of this name (names do not distinguish case).
    pub fn column(&self, name: &str) -> Result<Column, Unsupported> {
        let at = self
            .columns
            .iter()
            .position(|column| column.eq_ignore_ascii_case(name));
        match at.and_then(|at| u8::try_from(at).ok()) {
            Some(at) => Ok(Column(at)),
            None => unsupported("a name that is no column of the table"),
        }
    }

    pub fn def_of(&self, column: Column) -> Option<&ColumnDef> {
        self.def.columns.get(usize::from(column.0))
    }

    /// Every column, in order.
    pub fn every_column(&self) -> impl Iterator<Item = Column> {
        (0..self.columns.len()).filter_map(|at| u8::try_from(at).ok().map(Column))
    }
}

/// The tables that there are.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tables: Vec<Known>,
}

impl Catalog {
    pub fn add(
        &mut self,
        name: String,
        columns: Vec<String>,
        def: TableDef,
    ) -> Result<Table, Unsupported> {
        if self.tables.iter().any(|known| known.name == name) {
            return unsupported("a table of a name that is taken");
        }
        let Ok(number) = u8::try_from(self.tables.len()) else {
            return unsupported("more than 256 tables");
        };
        let number = Table(number);
        self.tables.push(Known {
            name,
            number,
            columns,
            def,
        });
        Ok(number)
    }

    pub fn table(&self, name: &str) -> Result<&Known, Unsupported> {
        match self.tables.iter().find(|known| known.name == name) {
            Some(known) => Ok(known),
            None => unsupported("a table that is not there"),
        }
    }
}
