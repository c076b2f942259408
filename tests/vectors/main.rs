//! What real servers did, step by step, is what the models do.
//!
//! `cargo test vectors` replays the vectors of this folder. `RUNKEY_VECTORS=DIR cargo test vectors`
//! replays another folder of the same format, and prints a line for each vector.

#[cfg(feature = "broken")]
mod broken;
mod broker;
mod counts;
mod database;
mod dice;
mod folders;
mod format;
#[cfg(feature = "live")]
mod live;
mod lock;
mod report;
mod wrong;

use counts::Counts;
use format::{NotVectors, Vector, vectors_of};
use report::Outcome;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Replays one vector on the model of its server.
type Replay = fn(&Vector) -> Outcome;

/// The model that stands for each server.
const MODELS: [(&str, Replay); 5] = [
    ("mariadb", database::mariadb),
    ("nats", broker::nats),
    ("postgresql", database::postgresql),
    ("rabbitmq", broker::rabbitmq),
    ("redis", lock::replay),
];

/// What a vector's server does with it; nothing, where it has no model yet.
fn replay(vector: &Vector) -> Option<Outcome> {
    let (_, replay) = MODELS.iter().find(|(name, _)| *name == vector.server)?;
    Some(replay(vector))
}

/// The vectors of this project, whichever package they are a test of.
fn own_folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.join("tests/vectors");
    if root.is_dir() {
        root
    } else {
        package.join("../tests/vectors")
    }
}

/// What a folder came to.
struct Replayed {
    counts: Counts,
    disagreements: Vec<String>,
}

/// Replays a folder. `tell` gets a line for each vector.
fn replay_folder(folder: &Path, mut tell: impl FnMut(&str)) -> Result<Replayed, NotVectors> {
    let mut replayed = Replayed {
        counts: Counts::default(),
        disagreements: Vec::new(),
    };
    for vector in vectors_of(folder)? {
        let Some(outcome) = replay(&vector) else {
            let reason = format!("there is no model of {}", vector.server);
            tell(&format!("vector {} out-of-scope: {reason}", vector.id));
            continue;
        };
        tell(&format!("vector {} {outcome}", vector.id));
        replayed.counts.add(&vector, &outcome);
        if let Outcome::Disagreed { .. } = outcome {
            let line = format!("vector {} {outcome}", vector.id);
            replayed.disagreements.push(line);
        }
    }
    Ok(replayed)
}

#[test]
fn the_models_agree_with_the_vectors_of_real_servers() {
    let asked = std::env::var_os("RUNKEY_VECTORS").map(PathBuf::from);
    let folder = asked.clone().unwrap_or_else(own_folder);
    let replayed = replay_folder(&folder, |line| {
        if asked.is_some() {
            // Not captured by the test harness: the lines are what was asked for.
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    });
    let replayed = replayed.unwrap_or_else(|NotVectors(why)| panic!("{why}"));
    if asked.is_some() {
        let _ = write!(std::io::stdout(), "{}", replayed.counts);
    }
    let disagreements = replayed.disagreements;
    let count = disagreements.len();
    assert!(
        count == 0,
        "{count} disagree:\n{}",
        disagreements.join("\n")
    );
    if asked.is_none() {
        assert_eq!(replayed.counts.to_string(), counts::EXPECTED);
    }
}

/// Differences that the check on live servers once found, each shrunk to a vector.
#[test]
fn what_the_live_check_has_found_agrees_now() {
    let folder = own_folder().join("found");
    if !folder.is_dir() {
        return;
    }
    let replayed = replay_folder(&folder, |_| {});
    let replayed = replayed.unwrap_or_else(|NotVectors(why)| panic!("{why}"));
    let disagreements = replayed.disagreements;
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

#[test]
fn other_names_make_no_difference() {
    let vectors = vectors_of(&own_folder()).expect("the vectors of this project");
    for vector in &vectors {
        let under = |seed| database::replay_named(vector, seed);
        let first = under(1);
        assert!(under(2) == first && under(3) == first, "{}", vector.id);
    }
}

#[test]
fn the_models_agree_with_vectors_that_were_recorded_since() {
    let recorded = own_folder().join("recorded");
    let replayed = replay_folder(&recorded, |_| {}).expect("it is a folder");
    let disagreements = replayed.disagreements;
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}
