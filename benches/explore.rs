//! Executions per second of the standard scenario: in the simulator, in a bare event loop that
//! makes the same calls, over madsim's own network, and with a handler that waits by madsim-tokio's
//! timers.
//!
//! `cargo bench --bench explore` measures and prints the ratios; `-- --repeat WAY N` executes one
//! way N times and nothing else, for an instruction counter. See `docs/benches.md`.

#[path = "explore/mod.rs"]
mod standard;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use standard::paired::{self, Contestant, Ratio};
use standard::{CALLS, MESSAGES, Standard, Way};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

/// Seeds of which the histories are compared before anything is measured.
const COMPARED: std::ops::RangeInclusive<u64> = 1..=16;

/// Executions that the cores share in one iteration.
const BATCH: u64 = 512;

fn main() -> ExitCode {
    let standard = Standard::new();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, way, times] = &args[..]
        && first == "--repeat"
    {
        return repeat(&standard, way, times);
    }
    COMPARED.for_each(|seed| standard.assert_same(seed));
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    one_thread(&mut criterion, &standard);
    all_cores(&mut criterion, &standard);
    criterion.final_summary();
    // `cargo test --benches` only asks whether it works.
    if args.iter().any(|arg| arg == "--bench") {
        print_ratios(&standard);
    }
    ExitCode::SUCCESS
}

/// Executes one way so many times, on one thread.
fn repeat(standard: &Standard, way: &str, times: &str) -> ExitCode {
    let named = Way::ALL.into_iter().find(|known| known.name() == way);
    let (Some(way), Ok(times)) = (named, times.parse()) else {
        eprintln!(
            "--repeat WAY TIMES, where WAY is one of {:?}",
            Way::ALL.map(Way::name)
        );
        return ExitCode::FAILURE;
    };
    on_one_thread(standard, way, 0, times);
    ExitCode::SUCCESS
}

fn on_one_thread(standard: &Standard, way: Way, first_seed: u64, times: u64) {
    for seed in first_seed..first_seed + times {
        black_box(standard.execute(way, seed));
    }
}

fn on_all_cores(standard: &Standard, way: Way, first_seed: u64, times: u64) {
    (first_seed..first_seed + times)
        .into_par_iter()
        .for_each(|seed| {
            black_box(standard.execute(way, seed));
        });
}

fn one_thread(criterion: &mut Criterion, standard: &Standard) {
    let mut group = criterion.benchmark_group("one thread");
    group.throughput(Throughput::Elements(1));
    for way in Way::ALL {
        bench(&mut group, way, 1, |seed| {
            on_one_thread(standard, way, seed, 1)
        });
    }
    group.finish();
}

fn all_cores(criterion: &mut Criterion, standard: &Standard) {
    let mut group = criterion.benchmark_group("all cores");
    group.throughput(Throughput::Elements(BATCH));
    for way in Way::ALL {
        bench(&mut group, way, BATCH, |seed| {
            on_all_cores(standard, way, seed, BATCH)
        });
    }
    group.finish();
}

/// Every iteration has seeds of its own.
fn bench(group: &mut BenchmarkGroup<'_, WallTime>, way: Way, seeds: u64, execute: impl Fn(u64)) {
    group.bench_function(way.name(), |bencher| {
        let mut seed = 0;
        bencher.iter(|| {
            execute(seed);
            seed += seeds;
        });
    });
}

type Runner = fn(&Standard, Way, u64, u64);

/// Whose throughput is told relative to whose.
const RATIOS: [(Way, Way); 6] = [
    (Way::Sim, Way::Bare),
    (Way::Network, Way::Bare),
    (Way::ForeignTimers, Way::Bare),
    (Way::Sim, Way::General),
    (Way::Network, Way::General),
    (Way::ForeignTimers, Way::General),
];

fn print_ratios(standard: &Standard) {
    let cores = rayon::current_num_threads();
    let settings: [(String, u64, u64, Runner); 2] = [
        ("one thread".to_owned(), 1_001, 20, on_one_thread),
        (format!("all {cores} cores"), 101, BATCH, on_all_cores),
    ];
    println!(
        "\nThe standard scenario: {CALLS} calls, {MESSAGES} messages. Executions per second, relative: \
         of the fastest turns (median of the rounds)"
    );
    for (setting, rounds, executions, run) in settings {
        let runners = Way::ALL.map(|way| move |seed, times| run(standard, way, seed, times));
        let contestants = runners.each_ref().map(|runner| runner as Contestant<'_>);
        let rounds = paired::race(rounds, executions, &contestants);
        let told =
            RATIOS.map(|(own, other)| tell(own, other, rounds.ratio(own.place(), other.place())));
        println!("{setting}: {}", told.join(", "));
    }
}

fn tell(own: Way, other: Way, ratio: Ratio) -> String {
    let Ratio { fastest, median } = ratio;
    let (own, other) = (own.name(), other.name());
    format!("{own} / {other} = {fastest:.2} ({median:.2})")
}
