//! The book and the README say what the code does: examples run, tables are generated, links lead
//! somewhere. `RUNKEY_BLESS=1 cargo test --test docs` writes what has changed.
#![allow(clippy::unwrap_used)]

mod claims;
mod commands;
mod cures;
mod files;
mod house;
mod league;
mod pages;
mod reference;
mod source;
