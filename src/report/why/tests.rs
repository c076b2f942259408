//! The sentences, on histories made by hand; read them in `snapshots/`.

#![allow(clippy::unwrap_used)]

use crate::report::tale::*;
use evidence::{AttemptEnd, Holder, Ids, RecordState, What};
use scenarios::spec::{FaultKind, Phase};
use scheduler::steps::*;
use std::fmt::Write;

fn collected(tales: impl IntoIterator<Item = (&'static str, Tale)>) -> String {
    let mut text = String::new();
    for (title, tale) in tales {
        writeln!(text, "{title}\n    {}\n", tale.told()).unwrap();
    }
    text
}

const TRANSACTIONS: &str = "[guard]\nkind = 'state_machine'";
const LOCK: &str = "[guard]\nkind = 'redis_lock'\n[work]\ntakes = '45s'";

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

#[test]
fn missing_effects_tell_where_the_run_was_let_go() {
    let wait = |tale: Tale| tale.by("scheduler-1").after(-10);
    let told = collected([
        ("nobody fires", wait(tale("")).of(1, 1).crash(&TIMER_WAIT, Phase::Done)),
        ("advanced, then crashed",
            tale("").by("scheduler-1").after(12).fired(1, 1).says(&DISPATCH_ADVANCE, What::Advanced)
                .crash(&BROKER_PUBLISH, Phase::Before)),
        ("claimed, then crashed",
            tale("").by("scheduler-1").after(12).fired(1, 1).says(&DISPATCH_CLAIM, What::Claimed)
                .crash(&BROKER_PUBLISH, Phase::Before)),
        ("skipped by policy as if it were lost",
            tale("[judge]\nskipped = 'lost'").by("scheduler-1").fired(1, 1)
                .says(&TIMER_FIRE, What::SkippedByPolicy)),
        ("the broker loses its messages",
            tale("").by("scheduler-1").after(12).fired(1, 1).published(1)
                .fault(FaultKind::BrokerRestart, &BROKER_DELIVER, Phase::Before, 0)
                .says(&BROKER_PUBLISH, What::Dropped)),
        ("handed over at most once",
            tale("[broker]\nprofile = 'at-most-once'").handed_over()
                .crash(&DOWNSTREAM_PERFORM, Phase::Before)),
        ("a mark left by the dead",
            tale("[guard]\nkind = 'insert_first'").handed_over()
                .says(&GUARD_ENTER, What::Recorded(RecordState::Running))
                .crash(&DOWNSTREAM_PERFORM, Phase::Before).after(30_000)
                .by("executor-2").delivered(1, 2).says(&GUARD_ENTER, What::SkippedTaken).acked()
                .record(RecordState::Running)),
        ("the timer as the key",
            tale("[identity]\nkey = 'timer_id'\n[guard]\nkind = 'insert_first'").done()
                .record(RecordState::Succeeded)
                .by("scheduler-2").fired(2, 2).published(2)
                .by("executor-2").delivered(2, 1).says(&GUARD_ENTER, What::SkippedDone).acked()),
        ("the downstream takes it for a repeat",
            tale("[downstream]\nprotection = { kind = 'idempotency_key' }\n[identity]\nkey = 'timer_id'")
                .handed_over().attempt(1).says(&DOWNSTREAM_PERFORM, What::Repeated)
                .ended(AttemptEnd::Succeeded).acked()),
        ("a dead letter",
            tale("").handed_over().crash(&WORK, Phase::Before).after(30_000).delivered(1, 2)
                .says(&BROKER_REJECT, What::DeadLettered).held(Holder::DeadLetter)),
        ("an outbox row that nobody sends",
            tale("").by("scheduler-1").fired(1, 1).crash(&OUTBOX_READ, Phase::Before)
                .held(Holder::OutboxRow)),
        ("handed over and never settled", tale("").handed_over().held(Holder::UnackedMessage)),
        ("given up",
            tale(TRANSACTIONS).handed_over().attempt(3)
                .fault(FaultKind::Refuse, &DOWNSTREAM_PERFORM, Phase::Request, 0)
                .says(&GUARD_FINISH, What::Recorded(RecordState::Dead))
                .says(&GUARD_FINISH, What::GaveUp).acked().record(RecordState::Dead)),
        ("quarantined",
            tale("[guard]\nkind = 'state_machine'\n[downstream]\nprotection = { kind = 'quarantine' }")
                .handed_over().attempt(1)
                .fault(FaultKind::LoseRequest, &DOWNSTREAM_PERFORM, Phase::Request, 0)
                .says(&DOWNSTREAM_PERFORM, What::TimedOut)
                .says(&GUARD_FINISH, What::Recorded(RecordState::Unknown)).acked()
                .record(RecordState::Unknown)),
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn the_rest_tells_what_was_left_open() {
    let told = collected([
        ("all is well", tale("").done()),
        (
            "all is well under a fault",
            tale("").worked().crash(&BROKER_ACK, Phase::Reply).acked(),
        ),
        (
            "recorded dead although it happened",
            tale(TRANSACTIONS)
                .worked()
                .fault(FaultKind::LoseReply, &DOWNSTREAM_PERFORM, Phase::Done, 0)
                .says(&GUARD_FINISH, What::Recorded(RecordState::Dead))
                .acked()
                .record(RecordState::Dead),
        ),
        (
            "recorded as done although it never happened",
            tale(TRANSACTIONS)
                .handed_over()
                .attempt(1)
                .says(&GUARD_FINISH, What::Recorded(RecordState::Succeeded))
                .acked()
                .record(RecordState::Succeeded),
        ),
        (
            "a record that stays open",
            tale("[guard]\nkind = 'insert_first'")
                .worked()
                .crash(&GUARD_FINISH, Phase::Before)
                .after(30_000)
                .by("executor-2")
                .delivered(1, 2)
                .says(&GUARD_ENTER, What::SkippedTaken)
                .acked()
                .record(RecordState::Running),
        ),
        (
            "a message that stays unsettled",
            tale("").worked().held(Holder::UnackedMessage),
        ),
        ("round and round", {
            let mut tale = tale("").handed_over().held(Holder::ReadyMessage);
            tale.history.rest.ended = evidence::Ended::Livelock;
            tale.history.rest.at = TWO.plus_ms(3_600_000);
            tale
        }),
        ("an effect of no slot", {
            let mut tale = tale("").done();
            tale.ids = Ids::default();
            tale.effect()
        }),
        (
            "late",
            tale("[judge]\ntolerance = '10s'")
                .worked()
                .acked()
                .a_minute_later(),
        ),
        (
            "two at once",
            tale(
                "[judge]\noverlap = true\n[downstream]\nprotection = { kind = 'idempotency_key' }",
            )
            .worked()
            .by("executor-2")
            .delivered(1, 2)
            .attempt(1)
            .says(&DOWNSTREAM_PERFORM, What::Repeated)
            .ended(AttemptEnd::Succeeded)
            .by("executor-1")
            .delivered(1, 1)
            .ended(AttemptEnd::Succeeded)
            .acked(),
        ),
        (
            "skipped as declared",
            tale("")
                .by("scheduler-1")
                .fired(1, 1)
                .says(&TIMER_FIRE, What::SkippedByPolicy),
        ),
    ]);
    insta::assert_snapshot!(told);
}
