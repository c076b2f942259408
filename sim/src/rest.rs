//! What is left when an execution has ended.

use crate::servers::broker::holder_of;
use crate::servers::database::{Stored, call_due, is_open};
use crate::world::World;
use evidence::{Ended, Held, Holder, Planned, RecordAtRest, RecordState, Rest, Slot};
use scheduler::guards::state_of;
use scheduler::ports::{Column, Value};
use scheduler::tables::{CALLS, OUTBOX, QUEUE, RUNS, TIMERS, calls, outbox, queue, runs, timers};
use std::sync::Arc;

/// What still holds runs, and the execution records.
pub(crate) fn rest(world: &mut World, ended: Ended) -> Rest {
    let mut held: Vec<Held> = Vec::new();
    for message in world.broker.messages() {
        let by = holder_of(message.state);
        let slot = message.body.slot.truth();
        held.extend(by.zip(slot).map(|(by, slot)| Held { slot, by }));
    }
    held.extend(world.executors.taken().map(|slot| Held {
        slot,
        by: Holder::UnackedMessage,
    }));
    held.extend(calls_to_be_made(world));
    for (_, row) in world.database.tables.rows(OUTBOX) {
        if row
            .cells
            .get(usize::from(outbox::SENT.0))
            .is_some_and(|sent| sent.int() == 0)
        {
            held.extend(row.slot.truth().map(|slot| Held {
                slot,
                by: Holder::OutboxRow,
            }));
        }
    }
    held.extend(held_by_rows(world));
    held.extend(world.hanging_attempts().map(|slot| Held {
        slot,
        by: Holder::Attempt,
    }));
    held.extend(world.armed.iter().map(|armed| Held {
        slot: armed.slot,
        by: Holder::ArmedTimer,
    }));
    held.sort_by_key(|held| (held.slot, held.by));
    let mut records: Vec<RecordAtRest> = world
        .database
        .tables
        .rows(RUNS)
        .filter_map(|(_, row)| {
            let state = state_of(row.cells.get(usize::from(runs::STATE.0))?.int())?;
            let listed = matches!(state, RecordState::Created | RecordState::Queued);
            Some(RecordAtRest {
                slot: row.slot.truth()?,
                state,
                listed,
            })
        })
        .collect();
    records.sort_by_key(|record| record.slot);
    Rest {
        ended,
        at: world.timestamp(),
        held,
        records,
    }
}

/// What the rows hold that workers poll: the runs in the queue, and the slots that are still to be
/// fired.
fn held_by_rows(world: &World) -> impl Iterator<Item = Held> {
    let tables = &world.database.tables;
    let number = |row: &Stored, column: Column| {
        let cell = row.cells.get(usize::from(column.0));
        cell.map_or(0, Value::int)
    };
    let runs = tables.rows(QUEUE).filter_map(move |(_, row)| {
        let by = match number(row, queue::STATE) {
            queue::WAITS => Holder::ReadyMessage,
            queue::CLAIMED => Holder::UnackedMessage,
            queue::DEAD => Holder::DeadLetter,
            _ => return None,
        };
        let slot = row.slot.truth()?;
        Some(Held { slot, by })
    });
    let slots = tables.rows(TIMERS).filter_map(move |(key, row)| {
        let next = number(row, timers::NEXT);
        let mut planned = world
            .constants
            .planned
            .iter()
            .filter(|_| world.constants.polls_timers);
        let planned = planned
            .find(|planned| planned.scheduled.0 == next && planned.run.timer_id().text() == key)?;
        Some(Held {
            slot: planned.slot,
            by: Holder::ArmedTimer,
        })
    });
    runs.chain(slots)
}

/// Calls that an admin's watch is still to make again.
fn calls_to_be_made(world: &World) -> impl Iterator<Item = Held> {
    let watched = world.constants.recalls.is_some();
    let rows = world.database.tables.rows(CALLS).filter(move |_| watched);
    rows.filter_map(|(_, row)| {
        let cell = |column: Column| row.cells.get(usize::from(column.0)).map_or(0, Value::int);
        let lost_after = world.constants.recalls.flatten();
        let open = is_open(CALLS, &row.cells);
        let again = open && cell(calls::LEFT) > 0 && call_due(&row.cells, lost_after).is_some();
        let slot = row.slot.truth().filter(|_| again)?;
        Some(Held {
            slot,
            by: Holder::CallRow,
        })
    })
}

/// The slots that were due: those of the timetables, and those that timers with a delay came to.
pub(crate) fn planned(world: &World) -> Arc<[Planned]> {
    if world.discovered.is_empty() {
        return world.constants.planned.clone();
    }
    let mut planned: Vec<Planned> = world.constants.planned.to_vec();
    planned.extend(
        world
            .discovered
            .iter()
            .map(|(slot, scheduled, run)| Planned {
                slot: *slot,
                scheduled: *scheduled,
                run: run.clone(),
            }),
    );
    planned.sort_by_key(|planned: &Planned| planned.slot);
    let by_slot = |planned: &Planned| -> Slot { planned.slot };
    planned.dedup_by_key(|planned| by_slot(planned));
    planned.into()
}
