#![allow(clippy::unwrap_used)]
use super::*;
use crate::memory::bench::Bench;
use crate::memory::block_on;

fn envelope_of(bench: &Bench) -> Envelope {
    Envelope {
        run: bench.ids.run.clone().unwrap(),
        trace: bench.ids.trace.unwrap(),
        slot: bench.ids.slot,
        dedup_id: None,
    }
}

/// A queue with one row in it.
fn queue(bench: &Bench, config: RowQueueConfig) -> RowQueue {
    let queue = RowQueue::new(bench.ports().clone(), config, Span::secs(1));
    let at = At::new(&steps::RECOVERY_REQUEUE, &bench.ids);
    block_on(queue.publish(at, envelope_of(bench))).unwrap();
    queue
}

fn take(queue: &RowQueue) -> Option<Delivery> {
    block_on(async {
        let row = queue.claim().await.unwrap()?;
        queue.delivery(row).await
    })
}

fn ack(bench: &Bench, queue: &RowQueue, delivery: &Delivery) -> Settled {
    let at = At::new(&steps::WORKER_DONE, &bench.ids);
    block_on(queue.ack(at, delivery.receipt)).unwrap()
}

fn renew(bench: &Bench, queue: &RowQueue, delivery: &Delivery) -> Settled {
    let at = At::new(&steps::WORKER_RENEW, &bench.ids);
    block_on(queue.renew(at, delivery.receipt)).unwrap()
}

#[test]
fn a_row_is_claimed_by_one_worker_until_its_claim_ends_and_then_delivered_again() {
    for how in [Take::SkipLocked, Take::ReadThenWrite] {
        let bench = Bench::new();
        let config = RowQueueConfig {
            take: how,
            ..RowQueueConfig::default()
        };
        let queue = queue(&bench, config);
        let first = take(&queue).unwrap();
        assert_eq!(
            (first.count, first.envelope.clone()),
            (1, envelope_of(&bench))
        );
        bench.pass(Span::millis(29_999));
        assert_eq!(take(&queue), None, "{how:?}");
        bench.pass(Span::millis(1));
        let second = take(&queue).unwrap();
        assert_eq!((second.count, second.message), (2, first.message));
    }
}

#[test]
fn what_is_done_is_not_claimed_again() {
    let bench = Bench::new();
    let queue = queue(&bench, RowQueueConfig::default());
    let delivery = take(&queue).unwrap();
    assert_eq!(ack(&bench, &queue, &delivery), Settled::Accepted);
    bench.pass(Span::secs(60));
    assert_eq!(take(&queue), None);
}

#[test]
fn a_late_end_settles_the_row_unless_claims_are_fenced() {
    for (fenced, settled) in [(false, Settled::Accepted), (true, Settled::NotYours)] {
        let bench = Bench::new();
        let config = RowQueueConfig {
            fenced,
            ..RowQueueConfig::default()
        };
        let queue = queue(&bench, config);
        let late = take(&queue).unwrap();
        bench.pass(Span::secs(30));
        take(&queue).unwrap();
        assert_eq!(ack(&bench, &queue, &late), settled);
    }
}

#[test]
fn a_heartbeat_extends_the_claim_unless_it_is_counted_from_its_start() {
    for (dead_since, extended) in [(DeadSince::LastHeartbeat, true), (DeadSince::Start, false)] {
        let bench = Bench::new();
        let config = RowQueueConfig {
            dead_since,
            ..RowQueueConfig::default()
        };
        let queue = queue(&bench, config);
        let delivery = take(&queue).unwrap();
        bench.pass(Span::secs(20));
        assert_eq!(renew(&bench, &queue, &delivery), Settled::Accepted);
        bench.pass(Span::secs(20));
        assert_eq!(take(&queue).is_none(), extended, "{dead_since:?}");
    }
}

#[test]
fn a_claim_without_an_end_is_never_claimed_again() {
    let bench = Bench::new();
    let config = RowQueueConfig {
        lease: None,
        ..RowQueueConfig::default()
    };
    let queue = queue(&bench, config);
    take(&queue).unwrap();
    bench.pass(Span::secs(1_000_000));
    assert_eq!(take(&queue), None);
}

#[test]
fn a_deferred_row_waits_for_its_time() {
    let bench = Bench::new();
    let queue = queue(&bench, RowQueueConfig::default());
    let delivery = take(&queue).unwrap();
    let at = At::new(&steps::WORKER_DEFER, &bench.ids);
    block_on(queue.defer(at, delivery.receipt, Span::secs(5))).unwrap();
    bench.pass(Span::millis(4_999));
    assert_eq!(take(&queue), None);
    bench.pass(Span::millis(1));
    assert_eq!(take(&queue).unwrap().count, 2);
}

#[test]
fn a_row_that_was_claimed_too_often_is_given_up() {
    let bench = Bench::new();
    let config = RowQueueConfig {
        max_claims: Some(1),
        ..RowQueueConfig::default()
    };
    let queue = queue(&bench, config);
    take(&queue).unwrap();
    bench.pass(Span::secs(30));
    assert_eq!(take(&queue), None);
    assert_eq!(bench.told().last(), Some(&What::DeadLettered));
}

#[test]
fn a_worker_that_stops_may_end_its_heartbeat_before_its_work() {
    for (stop_heartbeat, beats) in [
        (StopHeartbeat::WhenDone, true),
        (StopHeartbeat::AtOnce, false),
    ] {
        let bench = Bench::new();
        let config = RowQueueConfig {
            stop_heartbeat,
            ..RowQueueConfig::default()
        };
        let queue = queue(&bench, config);
        let delivery = take(&queue).unwrap();
        bench.stop();
        renew(&bench, &queue, &delivery);
        assert_eq!(bench.told().contains(&What::Renewed), beats);
    }
}
