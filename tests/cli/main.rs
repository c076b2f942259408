//! The command line, as scripts and people use it.

#![allow(clippy::unwrap_used)]

mod bad_input;
mod certificates;
mod exit_codes;
mod formats;
mod journals;
mod journals_refused;
mod margin;
mod matrix;
mod runkey;
mod stopping;
mod survivors;
mod verbs;
