//! The shapes of results as programs read them: field names are a contract (`docs/schemas`).

mod beyond;
mod check;
mod execution;
mod margin;
mod matrix;
mod shard;
mod survivors;
mod verify;

pub(super) use beyond::Beyond;
pub(super) use check::CheckResult;
pub(super) use execution::{ExecutionResult, WireEvent, WireFault};
pub(super) use margin::MarginResult;
pub(super) use matrix::MatrixResult;
pub(super) use shard::ShardResult;
pub(super) use verify::VerifyResult;
