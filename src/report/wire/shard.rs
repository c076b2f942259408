//! A share of a check as a program reads it.

use crate::report::ShardReport;
use serde::Serialize;

/// A result of `check --shard`.
#[derive(Serialize)]
pub(in crate::report) struct ShardResult<'a> {
    scenario: &'a str,
    shard: &'a str,
    file: &'a str,
    plans: u64,
    complete: bool,
    /// Why it is not complete.
    reason: Option<&'a str>,
}

impl<'a> ShardResult<'a> {
    pub fn of(report: &ShardReport<'a>) -> Self {
        ShardResult {
            scenario: report.scenario,
            shard: report.shard,
            file: report.file,
            plans: report.plans,
            complete: report.cut.is_none(),
            reason: report.cut,
        }
    }
}
