//! How much: a finite list of magnitudes, computed from the deadlines of a scenario.
//!
//! What happens changes only where something lasts longer than a deadline; so for each deadline T
//! the list has one magnitude just below and one just past it.

use super::Server;
use crate::Scenario;
use scheduler::Span;
use scheduler::dispatch::{ClaimConfig, LeaderVia};

/// The longest time that one leg of a call is under way.
pub const LEG_MAX: Span = Span::millis(5);

/// A memory (key retention, dedup window) longer than so many times the longest deadline, or the
/// work where that takes longer, is not in the list: it outlives the time to rest, (k + 4) x the
/// longest of them for k = 4 faults. The number is fixed, so that a plan of one fault is the same
/// whatever number is explored.
pub const MEMORY_FACTOR: u64 = 8;

/// A deadline of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deadline {
    /// Where the file says it, such as `guard.lease`.
    pub name: &'static str,
    /// How long it is.
    pub span: Span,
}

/// The magnitudes of a scenario, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Magnitudes {
    /// The deadlines that are just met and just missed, by length, then name.
    pub deadlines: Vec<Deadline>,
    /// Memories that are longer than the time to rest: an outage that long is not covered.
    pub outlived: Vec<Deadline>,
    /// How far below and past a deadline: 1 ms + the longest latency.
    pub margin: Span,
    /// What faults last, ascending, each once.
    pub lasting_ms: Vec<i64>,
    /// By server: of how long a failover loses the changes, ascending: all that a replica may be
    /// behind, and those of the list that are less. Empty without a replica.
    pub losing_ms: [Vec<i64>; Server::ALL.len()],
    /// Just past the longest deadline.
    pub past_longest_ms: i64,
}

impl Magnitudes {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let mut deadlines = deadlines(scenario);
        let spans = deadlines.iter().map(|deadline| deadline.span);
        // Each retry does all the work again.
        let longest = spans.fold(scenario.work.takes, Span::max);
        let rest_ms = longest.ms().saturating_mul(MEMORY_FACTOR);
        let (remembered, outlived): (Vec<_>, Vec<_>) = memories(scenario)
            .into_iter()
            .partition(|memory| memory.span.ms() < rest_ms);
        deadlines.extend(remembered);
        deadlines.sort_by_key(|deadline| (deadline.span, deadline.name));

        let margin = Span::millis(1 + LEG_MAX.max(scenario.downstream.latency).ms());
        let mut lasting_ms: Vec<i64> = deadlines
            .iter()
            .flat_map(|deadline| {
                let span = deadline.span.as_i64();
                [span - margin.as_i64(), span + margin.as_i64()]
            })
            .filter(|ms| *ms > 0)
            .collect();
        lasting_ms.sort_unstable();
        lasting_ms.dedup();
        let past_longest_ms = lasting_ms.last().copied().unwrap_or(margin.as_i64());
        let losing_ms = Server::ALL.map(|server| {
            let lag = lag(scenario, server).map(Span::as_i64);
            let shorter = lasting_ms.iter().copied();
            let shorter = shorter.filter(|ms| lag.is_some_and(|lag| *ms < lag));
            shorter.chain(lag).collect()
        });
        Magnitudes {
            deadlines,
            outlived,
            margin,
            lasting_ms,
            losing_ms,
            past_longest_ms,
        }
    }

    /// Deadlines that end together where they begin together: which of them comes first is then
    /// left to the order of events, so that a note is due.
    pub fn ties(&self) -> Vec<[Deadline; 2]> {
        let pairs = self.deadlines.windows(2);
        pairs
            .filter(|pair| pair[0].span == pair[1].span)
            .map(|pair| [pair[0], pair[1]])
            .collect()
    }

    /// How far clocks jump: the list in both directions, ascending.
    pub fn jumping_ms(&self) -> Vec<i64> {
        let back = self.lasting_ms.iter().rev().map(|ms| -ms);
        back.chain(self.lasting_ms.iter().copied()).collect()
    }
}

/// How far the replica of a server may be behind; `None`: there is none that takes over.
fn lag(scenario: &Scenario, server: Server) -> Option<Span> {
    let of_database = scenario.database.failover_loses;
    match server {
        Server::Database => (of_database > Span::ZERO).then_some(of_database),
        Server::Lock => scenario.lock.fails_over(),
        Server::Broker => scenario.broker.failover_loses.0,
        Server::Downstream | Server::Coordinator | Server::Executors => None,
    }
}

/// What somebody waits for.
fn deadlines(scenario: &Scenario) -> Vec<Deadline> {
    let mut deadlines = vec![Deadline {
        name: "work.call_timeout",
        span: scenario.work.call_timeout,
    }];
    let mut add = |name, span| deadlines.push(Deadline { name, span });
    let queued = scenario.topology.kind.has_broker();
    if scenario.topology.has_queue()
        && let Some(span) = scenario.broker.ack_deadline.0
    {
        add("broker.ack_deadline", span);
    }
    if queued {
        let broker = &scenario.broker;
        if let Some(longest) = broker.backoff.iter().max() {
            add("broker.backoff", *longest);
        }
        if let Some(span) = broker.session_timeout.0 {
            add("broker.session_timeout", span);
        }
    }
    if let Some(span) = scenario.topology.cancels_after() {
        add("topology.timeout", span);
    }
    if let Some(span) = scenario.topology.recalls_after() {
        add("topology.lost_after", span);
    }
    for (name, span) in scenario.guard.deadlines() {
        add(name, span);
    }
    if let Some(coordinator) = &scenario.coordinator {
        let timeout = Span::millis(coordinator.terms().timeout);
        add("coordinator.session_timeout", timeout);
    }
    if scenario.downstream.lookup_lag > Span::ZERO {
        add("downstream.lookup_lag", scenario.downstream.lookup_lag);
    }
    for (name, span) in [
        ("database.lock_wait", scenario.database.lock_wait),
        (
            "database.idle_in_transaction",
            scenario.database.idle_in_transaction,
        ),
    ] {
        if let Some(span) = span.0 {
            add(name, span);
        }
    }
    if let ClaimConfig::Leader(claim) = &scenario.dispatch.claim
        && claim.via == LeaderVia::Database
    {
        add("dispatch.claim.lease", claim.lease);
    }
    if let ClaimConfig::LockRow(claim) = &scenario.dispatch.claim {
        add("dispatch.claim.max_hold", claim.max_hold);
        if claim.min_hold > Span::ZERO {
            add("dispatch.claim.min_hold", claim.min_hold);
        }
    }
    if let ClaimConfig::CompareState(claim) = &scenario.dispatch.claim
        && let Some(span) = claim.recover_after.0
    {
        add("dispatch.claim.recover_after", span);
    }
    deadlines
}

/// How long somebody remembers.
fn memories(scenario: &Scenario) -> Vec<Deadline> {
    let queued = scenario.topology.kind.has_broker();
    let window = scenario.broker.dedup_window.0.filter(|_| queued);
    let retention = scenario.downstream.protection.retention();
    let of_guard = scenario.guard.memory();
    let of_guard = of_guard.map(|(name, span)| Deadline { name, span });
    let named = [
        ("broker.dedup_window", window),
        ("downstream.protection.retention", retention),
        (
            "downstream.dedup_window",
            scenario.downstream.dedup_window.0,
        ),
    ];
    named
        .into_iter()
        .filter_map(|(name, span)| Some(Deadline { name, span: span? }))
        .chain(of_guard)
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(text: &str) -> Magnitudes {
        Magnitudes::of(&Scenario::parse(text, "t").unwrap())
    }

    #[test]
    fn every_deadline_is_just_met_and_just_missed() {
        let magnitudes = of("[guard]\nkind = 'state_machine'");
        assert_eq!(magnitudes.margin, Span::millis(201));
        assert_eq!(
            magnitudes.lasting_ms,
            [2799, 3201, 29_799, 30_201, 44_799, 45_201]
        );
        assert_eq!(magnitudes.past_longest_ms, 45_201);
        assert_eq!(
            magnitudes.jumping_ms(),
            [
                -45_201, -44_799, -30_201, -29_799, -3201, -2799, 2799, 3201, 29_799, 30_201,
                44_799, 45_201
            ]
        );
    }

    #[test]
    fn the_defaults_have_no_two_deadlines_that_tie() {
        for guard in ["lock_row", "redis_lock", "state_machine"] {
            let claim = "[dispatch]\nclaim = { kind = 'lock_row' }";
            let magnitudes = of(&format!("[guard]\nkind = '{guard}'\n{claim}"));
            assert!(magnitudes.ties().is_empty(), "{guard}");
        }
    }

    #[test]
    fn what_is_not_there_has_no_deadline() {
        let magnitudes = of("[broker]\nack_deadline = 'off'\n[downstream]\nlatency = '1ms'");
        assert_eq!(magnitudes.margin, Span::millis(6));
        assert_eq!(magnitudes.lasting_ms, [2994, 3006]);
        let local = of("[topology]\nkind = 'local'");
        assert_eq!(local.lasting_ms, [2799, 3201]);
    }

    #[test]
    fn equal_deadlines_are_merged_and_what_is_not_positive_is_dropped() {
        let magnitudes = of("[work]\ncall_timeout = '100ms'\n[broker]\nack_deadline = '100ms'");
        assert_eq!(magnitudes.deadlines.len(), 2);
        assert_eq!(magnitudes.lasting_ms, [301]);
        let [first, second] = magnitudes.ties()[0];
        assert_eq!(first.name, "broker.ack_deadline");
        assert_eq!(second.name, "work.call_timeout");
    }

    #[test]
    fn a_memory_counts_where_it_is_shorter_than_the_time_to_rest() {
        let key = |retention: &str| {
            of(&format!(
                "[downstream]\nprotection = {{ kind = 'idempotency_key', retention = '{retention}' }}"
            ))
        };
        assert_eq!(key("239s").lasting_ms.last(), Some(&239_201));
        assert_eq!(key("239s").outlived, []);
        let long = key("240s");
        assert_eq!(long.lasting_ms.last(), Some(&30_201));
        assert_eq!(long.outlived[0].name, "downstream.protection.retention");
        let slow = of("[work]\ntakes = '60s'\n[downstream]\n\
             protection = { kind = 'idempotency_key', retention = '479s' }");
        assert_eq!(slow.lasting_ms.last(), Some(&479_201));
        let window = of("[broker]\ndedup_window = '2m'");
        assert_eq!(window.past_longest_ms, 120_201);
    }
}
