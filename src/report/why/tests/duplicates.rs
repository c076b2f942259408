//! Twice, by the layer where one became two.

use super::*;

#[test]
fn duplicates_tell_at_which_layer_one_became_two() {
    let again = |tale: Tale| {
        tale.by("executor-2")
            .delivered(1, 2)
            .attempt(1)
            .after(205)
            .effect()
            .acked()
    };
    let told = collected([
        ("two schedulers, no claim", {
            let tale = tale("[dispatch]\nclaim = { kind = 'none' }")
                .by("scheduler-1")
                .after(12)
                .fired(1, 1)
                .published(1)
                .by("scheduler-2")
                .after(7)
                .fired(1, 2)
                .published(2);
            tale.by("executor-1")
                .of(1, 1)
                .delivered(1, 1)
                .effect()
                .acked()
                .by("executor-2")
                .of(1, 2)
                .delivered(2, 1)
                .effect()
                .acked()
        }),
        (
            "a scheduler that dies between publish and record",
            tale("[dispatch]\nclaim = { kind = 'none' }")
                .done()
                .by("scheduler-1")
                .crash(&DISPATCH_ADVANCE, Phase::Before)
                .after(5_000)
                .fired(1, 2)
                .published(2)
                .by("executor-2")
                .delivered(2, 1)
                .effect()
                .acked(),
        ),
        (
            "the publish confirm is lost",
            tale("")
                .by("scheduler-1")
                .after(12)
                .fired(1, 1)
                .after(7)
                .published(1)
                .fault(FaultKind::LoseReply, &BROKER_PUBLISH, Phase::Done, 0)
                .by("executor-1")
                .delivered(1, 1)
                .effect()
                .acked()
                .by("scheduler-1")
                .after(3_000)
                .published(2)
                .by("executor-2")
                .delivered(2, 1)
                .effect()
                .acked(),
        ),
        (
            "the publish arrives twice",
            tale("")
                .by("scheduler-1")
                .after(12)
                .fired(1, 1)
                .fault(
                    FaultKind::DuplicateRequest,
                    &BROKER_PUBLISH,
                    Phase::Request,
                    0,
                )
                .after(7)
                .published(1)
                .published(2)
                .by("executor-1")
                .delivered(1, 1)
                .effect()
                .acked()
                .by("executor-2")
                .delivered(2, 1)
                .effect()
                .acked(),
        ),
        (
            "the relay dies before it marks the row",
            tale("")
                .by("scheduler-1")
                .after(12)
                .fired(1, 1)
                .after(7)
                .published(1)
                .crash(&OUTBOX_MARK, Phase::Before)
                .by("executor-1")
                .delivered(1, 1)
                .effect()
                .acked()
                .by("scheduler-2")
                .after(1_000)
                .published(2)
                .by("executor-2")
                .delivered(2, 1)
                .effect()
                .acked(),
        ),
        (
            "an operator replays a message",
            tale("")
                .done()
                .fault(FaultKind::OperatorReplay, &BROKER_ACK, Phase::Before, 0)
                .published(2)
                .by("executor-2")
                .delivered(2, 1)
                .effect()
                .acked(),
        ),
        (
            "recovery takes a paused executor for dead",
            tale(TRANSACTIONS)
                .handed_over()
                .attempt(1)
                .fault(FaultKind::Pause, &DOWNSTREAM_PERFORM, Phase::Before, 60_201)
                .by("executor-2")
                .after(50_000)
                .published(2)
                .says(&RECOVERY_REQUEUE, What::Requeued)
                .delivered(2, 1)
                .says(&GUARD_ENTER, What::TakenOver)
                .attempt(2)
                .effect()
                .acked()
                .by("executor-1")
                .delivered(1, 1)
                .after(10_000)
                .effect()
                .record(RecordState::Succeeded),
        ),
        (
            "crash before the ack",
            again(
                tale("")
                    .worked()
                    .crash(&BROKER_ACK, Phase::Before)
                    .after(29_791),
            ),
        ),
        (
            "the ack is lost",
            again(
                tale("")
                    .worked()
                    .fault(FaultKind::LoseRequest, &BROKER_ACK, Phase::Request, 0)
                    .after(29_791),
            ),
        ),
        (
            "a long pause",
            again(
                tale("")
                    .handed_over()
                    .attempt(1)
                    .fault(FaultKind::Pause, &DOWNSTREAM_PERFORM, Phase::Before, 45_201)
                    .after(30_000),
            )
            .by("executor-1")
            .delivered(1, 1)
            .after(15_000)
            .effect(),
        ),
        (
            "work longer than the deadline, no fault",
            again(tale(LOCK).handed_over().attempt(1).after(30_000))
                .by("executor-1")
                .delivered(1, 1)
                .after(15_000)
                .effect(),
        ),
        (
            "the broker restarts",
            again(
                tale("")
                    .worked()
                    .fault(FaultKind::BrokerRestart, &BROKER_ACK, Phase::Before, 0)
                    .after(2_000),
            ),
        ),
        (
            "a crash after the effect, taken over once the lease has ended",
            tale(TRANSACTIONS)
                .worked()
                .crash(&GUARD_FINISH, Phase::Before)
                .after(29_791)
                .by("executor-2")
                .delivered(1, 2)
                .after(15_000)
                .says(&GUARD_ENTER, What::TakenOver)
                .attempt(2)
                .effect()
                .acked()
                .record(RecordState::Succeeded),
        ),
        (
            "a timeout is taken for a failure",
            tale("")
                .worked()
                .fault(FaultKind::LoseReply, &DOWNSTREAM_PERFORM, Phase::Done, 0)
                .after(2_800)
                .says(&DOWNSTREAM_PERFORM, What::TimedOut)
                .ended(AttemptEnd::Unknown)
                .after(1_000)
                .attempt(2)
                .effect()
                .acked(),
        ),
        (
            "a handler panics after its effect",
            tale("")
                .worked()
                .says(&WORK, What::HandlerPanic)
                .attempt(2)
                .effect()
                .acked(),
        ),
        (
            "the request arrives twice",
            tale("")
                .handed_over()
                .attempt(1)
                .fault(
                    FaultKind::DuplicateRequest,
                    &DOWNSTREAM_PERFORM,
                    Phase::Request,
                    0,
                )
                .effect()
                .effect()
                .acked(),
        ),
        ("without a trace", {
            let mut tale = again(
                tale("")
                    .worked()
                    .crash(&BROKER_ACK, Phase::Before)
                    .after(29_791),
            );
            tale.history
                .events
                .iter_mut()
                .for_each(|event| event.ids.trace = None);
            tale
        }),
    ]);
    insta::assert_snapshot!(told);
}
