//! The models beside live servers: random interleavings, run on both.
//!
//! ```text
//! cargo test --release --features live --test vectors live -- --nocapture
//! ```
//!
//! `RUNKEY_LIVE_CASES` (60 for each server and level) and `RUNKEY_LIVE_SEED` (1) say how many and
//! which; the cases of a seed are the same everywhere. A difference that comes again is made
//! smaller and kept in `tests/vectors/found/`.

mod cases;
mod client;
mod record;
mod shrink;

use crate::format::Vector;
use crate::report::Outcome;
use crate::{database, own_folder};
use cases::{Case, Level, case, levels};
use record::Live;
use servers::database::Flavor;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many databases are worked with at once: a case waits more than it works.
const WORKERS: usize = 6;

/// A number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
        Err(_) => default,
    }
}

/// What the model says to what a server did; `None`: it can do the same.
fn difference(live: &mut Live, case: &Case) -> Option<(serde_json::Value, String)> {
    let recorded = match live.record(case) {
        Ok(recorded) => recorded,
        Err(why) => panic!("{}: {why}", case.id),
    };
    let vector: Vector = match serde_json::from_value(recorded.clone()) {
        Ok(vector) => vector,
        Err(why) => panic!("{}: it is not of the format: {why}", case.id),
    };
    match database::possible(case.flavor, &vector) {
        Outcome::Agreed => None,
        other => Some((recorded, other.to_string())),
    }
}

/// How often a difference is looked at again: what a server does once in a while only, for reasons
/// that no client can see, is told but not kept.
const AGAIN: usize = 2;

/// A difference, made small.
struct Found {
    id: String,
    vector: serde_json::Value,
    why: String,
}

/// Runs the cases of these seeds at a level. `begin`: what a worker does first.
fn check(flavor: Flavor, level: Level, seeds: Range<u64>, begin: fn()) -> Vec<Found> {
    let next = AtomicU64::new(seeds.start);
    let found = Mutex::new(Vec::new());
    let work = || {
        begin();
        let mut live = Live::open(flavor).unwrap_or_else(|why| panic!("{why}"));
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            let case = case(flavor, level, seed);
            let Some((_, why)) = difference(&mut live, &case) else {
                continue;
            };
            match comes_again(&mut live, &case) {
                None => println!("{} once, not again: {why}", case.id),
                Some(again) => {
                    println!("{}: {}", again.id, again.why);
                    if let Ok(mut found) = found.lock() {
                        found.push(again);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_default()
}

/// A difference that is there each time, made small.
fn comes_again(live: &mut Live, case: &Case) -> Option<Found> {
    for _ in 0..AGAIN {
        difference(live, case)?;
    }
    let small = shrink::smallest(case, |case| difference(live, case).is_some());
    let (vector, why) = difference(live, &small)?;
    Some(Found {
        id: case.id.clone(),
        vector,
        why,
    })
}

/// Keeps a vector that the model has to learn from.
fn keep(id: &str, vector: &serde_json::Value) {
    let folder = own_folder().join("found");
    let file = serde_json::json!({"vectors": [vector]});
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(format!("{id}.json")), text + "\n"));
    if let Err(error) = written {
        println!("{id} could not be kept: {error}");
    }
}

fn check_all(flavor: Flavor) {
    let (cases, seed) = (
        number("RUNKEY_LIVE_CASES", 60),
        number("RUNKEY_LIVE_SEED", 1),
    );
    let mut whys = Vec::new();
    for level in levels(flavor) {
        let found = check(flavor, *level, seed..seed + cases, || {});
        println!(
            "{flavor:?} {}: {cases} interleavings from seed {seed}, {} differences",
            level.name,
            found.len()
        );
        for found in found {
            keep(&found.id, &found.vector);
            whys.push(format!("{}: {}", found.id, found.why));
        }
    }
    assert!(whys.is_empty(), "{}", whys.join("\n"));
}

#[test]
fn live_postgresql_does_nothing_that_the_model_does_not() {
    check_all(Flavor::Postgres);
}

#[test]
fn live_mariadb_does_nothing_that_the_model_does_not() {
    check_all(Flavor::MariaDb);
}

/// What would the check be worth that finds nothing in a model that is wrong?
#[cfg(feature = "broken")]
#[test]
fn live_servers_show_a_model_that_is_broken_on_purpose() {
    use servers::broken::{Broken, set};
    let [read_committed, ..] = levels(Flavor::Postgres) else {
        panic!("it has levels");
    };
    let begin = || set(Some(Broken::PostgresNoWaitOnKey));
    let found = check(Flavor::Postgres, *read_committed, 1..31, begin);
    assert!(!found.is_empty());
}
