//! Each rule of the broker models, broken on purpose, is noticed.

use super::super::format::{Vector, vectors_of};
use super::super::report::Outcome;
use runkey_servers::broken::{Broken, with};

/// Every rule of the brokers that can be broken.
const RULES: [Broken; 16] = [
    Broken::ClassicNackToTheBack,
    Broken::QuorumNackToTheFront,
    Broken::CloseNotCounted,
    Broken::LateAckRefused,
    Broken::WindowSlides,
    Broken::DedupForgetsConsumed,
    Broken::UnknownTagIgnored,
    Broken::TagsGoOn,
    Broken::MultipleAcksOne,
    Broken::DisconnectKeepsMessages,
    Broken::RenewalIgnored,
    Broken::DeadlineNeverComes,
    Broken::TransientSurvives,
    Broken::DeadLetterRedelivered,
    Broken::PendingUnlimited,
    Broken::MaxDeliverIgnored,
];

fn outcome(vector: &Vector) -> Option<Outcome> {
    match vector.server.as_str() {
        "rabbitmq" => Some(super::rabbitmq(vector)),
        "nats" => Some(super::nats(vector)),
        _ => None,
    }
}

#[test]
fn each_broken_rule_of_a_broker_turns_a_vector_red() {
    let (folder, _) = super::super::folder();
    let mut vectors = vectors_of(&folder);
    vectors.extend(vectors_of(&folder.join("recorded")));
    for rule in RULES {
        let red = |vector: &&Vector| {
            let outcome = with(rule, || outcome(vector));
            matches!(outcome, Some(Outcome::Disagreed { .. }))
        };
        let first = vectors.iter().find(red).map(|vector| vector.id.as_str());
        assert!(first.is_some(), "{rule:?} is broken and no vector notices");
    }
}
