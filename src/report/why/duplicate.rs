//! Why a run had its effect twice, or two attempts at once, by the layer where it was born.

use super::story::{Story, at, message};
use evidence::{AttemptEnd, Attribution, Event, Layer, What};
use scenarios::spec::FaultKind;

pub(super) fn why(story: &Story<'_>) -> String {
    let mut effects = story.effects();
    let (Some(first), Some(second)) = (effects.next(), effects.next()) else {
        return format!("{} had more than one effect.", story.slot());
    };
    let two = Two { first, second };
    match &story.execution.judgement.layer {
        Some(Attribution::Layer(Layer::Scheduling)) => scheduling(story, &two),
        Some(Attribution::Layer(Layer::Publishing)) => publishing(story, &two),
        Some(Attribution::Layer(Layer::Delivery)) => delivery(story, &two),
        Some(Attribution::Layer(Layer::Execution)) => execution(story, &two),
        Some(Attribution::Layer(Layer::Effect)) => effect(story, &two),
        Some(Attribution::Undecided { missing }) => format!(
            "{} had its effect at {} and at {}; which layer is to blame cannot be told without its \
             {missing}.",
            story.slot(),
            at(first.at),
            at(second.at)
        ),
        None => format!("{} had {} effects.", story.slot(), story.told.effects),
    }
}

/// The slot's first two effects.
struct Two<'a> {
    first: &'a Event,
    second: &'a Event,
}

/// One slot, two runs.
fn scheduling(story: &Story<'_>, two: &Two<'_>) -> String {
    let fired = |of: &Event| {
        story
            .events
            .iter()
            .copied()
            .find(|event| event.what == What::Fired && event.ids.trace == of.ids.trace)
    };
    let (Some(one), Some(other)) = (fired(two.first), fired(two.second)) else {
        return format!("{} became two runs.", story.slot());
    };
    let (one, other) = if other.at < one.at { (other, one) } else { (one, other) };
    let slot = story.slot();
    if one.instance != other.instance {
        let nothing = match story.execution.scenario.dispatch.claim.name() {
            "none" => "no claim makes one of them give way".to_owned(),
            claim => format!("the claim ({claim}) let both through"),
        };
        return format!(
            "{} fired {slot} at {} and {} at {}; {nothing}, so both ran.",
            story.who(one),
            at(one.at),
            story.who(other),
            at(other.at)
        );
    }
    match story.cause_before(other) {
        Some(cause) => format!(
            "{} had fired {slot} at {}; {cause}, and at {} it fired the slot again as a new run.",
            story.who(one),
            at(one.at),
            at(other.at)
        ),
        None => format!(
            "{} fired {slot} twice, at {} and at {}.",
            story.who(one),
            at(one.at),
            at(other.at)
        ),
    }
}

/// One run, two messages.
fn publishing(story: &Story<'_>, two: &Two<'_>) -> String {
    let (one, other) = (message(two.first), message(two.second));
    let (Some(first), Some(second)) = (
        story.published(two.first.ids.message),
        story.published(two.second.ids.message),
    ) else {
        return format!("one run travelled in two messages, {one} and {other}{}.", let_in(story));
    };
    let (first, second) = if second.at < first.at { (second, first) } else { (first, second) };
    let (one, other) = (message(first), message(second));
    let requeued = story.events.iter().any(|event| {
        event.what == What::Requeued
            && event.instance == second.instance
            && event.at >= second.at
            && event.at.ms_since(second.at) < 5_000
    });
    let born = match story.faults_before(second).next() {
        Some((fault, _)) if fault.kind == FaultKind::OperatorReplay => {
            format!("a person replayed {one}: the broker took the copy as {other}")
        }
        _ if requeued => {
            let because = story.cause_before(second).map_or_else(String::new, |cause| format!("{cause}; "));
            format!(
                "{because}recovery on {} took the run for forgotten and put it back as {other}",
                story.who(second)
            )
        }
        Some((fault, strike)) if fault.kind == FaultKind::DuplicateRequest => format!(
            "{}'s publish reached the broker twice and was taken as {one} and {other}",
            story.who(strike)
        ),
        Some((fault, strike)) if strike.step.name == "broker.publish"
            && fault.kind == FaultKind::LoseReply => format!(
            "the broker had taken {}'s publish as {one}, but its confirm never came back; after {} \
             {} published again as {other}",
            story.who(first),
            story.between(first, second),
            story.who(second)
        ),
        Some((fault, strike)) => format!(
            "{} had published {one}; {}, and after {} {} published again as {other}",
            story.who(first),
            story.cause(fault, strike),
            story.between(first, second),
            story.who(second)
        ),
        None => format!(
            "{} published {one} at {} and {} published {other} at {}",
            story.who(first),
            at(first.at),
            story.who(second),
            at(second.at)
        ),
    };
    format!("{born}{}.", let_in(story))
}

/// One message, two deliveries.
fn delivery(story: &Story<'_>, two: &Two<'_>) -> String {
    let handed = |of: &Event| story.delivered(of.ids.message, of.ids.delivery);
    let (Some(one), Some(other)) = (handed(two.first), handed(two.second)) else {
        return format!("{} was handed over twice.", message(two.first));
    };
    let (one, other, effect) = if other.ids.delivery < one.ids.delivery {
        (other, one, two.second)
    } else {
        (one, other, two.first)
    };
    let again = match one.instance == other.instance {
        true => "to it again".to_owned(),
        false => format!("to {}", story.who(other)),
    };
    format!(
        "{}; after {} the broker handed {} {again}{}.",
        why_handed_over_again(story, effect, one, other),
        story.between(one, other),
        message(one),
        no_way_to_know(story, other)
    )
}

/// What kept the first delivery from being settled in time.
fn why_handed_over_again(story: &Story<'_>, effect: &Event, one: &Event, other: &Event) -> String {
    let who = story.who(one);
    let had_done = effect.at <= other.at;
    let strike = story.struck(one.instance, other, &[]);
    let server = story
        .faults_before(other)
        .find(|(fault, _)| fault.kind == FaultKind::BrokerRestart);
    match strike.or(server) {
        Some((fault, strike)) if fault.kind == FaultKind::Crash && effect.at <= strike.at => {
            let died = story.cause(fault, strike);
            let died = died.strip_prefix(who).unwrap_or(&died).trim_start();
            format!("{who} had done the work but {died}")
        }
        Some((fault, strike)) if strike.step.name == "broker.ack" && had_done => {
            format!("{who} had done the work, but {}", story.cause(fault, strike).replacen(&format!("{who}'s"), "its", 1))
        }
        Some((fault, strike)) => story.cause(fault, strike),
        None if had_done => format!("{who} had done the work but had not acked it"),
        None => format!("{who} was still at work"),
    }
}

/// One delivery, two attempts.
fn execution(story: &Story<'_>, two: &Two<'_>) -> String {
    let who = story.who(two.second);
    let between = |event: &&&Event| event.at >= two.first.at && event.at <= two.second.at;
    let mut failures = story.events.iter().filter(between).filter(|event| {
        matches!(
            event.what,
            What::TimedOut
                | What::HandlerPanic
                | What::AttemptEnded(AttemptEnd::Retryable | AttemptEnd::Unknown)
        )
    });
    let noticed = match failures.next().map(|event| &event.what) {
        Some(What::TimedOut | What::AttemptEnded(AttemptEnd::Unknown)) => {
            "took the missing answer for a failure"
        }
        Some(What::HandlerPanic) => "panicked after it",
        _ => "took the attempt for failed",
    };
    let happened = match story.cause_before(two.second) {
        Some(cause) => format!("{cause}; {}", story.who(two.first)),
        None => format!(
            "attempt {} had its effect at {}, but {who}",
            two.first.ids.attempt,
            at(two.first.at)
        ),
    };
    format!(
        "{happened} {noticed} and tried again (attempt {}){}.",
        two.second.ids.attempt,
        downstream_did_not_know(story)
    )
}

/// One attempt, two effects.
fn effect(story: &Story<'_>, two: &Two<'_>) -> String {
    match story.cause_before(two.second) {
        Some(cause) => format!("{cause}{}.", downstream_did_not_know(story)),
        None => format!(
            "attempt {} of {} called the downstream twice.",
            two.first.ids.attempt,
            story.who(two.first)
        ),
    }
}

/// Why nobody stopped the second message.
fn let_in(story: &Story<'_>) -> String {
    match story.guard() {
        None => ", and no guard compared their run key".to_owned(),
        Some(guard) => format!(", and the guard ({guard}) let both in"),
    }
}

/// Why the second consumer went ahead.
fn no_way_to_know(story: &Story<'_>, delivered: &Event) -> String {
    let taken_over = story.events.iter().any(|event| {
        event.what == What::TakenOver
            && event.instance == delivered.instance
            && event.at >= delivered.at
    });
    match story.guard() {
        None => ", which had no way to know".to_owned(),
        Some(_) if taken_over => {
            ", which took the run over once its lease had ended".to_owned() + &downstream_did_not_know(story)
        }
        Some(guard) => format!(", and the guard ({guard}) let it in"),
    }
}

/// Why the outside world did not stop the second call.
fn downstream_did_not_know(story: &Story<'_>) -> String {
    match story.execution.scenario.downstream.protection.name() {
        "none" => ", and nothing downstream could recognise the second call".to_owned(),
        protection => format!(
            ", and the downstream ({}) did not recognise the second call",
            protection.replace('_', " ")
        ),
    }
}

pub(super) fn overlap(story: &Story<'_>) -> String {
    let starts = |event: &&&Event| event.what == What::AttemptStarted;
    let mut started = story.events.iter().filter(starts);
    match (started.next(), started.next()) {
        (Some(one), Some(other)) => format!(
            "{} was still at work on {} when {} began at {}.",
            story.who(one),
            story.slot(),
            story.who(other),
            at(other.at)
        ),
        _ => format!("{} was at work together with another slot of its timer.", story.slot()),
    }
}

pub(super) fn stale_effect(story: &Story<'_>) -> String {
    let taken = story.first(|what| *what == What::TakenOver);
    let late = story.effects().last();
    match (taken, late) {
        (Some(taken), Some(late)) => format!(
            "{} had taken {} over at {}, yet the downstream accepted {}'s call at {}.",
            story.who(taken),
            story.slot(),
            at(taken.at),
            story.who(late),
            at(late.at)
        ),
        _ => format!("the downstream accepted a call of {} from a superseded attempt.", story.slot()),
    }
}
