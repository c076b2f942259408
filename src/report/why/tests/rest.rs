//! Done, and yet not well; or well.

use super::*;

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
