#![allow(clippy::unwrap_used)]
use super::super::{
    ClaimConfig, Compare, CompareStateConfig, DispatchConfig, LockedRow, Order,
    SelectForUpdateConfig,
};
use super::*;
use crate::Span;
use crate::memory::bench::Bench;
use crate::memory::block_on;
use crate::ports::{OnConflict, Statement, Value};
use crate::tables::{QUEUE, TIMERS, queue, timers};
use crate::work::RetryConfig;
use evidence::{Ids, TraceId};

/// 2026-01-01T02:00:00Z, the slot of the bench's run.
fn fire(bench: &Bench, trace: u64) -> Fire {
    let run = bench.ids.run.clone().unwrap();
    let trace = TraceId(trace);
    Fire {
        ids: Ids {
            trace: Some(trace),
            ..bench.ids.clone()
        },
        timer: run.timer_id(),
        scheduled: run.scheduled(),
        run,
        trace,
        next: None,
    }
}

/// A timer's row that has not come to the slot.
fn bench() -> Bench {
    let bench = Bench::new();
    let statement = Statement::Insert {
        table: TIMERS,
        key: fire(&bench, 1).timer.text().clone(),
        cells: position::unclaimed(0, 0),
        on_conflict: OnConflict::Abort,
    };
    let at = At::new(&steps::DISPATCH_RESUME, &bench.ids);
    block_on(bench.ports().database.execute(at, vec![statement])).unwrap();
    bench
}

fn dispatcher(bench: &Bench, claim: ClaimConfig, order: Order) -> Dispatcher {
    let config = DispatchConfig {
        claim,
        order,
        ..DispatchConfig::default()
    };
    Dispatcher::new(bench.instance(), &config, &RetryConfig::default(), false)
}

fn claims() -> [ClaimConfig; 4] {
    let state = |compare| {
        ClaimConfig::CompareState(CompareStateConfig {
            compare,
            ..CompareStateConfig::default()
        })
    };
    [
        ClaimConfig::SelectForUpdate(SelectForUpdateConfig::default()),
        state(Compare::State),
        state(Compare::StateAndSlot),
        ClaimConfig::CompareVersion,
    ]
}

fn cell(bench: &Bench, column: crate::ports::Column) -> i64 {
    let rows = bench.rows(TIMERS);
    rows[0].cells[usize::from(column.0)].int()
}

#[test]
fn the_first_has_the_slot_and_the_next_finds_the_position_past_it() {
    for claim in claims() {
        let bench = bench();
        let dispatcher = dispatcher(&bench, claim.clone(), Order::AdvanceThenDispatch);
        assert!(
            block_on(dispatcher.claim_here(&fire(&bench, 1))),
            "{claim:?}"
        );
        assert!(
            !block_on(dispatcher.claim_here(&fire(&bench, 2))),
            "{claim:?}"
        );
        assert_eq!(cell(&bench, timers::CURSOR), fire(&bench, 1).scheduled.0);
        assert_eq!(cell(&bench, timers::STATE), position::WAITING);
    }
}

#[test]
fn a_claim_whose_order_is_late_holds_the_row_until_the_work_is_done() {
    let bench = bench();
    let [_, _, claim, _] = claims();
    let dispatcher = dispatcher(&bench, claim, Order::DispatchThenAdvance).polling();
    let first = fire(&bench, 1);
    assert!(block_on(dispatcher.claim_here(&first)));
    assert_eq!(cell(&bench, timers::STATE), position::ACQUIRED);
    assert!(!block_on(dispatcher.claim_here(&fire(&bench, 2))));
    block_on(dispatcher.release_here(&first));
    assert_eq!(cell(&bench, timers::STATE), position::WAITING);
    assert_eq!(cell(&bench, timers::CURSOR), first.scheduled.0);
}

#[test]
fn an_acquired_row_is_taken_over_when_its_time_is_over() {
    let bench = bench();
    let [_, _, claim, _] = claims();
    let dispatcher = dispatcher(&bench, claim, Order::DispatchThenAdvance).polling();
    assert!(block_on(dispatcher.claim_here(&fire(&bench, 1))));
    bench.pass(Span::millis(14_999));
    assert!(!block_on(dispatcher.claim_here(&fire(&bench, 2))));
    bench.pass(Span::millis(1));
    assert!(block_on(dispatcher.claim_here(&fire(&bench, 3))));
}

#[test]
fn only_a_comparison_of_the_slot_notices_a_whole_cycle_in_between() {
    for (compare, notices) in [(Compare::State, false), (Compare::StateAndSlot, true)] {
        let bench = bench();
        let claim = super::super::compare_state::CompareState::new(CompareStateConfig {
            compare,
            ..CompareStateConfig::default()
        });
        let (slow, quick) = (fire(&bench, 1), fire(&bench, 2));
        let write = claim.write(&Position::default(), &slow).unwrap();
        let another = dispatcher(
            &bench,
            ClaimConfig::CompareState(CompareStateConfig::default()),
            Order::AdvanceThenDispatch,
        );
        assert!(block_on(another.claim_here(&quick)));
        let at = At::new(&steps::DISPATCH_CLAIM_WRITE, &slow.ids);
        let answers = block_on(bench.ports().database.execute(at, vec![write])).unwrap();
        assert_eq!(answers[0].changed(), !notices, "{compare:?}");
    }
}

#[test]
fn a_lock_row_is_there_only_where_somebody_has_put_it() {
    for (row, there) in [(LockedRow::Present, true), (LockedRow::Absent, false)] {
        let config = SelectForUpdateConfig {
            row,
            ..SelectForUpdateConfig::default()
        };
        let key = config.row_of(&fire(&Bench::new(), 1).timer);
        assert_eq!(key.is_some(), there, "{row:?}");
    }
}

#[test]
fn the_row_of_the_queue_is_made_in_the_transaction_of_the_claim() {
    let all = claims().into_iter().chain([ClaimConfig::UniqueRunKey]);
    for claim in all {
        let bench = bench();
        let dispatcher = dispatcher(&bench, claim.clone(), Order::Outbox).into_rows();
        block_on(dispatcher.dispatch(&fire(&bench, 1)));
        block_on(dispatcher.dispatch(&fire(&bench, 2)));
        let rows = bench.rows(QUEUE);
        let [row] = &rows[..] else {
            panic!("{claim:?}: {rows:?}");
        };
        assert_eq!(
            row.cells[usize::from(queue::STATE.0)],
            Value::Int(queue::WAITS)
        );
        assert_eq!(row.cells[usize::from(queue::TRACE.0)], Value::Int(1));
    }
}
