//! What an execution takes, exactly: numbers that are the same on every machine, in every build, so
//! that what makes executions dearer is seen where it is done.
//!
//! A number that changes is no defect. It is to be looked at, and written down here again.

use scenarios::spec::Plan;
use scenarios::{Scenario, catalogue};
use sim::{Counts, Parts, Setup, run_counted};

/// Allocations of an execution, after some others on the same thread: a reallocation is one, too.
#[cfg(debug_assertions)]
fn allocations(setup: &Setup, seed: u64) -> u64 {
    let plan = Plan::empty();
    (0..4).for_each(|seed| drop(sim::run(setup, seed, &plan)));
    allocation_counter::measure(|| drop(sim::run(setup, seed, &plan))).count_total
}

fn counts(setup: &Setup, seed: u64) -> Counts {
    run_counted(setup, seed, &Plan::empty()).1
}

fn setup(scenario: &Scenario) -> Setup {
    Setup::new(scenario, Parts::default()).expect("a sound scenario")
}

/// As the bench executes it.
fn standard() -> Setup {
    let entry = catalogue::find("recommended-stack").expect("the catalogue has it");
    setup(&entry.scenario().expect("the catalogue is sound"))
}

/// The recommended stack with so many executors, and slots of one timer.
fn wide(executors: u32, slots: u32) -> Setup {
    let text = format!(
        "name = 'wide'\ntopology.executors = {executors}\n[[timer]]\nid = 'report'\nslots = {slots}\n\
         schedule = {{ every = '1m' }}\n"
    );
    setup(&Scenario::parse(&text, "wide").expect("a scenario"))
}

/// Calls, polls of tasks, actions put on the agenda.
fn everything(setup: &Setup, seed: u64) -> (u32, u64, u32) {
    let counts = counts(setup, seed);
    (counts.calls, counts.polls, counts.armed)
}

#[test]
fn a_standard_execution_takes_exactly_so_many_calls_polls_and_timers() {
    let setup = standard();
    assert_eq!(
        [1, 2, 3].map(|seed| everything(&setup, seed)),
        [(22, 32, 66), (22, 32, 66), (22, 32, 68)]
    );
}

#[test]
fn an_execution_takes_as_much_again_for_as_many_slots_again() {
    assert_eq!(
        [1, 4, 16, 64].map(|slots| everything(&wide(2, slots), 1)),
        [
            (11, 17, 30),
            (32, 44, 90),
            (116, 152, 330),
            (452, 584, 1290)
        ]
    );
}

/// Of the build in which tests run: what is optimised leaves out one or two.
#[test]
#[cfg(debug_assertions)]
fn an_execution_allocates_exactly_so_often() {
    let standard = standard();
    assert_eq!([1, 2, 3].map(|seed| allocations(&standard, seed)), [156; 3]);
    assert_eq!(
        [1, 4, 16, 64].map(|slots| allocations(&wide(2, slots), 1)),
        [83, 177, 557, 2063]
    );
}

#[test]
fn an_idle_executor_takes_what_it_takes_to_start() {
    let of = |executors| {
        let counts = counts(&wide(executors, 16), 1);
        (counts.calls, counts.polls)
    };
    assert_eq!(
        [1, 2, 4, 8].map(of),
        [(115, 151), (116, 152), (118, 154), (122, 158)]
    );
}
