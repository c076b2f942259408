//! What a certificate says, and what it does not.

use super::CertificateError;
use super::never_reached::{NeverReached, Reach};
use super::refused::Refused;
use crate::cell::{parse, read_alike};
use crate::{Checked, Table};
use scenarios::Scenario;
use scenarios::file::Seeds;
use scenarios::spec::{Bounds, Magnitudes, Space};
use serde::{Deserialize, Serialize};

/// The version of runkey that issues certificates here.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// That a promise holds under every plan of a bounded space, and how far that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The version of runkey that explored.
    pub runkey: String,
    /// The scenario's name.
    pub scenario: String,
    /// [`Scenario::hash`], 16 hexadecimal digits.
    pub scenario_hash: String,
    /// What holds: `exactly_once`, `at_least_once` or `at_most_once`.
    pub promise: String,
    /// Under which plans.
    pub explored: Claimed,
    /// How long faults last, and where that comes from.
    pub magnitudes: ClaimedMagnitudes,
    /// Cells of the spaces that no plan reached, each with why.
    pub never_reached: Vec<NeverReached>,
    /// What is not claimed.
    pub not_covered: Vec<String>,
}

/// What was exhausted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    /// The spaces.
    pub spaces: Vec<ClaimedSpace>,
    /// The message timings.
    pub seeds: Seeds,
    /// Sites of the first seed's fault-free execution at which a fault applies.
    pub sites: u64,
    /// Single faults that apply there.
    pub faults: u64,
    /// Number of (seed, plan) pairs.
    pub plans: u64,
    /// How many of them were known from the same state at a rest point.
    pub merged: u64,
    /// Over those pairs and their histories, 32 hexadecimal digits.
    pub digest: String,
}

/// A space that was exhausted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedSpace {
    /// Its name and version.
    pub space: String,
    /// Up to so many faults at once.
    pub max_faults: u8,
}

/// How long faults last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedMagnitudes {
    /// The deadlines that are just met and just missed.
    pub deadlines: Vec<ClaimedDeadline>,
    /// How far below and past a deadline.
    pub margin_ms: u64,
    /// Durations in `full`.
    pub lasting_ms: Vec<i64>,
    /// The one duration in `core`, just past the longest deadline.
    pub core_ms: i64,
}

/// A deadline of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimedDeadline {
    /// Where the file says it.
    pub name: String,
    /// How long it is.
    pub ms: u64,
}

impl Claim {
    /// What a check of a scenario proves.
    ///
    /// # Errors
    /// Where it proves nothing, why.
    pub fn of(scenario: &Scenario, checked: &Checked) -> Result<Claim, Refused> {
        let expect = scenario.expect.clone().unwrap_or_default();
        if !expect.verdict.is_sound() {
            return Err(Refused::NotAPromise(expect.verdict.to_string()));
        }
        if !scenario.faults.is_empty() {
            return Err(Refused::StatedPlan);
        }
        Refused::unless(&checked.met)?;
        let explored = &checked.explored;
        if !explored.spaces.iter().all(|each| each.exhausted) || explored.plans == 0 {
            return Err(Refused::NotExhausted);
        }
        if explored.sites == 0 {
            return Err(Refused::NoSites);
        }
        let reach = Reach::of(scenario, checked);
        if explored.spaces.iter().any(|each| each.max_faults > 0) && reach.nothing_struck() {
            return Err(Refused::NothingStruck);
        }
        for named in expect.by.iter().filter_map(|text| parse(text)) {
            if !reach.struck(|cell| read_alike(cell, named)) {
                let why = reach.why(named);
                return Err(Refused::NeverReached { cell: named, why });
            }
        }
        let magnitudes = Magnitudes::of(scenario);
        let claimed = Claimed::of(checked);
        Ok(Claim {
            runkey: VERSION.to_owned(),
            scenario: scenario.name.clone(),
            scenario_hash: hash_of(scenario),
            promise: scenario.judge.promise.name().to_owned(),
            never_reached: reach.never_reached(),
            not_covered: not_covered(&claimed, &magnitudes),
            explored: claimed,
            magnitudes: ClaimedMagnitudes::of(&magnitudes),
        })
    }

    /// The spaces, each to its number of faults.
    ///
    /// # Errors
    /// If one of them is none of this version's.
    pub fn depths(&self) -> Result<Vec<(Space, u8)>, CertificateError> {
        let depth = |claimed: &ClaimedSpace| {
            let known = [Space::Core, Space::Full, Space::Beyond].into_iter();
            match { known }.find(|space| space.versioned() == claimed.space) {
                Some(space) => Ok((space, claimed.max_faults)),
                None => Err(CertificateError::Space(claimed.space.clone())),
            }
        };
        self.explored.spaces.iter().map(depth).collect()
    }

    /// The faults to choose from in plans of so many.
    pub(super) fn table(&self, scenario: &Scenario, faults: u8) -> Table {
        let depths = self.depths().unwrap_or_default().into_iter();
        let reaching: Vec<Bounds> = depths
            .filter(|(_, up_to)| *up_to >= faults)
            .map(|(space, _)| Bounds::new(scenario, space))
            .collect();
        let spaces: Vec<&dyn crate::Choices> = reaching.iter().map(|space| space as _).collect();
        Table::of(&spaces)
    }

    /// The largest number of faults.
    pub fn deepest(&self) -> u8 {
        let depths = self.explored.spaces.iter();
        depths.map(|each| each.max_faults).max().unwrap_or(0)
    }
}

/// As certificates write it.
pub(super) fn hash_of(scenario: &Scenario) -> String {
    format!("{:016x}", scenario.hash())
}

impl Claimed {
    fn of(checked: &Checked) -> Self {
        let explored = &checked.explored;
        let spaces = explored.spaces.iter();
        Claimed {
            spaces: spaces
                .map(|each| ClaimedSpace {
                    space: each.space.versioned().to_owned(),
                    max_faults: each.max_faults,
                })
                .collect(),
            seeds: Seeds {
                first: *explored.seeds.start(),
                last: *explored.seeds.end(),
            },
            sites: explored.sites,
            faults: explored.faults,
            plans: explored.plans,
            merged: explored.merged,
            digest: explored.digest.to_string(),
        }
    }
}

impl ClaimedMagnitudes {
    fn of(magnitudes: &Magnitudes) -> Self {
        let deadlines = magnitudes.deadlines.iter();
        ClaimedMagnitudes {
            deadlines: deadlines
                .map(|deadline| ClaimedDeadline {
                    name: deadline.name.to_owned(),
                    ms: deadline.span.ms(),
                })
                .collect(),
            margin_ms: magnitudes.margin.ms(),
            lasting_ms: magnitudes.lasting_ms.clone(),
            core_ms: magnitudes.past_longest_ms,
        }
    }
}

/// What lies outside, in words.
fn not_covered(claimed: &Claimed, magnitudes: &Magnitudes) -> Vec<String> {
    let depths = claimed.spaces.iter();
    let depths: Vec<String> = depths
        .map(|each| format!("{} to {}", each.space, each.max_faults))
        .collect();
    let mut outside = vec![
        format!("more faults at once: explored were {}", depths.join(", ")),
        format!(
            "message timings other than those of seeds {}",
            claimed.seeds
        ),
        format!(
            "outages, pauses and jumps longer than {} ms, and lengths between those listed",
            magnitudes.past_longest_ms
        ),
    ];
    outside.extend(magnitudes.outlived.iter().map(|memory| {
        let (name, span) = (memory.name, memory.span);
        format!("an outage as long as {name} ({span})")
    }));
    outside.push("failovers that lose commits, and purges of what is kept: in no space".to_owned());
    outside.push("what real servers do otherwise than their models".to_owned());
    outside
}
