//! Real threads that claim runs as fast as they can.

use crate::claimants::{Candidate, Claimant};
use evidence::{Ids, RunKey, Slot, SlotTag, TimerId, Timestamp, TraceId};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// How many threads, and whether they claim the same runs.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    threads: usize,
    contended: bool,
}

impl Race {
    /// Each thread claims and finishes runs of its own.
    pub const fn fresh(threads: usize) -> Self {
        Race {
            threads,
            contended: false,
        }
    }

    /// All threads claim all runs, in the same order, and nobody gives one back.
    pub const fn contended(threads: usize) -> Self {
        Race {
            threads,
            contended: true,
        }
    }

    pub const fn threads(&self) -> usize {
        self.threads
    }

    pub fn title(&self) -> String {
        match (self.contended, self.threads) {
            (true, threads) => format!("{threads} contend"),
            (false, 1) => "1 thread".to_owned(),
            (false, threads) => format!("{threads} threads"),
        }
    }

    /// Claims per second.
    ///
    /// # Panics
    /// If a run was let in by nobody, or by more than its guard promises.
    pub fn run(&self, candidate: &Candidate, runs: &[Ids]) -> f64 {
        let claimant = (candidate.make)();
        let share = runs.len() / self.threads;
        let part = |thread: usize| {
            let first = if self.contended { 0 } else { thread * share };
            &runs[first..first + share]
        };
        let start = Barrier::new(self.threads + 1);
        let (let_in, took) = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let (claimant, start, runs) = (&*claimant, &start, part(thread));
                    scope.spawn(move || {
                        start.wait();
                        self.claim_all(claimant, thread, runs)
                    })
                })
                .collect();
            start.wait();
            let began = Instant::now();
            let let_in: usize = threads
                .into_iter()
                .map(|thread| thread.join().expect("no claim panics"))
                .sum();
            (let_in, began.elapsed())
        });
        let claims = share * self.threads;
        let expected = if self.contended && candidate.lets_in_one {
            share
        } else {
            claims
        };
        assert_eq!(let_in, expected, "{}, {}", candidate.name, self.title());
        claims as f64 / took.as_secs_f64()
    }

    /// How many of the claims were let in.
    fn claim_all(&self, claimant: &dyn Claimant, thread: usize, runs: &[Ids]) -> usize {
        let finishes = !self.contended;
        // Tokens are never 0 and never used twice.
        let tokens = 1 + (thread as u64) * runs.len() as u64..;
        runs.iter()
            .zip(tokens)
            .filter(|(run, token)| claimant.claim(run, *token, finishes))
            .count()
    }
}

/// So many runs of one timer, a minute apart.
pub fn runs(how_many: usize) -> Vec<Ids> {
    let timer = TimerId::new("report");
    let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    (1..=how_many as u32)
        .map(|ordinal| {
            let scheduled = epoch.plus_ms(i64::from(ordinal) * 60_000);
            Ids {
                slot: SlotTag::seal(Slot { timer: 0, ordinal }),
                run: Some(RunKey::new(&timer, scheduled).expect("a short name")),
                trace: Some(TraceId(u64::from(ordinal))),
                delivery: 1,
                ..Ids::default()
            }
        })
        .collect()
}
