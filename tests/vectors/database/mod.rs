//! Replaying the vectors of databases.
//!
//! ```text
//! Vector -- rename --> Vector -- plan (front_end) --> Plan -- races (run, judge) --> Outcome
//! ```
//!
//! A vector's SQL is translated as a whole before anything runs: what cannot be said in the port's
//! words is out of scope, with the kind of statement as the reason. Then the plan is run in every
//! order in which the model says that the server may race.

mod front_end;
mod judge;
mod plan;
mod races;
mod rename;
mod run;

use crate::format::Vector;
use crate::report::Outcome;
use servers::database::Flavor;

/// The seed of the names in the default run.
const SEED: u64 = 4;

/// Replays a vector of PostgreSQL.
pub fn postgresql(vector: &Vector) -> Outcome {
    replay(Flavor::Postgres, vector, SEED)
}

/// Replays a vector of MariaDB.
pub fn mariadb(vector: &Vector) -> Outcome {
    replay(Flavor::MariaDb, vector, SEED)
}

/// Replays a vector under names that the seed makes.
pub fn replay(flavor: Flavor, vector: &Vector, seed: u64) -> Outcome {
    let renamed = rename::renamed(flavor, vector, seed);
    match plan::plan(flavor, &renamed.vector) {
        Ok(plan) => match races::outcome(&plan) {
            Outcome::Disagreed { step, why } => Outcome::Disagreed {
                step,
                why: renamed.in_old_names(&why),
            },
            outcome => outcome,
        },
        Err(plan::Unplanned::OutOfScope(reason)) => Outcome::OutOfScope { reason },
        Err(plan::Unplanned::NotRead { step, why }) => Outcome::Disagreed { step, why },
    }
}

/// Whether the model can do what a server did once.
#[cfg(feature = "live")]
pub fn possible(flavor: Flavor, vector: &Vector) -> Outcome {
    match plan::plan(flavor, vector) {
        Ok(plan) => races::possible(&plan),
        Err(plan::Unplanned::OutOfScope(reason)) => Outcome::OutOfScope { reason },
        Err(plan::Unplanned::NotRead { step, why }) => Outcome::Disagreed { step, why },
    }
}

/// Where a vector of a database stops agreeing, under names that the seed makes. (What is told
/// there has the texts in it, which have other letters.)
pub fn replay_named(vector: &Vector, seed: u64) -> Option<usize> {
    let flavor = match vector.server.as_str() {
        "postgresql" => Flavor::Postgres,
        "mariadb" => Flavor::MariaDb,
        _ => return None,
    };
    match replay(flavor, vector, seed) {
        Outcome::Disagreed { step, .. } => Some(step),
        Outcome::Agreed | Outcome::OutOfScope { .. } => None,
    }
}
