//! A check in words: what was explored, what was expected, what comes after.

use super::set_up::count;
use super::{BeyondReport, CheckReport, Execution};
use evidence::Verdict;
use explore::certificate::Claim;
use explore::{Met, NextLevel, Unmet};
use scenarios::file::ExpectedVerdict;

/// `EXACTLY ONCE`.
pub(super) fn loud(verdict: Verdict) -> String {
    verdict.name().replace('_', " ").to_uppercase()
}

/// `2 faults (core/1) and 1 fault (full/1)`.
pub(super) fn bounds(report: &CheckReport<'_>) -> String {
    let spaces = &report.checked.explored.spaces;
    if spaces.is_empty() {
        return "the empty plan and the one stated".to_owned();
    }
    if deepest(report) == 0 {
        return faults_of(0);
    }
    let each: Vec<String> = spaces
        .iter()
        .map(|each| format!("{} ({})", count(each.max_faults, "fault"), each.space))
        .collect();
    each.join(" and ")
}

/// The largest number of faults explored.
pub(super) fn deepest(report: &CheckReport<'_>) -> u8 {
    let spaces = report.checked.explored.spaces.iter();
    spaces.map(|each| each.max_faults).max().unwrap_or(0)
}

/// Such as `1 fault (core/1), 90 sites, 180 plans, seeds 1..16, in 0.1 s`.
pub(super) fn explored(report: &CheckReport<'_>) -> String {
    let explored = &report.checked.explored;
    let sites = match explored.spaces.is_empty() {
        true => String::new(),
        false => format!(", {}", count(explored.sites, "site")),
    };
    let sound = report.example.is_none() && !explored.spaces.is_empty();
    let exhausted = match sound && explored.spaces.iter().all(|each| each.exhausted) {
        true => ", exhausted",
        false => "",
    };
    let seeds = match (explored.seeds.start(), explored.seeds.end()) {
        (first, last) if first == last => format!("seed {first}"),
        (first, last) => format!("seeds {first}..{last}"),
    };
    let took = match report.elapsed {
        Some(elapsed) => format!(", in {:.1} s", elapsed.as_secs_f64()),
        None => String::new(),
    };
    let merged = match explored.merged {
        0 => String::new(),
        merged => format!(" ({merged} more merged)"),
    };
    format!(
        "{}{exhausted}{sites}, {}{merged}, {seeds}{took}",
        bounds(report),
        count(explored.plans, "plan")
    )
}

/// Why the expectation is not met, or not known to be.
pub(super) fn reason(report: &CheckReport<'_>) -> Option<String> {
    let expected = expectation(report);
    match &report.checked.met {
        Met::Yes => None,
        Met::No(Unmet::Breaks { faults, .. }) => {
            let level = report
                .checked
                .levels
                .iter()
                .find(|level| level.faults == *faults)?;
            let verdicts: Vec<String> = level
                .failing_verdicts
                .iter()
                .map(|(verdict, number)| format!("{number} {verdict}"))
                .collect();
            Some(format!(
                "expected {expected}; of {} with {} {}",
                count(level.plans, "plan"),
                faults_of(usize::from(*faults)),
                verdicts.join(", ")
            ))
        }
        Met::No(unmet) => Some(format!("expected {expected}; {unmet}")),
        Met::Inconclusive(doubt) => Some(format!("expected {expected}; {doubt}")),
    }
}

/// What the scenario states, such as `duplicate at layer delivery with 1 fault`.
fn expectation(report: &CheckReport<'_>) -> String {
    let Some(expect) = &report.scenario.expect else {
        return ExpectedVerdict::default().to_string();
    };
    let mut text = expect.verdict.to_string();
    if let Some(layer) = expect.layer {
        text.push_str(&format!(" at layer {layer}"));
    }
    if let Some(faults) = expect.faults_needed {
        text.push_str(&format!(" with {}", faults_of(usize::from(faults))));
    }
    if !expect.by.is_empty() {
        text.push_str(&format!(" by {}", expect.by.join(", ")));
    }
    text
}

/// `no fault`, `1 fault`, `2 faults`.
pub(super) fn faults_of(number: usize) -> String {
    match number {
        0 => "no fault".to_owned(),
        _ => count(number as u64, "fault"),
    }
}

/// What comes after the last fault that the promise was expected to survive.
pub(super) fn beyond(next: &NextLevel) -> Option<String> {
    let NextLevel::Ran(level) = next else {
        return None;
    };
    let faults = count(level.faults, "fault");
    let plans = count(level.plans, "plan");
    Some(match &level.first_failing {
        _ if level.cut.is_some() => format!("{faults}: not run to the end"),
        None => format!("{faults}: all {plans} hold as well"),
        Some(example) => {
            let cells: Vec<String> = example.cells().map(|cell| cell.to_string()).collect();
            format!(
                "{faults}: {} of {plans} break it, the first with {} ({})",
                level.failing,
                loud(example.verdict()),
                cells.join(", ")
            )
        }
    })
}

/// Where a certificate is, and what it admits.
pub(super) fn sealed(path: &str, claim: &Claim) -> String {
    let cells = claim.never_reached.iter().map(|one| one.kinds.len());
    let cells: usize = cells.sum();
    format!("{path}, which lists {cells} kind@step that no plan reached, and why")
}

/// Such as `3 to 6 faults at random: 12000 plans, 2 ways to fail`.
pub(super) fn swarmed(beyond: &BeyondReport<'_>) -> String {
    let (least, most) = (beyond.faults.start(), beyond.faults.end());
    let plans = count(beyond.plans, "plan");
    let found = match beyond.finds.len() {
        0 => "nothing more found".to_owned(),
        ways => format!("found, and not judged: {}", count(ways as u64, "way")) + " to fail",
    };
    format!("{least} to {most} faults at random: {plans}, {found}")
}

/// Such as `DUPLICATE at layer delivery, 3 faults (crash@work, ..): runkey replay rk1-..`.
pub(super) fn found(find: &Execution<'_>) -> String {
    let judgement = find.judgement;
    let layer = match &judgement.layer {
        Some(layer) => format!(" at layer {layer}"),
        None => String::new(),
    };
    let cells: Vec<String> = find
        .plan
        .faults
        .iter()
        .map(|fault| explore::cell_of(fault).to_string())
        .collect();
    let replay = match find.replay() {
        Some(command) => format!(": {command}"),
        None => String::new(),
    };
    format!(
        "{}{layer}, {} ({}){replay}",
        loud(judgement.verdict),
        faults_of(find.plan.faults.len()),
        cells.join(", "),
    )
}
