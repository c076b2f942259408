//! How soon is a known bug found? Every scenario of the catalogue that breaks is one; each way of
//! searching looks for it, many times with other draws, and what it took is counted.
//!
//! ```text
//! cargo run --release -p runkey-explore --example calibrate [tries]
//! ```
//!
//! Prints the tables of `docs/calibration.md`. Nothing in them depends on the machine.

mod bugs;
mod rank;

use bugs::{Bug, LIMIT};
use rank::{Rank, Scores};
use rayon::prelude::*;
use runkey_explore::{ExploreError, LIKELY_FIRST};
use std::error::Error;

/// How often each way looks for each bug.
const TRIES: u64 = 50;

/// Up to which number of executions a rate is told.
const AT: [u64; 3] = [100, 1_000, LIMIT];

/// A way of searching.
#[derive(Clone, Copy)]
enum Way {
    Random,
    Swarm,
    /// Level by level, as the exploration does, in canonical order.
    Canonical,
    /// Level by level; within a level the kinds in the order of [`LIKELY_FIRST`].
    LikelyFirst,
    /// Level by level; within a level the kinds that found most of the other bugs first.
    KindsOfOthers,
    /// Level by level; the same of kinds at steps.
    CellsOfOthers,
}

const WAYS: [(Way, &str); 6] = [
    (Way::Random, "random"),
    (Way::Swarm, "swarm"),
    (Way::Canonical, "canonical"),
    (Way::LikelyFirst, "likely first"),
    (Way::KindsOfOthers, "kinds of others"),
    (Way::CellsOfOthers, "cells of others"),
];

/// For one bug: by way, and by try, how many executions it took; `None`: more than the limit.
type Tries = Vec<Vec<Option<u64>>>;

fn main() -> Result<(), Box<dyn Error>> {
    let tries = match std::env::args().nth(1) {
        Some(typed) => typed.parse()?,
        None => TRIES,
    };
    let bugs = Bug::all()?;
    let scores: Vec<Scores> = bugs
        .par_iter()
        .map(Scores::of)
        .collect::<Result<_, ExploreError>>()?;
    let found: Vec<Tries> = (0..bugs.len())
        .into_par_iter()
        .map(|which| tries_of(&bugs, &scores, which, tries))
        .collect::<Result<_, ExploreError>>()?;
    let by_itself: Vec<bool> = bugs.iter().map(|bug| bug.faults_needed == 0).collect();
    let needing: Vec<&Tries> = found
        .iter()
        .zip(&by_itself)
        .filter_map(|(tries, by_itself)| (!by_itself).then_some(tries))
        .collect();
    println!(
        "{} bugs, {} of which need a fault; {tries} tries each.\n",
        bugs.len(),
        needing.len()
    );
    rates(&needing);
    each(&bugs, &found);
    kinds(&scores);
    Ok(())
}

fn tries_of(
    bugs: &[Bug],
    scores: &[Scores],
    which: usize,
    tries: u64,
) -> Result<Tries, ExploreError> {
    let bug = &bugs[which];
    let of_others = scores.iter().enumerate();
    let of_others: Vec<&Scores> = of_others
        .filter_map(|(other, scores)| (other != which).then_some(scores))
        .collect();
    let by_kind = Rank::by_kind(&of_others);
    let by_cell = Rank::by_cell(&of_others);
    let likely = Rank::of_kinds(&LIKELY_FIRST);
    let one = |way: Way, number: u64| match way {
        Way::Random => bug.random(number),
        Way::Swarm => bug.swarm(number),
        Way::Canonical => bug.in_order(number, None),
        Way::LikelyFirst => bug.in_order(number, Some(&likely)),
        Way::KindsOfOthers => bug.in_order(number, Some(&by_kind)),
        Way::CellsOfOthers => bug.in_order(number, Some(&by_cell)),
    };
    WAYS.iter()
        .map(|(way, _)| (0..tries).map(|number| one(*way, number)).collect())
        .collect()
}

/// Of all tries of bugs that need a fault, how many found it in time.
fn rates(needing: &[&Tries]) {
    println!("| way | {} |", AT.map(|at| format!("{at}")).join(" | "));
    println!("|---|{}", "---|".repeat(AT.len()));
    for (place, (_, name)) in WAYS.iter().enumerate() {
        let all: Vec<Option<u64>> = needing
            .iter()
            .flat_map(|tries| tries[place].iter().copied())
            .collect();
        let cells = AT.map(|at| {
            let hits = all.iter().flatten().filter(|took| **took <= at).count();
            let (low, high) = wilson(hits, all.len());
            let rate = hits as f64 / all.len() as f64;
            format!(
                "{:.1} % ({:.1} to {:.1})",
                100.0 * rate,
                100.0 * low,
                100.0 * high
            )
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// For each bug the median of what it took.
fn each(bugs: &[Bug], found: &[Tries]) {
    let names = WAYS.map(|(_, name)| name);
    println!("\n| bug | faults | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(WAYS.len()));
    for (bug, tries) in bugs.iter().zip(found) {
        let medians: Vec<String> = tries.iter().map(|tries| median(tries)).collect();
        println!(
            "| {} | {} | {} |",
            bug.name,
            bug.faults_needed,
            medians.join(" | ")
        );
    }
}

/// How often one fault of a kind shows a bug, by kind, best first.
fn kinds(scores: &[Scores]) {
    println!("\n| kind | shows a bug, of single faults |");
    println!("|---|---|");
    let all: Vec<&Scores> = scores.iter().collect();
    for (kind, score) in Rank::by_kind(&all).kinds_best_first() {
        println!("| {kind:?} | {:.2} % |", 100.0 * score);
    }
}

/// The median, where it is known: fewer than half of the tries may be beyond the limit.
fn median(tries: &[Option<u64>]) -> String {
    let mut took: Vec<u64> = tries.iter().map(|took| took.unwrap_or(u64::MAX)).collect();
    took.sort_unstable();
    match took[took.len() / 2] {
        u64::MAX => format!("> {LIMIT}"),
        took => took.to_string(),
    }
}

/// The 95 % score interval of a rate (Wilson, "Probable inference, the law of succession, and
/// statistical inference", 1927).
fn wilson(hits: usize, tries: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let (n, p) = (tries as f64, hits as f64 / tries as f64);
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((centre - half) / scale, (centre + half) / scale)
}
