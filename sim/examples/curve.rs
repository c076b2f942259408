//! What executions cost as set-ups grow: the recommended stack with 1 to 8 executors and 1 to 64
//! slots, no faults. The cost of a call should not depend on how many there are.
//!
//! ```text
//! cargo run --release -p runkey-sim --example curve
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "measures how long executions take, from outside of them"
)]

use runkey_sim::{Counts, Parts, Setup, run_counted};
use scenarios::Scenario;
use scenarios::spec::Plan;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Every cell is measured so often, in turn with all others; the fastest turn counts.
const ROUNDS: u64 = 200;

struct Cell {
    executors: u32,
    slots: u32,
    setup: Setup,
    counts: Counts,
    fastest: Duration,
}

fn cell(executors: u32, slots: u32) -> Result<Cell, Box<dyn Error>> {
    let text = format!(
        "name = 'curve'\ntopology.executors = {executors}\n[[timer]]\nid = 'report'\nslots = {slots}\n\
         schedule = {{ every = '1m' }}\n"
    );
    let setup = Setup::new(&Scenario::parse(&text, "curve")?, Parts::default())?;
    let (_, counts) = run_counted(&setup, 1, &Plan::empty());
    Ok(Cell {
        executors,
        slots,
        setup,
        counts,
        fastest: Duration::MAX,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cells = Vec::new();
    for executors in [1, 2, 4, 8] {
        for slots in [1, 4, 16, 64] {
            cells.push(cell(executors, slots)?);
        }
    }
    for _ in 0..ROUNDS {
        for cell in &mut cells {
            let began = Instant::now();
            black_box(run_counted(&cell.setup, 1, &Plan::empty()));
            cell.fastest = cell.fastest.min(began.elapsed());
        }
    }
    println!("| executors | slots | calls | polls | armed | us | ns a call |");
    println!("|---|---|---|---|---|---|---|");
    for cell in cells {
        let nanos = cell.fastest.as_nanos();
        println!(
            "| {} | {} | {} | {} | {} | {:.1} | {} |",
            cell.executors,
            cell.slots,
            cell.counts.calls,
            cell.counts.polls,
            cell.counts.armed,
            nanos as f64 / 1000.0,
            nanos / u128::from(cell.counts.calls.max(1)),
        );
    }
    Ok(())
}
