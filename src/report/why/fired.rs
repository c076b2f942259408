//! Why one slot became two runs.

use super::missing::because;
use super::past::{key_in_words, own_key_each, spoken};
use super::story::{Story, Two, at, message};
use evidence::{Event, What};
use scenarios::spec::FaultKind;
use scheduler::Span;
use scheduler::dispatch::{ClaimConfig, LockRowClaimConfig, LockedRow, Order, ReadsFrom};
use scheduler::effects::ProtectionConfig;
use scheduler::guards::GuardConfig;

pub(super) fn twice(story: &Story<'_>, two: &Two<'_>) -> String {
    let slot = story.slot();
    let traces = [two.first.ids.trace, two.second.ids.trace];
    let fired = |event: &&&Event| event.what == What::Fired && traces.contains(&event.ids.trace);
    let mut fired = story.events.iter().copied().filter(|event| fired(&event));
    let (Some(one), Some(other)) = (fired.next(), fired.next()) else {
        return format!("{slot} became two runs.");
    };
    let cause = story.cause_before(two.second);
    if one.instance == other.instance {
        return by_one(story, two, [one, other]);
    }
    if let Some(told) = rolled_back(story, [one, other]) {
        return told;
    }
    let who = [story.who(one), story.who(other)];
    let both = match one.at == other.at {
        true => format!(
            "{} and {} both fired {slot} at {}",
            who[0],
            who[1],
            at(one.at)
        ),
        false => format!(
            "{} fired {slot} at {} and {} at {}",
            who[0],
            at(one.at),
            who[1],
            at(other.at)
        ),
    };
    format!(
        "{}{both}; {}{}, so both ran.",
        because(cause),
        past_claim(story, [one, other]),
        past_guard(story, two)
    )
}

/// One instance fired the slot and fired it again.
fn by_one(story: &Story<'_>, two: &Two<'_>, [one, other]: [&Event; 2]) -> String {
    let (slot, who) = (story.slot(), story.who(one));
    if let Some((fault, strike)) = story.faults_before(two.second).next() {
        let cause = story.cause(fault, strike);
        return format!(
            "{who} had fired {slot} at {}; {}, and at {} it fired the slot again as a new run{}.",
            at(one.at),
            story.cause_of(who, &cause),
            at(other.at),
            past_guard(story, two).replacen(", and", ":", 1)
        );
    }
    let timers = story.execution.scenario.timers_at_work();
    match timers.get(usize::from(story.told.slot.timer)) {
        Some(timer) if timer.registrations > 1 && one.at == other.at => format!(
            "{} is registered {} times in {who}, and each registration fired {slot} at {}{}.",
            timer.id,
            timer.registrations,
            at(one.at),
            past_guard(story, two)
        ),
        _ => format!(
            "{who} fired {slot} twice, at {} and at {}{}.",
            at(one.at),
            at(other.at),
            past_guard(story, two)
        ),
    }
}

/// The first claim was undone together with its transaction, but its message was out.
fn rolled_back(story: &Story<'_>, fired: [&Event; 2]) -> Option<String> {
    let dispatch = &story.execution.scenario.dispatch;
    if dispatch.order != Order::OneTransaction || dispatch.claim == ClaimConfig::None {
        return None;
    }
    let [one, other] = claims(story, fired)?;
    let between = |event: &&&Event| event.at >= one.at && event.at <= other.at;
    let own = |event: &&&Event| event.ids.trace == one.ids.trace;
    let mut own = story.events.iter().filter(between).filter(own);
    let out = own.find(|event| event.what == What::Published)?;
    if own.any(|event| event.what == What::Advanced) {
        return None;
    }
    let (fault, strike) = story.faults_before(other).next()?;
    // It is committed, and only the answer is missing.
    if fault.kind == FaultKind::LoseReply && strike.step.name == "dispatch.advance" {
        return None;
    }
    Some(format!(
        "{} after {} was out: the claim was rolled back with it, the message was not, so at {} {} \
         claimed {} as well.",
        story.cause(fault, strike),
        message(out),
        at(other.at),
        story.who(other),
        story.slot()
    ))
}

/// The claims of the two runs, in order.
fn claims<'a>(story: &Story<'a>, [one, other]: [&Event; 2]) -> Option<[&'a Event; 2]> {
    let claim = |of: &Event| {
        let mut events = story.events.iter().copied();
        events.find(|event| event.what == What::Claimed && event.ids.trace == of.ids.trace)
    };
    let mut claims = [claim(one)?, claim(other)?];
    claims.sort_by_key(|claim| claim.at);
    Some(claims)
}

/// Why the claim made neither give way.
fn past_claim(story: &Story<'_>, fired: [&Event; 2]) -> String {
    let [one, other] = fired;
    match (
        &story.execution.scenario.dispatch.claim,
        claims(story, fired),
    ) {
        (ClaimConfig::None, _) => "no claim makes one of them give way".to_owned(),
        (ClaimConfig::UniqueRunKey, _) if one.ids.run != other.ids.run => {
            "their planned times make two run keys, which a unique key does not take for one slot"
                .to_owned()
        }
        (ClaimConfig::LockRow(config), Some(claims)) => past_lock_row(story, config, claims),
        (ClaimConfig::SelectForUpdate(config), _) if config.row == LockedRow::Absent => {
            "the row that SELECT FOR UPDATE is to lock is not there, so nothing was locked"
                .to_owned()
        }
        (ClaimConfig::SelectForUpdate(config), _) if config.read == ReadsFrom::Replica => {
            "the position was read from a replica that did not have the other's commit yet"
                .to_owned()
        }
        (claim, _) => format!("the claim ({}) let both through", claim.name()),
    }
}

/// Why the lock row was free for the second claim.
fn past_lock_row(
    story: &Story<'_>,
    config: &LockRowClaimConfig,
    [one, other]: [&Event; 2],
) -> String {
    let mut own = story.events.iter().copied();
    let ended = own.find(|event| {
        event.ids.trace == one.ids.trace && matches!(event.what, What::AttemptEnded(_))
    });
    let hold = match config.min_hold {
        Span::ZERO => "no min_hold".to_owned(),
        hold => format!("min_hold {}", spoken(hold)),
    };
    let (first, second) = (story.who(one), story.who(other));
    match ended {
        Some(ended) if ended.at <= other.at => format!(
            "{first} was done at {} and let go of the lock row ({hold}), and {second} claimed it at {}",
            at(ended.at),
            at(other.at)
        ),
        _ => format!(
            "{second} found the lock row ({hold}, max_hold {}) free at {}",
            spoken(config.max_hold),
            at(other.at)
        ),
    }
}

/// Why the second run was not stopped later on, where something was to stop it.
fn past_guard(story: &Story<'_>, two: &Two<'_>) -> String {
    let scenario = story.execution.scenario;
    match (&scenario.guard, &scenario.downstream.protection) {
        (GuardConfig::None(_), ProtectionConfig::None(_)) => String::new(),
        // By their run keys they are one: the choice of another key is to blame.
        _ if two.first.ids.run == two.second.ids.run && own_key_each(story, two) => {
            format!(", and the key compared is {}", key_in_words(story))
        }
        (GuardConfig::ProcessMutex(_), _) if two.first.instance != two.second.instance => {
            ", and a lock in the process (process_mutex) does not reach another one".to_owned()
        }
        _ => String::new(),
    }
}
