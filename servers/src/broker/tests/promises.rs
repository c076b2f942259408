//! Promises under random histories of any broker.

use super::super::rules::{Crash, Fencing, Redelivery, Rules, Then};
use super::super::{Broker, Outage, Receipt, Settling, State, profiles};
use proptest::prelude::*;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Act {
    Publish(u8),
    Take(u8),
    Ack(u8),
    Nack(u8),
    Defer(u8, u8),
    Renew(u8),
    Disconnect(u8),
    Restart(bool),
    Wait(u16),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Act::Publish),
        5 => (0..3_u8).prop_map(Act::Take),
        4 => any::<u8>().prop_map(Act::Ack),
        2 => any::<u8>().prop_map(Act::Nack),
        1 => (any::<u8>(), 0..60_u8).prop_map(|(which, delay)| Act::Defer(which, delay)),
        1 => any::<u8>().prop_map(Act::Renew),
        1 => (0..3_u8).prop_map(Act::Disconnect),
        1 => any::<bool>().prop_map(Act::Restart),
        3 => (1..2_000_u16).prop_map(Act::Wait),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let any_profile = (0..profiles::ALL.len()).prop_map(|at| profiles::ALL[at].rules());
    (any_profile, any::<bool>()).prop_map(|(rules, hasty)| {
        // Deadlines that come within a history.
        let after = if hasty {
            Some(700)
        } else {
            rules.redelivery.after
        };
        let redelivery = Redelivery {
            after,
            checked_every: None,
            ..rules.redelivery
        };
        Rules {
            redelivery,
            ..rules
        }
    })
}

/// What a history showed that must not be.
#[derive(Debug, PartialEq, Eq)]
enum Broken {
    SettledAndDelivered(u32),
    AckedAndLost(u32),
    Vanished(u32),
    SettledByAnother(u32),
}

/// Lets a history happen, and looks at it from outside. With `spoil` the broker is told of an ack
/// that the consumer never hears of, so that each check has to notice something.
fn history(rules: Rules, acts: &[Act], spoil: bool) -> Vec<Broken> {
    let loses = rules.loses_on_restart || rules.settled_on_delivery;
    let token = rules.fencing == Fencing::Token;
    // What is put off counts as handed over again where workers keep copies of it.
    let copies = rules.delayed == super::super::rules::Delayed::Worker;
    let mut queue: Broker<u32, u8> = Broker::new(rules);
    let mut now = 0;
    let mut receipts: Vec<Receipt> = Vec::new();
    let mut settled: Vec<u32> = Vec::new();
    let mut power_lost = false;
    let mut broken = Vec::new();
    let pick = |receipts: &[Receipt], which: u8| {
        (!receipts.is_empty()).then(|| receipts[which as usize % receipts.len()])
    };
    for act in acts {
        match act {
            Act::Publish(body) => {
                queue.publish(now, *body, None);
            }
            Act::Take(holder) => {
                if let Some(delivery) = queue.take(now, (*holder).into()) {
                    let message = delivery.receipt.message;
                    if settled.contains(&message) && !copies && !power_lost {
                        broken.push(Broken::SettledAndDelivered(message));
                    }
                    receipts.push(delivery.receipt);
                }
            }
            Act::Ack(which) => {
                let Some(receipt) = pick(&receipts, *which) else {
                    continue;
                };
                let latest = queue.message(receipt.message).unwrap().deliveries;
                if queue.ack_at(now, receipt) == Settling::Accepted {
                    if token && latest != receipt.delivery {
                        broken.push(Broken::SettledByAnother(receipt.message));
                    }
                    settled.push(receipt.message);
                } else if spoil {
                    settled.push(receipt.message);
                }
            }
            Act::Nack(which) => {
                if let Some(receipt) = pick(&receipts, *which) {
                    queue.nack(now, receipt);
                }
            }
            Act::Defer(which, delay) => {
                if let Some(receipt) = pick(&receipts, *which) {
                    queue.defer(now, receipt, u64::from(*delay) * 10);
                }
            }
            Act::Renew(which) => {
                if let Some(receipt) = pick(&receipts, *which) {
                    queue.renew(now, receipt);
                }
            }
            Act::Disconnect(holder) => {
                queue.disconnect(now, |other| other == u32::from(*holder), true);
            }
            Act::Restart(machine) => {
                let outage = if *machine {
                    Outage::Machine
                } else {
                    Outage::Process
                };
                power_lost |= *machine && queue.rules().fsync_every.is_some();
                queue.go_down(now, outage);
                queue.come_up();
            }
            Act::Wait(ms) => {
                now += u64::from(*ms);
                queue.expire(now);
            }
        }
    }
    let waiting: Vec<u32> = queue.waiting().collect();
    for (place, message) in (0..).zip(queue.messages()) {
        match message.state {
            State::Dropped if !loses && !power_lost && queue.rules().then != Then::Drop => {
                broken.push(Broken::AckedAndLost(place));
            }
            State::Ready if !waiting.contains(&place) => broken.push(Broken::Vanished(place)),
            _ => {}
        }
    }
    broken
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    /// No message is both settled and delivered again, none that was accepted is lost unless the
    /// profile says so, and under fencing by token no delivery but the last one settles.
    #[test]
    fn no_broker_breaks_what_its_profile_promises(
        rules in rules(),
        acts in prop::collection::vec(act(), 0..60),
    ) {
        prop_assert_eq!(history(rules, &acts, false), []);
    }

    /// When all is quiet every message is over, or waits, or is with somebody who is alive.
    #[test]
    fn nothing_is_held_by_the_dead(acts in prop::collection::vec(act(), 0..60)) {
        let rules = profiles::RABBITMQ_CLASSIC.rules();
        let mut queue: Broker<u32, u8> = Broker::new(rules);
        for act in &acts {
            match act {
                Act::Publish(body) => { queue.publish(0, *body, None); }
                Act::Take(holder) => { queue.take(0, (*holder).into()); }
                Act::Disconnect(holder) => {
                    queue.disconnect(0, |other| other == u32::from(*holder), true);
                }
                _ => {}
            }
        }
        queue.disconnect(0, |_| true, true);
        prop_assert!(queue.messages().iter().all(|message| message.state == State::Ready));
        let taken: Vec<u32> =
            std::iter::from_fn(|| queue.take(0, 9)).map(|d| d.receipt.message).collect();
        prop_assert!(taken.is_sorted(), "requeued to their places: {:?}", taken);
    }
}

/// The acts that a check of [`history`] has to notice when it is lied to.
fn late_ack() -> Vec<Act> {
    let mut acts = vec![Act::Publish(0), Act::Take(0), Act::Wait(800), Act::Ack(0)];
    acts.extend([Act::Take(1)]);
    acts
}

#[test]
fn the_check_of_settled_messages_fails_where_a_refused_ack_is_taken_for_one() {
    let rules = Rules {
        fencing: Fencing::Token,
        redelivery: Redelivery {
            after: Some(700),
            ..Redelivery::default()
        },
        ..Rules::default()
    };
    assert_eq!(history(rules.clone(), &late_ack(), false), []);
    assert_eq!(
        history(rules, &late_ack(), true),
        [Broken::SettledAndDelivered(0)]
    );
}

#[test]
fn the_check_of_lost_messages_fails_for_a_broker_that_loses_them() {
    let lossy = Rules {
        crash: Crash::OnDisconnect,
        loses_on_restart: true,
        ..Rules::default()
    };
    let acts = [Act::Publish(0), Act::Restart(false)];
    assert_eq!(
        history(lossy.clone(), &acts, false),
        [],
        "its profile says so"
    );
    // The same without being allowed to.
    let mut queue: Broker<u32, u8> = Broker::new(lossy);
    queue.publish(0, 0, None);
    queue.go_down(0, Outage::Process);
    assert_eq!(queue.message(0).unwrap().state, State::Dropped);
    let silent = Rules {
        max_deliver: Some(1),
        then: Then::Drop,
        ..Rules::default()
    };
    let acts = [Act::Publish(0), Act::Take(0), Act::Nack(0)];
    assert_eq!(
        history(silent, &acts, false),
        [],
        "dropping is what it is told to do"
    );
}
