//! `none`: every attempt may run.
//!
//! **Promises** nothing: a message is run as often as it is delivered.
//! **Breaks** with every redelivery: a crash before the ack, a lost ack, work longer than the
//! broker's deadline, an operator's replay.
//! **Source**: S0.3, S0.7.

use super::kind::Kind;
use super::{Entry, Guard, GuardContext, Outcome, Permit, Settle, Visit};
use crate::ports::{CallError, Fut};
use serde::{Deserialize, Serialize};

/// `kind = "none"`; no fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoneConfig {}

impl Kind for NoneConfig {
    fn build(&self, _: &GuardContext) -> Box<dyn Guard> {
        Box::new(NoGuard)
    }
}

/// Lets everybody in.
struct NoGuard;

impl Guard for NoGuard {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let permit = Permit::first(visit.token);
        Box::pin(std::future::ready(Ok(Entry::Run(permit))))
    }

    fn finish<'a>(
        &'a self,
        _: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}
