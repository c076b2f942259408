//! Never: lost, stuck, given up.

use super::*;

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
                .says(&BROKER_DELIVER, What::DeadLettered).held(Holder::DeadLetter)),
        ("rejected by its consumer",
            tale("").handed_over().attempt(1).says(&BROKER_REJECT, What::DeadLettered)
                .held(Holder::DeadLetter)),
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
