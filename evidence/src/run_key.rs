//! The identity of a run: **runKey = timerId + scheduledTime**.
//!
//! The text is made so that no database collation, padding or case folding, no column of 191 bytes
//! and no reader who trims can merge the keys of two different slots.

use crate::timestamp::{self, TEXT_LENGTH};
use crate::{TimerId, Timestamp};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Identity of a run: `timerId@2026-01-01T02:00:00.000Z`.
///
/// In the part before the last `@`, every byte of the timer's name outside `[a-z0-9._:/-]` is
/// written `~` and two lower-case hex digits. For one timer, byte order is time order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(Arc<str>);

/// Bytes after the timer's name: `@` and the time.
const TAIL: usize = 1 + TEXT_LENGTH;

impl RunKey {
    /// The longest key, in bytes: what an index of MySQL's utf8mb4 holds in 767 bytes (4 x 191).
    pub const MAX_BYTES: usize = 191;

    /// The key of the run of `timer` that is due at `scheduled`.
    ///
    /// # Errors
    ///
    /// If the timer's name is empty, if the time lies outside the years 0000 to 9999, or if the key
    /// would be longer than [`RunKey::MAX_BYTES`].
    pub fn new(timer: &TimerId, scheduled: Timestamp) -> Result<Self, RunKeyError> {
        let name = timer.as_str().as_bytes();
        if name.is_empty() {
            return Err(RunKeyError::EmptyTimerId);
        }
        let time = scheduled.text().ok_or(RunKeyError::Unwritable(scheduled))?;
        let bytes = TAIL
            + name
                .iter()
                .map(|byte| if is_plain(*byte) { 1 } else { 3 })
                .sum::<usize>();
        if bytes > Self::MAX_BYTES {
            return Err(RunKeyError::TooLong { bytes });
        }
        let mut text = String::with_capacity(bytes);
        for byte in name {
            if is_plain(*byte) {
                text.push(char::from(*byte));
            } else {
                text.extend(['~', hex_digit(byte >> 4), hex_digit(byte & 15)]);
            }
        }
        text.push('@');
        text.extend(time.map(char::from));
        Ok(RunKey(text.into()))
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key's text, shared.
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }

    /// The timer, by the name that its user wrote.
    pub fn timer_id(&self) -> TimerId {
        // A key is only ever made by `new` or checked by `from_str`, so that both parts are there.
        TimerId::new(read_name(self.name_part().as_bytes()).unwrap_or_default())
    }

    /// When the run was due.
    pub fn scheduled(&self) -> Timestamp {
        let time = &self.0.as_bytes()[self.0.len().saturating_sub(TEXT_LENGTH)..];
        timestamp::parse(time).unwrap_or_default()
    }

    fn name_part(&self) -> &str {
        self.0
            .get(..self.0.len().saturating_sub(TAIL))
            .unwrap_or_default()
    }
}

/// Bytes that stand for themselves in a key: none of them has another case, and none is a space.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b':' | b'/' | b'-')
}

const fn hex_digit(nibble: u8) -> char {
    (if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + nibble - 10
    }) as char
}

const fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The timer's name as its user wrote it; `None` where [`RunKey::new`] would have written otherwise.
fn read_name(written: &[u8]) -> Option<String> {
    let mut name = Vec::with_capacity(written.len());
    let mut left = written;
    while let [first, rest @ ..] = left {
        if is_plain(*first) {
            name.push(*first);
            left = rest;
        } else if let (b'~', [high, low, rest @ ..]) = (first, rest) {
            let byte = hex_value(*high)? << 4 | hex_value(*low)?;
            if is_plain(byte) {
                return None;
            }
            name.push(byte);
            left = rest;
        } else {
            return None;
        }
    }
    String::from_utf8(name).ok().filter(|name| !name.is_empty())
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Reads a key without copying its text; as strict as [`FromStr`].
impl TryFrom<Arc<str>> for RunKey {
    type Error = RunKeyError;

    fn try_from(text: Arc<str>) -> Result<Self, RunKeyError> {
        check(&text)?;
        Ok(RunKey(text))
    }
}

/// Reads exactly what [`RunKey::new`] can produce.
impl FromStr for RunKey {
    type Err = RunKeyError;

    fn from_str(text: &str) -> Result<Self, RunKeyError> {
        check(text)?;
        Ok(RunKey(text.into()))
    }
}

/// Whether [`RunKey::new`] could have produced this text.
fn check(text: &str) -> Result<(), RunKeyError> {
    if text.len() > RunKey::MAX_BYTES {
        return Err(RunKeyError::TooLong { bytes: text.len() });
    }
    let (name, tail) = text
        .as_bytes()
        .split_at_checked(text.len().saturating_sub(TAIL))
        .unwrap_or_default();
    let time = tail
        .strip_prefix(b"@")
        .filter(|time| time.len() == TEXT_LENGTH)
        .and_then(timestamp::parse);
    if time.is_none() {
        return Err(RunKeyError::NoTime);
    }
    if name.is_empty() {
        return Err(RunKeyError::EmptyTimerId);
    }
    if read_name(name).is_none() {
        return Err(RunKeyError::BadName);
    }
    Ok(())
}

/// Why there is no such run key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunKeyError {
    /// The timer has no name.
    #[error("a run key needs a timer with a name; this one's is empty")]
    EmptyTimerId,
    /// The key would not fit.
    #[error(
        "a run key has at most 191 bytes; this one has {bytes} (a byte of the timer's name outside [a-z0-9._:/-] takes three)"
    )]
    TooLong {
        /// Length of the key.
        bytes: usize,
    },
    /// The time cannot be written.
    #[error("a run key's time lies in the years 0000 to 9999; this one is {0}")]
    Unwritable(Timestamp),
    /// The text does not end in `@` and a time.
    #[error("a run key ends in `@` and a time such as 2026-01-01T02:00:00.000Z")]
    NoTime,
    /// The part before the time is not a name as keys have it.
    #[error(
        "in a run key, the timer's name consists of [a-z0-9._:/-] and, for every other byte, `~` and two lower-case hex digits"
    )]
    BadName,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const TWO: Timestamp = Timestamp(1_767_232_800_000);

    fn key(timer: &str, at: Timestamp) -> Result<RunKey, RunKeyError> {
        RunKey::new(&TimerId::new(timer), at)
    }

    #[test]
    fn a_plain_name_stands_as_it_is() {
        let report = key("report", TWO).unwrap();
        assert_eq!(report.as_str(), "report@2026-01-01T02:00:00.000Z");
        assert_eq!(report.timer_id(), TimerId::new("report"));
        assert_eq!(report.scheduled(), TWO);
    }

    #[test]
    fn every_other_byte_is_written_in_hex() {
        let odd = key("Ab c@~/é", TWO).unwrap();
        assert_eq!(
            odd.as_str(),
            "~41b~20c~40~7e/~c3~a9@2026-01-01T02:00:00.000Z"
        );
        assert_eq!(odd.timer_id(), TimerId::new("Ab c@~/é"));
    }

    #[test]
    fn the_longest_key_has_191_bytes() {
        assert_eq!(key(&"a".repeat(166), TWO).unwrap().as_str().len(), 191);
        assert_eq!(
            key(&"a".repeat(167), TWO),
            Err(RunKeyError::TooLong { bytes: 192 })
        );
        assert_eq!(
            key(&"A".repeat(56), TWO),
            Err(RunKeyError::TooLong { bytes: 193 })
        );
    }

    #[test]
    fn a_timer_without_a_name_and_a_time_beyond_the_calendar_are_refused() {
        assert_eq!(key("", TWO), Err(RunKeyError::EmptyTimerId));
        let after = Timestamp::MAX.plus_ms(1);
        assert_eq!(key("a", after), Err(RunKeyError::Unwritable(after)));
        assert!(key("a", Timestamp::MIN).is_ok());
    }

    #[test]
    fn the_parser_reads_only_what_new_writes() {
        let time = "@2026-01-01T02:00:00.000Z";
        for (name, why) in [
            ("", RunKeyError::EmptyTimerId),
            ("Report", RunKeyError::BadName),
            ("a b", RunKeyError::BadName),
            ("a@b", RunKeyError::BadName),
            ("~", RunKeyError::BadName),
            ("~4", RunKeyError::BadName),
            ("~4A", RunKeyError::BadName),
            ("~61", RunKeyError::BadName),
            ("~ff", RunKeyError::BadName),
            (&"a".repeat(167), RunKeyError::TooLong { bytes: 192 }),
        ] {
            assert_eq!(
                format!("{name}{time}").parse::<RunKey>(),
                Err(why),
                "{name}"
            );
        }
        for text in [
            "",
            "report",
            "report@2026-01-01T02:00:00Z",
            "é2026-01-01T02:00:00.000Z",
        ] {
            assert_eq!(text.parse::<RunKey>(), Err(RunKeyError::NoTime), "{text}");
        }
    }

    fn any_time() -> impl Strategy<Value = Timestamp> {
        (Timestamp::MIN.0..=Timestamp::MAX.0).prop_map(Timestamp)
    }

    /// Two names that are the same but for case, spaces, an escape or nothing at all.
    fn neighbours() -> impl Strategy<Value = (String, String)> {
        let changes = prop_oneof![
            Just(str::to_uppercase as fn(&str) -> String),
            Just(str::to_lowercase as fn(&str) -> String),
            Just((|name| format!("{name} ")) as fn(&str) -> String),
            Just((|name| format!("{name}~20")) as fn(&str) -> String),
            Just((|name| format!("{name}@")) as fn(&str) -> String),
            Just((|name| format!("{name}\0")) as fn(&str) -> String),
            Just((|name| name.replace('s', "ſ").replace('k', "\u{212a}")) as fn(&str) -> String),
            Just((|name| name.to_owned()) as fn(&str) -> String),
        ];
        let name = prop_oneof!["[a-zA-Z ~@ßſıİkK._:/-]{1,40}", "[ks]{1,166}", ".{1,12}"];
        (name, changes).prop_map(|(name, change)| (change(&name), name))
    }

    proptest! {
        #[test]
        fn text_round_trips(name in ".{1,30}", at in any_time()) {
            if let Ok(run) = key(&name, at) {
                prop_assert_eq!(run.as_str().parse(), Ok(run.clone()));
                prop_assert_eq!(run.timer_id(), TimerId::new(name));
                prop_assert_eq!(run.scheduled(), at);
            }
        }

        #[test]
        fn for_one_timer_byte_order_is_time_order(name in ".{1,12}", a in any_time(), b in any_time()) {
            if let (Ok(first), Ok(second)) = (key(&name, a), key(&name, b)) {
                prop_assert_eq!(first.as_str().as_bytes().cmp(second.as_str().as_bytes()), a.cmp(&b));
            }
        }

        #[test]
        fn two_slots_never_collide_however_the_text_is_folded(
            (one, other) in neighbours(),
            a in any_time(),
            b in any_time(),
            same_time: bool,
        ) {
            let b = if same_time { a } else { b };
            prop_assume!((&one, a) != (&other, b));
            if let (Ok(first), Ok(second)) = (key(&one, a), key(&other, b)) {
                let foldings: [fn(&str) -> String; 6] = [
                    str::to_ascii_lowercase,
                    str::to_lowercase,
                    str::to_uppercase,
                    |text| text.trim_end().to_owned(),
                    |text| text.chars().take(191).collect(),
                    |text| text.trim_end_matches([' ', '\0', '\t']).to_uppercase().to_lowercase(),
                ];
                for fold in foldings {
                    prop_assert_ne!(fold(first.as_str()), fold(second.as_str()));
                }
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            let _ = text.parse::<RunKey>();
        }

        #[test]
        fn what_the_parser_takes_is_what_new_writes(
            text in "[a-zA-Z~0-9éa@ ]{0,8}@[0-9]{4}-0[1-9]-[0-2][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z",
        ) {
            if let Ok(run) = text.parse::<RunKey>() {
                prop_assert_eq!(RunKey::new(&run.timer_id(), run.scheduled()), Ok(run));
            }
        }
    }
}
