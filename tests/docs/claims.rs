//! `docs/claims.md` and `docs/incidents.md`: what the articles claim and what was reported, and the
//! scenarios that show it, from the catalogue's `source`.

use crate::files;
use scenarios::catalogue;
use scenarios::file::ExpectTable;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const PAGE: &str = "docs/claims.md";
const INCIDENTS: &str = "docs/incidents.md";

/// What stands above it is written by hand.
const MARKER: &str =
    "<!-- From here on generated: RUNKEY_BLESS=1 cargo test --test docs writes it. -->\n";

/// The claims that have no scenario yet. Exactly these: one that gets a scenario leaves the list.
const WITHOUT_SCENARIO: &[&str] = &[];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    claim: Vec<Claim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    id: String,
    says: String,
    of: Of,
    answer: String,
}

/// What a claim says of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Of {
    /// Something goes wrong.
    Harm,
    /// Something is right.
    Safety,
}

/// A scenario that names its sources.
struct Shown {
    name: &'static str,
    path: String,
    sources: Vec<String>,
    expect: ExpectTable,
    /// The name of each change, and what is true with it.
    repairs: Vec<(String, ExpectTable)>,
}

impl Shown {
    fn fails(&self) -> bool {
        let mut repairs = self.repairs.iter();
        !self.expect.verdict.is_sound() || repairs.any(|(_, after)| !after.verdict.is_sound())
    }

    fn is_sound(&self) -> bool {
        let mut repairs = self.repairs.iter();
        self.expect.verdict.is_sound() || repairs.any(|(_, after)| after.verdict.is_sound())
    }

    fn link(&self) -> String {
        format!("[{}](../scenarios/catalogue/{})", self.name, self.path)
    }
}

fn claims() -> Vec<Claim> {
    let read: Claims = toml::from_str(&files::read("docs/claims.toml")).unwrap();
    read.claim
}

fn shown() -> Vec<Shown> {
    let entries = catalogue::all().into_iter();
    entries
        .map(|entry| {
            let scenario = entry.scenario().unwrap();
            let source = scenario.source.unwrap();
            Shown {
                name: entry.name,
                path: entry.path.to_owned(),
                sources: source.split(", ").map(str::to_owned).collect(),
                expect: scenario.expect.unwrap_or_default(),
                repairs: (scenario.repairs.into_iter())
                    .map(|repair| (repair.name, repair.expect.unwrap_or_default()))
                    .collect(),
            }
        })
        .collect()
}

fn naming<'s>(shown: &'s [Shown], id: &'s str) -> impl Iterator<Item = &'s Shown> {
    let shown = shown.iter();
    shown.filter(move |scenario| scenario.sources.iter().any(|source| source == id))
}

/// `duplicate at delivery, 1 fault`, `exactly_once`, `exactly_once without faults`.
fn told(expect: &ExpectTable) -> String {
    let verdict = expect.verdict.name();
    let faults = |faults: u8| match faults {
        0 => "without any fault".to_owned(),
        1 => "1 fault".to_owned(),
        _ => format!("{faults} faults"),
    };
    match (expect.verdict.is_sound(), expect.faults) {
        (true, None) => verdict.to_owned(),
        (true, Some(0)) => format!("{verdict} as long as nothing goes wrong"),
        (true, Some(most)) => format!("{verdict} to {}", faults(most)),
        (false, _) => {
            let layer = expect
                .layer
                .map_or_else(String::new, |layer| format!(" at {layer}"));
            let needed = expect
                .faults_needed
                .map_or_else(String::new, |needed| format!(", {}", faults(needed)));
            format!("{verdict}{layer}{needed}")
        }
    }
}

fn generated(page: &str, table: &str) {
    let text = files::read(page);
    let (by_hand, _) = text
        .split_once(MARKER)
        .expect("the marker above the generated part");
    files::hold(page, &format!("{by_hand}{MARKER}\n{table}"));
}

#[test]
fn every_claim_stands_beside_the_scenarios_that_show_it() {
    let shown = shown();
    let mut table = String::from("| id | claim | answer | scenarios |\n|---|---|---|---|\n");
    for claim in claims() {
        let scenarios: Vec<String> = naming(&shown, &claim.id)
            .map(|scenario| format!("{}: {}", scenario.link(), told(&scenario.expect)))
            .collect();
        let scenarios = match scenarios.is_empty() {
            true => "no scenario yet".to_owned(),
            false => scenarios.join("<br>"),
        };
        let (id, says, answer) = (&claim.id, &claim.says, &claim.answer);
        writeln!(table, "| {id} | {says} | {answer} | {scenarios} |").unwrap();
    }
    generated(PAGE, &table);
}

#[test]
fn every_claim_has_a_scenario_but_those_that_are_known_to_wait() {
    let shown = shown();
    let claims = claims();
    let without: Vec<&str> = (claims.iter())
        .filter(|claim| naming(&shown, &claim.id).next().is_none())
        .map(|claim| claim.id.as_str())
        .collect();
    assert_eq!(without, WITHOUT_SCENARIO);
}

#[test]
fn a_scenario_names_claims_and_incidents_that_there_are() {
    let claims: BTreeSet<String> = claims().into_iter().map(|claim| claim.id).collect();
    assert_eq!(claims.len(), 48);
    for scenario in shown() {
        for source in &scenario.sources {
            let known = is_incident(source) || claims.contains(source);
            assert!(known, "{} names {source}", scenario.name);
        }
    }
}

#[test]
fn every_answer_is_borne_out_by_the_scenarios_that_name_the_claim() {
    let shown = shown();
    let mut wrong = Vec::new();
    for claim in claims() {
        let (fails, sound) = evidence_needed(&claim);
        let scenarios: Vec<&Shown> = naming(&shown, &claim.id).collect();
        if scenarios.is_empty() {
            continue;
        }
        if fails && !scenarios.iter().any(|scenario| scenario.fails()) {
            wrong.push(format!("{}: no scenario of it fails", claim.id));
        }
        if sound && !scenarios.iter().any(|scenario| scenario.is_sound()) {
            wrong.push(format!("{}: no scenario of it is sound", claim.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a scenario that fails, and one that is sound, has to name the claim.
fn evidence_needed(claim: &Claim) -> (bool, bool) {
    let begins = |word: &str| claim.answer.starts_with(word);
    match claim.of {
        _ if begins("holds only if ") => (true, true),
        Of::Harm if begins("holds: ") => (true, false),
        Of::Safety if begins("holds: ") => (false, true),
        Of::Harm if begins("does not hold: ") => (false, true),
        Of::Safety if begins("does not hold: ") => (true, false),
        _ => panic!("{}: the answer begins with no word that is known", claim.id),
    }
}

fn is_incident(source: &str) -> bool {
    let number = source.strip_prefix('B');
    number.is_some_and(|number| number.len() >= 2 && number.parse::<u16>().is_ok())
}

#[test]
fn every_incident_that_a_scenario_names_stands_with_what_happens_before_and_after() {
    let shown = shown();
    let mut incidents: BTreeMap<u16, Vec<&Shown>> = BTreeMap::new();
    for scenario in &shown {
        for source in scenario.sources.iter().filter(|source| is_incident(source)) {
            incidents
                .entry(source[1..].parse().unwrap())
                .or_default()
                .push(scenario);
        }
    }
    let mut table =
        String::from("| incident | scenario | as it was | changed |\n|---|---|---|---|\n");
    for (number, scenarios) in incidents {
        for scenario in scenarios {
            let after: Vec<String> = (scenario.repairs.iter())
                .map(|(name, after)| format!("{name}: {}", told(after)))
                .collect();
            let (link, before) = (scenario.link(), told(&scenario.expect));
            writeln!(
                table,
                "| B{number:02} | {link} | {before} | {} |",
                after.join("<br>")
            )
            .unwrap();
        }
    }
    generated(INCIDENTS, &table);
}
