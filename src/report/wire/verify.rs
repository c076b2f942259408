//! One verification as a program reads it.

use crate::report::VerifyReport;
use serde::Serialize;

/// A result of `verify`.
#[derive(Serialize)]
pub(in crate::report) struct VerifyResult<'a> {
    scenario: &'a str,
    scenario_hash: &'a str,
    promise: &'a str,
    /// Whether all of it was explored again, or its sample run.
    full: bool,
    /// How many plans gave the same history.
    plans: u64,
    verified: bool,
    /// What is not as certified.
    reason: Option<&'a str>,
}

impl<'a> VerifyResult<'a> {
    pub fn of(report: &VerifyReport<'a>) -> Self {
        VerifyResult {
            scenario: &report.claim.scenario,
            scenario_hash: &report.claim.scenario_hash,
            promise: &report.claim.promise,
            full: report.full,
            plans: report.plans,
            verified: report.mismatch.is_none(),
            reason: report.mismatch,
        }
    }
}
