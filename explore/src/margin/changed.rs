//! The margin of a setting or a condition: the scenario with another value in its place.

use super::{Answer, Asked, BEYOND, Curve, Dimension, Margin, MarginError, Of, Way};
use super::{longest_wait, marks, under};
use scenarios::Scenario;
use scenarios::file::{Condition, SignedSpan};
use scenarios::spec::applies::StepFacts;
use scheduler::{Span, steps};

/// Renewals and heartbeats in the work of one run, at most: each is a call of every execution, and
/// nobody has as many. What the scenario itself has is always allowed.
const MOST_BEATS: u64 = 200;

/// Conditions are asked up to so many times the longest wait. An execution ends four times the
/// longest wait after its last slot, and what a process does that comes late has to fit in before.
const LATE: u64 = 2;

/// How a value changes a scenario.
pub(super) struct Changed<'a> {
    pub of: &'a Of,
    pub way: Way,
}

impl Changed<'_> {
    /// The scenario with the value in place; `instance` has the condition where none is named.
    pub fn scenario(
        &self,
        scenario: &Scenario,
        value: u64,
        instance: Option<&str>,
    ) -> Result<Scenario, MarginError> {
        match self.of {
            Of::Fault { .. } => Ok(scenario.clone()),
            Of::Setting(path) => Ok(scenario.with_setting(path, Span::millis(value))?),
            Of::Condition {
                condition,
                instance: named,
            } => {
                let Some(name) = named.as_deref().or(instance) else {
                    return Ok(scenario.clone());
                };
                let ms = self.way.sign() * Span::millis(value).as_i64();
                let span = SignedSpan::millis(ms);
                Ok(scenario.with_condition(*condition, name, span))
            }
        }
    }

    /// What the scenario says itself, in ms with its sign.
    fn own_ms(&self, scenario: &Scenario) -> Option<i64> {
        match self.of {
            Of::Fault { .. } => None,
            Of::Setting(path) => {
                let settings = scenario.settings().into_iter();
                let mut own = settings.filter(|setting| setting.path == *path);
                own.next().map(|setting| setting.span.as_i64())
            }
            Of::Condition {
                condition,
                instance,
            } => {
                let name = instance.as_deref()?;
                Some(scenario.condition(*condition, name).ms())
            }
        }
    }

    /// The processes that can have the condition, one at a time; one without a name where one is
    /// named, or the value is of no process.
    ///
    /// A process that runs no timers is not woken by one, and its clock is read by the guard or by
    /// nobody.
    fn places(&self, scenario: &Scenario) -> Vec<Option<String>> {
        let Of::Condition {
            condition,
            instance: None,
        } = self.of
        else {
            return vec![None];
        };
        let guard = StepFacts::of(steps::GUARD_ENTER.number, scenario);
        let guard_reads_it = guard.is_some_and(|guard| guard.reads_node_clock);
        let names = scenario.instance_names().into_iter();
        let many = match condition {
            Condition::Skew if guard_reads_it => names.len(),
            _ => scenario.topology.firing().into(),
        };
        names.take(many).map(Some).collect()
    }

    fn is_allowed(&self, scenario: &Scenario, value: u64) -> bool {
        let most = MOST_BEATS.max(scenario.beats());
        self.scenario(scenario, value, None)
            .is_ok_and(|changed| changed.beats() <= most)
    }
}

/// Finds the margin of a setting or a condition.
pub(super) fn margin(asked: &Asked<'_>, dimension: &Dimension) -> Result<Margin, MarginError> {
    let scenario = asked.scenario;
    let changed = Changed {
        of: &dimension.of,
        way: dimension.way,
    };
    let own_ms = changed.own_ms(scenario);
    // What lies the other way is at the near end of this one.
    let own = own_ms.map_or(0, |ms| {
        u64::try_from(ms * dimension.way.sign()).unwrap_or(0)
    });
    let (under, plans_of) = under::of(asked)?;
    let mut plans = 0;
    let mut at = marks(scenario);
    at.push(own);
    let range = range(&changed, scenario, own);
    let curve = Curve::of(range, &at, |value| {
        let mut worst: Option<Answer> = None;
        for instance in changed.places(scenario) {
            let execute =
                (asked.ready)(&changed.scenario(scenario, value, instance.as_deref())?)?;
            let mut answer = plans_of.judge(asked, &*execute, &mut plans)?;
            answer.instance = instance;
            worst = Some(match worst {
                Some(worst) => worst.or_worse(answer),
                None => answer,
            });
        }
        Ok::<_, MarginError>(worst.unwrap_or_else(Answer::nothing_ran))
    })?;
    Ok(Margin {
        dimension: dimension.clone(),
        own_ms,
        under,
        curve: Some(curve),
        plans,
    })
}

/// From the shortest that a file may say to well beyond the longest wait, around what the
/// scenario says.
fn range(changed: &Changed<'_>, scenario: &Scenario, own: u64) -> std::ops::RangeInclusive<u64> {
    let (shortest, times) = match changed.of {
        Of::Setting(_) => (own.min(1), BEYOND),
        _ => (0, LATE),
    };
    let longest = longest_wait(scenario).max(own).saturating_mul(times);
    let allowed = |value| changed.is_allowed(scenario, value);
    let low = edge(own, shortest, allowed);
    let high = edge(own, longest.min(Span::MAX.ms()), allowed);
    low..=high
}

/// The value farthest from `own`, as far as `far`, that is allowed; allowed values are one stretch
/// around `own`.
fn edge(own: u64, far: u64, allowed: impl Fn(u64) -> bool) -> u64 {
    if allowed(far) {
        return far;
    }
    let (mut inside, mut outside) = (own, far);
    while inside.abs_diff(outside) > 1 {
        let between = inside.min(outside) + inside.abs_diff(outside) / 2;
        match allowed(between) {
            true => inside = between,
            false => outside = between,
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn range_of(text: &str, path: &str) -> (u64, u64) {
        let scenario = Scenario::parse(text, "t").unwrap();
        let of = Of::Setting(path.to_owned());
        let way = Way::Longer;
        let changed = Changed { of: &of, way };
        let own = changed.own_ms(&scenario).unwrap().unsigned_abs();
        range(&changed, &scenario, own).into_inner()
    }

    #[test]
    fn a_setting_is_asked_from_1_ms_to_four_times_the_longest_wait() {
        let stack = "[guard]\nkind = 'state_machine'\n\
                     [downstream]\nprotection = { kind = 'idempotency_key' }";
        // The longest is the sweep of 90 s; a memory is no wait.
        assert_eq!(range_of(stack, "guard.lease"), (1, 360_000));
        let week = 7 * 86_400_000;
        assert_eq!(
            range_of(stack, "downstream.protection.retention"),
            (1, 4 * week)
        );
        // What is nothing may stay nothing.
        assert_eq!(range_of(stack, "work.takes"), (0, 360_000));
    }

    #[test]
    fn a_condition_of_any_process_is_asked_of_those_that_it_can_matter_to() {
        let places = |text: &str, condition| {
            let of = Of::Condition {
                condition,
                instance: None,
            };
            let way = Way::Forwards;
            let changed = Changed { of: &of, way };
            let scenario = Scenario::parse(text, "t").unwrap();
            let names = changed.places(&scenario).into_iter();
            names.flatten().collect::<Vec<_>>().join(" ")
        };
        let statement = "[guard]\nkind = 'state_machine'";
        let node = "[guard]\nkind = 'state_machine'\nclock = 'node'";
        assert_eq!(
            places(statement, Condition::Skew),
            "scheduler-1 scheduler-2"
        );
        assert_eq!(
            places(node, Condition::Skew),
            "scheduler-1 scheduler-2 executor-1 executor-2"
        );
        assert_eq!(
            places(node, Condition::FireOffset),
            "scheduler-1 scheduler-2"
        );
    }

    #[test]
    fn what_would_make_every_execution_endless_is_left_out() {
        let work = "[guard]\nkind = 'state_machine'\n[work]\ntakes = '60s'";
        // 60.2 s of work, at most 200 heartbeats in them.
        assert_eq!(range_of(work, "guard.heartbeat"), (300, 360_000));
        let (low, high) = range_of(work, "work.takes");
        assert_eq!((low, high), (1, 360_000));
    }
}
