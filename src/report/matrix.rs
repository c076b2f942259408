//! The league table, ready to be told: letters, heads of columns, smallest plans.

use evidence::Verdict;
use explore::Counterexample;
use explore::matrix::{Answers, Column, PerCell, Size, Worst};
use scenarios::file::Seeds;
use scenarios::spec::Phase;
use scenarios::{Scenario, Token};

/// The whole table.
#[derive(Clone, Copy)]
pub struct MatrixReport<'a> {
    /// What all rows have in common, in words.
    pub base: &'a str,
    /// The faults.
    pub columns: &'a [Column],
    /// How many faults a plan has.
    pub per_cell: PerCell,
    /// The message timings.
    pub seeds: Seeds,
    /// The set-ups, each with its answers: one for each column.
    pub rows: &'a [MatrixRow],
}

/// One set-up of the table.
pub struct MatrixRow {
    /// What decides whether an attempt may run.
    pub guard: String,
    /// What protects the downstream besides; `None`: nothing does.
    pub protection: Option<String>,
    /// The set-up, under a name by which it can be replayed.
    pub scenario: Scenario,
    /// What came of it.
    pub answers: Answers,
}

/// What each letter stands for, as the legend has them; what only `[judge]` asks for is never in it.
pub(super) const LETTERS: [(char, Verdict, &str); 9] = [
    ('O', Verdict::ExactlyOnce, "exactly once"),
    ('D', Verdict::Duplicate, "duplicate"),
    ('L', Verdict::Lost, "lost"),
    ('S', Verdict::Stuck, "stuck"),
    ('G', Verdict::GaveUp, "gave up"),
    ('M', Verdict::Misrecorded, "misrecorded"),
    ('U', Verdict::Unfinished, "unfinished"),
    ('P', Verdict::Phantom, "phantom"),
    ('N', Verdict::NoProgress, "no progress"),
];

/// Where no execution without faults comes to a site at which the fault applies.
pub(super) const UNREACHED: char = '-';

/// A letter of the table.
pub(super) fn letter(cell: Option<&Worst>) -> char {
    let Some(worst) = cell else {
        return UNREACHED;
    };
    let known = LETTERS.iter();
    let known = known.filter(|(_, verdict, _)| *verdict == worst.verdict);
    known.map(|(letter, ..)| *letter).next().unwrap_or('?')
}

impl MatrixReport<'_> {
    /// `seeds 1..16, every plan of one fault`.
    pub(super) fn asked(&self) -> String {
        let plans: u64 = self.rows.iter().map(|row| row.answers.plans).sum();
        let faults = match self.per_cell {
            PerCell::One => "the one fault",
            PerCell::Two => "the fault alone and with any one of space core",
        };
        format!("seeds {}, {faults} in every way; {plans} plans", self.seeds)
    }

    /// The failing cells of a row: the column, what came, the plan.
    pub(super) fn failing<'r>(&'r self, row: &'r MatrixRow) -> impl Iterator<Item = Failing<'r>> {
        let cells = self.columns.iter().zip(&row.answers.cells);
        cells.filter_map(|(column, cell)| {
            let worst = cell.as_ref()?;
            let example = worst.example.as_ref()?;
            Some(Failing {
                column,
                letter: letter(Some(worst)),
                example,
                row,
            })
        })
    }
}

impl MatrixRow {
    /// `redis_lock`, or ` + idempotency_key` below it.
    pub(super) fn label(&self) -> String {
        match &self.protection {
            None => self.guard.clone(),
            Some(protection) => format!(" + {protection}"),
        }
    }

    /// `redis_lock + idempotency_key`.
    pub(super) fn full_label(&self) -> String {
        match &self.protection {
            None => self.guard.clone(),
            Some(protection) => format!("{} + {protection}", self.guard),
        }
    }

    /// The token of a plan; only a plan with more faults than a token holds has none.
    pub(super) fn token(&self, example: &Counterexample) -> Option<String> {
        let token = Token {
            scenario_hash: self.scenario.hash32(),
            seed: example.seed,
            plan: example.plan.clone(),
            test: None,
        };
        token.encode().ok()
    }
}

/// A cell that fails.
pub(super) struct Failing<'a> {
    pub column: &'a Column,
    pub letter: char,
    pub example: &'a Counterexample,
    row: &'a MatrixRow,
}

impl Failing<'_> {
    /// Where the failure is born; empty where that could not be told.
    pub fn layer(&self) -> String {
        let layer = self.example.layer();
        layer.map_or_else(String::new, ToString::to_string)
    }

    /// The faults, one a line; `no fault` where there is none.
    pub fn plan(&self) -> Vec<String> {
        let cast = self.row.scenario.cast();
        let faults = &self.example.plan.faults;
        match faults.is_empty() {
            true => vec!["no fault".to_owned()],
            false => faults.iter().map(|fault| fault.text(&cast)).collect(),
        }
    }

    /// The command that shows it.
    pub fn replay(&self) -> Option<String> {
        let token = self.row.token(self.example)?;
        Some(format!("runkey replay {token}"))
    }
}

/// The lines above a column: the kind in two, the step, the phase or the size.
pub(super) fn head(column: &Column) -> [String; 4] {
    let Some(kind) = column.kind else {
        return ["no", "fault", "", ""].map(str::to_owned);
    };
    let (one, two) = kind.split_once('_').unwrap_or((kind, ""));
    let step = column.step.and_then(scheduler::steps::by_number);
    let step = step.map_or_else(String::new, |step| short_step(step.name));
    let phase = column.phase.map(Phase::name);
    let size = match column.size {
        Size::Any => None,
        Size::Below => Some("short"),
        Size::Past => Some("long"),
    };
    let words: Vec<&str> = phase.into_iter().chain(size).collect();
    [short(one), short(two), step, words.join(" ")]
}

/// `downstream.perform` is `perform`, `guard.enter.read` is `enter.r`.
fn short_step(name: &str) -> String {
    let mut words = name.split('.').skip(1);
    let word = words.next().unwrap_or(name);
    let initial = words.next().and_then(|word| word.chars().next());
    match initial {
        Some(initial) => format!("{word}.{initial}"),
        None => word.to_owned(),
    }
}

fn short(word: &str) -> String {
    let short = match word {
        "duplicate" => "dup",
        "request" => "req",
        "operator" => "oper",
        word => word,
    };
    short.to_owned()
}

/// How wide a terminal is taken to be.
const WIDTH: usize = 120;
/// Between two columns.
const GAP: usize = 2;

/// The columns that stand beside each other, as ranges of places: as many as fit.
pub(super) fn blocks(columns: &[Column], label: usize) -> Vec<std::ops::Range<usize>> {
    let mut blocks = Vec::new();
    let (mut first, mut used) = (0, label);
    for (place, column) in columns.iter().enumerate() {
        let needed = GAP + width(column);
        if used + needed > WIDTH && place > first {
            blocks.push(first..place);
            (first, used) = (place, label);
        }
        used += needed;
    }
    blocks.push(first..columns.len());
    blocks
}

/// How wide a column is.
pub(super) fn width(column: &Column) -> usize {
    let lines = head(column);
    lines.iter().map(String::len).max().unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn columns(texts: &[&str]) -> Vec<Column> {
        let read = |text: &&str| Column::parse(text).unwrap();
        texts.iter().map(read).collect()
    }

    #[test]
    fn the_columns_that_stand_there_by_default_fit_one_terminal() {
        let longest = scenarios::matrix::PROTECTIONS.map(str::len);
        let label = 3 + longest.into_iter().max().unwrap();
        assert_eq!(blocks(&columns(&Column::DEFAULT), label).len(), 1);
    }

    #[test]
    fn what_does_not_fit_goes_on_in_another_block_and_nothing_is_left_out() {
        let all = Column::all();
        let blocks = blocks(&all, 20);
        assert!(blocks.len() > 1);
        let mut next = 0;
        for block in blocks {
            assert_eq!(block.start, next);
            next = block.end;
            let widths = all[block].iter().map(|column| GAP + width(column));
            assert!(20 + widths.sum::<usize>() <= WIDTH);
        }
        assert_eq!(next, all.len());
    }

    #[test]
    fn a_head_says_kind_step_and_phase_or_size() {
        let of = |text: &str| head(&Column::parse(text).unwrap()).join("|");
        assert_eq!(of("none"), "no|fault||");
        assert_eq!(of("crash@downstream.perform:done"), "crash||perform|done");
        assert_eq!(of("duplicate_request@guard.enter.read"), "dup|req|enter.r|");
        assert_eq!(of("pause:past"), "pause|||long");
    }

    #[test]
    fn every_failure_of_the_promise_has_a_letter_of_its_own() {
        let mut letters: Vec<char> = LETTERS.iter().map(|(letter, ..)| *letter).collect();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), LETTERS.len());
        assert_eq!(letter(None), '-');
    }
}
