//! What real servers did, step by step, is what the models do.
//!
//! `cargo test vectors` replays the vectors of this folder. `RUNKEY_VECTORS=DIR cargo test vectors`
//! replays another folder of the same format, and prints a line for each vector.

mod broker;
mod format;
mod report;

use format::{Vector, vectors_of};
use report::Outcome;

/// Replays one vector on the model of its server.
type Replay = fn(&Vector) -> Outcome;

/// The model that stands for each server.
const MODELS: [(&str, Replay); 2] = [("nats", broker::nats), ("rabbitmq", broker::rabbitmq)];

/// The folder to replay, and whether it is another one than this.
fn folder() -> (std::path::PathBuf, bool) {
    match std::env::var_os("RUNKEY_VECTORS") {
        Some(folder) => (folder.into(), true),
        None => {
            let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            let root = package.join("tests/vectors");
            let here = if root.is_dir() {
                root
            } else {
                package.join("../tests/vectors")
            };
            (here, false)
        }
    }
}

#[test]
fn the_models_agree_with_the_vectors_of_real_servers() {
    use std::io::Write;
    let (folder, told) = folder();
    let mut counts = [0_usize; 3];
    let mut disagreements = Vec::new();
    for vector in vectors_of(&folder) {
        let Some((_, replay)) = MODELS.iter().find(|(name, _)| *name == vector.server) else {
            continue;
        };
        let outcome = replay(&vector);
        if told {
            // Not captured by the test harness: the lines are what was asked for.
            let _ = writeln!(std::io::stdout(), "vector {} {outcome}", vector.id);
        }
        match outcome {
            Outcome::Agreed => counts[0] += 1,
            Outcome::Disagreed { .. } => {
                counts[1] += 1;
                disagreements.push(format!("{} {outcome}", vector.id));
            }
            Outcome::OutOfScope { .. } => counts[2] += 1,
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let _ = counts;
}

#[test]
fn the_models_agree_with_what_was_recorded_beside_the_vectors() {
    let recorded = folder().0.join("recorded");
    if !recorded.is_dir() {
        return;
    }
    let disagreements = vectors_of(&recorded).into_iter().filter_map(|vector| {
        let (_, replay) = MODELS.iter().find(|(name, _)| *name == vector.server)?;
        let outcome = replay(&vector);
        (outcome != Outcome::Agreed).then(|| format!("{} {outcome}", vector.id))
    });
    let disagreements: Vec<String> = disagreements.collect();
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}
