//! Commands on values.

use super::expiring::{Length, until};
use super::redis::number;
use super::{ErrorReply, Key, Lives, Only, Persistence, Redis, Reply, Text};
use crate::Ms;

type Answer = Result<Reply, ErrorReply>;

/// SET key value [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL].
pub(super) fn set(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let (key, value) = (&words[1], &words[2]);
    let (mut only, mut lives, mut get) = (Only::Always, Lives::Forever, false);
    let mut options = words[3..].iter();
    while let Some(option) = options.next() {
        match option.to_ascii_lowercase().as_str() {
            "nx" if only != Only::IfPresent => only = Only::IfAbsent,
            "xx" if only != Only::IfAbsent => only = Only::IfPresent,
            "get" => get = true,
            "keepttl" if !matches!(lives, Lives::Until(_)) => lives = Lives::AsBefore,
            option if lives == Lives::Forever => {
                let length = Length::option(option).ok_or(ErrorReply::SYNTAX)?;
                let given = options.next().ok_or(ErrorReply::SYNTAX)?;
                lives = Lives::Until(until(length, given, now, "set")?);
            }
            _ => return Err(ErrorReply::SYNTAX),
        }
    }
    let before = Reply::value(redis.value(now, key));
    let done = redis.server.keys.set(now, key, value.clone(), only, lives);
    Ok(match (get, done) {
        (true, _) => before,
        (false, true) => Reply::OK,
        (false, false) => Reply::Nil,
    })
}

/// SETNX key value.
pub(super) fn setnx(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let keys = &mut redis.server.keys;
    let value = words[2].clone();
    Ok(Reply::flag(keys.set(
        now,
        &words[1],
        value,
        Only::IfAbsent,
        Lives::Forever,
    )))
}

/// GETSET key value.
pub(super) fn getset(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let before = get(redis, now, words)?;
    store(redis, now, &words[1], words[2].clone(), Lives::Forever);
    Ok(before)
}

/// MSET and MSETNX key value [key value ...].
pub(super) fn mset(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let name = words[0].to_ascii_lowercase();
    let (pairs, odd) = words[1..].as_chunks::<2>();
    if !odd.is_empty() {
        return Err(ErrorReply::arity(&name));
    }
    let only_absent = name == "msetnx";
    let taken = |[key, _]: &[Text; 2]| redis.value(now, key).is_some();
    if only_absent && pairs.iter().any(taken) {
        return Ok(Reply::Int(0));
    }
    for [key, value] in pairs {
        store(redis, now, key, value.clone(), Lives::Forever);
    }
    Ok(if only_absent {
        Reply::Int(1)
    } else {
        Reply::OK
    })
}

/// GET key.
pub(super) fn get(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    Ok(Reply::value(redis.value(now, &words[1])))
}

/// MGET key [key ...].
pub(super) fn mget(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let values = words[1..]
        .iter()
        .map(|key| Reply::value(redis.value(now, key)));
    Ok(Reply::List(values.collect()))
}

/// GETDEL key.
pub(super) fn getdel(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let before = get(redis, now, words)?;
    redis.server.keys.delete(now, &words[1]);
    Ok(before)
}

/// DEL and UNLINK key [key ...].
pub(super) fn del(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let deleted = words[1..]
        .iter()
        .filter(|key| redis.server.keys.delete(now, key));
    Ok(Reply::Int(deleted.count() as i64))
}

/// EXISTS and TOUCH key [key ...].
pub(super) fn exists(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let there = words[1..]
        .iter()
        .filter(|key| redis.value(now, key).is_some());
    Ok(Reply::Int(there.count() as i64))
}

/// STRLEN key.
pub(super) fn strlen(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    Ok(Reply::Int(
        redis
            .value(now, &words[1])
            .map_or(0, |value| value.len() as i64),
    ))
}

/// APPEND key value: the time to live stays.
pub(super) fn append(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let before = redis.value(now, &words[1]).map_or("", |value| value);
    let value = format!("{before}{}", words[2]);
    let length = value.len() as i64;
    store(redis, now, &words[1], value.into(), Lives::AsBefore);
    Ok(Reply::Int(length))
}

/// INCR key.
pub(super) fn incr(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    add(redis, now, &words[1], 1)
}

/// DECR key.
pub(super) fn decr(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    add(redis, now, &words[1], -1)
}

/// INCRBY key n.
pub(super) fn incrby(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let by = number(&words[2])?;
    add(redis, now, &words[1], by)
}

/// DECRBY key n.
pub(super) fn decrby(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    let by = number(&words[2])?;
    add(redis, now, &words[1], by.wrapping_neg())
}

/// A key that is not set counts as 0; the time to live stays.
fn add(redis: &mut Redis, now: Ms, key: &Key, by: i64) -> Answer {
    let before = redis.value(now, key).map_or(Ok(0), |value| number(value))?;
    let overflow = ErrorReply("ERR increment or decrement would overflow".into());
    let sum = before.checked_add(by).ok_or(overflow)?;
    store(redis, now, key, sum.to_string().into(), Lives::AsBefore);
    Ok(Reply::Int(sum))
}

fn store(redis: &mut Redis, now: Ms, key: &Key, value: Text, lives: Lives) {
    redis.server.keys.set(now, key, value, Only::Always, lives);
}

/// FLUSHALL and FLUSHDB.
pub(super) fn flush(redis: &mut Redis, now: Ms, _: &[Text]) -> Answer {
    redis.server.keys.flush(now);
    Ok(Reply::OK)
}

/// SAVE and BGSAVE, which is done at once here.
pub(super) fn save(redis: &mut Redis, now: Ms, words: &[Text]) -> Answer {
    redis.server.save(now);
    Ok(if words[0].eq_ignore_ascii_case("save") {
        Reply::OK
    } else {
        Reply::Status("Background saving started".into())
    })
}

/// DBSIZE.
pub(super) fn dbsize(redis: &mut Redis, now: Ms, _: &[Text]) -> Answer {
    Ok(Reply::Int(redis.server.keys.held(now).count() as i64))
}

/// PING [text].
pub(super) fn ping(_: &mut Redis, _: Ms, words: &[Text]) -> Answer {
    Ok(match words.get(1) {
        Some(text) => Reply::Bulk(text.clone()),
        None => Reply::Status("PONG".into()),
    })
}

/// TIME: seconds, and microseconds of the second.
pub(super) fn time(_: &mut Redis, now: Ms, _: &[Text]) -> Answer {
    let words = [now / 1000, now % 1000 * 1000];
    let words = words.map(|number| Reply::Bulk(number.to_string().into()));
    Ok(Reply::List(words.into()))
}

/// WAIT replicas timeout: there is none.
pub(super) fn wait(_: &mut Redis, _: Ms, words: &[Text]) -> Answer {
    number(&words[1])?;
    number(&words[2])?;
    Ok(Reply::Int(0))
}

/// SELECT 0.
pub(super) fn ok(_: &mut Redis, _: Ms, _: &[Text]) -> Answer {
    Ok(Reply::OK)
}

/// CONFIG SET of what makes the keys survive; anything else is taken as said and changes nothing.
pub(super) fn config(redis: &mut Redis, _: Ms, words: &[Text]) -> Answer {
    let words: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    if words[1] != "set" {
        return Err(ErrorReply::SYNTAX);
    }
    let (pairs, _) = words[2..].as_chunks::<2>();
    for [name, value] in pairs {
        redis
            .server
            .persist(configured(redis.server.persistence(), name, value));
    }
    Ok(Reply::OK)
}

/// What a line of the configuration makes of the persistence: `appendonly yes` alone fsyncs every
/// second, `save 60 1` makes snapshots.
fn configured(now: Persistence, name: &str, value: &str) -> Persistence {
    match (name, value) {
        ("appendonly", "yes") if now != Persistence::Always => Persistence::EverySecond,
        ("appendonly", "no") => Persistence::None,
        ("appendfsync", "always") => Persistence::Always,
        ("appendfsync", _) if now == Persistence::Always => Persistence::EverySecond,
        ("save", points) => match points.split(' ').next().map(str::parse::<Ms>) {
            Some(Ok(seconds)) if now == Persistence::None => Persistence::Snapshot {
                every: seconds.saturating_mul(1000).max(1),
            },
            _ => now,
        },
        _ => now,
    }
}
