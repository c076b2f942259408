//! Shrinking against the exhaustive search, on every scenario of the catalogue that breaks: the
//! numbers of `docs/shrinking.md`.
//!
//! The optimum of a failing plan is the least number of faults of any plan of the space `full`
//! that gives the same verdict at the same layer under the same seed. It is known from running
//! every plan of no fault and of one under that seed, and, where something was left with three
//! faults or more, every plan of two. Where four or more are left, `RUNKEY_OPTIMUM=deep` also runs or
//! merges every plan of three: minutes for each.
#![allow(clippy::unwrap_used)]

mod noise;

use evidence::{Attribution, Judgement, Verdict};
use noise::failing_plans;
use rayon::prelude::*;
use runkey_explore::{
    Bound, Check, Control, Execute, ExecuteError, Expectation, Question, Table, Tree, Walking,
    check, perform, shrink,
};
use scenarios::Scenario;
use scenarios::catalogue;
use scenarios::spec::{Bounds, Fault, Plan, Space};
use sim::{Outcome, Parts, Setup};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How an execution failed, as far as shrinking keeps it.
type How = (Verdict, Option<String>);

fn how(judgement: &Judgement) -> How {
    let layer = judgement.layer.as_ref();
    (judgement.verdict, layer.map(Attribution::to_string))
}

/// A scenario made ready, with every fault of the space `full`.
struct Case {
    scenario: Scenario,
    setup: Setup,
    space: Bounds,
    table: Table,
}

impl Case {
    fn of(scenario: Scenario) -> Self {
        let space = Bounds::new(&scenario, Space::Full);
        Case {
            setup: Setup::new(&scenario, Parts::default()).unwrap(),
            table: Table::of(&[&space]),
            scenario,
            space,
        }
    }
}

/// The scenarios that are measured: those of the articles. What joined the catalogue since is measured
/// with `RUNKEY_OPTIMUM=all` only: some of it takes hours of simulated time an execution.
const MEASURED: &[&str] = &[
    "at-most-once-loses",
    "broker-disconnect",
    "crash-after-call-before-record",
    "crash-before-ack",
    "deferral-counts",
    "lock-released-then-redelivered",
    "lock-ttl-shorter-than-work",
    "lookup-before-retry",
    "work-longer-than-visibility",
    "naive-in-flight-check",
    "quarantine-doubled-request",
    "ack-first-no-recovery",
    "busy-message-dropped",
    "failed-record-never-retried",
    "insert-first-then-crash",
    "one-attempt-dead-letter",
    "recovery-off-dead-letter",
    "timeout-is-not-failure",
    "timer-id-as-key",
    "too-few-attempts",
    "broker-forgets-no-sweep",
    "check-then-insert-race",
    "finalise-check-off",
    "lease-shorter-than-work",
    "lost-publish-confirm",
    "new-id-per-publish",
    "no-protection-downstream",
    "operator-replay",
    "short-key-retention",
    "unique-row-two-effects",
    "advance-then-crash",
    "broadcast-by-mistake",
    "commit-fails-after-publish",
    "dispatch-then-crash",
    "fixed-delay-two-schedulers",
    "lock-row-released-too-soon",
    "no-catch-up",
    "record-then-publish",
    "registered-twice",
    "replicas-fire-independently",
    "row-id-as-key",
    "two-schedulers-no-claim",
];

/// Every scenario that is measured, and every repair of one, that says that it breaks.
fn broken() -> Vec<Scenario> {
    let mut broken = Vec::new();
    let all = std::env::var_os("RUNKEY_OPTIMUM").is_some_and(|how| how == "all");
    let measured = |entry: &catalogue::Entry| all || MEASURED.contains(&entry.name);
    for entry in catalogue::all().into_iter().filter(measured) {
        let mut scenario = entry.scenario().unwrap();
        let repairs = std::mem::take(&mut scenario.repairs).into_iter();
        broken.push(scenario);
        broken.extend(repairs.map(|repair| *repair.scenario));
    }
    broken.retain(|scenario| {
        let expect = scenario.expect.clone().unwrap_or_default();
        !expect.verdict.is_sound()
    });
    broken
}

/// Whether plans of three faults are looked at too.
fn deep() -> bool {
    std::env::var_os("RUNKEY_OPTIMUM").is_some_and(|how| how == "deep")
}

/// What the exhaustive search knows.
struct Optima<'a> {
    case: &'a Case,
    /// By seed: how plans of no fault end, and of one.
    small: BTreeMap<u64, [BTreeSet<How>; 2]>,
    /// Whether some plan of two faults ends so.
    two: BTreeMap<(u64, How), bool>,
}

impl<'a> Optima<'a> {
    fn of(case: &'a Case) -> Self {
        Optima {
            case,
            small: BTreeMap::new(),
            two: BTreeMap::new(),
        }
    }

    /// The least number of faults that gives this, where a plan of so many was found to; `None`: more
    /// than two, and fewer than were found is not ruled out.
    fn of_seed(&mut self, seed: u64, how: How, found: usize) -> Option<usize> {
        let case = self.case;
        let small = self.small.entry(seed).or_insert_with(|| small(case, seed));
        if let Some(faults) = small.iter().position(|level| level.contains(&how)) {
            return Some(faults);
        }
        if found <= 2 {
            // What was found is a plan of two.
            return Some(2);
        }
        let two = self.two.entry((seed, how.clone()));
        match two.or_insert_with(|| two_faults_give(case, seed, &how)) {
            true => Some(2),
            // No plan of fewer than three does, and one of three was found.
            false if found == 3 => Some(3),
            false if deep() => Some(fewer_give(case, seed, &how, found - 1).unwrap_or(found)),
            false => None,
        }
    }
}

fn small(case: &Case, seed: u64) -> [BTreeSet<How>; 2] {
    let root = perform(&case.setup, seed, &Plan::empty()).unwrap();
    let mut ones = BTreeSet::new();
    for at in &root.sites {
        for (kind, magnitude_ms) in case.table.at(at) {
            let plan = Plan::empty().with(Fault {
                site: at.site,
                kind: *kind,
                magnitude_ms: *magnitude_ms,
            });
            ones.insert(how(&perform(&case.setup, seed, &plan).unwrap().judgement));
        }
    }
    [BTreeSet::from([how(&root.judgement)]), ones]
}

/// Runs every plan of two faults until one ends so.
fn two_faults_give(case: &Case, seed: u64, wanted: &How) -> bool {
    let control = Control::new();
    let tree = Tree {
        execute: &case.setup,
        seeds: &(seed..=seed),
        control: &control,
    };
    let level = tree.level(&Question {
        faults: 2,
        space: &case.table,
        next_space: None,
        merging: None,
        share: None,
        journal: None,
        wanted: &|_, judgement| {
            let found = how(judgement) == *wanted;
            if found {
                control.stop();
            }
            found
        },
    });
    level.unwrap().first_matching.is_some()
}

/// An execution that fails only where it ends in one way: what ends otherwise may be merged.
struct FailsOnly<'a> {
    setup: &'a Setup,
    how: &'a How,
    /// Ended by the first that does.
    control: &'a Control,
    faults: &'a Mutex<Option<usize>>,
}

impl FailsOnly<'_> {
    fn judged(&self, plan: &Plan, mut outcome: Outcome) -> Outcome {
        outcome.judgement.failure = how(&outcome.judgement) == *self.how;
        if outcome.judgement.failure {
            *self.faults.lock().unwrap() = Some(plan.faults.len());
            self.control.stop();
        }
        outcome
    }
}

impl Execute for FailsOnly<'_> {
    fn execute(&self, seed: u64, plan: &Plan) -> Result<Outcome, ExecuteError> {
        Ok(self.judged(plan, Execute::execute(self.setup, seed, plan)?))
    }

    fn execute_until(
        &self,
        seed: u64,
        plan: &Plan,
        known: sim::Known<'_>,
    ) -> Result<Outcome, ExecuteError> {
        let outcome = Execute::execute_until(self.setup, seed, plan, known)?;
        Ok(self.judged(plan, outcome))
    }

    fn opaque(&self) -> Option<&'static str> {
        Execute::opaque(self.setup)
    }
}

/// Runs or merges every plan of up to so many faults, until one ends so: how many faults it has.
fn fewer_give(case: &Case, seed: u64, how: &How, up_to: usize) -> Option<usize> {
    let (control, faults) = (Control::new(), Mutex::new(None));
    let checked = check(&Check {
        execute: &FailsOnly {
            setup: &case.setup,
            how,
            control: &control,
            faults: &faults,
        },
        seeds: &(seed..=seed),
        bounds: &[Bound {
            space: Space::Full,
            up_to: u8::try_from(up_to).unwrap(),
            choices: &case.space,
        }],
        expectation: &Expectation::Holds { faults: None },
        all_plans: false,
        show_next_up_to: 0,
        walking: Walking::default(),
        control: &control,
    })
    .unwrap();
    let faults = *faults.lock().unwrap();
    // Only what was looked at to its end proves that there is none.
    assert!(faults.is_some() || checked.levels.iter().all(|level| level.cut.is_none()));
    println!(
        "{} seed {seed} {how:?} up to {up_to} faults: {faults:?}",
        case.scenario.name
    );
    faults
}

/// What shrinking made of the failing plans of one scenario.
#[derive(Default)]
struct Row {
    name: String,
    /// How many plans had noise added to a failing one, rather than being drawn.
    noisy: usize,
    /// By number of faults left: how many plans.
    left: [usize; 9],
    /// By how far they are above the optimum: how many plans.
    above: [usize; 9],
    /// Plans of which the search does not know the optimum.
    unknown: usize,
    executions: u64,
    most_executions: u64,
    slowest: Duration,
}

impl Row {
    fn measured(scenario: Scenario, plans: usize) -> Row {
        let case = Case::of(scenario);
        let mut row = Row {
            name: case.scenario.name.clone(),
            ..Row::default()
        };
        let mut optima = Optima::of(&case);
        for failing in failing_plans(&case, plans) {
            row.noisy += usize::from(failing.noisy);
            row.add(&case, &mut optima, failing.seed, &failing.plan);
        }
        row
    }

    fn add(&mut self, case: &Case, optima: &mut Optima<'_>, seed: u64, plan: &Plan) {
        let before = perform(&case.setup, seed, plan).unwrap();
        assert!((4..=8).contains(&plan.faults.len()) && before.judgement.failure);
        let started = Instant::now();
        let shrunk = shrink(&case.setup, &case.space, seed, plan).unwrap();
        self.slowest = self.slowest.max(started.elapsed());
        let how_before = how(&before.judgement);
        assert_eq!(how(&shrunk.outcome.judgement), how_before);
        let again = perform(&case.setup, seed, &shrunk.plan).unwrap();
        assert_eq!(again.trace_hash, shrunk.outcome.trace_hash);
        let left = shrunk.plan.faults.len();
        self.left[left] += 1;
        match optima.of_seed(seed, how_before, left) {
            Some(optimum) => self.above[left - optimum] += 1,
            None => self.unknown += 1,
        }
        self.executions += shrunk.executions;
        self.most_executions = self.most_executions.max(shrunk.executions);
    }

    fn plans(&self) -> usize {
        self.above.iter().sum::<usize>() + self.unknown
    }

    fn worst(&self) -> usize {
        self.above.iter().rposition(|plans| *plans > 0).unwrap()
    }

    fn line(&self) -> String {
        let optimal = self.above[0] as f64 / self.plans() as f64 * 100.0;
        let left: Vec<String> = self.left[..4].iter().map(usize::to_string).collect();
        format!(
            "| {} | {} | {} | {optimal:.1} % | {} | {} | {} | {} | {:.2} s |",
            self.name,
            self.noisy,
            left.join(" / "),
            self.worst(),
            self.unknown,
            self.executions / self.plans() as u64,
            self.most_executions,
            self.slowest.as_secs_f64()
        )
    }
}

#[test]
fn what_is_left_is_the_optimum() {
    let left = |name: &str| {
        let scenario = catalogue::find(name).unwrap().scenario().unwrap();
        let row = Row::measured(scenario, 6);
        assert_eq!((row.above[0], row.worst()), (6, 0), "{name}");
        row.left[..4].to_vec()
    };
    // A set-up that breaks by itself, by one fault, by two.
    let names = [
        "replicas-fire-independently",
        "broker-disconnect",
        "too-few-attempts",
    ];
    assert_eq!(names.map(left), [[6, 0, 0, 0], [0, 6, 0, 0], [0, 0, 6, 0]]);
}

/// The table of `docs/shrinking.md`; `--nocapture` prints it.
#[test]
#[ignore = "takes minutes: .ci/run runs it in release"]
fn from_a_thousand_failing_plans_of_every_broken_scenario_the_optimum_is_reached() {
    let scenarios = broken();
    assert!(scenarios.len() >= 40, "{}", scenarios.len());
    let rows: Vec<Row> = scenarios
        .into_par_iter()
        .map(|scenario| Row::measured(scenario, 1000))
        .collect();
    for row in &rows {
        println!("{}", row.line());
    }
    for row in &rows {
        assert_eq!(row.plans(), 1000, "{}", row.name);
        assert!(row.above[0] >= 950, "{}: {:?}", row.name, row.above);
        assert!(row.worst() <= 1, "{}: {:?}", row.name, row.above);
        assert!(row.unknown <= 2, "{}: {}", row.name, row.unknown);
        // At 25 microseconds each, a second and a half.
        assert!(row.most_executions < 60_000, "{}", row.name);
    }
}
