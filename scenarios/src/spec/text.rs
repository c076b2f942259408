//! Faults as one line of text: `crash@broker.ack before executor-1 report#1 n=1`.
//!
//! Kinds with a magnitude add `for=45201ms` or `by=-2000ms`, a partition that cuts one way
//! `direction=to_server`.

use super::faults::{self, Amount};
use super::{Fault, FaultKind, Phase, RunRef, Site};
use crate::file::{Direction, FaultName, SignedSpan};
use evidence::{Cast, InstanceId, Slot};
use scheduler::steps;

/// A line that is no fault of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultTextError {
    /// The line lacks one of its parts.
    #[error(
        "`{0}` is no fault; allowed is such as `crash@broker.ack before executor-1 report#1 n=1`"
    )]
    Form(String),
    /// A part of the line is not known.
    #[error("`{part}` is no {what} of this scenario")]
    Unknown {
        /// What the part should be.
        what: &'static str,
        /// The part.
        part: String,
    },
}

impl RunRef {
    /// `report#2` or `-`; `None` where the cast has no such timer.
    pub fn text(self, cast: &Cast) -> Option<String> {
        match self {
            RunRef::None => Some("-".to_owned()),
            RunRef::Slot(slot) => {
                let timer = cast.timers.get(usize::from(slot.timer))?;
                Some(format!("{timer}#{}", slot.ordinal))
            }
        }
    }

    /// Reads `report#2` or `-`; `None` where the cast has no such timer.
    pub fn parse(text: &str, cast: &Cast) -> Option<RunRef> {
        if text == "-" {
            return Some(RunRef::None);
        }
        let (id, ordinal) = text.rsplit_once('#')?;
        let ordinal = ordinal.parse::<u32>().ok().filter(|ordinal| *ordinal > 0)?;
        let timer = cast.timers.iter().position(|timer| timer.as_str() == id)?;
        Some(RunRef::Slot(Slot {
            timer: u16::try_from(timer).ok()?,
            ordinal,
        }))
    }
}

impl Fault {
    /// The fault as one line; numbers stand where the cast has no name.
    pub fn text(&self, cast: &Cast) -> String {
        let site = &self.site;
        let step = steps::by_number(site.step)
            .map_or_else(|| site.step.to_string(), |step| step.name.to_owned());
        let instance = cast
            .instances
            .get(usize::from(site.instance.0))
            .map_or_else(|| site.instance.0.to_string(), |name| name.to_string());
        let run = site.run.text(cast).unwrap_or_else(|| "?".to_owned());
        let mut text = format!(
            "{}@{step} {} {instance} {run} n={}",
            self.kind.name(),
            site.phase.name(),
            site.n
        );
        match faults::of(self.kind).amount {
            Amount::Nothing => {}
            Amount::Lasting => text.push_str(&format!(" for={}ms", self.magnitude_ms)),
            Amount::Losing => text.push_str(&format!(" lose={}ms", self.magnitude_ms)),
            Amount::Jumping => text.push_str(&format!(" by={}ms", self.magnitude_ms)),
        }
        match self.kind {
            FaultKind::PartitionToServer => text.push_str(" direction=to_server"),
            FaultKind::PartitionFromServer => text.push_str(" direction=from_server"),
            _ => {}
        }
        text
    }

    /// Reads what [`Fault::text`] writes.
    ///
    /// # Errors
    ///
    /// If a part is missing, or names something that the cast does not have.
    pub fn parse(text: &str, cast: &Cast) -> Result<Fault, FaultTextError> {
        let form = || FaultTextError::Form(text.to_owned());
        let unknown = |what, part: &str| FaultTextError::Unknown {
            what,
            part: part.to_owned(),
        };
        let mut words = text.trim().splitn(4, ' ');
        let mut word = || words.next().ok_or_else(form);
        let (cell, phase, instance, rest) = (word()?, word()?, word()?, word()?);
        let (kind, step) = cell.split_once('@').ok_or_else(form)?;

        // A timer's name may hold anything; after `n=` there is no name any more.
        let (run, tail) = rest.rsplit_once(" n=").ok_or_else(form)?;
        let mut tail = tail.split(' ');
        let n = tail.next().unwrap_or_default();
        let (mut amount, mut direction) = (None, Direction::Both);
        for word in tail {
            match word.split_once('=').ok_or_else(form)? {
                ("for" | "by" | "lose", ms) => amount = Some(ms),
                ("direction", "to_server") => direction = Direction::ToServer,
                ("direction", "from_server") => direction = Direction::FromServer,
                _ => return Err(form()),
            }
        }

        let named = |one: &FaultKind| one.name() == kind;
        let first = FaultKind::ALL.into_iter().find(named);
        let (name, _) = FaultName::of(first.ok_or_else(|| unknown("kind", kind))?);
        let kind = name.kind(direction);
        let magnitude_ms = match (faults::of(kind).amount, amount) {
            (Amount::Nothing, None) => 0,
            (Amount::Lasting | Amount::Losing | Amount::Jumping, Some(text)) => {
                SignedSpan::parse(text)
                    .map_err(|_| unknown("duration", text))?
                    .ms()
            }
            _ => return Err(form()),
        };
        let is_named = |name: &std::sync::Arc<str>| &**name == instance;
        let instance = cast
            .instances
            .iter()
            .position(is_named)
            .and_then(|place| u8::try_from(place).ok())
            .ok_or_else(|| unknown("instance", instance))?;
        let phase = Phase::ALL
            .into_iter()
            .find(|one| one.name() == phase)
            .ok_or_else(|| unknown("phase", phase))?;
        Ok(Fault {
            site: Site {
                instance: InstanceId(instance),
                step: steps::by_name(step)
                    .ok_or_else(|| unknown("step", step))?
                    .number,
                run: RunRef::parse(run, cast).ok_or_else(|| unknown("run", run))?,
                n: n.parse().map_err(|_| form())?,
                phase,
            },
            kind,
            magnitude_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Scenario;

    fn cast() -> Cast {
        Scenario::parse("[[timer]]\nid = 'report'\n[[timer]]\nid = 'a b#1 n=2'", "t")
            .unwrap()
            .cast()
    }

    #[test]
    fn a_fault_is_one_line_that_can_be_read_again() {
        let cast = cast();
        for text in [
            "crash@broker.ack before executor-1 report#1 n=1",
            "pause@timer.wait request scheduler-2 a b#1 n=2#2 n=3 for=45201ms",
            "clock_step@timer.fire before scheduler-1 report#2 n=1 by=-2000ms",
            "lock_failover@lock.renew before executor-1 report#1 n=2 lose=500ms",
            "partition@outbox.read before scheduler-1 - n=12 for=3201ms",
            "partition@outbox.read before scheduler-1 - n=12 for=3201ms direction=to_server",
            "partition@outbox.read before scheduler-1 - n=12 for=3201ms direction=from_server",
        ] {
            let fault = Fault::parse(text, &cast).unwrap();
            assert_eq!(fault.text(&cast), text);
        }
    }

    #[test]
    fn a_line_that_is_no_fault_is_refused() {
        let cast = cast();
        for text in [
            "",
            "crash",
            "crash@broker.ack before executor-1 report#1",
            "crash@broker.ack before executor-9 report#1 n=1",
            "crash@broker.ack between executor-1 report#1 n=1",
            "crash@broker.akc before executor-1 report#1 n=1",
            "crush@broker.ack before executor-1 report#1 n=1",
            "crash@broker.ack before executor-1 report#0 n=1",
            "crash@broker.ack before executor-1 weekly#1 n=1",
            "crash@broker.ack before executor-1 report#1 n=x",
            "crash@broker.ack before executor-1 report#1 n=1 for=3s",
            "pause@broker.ack before executor-1 report#1 n=1",
            "pause@broker.ack before executor-1 report#1 n=1 for=long",
        ] {
            assert!(Fault::parse(text, &cast).is_err(), "{text}");
        }
    }
}
