//! Limits and contradictions that the types alone do not catch.

use super::document::Document;
use super::{Scenario, ScenarioError};
use crate::spec::FaultKind;
use evidence::Timestamp;
use scheduler::dispatch::Order;
use scheduler::schedules::{Schedule, Timetable};
use scheduler::{Span, steps};

/// The most processes of one role.
const MOST_INSTANCES: u64 = 16;
/// The most timers.
const MOST_TIMERS: usize = 64;
/// The most slots of one timer.
const MOST_SLOTS: u64 = 1000;
/// The most slots of all timers together.
const MOST_SLOTS_IN_ALL: u64 = 4096;
/// The most faults of a plan that is written out.
const MOST_FAULTS: u64 = 16;
/// The most faults that a bound or an expectation speaks of where plans are explored.
const MOST_EXPLORED: u64 = super::MOST_EXPLORED as u64;
/// The most faults that a promise names of those that it survives.
const MOST_NAMED: u64 = 64;
/// The most deliveries that one process takes from a broker ahead of its work.
const MOST_PREFETCHED: u64 = 10_000;
/// The most partitions of a broker.
const MOST_PARTITIONS: u64 = 64;
/// The fastest and slowest clocks, in millionths off.
const MOST_DRIFT_PPM: i32 = 100_000;
/// 1970-01-01 and the end of 2099: what the calendars of all dialects cover.
const EPOCHS: [Timestamp; 2] = [Timestamp(0), Timestamp(4_102_444_799_999)];

pub(super) type Checked = Result<(), ScenarioError>;

/// Refuses what cannot be simulated, with the place and what is allowed.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    tables(document)?;
    texts(document)?;
    numbers(document, scenario)?;
    durations(document, scenario)?;
    super::leading::check(document, scenario)?;
    super::dispatch::check(document, scenario)?;
    super::database::check(document, scenario)?;
    topology(document, scenario)?;
    super::polled::check(document, scenario)?;
    super::broker::check(document, scenario)?;
    timers(document, scenario)?;
    instances(document, scenario)?;
    super::deploy::check(document, scenario)?;
    super::change::check(document, scenario)?;
    beats(document, scenario)?;
    faults(document, scenario)?;
    expectation(document, scenario)
}

/// Serde reads a list as a table whose keys are left out; a file that does so is a mistake.
fn tables(document: &Document<'_>) -> Checked {
    const TABLES: &[&str] = &[
        "identity",
        "topology",
        "dispatch",
        "broker",
        "database",
        "lock",
        "coordinator",
        "recovery",
        "guard",
        "work",
        "downstream",
        "judge",
        "explore",
        "expect",
    ];
    for table in TABLES {
        if document
            .get(table)
            .is_some_and(|value| !value.get_ref().is_table())
        {
            let message = format!("`{table}` is a list; allowed is a table `[{table}]`");
            return Err(document.error(table, message));
        }
    }
    Ok(())
}

/// What is printed as it stands must not steer a terminal or look like other lines of the output.
fn texts(document: &Document<'_>) -> Checked {
    let plain = ["name", "source"].map(str::to_owned);
    let repairs = document.get("repair").map(|repairs| repairs.get_ref());
    let repairs = repairs.and_then(|repairs| repairs.as_array());
    let repairs = 0..repairs.map_or(0, |repairs| repairs.len());
    let plain = plain
        .into_iter()
        .chain(repairs.map(|place| format!("repair.{place}.name")));
    for path in plain {
        if document
            .str(&path)
            .is_some_and(|text| text.contains(char::is_control))
        {
            let key = path.rsplit('.').next().unwrap_or(&path);
            let message =
                format!("`{key}` holds a control character; allowed are printable characters");
            return Err(document.error(&path, message));
        }
    }
    let about = document.str("about").unwrap_or_default();
    // A file may end its lines as Windows does.
    let mut lines = about.split("\r\n").flat_map(|line| line.split('\n'));
    if lines.any(|line| line.contains(char::is_control)) {
        let message =
            "`about` holds a control character; allowed are printable characters and newlines";
        return Err(document.error("about", message));
    }
    Ok(())
}

/// `path` is `value`; allowed are `least` to `most`.
pub(super) fn within(
    document: &Document<'_>,
    path: &str,
    value: u64,
    least: u64,
    most: u64,
) -> Checked {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let key = path.rsplit('.').next().unwrap_or(path);
    let message = format!("{key} is {value}; allowed are {least} to {most}");
    Err(document.error(path, message))
}

/// Work that is accompanied by more ticks than anybody would wait for is a mistake of units.
fn beats(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let (beats, most) = (scenario.beats(), Scenario::MOST_BEATS);
    if beats <= most {
        return Ok(());
    }
    let message = format!(
        "the work of one run takes {} and is accompanied by {beats} renewals and heartbeats; allowed are at most {most}",
        scenario.work.takes
    );
    Err(document.error("work.takes", message))
}

fn numbers(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let topology = &scenario.topology;
    let retry = &scenario.work.retry;
    let explored = u64::from(scenario.explore.faults.unwrap_or_default());
    for (path, value, least, most) in [
        (
            "topology.schedulers",
            u64::from(topology.schedulers),
            1,
            MOST_INSTANCES,
        ),
        (
            "topology.executors",
            u64::from(topology.executors),
            1,
            MOST_INSTANCES,
        ),
        (
            "topology.instances",
            u64::from(topology.instances),
            1,
            MOST_INSTANCES,
        ),
        (
            "topology.workers",
            u64::from(topology.workers),
            1,
            MOST_INSTANCES,
        ),
        (
            "topology.admins",
            u64::from(topology.admins),
            1,
            MOST_INSTANCES,
        ),
        ("topology.retries", u64::from(topology.retries), 0, 100),
        (
            "topology.concurrency",
            u64::from(topology.concurrency),
            1,
            64,
        ),
        (
            "work.retry.max_attempts",
            u64::from(retry.max_attempts),
            1,
            1000,
        ),
        (
            "broker.prefetch",
            u64::from(scenario.broker.prefetch),
            0,
            MOST_PREFETCHED,
        ),
        (
            "broker.partitions",
            u64::from(scenario.broker.partitions),
            0,
            MOST_PARTITIONS,
        ),
        ("explore.faults", explored, 0, MOST_EXPLORED),
        ("fault", scenario.faults.len() as u64, 0, MOST_FAULTS),
        ("repair", scenario.repairs.len() as u64, 0, 64),
        ("tags", scenario.tags.len() as u64, 0, 64),
    ] {
        within(document, path, value, least, most)?;
    }
    if !(EPOCHS[0]..=EPOCHS[1]).contains(&scenario.epoch) {
        let message = format!(
            "epoch is {}; allowed is {} to {}",
            scenario.epoch, EPOCHS[0], EPOCHS[1]
        );
        return Err(document.error("epoch", message));
    }
    Ok(())
}

/// Durations that may not be zero although their type allows it.
fn durations(document: &Document<'_>, scenario: &Scenario) -> Checked {
    for (path, span) in [
        ("work.call_timeout", scenario.work.call_timeout),
        ("dispatch.relay_every", scenario.dispatch.relay_every),
        ("recovery.every", scenario.recovery.every),
        ("topology.poll", scenario.topology.poll),
    ] {
        if span == Span::ZERO {
            let key = path.rsplit('.').next().unwrap_or(path);
            let message = format!("{key} is `0s`; allowed is a duration longer than zero");
            return Err(document.error(path, message));
        }
    }
    if let Some(tolerance) = scenario.judge.tolerance
        && tolerance > Span::MAX.ms()
    {
        return Err(document.error("judge.tolerance", "tolerance is longer than 100 years"));
    }
    Ok(())
}

fn topology(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let kind = scenario.topology.kind;
    let own = kind.counts();
    for key in kind.foreign_keys() {
        let path = format!("topology.{key}");
        if document.get(&path).is_some() {
            let message = format!(
                "`{key}` does not belong to topology {}; allowed is {own}",
                kind.name()
            );
            return Err(document.key_error(&path, message));
        }
    }
    if kind.calls_executors() && scenario.dispatch.order == Order::Outbox {
        let message = "topology routed has no outbox: an admin calls; allowed are \
                       dispatch_then_advance, advance_then_dispatch and one_transaction";
        return Err(document.error("dispatch.order", message));
    }
    Ok(())
}

fn timers(document: &Document<'_>, scenario: &Scenario) -> Checked {
    within(
        document,
        "timer",
        scenario.timers.len() as u64,
        1,
        MOST_TIMERS as u64,
    )?;
    let names = scenario.instance_names();
    let firing = &names[..usize::from(scenario.topology.firing()).min(names.len())];
    let mut slots = 0;
    for (place, timer) in scenario.timers.iter().enumerate() {
        let at = |key: &str| format!("timer.{place}.{key}");
        if scenario.timers[..place]
            .iter()
            .any(|other| other.id == timer.id)
        {
            let message = format!("two timers have the id `{}`; each needs its own", timer.id);
            return Err(document.error(&at("id"), message));
        }
        within(
            document,
            &at("slots"),
            u64::from(timer.slots),
            1,
            MOST_SLOTS,
        )?;
        slots += u64::from(timer.slots) * runs_of_a_slot(scenario);
        if slots > MOST_SLOTS_IN_ALL {
            let message =
                format!("all timers together have {slots} slots; allowed are {MOST_SLOTS_IN_ALL}");
            return Err(document.error(&at("slots"), message));
        }
        within(
            document,
            &at("registrations"),
            u64::from(timer.registrations),
            1,
            16,
        )?;
        for (on, name) in timer.on.iter().enumerate() {
            named(document, &at(&format!("on.{on}")), name, firing)?;
        }
        let id = evidence::TimerId::new(timer.id.as_str());
        Schedule::compile(&timer.schedule, scenario.epoch)
            .and_then(|schedule| {
                Timetable::new(place as u16, &id, &schedule, scenario.epoch, timer.slots)
            })
            .map_err(|error| {
                let field = error.field();
                let path = match field {
                    "id" | "slots" => at(field),
                    _ => at(&format!("schedule.{field}")),
                };
                document.error(&path, error.to_string())
            })?;
    }
    Ok(())
}

/// One a shard, where there are shards.
fn runs_of_a_slot(scenario: &Scenario) -> u64 {
    (scenario.shards_of_timers().len() / scenario.timers.len().max(1)).max(1) as u64
}

pub(super) fn named(
    document: &Document<'_>,
    path: &str,
    name: &str,
    allowed: &[String],
) -> Checked {
    if allowed.iter().any(|one| one == name) {
        return Ok(());
    }
    let message = format!(
        "there is no instance `{name}` here; allowed are {}",
        allowed.join(", ")
    );
    Err(document.error(path, message))
}

fn instances(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let names = scenario.instance_names();
    for (place, instance) in scenario.instances.iter().enumerate() {
        let at = |key: &str| format!("instance.{place}.{key}");
        named(document, &at("name"), &instance.name, &names)?;
        let before = &scenario.instances[..place];
        if before.iter().any(|other| other.name == instance.name) {
            let message = format!("`{}` has two [[instance]] tables", instance.name);
            return Err(document.error(&at("name"), message));
        }
        let drift = instance.clock.drift_ppm;
        if drift.unsigned_abs() > MOST_DRIFT_PPM.unsigned_abs() {
            let message =
                format!("drift_ppm is {drift}; allowed are -{MOST_DRIFT_PPM} to {MOST_DRIFT_PPM}");
            return Err(document.error(&at("clock.drift_ppm"), message));
        }
    }
    Ok(())
}

fn faults(document: &Document<'_>, scenario: &Scenario) -> Checked {
    for (place, fault) in scenario.faults.iter().enumerate() {
        fault.spec(scenario).map_err(|wrong| {
            document.error(&format!("fault.{place}.{}", wrong.key), wrong.message)
        })?;
    }
    if scenario.faults.is_empty() {
        return Ok(());
    }
    for key in ["explore.faults", "explore.space"] {
        if document.get(key).is_some() {
            let message = "a scenario with [[fault]] runs exactly that plan; allowed in [explore] \
                           beside it is `seeds`";
            return Err(document.key_error(key, message));
        }
    }
    Ok(())
}

fn expectation(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let Some(expect) = &scenario.expect else {
        return Ok(());
    };
    let planned = scenario.faults.len();
    let refuse = |key: &str, why: &str| {
        let path = format!("expect.{key}");
        match document.get(&path) {
            Some(_) => Err(document.key_error(&path, format!("`{key}` {why}"))),
            None => Ok(()),
        }
    };
    if expect.verdict.is_sound() {
        for key in ["layer", "faults_needed", "effects", "also"] {
            let verdict = expect.verdict;
            refuse(
                key,
                &format!(
                    "belongs to a failing verdict; with `{verdict}` allowed are `faults` and `by`"
                ),
            )?;
        }
        if planned > 0 {
            refuse(
                "faults",
                "stands beside [[fault]], which is the whole plan; leave it out",
            )?;
        }
    } else {
        refuse(
            "faults",
            "belongs to `exactly_once` and `holds`; a failing verdict has `faults_needed`",
        )?;
        match expect.faults_needed {
            Some(needed) if planned > 0 && usize::from(needed) != planned => {
                let message = format!("faults_needed is {needed}; there are {planned} [[fault]]");
                return Err(document.error("expect.faults_needed", message));
            }
            None if planned == 0 => {
                let message = "a failing verdict needs `faults_needed`, the number of faults with \
                               which it first appears (0: with none)";
                return Err(document.error("expect.verdict", message));
            }
            _ => {}
        }
    }
    for (path, faults) in [
        ("expect.faults", expect.faults),
        ("expect.faults_needed", expect.faults_needed),
    ] {
        within(
            document,
            path,
            u64::from(faults.unwrap_or_default()),
            0,
            match planned {
                0 => MOST_EXPLORED,
                _ => MOST_FAULTS,
            },
        )?;
    }
    let needed = expect.faults_needed.map_or(planned, usize::from) as u64;
    let most = match expect.verdict.is_sound() {
        true => MOST_NAMED,
        false => needed,
    };
    within(document, "expect.by", expect.by.len() as u64, 0, most)?;
    for (place, cell) in expect.by.iter().enumerate() {
        if !is_cell(cell) {
            let message = format!("`{cell}` is no kind@step; allowed is such as crash@broker.ack");
            return Err(document.error(&format!("expect.by.{place}"), message));
        }
    }
    Ok(())
}

fn is_cell(text: &str) -> bool {
    text.split_once('@').is_some_and(|(kind, step)| {
        FaultKind::ALL.iter().any(|known| known.name() == kind) && steps::by_name(step).is_some()
    })
}
