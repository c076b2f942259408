//! Ratios that survive a machine on which others are at work.
//!
//! The contestants take turns in short rounds, with the same seeds. Whoever is disturbed is only ever
//! slower: the fastest turn of each is the one that tells of it alone. What is expected of a busy
//! machine is told by the median of the rounds' own ratios, each of two turns that were neighbours.

use std::time::{Duration, Instant};

/// Executes so many, from this seed on.
pub type Contestant<'a> = &'a dyn Fn(u64, u64);

/// How long each contestant took, by contestant and round.
pub struct Rounds(pub Vec<Vec<Duration>>);

/// One contestant's throughput, relative to another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// From the fastest turn of each.
    pub fastest: f64,
    /// Median of the rounds.
    pub median: f64,
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
        let (own, other) = (&self.0[own], &self.0[other]);
        let ratio = |own: &Duration, other: &Duration| other.as_secs_f64() / own.as_secs_f64();
        let fastest = own.iter().min().zip(other.iter().min());
        let mut rounds: Vec<f64> = own
            .iter()
            .zip(other)
            .map(|(own, other)| ratio(own, other))
            .collect();
        rounds.sort_by(f64::total_cmp);
        Ratio {
            fastest: fastest.map_or(f64::NAN, |(own, other)| ratio(own, other)),
            median: rounds
                .get(rounds.len() / 2)
                .map_or(f64::NAN, |ratio| *ratio),
        }
    }
}
