//! Every verdict that is always judged: a history that has it, and its nearest neighbours that do
//! not.

use crate::story::*;
use runkey_evidence::*;

#[test]
fn one_effect_acked_with_nothing_left_is_exactly_once() {
    let judgement = story(2).done(1).of(2).done(2).judged();
    assert_eq!(
        judgement,
        Judgement {
            verdict: Verdict::ExactlyOnce,
            failure: false,
            layer: None,
            slots: vec![
                SlotVerdict {
                    slot: slot(1),
                    verdict: Verdict::ExactlyOnce,
                    effects: 1
                },
                SlotVerdict {
                    slot: slot(2),
                    verdict: Verdict::ExactlyOnce,
                    effects: 1
                },
            ],
        }
    );
}

#[test]
fn nothing_planned_and_nothing_done_is_exactly_once() {
    let judgement = judge(&History::default(), &Judging::default());
    assert_eq!(judgement.verdict, Verdict::ExactlyOnce);
    assert_eq!(judgement.worst(), None);
    assert!(!judgement.failure);
}

#[test]
fn where_a_record_is_kept_exactly_once_needs_it_to_say_so() {
    let done = story(1).keeps_record().done(1);
    assert_eq!(
        done.clone().record(1, RecordState::Succeeded).verdict(),
        Verdict::ExactlyOnce
    );
    assert_eq!(done.verdict(), Verdict::Unfinished);
}

#[test]
fn the_claims_open_row_says_nothing_where_no_record_is_kept() {
    let done = story(1).done(1).listed(1, RecordState::Queued);
    assert_eq!(done.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn a_takeover_with_one_effect_is_exactly_once() {
    let taken_over = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .fault(&PERFORM, "pause")
        .started(2, 2, 2)
        .says(&ENTER, What::TakenOver)
        .effect()
        .ended(AttemptEnd::Succeeded)
        .acked();
    assert_eq!(taken_over.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn two_effects_of_a_slot_are_a_duplicate_whatever_the_record_says() {
    let twice = story(1).done(1).effect().record(1, RecordState::Dead);
    assert_eq!(twice.verdict(), Verdict::Duplicate);
    assert_eq!(twice.judged().slots[0].effects, 2);
}

#[test]
fn one_effect_of_each_of_two_slots_is_no_duplicate() {
    assert_eq!(
        story(2).done(1).of(2).done(2).judged().verdict,
        Verdict::ExactlyOnce
    );
}

#[test]
fn an_effect_of_an_unplanned_slot_is_a_phantom() {
    let judgement = story(1).done(1).of(2).done(2).judged();
    assert_eq!(judgement.verdict, Verdict::Phantom);
    assert_eq!(judgement.slots.len(), 2);
    assert_eq!(judgement.slots[1].slot, slot(2));
    assert_eq!(judgement.layer, Some(Attribution::Layer(Layer::Scheduling)));
}

#[test]
fn effects_of_no_slot_at_all_are_phantoms_and_not_duplicates() {
    let mut told = story(1).done(1).effect().effect();
    for event in &mut told.history.events[8..] {
        event.ids.slot = SlotTag::NONE;
    }
    let judgement = told.judged();
    assert_eq!(judgement.verdict, Verdict::Phantom);
    assert_eq!(
        judgement.worst(),
        Some(&SlotVerdict {
            slot: Slot::NOWHERE,
            verdict: Verdict::Phantom,
            effects: 2
        })
    );
}

#[test]
fn a_slot_that_nothing_ever_fired_is_lost() {
    assert_eq!(story(1).verdict(), Verdict::Lost);
}

#[test]
fn a_slot_that_a_timer_is_still_to_fire_is_stuck() {
    let armed = story(1).held(1, Holder::ArmedTimer);
    assert_eq!(armed.verdict(), Verdict::Stuck);
}

#[test]
fn no_effect_and_an_acked_message_is_lost() {
    let acked_first = story(1)
        .dispatched(1)
        .by(1)
        .delivery(1)
        .says(&DELIVER, What::Delivered)
        .acked();
    assert_eq!(acked_first.verdict(), Verdict::Lost);
}

#[test]
fn a_running_zombie_that_every_delivery_skips_is_lost() {
    let zombie = story(1).dispatched(1).started(1, 1, 1);
    let skipped = zombie.says(&ENTER, What::SkippedTaken).acked();
    for state in [
        RecordState::Created,
        RecordState::Queued,
        RecordState::Running,
        RecordState::Failed,
    ] {
        assert_eq!(
            skipped.clone().record(1, state).verdict(),
            Verdict::Lost,
            "{state}"
        );
    }
}

#[test]
fn no_list_of_open_work_shows_a_running_row() {
    assert_eq!(
        story(1).listed(1, RecordState::Running).verdict(),
        Verdict::Lost
    );
}

#[test]
fn a_row_that_a_list_of_open_work_shows_is_stuck() {
    for state in [RecordState::Created, RecordState::Queued] {
        assert_eq!(
            story(1).listed(1, state).verdict(),
            Verdict::Stuck,
            "{state}"
        );
    }
}

#[test]
fn whatever_holds_a_run_without_effect_makes_it_stuck() {
    for holder in [
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::DeadLetter,
        Holder::OutboxRow,
        Holder::Attempt,
        Holder::ArmedTimer,
    ] {
        let held = story(1).dispatched(1).held(1, holder);
        assert_eq!(held.verdict(), Verdict::Stuck, "{holder:?}");
    }
}

#[test]
fn what_holds_another_run_does_not_hold_this_one() {
    let held = story(2).held(2, Holder::ReadyMessage);
    assert_eq!(held.verdict(), Verdict::Lost);
}

#[test]
fn dead_or_unknown_without_effect_is_given_up() {
    for state in [RecordState::Dead, RecordState::Unknown] {
        let told = story(1).dispatched(1).record(1, state);
        assert_eq!(told.verdict(), Verdict::GaveUp, "{state}");
        let held = told.held(1, Holder::DeadLetter);
        assert_eq!(held.verdict(), Verdict::GaveUp, "{state}");
    }
}

#[test]
fn unknown_with_an_effect_is_given_up_and_no_lie() {
    let quarantined = story(1)
        .keeps_record()
        .done(1)
        .record(1, RecordState::Unknown);
    assert_eq!(quarantined.verdict(), Verdict::GaveUp);
}

#[test]
fn dead_or_failed_although_the_effect_happened_is_misrecorded() {
    for state in [RecordState::Dead, RecordState::Failed] {
        let told = story(1).keeps_record().done(1).record(1, state);
        assert_eq!(told.verdict(), Verdict::Misrecorded, "{state}");
    }
}

#[test]
fn succeeded_without_effect_is_misrecorded() {
    let told = story(1).dispatched(1).record(1, RecordState::Succeeded);
    assert_eq!(told.verdict(), Verdict::Misrecorded);
}

#[test]
fn a_dead_letter_is_a_record_that_says_failed_where_there_is_no_other() {
    let rejected = story(1).done(1).held(1, Holder::DeadLetter);
    assert_eq!(rejected.verdict(), Verdict::Misrecorded);
    let claimed = rejected.clone().listed(1, RecordState::Queued);
    assert_eq!(claimed.verdict(), Verdict::Misrecorded);
    let running = rejected
        .clone()
        .keeps_record()
        .record(1, RecordState::Running);
    assert_eq!(running.verdict(), Verdict::Unfinished);
    let succeeded = rejected.keeps_record().record(1, RecordState::Succeeded);
    assert_eq!(succeeded.verdict(), Verdict::Unfinished);
}

#[test]
fn of_several_records_the_one_that_says_succeeded_is_believed() {
    let told = story(1)
        .keeps_record()
        .done(1)
        .record(1, RecordState::Failed)
        .record(1, RecordState::Succeeded);
    assert_eq!(told.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn an_open_record_after_the_effect_is_unfinished() {
    for state in [
        RecordState::Created,
        RecordState::Queued,
        RecordState::Running,
    ] {
        let told = story(1).keeps_record().done(1).record(1, state);
        assert_eq!(told.verdict(), Verdict::Unfinished, "{state}");
    }
}

#[test]
fn what_is_left_after_the_effect_makes_it_unfinished_but_for_a_timer() {
    let done = story(1).done(1);
    for holder in [
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::OutboxRow,
        Holder::Attempt,
    ] {
        let held = done.clone().held(1, holder);
        assert_eq!(held.verdict(), Verdict::Unfinished, "{holder:?}");
    }
    let armed = done.held(1, Holder::ArmedTimer);
    assert_eq!(armed.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn in_local_exactly_once_needs_the_last_attempt_to_have_ended() {
    let crashed = story(1)
        .local()
        .says(&FIRE, What::Fired)
        .attempt(1)
        .says(&WORK, What::AttemptStarted)
        .effect();
    assert_eq!(crashed.verdict(), Verdict::Unfinished);
    let ended = crashed.clone().ended(AttemptEnd::Succeeded);
    assert_eq!(ended.verdict(), Verdict::ExactlyOnce);
    let again = ended.attempt(2).says(&WORK, What::AttemptStarted);
    assert_eq!(again.verdict(), Verdict::Unfinished);
    let panicked = crashed.says(&WORK, What::HandlerPanic);
    assert_eq!(panicked.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn a_run_that_still_goes_round_when_the_execution_is_cut_makes_no_progress() {
    let cut = story(1).dispatched(1).livelock();
    for holder in [
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::OutboxRow,
        Holder::Attempt,
        Holder::ArmedTimer,
    ] {
        let held = cut.clone().held(1, holder);
        assert_eq!(held.verdict(), Verdict::NoProgress, "{holder:?}");
    }
    let listed = cut.clone().listed(1, RecordState::Queued);
    assert_eq!(listed.verdict(), Verdict::NoProgress);
    let parked = cut.clone().held(1, Holder::DeadLetter);
    assert_eq!(parked.verdict(), Verdict::Stuck);
    assert_eq!(cut.verdict(), Verdict::Lost);
}

#[test]
fn a_run_can_go_round_after_its_effect() {
    let cut = story(2).done(1).livelock();
    let held = cut.clone().held(1, Holder::ReadyMessage);
    assert_eq!(held.verdict(), Verdict::NoProgress);
    let done = cut
        .held(1, Holder::ArmedTimer)
        .listed(1, RecordState::Queued);
    assert_eq!(done.verdict(), Verdict::ExactlyOnce);
}

#[test]
fn a_slot_dropped_by_a_declared_policy_is_skipped() {
    let dropped = story(1).says(&FIRE, What::SkippedByPolicy);
    let judgement = dropped.judged();
    assert_eq!(judgement.verdict, Verdict::Skipped);
    assert!(!judgement.failure);
    let row = dropped.clone().listed(1, RecordState::Created);
    assert_eq!(row.verdict(), Verdict::Skipped);
    let held = dropped.held(1, Holder::ReadyMessage);
    assert_eq!(held.verdict(), Verdict::Stuck);
}

#[test]
fn a_skipped_slot_is_lost_where_the_scenario_minds() {
    let judging = Judging {
        skipped: SkippedAs::Lost,
        ..Judging::default()
    };
    let judgement = story(1)
        .says(&FIRE, What::SkippedByPolicy)
        .judged_by(&judging);
    assert_eq!(judgement.verdict, Verdict::Lost);
    assert!(judgement.failure);
}

#[test]
fn an_executor_may_drop_the_message_of_a_run_by_policy() {
    let dropped = story(1)
        .dispatched(1)
        .by(1)
        .delivery(1)
        .says(&ENTER, What::SkippedByPolicy)
        .acked();
    assert_eq!(dropped.verdict(), Verdict::Skipped);
    let mut again = dropped.by(2).says(&FIRE, What::SkippedByPolicy);
    again.history.events[5].ids.message = None;
    assert_eq!(again.verdict(), Verdict::Skipped);
}

#[test]
fn what_one_scheduler_skips_and_another_publishes_in_vain_is_lost() {
    let skip = |story: Story| story.by(2).says(&FIRE, What::SkippedByPolicy);
    let before = skip(story(1)).dispatched(1);
    assert_eq!(before.verdict(), Verdict::Lost);
    let mut after = skip(story(1).dispatched(1));
    after.history.events[3].ids.message = None;
    assert_eq!(after.verdict(), Verdict::Lost);
}

#[test]
fn a_run_that_was_begun_is_not_skipped() {
    let begun = story(1)
        .says(&WORK, What::AttemptStarted)
        .says(&FIRE, What::SkippedByPolicy);
    assert_eq!(begun.verdict(), Verdict::Lost);
}
