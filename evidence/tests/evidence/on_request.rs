//! The verdicts that are judged only where `[judge]` asks: overlap, early, late, stale_effect.

use crate::story::*;
use runkey_evidence::*;

const OVERLAP: Judging = Judging {
    overlap: true,
    ..NOTHING
};
const STALE: Judging = Judging {
    stale: true,
    ..NOTHING
};
const NOTHING: Judging = Judging {
    promise: Promise::ExactlyOnce,
    skipped: SkippedAs::Ok,
    gave_up: GaveUpAs::Failure,
    tolerance: None,
    overlap: false,
    stale: false,
};

fn verdicts(story: &Story, judging: &Judging) -> Vec<Verdict> {
    let judgement = story.judged_by(judging);
    judgement.slots.iter().map(|slot| slot.verdict).collect()
}

/// executor-1 works, and before it has ended executor-2 takes over and makes the effect.
fn taken_over() -> Story {
    story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .started(2, 2, 2)
        .effect()
        .ended(AttemptEnd::Succeeded)
        .acked()
}

#[test]
fn two_attempts_of_one_run_at_once_overlap_if_asked() {
    let judgement = taken_over().judged_by(&OVERLAP);
    assert_eq!(judgement.verdict, Verdict::Overlap);
    assert!(judgement.failure);
    assert_eq!(judgement.layer, Some(Attribution::Layer(Layer::Delivery)));
    assert_eq!(verdicts(&taken_over(), &NOTHING), [Verdict::ExactlyOnce]);
}

#[test]
fn one_attempt_after_the_other_is_no_overlap() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .ended(AttemptEnd::Retryable)
        .started(1, 1, 2)
        .effect()
        .ended(AttemptEnd::Succeeded);
    assert_eq!(verdicts(&told, &OVERLAP), [Verdict::ExactlyOnce]);
}

#[test]
fn an_attempt_ends_with_its_process() {
    for (step, what) in [(&INSTANCE, What::Restarted), (&INSTANCE, What::Stopped)] {
        let told = story(1)
            .dispatched(1)
            .started(1, 1, 1)
            .says(step, what)
            .started(2, 2, 2)
            .effect()
            .ended(AttemptEnd::Succeeded);
        assert_eq!(verdicts(&told, &OVERLAP), [Verdict::ExactlyOnce]);
    }
    let begun = story(1).dispatched(1).started(1, 1, 1);
    let go_on = |story: Story| story.started(2, 2, 2).effect().ended(AttemptEnd::Succeeded);
    let crashed = go_on(begun.clone().fault(&PERFORM, "crash"));
    assert_eq!(verdicts(&crashed, &OVERLAP), [Verdict::ExactlyOnce]);
    let paused = go_on(begun.clone().fault(&PERFORM, "pause"));
    assert_eq!(verdicts(&paused, &OVERLAP), [Verdict::Overlap]);
    let another_crashed = go_on(begun.by(0).fault(&PERFORM, "crash"));
    assert_eq!(verdicts(&another_crashed, &OVERLAP), [Verdict::Overlap]);
}

#[test]
fn attempts_of_two_slots_of_one_timer_overlap_too() {
    let told = story(2)
        .dispatched(1)
        .started(1, 1, 1)
        .effect()
        .of(2)
        .dispatched(2)
        .started(2, 1, 1)
        .effect()
        .ended(AttemptEnd::Succeeded);
    assert_eq!(
        verdicts(&told, &OVERLAP),
        [Verdict::Overlap, Verdict::Overlap]
    );
    assert_eq!(
        told.judged_by(&OVERLAP).layer,
        Some(Attribution::Layer(Layer::Scheduling))
    );
}

#[test]
fn attempts_of_two_timers_do_not_overlap() {
    let mut told = story(2)
        .dispatched(1)
        .started(1, 1, 1)
        .effect()
        .of(2)
        .dispatched(2)
        .started(2, 1, 1)
        .effect();
    let other = Slot {
        timer: 1,
        ordinal: 1,
    };
    let mut planned = told.history.planned.to_vec();
    planned[1].slot = other;
    told.history.planned = planned.into();
    for event in &mut told.history.events[6..] {
        event.ids.slot = SlotTag::seal(other);
    }
    assert_eq!(
        verdicts(&told, &OVERLAP),
        [Verdict::ExactlyOnce, Verdict::ExactlyOnce]
    );
}

fn tolerance(ms: u64) -> Judging {
    Judging {
        tolerance: Some(ms),
        ..NOTHING
    }
}

#[test]
fn an_effect_after_the_tolerance_is_late() {
    let told = story(1)
        .dispatched(1)
        .after(30_001)
        .started(1, 1, 1)
        .effect();
    assert_eq!(verdicts(&told, &tolerance(30_000)), [Verdict::Late]);
    assert_eq!(verdicts(&told, &tolerance(30_001)), [Verdict::ExactlyOnce]);
    assert_eq!(verdicts(&told, &NOTHING), [Verdict::ExactlyOnce]);
    let judgement = told.judged_by(&tolerance(30_000));
    assert!(judgement.failure);
    assert_eq!(judgement.layer, Some(Attribution::Layer(Layer::Delivery)));
}

#[test]
fn an_effect_before_the_tolerance_is_early() {
    let told = story(1).after(-501).dispatched(1).started(1, 1, 1).effect();
    assert_eq!(verdicts(&told, &tolerance(500)), [Verdict::Early]);
    assert_eq!(verdicts(&told, &tolerance(501)), [Verdict::ExactlyOnce]);
    assert_eq!(
        told.judged_by(&tolerance(0)).layer,
        Some(Attribution::Layer(Layer::Scheduling))
    );
}

#[test]
fn an_effect_of_a_superseded_attempt_is_stale_if_asked() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .started(2, 2, 2)
        .by(1)
        .delivery(1)
        .attempt(1)
        .effect()
        .ended(AttemptEnd::Succeeded);
    let judgement = told.judged_by(&STALE);
    assert_eq!(judgement.verdict, Verdict::StaleEffect);
    assert!(judgement.failure);
    assert_eq!(judgement.layer, Some(Attribution::Layer(Layer::Delivery)));
    assert_eq!(verdicts(&told, &NOTHING), [Verdict::ExactlyOnce]);
}

#[test]
fn the_effect_of_the_attempt_that_took_over_is_not_stale() {
    assert_eq!(verdicts(&taken_over(), &STALE), [Verdict::ExactlyOnce]);
}

#[test]
fn an_effect_of_the_life_before_the_crash_is_stale() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .life(2)
        .started(1, 1, 1)
        .life(1)
        .effect();
    assert_eq!(verdicts(&told, &STALE), [Verdict::StaleEffect]);
}

#[test]
fn what_is_worse_goes_first() {
    let all = Judging {
        tolerance: Some(0),
        overlap: true,
        stale: true,
        ..NOTHING
    };
    let late = taken_over().effect();
    assert_eq!(verdicts(&late, &all), [Verdict::Duplicate]);
    let late = story(1)
        .after(1)
        .dispatched(1)
        .started(1, 1, 1)
        .started(2, 1, 1)
        .effect();
    assert_eq!(verdicts(&late, &all), [Verdict::Overlap]);
}
