//! One margin of a scenario, with all that is needed to tell it, and in one sentence.

use super::set_up::count;
use super::summary::faults_of;
use super::{Execution, Spoken};
use evidence::Verdict;
use explore::margin::{Curve, Margin, Of, Stretch};
use scenarios::Scenario;
use scenarios::file::Seeds;
use std::fmt;
use std::time::Duration;

/// A margin of a scenario, ready to be told.
#[derive(Clone, Copy)]
pub struct MarginReport<'a> {
    /// Whose it is.
    pub scenario: &'a Scenario,
    /// Under which message timings.
    pub seeds: Seeds,
    /// What was asked and answered.
    pub margin: &'a Margin,
    /// The value of the example, without its sign, and the example, executed in order to be told.
    pub example: Option<(u64, Execution<'a>)>,
    /// True if it is one of all that the scenario has: a line, not a story.
    pub of_all: bool,
    /// How long it took, if that is to be said.
    pub elapsed: Option<Duration>,
}

/// How many stretches a sentence tells; the points tell all.
const MOST_TOLD: usize = 6;

impl MarginReport<'_> {
    /// Such as `safe to 29.899 s, duplicate from 29.900 s`.
    pub fn sentence(&self) -> String {
        let margin = self.margin;
        let Some(curve) = &margin.curve else {
            return format!(
                "no margin: no execution without faults comes to a site of {}",
                margin.dimension.of
            );
        };
        let stretches = curve.stretches();
        match stretches.as_slice() {
            [] => "no margin: nothing was asked".to_owned(),
            [only] => unchanged(margin, only),
            [_, _] => listed(margin, &stretches),
            _ => format!("not monotone: {}", listed(margin, &stretches)),
        }
    }

    /// Such as `52 values from 0 ms to 6 min, no fault besides, monotone; 83472 plans, seeds
    /// 1..16, in 1.2 s`.
    pub(super) fn asked(&self) -> String {
        let margin = self.margin;
        let values = match &margin.curve {
            Some(curve) if !was_varied(curve) => String::new(),
            None => String::new(),
            Some(curve) => {
                let [from, to] = ends(curve).map(|value| Spoken(margin.signed(value)));
                let monotone = match (curve.is_monotone(), curve.is_unfinished()) {
                    (_, true) => "not monotone, more changes than were looked at",
                    (true, _) => "monotone on this grid",
                    (false, _) => "not monotone",
                };
                let asked = count(curve.points().count() as u64, "value");
                format!("{asked} from {from} to {to}, {monotone}; ")
            }
        };
        let took = match self.elapsed {
            Some(elapsed) => format!(", in {:.1} s", elapsed.as_secs_f64()),
            None => String::new(),
        };
        let (plans, seeds) = (count(margin.plans, "plan"), self.seeds);
        format!(
            "{values}under {}; {plans}, seeds {seeds}{took}",
            self.under()
        )
    }

    /// What goes wrong at each value.
    pub(super) fn under(&self) -> String {
        match &self.margin.dimension.of {
            Of::Fault { .. } => format!("every single {}", self.margin.dimension.of),
            _ => self.margin.under.to_string(),
        }
    }

    /// The faults of the example: where it is worst.
    pub(super) fn worst_at(&self) -> String {
        let Some((_, example)) = &self.example else {
            return String::new();
        };
        let cells = example.plan.faults.iter().map(explore::cell_of);
        let cells: Vec<String> = cells.map(|cell| cell.to_string()).collect();
        match cells.is_empty() {
            true => faults_of(0),
            false => cells.join(", "),
        }
    }
}

/// The least and the greatest value asked.
pub(super) fn ends(curve: &Curve) -> [u64; 2] {
    let first = curve.points().next().map_or(0, |(value, _)| value);
    let last = curve.points().next_back().map_or(0, |(value, _)| value);
    [first, last]
}

/// False where the first value decided: the promise breaks without any fault.
fn was_varied(curve: &Curve) -> bool {
    ends(curve) != [0, 0]
}

fn unchanged(margin: &Margin, only: &Stretch<'_>) -> String {
    let verdict = only.first.verdict.min(only.last.verdict);
    if only.from == 0 && only.to == 0 {
        return format!("no margin: {} without any fault", told(verdict));
    }
    let [from, to] = [only.from, only.to].map(|value| Spoken(margin.signed(value)));
    match only.first.failure || verdict == Verdict::ExactlyOnce {
        true => format!("no margin: {} from {from} to {to}", told(verdict)),
        false => format!(
            "no margin: safe from {from} to {to} (at worst {}, which is no failure here)",
            told(verdict)
        ),
    }
}

fn listed(margin: &Margin, stretches: &[Stretch<'_>]) -> String {
    let last = stretches.len() - 1;
    let mut parts: Vec<String> = stretches
        .iter()
        .take(MOST_TOLD)
        .enumerate()
        .map(|(place, stretch)| {
            let [from, to] = [stretch.from, stretch.to].map(|value| Exact(margin.signed(value)));
            let (worst, span) = match place {
                0 => (stretch.last.verdict, format!("to {to}")),
                _ if place == last => (stretch.first.verdict, format!("from {from}")),
                _ => (
                    stretch.first.verdict.min(stretch.last.verdict),
                    format!("from {from} to {to}"),
                ),
            };
            match stretch.first.failure {
                true => format!("{} {span}", told(worst)),
                false => format!("safe {span}"),
            }
        })
        .collect();
    if stretches.len() > MOST_TOLD {
        let more = (stretches.len() - MOST_TOLD) as u64;
        parts.push(format!("and {} more", count(more, "change")));
    }
    parts.join(", ")
}

fn told(verdict: Verdict) -> String {
    verdict.name().replace('_', " ")
}

/// Milliseconds to the last: `850 ms`, `29.900 s`.
struct Exact(i64);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        match ms {
            0..1_000 => write!(f, "{sign}{ms} ms"),
            _ => write!(f, "{sign}{}.{:03} s", ms / 1_000, ms % 1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use explore::margin::{Answer, Dimension, Under};
    use std::convert::Infallible;

    /// The sentence of a pause that gives these verdicts.
    fn sentence(of: &str, verdict: impl Fn(u64) -> Verdict) -> String {
        let scenario = Scenario::default();
        let dimension = Dimension::parse(of, &scenario).unwrap().pop().unwrap();
        let curve = Curve::of(0..=120_000, &[60_000], |value| {
            Ok::<_, Infallible>(Answer {
                verdict: verdict(value),
                failure: verdict(value) != Verdict::ExactlyOnce,
                instance: None,
                example: None,
            })
        });
        let margin = Margin {
            dimension,
            own_ms: None,
            under: Under::NoFault,
            curve: Some(curve.unwrap()),
            plans: 1,
        };
        let report = MarginReport {
            scenario: &scenario,
            seeds: Seeds::default(),
            margin: &margin,
            example: None,
            of_all: false,
            elapsed: None,
        };
        report.sentence()
    }

    #[test]
    fn both_sides_of_a_change_are_told_to_the_millisecond() {
        let breaks = |value| match value {
            0..29_900 => Verdict::ExactlyOnce,
            29_900..60_000 => Verdict::Lost,
            _ => Verdict::Duplicate,
        };
        assert_eq!(
            sentence("pause", breaks),
            "safe to 29.899 s, lost from 29.900 s"
        );
        let cured = |value| match value {
            0..850 => Verdict::NoProgress,
            _ => Verdict::ExactlyOnce,
        };
        assert_eq!(
            sentence("call_timeout", cured),
            "no progress to 849 ms, safe from 850 ms"
        );
        // The last of the two ways is backwards.
        assert_eq!(
            sentence("clock_step", breaks),
            "safe to -29.899 s, lost from -29.900 s"
        );
    }

    #[test]
    fn what_is_not_monotone_says_so_with_every_stretch() {
        let window = |value| match value {
            20_000..50_000 | 70_000.. => Verdict::Duplicate,
            _ => Verdict::ExactlyOnce,
        };
        assert_eq!(
            sentence("pause", window),
            "not monotone: safe to 19.999 s, duplicate from 20.000 s to 49.999 s, safe from 50.000 s \
             to 69.999 s, duplicate from 70.000 s"
        );
    }

    #[test]
    fn what_never_changes_says_what_it_is_throughout() {
        assert_eq!(
            sentence("pause", |_| Verdict::ExactlyOnce),
            "no margin: exactly once from 0 ms to 2 min"
        );
        assert_eq!(
            sentence("clock_step", |_| Verdict::Stuck),
            "no margin: stuck from 0 ms to -2 min"
        );
    }
}
