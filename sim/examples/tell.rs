//! Tells one execution of a scenario file.
#![expect(
    clippy::disallowed_methods,
    reason = "measures how long executions take, from outside of them"
)]

use scenarios::Scenario;
use scenarios::spec::Plan;
fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a scenario file");
    let seed = args.next().and_then(|s| s.parse().ok()).unwrap_or(1);
    let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let setup = runkey_sim::Setup::new(&scenario, runkey_sim::Parts::default())
        .expect("a set-up")
        .telling();
    let outcome = runkey_sim::run(&setup, seed, &Plan::empty());
    for event in &outcome.history.events {
        println!(
            "{} {:14} {:20} {}",
            event.at.clock(),
            outcome.history.cast.instance(event.instance),
            event.heading(),
            event.describe(&outcome.history.cast)
        );
    }
    println!(
        "{:?} {:?}\n{:?}\n{} sites {}",
        outcome.judgement.verdict,
        outcome.judgement.slots,
        outcome.history.rest,
        outcome.sites.len(),
        outcome.trace_hash
    );
    let start = std::time::Instant::now();
    let n: u64 = std::env::var("N").map_or(20000, |n| n.parse().expect("a number"));
    for seed in 0..n {
        std::hint::black_box(runkey_sim::run(&setup, seed, &Plan::empty()));
    }
    println!(
        "{:?} each",
        start.elapsed() / u32::try_from(n).expect("small")
    );
}
