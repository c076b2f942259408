//! What of the set-up let it happen: lease, lock, key, order, claim.

use super::*;

/// A second message of the run, done by executor-2.
fn a_copy(tale: Tale) -> Tale {
    tale.by("executor-2")
        .delivered(2, 1)
        .attempt(1)
        .after(205)
        .effect()
        .acked()
}

#[test]
fn a_duplicate_tells_what_of_the_set_up_did_not_stop_it() {
    let cut_off = |tale: Tale| tale.fault(FaultKind::Partition, &BROKER_ACK, Phase::Before, 2_799);
    let again = |tale: Tale| tale.by("executor-2").delivered(1, 2).attempt(1).effect();
    let at_work = |toml: &str, ms: i64| tale(toml).handed_over().attempt(1).after(ms);
    let finished = |tale: Tale| tale.by("executor-1").delivered(1, 1).attempt(1).effect();
    let published = |toml: &str| {
        tale(toml)
            .done()
            .by("scheduler-2")
            .after(1_000)
            .published(2)
    };
    let told = collected([
        (
            "cut off from the broker",
            again(cut_off(tale("").worked()).after(59_000)),
        ),
        (
            "a lock that ends while its holder is at work",
            again(at_work(LOCK, 30_000))
                .after(15_000)
                .by("executor-1")
                .delivered(1, 1)
                .effect(),
        ),
        (
            "a lock that is let go",
            again(
                tale(LOCK)
                    .worked()
                    .ended(AttemptEnd::Succeeded)
                    .fault(FaultKind::LoseRequest, &BROKER_ACK, Phase::Request, 0)
                    .after(30_000),
            ),
        ),
        (
            "a lease that ends while its owner is at work",
            finished(
                a_copy(
                    tale(TRANSACTIONS)
                        .handed_over()
                        .attempt(1)
                        .says(&GUARD_ENTER, What::Recorded(RecordState::Running))
                        .after(48_000)
                        .published(2)
                        .says(&RECOVERY_REQUEUE, What::Requeued),
                )
                .after(10_000),
            ),
        ),
        (
            "a record undone by one who was taken over",
            again(
                tale("[guard]\nkind = 'state_machine'\nfinalise_check = false")
                    .worked()
                    .says(&GUARD_FINISH, What::Recorded(RecordState::Succeeded))
                    .by("executor-2")
                    .after(3_000)
                    .says(&GUARD_FINISH, What::Recorded(RecordState::Failed))
                    .after(30_000),
            ),
        ),
        (
            "no record yet",
            a_copy(published(
                "[guard]\nkind = 'check_then_insert'\ninsert = 'after'",
            )),
        ),
        (
            "a key of its own for every publish",
            a_copy(published(
                "[identity]\nkey = 'message_id'\n[downstream]\nprotection = { kind = 'idempotency_key' }",
            )),
        ),
        (
            "a key that is soon forgotten",
            a_copy(
                published(
                    "[downstream]\nprotection = { kind = 'idempotency_key', retention = '20s' }",
                )
                .after(20_000),
            ),
        ),
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn two_runs_of_a_slot_tell_what_of_the_set_up_made_neither_give_way() {
    let fired = |toml: &str, trace: u64| {
        let tale = tale(toml).by("scheduler-1").after(12).fired(1, trace);
        tale.says(&DISPATCH_CLAIM, What::Claimed).published(1)
    };
    let second = |tale: Tale| {
        tale.by("scheduler-2")
            .after(8)
            .fired(1, 2)
            .says(&DISPATCH_CLAIM, What::Claimed)
            .published(2)
            .by("executor-1")
            .of(1, 1)
            .delivered(1, 1)
            .effect()
            .by("executor-2")
            .of(1, 2)
            .delivered(2, 1)
            .effect()
    };
    let told = collected([
        (
            "a commit that fails after the publish",
            second(fired("[dispatch]\norder = 'one_transaction'", 1).fault(
                FaultKind::Refuse,
                &DISPATCH_ADVANCE,
                Phase::Request,
                0,
            )),
        ),
        (
            "a lock row that is free again",
            second(
                fired("[dispatch]\nclaim = { kind = 'lock_row' }", 1).ended(AttemptEnd::Succeeded),
            ),
        ),
        (
            "a key of its own for every run",
            second(fired(
                "[identity]\nkey = 'fresh'\n[dispatch]\nclaim = { kind = 'none' }\n\
                 [guard]\nkind = 'insert_first'",
                1,
            )),
        ),
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_run_that_is_let_go_tells_who_found_what() {
    let died = |toml: &str| {
        tale(toml)
            .handed_over()
            .attempt(1)
            .crash(&DOWNSTREAM_PERFORM, Phase::Before)
            .after(30_000)
            .by("executor-2")
            .delivered(1, 2)
    };
    let told = collected([
        (
            "dropped for a lock that outlives its holder",
            died(LOCK).says(&LOCK_ACQUIRE, What::Busy).acked(),
        ),
        (
            "acked before the work",
            tale(TRANSACTIONS)
                .handed_over()
                .acked()
                .attempt(1)
                .crash(&DOWNSTREAM_PERFORM, Phase::Before)
                .record(RecordState::Running),
        ),
        (
            "deliveries used up by deferrals, though it is done",
            died(TRANSACTIONS)
                .says(&BROKER_DEFER, What::Deferred { for_ms: 45_001 })
                .after(45_001)
                .says(&BROKER_DELIVER, What::DeadLettered)
                .published(2)
                .delivered(2, 1)
                .attempt(2)
                .effect()
                .acked()
                .record(RecordState::Succeeded)
                .held(Holder::DeadLetter),
        ),
    ]);
    insta::assert_snapshot!(told);
}
