//! What a margin is of: how much of a kind of fault, a condition of a process, or a setting of the
//! scenario; and how each is written.

use scenarios::Scenario;
use scenarios::file::Condition;
use scenarios::spec::applies::StepFacts;
use scenarios::spec::faults::{self, Amount};
use scenarios::spec::{FaultKind, Phase, Space};
use scheduler::steps;
use std::fmt;

/// What is varied, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// What it is.
    pub of: Of,
    /// Which way its values go.
    pub way: Way,
}

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// How much of a kind of fault: every place of it where it applies, one at a time.
    Fault {
        /// The kind, by its name in files; the three partitions share one.
        kind: &'static str,
        /// At which step, by number; `None`: at any.
        step: Option<u8>,
    },
    /// A condition of a process.
    Condition {
        /// Which.
        condition: Condition,
        /// Of which process; `None`: of any, one at a time.
        instance: Option<String>,
    },
    /// A setting of the scenario, by path.
    Setting(String),
}

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// There is only one: a length of time.
    Longer,
    /// A clock ahead, a timer late.
    Forwards,
    /// A clock behind, a timer early.
    Backwards,
}

impl Way {
    /// The sign of its values.
    pub const fn sign(self) -> i64 {
        match self {
            Way::Longer | Way::Forwards => 1,
            Way::Backwards => -1,
        }
    }

    /// As output has it; `None` where there is only one way.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Way::Longer => None,
            Way::Forwards => Some("forwards"),
            Way::Backwards => Some("backwards"),
        }
    }
}

/// A text that names nothing of which there is a margin: what is wrong, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongDimension(String);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Of::Fault { kind, step: None } => f.write_str(kind),
            Of::Fault {
                kind,
                step: Some(step),
            } => {
                let step = steps::by_number(*step).map_or("?", |step| step.name);
                write!(f, "{kind}@{step}")
            }
            Of::Condition {
                condition,
                instance,
            } => match instance {
                None => f.write_str(condition.name()),
                Some(name) => write!(f, "{}@{name}", condition.name()),
            },
            Of::Setting(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)?;
        match self.way.name() {
            Some(way) => write!(f, " {way}"),
            None => Ok(()),
        }
    }
}

impl Dimension {
    /// Reads `pause`, `pause@guard.enter`, `skew@scheduler-2`, `guard.lease` or `lease`: one
    /// dimension, two where values go both ways.
    ///
    /// # Errors
    /// If the scenario has nothing of that name; says what it has.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Vec<Dimension>, WrongDimension> {
        let (name, at) = match text.split_once('@') {
            Some((name, at)) => (name, Some(at)),
            None => (text, None),
        };
        if let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.name() == name) {
            return fault(kind, at, scenario).map(both_ways);
        }
        if let Some(condition) = Condition::ALL.into_iter().find(|one| one.name() == name) {
            let instance = at.map(|at| instance(at, scenario)).transpose()?;
            return Ok(both_ways(Of::Condition {
                condition,
                instance,
            }));
        }
        setting(text, scenario).map(both_ways)
    }

    /// Everything of which a scenario can have a margin: kinds of faults, then conditions, then
    /// settings by path; each kind and condition at the worst place.
    pub fn all(scenario: &Scenario) -> Vec<Dimension> {
        let kinds = measured_kinds().into_iter();
        let faults = kinds.map(|kind| Of::Fault { kind, step: None });
        let conditions = Condition::ALL.into_iter().map(|condition| Of::Condition {
            condition,
            instance: None,
        });
        let settings = scenario.settings().into_iter();
        let settings = settings.map(|setting| Of::Setting(setting.path));
        let all = faults.chain(conditions).chain(settings);
        all.flat_map(both_ways).collect()
    }
}

fn both_ways(of: Of) -> Vec<Dimension> {
    let signed = match &of {
        Of::Fault { kind, .. } => kinds_named(kind).any(|kind| amount(kind) == Amount::Jumping),
        Of::Condition { .. } => true,
        Of::Setting(_) => false,
    };
    let ways: &[Way] = match signed {
        true => &[Way::Forwards, Way::Backwards],
        false => &[Way::Longer],
    };
    let of_way = |way: &Way| Dimension {
        of: of.clone(),
        way: *way,
    };
    ways.iter().map(of_way).collect()
}

/// The kinds that are written so.
pub(super) fn kinds_named(name: &str) -> impl Iterator<Item = FaultKind> {
    FaultKind::ALL
        .into_iter()
        .filter(move |kind| kind.name() == name)
}

fn amount(kind: FaultKind) -> Amount {
    faults::of(kind).amount
}

/// Whether a kind lasts, or jumps, as long as one likes. What a failover loses is no length of its
/// own: it is as much as the replica is behind.
fn is_measured(kind: FaultKind) -> bool {
    matches!(amount(kind), Amount::Lasting | Amount::Jumping)
}

/// The names of the kinds that have a magnitude.
fn measured_kinds() -> Vec<&'static str> {
    let measured = FaultKind::ALL.into_iter();
    let mut names: Vec<&str> = measured
        .filter(|kind| is_measured(*kind))
        .map(FaultKind::name)
        .collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    names
}

fn fault(kind: FaultKind, at: Option<&str>, scenario: &Scenario) -> Result<Of, WrongDimension> {
    if !is_measured(kind) {
        return Err(WrongDimension(format!(
            "`{}` has no magnitude; kinds that have one are {}",
            kind.name(),
            measured_kinds().join(", ")
        )));
    }
    let step = at.map(|at| step(kind, at, scenario)).transpose()?;
    Ok(Of::Fault {
        kind: kind.name(),
        step,
    })
}

fn step(kind: FaultKind, at: &str, scenario: &Scenario) -> Result<u8, WrongDimension> {
    let applies = |step: u8| {
        let facts = StepFacts::of(step, scenario);
        let offers =
            |phase| facts.is_some_and(|facts| facts.offers(Space::Full, kind, phase, true));
        Phase::ALL.into_iter().any(offers)
    };
    match steps::by_name(at) {
        Some(step) if applies(step.number) => Ok(step.number),
        found => {
            let wrong = match found {
                Some(_) => format!("`{}` does not apply at `{at}`", kind.name()),
                None => format!("there is no step `{at}`"),
            };
            let allowed: Vec<&str> = steps::ALL
                .iter()
                .filter(|step| applies(step.number))
                .map(|step| step.name)
                .collect();
            Err(WrongDimension(format!(
                "{wrong}; allowed are {}",
                allowed.join(", ")
            )))
        }
    }
}

fn instance(name: &str, scenario: &Scenario) -> Result<String, WrongDimension> {
    let names = scenario.instance_names();
    match names.iter().any(|known| known == name) {
        true => Ok(name.to_owned()),
        false => Err(WrongDimension(format!(
            "there is no instance `{name}`; allowed are {}",
            names.join(", ")
        ))),
    }
}

/// By its path, or by the end of it where that is clear.
fn setting(text: &str, scenario: &Scenario) -> Result<Of, WrongDimension> {
    let settings = scenario.settings();
    let paths = || settings.iter().map(|setting| setting.path.as_str());
    if let Some(path) = paths().find(|path| *path == text) {
        return Ok(Of::Setting(path.to_owned()));
    }
    let ends_so = |path: &&str| {
        path.strip_suffix(text)
            .is_some_and(|rest| rest.ends_with('.'))
    };
    let meant: Vec<&str> = paths().filter(ends_so).collect();
    match meant.as_slice() {
        [path] => Ok(Of::Setting((*path).to_owned())),
        [] => Err(WrongDimension(format!(
            "`{text}` is nothing that this scenario has a margin of; allowed are {}, each also \
             with @STEP; {}, each also with @INSTANCE; {}",
            measured_kinds().join(", "),
            Condition::ALL.map(Condition::name).join(", "),
            paths().collect::<Vec<_>>().join(", ")
        ))),
        several => Err(WrongDimension(format!(
            "`{text}` may mean {}; write one of them out",
            several.join(" or ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scenario(text: &str) -> Scenario {
        Scenario::parse(text, "t").unwrap()
    }

    fn read(text: &str) -> Result<Vec<String>, String> {
        let lock = "[dispatch]\nclaim = { kind = 'lock_row' }\n[guard]\nkind = 'lock_row'";
        match Dimension::parse(text, &scenario(lock)) {
            Ok(dimensions) => Ok(dimensions.iter().map(ToString::to_string).collect()),
            Err(wrong) => Err(wrong.to_string()),
        }
    }

    #[test]
    fn what_is_named_is_written_as_it_was_read() {
        for text in ["pause", "delay@broker.ack", "partition", "guard.max_hold"] {
            assert_eq!(read(text), Ok(vec![text.to_owned()]));
        }
        for text in ["clock_step@timer.wait", "skew@executor-1", "fire_offset"] {
            assert_eq!(
                read(text),
                Ok(vec![
                    format!("{text} forwards"),
                    format!("{text} backwards")
                ])
            );
        }
        assert_eq!(
            read("ack_deadline"),
            Ok(vec!["broker.ack_deadline".to_owned()])
        );
    }

    #[test]
    fn what_has_no_margin_is_refused_with_what_is_allowed() {
        for (text, says) in [
            (
                "crash",
                "`crash` has no magnitude; kinds that have one are clock_step, delay, partition, pause",
            ),
            (
                "pause@broker.akc",
                "there is no step `broker.akc`; allowed are timer.wait, timer.fire, ",
            ),
            (
                "delay@work",
                "`delay` does not apply at `work`; allowed are dispatch.claim, ",
            ),
            (
                "skew@executor-9",
                "there is no instance `executor-9`; allowed are scheduler-1, scheduler-2, \
                 executor-1, executor-2",
            ),
            (
                "max_hold",
                "`max_hold` may mean dispatch.claim.max_hold or guard.max_hold; write one of them out",
            ),
            (
                "guard.lease",
                "`guard.lease` is nothing that this scenario has a margin of; allowed are clock_step, \
                 delay, partition, pause, each also with @STEP; skew, fire_offset, each also with \
                 @INSTANCE; broker.ack_deadline, dispatch.claim.max_hold, dispatch.claim.min_hold, ",
            ),
            ("", "`` is nothing that this scenario has a margin of"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(says), "{text}: {error}");
        }
    }

    #[test]
    fn all_are_the_kinds_the_conditions_and_the_settings() {
        let all = Dimension::all(&scenario("[broker]\nack_deadline = 'off'"));
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            [
                "clock_step forwards",
                "clock_step backwards",
                "delay",
                "partition",
                "pause",
                "skew forwards",
                "skew backwards",
                "fire_offset forwards",
                "fire_offset backwards",
                "dispatch.relay_every",
                "downstream.latency",
                "topology.restart_after",
                "work.call_timeout",
                "work.retry.backoff",
                "work.retry.max_backoff",
                "work.takes",
            ]
        );
    }
}
