//! A case that shows a difference, made as small as it can be while it still does.

use super::cases::Case;

/// Leaves out what is not needed: statements, then rows of the setup, again and again.
pub fn smallest(case: &Case, mut shows: impl FnMut(&Case) -> bool) -> Case {
    let mut small = case.clone();
    loop {
        let before = small.steps.len() + small.setup.len();
        for at in (0..small.steps.len()).rev() {
            let mut fewer = small.clone();
            fewer.steps.remove(at);
            if shows(&fewer) {
                small = fewer;
            }
        }
        // The first statement of the setup makes the table.
        for at in (1..small.setup.len()).rev() {
            let mut fewer = small.clone();
            fewer.setup.remove(at);
            if shows(&fewer) {
                small = fewer;
            }
        }
        if small.steps.len() + small.setup.len() == before {
            return without_idle_sessions(small);
        }
    }
}

/// Sessions that say nothing are not there.
fn without_idle_sessions(mut case: Case) -> Case {
    for at in (0..case.sessions.len()).rev() {
        if case.steps.iter().all(|(session, _)| *session != at) {
            case.sessions.remove(at);
            for (session, _) in &mut case.steps {
                *session -= usize::from(*session > at);
            }
        }
    }
    case
}
