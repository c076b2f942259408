//! What a check found beyond its bound, as a program reads it.

use super::WireFault;
use crate::report::{BeyondReport, Execution};
use serde::Serialize;

/// Random plans of more faults than the bound; not judged.
#[derive(Serialize)]
pub(in crate::report) struct Beyond<'a> {
    plans: u64,
    finds: Vec<WireFind<'a>>,
}

#[derive(Serialize)]
struct WireFind<'a> {
    verdict: &'static str,
    layer: Option<String>,
    guard: &'static str,
    /// Of the last fault; null where nothing went wrong.
    step: Option<&'static str>,
    faults: usize,
    seed: u64,
    plan: Vec<WireFault<'a>>,
    token: Option<&'a str>,
}

impl<'a> Beyond<'a> {
    pub fn of(beyond: &'a BeyondReport<'a>) -> Self {
        Beyond {
            plans: beyond.plans,
            finds: beyond.finds.iter().map(WireFind::of).collect(),
        }
    }
}

impl<'a> WireFind<'a> {
    fn of(find: &'a Execution<'a>) -> Self {
        let faults = &find.plan.faults;
        let last = faults
            .last()
            .and_then(|fault| scheduler::steps::by_number(fault.site.step));
        WireFind {
            verdict: find.judgement.verdict.name(),
            layer: find.judgement.layer.as_ref().map(ToString::to_string),
            guard: find.scenario.guard.name(),
            step: last.map(|step| step.name),
            faults: faults.len(),
            seed: find.seed,
            plan: WireFault::of_all(find),
            token: find.token,
        }
    }
}
