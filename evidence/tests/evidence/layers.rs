//! The layer of every kind of failure, found as a person would find it in logs.

use crate::story::*;
use runkey_evidence::*;

fn layer(layer: Layer) -> Option<Attribution> {
    Some(Attribution::Layer(layer))
}

fn missing(missing: &'static str) -> Option<Attribution> {
    Some(Attribution::Undecided { missing })
}

/// One effect, and then another after this change of identifiers.
fn twice(change: fn(Story) -> Story) -> Option<Attribution> {
    let judgement = change(story(1).done(1)).effect().judged();
    assert_eq!(judgement.verdict, Verdict::Duplicate);
    judgement.layer
}

#[test]
fn different_traces_are_born_in_scheduling() {
    let other = |story: Story| story.trace(9).message(2);
    assert_eq!(twice(other), layer(Layer::Scheduling));
}

#[test]
fn different_run_keys_are_born_in_scheduling() {
    let other = |mut story: Story| {
        story.ids.run = Some(run(2));
        story
    };
    assert_eq!(twice(other), layer(Layer::Scheduling));
}

#[test]
fn the_same_trace_and_different_messages_are_born_in_publishing() {
    assert_eq!(twice(|story| story.message(2)), layer(Layer::Publishing));
}

#[test]
fn the_same_message_and_different_deliveries_are_born_in_delivery() {
    let other = |story: Story| story.delivery(2).attempt(2).by(2);
    assert_eq!(twice(other), layer(Layer::Delivery));
}

#[test]
fn the_same_delivery_and_different_attempts_are_born_in_execution() {
    assert_eq!(twice(|story| story.attempt(2)), layer(Layer::Execution));
}

#[test]
fn the_same_attempt_is_born_in_effect() {
    assert_eq!(twice(|story| story), layer(Layer::Effect));
}

#[test]
fn what_is_missing_is_named() {
    let without = |change: fn(&mut Ids)| {
        let mut told = story(1).done(1).effect();
        change(&mut told.history.events[8].ids);
        told.judged().layer
    };
    assert_eq!(without(|ids| ids.trace = None), missing("traceId"));
    assert_eq!(without(|ids| ids.message = None), missing("messageId"));
    assert_eq!(without(|ids| ids.delivery = 0), missing("delivery count"));
    assert_eq!(without(|ids| ids.attempt = 0), missing("retryCount"));
    // A trace belongs to one run.
    assert_eq!(without(|ids| ids.run = None), layer(Layer::Effect));
}

#[test]
fn what_is_missing_below_the_first_difference_does_not_matter() {
    let other = |mut story: Story| {
        story.ids = Ids {
            trace: Some(TraceId(9)),
            slot: story.ids.slot,
            ..Ids::default()
        };
        story
    };
    assert_eq!(twice(other), layer(Layer::Scheduling));
}

#[test]
fn in_local_no_message_and_no_delivery_are_missing() {
    let run = |story: Story| story.attempt(1).effect();
    let replicas = run(run(story(1).local()).trace(2));
    assert_eq!(replicas.judged().layer, layer(Layer::Scheduling));
    let retried = run(story(1).local()).attempt(2).effect();
    assert_eq!(retried.judged().layer, layer(Layer::Execution));
}

#[test]
fn only_the_first_two_effects_count() {
    let told = story(1).done(1).attempt(2).effect().trace(9).effect();
    assert_eq!(told.judged().layer, layer(Layer::Execution));
    assert_eq!(told.judged().slots[0].effects, 3);
}

#[test]
fn fault_events_and_places_do_not_change_the_layer_of_a_duplicate() {
    let other = |story: Story| {
        let story = story.fault(&PUBLISH, "lose_reply").fault(&FIRE, "crash");
        story.by(2).life(7).after(90_000).delivery(2)
    };
    assert_eq!(twice(other), layer(Layer::Delivery));
}

#[test]
fn a_slot_that_nothing_moved_is_lost_in_scheduling() {
    assert_eq!(
        story(1).verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Scheduling))
    );
}

#[test]
fn a_crash_after_the_insert_and_skips_ever_after_lose_the_run_in_execution() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .says(&ENTER, What::Recorded(RecordState::Running))
        .fault(&PERFORM, "crash")
        .by(2)
        .delivery(2)
        .says(&DELIVER, What::Delivered)
        .says(&ENTER, What::SkippedTaken)
        .acked()
        .record(1, RecordState::Running);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Execution))
    );
}

#[test]
fn an_ack_before_the_work_loses_the_run_in_delivery() {
    let told = story(1)
        .dispatched(1)
        .by(1)
        .delivery(1)
        .says(&DELIVER, What::Delivered)
        .acked()
        .fault(&ENTER, "crash");
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Delivery))
    );
}

#[test]
fn a_position_advanced_before_a_crash_loses_the_run_in_scheduling() {
    let told = story(1)
        .says(&FIRE, What::Fired)
        .says(&CLAIM, What::Claimed)
        .says(&ADVANCE, What::Advanced)
        .fault(&PUBLISH, "crash");
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Scheduling))
    );
    let listed = told.listed(1, RecordState::Created);
    assert_eq!(
        listed.verdict_and_layer(),
        (Verdict::Stuck, layer(Layer::Scheduling))
    );
}

#[test]
fn a_message_that_the_broker_loses_is_lost_in_publishing() {
    let told = story(1)
        .dispatched(1)
        .says(&MARK, What::Marked)
        .says(&MARK, What::Recorded(RecordState::Queued))
        .says(&ADVANCE, What::Advanced)
        .by(1)
        .says(&DELIVER, What::Dropped);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Publishing))
    );
}

#[test]
fn a_message_dropped_as_a_repeat_is_lost_in_publishing() {
    let told = story(1)
        .says(&FIRE, What::Fired)
        .says(&PUBLISH, What::PublishDeduplicated);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Publishing))
    );
}

#[test]
fn a_repeat_by_a_second_scheduler_or_relay_does_not_move_the_run() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .says(&ENTER, What::SkippedTaken)
        .by(0)
        .says(&FIRE, What::Fired)
        .says(&CLAIM, What::ClaimTaken)
        .says(&READ, What::OutboxRead)
        .says(&PUBLISH, What::PublishDeduplicated);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Execution))
    );
}

#[test]
fn an_outbox_row_that_is_read_and_not_published_is_stuck_in_publishing() {
    let told = story(1)
        .says(&FIRE, What::Fired)
        .says(&CLAIM, What::Claimed)
        .says(&READ, What::OutboxRead)
        .says(&PUBLISH, What::TimedOut)
        .held(1, Holder::OutboxRow);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Stuck, layer(Layer::Publishing))
    );
    let requeued = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .says(&REQUEUE, What::Requeued)
        .says(&READ, What::OutboxRead)
        .held(1, Holder::OutboxRow);
    assert_eq!(
        requeued.verdict_and_layer(),
        (Verdict::Stuck, layer(Layer::Publishing))
    );
}

#[test]
fn a_dead_letter_after_failed_attempts_is_stuck_in_execution() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .says(&PERFORM, What::Failed { request: true })
        .ended(AttemptEnd::Final)
        .says(&REJECT, What::DeadLettered)
        .held(1, Holder::DeadLetter);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Stuck, layer(Layer::Execution))
    );
}

#[test]
fn a_downstream_that_takes_the_slot_for_another_loses_it_in_effect() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .says(&PERFORM, What::Repeated)
        .ended(AttemptEnd::Succeeded)
        .acked();
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Lost, layer(Layer::Effect))
    );
}

#[test]
fn a_record_of_having_given_up_is_made_in_execution() {
    let told = story(1)
        .keeps_record()
        .dispatched(1)
        .started(1, 8, 8)
        .ended(AttemptEnd::Final)
        .says(&FINISH, What::Recorded(RecordState::Dead))
        .acked()
        .record(1, RecordState::Dead);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::GaveUp, layer(Layer::Execution))
    );
    let effect = story(1).keeps_record().done(1);
    let quarantined = effect
        .says(&FINISH, What::Recorded(RecordState::Unknown))
        .acked()
        .record(1, RecordState::Unknown);
    assert_eq!(
        quarantined.verdict_and_layer(),
        (Verdict::GaveUp, layer(Layer::Execution))
    );
}

#[test]
fn a_record_that_lies_is_written_in_execution_and_the_ack_after_it_does_not_matter() {
    let told = story(1)
        .keeps_record()
        .done(1)
        .says(&FINISH, What::Recorded(RecordState::Failed))
        .acked()
        .record(1, RecordState::Failed);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Misrecorded, layer(Layer::Execution))
    );
}

#[test]
fn a_dead_letter_that_lies_is_written_in_delivery() {
    let told = story(1)
        .done(1)
        .says(&REJECT, What::DeadLettered)
        .held(1, Holder::DeadLetter);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Misrecorded, layer(Layer::Delivery))
    );
}

#[test]
fn a_record_left_open_by_a_crash_is_unfinished_in_execution() {
    let begun = story(1)
        .keeps_record()
        .dispatched(1)
        .started(1, 1, 1)
        .says(&ENTER, What::Recorded(RecordState::Running))
        .effect();
    let skip = |story: Story| {
        let again = story.by(2).delivery(2).says(&DELIVER, What::Delivered);
        again
            .says(&ENTER, What::SkippedTaken)
            .acked()
            .record(1, RecordState::Running)
    };
    let at_finish = skip(begun.clone().fault(&FINISH, "crash"));
    let at_perform = skip(begun.clone().fault(&PERFORM, "crash"));
    let refused = skip(begun.says(&FINISH, What::RecordRefused));
    for told in [at_finish, at_perform, refused] {
        assert_eq!(
            told.verdict_and_layer(),
            (Verdict::Unfinished, layer(Layer::Execution))
        );
    }
}

#[test]
fn a_message_that_is_never_settled_is_unfinished_in_delivery() {
    let told = story(1)
        .keeps_record()
        .dispatched(1)
        .started(1, 1, 1)
        .effect()
        .says(&FINISH, What::Recorded(RecordState::Succeeded))
        .fault(&ACK, "lose_request")
        .record(1, RecordState::Succeeded)
        .held(1, Holder::UnackedMessage);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Unfinished, layer(Layer::Delivery))
    );
}

#[test]
fn an_outbox_row_that_is_never_marked_is_unfinished_in_publishing() {
    let told = story(1).done(1).by(0);
    let told = told.says(&MARK, What::TimedOut).held(1, Holder::OutboxRow);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Unfinished, layer(Layer::Publishing))
    );
}

#[test]
fn an_attempt_that_never_ends_is_unfinished_in_execution() {
    let told = story(1)
        .dispatched(1)
        .started(1, 1, 1)
        .effect()
        .acked()
        .held(1, Holder::Attempt);
    assert_eq!(
        told.verdict_and_layer(),
        (Verdict::Unfinished, layer(Layer::Execution))
    );
}

#[test]
fn a_loop_of_deferrals_makes_no_progress_in_delivery_and_one_of_publishes_in_publishing() {
    let deferrals = story(1)
        .livelock()
        .dispatched(1)
        .by(1)
        .delivery(1)
        .says(&DELIVER, What::Delivered)
        .says(&ENTER, What::Busy)
        .says(&DEFER, What::Deferred { for_ms: 1 })
        .held(1, Holder::ReadyMessage);
    assert_eq!(
        deferrals.verdict_and_layer(),
        (Verdict::NoProgress, layer(Layer::Delivery))
    );
    let publishes = story(1)
        .livelock()
        .dispatched(1)
        .says(&MARK, What::Failed { request: true })
        .held(1, Holder::OutboxRow);
    assert_eq!(
        publishes.verdict_and_layer(),
        (Verdict::NoProgress, layer(Layer::Publishing))
    );
}

#[test]
fn every_event_can_be_attributed_under_every_verdict() {
    let verdicts = [
        Verdict::Duplicate,
        Verdict::Phantom,
        Verdict::Lost,
        Verdict::Stuck,
        Verdict::Misrecorded,
        Verdict::GaveUp,
        Verdict::NoProgress,
        Verdict::Unfinished,
        Verdict::StaleEffect,
        Verdict::Overlap,
        Verdict::Early,
        Verdict::Late,
        Verdict::Skipped,
        Verdict::ExactlyOnce,
    ];
    for what in every_what() {
        let told = story(1).says(&FIRE, what);
        for verdict in verdicts {
            let found = attribute(&told.history, slot(1), verdict);
            assert_eq!(found, Attribution::Layer(Layer::Scheduling));
        }
        assert!(
            !told.history.events[0]
                .describe(&told.history.cast)
                .is_empty()
        );
    }
}
