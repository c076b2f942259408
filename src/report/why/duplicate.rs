//! Why a run had its effect twice, or two attempts at once, by the layer where it was born.

use super::fired;
use super::missing::because;
use super::outbox::fault_first;
use super::past::{downstream, lease_ended, past, spoken, undone};
use super::story::{Story, Two, at, message};
use evidence::{AttemptEnd, Attribution, Event, Layer, What};
use scenarios::spec::FaultKind;

pub(super) fn why(story: &Story<'_>) -> String {
    let mut effects = story.effects();
    let (Some(one), Some(other)) = (effects.next(), effects.next()) else {
        return format!("{} had more than one effect.", story.slot());
    };
    let two = Two {
        first: one,
        second: other,
    };
    match &story.execution.judgement.layer {
        Some(Attribution::Layer(Layer::Scheduling)) => fired::twice(story, &two),
        Some(Attribution::Layer(Layer::Publishing)) => publishing(story, &two),
        Some(Attribution::Layer(Layer::Delivery)) => delivery(story, &two),
        Some(Attribution::Layer(Layer::Execution)) => execution(story, &two),
        Some(Attribution::Layer(Layer::Effect)) => effect(story, &two),
        Some(Attribution::Undecided { missing }) => format!(
            "{} had its effect at {} and at {}; which layer is to blame cannot be told without its \
             {missing}.",
            story.slot(),
            at(one.at),
            at(other.at)
        ),
        None => format!("{} had {} effects.", story.slot(), story.told.effects),
    }
}

/// One run, two messages.
fn publishing(story: &Story<'_>, two: &Two<'_>) -> String {
    if let Some(told) = undone(story, two) {
        return told;
    }
    let (one, other) = (message(two.first), message(two.second));
    let (Some(earlier), Some(later)) = (
        story.published(two.first.ids.message),
        story.published(two.second.ids.message),
    ) else {
        let past = past(story, two);
        return format!("one run travelled in two messages, {one} and {other}, and {past}.");
    };
    let (earlier, later) = match later.at < earlier.at {
        true => (later, earlier),
        false => (earlier, later),
    };
    let born = match requeued(story, later) {
        Some(requeued) => put_back(story, requeued, later),
        None => published_again(story, earlier, later),
    };
    format!("{born}, and {}.", past(story, two))
}

/// Recovery's note on a message that it published.
fn requeued<'a>(story: &Story<'a>, published: &Event) -> Option<&'a Event> {
    story.events.iter().copied().find(|event| {
        event.what == What::Requeued
            && event.instance == published.instance
            && event.at >= published.at
            && event.at.ms_since(published.at) < 5_000
    })
}

/// Recovery took the run for forgotten and made the second message.
fn put_back(story: &Story<'_>, requeued: &Event, later: &Event) -> String {
    let cause = story.cause_before(later);
    let why = match (lease_ended(story, later), cause) {
        (Some((owner, lease)), None) => format!(
            "{}'s lease of {} ended while it was still at work; ",
            story.who(owner),
            spoken(lease)
        ),
        (Some((owner, lease)), Some(cause)) => {
            let whose = match cause.starts_with(story.who(owner)) {
                true => "its".to_owned(),
                false => format!("{}'s", story.who(owner)),
            };
            format!(
                "{cause}; once {whose} lease of {} had ended, ",
                spoken(lease)
            )
        }
        (None, cause) => because(cause),
    };
    format!(
        "{why}recovery on {} put the run back as {} at {}",
        story.who(requeued),
        message(later),
        at(later.at)
    )
}

/// How the run was published a second time.
fn published_again(story: &Story<'_>, earlier: &Event, later: &Event) -> String {
    let (one, other) = (message(earlier), message(later));
    let first = story.who(earlier);
    let again = || {
        format!(
            "after {} {} published again as {other}",
            story.between(earlier, later),
            story.who(later)
        )
    };
    match story.faults_before(later).next() {
        Some((fault, strike)) if fault.kind == FaultKind::OperatorReplay => format!(
            "a person replayed {one} at {}: the broker took the copy as {other}",
            at(strike.at)
        ),
        Some((fault, strike)) if fault.kind == FaultKind::DuplicateRequest => format!(
            "{}'s publish reached the broker twice and was taken as {one} and {other}",
            story.who(strike)
        ),
        Some((fault, strike))
            if strike.step.name == "broker.publish" && fault.kind == FaultKind::LoseReply =>
        {
            format!(
                "the broker had taken {first}'s publish as {one}, but its confirm never came back; {}",
                again()
            )
        }
        Some((fault, strike)) => fault_first(story, (fault, strike), earlier, later)
            .unwrap_or_else(|| {
                format!(
                    "{first} had published {one}; {}, and {}",
                    story.cause_of(first, &story.cause(fault, strike)),
                    again()
                )
            }),
        None => format!(
            "{first} published {one} at {} and {} published {other} at {}",
            at(earlier.at),
            story.who(later),
            at(later.at)
        ),
    }
}

/// One message, two deliveries.
fn delivery(story: &Story<'_>, two: &Two<'_>) -> String {
    if let Some(told) = undone(story, two) {
        return told;
    }
    let handed = |of: &Event| story.delivered(of.ids.message, of.ids.delivery);
    let (Some(one), Some(other)) = (handed(two.first), handed(two.second)) else {
        return format!("{} was handed over twice.", message(two.first));
    };
    let (one, other, effect) = match other.ids.delivery < one.ids.delivery {
        true => (other, one, two.second),
        false => (one, other, two.first),
    };
    if let Some(given_back) = given_back(story, one, other) {
        return tried_again(story, two, given_back, other);
    }
    let again = story.who(other);
    let past = past_delivery(story, two, other);
    let past = match past.strip_prefix(again) {
        Some(did) if one.instance == other.instance => format!("to it again, which{did}"),
        Some(did) => format!("to {again}, which{did}"),
        None if one.instance == other.instance => format!("to it again, and {past}"),
        None => format!("to {again}, and {past}"),
    };
    format!(
        "{} the broker handed {} {past}.",
        why_handed_over_again(story, effect, one, other),
        message(one)
    )
}

/// The consumer's giving back of the message between two deliveries of it.
fn given_back<'a>(story: &Story<'a>, one: &Event, other: &Event) -> Option<&'a Event> {
    story.events.iter().copied().find(|event| {
        matches!(event.what, What::Deferred { .. })
            && event.ids.message == one.ids.message
            && event.instance == one.instance
            && (one.at..=other.at).contains(&event.at)
    })
}

/// The first consumer took its attempt for failed and gave the message back for another one.
fn tried_again(story: &Story<'_>, two: &Two<'_>, given_back: &Event, other: &Event) -> String {
    let who = story.who(given_back);
    let again = story.who(other);
    let past = downstream(story, two);
    let past = match past.strip_prefix(again) {
        Some(did) => format!("{again} tried again,{did}"),
        None => format!("at {} {again} tried again, and {past}", at(other.at)),
    };
    format!(
        "{}{who} took its attempt for failed and gave {} back; {past}.",
        because(story.cause_before(given_back)),
        message(other)
    )
}

/// What kept the first delivery from being settled in time, and when that showed.
fn why_handed_over_again(story: &Story<'_>, effect: &Event, one: &Event, other: &Event) -> String {
    let who = story.who(one);
    let had_done = effect.at <= other.at;
    let strike = story.struck(one.instance, other, &[]);
    let server = story
        .faults_before(other)
        .find(|(fault, _)| fault.kind == FaultKind::BrokerRestart);
    let after = format!("after {}", story.between(one, other));
    match strike.or(server) {
        Some((fault, strike)) if had_done && effect.at <= strike.at => {
            let cause = story.cause_of(who, &story.cause(fault, strike));
            match cause.strip_prefix("it ") {
                Some(did) => format!("{who} had done the work but {did}; {after}"),
                None => format!("{who} had done the work, but {cause}; {after}"),
            }
        }
        Some((fault, strike)) => format!("{}; {after}", story.cause(fault, strike)),
        None if had_done => format!("{who} had done the work but had not acked it; {after}"),
        None => match story.execution.scenario.broker.ack_deadline.0 {
            Some(deadline) if other.at.ms_since(one.at) >= deadline.as_i64() => format!(
                "{who} was still at work when its ack deadline of {} passed; at {}",
                spoken(deadline),
                at(other.at)
            ),
            _ => format!("{who} was still at work; {after}"),
        },
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
    let happened = match story.faults_before(two.second).next() {
        Some((fault, strike))
            if fault.kind == FaultKind::LoseReply && strike.step.name == "downstream.perform" =>
        {
            format!("the downstream had done {who}'s call, but the reply was lost; {who}")
        }
        Some((fault, strike)) => format!("{}; {who}", story.cause(fault, strike)),
        None => format!(
            "attempt {} had its effect at {}, but {who}",
            two.first.ids.attempt,
            at(two.first.at)
        ),
    };
    format!(
        "{happened} {noticed} and tried again at {} (attempt {}), and {}.",
        at(story.started(two.second).unwrap_or(two.second).at),
        two.second.ids.attempt,
        downstream(story, two)
    )
}

/// One attempt, two effects.
fn effect(story: &Story<'_>, two: &Two<'_>) -> String {
    match story.cause_before(two.second) {
        Some(cause) => format!("{cause}, and {}.", downstream(story, two)),
        None => format!(
            "attempt {} of {} called the downstream twice.",
            two.first.ids.attempt,
            story.who(two.first)
        ),
    }
}

/// Why the second consumer went ahead.
fn past_delivery(story: &Story<'_>, two: &Two<'_>, delivered: &Event) -> String {
    let taken_over = story.events.iter().any(|event| {
        event.what == What::TakenOver
            && event.instance == delivered.instance
            && event.at >= delivered.at
    });
    match taken_over {
        true => format!(
            "{} took the run over once its lease had ended, and {}",
            story.who(delivered),
            downstream(story, two)
        ),
        false => past(story, two),
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
        _ => format!(
            "{} was at work together with another slot of its timer.",
            story.slot()
        ),
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
        _ => format!(
            "the downstream accepted a call of {} from a superseded attempt.",
            story.slot()
        ),
    }
}
