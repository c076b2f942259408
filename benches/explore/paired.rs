//! Ratios that survive a machine on which others are at work.
//!
//! The contestants take turns in short rounds, so that what slows one down slows down its
//! neighbours too. Each round gives one ratio to the first contestant, and the median of the rounds
//! is the answer: half of the rounds may be disturbed without moving it far.

use std::time::{Duration, Instant};

/// What is measured: so many executions, from this seed on.
pub type Contestant<'a> = (&'static str, &'a dyn Fn(u64, u64));

/// One contestant's throughput, relative to the first one's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub name: &'static str,
    /// Median of the rounds.
    pub median: f64,
    /// A quarter of the rounds are below.
    pub lower: f64,
    /// A quarter of the rounds are above.
    pub upper: f64,
}

/// Lets the contestants take turns, `executions` at a time.
pub fn ratios(rounds: u64, executions: u64, contestants: &[Contestant<'_>]) -> Vec<Ratio> {
    let mut all = vec![Vec::new(); contestants.len()];
    for round in 0..rounds {
        let mut took = vec![Duration::ZERO; contestants.len()];
        for turn in 0..contestants.len() {
            // Another one begins each round: nobody always comes after the same one.
            let place = (turn + round as usize) % contestants.len();
            let began = Instant::now();
            (contestants[place].1)(round * executions, executions);
            took[place] = began.elapsed();
        }
        for (ratios, own) in all.iter_mut().zip(&took) {
            ratios.push(took[0].as_secs_f64() / own.as_secs_f64());
        }
    }
    let names = contestants.iter().map(|(name, _)| *name);
    names
        .zip(all)
        .map(|(name, ratios)| Ratio::of(name, ratios))
        .collect()
}

impl Ratio {
    /// From the ratios of the rounds.
    pub fn of(name: &'static str, mut rounds: Vec<f64>) -> Self {
        rounds.sort_by(f64::total_cmp);
        let at = |quarters: usize| rounds[(rounds.len() - 1) * quarters / 4];
        Ratio {
            name,
            median: at(2),
            lower: at(1),
            upper: at(3),
        }
    }
}
