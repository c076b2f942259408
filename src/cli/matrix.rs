//! `runkey matrix`: which guard survives which fault?

use super::failure::{Failure, note};
use super::output::OutputArgs;
use super::progress::Progress;
use super::{interrupt, threads};
use crate::exit::Exit;
use clap::Args;
use explore::matrix::{Asked, Column, MatrixError, PerCell, Row, row};
use explore::{Control, ExecuteError};
use runkey::report::{MatrixReport, MatrixRow, Verb};
use scenarios::file::{ExploreTable, Seeds};
use scenarios::matrix::{BASE, Entry, PROTECTIONS, entry, guards};
use std::sync::Arc;

/// The league table: the worst that each fault does to each guard
///
/// One set-up for each guard, alike in everything else and with the guard's defaults; in each every
/// plan of one fault of each column is run. Ends with 0 whatever comes of it.
#[derive(Args)]
#[command(
    after_help = "A FAULT is KIND, KIND@STEP, and either with :PHASE, :below or :past (how long, \
                  beside the longest deadline); none is the plan without a fault.\n\
                  Each set-up is a scenario: runkey check matrix:redis_lock+idempotency_key\n\
                  Examples: runkey matrix\n          \
                  runkey matrix --guards insert_first,state_machine --downstream\n          \
                  runkey matrix --faults crash@guard.enter,pause:past --faults-per-cell 2"
)]
pub struct MatrixArgs {
    /// Which guards [default: all]
    #[arg(long, value_name = "GUARD,..", value_delimiter = ',')]
    guards: Vec<String>,
    /// Which faults, or all [default: a dozen that matter]
    #[arg(long, value_name = "FAULT,..", value_delimiter = ',')]
    faults: Vec<String>,
    /// Under each guard a row for each protection at the downstream
    #[arg(long)]
    downstream: bool,
    /// With 2, also every plan of the fault and any one of space core
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    faults_per_cell: u8,
    /// Which message timings, such as 1..16, both ends included
    #[arg(long, value_name = "A..B")]
    seeds: Option<Seeds>,
    /// How many threads [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub fn matrix(args: &MatrixArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let guards = args.guards()?;
    let mut columns = args.columns()?;
    let control = Arc::new(Control::new());
    interrupt::stops(&control)?;
    let pool = threads::pool(args.jobs)?;
    let mut report = output.report(Verb::Matrix)?;
    let seeds = args.seeds.unwrap_or(ExploreTable::default().seeds);
    let asked = Asked {
        columns: &columns,
        per_cell: match args.faults_per_cell {
            1 => PerCell::One,
            _ => PerCell::Two,
        },
        seeds: &seeds.iter(),
        control: &control,
    };
    let per_cell = asked.per_cell;
    let mut rows = match all_rows(&asked, args.entries(&guards)?, &pool, &control)? {
        Some(rows) => rows,
        None => return Ok(Exit::Inconclusive),
    };
    if args.wants_all() {
        leave_out_unreached(&mut columns, &mut rows);
    } else if !(0..columns.len()).any(|place| is_reached(&rows, place)) {
        return Err(Failure::NothingMatched(format!(
            "--faults {}: in none of these set-ups an execution without faults comes to a site at \
             which it applies; runkey matrix --faults all shows those that do",
            args.faults.join(",")
        )));
    }
    report.matrix(&MatrixReport {
        base: BASE,
        columns: &columns,
        per_cell,
        seeds,
        rows: &rows,
    })?;
    report.finish()?;
    Ok(Exit::Holds)
}

/// Every row; `None` where it was ended early.
fn all_rows(
    asked: &Asked<'_>,
    entries: Vec<Entry>,
    pool: &rayon::ThreadPool,
    control: &Arc<Control>,
) -> Result<Option<Vec<MatrixRow>>, Failure> {
    let mut rows = Vec::new();
    for entry in entries {
        let name = entry.scenario.name.clone();
        let _bar = Progress::of(&name, control);
        match pool.install(|| answered(asked, entry)) {
            Ok(row) => rows.push(row),
            Err(Ended::Matrix(MatrixError::Cut(cut))) => {
                let told = format!("{}: the table is not complete", cut.name());
                note("note", &told);
                return Ok(None);
            }
            Err(Ended::Matrix(MatrixError::Explore(source))) => {
                return Err(Failure::Explore { name, source });
            }
            Err(Ended::SetUp(source)) => return Err(Failure::Execute { name, source }),
        }
    }
    Ok(Some(rows))
}

impl MatrixArgs {
    /// The guards asked for, in the order of the list.
    fn guards(&self) -> Result<Vec<&'static str>, Failure> {
        let known = guards();
        let mut typed = self.guards.iter();
        if let Some(guard) = typed.find(|guard| !known.contains(&guard.as_str())) {
            return Err(Failure::Usage(format!(
                "--guards {guard}: there is no such guard; allowed are {}",
                known.join(", ")
            )));
        }
        let asked =
            |guard: &&str| self.guards.is_empty() || self.guards.iter().any(|of| of == guard);
        Ok(known.into_iter().filter(asked).collect())
    }

    fn wants_all(&self) -> bool {
        self.faults.iter().any(|fault| fault == "all")
    }

    fn columns(&self) -> Result<Vec<Column>, Failure> {
        if self.wants_all() {
            return Ok(Column::all());
        }
        let typed: Vec<&str> = match self.faults.is_empty() {
            true => Column::DEFAULT.to_vec(),
            false => self.faults.iter().map(String::as_str).collect(),
        };
        let read = |text: &&str| {
            let refused = |wrong| Failure::Usage(format!("--faults {text}: {wrong}"));
            Column::parse(text).map_err(refused)
        };
        typed.iter().map(read).collect()
    }

    fn entries(&self, guards: &[&'static str]) -> Result<Vec<Entry>, Failure> {
        let protections = match self.downstream {
            true => &PROTECTIONS[..],
            false => &PROTECTIONS[..1],
        };
        let mut entries = Vec::new();
        for guard in guards {
            for protection in protections {
                entries.push(entry(guard, protection)?);
            }
        }
        Ok(entries)
    }
}

/// Why a row has no answers.
enum Ended {
    Matrix(MatrixError),
    SetUp(ExecuteError),
}

fn answered(asked: &Asked<'_>, entry: Entry) -> Result<MatrixRow, Ended> {
    let setup = sim::Setup::new(&entry.scenario, sim::Parts::default())
        .map_err(|error| Ended::SetUp(ExecuteError::SetUp(error.to_string())))?;
    let answers = row(
        asked,
        Row {
            scenario: &entry.scenario,
            execute: &setup,
        },
    );
    Ok(MatrixRow {
        guard: entry.guard.to_owned(),
        protection: (entry.protection != "none").then(|| entry.protection.to_owned()),
        scenario: entry.scenario,
        answers: answers.map_err(Ended::Matrix)?,
    })
}

/// Takes away the columns in which no row has anything.
fn leave_out_unreached(columns: &mut Vec<Column>, rows: &mut [MatrixRow]) {
    let places = 0..columns.len();
    let reached: Vec<bool> = places.map(|place| is_reached(rows, place)).collect();
    let mut of_columns = reached.iter();
    columns.retain(|_| of_columns.next().is_some_and(|reached| *reached));
    for row in rows {
        let mut of_cells = reached.iter();
        let cells = &mut row.answers.cells;
        cells.retain(|_| of_cells.next().is_some_and(|reached| *reached));
    }
}

fn is_reached(rows: &[MatrixRow], place: usize) -> bool {
    let cells = rows.iter().map(|row| row.answers.cells.get(place));
    cells.flatten().any(Option::is_some)
}
