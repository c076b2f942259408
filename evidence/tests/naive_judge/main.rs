//! A second judge, written from the meaning of the verdicts alone: it walks the whole history again
//! for every question, shares no code with the real one, and must agree with it on random histories.
#![allow(clippy::unwrap_used, missing_docs)]

mod naive;
mod random;

use naive::{naive, naive_failure, naive_layer};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use random::{histories, judgings};
use runkey_evidence::*;
use std::collections::BTreeSet;

/// Compares everything that both judges say; gives the verdicts seen.
fn compare(h: &History, judging: &Judging) -> Vec<Verdict> {
    let real = judge(h, judging);
    let is_effect = |e: &&Event| matches!(e.what, What::Effect { .. });
    let homeless = h
        .events
        .iter()
        .filter(is_effect)
        .filter(|e| e.ids.slot == SlotTag::NONE)
        .count();
    let mut slots: BTreeSet<Slot> = h.planned.iter().map(|p| p.slot).collect();
    slots.extend(
        h.events
            .iter()
            .filter(is_effect)
            .filter_map(|e| e.ids.slot.truth()),
    );
    let mut expected: Vec<_> = slots
        .into_iter()
        .map(|slot| (slot, naive(h, judging, slot)))
        .collect();
    if homeless > 0 {
        expected.push((Slot::NOWHERE, (Verdict::Phantom, homeless)));
    }
    let said: Vec<_> = real
        .slots
        .iter()
        .map(|s| (s.slot, (s.verdict, s.effects as usize)))
        .collect();
    assert_eq!(said, expected);

    let worst = expected
        .iter()
        .map(|(_, (v, n))| (!naive_failure(judging, *v, *n), *v))
        .min();
    let worst = worst.unwrap_or((true, Verdict::ExactlyOnce));
    assert_eq!((!real.failure, real.verdict), worst);
    assert_eq!(real.layer.is_some(), real.failure);
    if real.failure && real.verdict == Verdict::Duplicate {
        let slot = expected
            .iter()
            .find(|(_, (v, _))| *v == Verdict::Duplicate)
            .unwrap()
            .0;
        assert_eq!(real.layer, Some(naive_layer(h, slot)));
    }
    expected
        .into_iter()
        .map(|(_, (verdict, _))| verdict)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_two_judges_agree(h in histories(), judging in judgings()) {
        compare(&h, &judging);
    }
}

#[test]
fn random_histories_have_every_verdict() {
    let mut seen = BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..3000 {
        let history = histories().new_tree(&mut runner).unwrap().current();
        let judging = judgings().new_tree(&mut runner).unwrap().current();
        seen.extend(compare(&history, &judging));
    }
    assert_eq!(seen.len(), 14, "{seen:?}");
}
