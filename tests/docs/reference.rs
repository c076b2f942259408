//! `docs/scenario.md`: every table and key of a scenario file, from the types that read it.

use crate::files;
use crate::source::{self, Item, Member};
use scenarios::Scenario;
use scenarios::file::{
    BrokerProfile, BrokerTable, ClockTable, CoordinatorTable, DatabaseTable, DownstreamTable,
    ExpectTable, ExploreTable, IdentityTable, InstanceTable, LockTable, TimerTable, Topology,
};
use scenarios::spec::{FaultKind, Phase, faults};
use scheduler::dispatch::{ClaimConfig, DispatchConfig};
use scheduler::effects::ProtectionConfig;
use scheduler::guards::GuardConfig;
use scheduler::recovery::RecoveryConfig;
use scheduler::work::{RetryConfig, WorkConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Write;

const PAGE: &str = "docs/scenario.md";

/// What stands above it is written by hand.
const MARKER: &str =
    "<!-- From here on generated: RUNKEY_BLESS=1 cargo test --test docs writes it. -->\n";

const FILE: &str = "scenarios/src/file";
const PIPELINE: &str = "scheduler/src";

#[test]
fn the_reference_of_the_scenario_file_is_what_the_types_say() {
    let page = files::read(PAGE);
    let (by_hand, _) = page
        .split_once(MARKER)
        .expect("the marker above the generated part");
    files::hold(PAGE, &format!("{by_hand}{MARKER}\n{}", generated()));
}

fn generated() -> String {
    let mut page = Page(String::new());
    page.heading(2, "At the top");
    page.keys(&format!("{FILE}/mod.rs"), "Scenario", &top());
    page.heading(2, "`[identity]`");
    page.keys(
        &format!("{FILE}/identity.rs"),
        "IdentityTable",
        &defaults(IdentityTable::default()),
    );
    page.heading(2, "`[[timer]]`");
    page.keys(
        &format!("{FILE}/timer.rs"),
        "TimerTable",
        &defaults(TimerTable::default()),
    );
    page.schedules();
    page.heading(2, "`[topology]`");
    page.keys(
        &format!("{FILE}/topology.rs"),
        "Topology",
        &defaults(Topology::default()),
    );
    page.heading(2, "`[[instance]]`");
    page.text(
        "Conditions of one process: they hold from the start and are never counted as faults.",
    );
    page.keys(
        &format!("{FILE}/instance.rs"),
        "InstanceTable",
        &defaults(InstanceTable::default()),
    );
    page.heading(3, "`clock = { .. }`");
    page.keys(
        &format!("{FILE}/instance.rs"),
        "ClockTable",
        &defaults(ClockTable::default()),
    );
    page.heading(2, "`[dispatch]`");
    page.keys(
        &format!("{PIPELINE}/dispatch/mod.rs"),
        "DispatchConfig",
        &defaults(DispatchConfig::default()),
    );
    let claims = words("dispatch/mod.rs", "ClaimConfig");
    page.kinds::<ClaimConfig>("dispatch", claims, |kind| {
        format!("claim = {{ kind = \"{kind}\" }}")
    });
    page.heading(2, "`[broker]`");
    page.keys(
        &format!("{FILE}/broker.rs"),
        "BrokerTable",
        &defaults(BrokerTable::default()),
    );
    page.heading(2, "`[database]`");
    page.keys(
        &format!("{FILE}/database.rs"),
        "DatabaseTable",
        &defaults(DatabaseTable::default()),
    );
    page.heading(2, "`[lock]`");
    page.keys(
        &format!("{FILE}/lock.rs"),
        "LockTable",
        &defaults(LockTable::default()),
    );
    page.heading(2, "`[coordinator]`");
    page.text("Without the table there is no coordinator.");
    page.keys(
        &format!("{FILE}/coordinator.rs"),
        "CoordinatorTable",
        &defaults(CoordinatorTable::default()),
    );
    page.heading(2, "`[recovery]`");
    page.text("Works with guards that keep a record with a lease (`state_machine`).");
    page.keys(
        &format!("{PIPELINE}/recovery.rs"),
        "RecoveryConfig",
        &defaults(RecoveryConfig::default()),
    );
    page.heading(2, "`[guard]`");
    page.text(
        "`kind` says which; default `\"none\"`. Each guard is one file of `scheduler/src/guards`.",
    );
    let guards = GuardConfig::all();
    let guards = guards.iter().map(|guard| guard.name().to_owned());
    page.kinds::<GuardConfig>("guards", guards, |kind| format!("kind = \"{kind}\""));
    page.heading(2, "`[work]`");
    page.keys(
        &format!("{PIPELINE}/work.rs"),
        "WorkConfig",
        &defaults(WorkConfig::default()),
    );
    page.heading(3, "`[work.retry]`");
    page.keys(
        &format!("{PIPELINE}/work.rs"),
        "RetryConfig",
        &defaults(RetryConfig::default()),
    );
    page.heading(2, "`[downstream]`");
    page.keys(
        &format!("{FILE}/downstream.rs"),
        "DownstreamTable",
        &defaults(DownstreamTable::default()),
    );
    let protections = words("effects/config.rs", "ProtectionConfig");
    page.kinds::<ProtectionConfig>("effects", protections, |kind| {
        format!("protection = {{ kind = \"{kind}\" }}")
    });
    page.heading(2, "`[judge]`");
    page.keys(
        "evidence/src/judge/judging.rs",
        "Judging",
        &defaults(evidence::Judging::default()),
    );
    page.heading(2, "`[[fault]]`");
    page.text("A plan written by hand: with it a check runs the empty plan and exactly this one.");
    page.keys(&format!("{FILE}/fault.rs"), "FaultTable", &Map::new());
    page.heading(3, "`at = { .. }`");
    page.keys(
        &format!("{FILE}/fault.rs"),
        "FaultPlace",
        &Map::from_iter([("occurrence".to_owned(), 1.into())]),
    );
    page.faults();
    page.steps();
    page.heading(2, "`[explore]`");
    page.keys(
        &format!("{FILE}/explore.rs"),
        "ExploreTable",
        &defaults(ExploreTable::default()),
    );
    page.heading(2, "`[expect]`");
    page.keys(
        &format!("{FILE}/expect.rs"),
        "ExpectTable",
        &defaults(ExpectTable::default()),
    );
    page.verdicts();
    page.heading(2, "`[[repair]]`");
    page.keys(&format!("{FILE}/repair.rs"), "RepairTable", &Map::new());
    page.dependent_defaults();
    page.limits();
    page.0.trim_end().to_owned() + "\n"
}

/// The values of a default, by key.
fn defaults(table: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(table).unwrap() {
        Value::Object(fields) => fields,
        other => panic!("{other} is no table"),
    }
}

/// Of the keys at the top only these are no tables of their own.
fn top() -> Map<String, Value> {
    let all = defaults(Scenario::default());
    let own = ["epoch", "horizon"];
    let own = own.map(|key| (key.to_owned(), all[key].clone()));
    own.into_iter().collect()
}

/// The variants of an enum as a scenario file writes them.
fn words(file: &str, name: &str) -> Vec<String> {
    let item = source::find(&format!("{PIPELINE}/{file}"), name).unwrap();
    let words = item.members.iter().map(|variant| item.word(variant));
    words.collect()
}

struct Page(String);

impl Page {
    fn heading(&mut self, level: usize, text: &str) {
        writeln!(self.0, "{} {text}\n", "#".repeat(level)).unwrap();
    }

    fn text(&mut self, text: &str) {
        writeln!(self.0, "{text}\n").unwrap();
    }

    fn rows(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        writeln!(self.0, "| {} |", head.join(" | ")).unwrap();
        writeln!(self.0, "|{}", "---|".repeat(head.len())).unwrap();
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            writeln!(self.0, "| {} |", cells.join(" | ")).unwrap();
        }
        self.0.push('\n');
    }

    /// A table of the fields of a struct.
    fn keys(&mut self, path: &str, name: &str, defaults: &Map<String, Value>) {
        let item = source::find(path, name).unwrap_or_else(|| panic!("{path} has no {name}"));
        let fields = item.members.iter().filter(|field| !field.is_skipped());
        let rows: Vec<Vec<String>> = fields
            .map(|field| {
                let key = field.key();
                let default = defaults.get(&key).map_or_else(String::new, written);
                vec![format!("`{key}`"), values(field), default, meaning(field)]
            })
            .collect();
        match rows.is_empty() {
            true => self.text("No keys of its own."),
            false => self.rows(&["key", "value", "default", "meaning"], rows),
        }
    }

    /// One section for each of the words that `kind` chooses from, each with a file of its own
    /// that says what it promises and where it breaks.
    fn kinds<T: Serialize + DeserializeOwned>(
        &mut self,
        folder: &str,
        kinds: impl IntoIterator<Item = String>,
        title: impl Fn(&str) -> String,
    ) {
        let folder = format!("{PIPELINE}/{folder}");
        for kind in kinds {
            self.heading(3, &format!("`{}`", title(&kind)));
            let path = format!("{folder}/{kind}.rs");
            self.text(&source::module(&path));
            let config: T = toml::from_str(&format!("kind = '{kind}'")).unwrap();
            let mut fields = defaults(config);
            fields.remove("kind");
            let config = source_of_config(&path);
            if let Some(config) = config.filter(|_| has_fields(&path)) {
                self.keys(&path, &config, &fields);
            }
        }
    }

    fn schedules(&mut self) {
        self.heading(3, "`schedule = { .. }`");
        self.text("Exactly one of these:");
        let path = format!("{PIPELINE}/schedules/config.rs");
        let item = source::find(&path, "ScheduleConfig").unwrap();
        let rows = item.members.iter().map(|variant| {
            let fields = variant.fields.iter();
            let keys: Vec<String> = fields
                .map(|field| format!("`{}`: {}", field.key(), field.about))
                .collect();
            vec![variant.about.clone(), keys.join(" ")]
        });
        self.rows(&["schedule", "keys"], rows);
    }

    fn faults(&mut self) {
        self.heading(3, "Kinds of faults");
        self.text(
            "`for` goes with `pause`, `delay` and `partition`, `by` with `clock_step`, `lose` with the three failovers. Each kind is \
             one file of `scenarios/src/spec/faults`, and `scenarios/src/spec/applies.rs` is the \
             table of where each applies. Kinds in space `core` are marked.",
        );
        let rows = FaultKind::ALL.into_iter().map(|kind| {
            let about = faults::of(kind);
            let direction = match kind {
                FaultKind::PartitionToServer => ", direction `to_server`",
                FaultKind::PartitionFromServer => ", direction `from_server`",
                _ => "",
            };
            let core = if about.core.is_empty() { "" } else { "core" };
            let phases = |places: &[(faults::Scope, Phase)]| {
                let phases = Phase::ALL.into_iter();
                let phases = phases.filter(|phase| places.iter().any(|(_, at)| at == phase));
                let named: Vec<String> =
                    phases.map(|phase| format!("`{}`", phase.name())).collect();
                named.join(", ")
            };
            vec![
                format!("`{}`{direction}", kind.name()),
                about.what.to_owned(),
                phases(about.places),
                core.to_owned(),
                about.source.to_owned(),
            ]
        });
        self.rows(
            &["kind", "what happens", "phases", "core", "where from"],
            rows,
        );
    }

    fn steps(&mut self) {
        self.heading(3, "Steps");
        self.text("The numbers are part of tokens and of history hashes and never change.");
        let text = files::read(&format!("{PIPELINE}/steps.rs"));
        let about = |name: &str| {
            let declared = text
                .lines()
                .position(|line| line.contains(&format!("\"{name}\"")));
            let above = declared.and_then(|line| text.lines().nth(line - 1));
            above
                .unwrap_or_default()
                .trim()
                .trim_start_matches("/// ")
                .to_owned()
        };
        let rows = scheduler::steps::ALL.iter().map(|step| {
            vec![
                step.number.to_string(),
                format!("`{}`", step.name),
                step.layer.to_string(),
                about(step.name),
            ]
        });
        self.rows(&["number", "step", "layer", "what happens"], rows);
    }

    fn verdicts(&mut self) {
        self.heading(3, "Verdicts");
        self.text("Worst first. All before `stale_effect` break the promise `exactly_once`.");
        let item = source::find("evidence/src/verdict.rs", "Verdict").unwrap();
        let members = item.members.iter();
        let rows = members.map(|one| vec![format!("`{}`", item.word(one)), one.about.clone()]);
        self.rows(&["verdict", "meaning"], rows);
    }

    fn dependent_defaults(&mut self) {
        self.heading(2, "Defaults that depend on another key");
        let other = |text: &str| defaults(Scenario::parse(text, "page.toml").unwrap());
        let cases = [
            ("", "topology.kind = \"local\""),
            ("", "guard.kind = \"process_mutex\""),
            (
                "topology.kind = \"local\"\n",
                "guard.kind = \"process_mutex\"",
            ),
        ];
        let profiles = BrokerProfile::ALL.map(|profile| {
            let key = format!("broker.profile = \"{}\"", profile.name());
            (String::new(), key)
        });
        let cases = cases
            .map(|(beside, key)| (beside.to_owned(), key.to_owned()))
            .into_iter();
        let mariadb = "database.profile = \"mariadb\"";
        let rows = cases
            .chain(profiles.into_iter().skip(1))
            .chain([(String::new(), mariadb.to_owned())])
            .map(|(beside, key)| {
                let mut changed = Vec::new();
                let (with, without) = (other(&format!("{beside}{key}")), other(&beside));
                differences(&with.into(), &without.into(), "", &mut changed);
                let named = key.split(" = ").next().unwrap_or(&key);
                let changed = changed.into_iter();
                let changed = changed.filter(|(path, _)| path != named && path != "guard.kind");
                let changed: Vec<String> = changed
                    .map(|(path, value)| format!("`{path}`: {}", written(&value)))
                    .collect();
                let with = format!("`{}{key}`", beside.replace('\n', "`, `"));
                vec![with, changed.join(", ")]
            });
        self.rows(&["with", "the default is"], rows);
        self.text("`lock_row` and `redis_lock` have the same `busy` as `process_mutex`.");
    }

    fn limits(&mut self) {
        self.heading(2, "Limits");
        let rows = source::numbers(&format!("{FILE}/check.rs")).into_iter();
        self.rows(
            &["limit", "is"],
            rows.map(|(about, number)| vec![about, number]),
        );
    }
}

/// The name of the struct that a file of a kind configures it with.
fn source_of_config(path: &str) -> Option<String> {
    let text = files::read(path);
    let line = text
        .lines()
        .find(|line| line.starts_with("pub struct ") && line.contains("Config {"))?;
    Some(line.split([' ', '{']).nth(2)?.to_owned())
}

fn has_fields(path: &str) -> bool {
    let config = source_of_config(path).and_then(|name| source::find(path, &name));
    config.is_some_and(|config| !config.members.is_empty())
}

/// What has another value in `one` than in `other`, by dotted path.
fn differences(one: &Value, other: &Value, path: &str, into: &mut Vec<(String, Value)>) {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            for (key, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{key}");
                differences(value, others.get(key).unwrap_or(&Value::Null), &path, into);
            }
        }
        _ if one != other => into.push((path.to_owned(), one.clone())),
        _ => {}
    }
}

/// A value as TOML has it.
fn written(value: &Value) -> String {
    fn plain(value: &Value) -> String {
        match value {
            Value::Object(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key} = {}", plain(value)))
                    .collect();
                format!("{{ {} }}", fields.join(", "))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(plain).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
    format!("`{}`", plain(value))
}

/// What a field may hold.
fn values(field: &Member) -> String {
    if field.key() == "tolerance" {
        return "duration".to_owned();
    }
    let of = field.of.trim_start_matches("Option<").trim_end_matches('>');
    let word = |text: &str| text.to_owned();
    match of {
        "Span" => word("duration"),
        "SignedSpan" => word("duration, with or without a sign"),
        "Switchable" => word("duration or `\"off\"`"),
        "bool" => word("`true`, `false`"),
        "u8" | "u16" | "u32" | "u64" => word("whole number"),
        "i32" => word("whole number, with or without a sign"),
        "String" => word("text"),
        "Timestamp" => word("UTC such as `\"2026-01-01T00:00:00Z\"`"),
        "Horizon" => word("`\"auto\"` or duration after the last slot and the last fault"),
        "MaxDeliver" => word("`\"unlimited\"` or whole number, at least 1"),
        "AckFencing" => word("`false` (off), `true` (token), `\"latest\"`"),
        "Seeds" => word("`\"1..16\"`, both ends included"),
        "StepName" => word("a step, see below"),
        "FaultName" => word("a kind, see below"),
        "ExpectedVerdict" => word("`\"holds\"` or a verdict, see below"),
        "toml::Table" => word("table"),
        _ if of.starts_with("Vec<") => list(of),
        _ => match enumeration(of) {
            Some(item) if item.is_words() => {
                let words = item.members.iter();
                let words: Vec<String> = words
                    .map(|one| format!("`\"{}\"`", item.word(one)))
                    .collect();
                words.join(", ")
            }
            _ => word("table, see below"),
        },
    }
}

fn list(of: &str) -> String {
    let of = of.trim_start_matches("Vec<").trim_end_matches('>');
    match of {
        "String" => "list of texts".to_owned(),
        "Span" => "list of durations".to_owned(),
        "Verdict" => "list of verdicts, see below".to_owned(),
        "FailureClass" => {
            let item = enumeration(of).unwrap();
            let words: Vec<String> = item
                .members
                .iter()
                .map(|one| format!("`\"{}\"`", item.word(one)))
                .collect();
            format!("list of {}", words.join(", "))
        }
        _ => "tables, see below".to_owned(),
    }
}

/// What a field means, and each word that it may hold.
fn meaning(field: &Member) -> String {
    let of = field
        .of
        .trim_start_matches("Option<")
        .trim_start_matches("Vec<");
    let of = of.trim_end_matches('>');
    let mut meaning = field.about.clone();
    // Faults and verdicts have tables of their own.
    let words =
        enumeration(of).filter(|item| item.is_words() && !matches!(of, "FaultName" | "Verdict"));
    for (item, one) in words
        .iter()
        .flat_map(|item| item.members.iter().map(move |one| (item, one)))
    {
        write!(meaning, " `{}`: {}", item.word(one), one.about).unwrap();
    }
    meaning
}

/// The enum with this name, wherever it is.
fn enumeration(name: &str) -> Option<Item> {
    let folders = [FILE, "scenarios/src/spec", PIPELINE, "evidence/src"];
    let paths = folders
        .into_iter()
        .flat_map(|folder| files::below(folder, ".rs"));
    let declared = format!("pub enum {name} {{");
    let mut paths = paths.filter(|path| files::read(path).lines().any(|line| line == declared));
    source::find(&paths.next()?, name)
}
