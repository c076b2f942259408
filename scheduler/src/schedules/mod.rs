//! Schedules: when is a timer due?
//!
//! A scenario writes a [`ScheduleConfig`]; [`Schedule::compile`] checks it and answers from then
//! on without errors. [`Timetable`] asks it for the first planned times once, before any execution.
//!
//! All times are whole milliseconds; a planned time is never before the scenario's epoch, and one
//! exactly at the epoch counts.

mod at;
mod civil;
mod config;
mod cron;
mod delay;
mod error;
mod every;
mod timetable;

pub use config::ScheduleConfig;
pub use error::ScheduleError;
pub use timetable::{Timetable, plan};

use evidence::Timestamp;

/// A schedule that has been checked: it is due at least once from its epoch on.
#[derive(Clone, Debug)]
pub struct Schedule(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Cron(Box<cron::Cron>),
    Every(every::Every),
    Delay(delay::Delay),
    At(at::At),
}

impl Schedule {
    /// Checks what the scenario wrote.
    ///
    /// # Errors
    ///
    /// If it is no schedule, or one that is never due from `epoch` on; the error names the field
    /// and what is allowed there.
    pub fn compile(config: &ScheduleConfig, epoch: Timestamp) -> Result<Self, ScheduleError> {
        let kind = match config {
            ScheduleConfig::Cron { cron, zone } => {
                Kind::Cron(Box::new(cron::Cron::compile(cron, zone, epoch)?))
            }
            ScheduleConfig::Every { every, phase } => {
                Kind::Every(every::Every::compile(*every, *phase, epoch)?)
            }
            ScheduleConfig::Delay { delay } => Kind::Delay(delay::Delay::compile(*delay, epoch)?),
            ScheduleConfig::At { at } => Kind::At(at::At::compile(at, epoch)?),
        };
        Ok(Schedule(kind))
    }

    /// The first planned time at or after `from`.
    pub fn first(&self, from: Timestamp) -> Option<Timestamp> {
        self.next_after(from.plus_ms(-1))
    }

    /// The first planned time after `after`; `None` where the schedule has ended.
    ///
    /// Of a [`ScheduleConfig::Delay`] only the first planned time is known in advance.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Kind::Cron(cron) => cron.next_after(after),
            Kind::Every(every) => every.next_after(after),
            Kind::Delay(delay) => delay.next_after(after),
            Kind::At(at) => at.next_after(after),
        }
    }

    /// Whether a planned time follows from the end of the run before it.
    pub fn follows_completion(&self) -> bool {
        matches!(self.0, Kind::Delay(_))
    }

    /// The planned time that follows the run that ended at `done`; `None` unless
    /// [`Schedule::follows_completion`].
    pub fn next_after_completion(&self, done: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Kind::Delay(delay) => Some(delay.next_after_completion(done)),
            Kind::Cron(_) | Kind::Every(_) | Kind::At(_) => None,
        }
    }

    /// The planned times at or after `from`, in order.
    pub fn times(&self, from: Timestamp) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.first(from), |last| self.next_after(*last))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Span;
    use proptest::prelude::*;

    const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

    #[test]
    fn every_counts_from_the_epoch_and_its_phase() {
        let config = ScheduleConfig::Every {
            every: Span::secs(10),
            phase: Span::secs(3),
        };
        let schedule = Schedule::compile(&config, EPOCH).unwrap();
        let first: Vec<i64> = schedule
            .times(EPOCH)
            .take(3)
            .map(|time| time.ms_since(EPOCH))
            .collect();
        assert_eq!(first, [3_000, 13_000, 23_000]);
        assert_eq!(
            schedule.first(EPOCH.plus_ms(13_000)),
            Some(EPOCH.plus_ms(13_000))
        );
        assert_eq!(schedule.first(Timestamp(i64::MIN)), schedule.first(EPOCH));
        assert_eq!(schedule.next_after(Timestamp(i64::MAX)), None);
        assert_eq!(schedule.next_after_completion(EPOCH), None);
    }

    #[test]
    fn a_delay_follows_the_end_of_the_run_before_it() {
        let config = ScheduleConfig::Delay {
            delay: Span::secs(10),
        };
        let schedule = Schedule::compile(&config, EPOCH).unwrap();
        assert!(schedule.follows_completion());
        assert_eq!(schedule.first(EPOCH), Some(EPOCH.plus_ms(10_000)));
        assert_eq!(schedule.next_after(EPOCH.plus_ms(10_000)), None);
        assert_eq!(
            schedule.next_after_completion(EPOCH.plus_ms(12_345)),
            Some(EPOCH.plus_ms(22_345))
        );
    }

    #[test]
    fn times_at_are_due_once_each() {
        let config = ScheduleConfig::At {
            at: vec![EPOCH, EPOCH.plus_ms(1), EPOCH.plus_ms(70)],
        };
        let schedule = Schedule::compile(&config, EPOCH).unwrap();
        let all: Vec<i64> = schedule
            .times(EPOCH)
            .map(|time| time.ms_since(EPOCH))
            .collect();
        assert_eq!(all, [0, 1, 70]);
    }

    #[test]
    fn what_is_no_schedule_is_refused_and_the_field_is_named() {
        let at = |times: &[i64]| ScheduleConfig::At {
            at: times.iter().map(|ms| EPOCH.plus_ms(*ms)).collect(),
        };
        for (config, field, says) in [
            (at(&[]), "at", "one time or more"),
            (at(&[5, 5]), "at", "each is later than the one before"),
            (
                at(&[-1, 5]),
                "at",
                "from the epoch 2026-01-01T00:00:00.000Z",
            ),
            (
                ScheduleConfig::Every {
                    every: Span::ZERO,
                    phase: Span::ZERO,
                },
                "every",
                "longer than zero",
            ),
            (
                ScheduleConfig::Delay { delay: Span::ZERO },
                "delay",
                "longer than zero",
            ),
        ] {
            let error = Schedule::compile(&config, EPOCH).unwrap_err();
            assert_eq!(error.field(), field);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    fn any_config() -> impl Strategy<Value = ScheduleConfig> {
        let field = |most: u32, least: u32| {
            prop_oneof![
                Just("*".to_owned()),
                (least..=most).prop_map(|n| n.to_string()),
                (1..=most).prop_map(|n| format!("*/{n}")),
                (least..=most, least..=most).prop_map(|(a, b)| format!(
                    "{}-{}",
                    a.min(b),
                    a.max(b)
                )),
            ]
        };
        let zone = prop::sample::select(vec![
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Asia/Shanghai",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "Antarctica/Troll",
            "Africa/Monrovia",
            "America/St_Johns",
        ]);
        prop_oneof![
            4 => (
                field(59, 0), field(59, 0), field(23, 0), field(28, 1), field(12, 1), field(7, 1), zone,
            )
                .prop_map(|(second, minute, hour, day, month, weekday, zone)| ScheduleConfig::Cron {
                    cron: format!("{second} {minute} {hour} {day} {month} {weekday}"),
                    zone: zone.to_owned(),
                }),
            1 => (1..=10_000_000u64, 0..=10_000_000u64).prop_map(|(every, phase)| {
                ScheduleConfig::Every { every: Span::millis(every), phase: Span::millis(phase) }
            }),
            1 => prop::collection::btree_set(EPOCH.0..EPOCH.0 + 1000, 1..20).prop_map(|times| {
                ScheduleConfig::At { at: times.into_iter().map(Timestamp).collect() }
            }),
            1 => (1..=1000u64).prop_map(|delay| {
                ScheduleConfig::Delay { delay: Span::millis(delay) }
            }),
        ]
    }

    /// From 1970 to 2110, and every hour of DST days of a year among them.
    fn any_time() -> impl Strategy<Value = Timestamp> {
        prop_oneof![
            0..4_417_977_600_000i64,
            EPOCH.0..EPOCH.0 + 366 * 86_400_000,
            prop::sample::select(vec![
                "2026-03-29T00:00:00Z",
                "2026-10-25T00:00:00Z",
                "2026-03-08T06:00:00Z",
                "2026-11-01T05:00:00Z",
                "2026-04-04T14:00:00Z",
                "2026-10-03T14:00:00Z",
                "2011-12-30T08:00:00Z",
            ])
            .prop_flat_map(|text| {
                let base: Timestamp = text.parse().unwrap();
                (0..3 * 3_600_000i64).prop_map(move |ms| base.0 + ms)
            }),
        ]
        .prop_map(Timestamp)
    }

    proptest! {
        #[test]
        fn the_next_time_is_later_and_there_is_none_between(
            config in any_config(), epoch in any_time(), at in any_time(), share in 0.0..1.0f64,
        ) {
            let Ok(schedule) = Schedule::compile(&config, epoch) else { return Ok(()) };
            if let Some(next) = schedule.next_after(at) {
                prop_assert!(next > at);
                prop_assert!(next >= epoch);
                let between = at.plus_ms((next.ms_since(at) as f64 * share) as i64).min(next.plus_ms(-1));
                prop_assert_eq!(schedule.next_after(between), Some(next));
                prop_assert_eq!(schedule.first(next), Some(next));
            } else {
                prop_assert_eq!(schedule.next_after(at.plus_ms(1)), None);
            }
        }

        #[test]
        fn a_later_question_never_has_an_earlier_answer(
            config in any_config(), epoch in any_time(), a in any_time(), b in any_time(),
        ) {
            let Ok(schedule) = Schedule::compile(&config, epoch) else { return Ok(()) };
            let never = Timestamp(i64::MAX);
            let (early, late) = (a.min(b), a.max(b));
            prop_assert!(
                schedule.next_after(early).unwrap_or(never) <= schedule.next_after(late).unwrap_or(never)
            );
        }

        #[test]
        fn the_iterator_gives_what_chained_calls_give(
            config in any_config(), epoch in any_time(), from in any_time(),
        ) {
            let Ok(schedule) = Schedule::compile(&config, epoch) else { return Ok(()) };
            let mut chained = Vec::new();
            let mut next = schedule.first(from);
            while let Some(time) = next.filter(|_| chained.len() < 30) {
                chained.push(time);
                next = schedule.next_after(time);
            }
            let iterated: Vec<_> = schedule.times(from).take(30).collect();
            prop_assert!(iterated.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(iterated, chained);
        }

        #[test]
        fn no_text_makes_the_compiler_panic(cron in ".*", zone in ".*") {
            let _ = Schedule::compile(&ScheduleConfig::Cron { cron, zone }, EPOCH);
        }

        #[test]
        fn no_text_that_looks_like_cron_makes_the_compiler_panic(
            cron in "([0-9*/?,-]{1,6}|[A-Za-z]{3}|4294967295|\\*/0|0-4294967295)( ([0-9*/?,-]{1,4}|[A-Z]{3}-[A-Z]{3}|\\*)){4,7}",
        ) {
            let _ = Schedule::compile(&ScheduleConfig::Cron { cron, zone: "Europe/Berlin".into() }, EPOCH);
        }
    }
}
