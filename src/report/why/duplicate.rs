//! Why a run had its effect twice, or two attempts at once, by the layer where it was born.

use super::missing::because;
use super::story::{Story, at, message};
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
        Some(Attribution::Layer(Layer::Scheduling)) => scheduling(story, &two),
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

/// The slot's first two effects.
struct Two<'a> {
    first: &'a Event,
    second: &'a Event,
}

/// One slot, two runs.
fn scheduling(story: &Story<'_>, two: &Two<'_>) -> String {
    let slot = story.slot();
    let traces = [two.first.ids.trace, two.second.ids.trace];
    let fired = |event: &&&Event| event.what == What::Fired && traces.contains(&event.ids.trace);
    let mut fired = story.events.iter().filter(fired);
    let (Some(one), Some(other)) = (fired.next(), fired.next()) else {
        return format!("{slot} became two runs.");
    };
    let (who, times) = (story.who(one), [at(one.at), at(other.at)]);
    let cause = story.cause_before(two.second);
    if one.instance != other.instance {
        let nothing = match story.execution.scenario.dispatch.claim.name() {
            "none" => "no claim makes one of them give way".to_owned(),
            claim => format!("the claim ({claim}) let both through"),
        };
        return format!(
            "{}{who} fired {slot} at {} and {} at {}; {nothing}, so both ran.",
            because(cause),
            times[0],
            story.who(other),
            times[1]
        );
    }
    match cause {
        Some(cause) => format!(
            "{who} had fired {slot} at {}; {}, and at {} it fired the slot again as a new run.",
            times[0],
            story.cause_of(who, &cause),
            times[1]
        ),
        None => format!(
            "{who} fired {slot} twice, at {} and at {}.",
            times[0], times[1]
        ),
    }
}

/// One run, two messages.
fn publishing(story: &Story<'_>, two: &Two<'_>) -> String {
    let (one, other) = (message(two.first), message(two.second));
    let (Some(earlier), Some(later)) = (
        story.published(two.first.ids.message),
        story.published(two.second.ids.message),
    ) else {
        return format!(
            "one run travelled in two messages, {one} and {other}{}.",
            let_in(story)
        );
    };
    let (earlier, later) = if later.at < earlier.at {
        (later, earlier)
    } else {
        (earlier, later)
    };
    let (one, other) = (message(earlier), message(later));
    let requeued = story.events.iter().any(|event| {
        event.what == What::Requeued
            && event.instance == later.instance
            && event.at >= later.at
            && event.at.ms_since(later.at) < 5_000
    });
    let born = match story.faults_before(later).next() {
        Some((fault, _)) if fault.kind == FaultKind::OperatorReplay => {
            format!("a person replayed {one}: the broker took the copy as {other}")
        }
        _ if requeued => {
            let preface = because(story.cause_before(later));
            format!(
                "{preface}recovery on {} took the run for forgotten and put it back as {other}",
                story.who(later)
            )
        }
        Some((fault, strike)) if fault.kind == FaultKind::DuplicateRequest => format!(
            "{}'s publish reached the broker twice and was taken as {one} and {other}",
            story.who(strike)
        ),
        Some((fault, strike))
            if strike.step.name == "broker.publish" && fault.kind == FaultKind::LoseReply =>
        {
            format!(
                "the broker had taken {}'s publish as {one}, but its confirm never came back; after {} \
             {} published again as {other}",
                story.who(earlier),
                story.between(earlier, later),
                story.who(later)
            )
        }
        Some((fault, strike)) => format!(
            "{} had published {one}; {}, and after {} {} published again as {other}",
            story.who(earlier),
            story.cause_of(story.who(earlier), &story.cause(fault, strike)),
            story.between(earlier, later),
            story.who(later)
        ),
        None => format!(
            "{} published {one} at {} and {} published {other} at {}",
            story.who(earlier),
            at(earlier.at),
            story.who(later),
            at(later.at)
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
    if let Some(given_back) = given_back(story, one, other) {
        return tried_again(story, given_back, other);
    }
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
fn tried_again(story: &Story<'_>, given_back: &Event, other: &Event) -> String {
    let who = story.who(given_back);
    let why = match story.cause_before(given_back) {
        Some(cause) => format!("{cause}; {who}"),
        None => who.to_owned(),
    };
    format!(
        "{why} took its attempt for failed and gave {} back; at {} {} tried again{}.",
        message(other),
        at(other.at),
        story.who(other),
        downstream_did_not_know(story)
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
        Some((fault, strike)) if had_done && effect.at <= strike.at => {
            let cause = story.cause_of(who, &story.cause(fault, strike));
            match cause.strip_prefix("it ") {
                Some(did) => format!("{who} had done the work but {did}"),
                None => format!("{who} had done the work, but {cause}"),
            }
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
        Some(_) if story.first(|what| *what == What::TakenOver).is_some() => {
            downstream_did_not_know(story)
        }
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
            ", which took the run over once its lease had ended".to_owned()
                + &downstream_did_not_know(story)
        }
        Some(guard) => format!(", and the guard ({guard}) let it in"),
    }
}

/// Why the outside world did not stop the second call.
fn downstream_did_not_know(story: &Story<'_>) -> String {
    match story.execution.scenario.downstream.protection.name() {
        "none" => ", and nothing downstream could recognise the second call".to_owned(),
        protection => format!(
            ", and the downstream ({}) did not stop the second call",
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
