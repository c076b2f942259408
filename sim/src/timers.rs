//! The timers of a scenario as its instances carry them, and the slots that are planned.
//!
//! A timer that changes while everything runs (`[[change]]`), or that new processes know otherwise
//! (`[[deploy]]`), is several timers of one name, each with a life. Which of their times are slots is
//! hidden truth: until a change those of the configuration before it, from then on those of the new
//! one. A time that only an outdated timer knows gets an ordinal behind all planned ones, so that
//! its effects are phantoms.

use crate::setup::SetupError;
use evidence::{InstanceId, Planned, RunKey, Slot, TimerId, Timestamp};
use scenarios::Scenario;
use scenarios::file::{ChangeTable, Cursor, TimerTable};
use scheduler::schedules::{Schedule, ScheduleConfig, ScheduleError, Timetable};
use scheduler::{Life, Timer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The timers of every process of a scenario.
pub(crate) struct Timers {
    /// Those of the processes that are there from the start.
    pub(crate) first: Vec<Timer>,
    /// Those of each process that a deploy brings, by its place behind the others.
    pub(crate) deployed: Vec<Vec<Timer>>,
    /// The slots, in their order.
    pub(crate) planned: Vec<Planned>,
    /// The last time that any of them knows, planned or not.
    pub(crate) last: Option<Timestamp>,
}

impl Timers {
    /// Compiles the schedules.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, SetupError> {
        let mut timers = Timers {
            first: compiled(scenario, scenario, None)?,
            deployed: Vec::new(),
            planned: Vec::new(),
            last: None,
        };
        for (_, deployed) in scenario.deployed() {
            let mut own = compiled(&deployed.deploy.scenario, scenario, Some(deployed.of))?;
            for timer in &mut own {
                timer.life.resets_row = deployed.deploy.reset_rows;
            }
            timers.deployed.push(own);
        }
        timers.planned = timers.plan(scenario);
        let timed = timers.all().filter(|timer| timer.delay.is_none());
        timers.last = timed.flat_map(times).max();
        Ok(timers)
    }

    fn all(&self) -> impl Iterator<Item = &Timer> {
        self.first.iter().chain(self.deployed.iter().flatten())
    }

    /// The planned slots; where something changes, every timetable is told which of its times they
    /// are.
    fn plan(&mut self, scenario: &Scenario) -> Vec<Planned> {
        if scenario.deploys.is_empty() && scenario.changes.is_empty() {
            let timed = self.first.iter().filter(|timer| timer.delay.is_none());
            let planned = timed.flat_map(|timer| timer.timetable.planned().iter().cloned());
            return planned.collect();
        }
        let mut planned = Vec::new();
        for index in (0_u16..).take(scenario.timers_at_work().len()) {
            let slots = self.slots(scenario, index);
            let numbered = self.numbered(index, &slots);
            planned.extend(slots.iter().map(|(at, run)| Planned {
                slot: numbered[at],
                scheduled: *at,
                run: run.clone(),
            }));
            let own = self
                .first
                .iter_mut()
                .chain(self.deployed.iter_mut().flatten());
            for timer in own.filter(|timer| timer.index == index) {
                timer.timetable = Arc::new(timer.timetable.renumbered(&numbered));
            }
        }
        planned
    }

    /// The times of a timer that are slots, by the configuration that is in force at each.
    fn slots(&self, scenario: &Scenario, index: u16) -> BTreeMap<Timestamp, RunKey> {
        let since = |at: scheduler::Span| scenario.epoch.plus_ms(at.as_i64());
        // From when on which timer is in force; none: it is deleted.
        let mut in_force: Vec<(Timestamp, Option<&Timer>)> = Vec::new();
        let own = |timers: &[Timer]| -> Vec<usize> {
            let places = timers.iter().enumerate();
            places
                .filter(|(_, timer)| timer.index == index)
                .map(|(place, _)| place)
                .collect()
        };
        let first = own(&self.first);
        in_force.push((
            Timestamp(i64::MIN),
            first.first().map(|place| &self.first[*place]),
        ));
        let mut created = first.iter().skip(1);
        for change in changes_of(scenario, index) {
            let timer = change.kind.begins().then(|| created.next()).flatten();
            in_force.push((since(change.at), timer.map(|place| &self.first[*place])));
        }
        for ((_, deployed), timers) in scenario.deployed().zip(&self.deployed) {
            let timer = own(timers).first().map(|place| &timers[*place]);
            in_force.push((since(deployed.deploy.at), timer));
        }
        in_force.sort_by_key(|(from, _)| *from);
        let mut slots = BTreeMap::new();
        for (place, (from, timer)) in in_force.iter().enumerate() {
            let until = in_force
                .get(place + 1)
                .map_or(Timestamp(i64::MAX), |(next, _)| *next);
            let planned = timer
                .iter()
                .flat_map(|timer| timer.timetable.planned().iter());
            let planned = planned.filter(|one| *from <= one.scheduled && one.scheduled < until);
            slots.extend(planned.map(|one| (one.scheduled, one.run.clone())));
        }
        slots
    }

    /// A number for every time that any timer of this index knows: the slots first.
    fn numbered(
        &self,
        index: u16,
        slots: &BTreeMap<Timestamp, RunKey>,
    ) -> BTreeMap<Timestamp, Slot> {
        let own = self.all().filter(|timer| timer.index == index);
        let mut others: Vec<Timestamp> = own.flat_map(times).collect();
        others.retain(|at| !slots.contains_key(at));
        others.sort_unstable();
        others.dedup();
        let all = slots.keys().copied().chain(others);
        (1..)
            .zip(all)
            .map(|(ordinal, at)| {
                let timer = index;
                (at, Slot { timer, ordinal })
            })
            .collect()
    }
}

fn times(timer: &Timer) -> impl Iterator<Item = Timestamp> {
    let planned = timer.timetable.planned().iter();
    planned.map(|planned| planned.scheduled)
}

/// The timers that a process with this configuration carries. `successor_of`: it is the successor
/// of this one, and carries what that one does.
fn compiled(
    configured: &Scenario,
    whole: &Scenario,
    successor_of: Option<u8>,
) -> Result<Vec<Timer>, SetupError> {
    let mut timers = Vec::new();
    for (index, table) in (0..).zip(&configured.timers_at_work()) {
        let changes = changes_of(configured, index);
        let since = |at: scheduler::Span| whole.epoch.plus_ms(at.as_i64());
        // A timer is gone with the next change that ends it.
        let ends_after = |place: usize| {
            let ends = changes[place..].iter().find(|change| change.kind.ends());
            ends.map(|change| since(change.at))
        };
        let on = carriers(table, whole, successor_of)?;
        let life = Life {
            until: ends_after(0),
            ..Life::default()
        };
        timers.push(timer(table, index, whole, on.clone(), life)?);
        for (place, change) in changes.iter().enumerate() {
            if change.kind.begins() {
                let life = Life {
                    since: Some(since(change.at)),
                    until: ends_after(place + 1),
                    clears_cursor: change.cursor == Cursor::Cleared,
                    resets_row: false,
                };
                let becomes = TimerTable {
                    id: table.id.clone(),
                    ..TimerTable::clone(&change.becomes)
                };
                let on = carriers(&becomes, whole, successor_of)?;
                timers.push(timer(&becomes, index, whole, on, life)?);
            }
        }
    }
    Ok(timers)
}

/// What changes about the timer of this index, which may be one shard of what the scenario names.
fn changes_of(configured: &Scenario, index: u16) -> Vec<&ChangeTable> {
    let shards = configured.shards_of_timers().len() / configured.timers.len().max(1);
    let named = configured.timers.get(usize::from(index) / shards.max(1));
    let changes = configured.changes.iter();
    let concerned = changes.filter(|change| named.is_some_and(|timer| timer.id == change.timer));
    concerned.collect()
}

/// The instances that carry a timer; a successor does what the first of its line does.
fn carriers(
    table: &TimerTable,
    scenario: &Scenario,
    successor_of: Option<u8>,
) -> Result<Vec<InstanceId>, SetupError> {
    let names = scenario.instance_names();
    let place = |name: &String| {
        let place = names.iter().position(|known| known == name);
        let place = place.and_then(|place| u8::try_from(place).ok());
        place.map(InstanceId).ok_or_else(|| {
            let (name, there_are) = (name.clone(), names.join(", "));
            SetupError::UnknownInstance { name, there_are }
        })
    };
    let on: Vec<InstanceId> = table.on.iter().map(place).collect::<Result<_, _>>()?;
    Ok(match successor_of {
        // Nobody: no instance has this number.
        Some(of) if !on.is_empty() && !on.contains(&InstanceId(of)) => vec![InstanceId::BROKER],
        Some(_) => Vec::new(),
        None => on,
    })
}

fn timer(
    table: &TimerTable,
    index: u16,
    scenario: &Scenario,
    on: Vec<InstanceId>,
    life: Life,
) -> Result<Timer, SetupError> {
    let id = TimerId::new(table.id.as_str());
    let wrong = |error: ScheduleError| SetupError::Schedule {
        timer: table.id.clone(),
        error,
    };
    let schedule = Schedule::compile(&table.schedule, scenario.epoch).map_err(wrong)?;
    let timetable = Timetable::new(index, &id, &schedule, scenario.epoch, table.slots);
    let delay = match table.schedule {
        ScheduleConfig::Delay { delay } => Some(delay),
        _ => None,
    };
    Ok(Timer {
        id,
        index,
        timetable: Arc::new(timetable.map_err(wrong)?),
        delay,
        epoch: scenario.epoch,
        slots: table.slots,
        next: table.next,
        registrations: table.registrations,
        on,
        life,
        publish_ahead: table.publish_ahead,
    })
}
