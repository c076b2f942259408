//! How each scenario of a check ended.

use super::failure::Failure;
use crate::exit::Exit;
use explore::Met;

/// Notes how a scenario ended; says whether the next one's turn comes.
pub fn note_end(ended: Result<Exit, Failure>, all: &mut Vec<Exit>) -> bool {
    let (exit, goes_on) = match ended {
        Ok(exit) => (exit, true),
        Err(failure) if failure.is_broken_pipe() => (Exit::Inconclusive, false),
        Err(failure) => (failure.tell(), true),
    };
    all.push(exit);
    goes_on
}

/// How a check ends by what was found.
pub fn exit_of(met: &Met) -> Exit {
    match met {
        Met::Yes => Exit::Holds,
        Met::No(_) => Exit::DoesNotHold,
        Met::Inconclusive(_) => Exit::Inconclusive,
    }
}
