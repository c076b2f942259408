//! How the second call got past the guard and the downstream, as a clause after `, and`.

use super::super::Spoken;
use super::story::{Story, Two, at, message};
use evidence::{Event, RecordState, What};
use scenarios::file::InFlight;
use scheduler::effects::ProtectionConfig;
use scheduler::guards::GuardConfig;
use scheduler::{IdentityKey, Span};

/// Why nobody stopped the second message or delivery.
pub(super) fn past(story: &Story<'_>, two: &Two<'_>) -> String {
    let unguarded = story.guard().is_none();
    match &story.execution.scenario.downstream.protection {
        _ if unguarded && !compares(story) => match two.first.ids.message == two.second.ids.message
        {
            true => format!("{} had no guard to ask", later(story, two)),
            false => "no guard compared their run key".to_owned(),
        },
        _ if own_key_each(story, two) => format!(
            "the key compared is {}, so nothing recognised {} as the same run",
            key_in_words(story),
            copy(story, two)
        ),
        _ if unguarded => downstream(story, two),
        ProtectionConfig::None(_) => match guard(story, two) {
            Some(past_guard) => past_guard,
            None => downstream(story, two),
        },
        _ => downstream(story, two),
    }
}

/// Why the outside world did not stop the second call.
pub(super) fn downstream(story: &Story<'_>, two: &Two<'_>) -> String {
    let table = &story.execution.scenario.downstream;
    let apart = two.second.at.ms_since(two.first.at);
    let looked = story.last(|what| *what == What::NotFound);
    match &table.protection {
        ProtectionConfig::None(_) => {
            "nothing downstream could recognise the second call".to_owned()
        }
        ProtectionConfig::IdempotencyKey(_) if own_key_each(story, two) => format!(
            "the downstream compares {}, which is another one",
            key_in_words(story)
        ),
        ProtectionConfig::IdempotencyKey(config) if apart >= config.retention.as_i64() => format!(
            "the downstream had forgotten the key, which it keeps for {}",
            spoken(config.retention)
        ),
        ProtectionConfig::IdempotencyKey(_)
            if table.in_flight == InFlight::Naive && apart <= table.latency.as_i64() =>
        {
            "the downstream looked the second one's key up before it had stored it for the first"
                .to_owned()
        }
        ProtectionConfig::LookupBeforeRetry(_) => match looked {
            Some(looked) if looked.at <= two.second.at => format!(
                "{} looked for an effect at {} and found none: the first call was done only at \
                 {}",
                story.who(looked),
                at(looked.at),
                at(if looked.ids.attempt == two.first.ids.attempt {
                    two.second
                } else {
                    two.first
                }
                .at)
            ),
            _ => "a first call does not look for an earlier effect".to_owned(),
        },
        ProtectionConfig::Quarantine(_) => {
            "the downstream knows no keys: a quarantine holds back retries only".to_owned()
        }
        other => format!(
            "the downstream ({}) did not stop the second call",
            other.name().replace('_', " ")
        ),
    }
}

/// How the later attempt got past the guard; `None`: as it should, by a takeover.
fn guard(story: &Story<'_>, two: &Two<'_>) -> Option<String> {
    let who = later(story, two);
    let (ends, renewed) = match &story.execution.scenario.guard {
        GuardConfig::RedisLock(config) => (config.ttl, config.renewal().is_some()),
        GuardConfig::LockRow(config) => (config.max_hold, false),
        GuardConfig::CheckThenInsert(_) => return Some(checked(story, two)),
        GuardConfig::ProcessMutex(_) => {
            let life = |event: &Event| (event.instance, event.incarnation);
            return Some(
                match life(two.first) == life(two.second) {
                    true => "the guard (process_mutex) does not remember a run that is over",
                    false => "the guard (process_mutex) sees its own process only",
                }
                .to_owned(),
            );
        }
        GuardConfig::StateMachine(_) => return None,
        other => return Some(format!("the guard ({}) let both in", other.name())),
    };
    let (earlier, later) = starts(story, two)?;
    let ended = story.ended(earlier);
    Some(match ended {
        Some(ended) if ended.at <= later.at => {
            format!("{who} found the lock free: a lock does not remember a run that is over")
        }
        _ if later.at.ms_since(earlier.at) >= ends.as_i64() => format!(
            "{who} found the lock free: {}'s had ended{} {}",
            story.who(earlier),
            if renewed {
                ", not renewed for"
            } else {
                " after"
            },
            spoken(ends)
        ),
        _ => format!("{who} found the lock free"),
    })
}

/// What the later of two consumers found where it looked for a record.
fn checked(story: &Story<'_>, two: &Two<'_>) -> String {
    let records = |what: &What| matches!(what, What::Recorded(_));
    match (starts(story, two), story.first(records)) {
        (Some((earlier, later)), _)
            if story.ended(earlier).is_some_and(|end| end.at > later.at) =>
        {
            "each looked for a record before the other had put one in".to_owned()
        }
        (Some((_, later)), record) if record.is_none_or(|record| record.at > later.at) => {
            format!("{} found no record of it", story.who(later))
        }
        _ => "the guard (check_then_insert) let both in".to_owned(),
    }
}

/// `executor-1's lease ended after 45 s while it was still at work`, where that is so: a later
/// attempt or a message of recovery came when the lease was over and nothing was recorded.
pub(super) fn lease_ended<'a>(story: &Story<'a>, until: &Event) -> Option<(&'a Event, Span)> {
    let GuardConfig::StateMachine(config) = &story.execution.scenario.guard else {
        return None;
    };
    let last = story.events.iter().copied().rfind(|event| {
        event.at < until.at
            && (matches!(event.what, What::Recorded(_) | What::TakenOver))
            && event.ids.attempt > 0
    })?;
    let is_over = until.at.ms_since(last.at) >= config.lease.as_i64();
    (last.what == What::Recorded(RecordState::Running) && is_over).then_some((last, config.lease))
}

/// The whole sentence where a late writer undid the record SUCCEEDED, so that the run was done
/// once more.
pub(super) fn undone(story: &Story<'_>, two: &Two<'_>) -> Option<String> {
    let is_done = |event: &Event| event.what == What::Recorded(RecordState::Succeeded);
    let between = |event: &&&Event| event.at >= two.first.at && event.at <= two.second.at;
    let mut between = story.events.iter().filter(between);
    let done = between.find(|event| is_done(event))?;
    let undone = between.find(|event| {
        matches!(event.what, What::Recorded(state) if state != RecordState::Running && !is_done(event))
    })?;
    let What::Recorded(state) = undone.what else {
        return None;
    };
    let cause = super::missing::because(story.cause_before(undone));
    Some(format!(
        "{cause}{} did {} and recorded SUCCEEDED, but at {} {} wrote {state} over it, so {} did {} \
         as well.",
        story.who(done),
        message(done),
        at(undone.at),
        story.who(undone),
        story.who(two.second),
        message(two.second)
    ))
}

/// Whether guard or downstream compare a key at all.
fn compares(story: &Story<'_>) -> bool {
    !matches!(
        story.execution.scenario.downstream.protection,
        ProtectionConfig::None(_)
    )
}

/// Whether the two calls bear different keys.
pub(super) fn own_key_each(story: &Story<'_>, two: &Two<'_>) -> bool {
    let key = story.execution.scenario.identity.key;
    key.of(&two.first.ids) != key.of(&two.second.ids)
}

/// What `[identity] key` means.
pub(super) fn key_in_words(story: &Story<'_>) -> &'static str {
    match story.execution.scenario.identity.key {
        IdentityKey::RunKey => "the run key",
        IdentityKey::TimerId => "the timer's id",
        IdentityKey::MessageId => "the message id",
        IdentityKey::Fresh => "an id minted with every run",
    }
}

/// The starts of the two attempts, in order.
fn starts<'a>(story: &Story<'a>, two: &Two<'_>) -> Option<(&'a Event, &'a Event)> {
    let (one, other) = (story.started(two.first)?, story.started(two.second)?);
    Some(match other.at < one.at {
        true => (other, one),
        false => (one, other),
    })
}

/// Who began second.
fn later<'a>(story: &Story<'a>, two: &Two<'_>) -> &'a str {
    starts(story, two).map_or(story.who(two.second), |(_, later)| story.who(later))
}

/// The message that came second.
fn copy(story: &Story<'_>, two: &Two<'_>) -> String {
    message(starts(story, two).map_or(two.second, |(_, later)| later))
}

pub(super) fn spoken(span: Span) -> Spoken {
    Spoken(span.as_i64())
}
