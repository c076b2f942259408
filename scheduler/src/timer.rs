//! A timer at work in one instance: waits for each slot, fires it, hands the run on.

use crate::dispatch::Fire;
use crate::ports::{At, Ports};
use crate::race::{self, First};
use crate::schedules::Timetable;
use crate::weakness::Weakness;
use crate::{Span, steps};
use evidence::{Ids, InstanceId, RunKey, Slot, SlotTag, TimerId, Timestamp, TraceId, What};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `[[timer]] next`: from where the slot after this one is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextFrom {
    /// From the slot that was fired: late slots are fired late.
    #[default]
    FromSlot,
    /// From the time after it was handled: slots that came due meanwhile are not fired.
    FromNow,
}

/// From when until when an instance carries a timer, where that changes while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Life {
    /// It is registered at this time; `None`: when the instance starts.
    pub since: Option<Timestamp>,
    /// Slots planned from this time on are not fired: it is gone by then.
    pub until: Option<Timestamp>,
    /// Whether its stored position is thrown away as it is registered, as if it were new.
    pub clears_cursor: bool,
    /// Whether what its row says beside the position is overwritten as it is registered (Quartz
    /// with `overwrite`): whoever had acquired it has not any more.
    pub resets_row: bool,
}

/// A timer, as every instance that carries it knows it.
#[derive(Clone, Debug)]
pub struct Timer {
    /// Its id.
    pub id: TimerId,
    /// Its place in the scenario.
    pub index: u16,
    /// Its planned times.
    pub timetable: Arc<Timetable>,
    /// For a timer whose next slot follows from the end of the run before: how long after.
    pub delay: Option<Span>,
    /// The scenario's epoch: no slot is before it.
    pub epoch: Timestamp,
    /// How many slots it has.
    pub slots: u32,
    /// From where the next slot is looked for.
    pub next: NextFrom,
    /// How often each instance registers it.
    pub registrations: u32,
    /// The instances that carry it; empty: all that fire timers.
    pub on: Vec<InstanceId>,
    /// From when until when they carry it.
    pub life: Life,
    /// How long before its planned time a run is published; whoever takes the message holds it
    /// until then.
    pub publish_ahead: Span,
}

/// A slot that an instance waits for.
#[derive(Clone, Debug)]
struct Coming {
    slot: Slot,
    scheduled: Timestamp,
    run: RunKey,
}

impl Coming {
    fn ids(&self) -> Ids {
        Ids {
            slot: SlotTag::seal(self.slot),
            run: Some(self.run.clone()),
            ..Ids::default()
        }
    }
}

/// Turns a slot that has come into a run.
async fn fire(ports: &Ports, timer: &Timer, mut coming: Coming) -> Option<Fire> {
    let ids = coming.ids();
    let at = At::new(&steps::TIMER_FIRE, &ids);
    ports.runtime.pass(at).await;
    if ports.weak(Weakness::KeyOfFiring) {
        coming.run = RunKey::new(&timer.id, ports.clock.now()).ok()?;
    }
    let trace = TraceId(ports.runtime.random(at));
    let ids = Ids {
        run: Some(coming.run.clone()),
        trace: Some(trace),
        ..ids
    };
    ports
        .journal
        .record(At::new(&steps::TIMER_FIRE, &ids), What::Fired);
    let (run, scheduled) = (coming.run, coming.scheduled);
    Some(Fire {
        ids,
        run,
        trace,
        timer: timer.id.clone(),
        scheduled,
        next: None,
    })
}

/// Turns the slot that a timer's row says is due into a run, for a worker that polls the rows;
/// `None` for a time at which the timer has no slot.
pub(crate) async fn fire_due(ports: &Ports, timer: &Timer, due: Timestamp) -> Option<Fire> {
    let ordinal = crate::dispatch::ordinal_from(&timer.timetable, due);
    let coming = timer.coming(ordinal, None)?;
    let next = match timer.next {
        NextFrom::FromSlot => ordinal + 1,
        NextFrom::FromNow => {
            let now = ports.clock.now().plus_ms(1);
            let from = crate::dispatch::ordinal_from(&timer.timetable, now);
            from.max(ordinal + 1)
        }
    };
    let mut fire = fire(ports, timer, coming).await?;
    fire.next = Some(crate::dispatch::due(&timer.timetable, next));
    Some(fire)
}

impl Timer {
    /// Whether this instance carries the timer.
    pub fn is_on(&self, instance: InstanceId) -> bool {
        self.on.is_empty() || self.on.contains(&instance)
    }

    /// How long it is until the timer is registered; `None`: not at all.
    pub(crate) fn until_registered(&self, now: Timestamp) -> Option<Span> {
        let left = self.life.since?.0.saturating_sub(now.0);
        let left = u64::try_from(left).ok().filter(|left| *left > 0)?;
        Some(Span::millis(left))
    }

    /// Whether it is gone for good.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.life.until.is_some_and(|until| until <= now)
    }

    /// The slot with this ordinal; `after` is when a timer with a delay is due, where the
    /// timetable does not say.
    fn coming(&self, ordinal: u32, after: Option<Timestamp>) -> Option<Coming> {
        if ordinal > self.slots {
            return None;
        }
        if let Some(planned) = self.timetable.get(ordinal) {
            let (scheduled, run) = (planned.scheduled, planned.run.clone());
            if self.life.until.is_some_and(|until| scheduled >= until) {
                return None;
            }
            return Some(Coming {
                slot: planned.slot,
                scheduled,
                run,
            });
        }
        let scheduled = after?;
        let run = RunKey::new(&self.id, scheduled).ok()?;
        let slot = Slot {
            timer: self.index,
            ordinal,
        };
        Some(Coming {
            slot,
            scheduled,
            run,
        })
    }
}

/// Fires a timer's slots, one after the other, from the slot with ordinal `first`.
pub(crate) struct TimerLoop<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) timer: &'a Timer,
    /// How much later than planned this instance fires (a condition of the scenario), in ms.
    pub(crate) fire_offset_ms: i64,
    /// The slot to wait for.
    pub(crate) ordinal: u32,
    /// When a timer with a delay is due next.
    pub(crate) due: Option<Timestamp>,
}

impl TimerLoop<'_> {
    /// Waits for the next slot and turns it into a run; `None` when there is no further slot, or
    /// the instance stops.
    pub(crate) async fn next(&mut self) -> Option<Fire> {
        let coming = self.timer.coming(self.ordinal, self.due)?;
        let ids = coming.ids();
        let runtime = &*self.ports.runtime;
        let early = self.fire_offset_ms - self.timer.publish_ahead.as_i64();
        let until = coming.scheduled.plus_ms(early);
        let wait = runtime.wait_until(At::new(&steps::TIMER_WAIT, &ids), until, None);
        match race::first(wait, runtime.stop_requested()).await {
            First::Left(()) => {}
            First::Right(()) => return None,
        }
        let fire = fire(self.ports, self.timer, coming).await?;
        self.ordinal += 1;
        Some(fire)
    }

    /// The run has been handled: from here the next slot is looked for.
    pub(crate) fn handled(&mut self) {
        let now = self.ports.clock.now();
        self.due = self.timer.delay.map(|delay| now.plus_ms(delay.as_i64()));
        if self.timer.next == NextFrom::FromNow {
            let from = crate::dispatch::ordinal_from(&self.timer.timetable, now.plus_ms(1));
            self.ordinal = self.ordinal.max(from);
        }
    }
}

/// Where a timer without a stored position starts: at the first slot that is not over yet.
pub(crate) fn first_slot(timer: &Timer, now: Timestamp) -> (u32, Option<Timestamp>) {
    match timer.delay {
        // How often the delay has passed since the epoch is at least how often the timer has fired.
        Some(delay) if delay > Span::ZERO && now > timer.epoch => {
            let passed = (now.0 - timer.epoch.0) / delay.as_i64();
            let passed = u32::try_from(passed).unwrap_or(u32::MAX - 1);
            (passed + 1, Some(now.plus_ms(delay.as_i64())))
        }
        _ => (crate::dispatch::ordinal_from(&timer.timetable, now), None),
    }
}
