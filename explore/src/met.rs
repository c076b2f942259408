//! Whether an expectation is met, and why not.

use crate::{Checked, Cut, Expectation, Failure, Level};
use evidence::Verdict;
use std::fmt;

/// Whether what a scenario says is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// It is (exit code 0).
    Yes,
    /// It is not (exit code 100).
    No(Unmet),
    /// That is not known (exit code 103).
    Inconclusive(Doubt),
}

/// Why an expectation is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// The promise was expected to hold and breaks.
    Breaks {
        /// With so many faults.
        faults: u8,
        /// Like this.
        verdict: Verdict,
    },
    /// It breaks with fewer faults than expected.
    BreaksEarlier {
        /// With so many.
        faults: u8,
        /// Like this.
        verdict: Verdict,
    },
    /// No plan of the expected number of faults gives the expected failure.
    NothingMatches {
        /// That number; `None` where any was allowed.
        faults: Option<u8>,
    },
    /// The expected failure needs no fault, or exactly this plan, and appears under some seeds
    /// only.
    NotUnderEverySeed {
        /// Under so many.
        matching: u64,
        /// Of so many.
        seeds: u64,
    },
    /// A plan of the expected number of faults fails in a way that the scenario does not mention.
    OtherVerdict {
        /// In this way.
        verdict: Verdict,
    },
}

/// Why it is not known whether an expectation is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The exploration ended before its bound.
    Cut(Cut),
    /// The bound is lower than what the expectation speaks of.
    BoundTooLow {
        /// Number of faults that the expectation speaks of.
        expected: u8,
        /// Number of faults explored.
        explored: u8,
    },
    /// What is expected was not found, and less was explored than the scenario declares.
    ExploredLess {
        /// How far was gone, such as `core to 1`.
        explored: String,
        /// How far the scenario goes, such as `core to 2 and full to 1`.
        declared: String,
    },
    /// No fault of the space applies anywhere: that nothing fails says nothing.
    NoSites,
    /// No execution had any effect: that none was a duplicate says nothing.
    NoEffects,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Breaks { faults, verdict } => {
                write!(
                    f,
                    "expected to hold, but {verdict} with {}",
                    Faults(*faults)
                )
            }
            Unmet::BreaksEarlier { faults, verdict } => {
                write!(f, "already {verdict} with {}", Faults(*faults))
            }
            Unmet::NothingMatches {
                faults: Some(faults),
            } => {
                write!(f, "no plan of {} gives what is expected", Faults(*faults))
            }
            Unmet::NothingMatches { faults: None } => {
                f.write_str("no plan within the bounds gives what is expected")
            }
            Unmet::NotUnderEverySeed { matching, seeds } => {
                write!(
                    f,
                    "what is expected appears under {matching} of {seeds} seeds only"
                )
            }
            Unmet::OtherVerdict { verdict } => {
                write!(
                    f,
                    "some plans give {verdict}, which is neither expected nor in `also`"
                )
            }
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Cut(cut) => write!(f, "{} before the bound", cut.name()),
            Doubt::BoundTooLow { expected, explored } => write!(
                f,
                "the expectation speaks of {}, only {} explored",
                Faults(*expected),
                Faults(*explored)
            ),
            Doubt::ExploredLess { explored, declared } => write!(
                f,
                "the command line explores less than the scenario declares: {explored}, not \
                 {declared}"
            ),
            Doubt::NoSites => f.write_str("no fault of the space applies anywhere"),
            Doubt::NoEffects => f.write_str("no execution had any effect"),
        }
    }
}

/// `1 fault`, `2 faults`.
struct Faults(u8);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} fault{plural}", self.0)
    }
}

impl Checked {
    /// Puts a doubt in the place of "nothing matches", where that may be because less was
    /// explored than declared.
    ///
    /// `doubt` is asked with the number of faults at which the expected failure is missing. A
    /// failure at that number that the scenario does not speak of contradicts it all the same.
    pub fn unless_explored_less(
        &mut self,
        expectation: &Expectation,
        doubt: impl FnOnce(u8) -> Option<Doubt>,
    ) {
        let (
            Met::No(Unmet::NothingMatches {
                faults: Some(missing),
            }),
            Expectation::Breaks(failure),
        ) = (&self.met, expectation)
        else {
            return;
        };
        let Some(doubt) = doubt(*missing) else {
            return;
        };
        let level = self.levels.iter().find(|level| level.faults == *missing);
        self.met = match level.and_then(|level| failure.unspoken_verdict(level)) {
            Some(verdict) => Met::No(Unmet::OtherVerdict { verdict }),
            None => Met::Inconclusive(doubt),
        };
    }
}

/// What the levels were run over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    /// Number of seeds.
    pub seeds: u64,
    /// The largest number of faults that was to be explored.
    pub deepest: u8,
    /// Number of single faults that apply to the fault-free execution.
    pub single_faults: u64,
}

/// Whether the levels, in order from 0, meet the expectation.
pub(crate) fn judge(expectation: &Expectation, levels: &[Level], ground: Ground) -> Met {
    if let Some(cut) = levels.iter().find_map(|level| level.cut) {
        return Met::Inconclusive(Doubt::Cut(cut));
    }
    match expectation {
        Expectation::Holds { faults } => holds(faults.unwrap_or(ground.deepest), levels, ground),
        Expectation::Breaks(failure) => breaks(failure, levels, ground),
    }
}

fn holds(expected: u8, levels: &[Level], ground: Ground) -> Met {
    let judged = levels.iter().filter(|level| level.faults <= expected);
    if let Some((faults, verdict)) = judged.filter_map(worst_failure).next() {
        return Met::No(Unmet::Breaks { faults, verdict });
    }
    if expected > ground.deepest {
        return too_low(expected, ground);
    }
    if expected > 0 && ground.single_faults == 0 {
        return Met::Inconclusive(Doubt::NoSites);
    }
    if levels.iter().all(|level| level.most_effects == 0) {
        return Met::Inconclusive(Doubt::NoEffects);
    }
    Met::Yes
}

fn breaks(failure: &Failure, levels: &[Level], ground: Ground) -> Met {
    let Some(needed) = failure.faults_needed else {
        return match levels.iter().find(|level| is_broken(level)) {
            Some(level) => shows(failure, level, ground),
            None => Met::No(Unmet::NothingMatches { faults: None }),
        };
    };
    if needed > ground.deepest {
        return too_low(needed, ground);
    }
    let fewer = levels.iter().filter(|level| level.faults < needed);
    if let Some((faults, verdict)) = fewer.filter_map(worst_failure).next() {
        return Met::No(Unmet::BreaksEarlier { faults, verdict });
    }
    match levels.iter().find(|level| level.faults == needed) {
        Some(level) => shows(failure, level, ground),
        None => Met::No(Unmet::NothingMatches {
            faults: Some(needed),
        }),
    }
}

/// Whether one level shows the expected failure, and no other.
fn shows(failure: &Failure, level: &Level, ground: Ground) -> Met {
    if level.matching == 0 {
        return Met::No(Unmet::NothingMatches {
            faults: Some(level.faults),
        });
    }
    if level.faults == 0 && level.matching < ground.seeds {
        return Met::No(Unmet::NotUnderEverySeed {
            matching: level.matching,
            seeds: ground.seeds,
        });
    }
    match failure.unspoken_verdict(level) {
        Some(verdict) => Met::No(Unmet::OtherVerdict { verdict }),
        None => Met::Yes,
    }
}

/// Whether the empty plan and one given plan, each under all seeds, meet the expectation.
pub(crate) fn judge_plan(
    expectation: &Expectation,
    [empty, given]: &[Level; 2],
    seeds: u64,
) -> Met {
    if let Some(cut) = empty.cut.or(given.cut) {
        return Met::Inconclusive(Doubt::Cut(cut));
    }
    if let Some((faults, verdict)) = worst_failure(empty) {
        return Met::No(Unmet::BreaksEarlier { faults, verdict });
    }
    match (expectation, worst_failure(given)) {
        (Expectation::Holds { .. }, Some((faults, verdict))) => {
            Met::No(Unmet::Breaks { faults, verdict })
        }
        (Expectation::Holds { .. }, None) if given.most_effects == 0 => {
            Met::Inconclusive(Doubt::NoEffects)
        }
        (Expectation::Breaks(_), _) if given.matching < seeds => {
            Met::No(Unmet::NotUnderEverySeed {
                matching: given.matching,
                seeds,
            })
        }
        _ => Met::Yes,
    }
}

fn too_low(expected: u8, ground: Ground) -> Met {
    Met::Inconclusive(Doubt::BoundTooLow {
        expected,
        explored: ground.deepest,
    })
}

/// True if a level has something to show: a failure, or what was looked for.
pub(crate) fn is_broken(level: &Level) -> bool {
    level.failing > 0 || level.matching > 0
}

fn worst_failure(level: &Level) -> Option<(u8, Verdict)> {
    let (verdict, _) = level.failing_verdicts.first_key_value()?;
    Some((level.faults, *verdict))
}
