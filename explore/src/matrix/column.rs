//! A column of the table: one kind of fault at one step, as large as it is told.

use crate::Choice;
use scenarios::spec::faults::{self, Amount};
use scenarios::spec::{FaultKind, Phase};
use scheduler::steps;
use std::fmt;

/// What goes wrong in a column.
///
/// Written `crash@downstream.perform:done` or `pause:past`: a kind, at one step where one is named,
/// in one phase and of one size where those are named. `none` is the plan without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    /// The name of the kind; the three partitions share theirs. `None`: no fault.
    pub kind: Option<&'static str>,
    /// The step, by number; `None`: any.
    pub step: Option<u8>,
    /// The phase; `None`: any in which the kind applies.
    pub phase: Option<Phase>,
    /// How much.
    pub size: Size,
}

/// Which of the magnitudes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Size {
    /// All of them.
    #[default]
    Any,
    /// Those that are shorter than the longest deadline of the set-up.
    Below,
    /// The one just past the longest deadline of the set-up.
    Past,
}

impl Size {
    const fn name(self) -> Option<&'static str> {
        match self {
            Size::Any => None,
            Size::Below => Some("below"),
            Size::Past => Some("past"),
        }
    }
}

/// A text that names no column; says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumn {
    /// No such kind.
    #[error("`{0}` is no kind of fault; allowed are none, {allowed}", allowed = kinds().join(", "))]
    Kind(String),
    /// No such step.
    #[error("`{0}` is no step; allowed are {allowed}", allowed = step_names().join(", "))]
    Step(String),
    /// Neither a phase nor a size.
    #[error(
        "`{0}` says neither when nor how much; allowed are before, request, done, reply, and of kinds \
         that last or jump below and past (the longest deadline)"
    )]
    Word(String),
}

impl Column {
    /// The columns of the table where nobody says which: the moments at which runs double or get
    /// lost in the articles and incidents, as many as fit a terminal.
    pub const DEFAULT: [&'static str; 12] = [
        "none",
        "lose_reply@broker.publish",
        "duplicate_request@broker.publish",
        "crash@guard.enter",
        "lose_reply@downstream.perform",
        "crash@downstream.perform:done",
        "crash@guard.finish",
        "lose_reply@broker.ack",
        "crash@broker.ack:before",
        "pause:past",
        "broker_restart",
        "operator_replay",
    ];

    /// No fault at all.
    pub const NO_FAULT: Column = Column {
        kind: None,
        step: None,
        phase: None,
        size: Size::Any,
    };

    /// Reads a column.
    ///
    /// # Errors
    /// If a part of it is unknown.
    pub fn parse(text: &str) -> Result<Column, WrongColumn> {
        let mut words = text.split(':');
        let (kind, step) = match words.next().unwrap_or_default().split_once('@') {
            Some((kind, step)) => (kind, Some(step)),
            None => (text.split(':').next().unwrap_or_default(), None),
        };
        if text == "none" {
            return Ok(Column::NO_FAULT);
        }
        let known = kinds().into_iter().find(|known| *known == kind);
        let step = step.map(|step| {
            let named = steps::by_name(step).map(|named| named.number);
            named.ok_or_else(|| WrongColumn::Step(step.to_owned()))
        });
        let mut column = Column {
            kind: Some(known.ok_or_else(|| WrongColumn::Kind(kind.to_owned()))?),
            step: step.transpose()?,
            ..Column::NO_FAULT
        };
        for word in words {
            column.narrow(word)?;
        }
        Ok(column)
    }

    fn narrow(&mut self, word: &str) -> Result<(), WrongColumn> {
        let phase = Phase::ALL.into_iter().find(|phase| phase.name() == word);
        let size = [Size::Below, Size::Past]
            .into_iter()
            .find(|size| size.name() == Some(word) && self.has_sizes());
        match (phase, size) {
            (Some(phase), _) => self.phase = Some(phase),
            (_, Some(size)) => self.size = size,
            (None, None) => return Err(WrongColumn::Word(word.to_owned())),
        }
        Ok(())
    }

    /// Whether its kind lasts or jumps, so that it can be short or long.
    fn has_sizes(&self) -> bool {
        let mut kinds = FaultKind::ALL.into_iter();
        let kind = kinds.find(|kind| Some(kind.name()) == self.kind);
        kind.is_some_and(|kind| {
            matches!(faults::of(kind).amount, Amount::Lasting | Amount::Jumping)
        })
    }

    /// Every kind at every step, and no fault. Most of them apply nowhere.
    pub fn all() -> Vec<Column> {
        let mut columns = vec![Column::NO_FAULT];
        for step in steps::ALL {
            columns.extend(kinds().into_iter().map(|kind| Column {
                kind: Some(kind),
                step: Some(step.number),
                ..Column::NO_FAULT
            }));
        }
        columns
    }

    /// Whether a fault is one of this column; `longest_ms` is just past the longest deadline.
    pub(crate) fn has(&self, step: u8, phase: Phase, (kind, ms): Choice, longest_ms: i64) -> bool {
        let is_long = ms.abs() >= longest_ms;
        self.kind == Some(kind.name())
            && self.step.is_none_or(|at| at == step)
            && self.phase.is_none_or(|at| at == phase)
            && match self.size {
                Size::Any => true,
                Size::Below => !is_long,
                Size::Past => is_long,
            }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.unwrap_or("none"))?;
        if let Some(step) = self.step {
            write!(
                f,
                "@{}",
                steps::by_number(step).map_or("?", |step| step.name)
            )?;
        }
        let words = [self.phase.map(Phase::name), self.size.name()];
        words
            .into_iter()
            .flatten()
            .try_for_each(|word| write!(f, ":{word}"))
    }
}

/// The names of all kinds, each once.
fn kinds() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = FaultKind::ALL.into_iter().map(FaultKind::name).collect();
    names.dedup();
    names
}

fn step_names() -> Vec<&'static str> {
    steps::ALL.iter().map(|step| step.name).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use scheduler::steps::{BROKER_ACK, DOWNSTREAM_PERFORM};

    #[test]
    fn a_column_is_read_as_it_is_written() {
        for text in Column::DEFAULT {
            assert_eq!(Column::parse(text).unwrap().to_string(), text);
        }
        for column in Column::all() {
            assert_eq!(Column::parse(&column.to_string()), Ok(column));
        }
        for text in [
            "partition",
            "clock_step@timer.fire:below",
            "pause@broker.ack:before:past",
        ] {
            assert_eq!(Column::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_column_is_refused_with_what_is_allowed() {
        let said = |text: &str| Column::parse(text).unwrap_err().to_string();
        assert!(said("crush").starts_with(
            "`crush` is no kind of fault; allowed are none, lose_request, lose_reply, delay, "
        ));
        assert!(said("none@broker.ack").starts_with("`none` is no kind of fault"));
        assert!(
            said("crash@broker.akc")
                .starts_with("`broker.akc` is no step; allowed are timer.wait, ")
        );
        assert!(said("crash@broker.ack:past").starts_with("`past` says neither when nor how much"));
        assert!(said("pause:later").starts_with("`later` says neither when nor how much"));
        assert!(said("").starts_with("`` is no kind of fault"));
    }

    #[test]
    fn a_column_has_the_faults_of_its_kind_step_phase_and_size() {
        let has = |text: &str, step: u8, phase, choice| {
            Column::parse(text).unwrap().has(step, phase, choice, 100)
        };
        let (ack, perform) = (BROKER_ACK.number, DOWNSTREAM_PERFORM.number);
        let crash = (FaultKind::Crash, 0);
        assert!(has("crash", ack, Phase::Done, crash));
        assert!(has("crash@broker.ack", ack, Phase::Done, crash));
        assert!(!has("crash@broker.ack", perform, Phase::Done, crash));
        assert!(!has("crash:before", ack, Phase::Done, crash));
        assert!(!has("none", ack, Phase::Done, crash));
        let pause = |ms| (FaultKind::Pause, ms);
        assert!(has("pause:past", ack, Phase::Before, pause(100)));
        assert!(!has("pause:past", ack, Phase::Before, pause(99)));
        assert!(has("pause:below", ack, Phase::Before, pause(99)));
        let back = (FaultKind::ClockStep, -100);
        assert!(has("clock_step:past", ack, Phase::Before, back));
        let one_way = (FaultKind::PartitionToServer, 7);
        assert!(has("partition", ack, Phase::Before, one_way));
    }
}
