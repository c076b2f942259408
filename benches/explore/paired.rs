//! Ratios that survive a machine on which others are at work.
//!
//! The contestants take turns in short rounds, so that what slows one down slows down its
//! neighbours too. Each round gives one ratio of two contestants, and the median of the rounds is the
//! answer: half of the rounds may be disturbed without moving it far.

use std::time::{Duration, Instant};

/// Executes so many, from this seed on.
pub type Contestant<'a> = &'a dyn Fn(u64, u64);

/// How long each contestant took, by contestant and round.
pub struct Rounds(pub Vec<Vec<Duration>>);

/// One contestant's throughput, relative to another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median of the rounds.
    pub median: f64,
    /// A quarter of the rounds are below.
    pub lower: f64,
    /// A quarter of the rounds are above.
    pub upper: f64,
}

/// Lets the contestants take turns, `executions` at a time, all with the same seeds.
pub fn race(rounds: u64, executions: u64, contestants: &[Contestant<'_>]) -> Rounds {
    let mut took = vec![Vec::new(); contestants.len()];
    for round in 0..rounds {
        for turn in 0..contestants.len() {
            // Another one begins each round: nobody always comes after the same one.
            let place = (turn + round as usize) % contestants.len();
            let began = Instant::now();
            contestants[place](round * executions, executions);
            took[place].push(began.elapsed());
        }
    }
    Rounds(took)
}

impl Rounds {
    /// The throughput of one contestant relative to that of another.
    pub fn ratio(&self, own: usize, other: usize) -> Ratio {
        let rounds = self.0[own].iter().zip(&self.0[other]);
        let mut ratios: Vec<f64> = rounds
            .map(|(own, other)| other.as_secs_f64() / own.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |quarters: usize| ratios[(ratios.len() - 1) * quarters / 4];
        Ratio {
            median: at(2),
            lower: at(1),
            upper: at(3),
        }
    }
}
