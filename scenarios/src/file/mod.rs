//! The scenario file: one struct per table, every default filled in.

mod beats;
mod broker;
mod change;
mod changed;
mod check;
mod coordinator;
mod database;
mod defaults;
mod deploy;
mod dispatch;
pub(crate) mod document;
mod downstream;
mod error;
mod expect;
mod explore;
mod fault;
mod hash;
mod horizon;
mod identity;
mod instance;
mod leading;
mod lock;
mod moment;
mod polled;
mod repair;
mod repairing;
mod setting;
mod shards;
mod signed;
mod timer;
mod topology;
mod written_out;

pub use broker::{
    AckFencing, AfterMaxDeliver, Assign, BrokerProfile, BrokerTable, Confirm, DedupBy, DedupScope,
    DelayedBy, MaxDeliver, Outage, Refusals, ReturnsTo, StaleTag,
};
pub use change::{ChangeKind, ChangeTable, Cursor};
pub use coordinator::{CoordinatorProfile, CoordinatorTable};
pub use database::{DatabaseProfile, DatabaseTable};
pub use deploy::{DeployTable, Deployed};
pub use downstream::{DownstreamTable, InFlight, OnMismatch};
pub use error::{Place, ScenarioError};
pub use expect::{ExpectTable, ExpectedVerdict};
pub use explore::{ExploreTable, MOST_EXPLORED, Seeds, SeedsError};
pub use fault::{Direction, FaultName, FaultPlace, FaultTable, StepName, WrongFault};
pub use horizon::Horizon;
pub use identity::IdentityTable;
pub use instance::{ClockTable, InstanceTable, LinkTable, LinkedServer};
pub use lock::LockTable;
pub use repair::RepairTable;
pub use scheduler::topologies::Rows;
pub use setting::{Condition, Setting, SettingError};
pub use signed::SignedSpan;
pub use timer::TimerTable;
pub use topology::{QueueLimit, Topology, TopologyKind};

pub(crate) use error::utf8;

use document::{Document, MAX_BYTES};
use evidence::{Cast, Judging, TimerId, Timestamp};
use scheduler::Span;
use scheduler::dispatch::DispatchConfig;
use scheduler::effects::ProtectionConfig;
use scheduler::guards::GuardConfig;
use scheduler::recovery::RecoveryConfig;
use scheduler::work::WorkConfig;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// A set-up to simulate, with every default filled in.
///
/// Serializing it gives what identifies the set-up (see [`Scenario::hash`]); what is only said
/// about it is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// What it is called; the file's name without `.toml` where the file does not say.
    #[serde(skip_serializing)]
    pub name: String,
    /// What it shows, in a sentence.
    #[serde(skip_serializing)]
    pub about: String,
    /// Where it comes from, such as an incident.
    #[serde(skip_serializing)]
    pub source: Option<String>,
    /// Words to filter by.
    #[serde(skip_serializing)]
    pub tags: Vec<String>,
    /// What the true clock reads when the simulation begins.
    #[serde(with = "moment")]
    pub epoch: Timestamp,
    /// When an execution ends at the latest.
    pub horizon: Horizon,
    /// What guards and downstream compare.
    pub identity: IdentityTable,
    /// What is due, and when.
    #[serde(rename = "timer")]
    pub timers: Vec<TimerTable>,
    /// Which processes there are.
    pub topology: Topology,
    /// Conditions of single processes.
    #[serde(rename = "instance")]
    pub instances: Vec<InstanceTable>,
    /// Processes with another configuration that take over.
    #[serde(rename = "deploy", skip_serializing_if = "Vec::is_empty")]
    pub deploys: Vec<DeployTable>,
    /// Timers that change while everything runs.
    #[serde(rename = "change", skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeTable>,
    /// How a slot becomes a message.
    pub dispatch: DispatchConfig,
    /// The queue.
    pub broker: BrokerTable,
    /// The store.
    pub database: DatabaseTable,
    /// The lock service.
    pub lock: LockTable,
    /// The coordinator, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<CoordinatorTable>,
    /// What looks for unfinished runs.
    pub recovery: RecoveryConfig,
    /// What decides whether an attempt may run.
    pub guard: GuardConfig,
    /// The work of a run.
    pub work: WorkConfig,
    /// The outside world.
    pub downstream: DownstreamTable,
    /// What the judge is asked.
    pub judge: Judging,
    /// What goes wrong, written by hand.
    #[serde(rename = "fault")]
    pub faults: Vec<FaultTable>,
    /// How far a check looks.
    #[serde(skip_serializing)]
    pub explore: ExploreTable,
    /// What is true of it; `None`: exactly_once within the bounds explored.
    #[serde(skip_serializing)]
    pub expect: Option<ExpectTable>,
    /// The same with one change each.
    #[serde(rename = "repair", skip_serializing)]
    pub repairs: Vec<RepairTable>,
}

/// 2026-01-01T00:00:00Z.
const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            name: String::new(),
            about: String::new(),
            source: None,
            tags: Vec::new(),
            epoch: EPOCH,
            horizon: Horizon::Auto,
            identity: IdentityTable::default(),
            timers: vec![TimerTable::default()],
            topology: Topology::default(),
            instances: Vec::new(),
            deploys: Vec::new(),
            changes: Vec::new(),
            dispatch: DispatchConfig::default(),
            broker: BrokerTable::default(),
            database: DatabaseTable::default(),
            lock: LockTable::default(),
            coordinator: None,
            recovery: RecoveryConfig::default(),
            guard: GuardConfig::default(),
            work: WorkConfig::default(),
            downstream: DownstreamTable::default(),
            judge: Judging::default(),
            faults: Vec::new(),
            explore: ExploreTable::default(),
            expect: None,
            repairs: Vec::new(),
        }
    }
}

impl Scenario {
    /// Reads a scenario from TOML; `path` is what errors call the file.
    ///
    /// # Errors
    ///
    /// One sentence with line and column: no TOML, an unknown key, a value of the wrong kind or
    /// outside its limits, keys that contradict each other.
    pub fn parse(text: &str, path: &str) -> Result<Scenario, ScenarioError> {
        let document = Document::parse(text, path)?;
        let mut scenario = Self::from_document(document.clone(), path)?;
        repairing::build(&document, &mut scenario, path)?;
        Ok(scenario)
    }

    /// Reads a scenario from bytes that may not be text.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse`]; and where the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8], path: &str) -> Result<Scenario, ScenarioError> {
        Self::parse(utf8(bytes, path)?, path)
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse_bytes`]; and where there is no such file, where it is a directory,
    /// where it is longer than 1 MiB or cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        Self::parse_bytes(&read(path, &name)?, &name)
    }

    /// One document without its repairs.
    fn from_document(mut document: Document<'_>, path: &str) -> Result<Scenario, ScenarioError> {
        defaults::fill(&mut document);
        let mut scenario: Scenario = document.read()?;
        scenario.guard = scenario.guard.filled_in();
        if scenario.name.is_empty() {
            let stem = Path::new(path).file_stem();
            scenario.name = stem.map_or_else(String::new, |stem| stem.display().to_string());
        }
        deploy::build(&document, &mut scenario, path)?;
        change::build(&document, &mut scenario, path)?;
        check::check(&document, &scenario)?;
        Ok(scenario)
    }

    /// The names of all processes, in the order of [`evidence::InstanceId`].
    pub fn instance_names(&self) -> Vec<String> {
        let mut names = self.topology.instance_names();
        names.extend(self.deployed().map(|(name, _)| name));
        names
    }

    /// The names that histories of this scenario refer to.
    pub fn cast(&self) -> Cast {
        let names = self.instance_names();
        Cast {
            instances: names.iter().map(|name| name.as_str().into()).collect(),
            timers: self
                .timers_at_work()
                .iter()
                .map(|timer| TimerId::new(timer.id.as_str()))
                .collect(),
            local: self.topology.executes_where_it_fires(),
            keeps_record: self.guard.keeps_record(),
        }
    }

    /// The conditions of one process.
    pub fn conditions(&self, name: &str) -> InstanceTable {
        let named = self.instances.iter().find(|instance| instance.name == name);
        let named = named.cloned().unwrap_or_else(|| InstanceTable {
            name: name.to_owned(),
            ..InstanceTable::default()
        });
        // A process that a deploy brings starts with the deploy, and later where it says so.
        let brought = self.deployed().find(|(deployed, _)| deployed == name);
        let since = brought.map_or(0, |(_, deployed)| deployed.deploy.at.ms());
        InstanceTable {
            starts_at: Span::millis(since.saturating_add(named.starts_at.ms())),
            ..named
        }
    }

    /// Whether effects are made inside the database, in one transaction with the record.
    pub const fn effects_in_database(&self) -> bool {
        matches!(
            self.downstream.protection,
            ProtectionConfig::Transactional(_)
        )
    }
}

/// The bytes of a file that is small enough.
pub(crate) fn read(path: &Path, name: &str) -> Result<Vec<u8>, ScenarioError> {
    let failed = |error: std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => DIRECTORY.to_owned(),
            _ => format!("the file cannot be read: {error}"),
        };
        ScenarioError::whole(name, why)
    };
    if path.is_dir() {
        return Err(ScenarioError::whole(name, DIRECTORY));
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that it is too long, whatever it is.
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        let length = std::fs::metadata(path).map_or(bytes.len() as u64, |meta| meta.len());
        return Err(ScenarioError::whole(name, document::too_large(length)));
    }
    Ok(bytes)
}

const DIRECTORY: &str = "this is a directory; allowed is a TOML file";
