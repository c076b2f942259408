//! The shapes of results as programs read them: field names are a contract (`docs/schemas`).

mod check;
mod execution;

pub(super) use check::CheckResult;
pub(super) use execution::{ExecutionResult, WireEvent, WireFault};

use serde::Serialize;

/// One document with all results.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub schema: String,
    pub results: &'a [serde_json::Value],
}
