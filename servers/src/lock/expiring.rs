//! Commands on the time to live of keys.

use super::redis::number;
use super::{ErrorReply, Lives, Only, Redis, Reply, Text};
use crate::Ms;

type Answer = Result<Reply, ErrorReply>;

/// How a time is written: from now on or as a moment, in seconds or in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    from_now: bool,
    unit: i64,
}

impl Length {
    const fn new(from_now: bool, unit: i64) -> Self {
        Length { from_now, unit }
    }

    /// Of an option of SET or GETEX, in lower case.
    pub(super) fn option(name: &str) -> Option<Self> {
        match name {
            "ex" => Some(Length::new(true, 1000)),
            "px" => Some(Length::new(true, 1)),
            "exat" => Some(Length::new(false, 1000)),
            "pxat" => Some(Length::new(false, 1)),
            _ => None,
        }
    }

    /// Of a command, in lower case.
    fn command(name: &str) -> Self {
        let unit = if name.starts_with('p') { 1 } else { 1000 };
        Length::new(!name.ends_with("at"), unit)
    }

    /// The moment that is meant, which may lie before the beginning of time.
    fn moment(self, given: i64, now: Ms) -> Option<i64> {
        let from = if self.from_now {
            i64::try_from(now).ok()?
        } else {
            0
        };
        given.checked_mul(self.unit)?.checked_add(from)
    }
}

/// The end that a SET asks for: it has to be positive, though it may be past.
pub(super) fn until(length: Length, given: &str, now: Ms, command: &str) -> Result<Ms, ErrorReply> {
    let given = number(given)?;
    let moment = (given > 0).then(|| length.moment(given, now)).flatten();
    moment
        .and_then(|moment| Ms::try_from(moment).ok())
        .ok_or_else(|| ErrorReply::expire_time(command))
}

/// EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT key time [NX | XX | GT | LT]: here a time that is over
/// is no error, and deletes the key.
pub(super) fn expire(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let name = words[0].to_ascii_lowercase();
    let given = number(&words[2])?;
    let moment = Length::command(&name)
        .moment(given, now)
        .ok_or_else(|| ErrorReply::expire_time(&name))?;
    let (mut nx, mut xx, mut gt, mut lt) = (false, false, false, false);
    for option in &words[3..] {
        match option.to_ascii_lowercase().as_str() {
            "nx" => nx = true,
            "xx" => xx = true,
            "gt" => gt = true,
            "lt" => lt = true,
            _ => {
                return Err(ErrorReply(
                    format!("ERR Unsupported option {option}").into(),
                ));
            }
        }
    }
    if nx && (xx || gt || lt) {
        let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
        return Err(ErrorReply(text.into()));
    }
    if gt && lt {
        let text = "ERR GT and LT options at the same time are not compatible";
        return Err(ErrorReply(text.into()));
    }
    let moment = Ms::try_from(moment).unwrap_or(0);
    let Some(ends) = redis.server.keys.ends(now, &words[1]) else {
        return Ok(Reply::Int(0));
    };
    // A key without end counts as one that lives longest.
    let allowed = !(nx && ends.is_some()
        || xx && ends.is_none()
        || gt && ends.is_none_or(|end| moment <= end)
        || lt && ends.is_some_and(|end| moment >= end));
    let done = allowed && redis.server.keys.expire(now, &words[1], Some(moment));
    Ok(Reply::flag(done))
}

/// PERSIST key.
pub(super) fn persist(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let ended = matches!(redis.server.keys.ends(now, &words[1]), Some(Some(_)));
    Ok(Reply::flag(
        ended && redis.server.keys.expire(now, &words[1], None),
    ))
}

/// TTL, PTTL, EXPIRETIME and PEXPIRETIME key: -1 without end, -2 where it is not set.
pub(super) fn left(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let name = words[0].to_ascii_lowercase();
    let from = if name.ends_with("ttl") { now } else { 0 };
    Ok(Reply::Int(match redis.server.keys.ends(now, &words[1]) {
        None => -2,
        Some(None) => -1,
        Some(Some(end)) => {
            let left = i64::try_from(end.saturating_sub(from)).unwrap_or(i64::MAX);
            match name.as_str() {
                "ttl" => left.saturating_add(500) / 1000,
                "expiretime" => left / 1000,
                _ => left,
            }
        }
    }))
}

/// SETEX key s value and PSETEX key ms value.
pub(super) fn setex(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let name = words[0].to_ascii_lowercase();
    let ends = until(Length::command(&name), &words[2], now, &name)?;
    let (keys, value) = (&mut redis.server.keys, words[3].clone());
    keys.set(now, &words[1], value, Only::Always, Lives::Until(ends));
    Ok(Reply::OK)
}

/// GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST].
pub(super) fn getex(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let ends = match &words[2..] {
        [] => None,
        [option] if option.eq_ignore_ascii_case("persist") => Some(None),
        [option, given] => {
            let length = Length::option(&option.to_ascii_lowercase()).ok_or(ErrorReply::SYNTAX)?;
            Some(Some(until(length, given, now, "getex")?))
        }
        _ => return Err(ErrorReply::SYNTAX),
    };
    let value = Reply::value(redis.value(now, &words[1]));
    if let Some(ends) = ends {
        redis.server.keys.expire(now, &words[1], ends);
    }
    Ok(value)
}
