//! From civil time to an instant: what a clock on the wall of a zone means on DST days.
//!
//! A civil time that a zone skips (the gap in spring) means the first instant after the gap; one
//! that it has twice (the fold in autumn) means the first of the two. With these two rules the
//! mapping never runs backwards, which everything here rests on.

use chrono::{NaiveDateTime, TimeZone};
use chrono_tz::{GapInfo, Tz};
use evidence::Timestamp;

/// The instant that a civil time of the zone means; `None` only at the ends of the zone's data.
pub(super) fn instant(zone: Tz, civil: NaiveDateTime) -> Option<Timestamp> {
    let moment = zone
        .from_local_datetime(&civil)
        .earliest()
        .or_else(|| GapInfo::new(&civil, &zone).and_then(|gap| gap.end))?;
    Some(Timestamp(moment.timestamp_millis()))
}

/// What the wall clock of the zone shows; `None` outside chrono's years.
pub(super) fn civil(zone: Tz, at: Timestamp) -> Option<NaiveDateTime> {
    let moment = chrono::DateTime::from_timestamp_millis(at.0)?;
    Some(moment.with_timezone(&zone).naive_local())
}
