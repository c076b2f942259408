//! How many threads explore.

use super::failure::Failure;
use rayon::ThreadPool;

/// The threads of one command: so many, or as many as there are cores.
pub fn pool(jobs: Option<u16>) -> Result<ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0).into())
        .build()
        .map_err(|error| Failure::Machine(format!("threads cannot be started: {error}")))
}
