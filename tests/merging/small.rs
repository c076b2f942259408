//! Small set-ups in each of which a careless digest, or a careless order of sites, would be wrong.

use crate::set_ups::named;
use scenarios::Scenario;

fn written(name: &str, text: &str) -> Scenario {
    let timer = "[[timer]]\nid = 'report'\nschedule = { cron = '0 0 2 * * *' }\n";
    let text = format!("name = '{name}'\n{timer}{text}");
    Scenario::parse(&text, name).unwrap()
}

const STACK: &str = "
[guard]
kind = 'state_machine'
[downstream]
protection = { kind = 'idempotency_key' }
";

/// Each with the number of faults to which it is explored.
pub fn all() -> Vec<(Scenario, u8)> {
    let stack = |name, more: &str| written(name, &format!("{more}{STACK}"));
    vec![
        (named("recommended-stack"), 2),
        (named("recommended-stack-transactional"), 2),
        (named("idempotency-key-downstream"), 2),
        (named("insert-first-stops-the-second"), 2),
        (named("broker-forgets-swept"), 2),
        (named("recovery-with-max-deliver-3"), 2),
        (named("row-id-with-unique-run-key"), 2),
        (named("at-least-once-queue"), 2),
        (named("lock-row-released-too-soon"), 1),
        (named("finalise-check-off"), 1),
        // The slot of one scheduler comes while the other's run is long over.
        (
            stack(
                "a-skewed-instance",
                "[[instance]]\nname = 'scheduler-2'\nclock = { skew = '-7s' }\n",
            ),
            2,
        ),
        // Who gets the second run does not hang on who had the first.
        (
            stack("consistent-hashing", "[broker]\nassign = 'consistent_hash'\n"),
            2,
        ),
        // What the guard knows cannot be read off the world.
        (
            written(
                "a-guard-with-private-memory",
                "[guard]\nkind = 'process_mutex'\n[downstream]\nprotection = { kind = 'idempotency_key' }\n",
            ),
            1,
        ),
        // A scheduler that stood still at slot 1 looks for the next slot when slot 2 is over.
        (
            Scenario::parse(
                &format!(
                    "name = 'a-fault-in-slot-1-breaks-slot-2'\n[[timer]]\nid = 'tick'\nnext = 'from_now'\nschedule = {{ every = '60s' }}\n\
                     slots = 3\n[topology]\nkind = 'queued'\nschedulers = 1\n{STACK}"
                ),
                "from-now",
            )
            .unwrap(),
            1,
        ),
        // The last call of a run: lost on its way there, the message comes again; lost on its way
        // back, all is over.
        (
            written(
                "the-last-call",
                "[broker]\nmax_deliver = 1\n[downstream]\nprotection = { kind = 'idempotency_key' }\n",
            ),
            1,
        ),
        // The reply of a long poll is lost hours after the poll began.
        (
            stack(
                "a-long-poll-lost-late",
                "[broker]\nmax_deliver = 2\n[recovery]\nenabled = false\n",
            ),
            2,
        ),
        // Slots that come before the work of the last one is over: hardly ever a rest.
        (
            Scenario::parse(
                &format!("name = 'no-time-to-rest'\n[[timer]]\nid = 'tick'\nschedule = {{ every = '1s' }}\nslots = 3\n{STACK}"),
                "no-time-to-rest",
            )
            .unwrap(),
            1,
        ),
        // Two timers at the same moments, one instance each.
        (
            Scenario::parse(
                &format!(
                    "name = 'two-timers'\n[[timer]]\nid = 'a'\nschedule = {{ cron = '0 0 2 * * *' }}\n\
                     [[timer]]\nid = 'b'\nschedule = {{ cron = '0 0 2 * * *' }}\n[topology]\nkind = 'queued'\nschedulers = 1\nexecutors = 1\n{STACK}"
                ),
                "two-timers",
            )
            .unwrap(),
            1,
        ),
    ]
}
