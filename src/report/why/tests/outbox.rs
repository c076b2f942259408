//! Two messages of one row of the outbox, where the fault came before either.

use super::*;

/// Fired and claimed by scheduler-1, two milliseconds past the hour.
fn claimed() -> Tale {
    tale("")
        .by("scheduler-1")
        .fired(1, 1)
        .after(2)
        .says(&DISPATCH_CLAIM, What::Claimed)
}

fn sent_and_done(tale: Tale, by: &str, message: u32) -> Tale {
    tale.by(by)
        .published(message)
        .by(&format!("executor-{message}"))
        .delivered(message, 1)
        .effect()
        .acked()
}

fn read(tale: Tale, by: &str) -> Tale {
    tale.by(by).says(&OUTBOX_READ, What::OutboxRead)
}

/// Both relays read the row before either has sent it.
fn read_by_both(tale: Tale) -> Tale {
    let tale = read(tale.after(5_000), "scheduler-2");
    let tale = read(tale.after(10), "scheduler-1");
    let tale = sent_and_done(tale.after(3), "scheduler-2", 1);
    sent_and_done(tale.after(8), "scheduler-1", 2)
}

#[test]
fn a_fault_before_the_first_publish_is_told_before_it() {
    let told = collected([
        (
            "the writer dies, two relays find its row",
            read_by_both(claimed().crash(&DISPATCH_CLAIM, Phase::Done)),
        ),
        (
            "the writer stands still, two relays find its row",
            read_by_both(claimed().fault(FaultKind::Pause, &DISPATCH_CLAIM, Phase::Done, 5_005)),
        ),
        ("a relay stands still with the row in its hand", {
            let tale = read(claimed().after(3), "scheduler-1");
            let tale = tale.fault(FaultKind::Pause, &OUTBOX_READ, Phase::Reply, 5_000);
            let tale = read(tale.after(1_000), "scheduler-2");
            let tale = sent_and_done(tale.after(3), "scheduler-2", 1);
            sent_and_done(tale.after(4_000), "scheduler-1", 2)
        }),
        (
            "somebody else dies first",
            read_by_both(
                claimed()
                    .by("executor-1")
                    .crash(&BROKER_DELIVER, Phase::Done),
            ),
        ),
        ("no look at the outbox is known", {
            let tale = claimed().crash(&DISPATCH_CLAIM, Phase::Done);
            let tale = sent_and_done(tale.after(5_000), "scheduler-2", 1);
            sent_and_done(tale.after(10), "scheduler-1", 2)
        }),
    ]);
    assert!(!told.contains("heard of it"), "{told}");
    insta::assert_snapshot!(told);
}
