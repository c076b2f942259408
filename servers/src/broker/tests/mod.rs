//! What the model promises under its rules, and that each check of it can fail.
#![allow(clippy::unwrap_used)]

mod promises;

use super::rules::{Crash, Delayed, Fencing, Order, Redelivery, Rules, StaleTag, Then};
use super::{Broker, GivenUp, HandedOver, Outage, Receipt, Settling, State, profiles};

type Queue = Broker<u32, &'static str>;

fn queue(rules: Rules) -> Queue {
    Broker::new(rules)
}

/// A queue of one product with two messages in it.
fn of(profile: &str) -> Queue {
    let mut queue = queue(profiles::named(profile).unwrap().rules());
    queue.publish(0, "first", None);
    queue.publish(0, "second", None);
    queue
}

#[test]
fn a_profile_is_found_by_its_name_and_no_name_is_there_twice() {
    for profile in &profiles::ALL {
        assert_eq!(profiles::named(profile.name).unwrap().of, profile.of);
    }
    let mut names: Vec<_> = profiles::ALL.iter().map(|profile| profile.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), profiles::ALL.len());
}

#[test]
fn a_nacked_message_goes_where_the_order_says() {
    for (nacked, order) in [
        (Order::Back, ["third", "second", "first"]),
        (Order::Place, ["first", "second", "third"]),
        (Order::Front, ["second", "first", "third"]),
    ] {
        let mut queue = queue(Rules {
            nacked,
            ..Rules::default()
        });
        for body in ["first", "second", "third"] {
            queue.publish(0, body, None);
        }
        let first = queue.take(0, 1).unwrap();
        let second = queue.take(0, 1).unwrap();
        queue.nack(0, second.receipt);
        queue.nack(0, first.receipt);
        let taken: Vec<_> = std::iter::from_fn(|| queue.take(0, 2))
            .map(|d| d.body)
            .collect();
        assert_eq!(taken, order, "{nacked:?}");
    }
}

#[test]
fn who_may_settle_late_is_a_matter_of_fencing() {
    for (fencing, first_settles, last_settles) in [
        (Fencing::Off, true, true),
        (Fencing::Latest, false, true),
        (Fencing::Token, false, false),
    ] {
        let rules = Rules {
            fencing,
            redelivery: Redelivery {
                after: Some(10),
                ..Redelivery::default()
            },
            ..Rules::default()
        };
        let late = |which: u32| {
            let mut queue = queue(rules.clone());
            queue.publish(0, "m", None);
            for at in [0, 10] {
                queue.expire(at);
                queue.take(at, 1).unwrap();
            }
            queue.expire(20);
            queue.ack(Receipt {
                message: 0,
                delivery: which,
            }) == Settling::Accepted
        };
        assert_eq!(
            (late(1), late(2)),
            (first_settles, last_settles),
            "{fencing:?}"
        );
    }
}

#[test]
fn a_deadline_is_noticed_at_the_next_look() {
    let mut queue = of("rabbitmq-classic");
    queue.take(1_000, 1).unwrap();
    // 30 minutes, looked at every minute.
    assert_eq!(queue.due(), Some(31 * 60_000));
    let minutes = |minutes: u64| minutes * 60_000;
    assert!(queue.expire(minutes(31) - 1).is_empty());
    assert_eq!(queue.take(minutes(31) - 1, 2).unwrap().body, "second");
    queue.expire(minutes(31));
    assert_eq!(queue.take(minutes(31), 2).unwrap().body, "first");
}

#[test]
fn a_prefetched_delivery_loses_its_deadline_while_it_waits_and_is_run_all_the_same() {
    let rules = Rules {
        redelivery: Redelivery {
            after: Some(10),
            ..Redelivery::default()
        },
        prefetch: Some(2),
        ..Rules::default()
    };
    let mut queue = queue(rules);
    queue.publish(0, "first", None);
    queue.publish(0, "second", None);
    queue.consume(7, 1);
    let holder = |consumer: u32| if consumer == 7 { 1 } else { 2 };
    let Some(HandedOver::ToConsumer(7, first)) = queue.hand_over(0, holder, None) else {
        panic!("the consumer that waits gets the first message")
    };
    let Some(HandedOver::Ahead(ahead)) = queue.hand_over(0, holder, None) else {
        panic!("the second one waits in the memory of its process")
    };
    assert_eq!((ahead.holder, ahead.deadline), (1, Some(10)));
    queue.ack(first.receipt);
    queue.expire(10);
    let again = queue.take(10, 2).unwrap();
    assert_eq!((again.body, again.count), ("second", 2));
    queue.consume(7, 1);
    let Some(HandedOver::ToConsumer(7, stale)) = queue.hand_over(11, holder, None) else {
        panic!("nobody has told the process that its delivery is over")
    };
    assert_eq!(
        (stale.body, stale.count, stale.prefetched),
        ("second", 1, true)
    );
}

#[test]
fn a_worker_that_holds_a_message_past_its_deadline_is_not_alone_with_it() {
    let rules = Rules {
        redelivery: Redelivery {
            after: Some(10),
            ..Redelivery::default()
        },
        delayed: Delayed::Worker,
        ..Rules::default()
    };
    let mut queue = queue(rules);
    queue.publish(0, "eta", None);
    let first = queue.take(0, 1).unwrap();
    queue.defer(0, first.receipt, 15);
    queue.expire(10);
    assert!(queue.take(14, 2).is_none(), "it is not due");
    queue.expire(15);
    let one = queue.take(15, 1).unwrap();
    queue.ack(one.receipt);
    assert!(
        queue.take(15, 2).is_some(),
        "the other worker runs it as well"
    );
    assert!(queue.take(15, 2).is_none());
}

#[test]
fn a_worker_that_dies_takes_a_held_message_along_until_its_deadline() {
    let rules = Rules {
        redelivery: Redelivery {
            after: Some(10),
            ..Redelivery::default()
        },
        delayed: Delayed::Worker,
        ..Rules::default()
    };
    let mut queue = queue(rules);
    queue.publish(0, "eta", None);
    let first = queue.take(0, 1).unwrap();
    queue.defer(0, first.receipt, 5);
    queue.disconnect(1, |holder| holder == 1, true);
    queue.expire(5);
    assert!(queue.take(5, 2).is_none(), "nobody is there to take it up");
    queue.expire(10);
    assert!(queue.take(10, 2).is_some());
}

#[test]
fn a_tag_of_an_old_channel_settles_whatever_has_its_number_now() {
    let rules = Rules {
        crash: Crash::OnDisconnect,
        stale_tag: StaleTag::SettlesAnother,
        fencing: Fencing::Token,
        ..Rules::default()
    };
    let mut queue = queue(rules);
    queue.publish(0, "first", None);
    queue.publish(0, "second", None);
    let stale = queue.take(0, 1).unwrap();
    queue.disconnect(1, |holder| holder == 1, false);
    assert_eq!(queue.take(1, 1).unwrap().body, "second");
    let settled = Receipt {
        message: 1,
        delivery: 1,
    };
    assert_eq!(queue.ack_at(1, stale.receipt), Settling::Another(settled));
    assert!(queue.is_over(1) && !queue.is_over(0));
    // The number is gone: the broker closes the connection, and what it held goes back.
    queue.take(2, 1).unwrap();
    assert!(matches!(queue.ack_at(2, settled), Settling::Closed(_)));
    assert_eq!(queue.take(3, 1).unwrap().count, 3);
}

#[test]
fn a_machine_that_loses_power_forgets_what_was_not_on_its_disk() {
    for (outage, first, second) in [
        (Outage::Process, State::Settled, State::Ready),
        (Outage::Machine, State::Ready, State::Dropped),
    ] {
        let mut queue = queue(profiles::named("redis-streams").unwrap().rules());
        queue.publish(900, "first", None);
        let delivery = queue.take(950, 1).unwrap();
        queue.ack_at(1_500, delivery.receipt);
        queue.publish(1_600, "second", None);
        queue.go_down(1_900, outage);
        let states = [0, 1].map(|place| queue.message(place).unwrap().state);
        assert_eq!(states, [first, second], "{outage:?}");
    }
}

#[test]
fn a_partition_is_read_in_order_by_one_member_and_waits_while_it_is_dealt() {
    let mut queue = of("kafka");
    let holder = |consumer: u32| consumer;
    queue.consume(1, 1);
    let Some(HandedOver::ToConsumer(1, first)) = queue.hand_over(0, holder, None) else {
        panic!("the only member reads the only partition")
    };
    // Another member comes: nothing is handed over before the first one has finished.
    queue.consume(2, 2);
    queue.consume(1, 1);
    assert_eq!(queue.hand_over(1, holder, None), None);
    queue.ack_at(1, first.receipt);
    assert!(matches!(
        queue.hand_over(1, holder, None),
        Some(HandedOver::ToConsumer(1, _))
    ));
    // It dies in the middle, and is believed alive for 45 s.
    let (_, end) = queue.disconnect(2, |holder| holder == 1, true);
    assert_eq!(end, Some(45_002));
    assert_eq!(queue.hand_over(45_001, holder, None), None);
    queue.expire(45_002);
    let over = queue.hand_over(45_002, holder, None);
    assert!(matches!(over, Some(HandedOver::ToConsumer(2, again)) if again.count == 2));
}

#[test]
fn a_job_taken_out_of_the_queue_is_lost_with_its_process_and_put_back_only_by_it() {
    let mut queue = of("sidekiq-basic");
    let first = queue.take(0, 1).unwrap();
    queue.disconnect(0, |holder| holder == 1, true);
    assert!(queue.is_over(0));
    assert_eq!(queue.defer(0, first.receipt, 5), Settling::Later(5));
    assert!(!queue.is_over(0));
    let mut told = of("at-most-once");
    let first = told.take(0, 1).unwrap();
    assert_eq!(told.defer(0, first.receipt, 5), Settling::NotYours);
}

#[test]
fn what_is_delivered_often_enough_goes_where_the_profile_says() {
    for (then, given_up) in [
        (Then::DeadLetter, GivenUp::DeadLettered(0)),
        (Then::Drop, GivenUp::Dropped(0)),
        (Then::Keep, GivenUp::Kept(0)),
    ] {
        let mut queue = queue(Rules {
            max_deliver: Some(1),
            then,
            ..Rules::default()
        });
        queue.publish(0, "m", None);
        let only = queue.take(0, 1).unwrap();
        assert_eq!(queue.nack(0, only.receipt), Settling::GivenUp(given_up));
        assert!(queue.take(0, 1).is_none());
    }
}

#[test]
fn the_4_3_rules_of_a_quorum_queue_count_lost_consumers_only() {
    let mut queue = of("rabbitmq-quorum-4.3");
    for _ in 0..100 {
        let delivery = queue.take(0, 1).unwrap();
        assert_eq!((delivery.body, delivery.counted_before), ("first", 0));
        queue.nack(0, delivery.receipt);
    }
    let mut given_up = Vec::new();
    for _ in 0..21 {
        queue.take(0, 1).unwrap();
        given_up.extend(queue.disconnect(0, |_| true, true).0);
    }
    assert_eq!(given_up, [GivenUp::Dropped(0)]);
}
