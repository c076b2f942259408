//! The planned times of one timer, computed once, so that no execution evaluates a schedule.

use super::{Schedule, ScheduleError};
use evidence::{Planned, RunKey, Slot, TimerId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first planned times of a timer, with their run keys. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    planned: Arc<[Planned]>,
}

impl Timetable {
    /// The most slots that a timetable holds.
    pub const MAX_SLOTS: u32 = 1_000_000;

    /// The first `slots` planned times from `epoch` on; fewer where the schedule ends before, and
    /// only the first where a planned time follows from the end of the run before it.
    ///
    /// # Errors
    ///
    /// If there are more slots than [`Timetable::MAX_SLOTS`], or a planned time has no run key.
    pub fn new(
        timer_index: u16,
        id: &TimerId,
        schedule: &Schedule,
        epoch: Timestamp,
        slots: u32,
    ) -> Result<Self, ScheduleError> {
        if slots > Self::MAX_SLOTS {
            return Err(ScheduleError::TooManySlots {
                slots,
                most: Self::MAX_SLOTS,
            });
        }
        let planned = (1..=slots)
            .zip(schedule.times(epoch))
            .map(|(ordinal, scheduled)| plan(timer_index, id, ordinal, scheduled))
            .collect::<Result<_, _>>()?;
        Ok(Timetable { planned })
    }

    /// The `ordinal`-th planned time, from 1.
    pub fn get(&self, ordinal: u32) -> Option<&Planned> {
        let place = usize::try_from(ordinal.checked_sub(1)?).ok()?;
        self.planned.get(place)
    }

    /// The same times, each as the slot that it is numbered as.
    #[must_use]
    pub fn renumbered(&self, slots: &BTreeMap<Timestamp, Slot>) -> Self {
        let planned = self.planned.iter().cloned();
        let planned = planned.map(|planned| Planned {
            slot: slots
                .get(&planned.scheduled)
                .copied()
                .unwrap_or(planned.slot),
            ..planned
        });
        Timetable {
            planned: planned.collect(),
        }
    }

    /// All of them, in order.
    pub fn planned(&self) -> &Arc<[Planned]> {
        &self.planned
    }
}

/// One planned time of a timer, with its run key.
///
/// # Errors
///
/// If it has no run key.
pub fn plan(
    timer_index: u16,
    id: &TimerId,
    ordinal: u32,
    scheduled: Timestamp,
) -> Result<Planned, ScheduleError> {
    Ok(Planned {
        slot: Slot {
            timer: timer_index,
            ordinal,
        },
        scheduled,
        run: RunKey::new(id, scheduled)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Span;
    use crate::schedules::ScheduleConfig;
    use evidence::RunKeyError;

    const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

    fn timetable(config: ScheduleConfig, slots: u32) -> Result<Timetable, ScheduleError> {
        let schedule = Schedule::compile(&config, EPOCH)?;
        Timetable::new(3, &TimerId::new("report"), &schedule, EPOCH, slots)
    }

    #[test]
    fn slots_are_numbered_from_one_and_bear_their_run_keys() {
        let table = timetable(ScheduleConfig::default(), 2).unwrap();
        assert_eq!(table.get(0), None);
        assert_eq!(
            table.get(1),
            Some(&Planned {
                slot: Slot {
                    timer: 3,
                    ordinal: 1
                },
                scheduled: EPOCH.plus_ms(2 * 3_600_000),
                run: "report@2026-01-01T02:00:00.000Z".parse().unwrap(),
            })
        );
        assert_eq!(
            table.get(2).unwrap().run.as_str(),
            "report@2026-01-02T02:00:00.000Z"
        );
        assert_eq!(table.get(3), None);
        assert_eq!(table.planned().len(), 2);
    }

    #[test]
    fn a_slot_exactly_at_the_epoch_counts() {
        let every = ScheduleConfig::Every {
            every: Span::secs(60),
            phase: Span::ZERO,
        };
        assert_eq!(
            timetable(every, 1).unwrap().get(1).unwrap().scheduled,
            EPOCH
        );
    }

    #[test]
    fn of_a_delay_only_the_first_planned_time_is_known() {
        let delay = ScheduleConfig::Delay {
            delay: Span::secs(60),
        };
        let table = timetable(delay, 5).unwrap();
        assert_eq!(table.get(1).unwrap().scheduled, EPOCH.plus_ms(60_000));
        assert_eq!(table.get(2), None);
    }

    #[test]
    fn a_schedule_that_ends_has_fewer_slots() {
        let at = ScheduleConfig::At {
            at: vec![EPOCH, EPOCH.plus_ms(5)],
        };
        assert_eq!(timetable(at, 9).unwrap().planned().len(), 2);
    }

    #[test]
    fn too_many_slots_and_times_without_a_run_key_are_refused() {
        assert_eq!(
            timetable(ScheduleConfig::default(), u32::MAX),
            Err(ScheduleError::TooManySlots {
                slots: u32::MAX,
                most: 1_000_000
            })
        );
        let rare = ScheduleConfig::Every {
            every: Span::MAX,
            phase: Span::ZERO,
        };
        assert!(matches!(
            timetable(rare, 100),
            Err(ScheduleError::RunKey(RunKeyError::Unwritable(_)))
        ));
    }
}
