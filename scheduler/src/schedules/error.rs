//! Why something is no schedule.

use evidence::{RunKeyError, Timestamp};

/// Why something is no schedule: which field, what stands there, what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The cron expression has another number of fields.
    #[error(
        "cron `{cron}` has {found} fields; allowed are 6 or 7: second minute hour day month \
         weekday [year], so that seconds come first (an expression of 5 fields starts with `0`)"
    )]
    CronFields {
        /// The expression.
        cron: String,
        /// Its number of fields.
        found: usize,
    },
    /// A field of the cron expression cannot be read.
    #[error(
        "cron `{cron}` cannot be read: {reason}; allowed are, for second minute hour day month \
         weekday [year], `*`, numbers, names, lists `1,2`, ranges `1-5` and steps `*/5` \
         (weekdays: 1 or SUN to 7 or SAT; years: 1970 to 2100)"
    )]
    Cron {
        /// The expression.
        cron: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The cron expression never fires.
    #[error(
        "cron `{cron}` never fires from {epoch} to the end of 2100; allowed is an expression that \
         some day matches"
    )]
    NeverFires {
        /// The expression.
        cron: String,
        /// From when on.
        epoch: Timestamp,
    },
    /// There is no such zone.
    #[error(
        "zone `{zone}` is not known{}; allowed is an IANA name such as `UTC` or `Europe/Berlin`",
        match hint { Some(hint) => format!(" (did you mean `{hint}`?)"), None => String::new() }
    )]
    UnknownZone {
        /// The name.
        zone: String,
        /// A zone of nearly that name.
        hint: Option<&'static str>,
    },
    /// The field is zero.
    #[error("{field} is `0s`; allowed is a duration longer than zero")]
    Zero {
        /// `every` or `delay`.
        field: &'static str,
    },
    /// `at` is empty.
    #[error("at is empty; allowed is a list of one time or more")]
    NoTimes,
    /// `at` is not in order.
    #[error(
        "at names {time} after {before}; allowed are times of which each is later than the one before"
    )]
    NotInOrder {
        /// The time.
        time: Timestamp,
        /// The one before it in the list.
        before: Timestamp,
    },
    /// `at` names a time before the epoch.
    #[error("at names {time}; allowed are times from the epoch {epoch} on")]
    BeforeEpoch {
        /// The time.
        time: Timestamp,
        /// The scenario's epoch.
        epoch: Timestamp,
    },
    /// More slots than a timetable holds.
    #[error("slots is {slots}; allowed are at most {most}")]
    TooManySlots {
        /// How many are asked for.
        slots: u32,
        /// How many are allowed.
        most: u32,
    },
    /// A planned time has no run key.
    #[error(transparent)]
    RunKey(#[from] RunKeyError),
}

impl ScheduleError {
    /// The field of the timer that is to be changed.
    pub const fn field(&self) -> &'static str {
        match self {
            ScheduleError::CronFields { .. }
            | ScheduleError::Cron { .. }
            | ScheduleError::NeverFires { .. } => "cron",
            ScheduleError::UnknownZone { .. } => "zone",
            ScheduleError::Zero { field } => field,
            ScheduleError::NoTimes
            | ScheduleError::NotInOrder { .. }
            | ScheduleError::BeforeEpoch { .. } => "at",
            ScheduleError::TooManySlots { .. } => "slots",
            ScheduleError::RunKey(_) => "id",
        }
    }
}
