//! Why it came out that way: one sentence, from the events and identifiers of one slot.
//!
//! For each verdict and layer there is a template that names instances, times and the last fault;
//! one file for each kind of verdict. The templates are read by people who have just been told
//! that a job ran twice, so they say what happened, not what the simulator did.

mod causes;
mod duplicate;
mod fired;
mod missing;
mod outbox;
mod past;
mod story;
#[cfg(test)]
mod tests;
mod unsettled;

use super::Execution;
use evidence::{SlotVerdict, Verdict};
use story::Story;

/// The sentence.
pub fn why(execution: &Execution<'_>) -> String {
    match execution.told() {
        Some(told) => {
            let sentence = of_slot(execution, told);
            // Causes begin with a name or with "the".
            capitalised_unless_name(execution, sentence)
        }
        None => "No slot was due and nothing happened.".to_owned(),
    }
}

fn of_slot(execution: &Execution<'_>, told: &SlotVerdict) -> String {
    let story = Story::of(execution, told);
    match told.verdict {
        Verdict::Duplicate => duplicate::why(&story),
        Verdict::Phantom => unsettled::phantom(&story),
        Verdict::Lost => missing::lost(&story),
        Verdict::Stuck => missing::stuck(&story),
        Verdict::GaveUp => missing::gave_up(&story),
        Verdict::Misrecorded => unsettled::misrecorded(&story),
        Verdict::Unfinished => unsettled::unfinished(&story),
        Verdict::NoProgress => unsettled::no_progress(&story),
        Verdict::StaleEffect => duplicate::stale_effect(&story),
        Verdict::Overlap => duplicate::overlap(&story),
        Verdict::Early => unsettled::early(&story),
        Verdict::Late => unsettled::late(&story),
        Verdict::Skipped => unsettled::skipped(&story),
        Verdict::ExactlyOnce => unsettled::exactly_once(&story),
    }
}

/// A sentence begins with a capital, but `executor-1` is spelled as it is spelled.
fn capitalised_unless_name(execution: &Execution<'_>, sentence: String) -> String {
    let cast = &execution.history.cast;
    let named = cast.instances.iter().map(|name| name.as_ref());
    let named = named.chain(cast.timers.iter().map(|timer| timer.as_str()));
    let messages =
        sentence.starts_with('m') && sentence[1..].starts_with(|c: char| c.is_ascii_digit());
    if messages || named.into_iter().any(|name| sentence.starts_with(name)) {
        return sentence;
    }
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => sentence,
    }
}
