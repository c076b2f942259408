//! Which verdicts break which promise, and which slot an execution is about.

use crate::story::*;
use runkey_evidence::*;

fn promise(promise: Promise) -> Judging {
    Judging {
        promise,
        ..Judging::default()
    }
}

/// One history for each verdict that is always judged and can fail.
fn one_of_each() -> Vec<Story> {
    vec![
        story(1).done(1).effect(),
        story(1).done(1).of(2).done(2),
        story(1),
        story(1).held(1, Holder::DeadLetter),
        story(1).done(1).record(1, RecordState::Dead),
        story(1).record(1, RecordState::Succeeded),
        story(1).record(1, RecordState::Dead),
        story(1).livelock().held(1, Holder::ReadyMessage),
        story(1).done(1).held(1, Holder::ReadyMessage),
        story(1).says(&FIRE, What::SkippedByPolicy),
        story(1).done(1),
    ]
}

fn failing(judging: &Judging) -> Vec<(Verdict, u32)> {
    let judged = one_of_each()
        .into_iter()
        .map(|story| story.judged_by(judging));
    judged
        .filter(|judgement| judgement.failure)
        .map(|judgement| (judgement.verdict, judgement.worst().unwrap().effects))
        .collect()
}

#[test]
fn exactly_once_is_broken_by_everything_that_is_always_judged() {
    use Verdict::*;
    assert_eq!(
        failing(&promise(Promise::ExactlyOnce)),
        [
            (Duplicate, 2),
            (Phantom, 1),
            (Lost, 0),
            (Stuck, 0),
            (Misrecorded, 1),
            (Misrecorded, 0),
            (GaveUp, 0),
            (NoProgress, 0),
            (Unfinished, 1)
        ]
    );
}

#[test]
fn at_least_once_is_broken_by_what_leaves_a_slot_without_effect_and_by_phantoms() {
    use Verdict::*;
    assert_eq!(
        failing(&promise(Promise::AtLeastOnce)),
        [
            (Phantom, 1),
            (Lost, 0),
            (Stuck, 0),
            (Misrecorded, 0),
            (GaveUp, 0),
            (NoProgress, 0)
        ]
    );
}

#[test]
fn at_most_once_is_broken_by_duplicates_and_phantoms() {
    assert_eq!(
        failing(&promise(Promise::AtMostOnce)),
        [(Verdict::Duplicate, 2), (Verdict::Phantom, 1)]
    );
}

#[test]
fn giving_up_breaks_nothing_where_the_scenario_allows_it() {
    let judging = Judging {
        gave_up: GaveUpAs::Ok,
        ..Judging::default()
    };
    let judgement = story(1).record(1, RecordState::Dead).judged_by(&judging);
    assert_eq!(judgement.verdict, Verdict::GaveUp);
    assert!(!judgement.failure);
    assert_eq!(judgement.layer, None);
}

#[test]
fn the_worst_slot_is_the_verdict() {
    let judgement = story(3).done(1).of(3).done(3).effect().judged();
    let verdicts: Vec<_> = judgement.slots.iter().map(|slot| slot.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::ExactlyOnce, Verdict::Lost, Verdict::Duplicate]
    );
    assert_eq!(judgement.verdict, Verdict::Duplicate);
    assert_eq!(judgement.worst().unwrap().slot, slot(3));
}

#[test]
fn a_slot_that_breaks_the_promise_goes_before_a_worse_one_that_does_not() {
    let judgement = story(2)
        .done(1)
        .effect()
        .judged_by(&promise(Promise::AtLeastOnce));
    assert_eq!(judgement.verdict, Verdict::Lost);
    assert!(judgement.failure);
    assert_eq!(judgement.worst().unwrap().slot, slot(2));
}

#[test]
fn of_two_misrecorded_slots_the_one_without_effect_is_the_worse() {
    let judgement = story(2)
        .done(1)
        .record(1, RecordState::Dead)
        .record(2, RecordState::Succeeded)
        .judged_by(&promise(Promise::AtLeastOnce));
    assert!(judgement.failure);
    assert_eq!(judgement.worst().unwrap().slot, slot(2));
}

#[test]
fn the_judge_table_is_read_as_documented() {
    let judging: Judging = toml::from_str(
        r#"
        promise = "at_least_once"
        tolerance = "1m 30s"
        overlap = true
        stale = true
        skipped = "lost"
        gave_up = "ok"
        "#,
    )
    .unwrap();
    assert_eq!(
        judging,
        Judging {
            promise: Promise::AtLeastOnce,
            skipped: SkippedAs::Lost,
            gave_up: GaveUpAs::Ok,
            tolerance: Some(90_000),
            overlap: true,
            stale: true,
        }
    );
    let written = toml::to_string(&judging).unwrap();
    assert_eq!(toml::from_str::<Judging>(&written), Ok(judging));
}

#[test]
fn an_empty_judge_table_is_the_default() {
    assert_eq!(toml::from_str::<Judging>(""), Ok(Judging::default()));
    let written = toml::to_string(&Judging::default()).unwrap();
    assert_eq!(toml::from_str::<Judging>(&written), Ok(Judging::default()));
}

#[test]
fn what_the_judge_table_does_not_know_is_refused() {
    for text in [
        "promise = \"always\"",
        "tolerance = 30",
        "tolerance = \"-30s\"",
        "tolerance = \"1us\"",
        "late = true",
    ] {
        assert!(toml::from_str::<Judging>(text).is_err(), "{text}");
    }
}
