//! One check as a program reads it.

use super::survivors::WireSurvivor;
use super::{Beyond, WireFault};
use crate::report::{CheckReport, Execution, Survivors, why};
use explore::Explored;
use explore::certificate::Claim;
use scenarios::spec::Cell as FaultCell;
use serde::Serialize;
use std::time::Duration;

/// A result of `check`.
#[derive(Serialize)]
pub(in crate::report) struct CheckResult<'a> {
    scenario: &'a str,
    expected: &'static str,
    verdict: Option<&'static str>,
    /// Null where that is not known.
    met: Option<bool>,
    /// Why the expectation is not met, or not known to be.
    reason: Option<String>,
    explored: WireExplored,
    /// What is proved; null where nothing is. With `--certificate` the file has more.
    certificate: Option<&'a Claim>,
    counterexample: Option<WireExample<'a>>,
    coverage: Vec<Cell>,
    /// Only where there was time for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond: Option<Beyond<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
}

#[derive(Serialize)]
struct WireExplored {
    space: String,
    max_faults: u8,
    exhausted: bool,
    spaces: Vec<WireSpace>,
    seeds: String,
    sites: u64,
    faults: u64,
    plans: u64,
    merged: u64,
    levels: Vec<WireLevel>,
    digest: String,
}

/// The plans of one number of faults.
#[derive(Serialize)]
struct WireLevel {
    faults: u8,
    plans: u64,
    merged: u64,
    failing: u64,
}

#[derive(Serialize)]
struct WireSpace {
    space: &'static str,
    max_faults: u8,
    exhausted: bool,
}

#[derive(Serialize)]
struct WireExample<'a> {
    plan: Vec<WireFault<'a>>,
    seed: u64,
    token: Option<&'a str>,
    verdict: &'static str,
    layer: Option<String>,
    faults: usize,
    sentence: String,
    trace_hash: String,
    /// The changes that were tried against it; null where that was not asked.
    survivors: Option<Vec<WireSurvivor<'a>>>,
}

#[derive(Serialize)]
struct Cell {
    kind: &'static str,
    step: &'static str,
    took_effect: u64,
}

#[derive(Serialize)]
struct Timing {
    elapsed_s: f64,
    plans_per_s: f64,
}

impl<'a> CheckResult<'a> {
    pub fn of(report: &'a CheckReport<'a>) -> Self {
        let checked = report.checked;
        CheckResult {
            scenario: &report.scenario.name,
            expected: report.expected().name(),
            verdict: checked.verdict().map(|verdict| verdict.name()),
            met: report.met(),
            reason: match &checked.met {
                explore::Met::Yes => None,
                explore::Met::No(unmet) => Some(unmet.to_string()),
                explore::Met::Inconclusive(doubt) => Some(doubt.to_string()),
            },
            explored: WireExplored::of(&checked.explored, report),
            certificate: report.claim,
            counterexample: (report.example.as_ref())
                .map(|example| WireExample::of(example, report.survivors)),
            coverage: checked.coverage().cells().into_iter().map(cell).collect(),
            beyond: report.beyond.as_ref().map(Beyond::of),
            timing: report
                .elapsed
                .map(|elapsed| Timing::of(elapsed, report.plans())),
        }
    }
}

impl WireExplored {
    fn of(explored: &Explored, report: &CheckReport<'_>) -> Self {
        let plan = report.scenario.faults.len();
        let spaces = &explored.spaces;
        let deepest = spaces.iter().map(|each| each.max_faults).max();
        WireExplored {
            space: report.space(),
            max_faults: deepest.unwrap_or(u8::try_from(plan).unwrap_or(u8::MAX)),
            exhausted: !spaces.is_empty() && spaces.iter().all(|each| each.exhausted),
            spaces: spaces
                .iter()
                .map(|each| WireSpace {
                    space: each.space.versioned(),
                    max_faults: each.max_faults,
                    exhausted: each.exhausted,
                })
                .collect(),
            seeds: format!("{}..{}", explored.seeds.start(), explored.seeds.end()),
            sites: explored.sites,
            faults: explored.faults,
            plans: explored.plans,
            merged: explored.merged,
            levels: report.checked.levels.iter().map(WireLevel::of).collect(),
            digest: explored.digest.to_string(),
        }
    }
}

impl WireLevel {
    const fn of(level: &explore::Level) -> Self {
        WireLevel {
            faults: level.faults,
            plans: level.plans,
            merged: level.merged,
            failing: level.failing,
        }
    }
}

impl<'a> WireExample<'a> {
    fn of(execution: &'a Execution<'a>, survivors: Option<&'a Survivors>) -> Self {
        let judgement = execution.judgement;
        WireExample {
            plan: WireFault::of_all(execution),
            seed: execution.seed,
            token: execution.token,
            verdict: judgement.verdict.name(),
            layer: judgement.layer.as_ref().map(ToString::to_string),
            faults: execution.plan.faults.len(),
            sentence: why(execution),
            trace_hash: execution.trace_hash.to_string(),
            survivors: survivors
                .map(|survivors| WireSurvivor::all(survivors, &execution.history.cast)),
        }
    }
}

impl Timing {
    fn of(elapsed: Duration, plans: u64) -> Self {
        let elapsed_s = (elapsed.as_secs_f64() * 1_000.0).round() / 1_000.0;
        Timing {
            elapsed_s,
            plans_per_s: (plans as f64 / elapsed.as_secs_f64().max(0.001)).round(),
        }
    }
}

fn cell((at, took_effect): (FaultCell, u64)) -> Cell {
    Cell {
        kind: at.kind.name(),
        step: scheduler::steps::by_number(at.step).map_or("?", |step| step.name),
        took_effect,
    }
}
