//! `[[deploy]]`: processes with another configuration take over while the old ones still live.
//!
//! A condition, not a fault. Every named process gets a successor (`scheduler-1-v2`, of the next
//! deploy `-v3`) that starts at `at`; the old one is asked to stop `overlap` later and does not come
//! back. Until `at` the planned slots are those of the old configuration, from then on those of the
//! new one.

use super::check::Checked;
use super::document::Document;
use super::{Scenario, ScenarioError, repairing};
use scheduler::Span;
use scheduler::topologies::Role;
use serde::{Deserialize, Serialize};

/// One `[[deploy]]`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeployTable {
    /// When the new processes start, from the epoch.
    pub at: Span,
    /// The processes that are replaced, such as `scheduler-1`, whose successor is called
    /// `scheduler-1-v2` (of the next deploy `-v3`).
    pub instances: Vec<String>,
    /// How long the old process lives beside the new one before it is asked to stop.
    pub overlap: Span,
    /// What the new processes know otherwise: dotted paths and whole tables of `timer`, `dispatch`,
    /// `guard`, `recovery`, `work`, `identity` and `downstream.protection`, such as
    /// `"timer.report.schedule"`. Left out: a deploy that changes nothing.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub set: toml::Table,
    /// Whether the new processes write the rows of their timers anew as they start (Quartz with
    /// `overwrite`): the position stays, and whoever had acquired a row has not any more.
    pub reset_rows: bool,
    /// The scenario as the new processes know it.
    #[serde(skip)]
    pub scenario: Box<Scenario>,
}

/// What a deployed process may know otherwise: what it is configured with itself. Servers are the
/// same for all.
const CHANGEABLE: &[&str] = &[
    "timer",
    "dispatch",
    "guard",
    "recovery",
    "work",
    "identity",
    "downstream.protection",
];

/// Fills in [`DeployTable::scenario`].
pub(super) fn build(
    document: &Document<'_>,
    scenario: &mut Scenario,
    path: &str,
) -> Result<(), ScenarioError> {
    let mut deploys = std::mem::take(&mut scenario.deploys);
    for (place, deploy) in deploys.iter_mut().enumerate() {
        let changes = format!("deploy.{place}.set");
        let configured = repairing::configured(document, scenario, &changes, CHANGEABLE, path)?;
        // What is said of the whole is said once.
        *deploy.scenario = Scenario {
            name: String::new(),
            about: String::new(),
            source: None,
            tags: Vec::new(),
            ..configured
        };
    }
    scenario.deploys = deploys;
    Ok(())
}

/// Refuses a deploy of nobody, or of processes and timers that there are not.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let names = scenario.topology.instance_names();
    for (place, deploy) in scenario.deploys.iter().enumerate() {
        let at = |key: &str| format!("deploy.{place}.{key}");
        if deploy.instances.is_empty() {
            let message = "a [[deploy]] needs `instances`, the processes that are replaced";
            return Err(document.error(&at("instances"), message));
        }
        for (one, name) in deploy.instances.iter().enumerate() {
            let path = at(&format!("instances.{one}"));
            super::check::named(document, &path, name, &names)?;
            if deploy.instances[..one].contains(name) {
                let message = format!("`{name}` is replaced twice by one deploy");
                return Err(document.error(&path, message));
            }
        }
        let ids = |scenario: &Scenario| -> Vec<String> {
            scenario
                .timers
                .iter()
                .map(|timer| timer.id.clone())
                .collect()
        };
        if ids(&deploy.scenario) != ids(scenario) {
            let message = "a deploy changes timers; it neither adds, removes nor renames them";
            return Err(document.error(&at("set"), message));
        }
    }
    if scenario.instance_names().len() > usize::from(u8::MAX) {
        let message = "there are more than 255 processes, those of the deploys included";
        return Err(document.error("deploy", message));
    }
    Ok(())
}

/// A process that a deploy has brought.
#[derive(Clone, Copy, Debug)]
pub struct Deployed<'a> {
    /// The deploy.
    pub deploy: &'a DeployTable,
    /// The place, among all processes, of the first one of its line.
    pub of: u8,
}

impl Scenario {
    /// The processes that deploys bring, in the order of their places, with their names.
    pub fn deployed(&self) -> impl Iterator<Item = (String, Deployed<'_>)> {
        let names = self.topology.instance_names();
        let deploys = self.deploys.iter().enumerate();
        deploys.flat_map(move |(place, deploy)| {
            let names = names.clone();
            deploy.instances.iter().filter_map(move |name| {
                let before = &self.deploys[..place];
                let before = before.iter().filter(|one| one.instances.contains(name));
                let version = before.count() + 2;
                let of = names.iter().position(|known| known == name)?;
                let of = u8::try_from(of).ok()?;
                Some((format!("{name}-v{version}"), Deployed { deploy, of }))
            })
        })
    }

    /// The deploys where the whole scenario has another length of time at this path: new processes
    /// that say nothing of it themselves have it too.
    pub(super) fn deployed_with(&self, path: &str, span: Span) -> Vec<DeployTable> {
        let of = |deploy: &DeployTable| {
            let says = |key: &String| {
                let rest = path.strip_prefix(key.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let own = deploy.set.keys().any(says);
            let changed = (!own).then(|| deploy.scenario.with_setting(path, span).ok());
            let scenario = changed.flatten().map(Box::new);
            DeployTable {
                scenario: scenario.unwrap_or_else(|| deploy.scenario.clone()),
                ..deploy.clone()
            }
        };
        self.deploys.iter().map(of).collect()
    }

    /// What the process at this place does.
    pub fn role(&self, place: u8) -> Role {
        let first = self.topology.instance_names().len();
        let deployed = usize::from(place).checked_sub(first);
        let deployed = deployed.and_then(|nth| self.deployed().nth(nth));
        let of = deployed.map_or(place, |(_, deployed)| deployed.of);
        self.topology.role(of)
    }

    /// When the process at this place is asked to stop for good, from the epoch: when its successor
    /// has lived beside it for the overlap.
    pub fn retires_at(&self, place: u8) -> Option<Span> {
        let first = self.topology.instance_names().len();
        let (mut of, mut seen) = (place, usize::from(place) < first);
        for (nth, (_, deployed)) in self.deployed().enumerate() {
            if seen && deployed.of == of {
                let ends = deployed.deploy.at.ms() + deployed.deploy.overlap.ms();
                return Some(Span::millis(ends));
            }
            if first + nth == usize::from(place) {
                (of, seen) = (deployed.of, true);
            }
        }
        None
    }
}
