//! A moment in UTC, and the one place of the product that formats and parses one.

use chrono::{DateTime, Datelike, NaiveDate, Timelike};
use std::fmt;
use std::str::FromStr;

/// A moment in UTC, in whole milliseconds since the Unix epoch.
///
/// Prints as `2026-01-01T02:00:00.000Z`. Text exists for the years 0000 to 9999 only
/// ([`Timestamp::MIN`] to [`Timestamp::MAX`]); a moment outside prints as plain milliseconds, such
/// as `253402300800000ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

/// Length of `2026-01-01T02:00:00.000Z`.
pub(crate) const TEXT_LENGTH: usize = 24;

const MS_PER_DAY: i64 = 86_400_000;

impl Timestamp {
    /// `0000-01-01T00:00:00.000Z`, the earliest moment that can be written.
    pub const MIN: Timestamp = Timestamp(-62_167_219_200_000);
    /// `9999-12-31T23:59:59.999Z`, the latest moment that can be written.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    /// This moment and so many milliseconds (negative: before it); stops at the ends of `i64`.
    pub const fn plus_ms(self, ms: i64) -> Self {
        Timestamp(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment, negative if this one is the earlier.
    pub const fn ms_since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time of day alone, `02:00:00.012`, for timelines.
    pub const fn clock(self) -> Clock {
        Clock(self)
    }

    /// True if the moment can be written as text (years 0000 to 9999).
    pub const fn is_writable(self) -> bool {
        Self::MIN.0 <= self.0 && self.0 <= Self::MAX.0
    }

    /// The text as bytes; `None` outside the years 0000 to 9999.
    pub(crate) fn text(self) -> Option<[u8; TEXT_LENGTH]> {
        let moment = DateTime::from_timestamp_millis(self.0).filter(|_| self.is_writable())?;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_digits(&mut text[0..4], moment.year().unsigned_abs());
        write_digits(&mut text[5..7], moment.month());
        write_digits(&mut text[8..10], moment.day());
        text[11..23].copy_from_slice(&clock_text(self));
        Some(text)
    }
}

/// Right-aligned decimal digits of `number`, with leading zeros.
fn write_digits(into: &mut [u8], mut number: u32) {
    for digit in into.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// `02:00:00.012`.
fn clock_text(at: Timestamp) -> [u8; 12] {
    // At most 86_399_999.
    let ms = at.0.rem_euclid(MS_PER_DAY) as u32;
    let mut text = *b"00:00:00.000";
    write_digits(&mut text[0..2], ms / 3_600_000);
    write_digits(&mut text[3..5], ms / 60_000 % 60);
    write_digits(&mut text[6..8], ms / 1000 % 60);
    write_digits(&mut text[9..12], ms % 1000);
    text
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => f.pad(&String::from_utf8_lossy(&text)),
            None => write!(f, "{}ms", self.0),
        }
    }
}

/// The time of day of a [`Timestamp`]; prints as `02:00:00.012`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(Timestamp);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&clock_text(self.0)))
    }
}

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a time such as 2026-01-01T02:00:00.000Z or 2026-01-01T02:00:00Z (UTC, years 0000 to 9999)"
)]
pub struct TimestampError;

/// Reads what [`Timestamp`] prints, and the same without its fraction (`2026-01-01T02:00:00Z`), as
/// scenario files have it. Nothing else: no offsets, no leap seconds, no lower case.
impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        parse(text.as_bytes()).ok_or(TimestampError)
    }
}

/// `None` for anything but the two forms.
pub(crate) fn parse(text: &[u8]) -> Option<Timestamp> {
    let (seconds, ms) = match text.len() {
        20 => (text.strip_suffix(b"Z")?, 0),
        TEXT_LENGTH => {
            let (seconds, fraction) = text.strip_suffix(b"Z")?.split_at(19);
            (seconds, number(fraction.strip_prefix(b".")?)?)
        }
        _ => return None,
    };
    let separators = [
        seconds[4],
        seconds[7],
        seconds[10],
        seconds[13],
        seconds[16],
    ];
    if separators != *b"--T::" {
        return None;
    }
    let year = i32::try_from(number(&seconds[0..4])?).ok()?;
    let moment = NaiveDate::from_ymd_opt(year, number(&seconds[5..7])?, number(&seconds[8..10])?)?
        .and_hms_milli_opt(
            number(&seconds[11..13])?,
            number(&seconds[14..16])?,
            number(&seconds[17..19])?,
            ms,
        )?;
    // chrono has room for a leap second in second 59 only through the fraction, which is < 1000.
    debug_assert!(moment.nanosecond() < 1_000_000_000);
    Some(Timestamp(moment.and_utc().timestamp_millis()))
}

/// Digits only; no sign, no space.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |sum, digit| {
        let value = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        Some(sum * 10 + value)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_moment_prints_with_its_milliseconds() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Timestamp(1_767_232_800_012).to_string(),
            "2026-01-01T02:00:00.012Z"
        );
        assert_eq!(
            Timestamp(1_767_232_800_012).clock().to_string(),
            "02:00:00.012"
        );
        assert_eq!(Timestamp(-1).clock().to_string(), "23:59:59.999");
    }

    #[test]
    fn the_ends_of_the_range_are_where_the_years_end() {
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::MIN.plus_ms(-1).to_string(), "-62167219200001ms");
        assert_eq!(Timestamp::MAX.plus_ms(1).to_string(), "253402300800000ms");
    }

    #[test]
    fn seconds_without_a_fraction_are_read() {
        assert_eq!(
            "2026-01-01T02:00:00Z".parse(),
            Ok(Timestamp(1_767_232_800_000))
        );
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T02:00:00.000",
            "2026-01-01T02:00:00.00Z",
            "2026-01-01T02:00:00,000Z",
            "2026-01-01t02:00:00.000Z",
            "2026-01-01T02:00:60.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-02-29T00:00:00.000Z",
            "2026-1-001T02:00:00.000Z",
            "+026-01-01T02:00:00.000Z",
            "2026-01-01T02:00:00.000Z ",
            "2026-01-01T02:00:00+00:00",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_can_be_read(ms in Timestamp::MIN.0..=Timestamp::MAX.0) {
            prop_assert_eq!(Timestamp(ms).to_string().parse(), Ok(Timestamp(ms)));
        }

        #[test]
        fn what_can_be_read_is_printed_the_same(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z") {
            if let Ok(moment) = text.parse::<Timestamp>() {
                prop_assert_eq!(moment.to_string(), text);
            }
        }

        #[test]
        fn byte_order_is_time_order(
            a in Timestamp::MIN.0..=Timestamp::MAX.0,
            b in Timestamp::MIN.0..=Timestamp::MAX.0,
        ) {
            prop_assert_eq!(Timestamp(a).to_string().cmp(&Timestamp(b).to_string()), a.cmp(&b));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
