//! Claims per second of every guard that needs no server, asked by real threads through the ports,
//! beside a plain `Mutex<HashSet>`: what a guard costs before any network does.
//!
//! `cargo bench --bench dedupe`; see `docs/benches.md`. A server behind the ports is one more entry
//! of [`claimants::all`].

#[path = "dedupe/claimants.rs"]
mod claimants;
#[path = "dedupe/race.rs"]
mod race;

use claimants::Candidate;
use comfy_table::{CellAlignment, Table, presets};
use race::{Race, runs};

/// Every setting that is measured: fresh keys for each thread, then the same keys for all.
const RACES: [Race; 5] = [
    Race::fresh(1),
    Race::fresh(2),
    Race::fresh(4),
    Race::contended(2),
    Race::contended(4),
];

fn main() {
    // `cargo test --benches` only asks whether it works.
    let measures = std::env::args().any(|arg| arg == "--bench");
    let (rounds, keys) = if measures { (21, 20_000) } else { (1, 200) };
    let candidates = claimants::all();
    let most = RACES.iter().map(Race::threads).max().unwrap_or(1);
    let runs = runs(keys * most);
    // By candidate, race, round.
    let mut took = vec![vec![Vec::new(); RACES.len()]; candidates.len()];
    for _ in 0..rounds {
        // In turns, so that whatever else the machine does hits all of them.
        for (place, race) in RACES.iter().enumerate() {
            for (candidate, took) in candidates.iter().zip(&mut took) {
                took[place].push(race.run(candidate, &runs[..keys * race.threads()]));
            }
        }
    }
    if !measures {
        return;
    }
    println!("{}", table(&candidates, &took));
    println!(
        "Claims per second, and relative to the plain set; medians of {rounds} rounds of {keys} keys."
    );
}

/// One row a candidate, one column a race.
fn table(candidates: &[Candidate], claims_per_second: &[Vec<Vec<f64>>]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let titles = RACES.iter().map(Race::title);
    table.set_header(std::iter::once("guard".to_owned()).chain(titles));
    let plain = &claims_per_second[0];
    for (candidate, races) in candidates.iter().zip(claims_per_second) {
        let cells = races.iter().zip(plain).map(|(own, plain)| cell(own, plain));
        table.add_row(std::iter::once(candidate.name.to_owned()).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cell(own: &[f64], plain: &[f64]) -> String {
    let ratios = own.iter().zip(plain).map(|(own, plain)| own / plain);
    let thousands = median(own.to_vec()) / 1_000.0;
    format!("{thousands:.0} k/s  {:.3}", median(ratios.collect()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
