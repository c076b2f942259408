//! `cron`: due at civil times of a zone, by an expression of six or seven fields.
//!
//! The dialect is that of the `cron` crate, version 0.17.0. The crate is asked only in UTC, over
//! civil time: in a zone with DST its own answers run backwards inside the repeated hour. The way
//! from civil time to instants is [`super::civil`].

use super::ScheduleError;
use super::civil::{civil, instant};
use chrono::{DateTime, NaiveDateTime};
use chrono_tz::{TZ_VARIANTS, Tz};
use evidence::Timestamp;

/// A cron expression in a zone.
#[derive(Clone, Debug)]
pub(super) struct Cron {
    expression: ::cron::Schedule,
    zone: Tz,
    epoch: Timestamp,
}

/// The crate's expressions begin in 1970 and end with 2100; asked from two days before (a zone may
/// be a day ahead), it finds the very first second.
const EARLIEST: Timestamp = Timestamp(-2 * 86_400_000);
/// Two days into 2101: later than the last planned time in every zone.
const LATEST: Timestamp = Timestamp(4_133_980_800_000 + 2 * 86_400_000);

impl Cron {
    pub(super) fn compile(cron: &str, zone: &str, epoch: Timestamp) -> Result<Self, ScheduleError> {
        let compiled = Cron {
            expression: parse(cron)?,
            zone: zone.parse().map_err(|_| unknown_zone(zone))?,
            epoch,
        };
        match compiled.next_after(epoch.plus_ms(-1)) {
            Some(_) => Ok(compiled),
            None => Err(ScheduleError::NeverFires {
                cron: cron.to_owned(),
                epoch,
            }),
        }
    }

    pub(super) fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.max(self.epoch.plus_ms(-1)).max(EARLIEST);
        if after > LATEST {
            return None;
        }
        // No civil time up to what the clock shows means an instant later than `after`. Those that
        // follow may still mean an earlier one (in a fold) or the same one (in a gap).
        let mut wall = civil(self.zone, after)?;
        loop {
            wall = self.next_civil(wall)?;
            let due = instant(self.zone, wall)?;
            if due > after {
                return Some(due);
            }
        }
    }

    /// The first civil time after `wall` that the expression matches.
    fn next_civil(&self, wall: NaiveDateTime) -> Option<NaiveDateTime> {
        let as_if_utc: DateTime<chrono::Utc> = wall.and_utc();
        let next = self.expression.after(&as_if_utc).next()?;
        Some(next.naive_utc())
    }
}

fn parse(cron: &str) -> Result<::cron::Schedule, ScheduleError> {
    let text = cron.trim();
    let found = text.split_whitespace().count();
    if !text.starts_with('@') && !(6..=7).contains(&found) {
        return Err(ScheduleError::CronFields {
            cron: shorten(cron),
            found,
        });
    }
    text.parse()
        .map_err(|error: ::cron::error::Error| ScheduleError::Cron {
            cron: shorten(cron),
            reason: reason(&error.to_string()),
        })
}

/// The last line of the parser's message; those before it draw the place.
fn reason(message: &str) -> String {
    let last = message
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    match last {
        Some(line) if line.chars().any(char::is_alphanumeric) => shorten(line),
        _ => "it does not follow the grammar".to_owned(),
    }
}

/// A line fits a person's screen, whatever the file says.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

fn unknown_zone(zone: &str) -> ScheduleError {
    let near = |known: &&Tz| {
        let (_, city) = known.name().rsplit_once('/').unwrap_or(("", known.name()));
        known.name().eq_ignore_ascii_case(zone) || city.eq_ignore_ascii_case(zone)
    };
    ScheduleError::UnknownZone {
        zone: shorten(zone),
        hint: TZ_VARIANTS.iter().find(near).map(|known| known.name()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::{Duration, Instant};

    const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

    fn compile(cron: &str, zone: &str) -> Result<Cron, ScheduleError> {
        Cron::compile(cron, zone, EPOCH)
    }

    fn times(cron: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let cron = compile(cron, zone).unwrap();
        let mut at = from.parse::<Timestamp>().unwrap().plus_ms(-1);
        let mut times = Vec::new();
        while let Some(next) = cron.next_after(at).filter(|_| times.len() < count) {
            times.push(next.to_string().replace(".000Z", "Z"));
            at = next;
        }
        times
    }

    #[test]
    fn a_zone_without_dst_is_a_plain_offset() {
        assert_eq!(
            times("0 0 2 * * *", "Asia/Shanghai", "2026-01-01T00:00:00Z", 2),
            ["2026-01-01T18:00:00Z", "2026-01-02T18:00:00Z"]
        );
    }

    #[test]
    fn a_time_that_spring_skips_is_the_first_instant_after_the_gap() {
        assert_eq!(
            times("0 30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
            [
                "2026-03-28T01:30:00Z",
                "2026-03-29T01:00:00Z",
                "2026-03-30T00:30:00Z"
            ]
        );
        assert_eq!(
            times(
                "0 30 2 * * *",
                "America/New_York",
                "2026-03-07T00:00:00Z",
                3
            ),
            [
                "2026-03-07T07:30:00Z",
                "2026-03-08T07:00:00Z",
                "2026-03-09T06:30:00Z"
            ]
        );
        assert_eq!(
            times(
                "0 15 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-02T00:00:00Z",
                3
            ),
            [
                "2026-10-02T15:45:00Z",
                "2026-10-03T15:30:00Z",
                "2026-10-04T15:15:00Z"
            ]
        );
    }

    #[test]
    fn a_time_that_autumn_has_twice_is_the_first_of_the_two() {
        assert_eq!(
            times("0 30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", 3),
            [
                "2026-10-24T00:30:00Z",
                "2026-10-25T00:30:00Z",
                "2026-10-26T01:30:00Z"
            ]
        );
        assert_eq!(
            times(
                "0 30 1 * * *",
                "America/New_York",
                "2026-10-31T00:00:00Z",
                3
            ),
            [
                "2026-10-31T05:30:00Z",
                "2026-11-01T05:30:00Z",
                "2026-11-02T06:30:00Z"
            ]
        );
        assert_eq!(
            times(
                "0 45 1 * * *",
                "Australia/Lord_Howe",
                "2026-04-03T00:00:00Z",
                3
            ),
            [
                "2026-04-03T14:45:00Z",
                "2026-04-04T14:45:00Z",
                "2026-04-05T15:15:00Z"
            ]
        );
    }

    #[test]
    fn an_hourly_slot_inside_the_gap_is_that_of_its_end_and_comes_once() {
        assert_eq!(
            times("0 0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3),
            [
                "2026-03-29T00:00:00Z",
                "2026-03-29T01:00:00Z",
                "2026-03-29T02:00:00Z"
            ]
        );
    }

    #[test]
    fn an_hourly_slot_of_the_repeated_hour_comes_once() {
        assert_eq!(
            times("0 0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 3),
            [
                "2026-10-25T00:00:00Z",
                "2026-10-25T02:00:00Z",
                "2026-10-25T03:00:00Z"
            ]
        );
    }

    #[test]
    fn asked_inside_the_repeated_hour_it_answers_with_a_later_time() {
        let cron = compile("* * * * * *", "Europe/Berlin").unwrap();
        let second_half_past_two: Timestamp = "2026-10-25T01:30:00Z".parse().unwrap();
        assert_eq!(
            cron.next_after(second_half_past_two),
            Some("2026-10-25T02:00:00Z".parse().unwrap())
        );
    }

    #[test]
    fn a_day_that_a_zone_skips_is_its_next_midnight() {
        let epoch = "2011-12-28T00:00:00Z".parse().unwrap();
        let cron = Cron::compile("0 0 12 * * *", "Pacific/Apia", epoch).unwrap();
        let noon_of_29: Timestamp = "2011-12-29T22:00:00Z".parse().unwrap();
        let midnight_of_31: Timestamp = "2011-12-30T10:00:00Z".parse().unwrap();
        assert_eq!(cron.next_after(noon_of_29.plus_ms(-1)), Some(noon_of_29));
        assert_eq!(cron.next_after(noon_of_29), Some(midnight_of_31));
    }

    #[test]
    fn an_expression_begins_in_1970_and_ends_with_2100() {
        let epoch = "1960-01-01T00:00:00Z".parse().unwrap();
        let cron = Cron::compile("* * * * * *", "UTC", epoch).unwrap();
        assert_eq!(cron.next_after(epoch), Some(Timestamp(0)));
        let last: Timestamp = "2100-12-31T23:59:59Z".parse().unwrap();
        assert_eq!(cron.next_after(last.plus_ms(-1)), Some(last));
        assert_eq!(cron.next_after(last), None);
        assert_eq!(cron.next_after(Timestamp(i64::MAX)), None);
    }

    #[test]
    fn seven_fields_and_the_shorthands_are_read() {
        assert_eq!(
            times("0 0 2 1 1 * 2030", "UTC", "2026-01-01T00:00:00Z", 5),
            ["2030-01-01T02:00:00Z"]
        );
        assert_eq!(
            times("@daily", "UTC", "2026-01-01T00:00:00Z", 2),
            ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
        );
    }

    #[test]
    fn five_fields_are_refused_because_seconds_come_first() {
        let error = compile("0 2 * * *", "UTC").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cron `0 2 * * *` has 5 fields; allowed are 6 or 7: second minute hour day month \
             weekday [year], so that seconds come first (an expression of 5 fields starts with `0`)"
        );
        assert!(matches!(
            compile("0 0 0 2 * * * *", "UTC"),
            Err(ScheduleError::CronFields { found: 8, .. })
        ));
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long the refusal takes"
    )]
    fn an_expression_that_never_fires_is_refused_at_once() {
        let began = Instant::now();
        for cron in [
            "0 0 0 30 2 *",
            "0 0 0 31 2,4,6,9,11 *",
            "* * * 31 2,4,6,9,11 SUN",
            "0 0 0 1 1 * 2025",
            "0 0 0 29 2 * 2027",
        ] {
            assert_eq!(
                compile(cron, "Europe/Berlin").unwrap_err(),
                ScheduleError::NeverFires {
                    cron: cron.to_owned(),
                    epoch: EPOCH,
                }
            );
        }
        assert!(began.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        for (cron, says) in [
            ("0 0 25 * * *", "Hours"),
            ("*/0 * * * * *", "zero"),
            ("0 0 2 * * FOO", "FOO"),
            ("a b c d e f", "cannot be read"),
        ] {
            let error = compile(cron, "UTC").unwrap_err();
            assert_eq!(error.field(), "cron");
            assert!(error.to_string().contains(says), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }

    #[test]
    fn an_unknown_zone_is_refused_with_a_hint() {
        let hint = |zone: &str| match compile("0 0 2 * * *", zone) {
            Err(ScheduleError::UnknownZone { hint, .. }) => hint,
            other => panic!("{other:?}"),
        };
        assert_eq!(hint("europe/berlin"), Some("Europe/Berlin"));
        assert_eq!(hint("Shanghai"), Some("Asia/Shanghai"));
        assert_eq!(hint("Atlantis"), None);
    }
}
