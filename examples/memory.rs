//! Does memory stay where it is? Executes the recommended stack a million times in one process, each
//! time with another plan of two faults, and tells how much memory the process holds.
//!
//! ```text
//! cargo run --release --example memory [executions]
//! ```
//!
//! Ends with 1 if it holds more than 8 MiB above what it held after 10,000 executions. Linux only:
//! reads `/proc/self/statm`.

use explore::{Draw, ExploreError, Table, random_plan};
use scenarios::spec::{Bounds, Space};
use scenarios::{Scenario, catalogue};
use sim::{Parts, Setup};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

/// After so many executions everything that is made once has been made.
pub const WARM: u64 = 10_000;

/// How much more the process may hold at the end.
pub const GROWTH_MAX: i64 = 8 << 20;

/// Numbered plans of two faults, executed one after the other.
pub struct Walk {
    setup: Setup,
    space: Table,
    number: u64,
    /// How many executions there have been.
    pub executions: u64,
}

impl Walk {
    /// Over the space `full` of a scenario.
    ///
    /// # Errors
    /// A scenario that cannot be simulated.
    pub fn new(scenario: &Scenario, parts: Parts) -> Result<Self, Box<dyn Error>> {
        Ok(Walk {
            setup: Setup::new(scenario, parts)?,
            space: Table::of(&[&Bounds::new(scenario, Space::Full)]),
            number: 0,
            executions: 0,
        })
    }

    /// Goes on until there have been so many executions.
    ///
    /// # Errors
    /// An execution that fails.
    pub fn go_on_to(&mut self, executions: u64) -> Result<(), ExploreError> {
        while self.executions < executions {
            self.number += 1;
            let mut draw = Draw::new(self.number);
            let found = random_plan(&self.setup, &self.space, self.number, 2, &mut draw)?;
            // One for each fault, to see what the next can strike, and one for the whole plan.
            self.executions += found.plan.faults.len() as u64 + 1;
        }
        Ok(())
    }
}

/// The recommended stack, as the catalogue has it.
///
/// # Errors
/// If the catalogue has none.
pub fn recommended() -> Result<Scenario, Box<dyn Error>> {
    let entry = catalogue::find("recommended-stack").ok_or("not in the catalogue")?;
    Ok(entry.scenario()?)
}

/// How much memory this process holds, in bytes.
///
/// # Errors
/// Where there is no `/proc/self/statm`.
pub fn resident() -> Result<i64, Box<dyn Error>> {
    /// Linux on x86-64 and (by default) on ARM.
    const PAGE: i64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: i64 = statm.split(' ').nth(1).ok_or("no second number")?.parse()?;
    Ok(pages * PAGE)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let executions = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1_000_000,
    };
    let begun = Instant::now();
    let mut walk = Walk::new(&recommended()?, Parts::default())?;
    walk.go_on_to(WARM)?;
    let warm = resident()?;
    tell(&walk, warm, begun);
    for tenth in 1..=10 {
        walk.go_on_to(executions / 10 * tenth)?;
        tell(&walk, resident()?, begun);
    }
    let grown = resident()? - warm;
    println!("grown by {} KiB since the first {WARM}", grown >> 10);
    Ok(ExitCode::from(u8::from(grown > GROWTH_MAX)))
}

fn tell(walk: &Walk, resident: i64, begun: Instant) {
    let (executions, kib) = (walk.executions, resident >> 10);
    let seconds = begun.elapsed().as_secs_f64();
    println!("{executions:>9} executions  {kib:>7} KiB  {seconds:>6.1} s");
}
