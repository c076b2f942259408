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
        let start = Barrier::new(self.threads);
        let ran: Vec<Ran> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let (claimant, start, runs) = (&*claimant, &start, part(thread));
                    scope.spawn(move || {
                        start.wait();
                        self.claim_all(claimant, thread, runs)
                    })
                })
                .collect();
            let ran = threads.into_iter().map(|thread| thread.join());
            ran.map(|ran| ran.expect("no claim panics")).collect()
        });
        // From the first claim of any thread to the last, as the threads themselves saw it: the one
        // that waits for them may be kept off its core.
        let began = ran.iter().map(|ran| ran.began).min();
        let ended = ran.iter().map(|ran| ran.ended).max();
        let took = ended.zip(began).map(|(ended, began)| ended - began);
        let let_in: usize = ran.iter().map(|ran| ran.let_in).sum();
        let claims = share * self.threads;
        let expected = if self.contended && candidate.lets_in_one {
            share
        } else {
            claims
        };
        assert_eq!(let_in, expected, "{}, {}", candidate.name, self.title());
        claims as f64 / took.unwrap_or_default().as_secs_f64()
    }

    fn claim_all(&self, claimant: &dyn Claimant, thread: usize, runs: &[Ids]) -> Ran {
        let finishes = !self.contended;
        // Tokens are never 0 and never used twice.
        let tokens = 1 + (thread as u64) * runs.len() as u64..;
        let began = Instant::now();
        let let_in = runs
            .iter()
            .zip(tokens)
            .filter(|(run, token)| claimant.claim(run, *token, finishes))
            .count();
        Ran {
            let_in,
            began,
            ended: Instant::now(),
        }
    }
}

/// What one thread did.
struct Ran {
    /// How many of its claims were let in.
    let_in: usize,
    began: Instant,
    ended: Instant,
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
