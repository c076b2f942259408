//! A bounded space of faults of one scenario, written out so that a look-up is one index.

use super::applies::StepFacts;
use super::faults::{self, Amount};
use super::{FaultKind, Magnitudes, Phase, Space};
use crate::Scenario;
use std::fmt;

/// Every fault of a space, by where it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    space: Space,
    magnitudes: Magnitudes,
    /// By [`place`]: (kind, magnitude in milliseconds), ordered, without repetition.
    table: Vec<Vec<(FaultKind, i64)>>,
    cells: Vec<Cell>,
}

/// A kind of fault at a step: what coverage is counted by. Prints as `crash@broker.ack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The step, by number.
    pub step: u8,
    /// The kind.
    pub kind: FaultKind,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = scheduler::steps::by_number(self.step).map_or("?", |step| step.name);
        write!(f, "{}@{step}", self.kind.name())
    }
}

impl Bounds {
    /// The space of a scenario.
    pub fn new(scenario: &Scenario, space: Space) -> Self {
        let magnitudes = Magnitudes::of(scenario);
        let jumping_ms = magnitudes.jumping_ms();
        let mut table = Vec::new();
        let mut cells = Vec::new();
        for step in StepFacts::all(scenario) {
            for phase in Phase::ALL {
                for replayable in [false, true] {
                    let mut choices = Vec::new();
                    for kind in FaultKind::ALL {
                        if !step.offers(space, kind, phase, replayable) {
                            continue;
                        }
                        match (faults::of(kind).amount, space) {
                            (Amount::Nothing, _) => choices.push((kind, 0)),
                            (_, Space::Core) => choices.push((kind, magnitudes.past_longest_ms)),
                            (Amount::Lasting, _) => {
                                choices.extend(magnitudes.lasting_ms.iter().map(|ms| (kind, *ms)));
                            }
                            (Amount::Losing, _) => {
                                let server = step.server().map(|server| server as usize);
                                let losing = server.map(|server| &magnitudes.losing_ms[server]);
                                let losing = losing.into_iter().flatten();
                                choices.extend(losing.map(|ms| (kind, *ms)));
                            }
                            (Amount::Jumping, _) => {
                                choices.extend(jumping_ms.iter().map(|ms| (kind, *ms)));
                            }
                        }
                    }
                    cells.extend(choices.iter().map(|(kind, _)| Cell {
                        step: step.step,
                        kind: *kind,
                    }));
                    table.push(choices);
                }
            }
        }
        cells.sort_unstable();
        cells.dedup();
        Bounds {
            space,
            magnitudes,
            table,
            cells,
        }
    }

    /// Which space this is.
    pub const fn space(&self) -> Space {
        self.space
    }

    /// The magnitudes, and the deadlines that they come from.
    pub const fn magnitudes(&self) -> &Magnitudes {
        &self.magnitudes
    }

    /// The faults that apply at a phase of a step, ordered by kind number, then magnitude (in
    /// milliseconds), each once.
    ///
    /// `replayable` tells whether a message of the site's run had been accepted by then.
    pub fn faults_at(&self, step: u8, phase: Phase, replayable: bool) -> &[(FaultKind, i64)] {
        self.table
            .get(place(step, phase, replayable))
            .map_or(&[], Vec::as_slice)
    }

    /// Every cell of the space, by step, then kind, whether or not the scenario reaches it.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

const fn place(step: u8, phase: Phase, replayable: bool) -> usize {
    (step as usize * Phase::ALL.len() + phase as usize) * 2 + replayable as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::steps;

    fn names(bounds: &Bounds, step: &evidence::Step, phase: Phase, replayable: bool) -> String {
        let faults = bounds.faults_at(step.number, phase, replayable).iter();
        let words: Vec<String> = faults
            .map(|(kind, ms)| match ms {
                0 => kind.name().to_owned(),
                ms => format!("{} {ms}", kind.name()),
            })
            .collect();
        words.join(", ")
    }

    #[test]
    fn core_has_its_six_kinds_around_an_ack() {
        let bounds = Bounds::new(&Scenario::default(), Space::Core);
        let at = |phase| names(&bounds, &steps::BROKER_ACK, phase, true);
        assert_eq!(at(Phase::Before), "crash, pause 30201, broker_restart");
        assert_eq!(at(Phase::Request), "lose_request, duplicate_request");
        assert_eq!(at(Phase::Done), "lose_reply, crash");
        assert_eq!(at(Phase::Reply), "crash");
    }

    #[test]
    fn full_has_every_kind_where_it_applies() {
        let bounds = Bounds::new(&Scenario::default(), Space::Full);
        let at = |step, phase, replayable| names(&bounds, step, phase, replayable);
        let waits = "2799, {} 3201, {} 29799, {} 30201";
        let list = |kind: &str| format!("{kind} {}", waits.replace("{}", kind));
        let partitions = [list("partition"), list("partition"), list("partition")].join(", ");
        assert_eq!(
            at(&steps::GUARD_ENTER, Phase::Before, true),
            format!(
                "crash, {}, {partitions}, graceful_stop, operator_replay",
                list("pause")
            )
        );
        assert_eq!(
            at(&steps::GUARD_ENTER, Phase::Request, true),
            format!("lose_request, {}, refuse", list("delay"))
        );
        assert_eq!(
            at(&steps::BROKER_PUBLISH, Phase::Request, false),
            format!("lose_request, {}, duplicate_request, refuse", list("delay"))
        );
        assert_eq!(
            at(&steps::BROKER_PUBLISH, Phase::Before, false),
            format!(
                "crash, {}, {partitions}, graceful_stop, broker_restart",
                list("pause")
            )
        );
        assert_eq!(
            at(&steps::WORK, Phase::Before, true),
            format!("crash, {}, graceful_stop", list("pause"))
        );
        assert_eq!(at(&steps::WORK, Phase::Done, true), "");
        assert_eq!(at(&steps::INSTANCE, Phase::Before, true), "");
    }

    #[test]
    fn a_sleeping_timer_can_die_stand_still_or_lose_its_clock() {
        let bounds = Bounds::new(&Scenario::default(), Space::Full);
        let kinds = |phase| {
            let faults = bounds.faults_at(steps::TIMER_WAIT.number, phase, true);
            let mut kinds: Vec<&str> = faults.iter().map(|(kind, _)| kind.name()).collect();
            kinds.dedup();
            kinds.join(", ")
        };
        assert_eq!(
            kinds(Phase::Before),
            "crash, pause, graceful_stop, clock_step"
        );
        assert_eq!(kinds(Phase::Request), "crash, pause, clock_step");
        assert_eq!(kinds(Phase::Done), "crash, pause");
        assert_eq!(kinds(Phase::Reply), "");
    }

    #[test]
    fn the_faults_of_a_place_stand_in_canonical_order() {
        for space in [Space::Core, Space::Full, Space::Beyond] {
            let bounds = Bounds::new(&Scenario::default(), space);
            for choices in &bounds.table {
                assert!(choices.is_sorted_by(|a, b| a < b), "{choices:?}");
            }
        }
    }

    #[test]
    fn core_lies_inside_full_and_full_inside_beyond() {
        let scenario = Scenario::default();
        let [core, full, beyond] =
            [Space::Core, Space::Full, Space::Beyond].map(|space| Bounds::new(&scenario, space));
        for (less, more) in [(&core, &full), (&full, &beyond)] {
            for (few, many) in less.table.iter().zip(&more.table) {
                assert!(few.iter().all(|choice| many.contains(choice)));
            }
        }
        // Nothing here can be lost; at 6 calls of the broker dead letters can be put back.
        assert_eq!(beyond.cells().len(), full.cells().len() + 6);
        // 36 calls x (lose_request, lose_reply, crash, pause), 12 of them also duplicated, 6 with a
        // broker that can restart; 3 steps inside the instance x (crash, pause).
        assert_eq!(core.cells().len(), 36 * 4 + 12 + 6 + 3 * 2);
        // 36 calls x 11, 12 duplicated, 6 broker restarts, 3 steps inside x 3, 3 clock readers.
        assert_eq!(full.cells().len(), 36 * 11 + 12 + 6 + 3 * 3 + 3);
    }

    #[test]
    fn what_a_server_can_lose_joins_where_the_scenario_says_that_it_can() {
        let text = "[lock]\npersistence = false\nreplication_lag = '3s'\n[coordinator]\n\
                    [downstream]\nprotection = { kind = 'idempotency_key' }";
        let scenario = Scenario::parse(text, "t").expect("a scenario");
        let kinds = |space, step: &evidence::Step| {
            let bounds = Bounds::new(&scenario, space);
            let faults = bounds.faults_at(step.number, Phase::Before, false).iter();
            let new = faults.filter(|(kind, _)| *kind > FaultKind::ClockStep);
            new.map(|(kind, ms)| format!("{} {ms}", kind.name()))
                .collect::<Vec<_>>()
        };
        let renew = &steps::LOCK_RENEW;
        assert_eq!(kinds(Space::Core, renew), [""; 0]);
        assert_eq!(kinds(Space::Full, renew), ["lock_restart 0"]);
        assert_eq!(
            kinds(Space::Beyond, renew),
            ["lock_failover 2799", "lock_failover 3000", "lock_restart 0"]
        );
        assert_eq!(
            kinds(Space::Full, &steps::COORDINATOR_BEAT),
            ["session_loss 0"]
        );
        assert_eq!(kinds(Space::Full, &steps::DOWNSTREAM_PERFORM), [""; 0]);
        assert_eq!(
            kinds(Space::Beyond, &steps::DOWNSTREAM_PERFORM),
            ["purge 0"]
        );
        assert_eq!(kinds(Space::Beyond, &steps::GUARD_ENTER), [""; 0]);
    }

    #[test]
    fn a_step_that_does_not_exist_offers_nothing() {
        let bounds = Bounds::new(&Scenario::default(), Space::Full);
        assert_eq!(bounds.faults_at(200, Phase::Before, true), []);
    }
}
