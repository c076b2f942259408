//! `schedule = { .. }` of a timer, as scenario files write it.

use crate::Span;
use evidence::Timestamp;
use serde::{Deserialize, Serialize};

/// When a timer is due: exactly one of `cron`, `every`, `delay` and `at`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub enum ScheduleConfig {
    /// `{ cron = "0 0 2 * * *", zone = "UTC" }`.
    Cron {
        /// Six or seven fields: second, minute, hour, day, month, weekday, year.
        cron: String,
        /// IANA name of the zone whose civil time the expression is about. Default `UTC`.
        zone: String,
    },
    /// `{ every = "15m", phase = "0s" }`: at epoch + phase, and from there on every so often.
    Every {
        /// The distance of two planned times.
        every: Span,
        /// How long after the epoch the first one is. Default 0 s.
        phase: Span,
    },
    /// `{ delay = "15m" }`: so long after the epoch, then so long after the end of each run.
    Delay {
        /// The delay.
        delay: Span,
    },
    /// `{ at = ["2026-01-01T02:00:00Z"] }`: at these times.
    At {
        /// The planned times.
        at: Vec<Timestamp>,
    },
}

/// Default: 02:00 UTC.
impl Default for ScheduleConfig {
    fn default() -> Self {
        ScheduleConfig::Cron {
            cron: "0 0 2 * * *".to_owned(),
            zone: UTC.to_owned(),
        }
    }
}

const UTC: &str = "UTC";

/// The table as it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Vec<String>>,
}

const ALLOWED: &str = "allowed is exactly one of { cron, zone }, { every, phase }, { delay } and \
                       { at = [..] }";

impl TryFrom<Fields> for ScheduleConfig {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let Fields {
            cron,
            zone,
            every,
            phase,
            delay,
            at,
        } = fields;
        let foreign = |name: &str, kind: &str| {
            Err(format!(
                "`{name}` does not belong to a schedule by `{kind}`; {ALLOWED}"
            ))
        };
        match (cron, every, delay, at) {
            (Some(_), None, None, None) if phase.is_some() => foreign("phase", "cron"),
            (Some(cron), None, None, None) => Ok(ScheduleConfig::Cron {
                cron,
                zone: zone.unwrap_or_else(|| UTC.to_owned()),
            }),
            (None, Some(_), None, None) if zone.is_some() => foreign("zone", "every"),
            (None, Some(every), None, None) => Ok(ScheduleConfig::Every {
                every,
                phase: phase.unwrap_or_default(),
            }),
            (None, None, Some(_), None) if zone.is_some() => foreign("zone", "delay"),
            (None, None, Some(_), None) if phase.is_some() => foreign("phase", "delay"),
            (None, None, Some(delay), None) => Ok(ScheduleConfig::Delay { delay }),
            (None, None, None, Some(_)) if zone.is_some() => foreign("zone", "at"),
            (None, None, None, Some(_)) if phase.is_some() => foreign("phase", "at"),
            (None, None, None, Some(at)) => Ok(ScheduleConfig::At {
                at: at
                    .iter()
                    .map(|text| {
                        text.parse()
                            .map_err(|error| format!("`{text}` in `at` is {error}"))
                    })
                    .collect::<Result<_, _>>()?,
            }),
            (None, None, None, None) => Err(format!("the schedule says no time; {ALLOWED}")),
            _ => Err(format!("the schedule says more than one time; {ALLOWED}")),
        }
    }
}

impl From<ScheduleConfig> for Fields {
    fn from(config: ScheduleConfig) -> Self {
        let nothing = Fields::default();
        match config {
            ScheduleConfig::Cron { cron, zone } => Fields {
                cron: Some(cron),
                zone: Some(zone),
                ..nothing
            },
            ScheduleConfig::Every { every, phase } => Fields {
                every: Some(every),
                phase: Some(phase),
                ..nothing
            },
            ScheduleConfig::Delay { delay } => Fields {
                delay: Some(delay),
                ..nothing
            },
            ScheduleConfig::At { at } => Fields {
                at: Some(at.iter().map(Timestamp::to_string).collect()),
                ..nothing
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Result<ScheduleConfig, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn each_kind_is_known_by_its_key() {
        for (text, config) in [
            (
                "cron = '0 0 2 * * *'",
                ScheduleConfig::Cron {
                    cron: "0 0 2 * * *".into(),
                    zone: "UTC".into(),
                },
            ),
            (
                "cron = '0 0 2 * * *'\nzone = 'Asia/Shanghai'",
                ScheduleConfig::Cron {
                    cron: "0 0 2 * * *".into(),
                    zone: "Asia/Shanghai".into(),
                },
            ),
            (
                "every = '15m'",
                ScheduleConfig::Every {
                    every: Span::secs(900),
                    phase: Span::ZERO,
                },
            ),
            (
                "every = '15m'\nphase = '2s'",
                ScheduleConfig::Every {
                    every: Span::secs(900),
                    phase: Span::secs(2),
                },
            ),
            (
                "delay = '15m'",
                ScheduleConfig::Delay {
                    delay: Span::secs(900),
                },
            ),
            (
                "at = ['1970-01-01T00:00:01Z', '1970-01-01T00:00:02.500Z']",
                ScheduleConfig::At {
                    at: vec![Timestamp(1000), Timestamp(2500)],
                },
            ),
        ] {
            assert_eq!(read(text), Ok(config.clone()), "{text}");
            assert_eq!(read(&toml::to_string(&config).unwrap()), Ok(config));
        }
        assert_eq!(read("cron = '0 0 2 * * *'"), Ok(ScheduleConfig::default()));
    }

    #[test]
    fn what_is_not_exactly_one_kind_is_refused_with_what_is_allowed() {
        for (text, says) in [
            ("", "says no time"),
            ("zone = 'UTC'", "says no time"),
            ("cron = '0 0 2 * * *'\nevery = '1s'", "more than one time"),
            ("every = '1s'\nzone = 'UTC'", "`zone` does not belong"),
            ("delay = '1s'\nphase = '1s'", "`phase` does not belong"),
            (
                "at = ['tomorrow']",
                "`tomorrow` in `at` is not a time such as",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        for text in ["", "cron = '0 0 2 * * *'\ndelay = '1s'"] {
            assert!(read(text).unwrap_err().ends_with(ALLOWED), "{text}");
        }
    }

    #[test]
    fn fields_that_do_not_exist_yet_are_refused() {
        for field in ["dialect", "dst", "corn"] {
            let error = read(&format!("cron = '0 0 2 * * *'\n{field} = 'x'")).unwrap_err();
            assert!(error.contains("unknown field"), "{error}");
            assert!(error.contains("`cron`, `zone`"), "{error}");
        }
    }
}
