//! One margin as a program reads it.

use super::WireFault;
use crate::report::margin::ends;
use crate::report::{Execution, MarginReport, why};
use explore::margin::Margin;
use serde::Serialize;

/// A result of `margin`.
#[derive(Serialize)]
pub(in crate::report) struct MarginResult<'a> {
    scenario: &'a str,
    of: String,
    /// Null where values go one way only.
    direction: Option<&'static str>,
    /// What the scenario says; null where it says no one value.
    own_ms: Option<i64>,
    under: String,
    sentence: String,
    /// Null where nothing was asked.
    monotone: Option<bool>,
    changes: Vec<Change>,
    asked: Option<Asked>,
    seeds: String,
    plans: u64,
    points: Vec<Point>,
    example: Option<Example<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
}

/// Between two values that are 1 ms apart.
#[derive(Serialize)]
struct Change {
    last_ms: i64,
    before: &'static str,
    first_ms: i64,
    after: &'static str,
}

#[derive(Serialize)]
struct Asked {
    from_ms: i64,
    to_ms: i64,
    /// False where there are more changes than were looked at.
    finished: bool,
}

#[derive(Serialize)]
struct Point {
    value_ms: i64,
    verdict: &'static str,
    failure: bool,
}

#[derive(Serialize)]
struct Example<'a> {
    value_ms: i64,
    plan: Vec<WireFault<'a>>,
    seed: u64,
    /// Null where the scenario has to be changed before it can be replayed.
    token: Option<&'a str>,
    verdict: &'static str,
    layer: Option<String>,
    sentence: String,
    trace_hash: String,
}

#[derive(Serialize)]
struct Timing {
    elapsed_s: f64,
}

impl<'a> MarginResult<'a> {
    pub fn of(report: &'a MarginReport<'a>) -> Self {
        let margin = report.margin;
        let curve = margin.curve.as_ref();
        MarginResult {
            scenario: &report.scenario.name,
            of: margin.dimension.of.to_string(),
            direction: margin.dimension.way.name(),
            own_ms: margin.own_ms,
            under: report.under(),
            sentence: report.sentence(),
            monotone: curve.map(|curve| curve.is_monotone()),
            changes: changes(margin),
            asked: curve.map(|curve| {
                let [from_ms, to_ms] = ends(curve).map(|value| margin.signed(value));
                Asked {
                    from_ms,
                    to_ms,
                    finished: !curve.is_unfinished(),
                }
            }),
            seeds: report.seeds.to_string(),
            plans: margin.plans,
            points: points(margin),
            example: report.example.as_ref().map(|(value, execution)| {
                let value_ms = margin.signed(*value);
                Example::of(value_ms, execution)
            }),
            timing: report.elapsed.map(|elapsed| Timing {
                elapsed_s: (elapsed.as_secs_f64() * 1_000.0).round() / 1_000.0,
            }),
        }
    }
}

fn changes(margin: &Margin) -> Vec<Change> {
    let stretches = margin.curve.iter().flat_map(|curve| curve.stretches());
    let stretches: Vec<_> = stretches.collect();
    let pairs = stretches.iter().zip(stretches.iter().skip(1));
    pairs
        .map(|(one, next)| Change {
            last_ms: margin.signed(one.to),
            before: one.last.verdict.name(),
            first_ms: margin.signed(next.from),
            after: next.first.verdict.name(),
        })
        .collect()
}

fn points(margin: &Margin) -> Vec<Point> {
    let points = margin.curve.iter().flat_map(|curve| curve.points());
    points
        .map(|(value, answer)| Point {
            value_ms: margin.signed(value),
            verdict: answer.verdict.name(),
            failure: answer.failure,
        })
        .collect()
}

impl<'a> Example<'a> {
    fn of(value_ms: i64, execution: &'a Execution<'a>) -> Self {
        let judgement = execution.judgement;
        Example {
            value_ms,
            plan: WireFault::of_all(execution),
            seed: execution.seed,
            token: execution.token,
            verdict: judgement.verdict.name(),
            layer: judgement.layer.as_ref().map(ToString::to_string),
            sentence: why(execution),
            trace_hash: execution.trace_hash.to_string(),
        }
    }
}
