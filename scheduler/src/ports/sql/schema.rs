//! Tables: columns and indexes.

use crate::ports::{Column, Value};

/// How two texts compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collation {
    /// Byte by byte (PostgreSQL's varchar under any deterministic collation).
    Binary,
    /// Without case, and as if padded with spaces (MariaDB's default, `utf8mb4_general_ci`).
    GeneralCi,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Whatever is put there.
    Any,
    /// A whole number.
    Int,
    /// A text of at most so many characters.
    Text {
        /// The most characters; `u32::MAX`: no limit.
        max_chars: u32,
        /// How it compares.
        collation: Collation,
    },
    /// A moment, kept as milliseconds since the Unix epoch.
    Time {
        /// Digits kept behind the seconds, from 0 to 3: MariaDB's DATETIME has 0, PostgreSQL's
        /// TIMESTAMP keeps all.
        digits: u8,
    },
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// What it holds.
    pub kind: Type,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether the server counts it up where an insert gives nothing (AUTO_INCREMENT, SERIAL).
    pub counts: bool,
    /// What an insert that does not name it puts there.
    pub default: Value,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Whether no two rows may have the same values in them.
    pub unique: bool,
    /// Whether it is the primary key.
    pub primary: bool,
    /// Whether NULL is the same as NULL (PostgreSQL 15's NULLS NOT DISTINCT).
    pub nulls_equal: bool,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TableDef {
    /// Its columns; [`Column`] counts them.
    pub columns: Vec<ColumnDef>,
    /// Its indexes, in the order in which they were made.
    pub indexes: Vec<IndexDef>,
}
