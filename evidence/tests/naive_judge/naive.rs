//! The naive judge.

use runkey_evidence::*;
use std::collections::BTreeSet;

/// The naive verdict of a slot.
pub fn naive(h: &History, judging: &Judging, slot: Slot) -> (Verdict, usize) {
    let of_slot = |e: &&Event| e.ids.slot.truth() == Some(slot);
    let count = |what: fn(&What) -> bool| {
        h.events
            .iter()
            .filter(of_slot)
            .filter(|e| what(&e.what))
            .count()
    };
    let held = |by: &[Holder]| {
        h.rest
            .held
            .iter()
            .any(|held| held.slot == slot && by.contains(&held.by))
    };
    let recorded = |states: &[RecordState]| {
        h.rest
            .records
            .iter()
            .any(|r| r.slot == slot && states.contains(&r.state))
    };
    let (succeeded, dead, unknown) = (
        recorded(&[RecordState::Succeeded]),
        recorded(&[RecordState::Dead]),
        recorded(&[RecordState::Unknown]),
    );
    let listed = h.rest.records.iter().any(|r| {
        r.slot == slot && r.listed && matches!(r.state, RecordState::Created | RecordState::Queued)
    });
    let going = [
        Holder::ReadyMessage,
        Holder::UnackedMessage,
        Holder::OutboxRow,
        Holder::Attempt,
    ];
    let livelock = h.rest.ended == Ended::Livelock;
    let anything = held(&going) || held(&[Holder::DeadLetter, Holder::ArmedTimer]);

    let effects = count(|what| matches!(what, What::Effect { .. }));
    let verdict = if !h.planned.iter().any(|p| p.slot == slot) {
        Verdict::Phantom
    } else if effects > 1 {
        Verdict::Duplicate
    } else if effects == 0 {
        let dropped = !anything
            && count(|what| *what == What::AttemptStarted) == 0
            && policy_has_the_last_word(h, slot);
        if succeeded {
            Verdict::Misrecorded
        } else if dead || unknown {
            Verdict::GaveUp
        } else if dropped && judging.skipped == SkippedAs::Ok {
            Verdict::Skipped
        } else if dropped || !anything && !listed {
            Verdict::Lost
        } else if livelock && (held(&going) || held(&[Holder::ArmedTimer]) || listed) {
            Verdict::NoProgress
        } else {
            Verdict::Stuck
        }
    } else {
        let says_failed = dead || recorded(&[RecordState::Failed]);
        let open = recorded(&[
            RecordState::Created,
            RecordState::Queued,
            RecordState::Running,
        ]);
        let says_anything = says_failed || unknown || h.cast.keeps_record && open;
        let only_a_dead_letter = held(&[Holder::DeadLetter]) && !says_anything;
        let known_done =
            succeeded || !h.cast.keeps_record && (!h.cast.local || last_attempt_ended(h, slot));
        if !succeeded && (says_failed || only_a_dead_letter) {
            Verdict::Misrecorded
        } else if !succeeded && unknown {
            Verdict::GaveUp
        } else if livelock && held(&going) {
            Verdict::NoProgress
        } else if held(&going) || held(&[Holder::DeadLetter]) || !known_done {
            Verdict::Unfinished
        } else {
            on_request(h, judging, slot)
        }
    };
    (verdict, effects)
}

/// A timer's skip counts if the run was never published, an executor's if not after it.
fn policy_has_the_last_word(h: &History, slot: Slot) -> bool {
    let of_slot = |e: &Event| e.ids.slot.truth() == Some(slot);
    let published = |e: &Event| of_slot(e) && matches!(e.what, What::Published | What::Requeued);
    let counts = |(i, e): (usize, &Event)| {
        let since = if e.ids.message.is_some() { i } else { 0 };
        of_slot(e) && e.what == What::SkippedByPolicy && !h.events[since..].iter().any(published)
    };
    h.events.iter().enumerate().any(counts)
}

fn last_attempt_ended(h: &History, slot: Slot) -> bool {
    let of_attempt = |e: &&Event| {
        e.ids.slot.truth() == Some(slot)
            && matches!(
                e.what,
                What::AttemptStarted | What::AttemptEnded(_) | What::HandlerPanic
            )
    };
    h.events
        .iter()
        .rfind(of_attempt)
        .is_some_and(|e| e.what != What::AttemptStarted)
}

/// What is judged only if asked, of a slot that is well otherwise.
fn on_request(h: &History, judging: &Judging, slot: Slot) -> Verdict {
    let scheduled = h
        .planned
        .iter()
        .find(|p| p.slot == slot)
        .unwrap()
        .scheduled
        .0;
    let at = |i: usize| &h.events[i];
    let all = 0..h.events.len();
    let of_slot = |i: &usize| at(*i).ids.slot.truth() == Some(slot);
    let effect = all
        .clone()
        .find(|i| of_slot(i) && matches!(at(*i).what, What::Effect { .. }))
        .unwrap();
    let who = |i: usize| {
        let e = at(i);
        (
            e.instance,
            e.incarnation,
            e.ids.message,
            e.ids.delivery,
            e.ids.attempt,
        )
    };
    let current = (0..effect)
        .rfind(|i| of_slot(i) && matches!(at(*i).what, What::AttemptStarted | What::TakenOver));
    let overlaps = |i: usize, j: usize| {
        let (one, other) = (at(i), at(j));
        let planned = |e: &Event| {
            h.planned
                .iter()
                .find(|p| e.ids.slot.truth() == Some(p.slot))
                .map(|p| p.slot.timer)
        };
        let ended = h.events[i + 1..j].iter().any(|e| match &e.what {
            What::AttemptEnded(_) | What::HandlerPanic => {
                (e.instance, &e.ids) == (one.instance, &one.ids)
            }
            What::Fault(note) => note.name == "crash" && e.instance == one.instance,
            What::Restarted | What::Stopped => e.instance == one.instance,
            _ => false,
        });
        let started = |e: &Event| e.what == What::AttemptStarted;
        started(one)
            && started(other)
            && planned(one) == Some(slot.timer)
            && planned(other) == Some(slot.timer)
            && !ended
    };
    let pairs = || all.clone().flat_map(|j| (0..j).map(move |i| (i, j)));
    let off = at(effect).at.0 - scheduled;
    let tolerance = judging.tolerance.map(|ms| ms as i64);
    if judging.stale && current.is_some_and(|i| who(i) != who(effect)) {
        Verdict::StaleEffect
    } else if judging.overlap
        && pairs().any(|(i, j)| (of_slot(&i) || of_slot(&j)) && overlaps(i, j))
    {
        Verdict::Overlap
    } else if tolerance.is_some_and(|ms| off < -ms) {
        Verdict::Early
    } else if tolerance.is_some_and(|ms| off > ms) {
        Verdict::Late
    } else {
        Verdict::ExactlyOnce
    }
}

/// Whether that verdict, with so many effects, breaks the promise.
pub fn naive_failure(judging: &Judging, verdict: Verdict, effects: usize) -> bool {
    let always = ["stale_effect", "overlap", "early", "late"];
    let broken_by: &[&str] = match judging.promise {
        Promise::ExactlyOnce => &[
            "duplicate",
            "phantom",
            "lost",
            "stuck",
            "misrecorded",
            "gave_up",
            "no_progress",
            "unfinished",
        ],
        Promise::AtLeastOnce => &["phantom", "lost", "stuck", "gave_up", "no_progress"],
        Promise::AtMostOnce => &["duplicate", "phantom"],
    };
    let silent_loss =
        verdict == Verdict::Misrecorded && effects == 0 && judging.promise == Promise::AtLeastOnce;
    let allowed = verdict == Verdict::GaveUp && judging.gave_up == GaveUpAs::Ok;
    always.contains(&verdict.name())
        || silent_loss
        || broken_by.contains(&verdict.name()) && !allowed
}

/// The layer of a duplicate: the first identifier that is missing or differs.
pub fn naive_layer(h: &History, slot: Slot) -> Attribution {
    let is_effect =
        |e: &&Event| e.ids.slot.truth() == Some(slot) && matches!(e.what, What::Effect { .. });
    let effects: Vec<&Event> = h.events.iter().filter(is_effect).take(2).collect();
    let ids: Vec<Ids> = effects.iter().map(|e| e.ids.clone()).collect();
    let lives: BTreeSet<_> = effects
        .iter()
        .map(|e| (e.instance, e.incarnation))
        .collect();
    let runs = ids
        .iter()
        .flat_map(|ids| ids.run.clone())
        .collect::<BTreeSet<_>>();
    type Rung = (&'static str, Layer, fn(&Ids) -> Option<u64>, bool);
    let ladder: [Rung; 4] = [
        (
            "traceId",
            Layer::Scheduling,
            |ids| ids.trace.map(|id| id.0),
            true,
        ),
        (
            "messageId",
            Layer::Publishing,
            |ids| ids.message.map(|id| id.0.into()),
            !h.cast.local,
        ),
        (
            "delivery count",
            Layer::Delivery,
            |ids| (ids.delivery > 0).then_some(ids.delivery.into()),
            !h.cast.local,
        ),
        (
            "retryCount",
            Layer::Execution,
            |ids| (ids.attempt > 0).then_some(ids.attempt.into()),
            true,
        ),
    ];
    if runs.len() > 1 {
        return Attribution::Layer(Layer::Scheduling);
    }
    for (missing, layer, id, _) in ladder.into_iter().filter(|rung| rung.3) {
        match (id(&ids[0]), id(&ids[1])) {
            (Some(one), Some(other)) if one != other => return Attribution::Layer(layer),
            (Some(_), Some(_)) => {}
            _ => return Attribution::Undecided { missing },
        }
    }
    match lives.len() {
        2 => Attribution::Layer(Layer::Execution),
        _ => Attribution::Layer(Layer::Effect),
    }
}
