//! `[[fault]]`: what goes wrong, written by hand, and where.

use super::Scenario;
use super::signed::SignedSpan;
use crate::spec::applies::StepFacts;
use crate::spec::faults::{self, Amount};
use crate::spec::{Fault, FaultKind, FaultSpec, Phase, RunRef, Space};
use evidence::{Cast, InstanceId, Step};
use scheduler::{Span, steps};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// One `[[fault]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultTable {
    /// Where it strikes.
    pub at: FaultPlace,
    /// What goes wrong.
    #[serde(rename = "do")]
    pub kind: FaultName,
    /// How long a pause, a delay or a partition lasts.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// By how much a clock steps; backwards with a minus sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SignedSpan>,
    /// Of how long a failover loses the changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose: Option<Span>,
    /// Which way of a partition is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

/// `at = { .. }` of a `[[fault]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlace {
    /// Which instance; left out: whichever reaches the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Which step.
    pub step: StepName,
    /// Which run, such as `report#2`, or `-` where the step serves no single run; left out: the
    /// occurrence is counted over all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Which time the step is reached, from 1.
    #[serde(default = "first")]
    pub occurrence: u16,
    /// When, around the step; left out: the first phase at which the kind applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
}

/// What is wrong with a `[[fault]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongFault {
    /// The key that is wrong, such as `at.instance`.
    pub key: &'static str,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl WrongFault {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        WrongFault {
            key,
            message: message.into(),
        }
    }
}

impl FaultTable {
    /// A fault of a plan, with every key written out.
    pub fn of(fault: &Fault, cast: &Cast) -> Option<FaultTable> {
        let amount = faults::of(fault.kind).amount;
        let instance = cast.instances.get(usize::from(fault.site.instance.0))?;
        let (kind, direction) = FaultName::of(fault.kind);
        Some(FaultTable {
            at: FaultPlace {
                instance: Some(instance.to_string()),
                step: StepName(steps::by_number(fault.site.step)?),
                run: Some(fault.site.run.text(cast)?),
                occurrence: fault.site.n,
                phase: Some(fault.site.phase),
            },
            kind,
            lasts: (amount == Amount::Lasting)
                .then(|| Span::millis(fault.magnitude_ms.unsigned_abs())),
            lose: (amount == Amount::Losing)
                .then(|| Span::millis(fault.magnitude_ms.unsigned_abs())),
            by: (amount == Amount::Jumping).then(|| SignedSpan::millis(fault.magnitude_ms)),
            direction,
        })
    }

    /// The fault with its names resolved, to be looked for in an execution.
    ///
    /// # Errors
    ///
    /// If a name is unknown, a magnitude is missing or too much, or the kind does not apply there.
    pub fn spec(&self, scenario: &Scenario) -> Result<FaultSpec, WrongFault> {
        if self.at.occurrence == 0 {
            let message = "occurrence is 0; allowed are 1 and more";
            return Err(WrongFault::new("at.occurrence", message));
        }
        if self.direction.is_some() && self.kind != FaultName::Partition {
            let message = "`direction` belongs to `partition`";
            return Err(WrongFault::new("direction", message));
        }
        let kind = self.kind.kind(self.direction.unwrap_or_default());
        Ok(FaultSpec {
            instance: self.instance(scenario)?,
            step: self.at.step.0.number,
            run: self.run(scenario)?,
            occurrence: self.at.occurrence,
            phase: self.phase(kind, scenario)?,
            kind,
            magnitude_ms: self.magnitude_ms()?,
        })
    }

    fn instance(&self, scenario: &Scenario) -> Result<Option<InstanceId>, WrongFault> {
        let Some(name) = &self.at.instance else {
            return Ok(None);
        };
        let names = scenario.instance_names();
        let place = names.iter().position(|known| known == name);
        match place.and_then(|place| u8::try_from(place).ok()) {
            Some(place) => Ok(Some(InstanceId(place))),
            None => Err(WrongFault::new(
                "at.instance",
                format!(
                    "there is no instance `{name}`; allowed are {}",
                    names.join(", ")
                ),
            )),
        }
    }

    fn run(&self, scenario: &Scenario) -> Result<Option<RunRef>, WrongFault> {
        let Some(text) = self.at.run.as_deref() else {
            return Ok(None);
        };
        let is_planned = |run: &RunRef| match run {
            RunRef::None => true,
            RunRef::Slot(slot) => scenario
                .timers_at_work()
                .get(usize::from(slot.timer))
                .is_some_and(|timer| (1..=timer.slots).contains(&slot.ordinal)),
        };
        match RunRef::parse(text, &scenario.cast()).filter(is_planned) {
            Some(run) => Ok(Some(run)),
            None => {
                let timers = scenario.timers_at_work();
                let first = timers.first();
                let id = first.map_or("report", |timer| timer.id.as_str());
                Err(WrongFault::new(
                    "at.run",
                    format!(
                        "`{text}` is no run of this scenario; allowed is such as \"{id}#1\", up to \
                         its number of slots, or \"-\""
                    ),
                ))
            }
        }
    }

    fn phase(&self, kind: FaultKind, scenario: &Scenario) -> Result<Phase, WrongFault> {
        let step = self.at.step.0;
        let facts = StepFacts::of(step.number, scenario);
        let offered = |phase: &Phase| {
            facts.is_some_and(|facts| facts.offers(Space::Beyond, kind, *phase, true))
        };
        let phases: Vec<Phase> = Phase::ALL.into_iter().filter(offered).collect();
        match (self.at.phase, phases.first()) {
            (_, None) => Err(WrongFault::new(
                "do",
                format!("`{}` does not apply at `{step}`", kind.name()),
            )),
            (None, Some(first)) => Ok(*first),
            (Some(phase), _) if phases.contains(&phase) => Ok(phase),
            (Some(phase), _) => {
                let allowed: Vec<&str> = phases.iter().map(|phase| phase.name()).collect();
                Err(WrongFault::new(
                    "at.phase",
                    format!(
                        "`{}` does not apply at phase `{}` of `{step}`; allowed is {}",
                        kind.name(),
                        phase.name(),
                        allowed.join(", ")
                    ),
                ))
            }
        }
    }

    fn magnitude_ms(&self) -> Result<i64, WrongFault> {
        let lasts = matches!(
            self.kind,
            FaultName::Pause | FaultName::Delay | FaultName::Partition
        );
        let steps = self.kind == FaultName::ClockStep;
        let loses = matches!(
            self.kind,
            FaultName::LockFailover | FaultName::DatabaseFailover | FaultName::BrokerFailover
        );
        match self.lose {
            Some(_) if !loses => {
                let message = "`lose` belongs to the failovers";
                return Err(WrongFault::new("lose", message));
            }
            None if loses => {
                let message = "this kind needs `lose`, of how long the changes are lost, such as lose = \"500ms\"";
                return Err(WrongFault::new("do", message));
            }
            Some(Span::ZERO) => {
                let message = "lose is `0s`; allowed is a duration longer than zero";
                return Err(WrongFault::new("lose", message));
            }
            _ => {}
        }
        match (self.lasts, self.by) {
            (Some(_), _) if !lasts => Err(WrongFault::new(
                "for",
                "`for` belongs to pause, delay and partition",
            )),
            (_, Some(_)) if !steps => Err(WrongFault::new("by", "`by` belongs to clock_step")),
            (None, _) if lasts => Err(WrongFault::new(
                "do",
                "this kind needs `for`, how long it lasts, such as for = \"35s\"",
            )),
            (_, None) if steps => Err(WrongFault::new(
                "do",
                "this kind needs `by`, how far the clock jumps, such as by = \"-2m\"",
            )),
            (Some(Span::ZERO), _) => Err(WrongFault::new(
                "for",
                "for is `0s`; allowed is a duration longer than zero",
            )),
            (_, Some(SignedSpan::ZERO)) => Err(WrongFault::new(
                "by",
                "by is `0s`; allowed is a duration other than zero",
            )),
            (Some(span), _) => Ok(span.as_i64()),
            (_, Some(by)) => Ok(by.ms()),
            (None, None) => Ok(self.lose.map_or(0, Span::as_i64)),
        }
    }
}

const fn first() -> u16 {
    1
}

/// What goes wrong, as scenario files name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultName {
    /// See [`FaultKind::LoseRequest`].
    LoseRequest,
    /// See [`FaultKind::LoseReply`].
    LoseReply,
    /// See [`FaultKind::Delay`].
    Delay,
    /// See [`FaultKind::DuplicateRequest`].
    DuplicateRequest,
    /// See [`FaultKind::Refuse`].
    Refuse,
    /// See [`FaultKind::Crash`].
    Crash,
    /// See [`FaultKind::Pause`].
    Pause,
    /// See [`FaultKind::Partition`], [`FaultKind::PartitionToServer`] and
    /// [`FaultKind::PartitionFromServer`].
    Partition,
    /// See [`FaultKind::GracefulStop`].
    GracefulStop,
    /// See [`FaultKind::BrokerRestart`].
    BrokerRestart,
    /// See [`FaultKind::OperatorReplay`].
    OperatorReplay,
    /// See [`FaultKind::ClockStep`].
    ClockStep,
    /// See [`FaultKind::LockFailover`].
    LockFailover,
    /// See [`FaultKind::LockRestart`].
    LockRestart,
    /// See [`FaultKind::SessionLoss`].
    SessionLoss,
    /// See [`FaultKind::Purge`].
    Purge,
    /// See [`FaultKind::DatabaseFailover`].
    DatabaseFailover,
    /// See [`FaultKind::DatabaseRestart`].
    DatabaseRestart,
    /// See [`FaultKind::BrokerFailover`].
    BrokerFailover,
    /// See [`FaultKind::DeadLetterReplay`].
    DeadLetterReplay,
}

/// Which way of a partition is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Both.
    #[default]
    Both,
    /// From the instance to the server.
    ToServer,
    /// From the server to the instance.
    FromServer,
}

impl FaultName {
    /// The name of a kind, and the direction of a partition.
    pub const fn of(kind: FaultKind) -> (FaultName, Option<Direction>) {
        let name = match kind {
            FaultKind::LoseRequest => FaultName::LoseRequest,
            FaultKind::LoseReply => FaultName::LoseReply,
            FaultKind::Delay => FaultName::Delay,
            FaultKind::DuplicateRequest => FaultName::DuplicateRequest,
            FaultKind::Refuse => FaultName::Refuse,
            FaultKind::Crash => FaultName::Crash,
            FaultKind::Pause => FaultName::Pause,
            FaultKind::Partition => return (FaultName::Partition, Some(Direction::Both)),
            FaultKind::PartitionToServer => {
                return (FaultName::Partition, Some(Direction::ToServer));
            }
            FaultKind::PartitionFromServer => {
                return (FaultName::Partition, Some(Direction::FromServer));
            }
            FaultKind::GracefulStop => FaultName::GracefulStop,
            FaultKind::BrokerRestart => FaultName::BrokerRestart,
            FaultKind::OperatorReplay => FaultName::OperatorReplay,
            FaultKind::ClockStep => FaultName::ClockStep,
            FaultKind::LockFailover => FaultName::LockFailover,
            FaultKind::LockRestart => FaultName::LockRestart,
            FaultKind::SessionLoss => FaultName::SessionLoss,
            FaultKind::Purge => FaultName::Purge,
            FaultKind::DatabaseFailover => FaultName::DatabaseFailover,
            FaultKind::DatabaseRestart => FaultName::DatabaseRestart,
            FaultKind::BrokerFailover => FaultName::BrokerFailover,
            FaultKind::DeadLetterReplay => FaultName::DeadLetterReplay,
        };
        (name, None)
    }

    /// The kind; `direction` matters to a partition only.
    pub const fn kind(self, direction: Direction) -> FaultKind {
        match self {
            FaultName::LoseRequest => FaultKind::LoseRequest,
            FaultName::LoseReply => FaultKind::LoseReply,
            FaultName::Delay => FaultKind::Delay,
            FaultName::DuplicateRequest => FaultKind::DuplicateRequest,
            FaultName::Refuse => FaultKind::Refuse,
            FaultName::Crash => FaultKind::Crash,
            FaultName::Pause => FaultKind::Pause,
            FaultName::Partition => match direction {
                Direction::Both => FaultKind::Partition,
                Direction::ToServer => FaultKind::PartitionToServer,
                Direction::FromServer => FaultKind::PartitionFromServer,
            },
            FaultName::GracefulStop => FaultKind::GracefulStop,
            FaultName::BrokerRestart => FaultKind::BrokerRestart,
            FaultName::OperatorReplay => FaultKind::OperatorReplay,
            FaultName::ClockStep => FaultKind::ClockStep,
            FaultName::LockFailover => FaultKind::LockFailover,
            FaultName::LockRestart => FaultKind::LockRestart,
            FaultName::SessionLoss => FaultKind::SessionLoss,
            FaultName::Purge => FaultKind::Purge,
            FaultName::DatabaseFailover => FaultKind::DatabaseFailover,
            FaultName::DatabaseRestart => FaultKind::DatabaseRestart,
            FaultName::BrokerFailover => FaultKind::BrokerFailover,
            FaultName::DeadLetterReplay => FaultKind::DeadLetterReplay,
        }
    }
}

/// A step, by its name in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName(pub &'static Step);

impl Serialize for StepName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for StepName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        steps::by_name(&name).map(StepName).ok_or_else(|| {
            let allowed: Vec<&str> = steps::ALL.iter().map(|step| step.name).collect();
            de::Error::custom(format!(
                "unknown step `{name}`; allowed are {}",
                allowed.join(", ")
            ))
        })
    }
}
