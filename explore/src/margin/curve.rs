//! Where the answer to a question changes as its value grows: a grid, bisection between points
//! that differ, and a finer grid around each change that was found.
//!
//! Nothing promises that the answer changes once. A fault that begins late enough may be harmless
//! again, so a change is never taken for the only one: whatever two neighbours on the grids differ
//! in is bisected. What lies between two points of the same answer is not known, only likely.

use crate::Counterexample;
use evidence::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// What comes of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The worst of all executions.
    pub verdict: Verdict,
    /// Whether the promise breaks.
    pub failure: bool,
    /// The process that has the condition, where it is asked of any of them.
    pub instance: Option<String>,
    /// Of the executions that break it with this verdict, one.
    pub example: Option<Counterexample>,
}

impl Answer {
    /// The worse of two, the first of two alike: what breaks the promise, then by verdict.
    pub(super) fn or_worse(self, other: Answer) -> Answer {
        let rank = |answer: &Answer| (!answer.failure, answer.verdict);
        match rank(&other) < rank(&self) {
            true => other,
            false => self,
        }
    }

    /// Of no execution at all.
    pub(super) const fn nothing_ran() -> Answer {
        Answer {
            verdict: Verdict::ExactlyOnce,
            failure: false,
            instance: None,
            example: None,
        }
    }
}

/// A question with the values it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Curve {
    points: BTreeMap<u64, Answer>,
    unfinished: bool,
}

/// A stretch of values with one answer to whether the promise breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// The least value asked.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// What came of `from`.
    pub first: &'a Answer,
    /// What came of `to`.
    pub last: &'a Answer,
}

/// Number of points of the grid over the whole range, evenly spaced by ratio.
const COARSE: u32 = 16;
/// Number of points around each change, on either side, spaced likewise by their distance to it.
const AROUND: u32 = 8;
/// How many changes are looked at more closely.
const MOST_CHANGES: usize = 12;

impl Curve {
    /// Asks for values in `range`, which holds at least one: its grid, and `marks`, where changes
    /// are likely.
    ///
    /// # Errors
    /// The first of the question.
    pub fn of<E>(
        range: RangeInclusive<u64>,
        marks: &[u64],
        ask: impl FnMut(u64) -> Result<Answer, E>,
    ) -> Result<Curve, E> {
        let mut search = Search {
            ask,
            curve: Curve::default(),
        };
        search.ask_all(spread(*range.start(), *range.end(), COARSE))?;
        search.ask_all(marks.iter().copied().filter(|mark| range.contains(mark)))?;
        search.find_changes()?;
        Ok(search.curve)
    }

    /// A question that was asked for one value only.
    pub fn point(value: u64, answer: Answer) -> Curve {
        Curve {
            points: BTreeMap::from([(value, answer)]),
            unfinished: false,
        }
    }

    /// Every value asked, ascending.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (u64, &Answer)> {
        self.points.iter().map(|(value, answer)| (*value, answer))
    }

    /// The stretches, ascending; one where the answer never changes. Neighbours touch: one ends
    /// 1 ms before the next begins.
    pub fn stretches(&self) -> Vec<Stretch<'_>> {
        let mut stretches: Vec<Stretch<'_>> = Vec::new();
        for (value, answer) in self.points() {
            match stretches.last_mut() {
                Some(stretch) if stretch.last.failure == answer.failure => {
                    stretch.to = value;
                    stretch.last = answer;
                }
                _ => stretches.push(Stretch {
                    from: value,
                    to: value,
                    first: answer,
                    last: answer,
                }),
            }
        }
        stretches
    }

    /// True if the answer changes at most once.
    pub fn is_monotone(&self) -> bool {
        self.stretches().len() <= 2
    }

    /// True if there are more changes than were looked at.
    pub const fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// The values of changes: the last before each.
    fn changes(&self) -> Vec<u64> {
        let mut ends: Vec<u64> = self.stretches().iter().map(|stretch| stretch.to).collect();
        ends.pop();
        ends
    }

    /// Halfway between the first two neighbours that differ and are not next to each other.
    fn undecided(&self) -> Option<u64> {
        let pairs = self.points.iter().zip(self.points.iter().skip(1));
        pairs
            .filter(|((one, before), (other, after))| {
                before.failure != after.failure && *other - *one > 1
            })
            .map(|((one, _), (other, _))| one + (other - one) / 2)
            .next()
    }
}

struct Search<F> {
    ask: F,
    curve: Curve,
}

impl<E, F: FnMut(u64) -> Result<Answer, E>> Search<F> {
    fn ask_all(&mut self, values: impl IntoIterator<Item = u64>) -> Result<(), E> {
        for value in values {
            if !self.curve.points.contains_key(&value) {
                let answer = (self.ask)(value)?;
                self.curve.points.insert(value, answer);
            }
        }
        Ok(())
    }

    fn find_changes(&mut self) -> Result<(), E> {
        let mut looked_at = BTreeSet::new();
        loop {
            while let Some(between) = self.curve.undecided() {
                self.ask_all([between])?;
            }
            let changes = self.curve.changes();
            let Some(change) = changes.into_iter().find(|end| !looked_at.contains(end)) else {
                return Ok(());
            };
            if looked_at.len() == MOST_CHANGES {
                self.curve.unfinished = true;
                return Ok(());
            }
            looked_at.insert(change);
            self.ask_all(self.around(change))?;
        }
    }

    /// Values on both sides of the change after `end`, as far as the stretches there reach.
    fn around(&self, end: u64) -> Vec<u64> {
        let stretches = self.curve.stretches();
        let before = stretches.iter().find(|stretch| stretch.to == end);
        let after = stretches.iter().find(|stretch| stretch.from == end + 1);
        let (Some(before), Some(after)) = (before, after) else {
            return Vec::new();
        };
        let below = spread(1, end - before.from, AROUND);
        let above = spread(1, after.to - end - 1, AROUND);
        let below = below.into_iter().map(|distance| end - distance);
        let above = above.into_iter().map(|distance| end + 1 + distance);
        below.chain(above).collect()
    }
}

/// About `number` values from `low` to `high`, both included, each in the same ratio to the next;
/// none where `high` lies below `low`.
///
/// Whole numbers only: the values are the same on every machine.
fn spread(low: u64, high: u64, number: u32) -> BTreeSet<u64> {
    let mut values = BTreeSet::new();
    if high < low {
        return values;
    }
    values.extend([low, high]);
    // Of the powers of two between the ends, as many as asked for, evenly chosen.
    let least = low.max(1);
    let doublings = (high / least).checked_ilog2().unwrap_or(0);
    let steps = number.saturating_sub(1).max(1);
    for step in 1..steps {
        // In sixteenths of a doubling, between two powers in a straight line.
        let sixteenths = u64::from(doublings) * 16 * u64::from(step) / u64::from(steps);
        let power = least << (sixteenths / 16);
        let value = power + power / 16 * (sixteenths % 16) + power % 16 * (sixteenths % 16) / 16;
        values.insert(value.clamp(low, high));
    }
    values
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::convert::Infallible;

    fn answer(failure: bool) -> Answer {
        Answer {
            verdict: match failure {
                true => Verdict::Duplicate,
                false => Verdict::ExactlyOnce,
            },
            failure,
            instance: None,
            example: None,
        }
    }

    /// The curve of a predicate, and how often that was asked.
    fn curve(range: RangeInclusive<u64>, fails: impl Fn(u64) -> bool) -> (Curve, usize) {
        let mut asked = 0;
        let curve: Result<_, Infallible> = Curve::of(range, &[], |value| {
            asked += 1;
            Ok(answer(fails(value)))
        });
        (curve.unwrap(), asked)
    }

    fn ends(curve: &Curve) -> Vec<(u64, u64, bool)> {
        let stretches = curve.stretches().into_iter();
        stretches
            .map(|stretch| (stretch.from, stretch.to, stretch.first.failure))
            .collect()
    }

    #[test]
    fn one_change_is_found_to_the_millisecond_wherever_it_is() {
        for threshold in [1, 2, 3, 29_899, 29_900, 123_456, 179_999, 180_000] {
            let (curve, asked) = curve(0..=180_000, |value| value >= threshold);
            assert_eq!(
                ends(&curve),
                [(0, threshold - 1, false), (threshold, 180_000, true)]
            );
            assert!(curve.is_monotone());
            assert!(asked <= 16 + 17 + 16, "{asked}");
        }
    }

    #[test]
    fn where_nothing_changes_there_is_one_stretch_and_only_the_grid_is_asked() {
        let (curve, asked) = curve(1..=180_000, |_| true);
        assert_eq!(ends(&curve), [(1, 180_000, true)]);
        assert_eq!(asked, 16);
    }

    #[test]
    fn a_question_that_is_not_monotone_is_told_with_every_boundary() {
        let fails = |value| (20_000..50_000).contains(&value) || value >= 70_000;
        let (curve, _) = curve(0..=180_000, fails);
        assert_eq!(
            ends(&curve),
            [
                (0, 19_999, false),
                (20_000, 49_999, true),
                (50_000, 69_999, false),
                (70_000, 180_000, true),
            ]
        );
        assert!(!curve.is_monotone());
        assert!(!curve.is_unfinished());
    }

    #[test]
    fn a_gap_beside_a_change_is_found_by_the_grid_around_it() {
        // Safe again for 40 ms, 10 ms after it broke.
        let fails = |value| value >= 30_000 && !(30_010..30_050).contains(&value);
        let (curve, _) = curve(0..=180_000, fails);
        assert_eq!(
            ends(&curve),
            [
                (0, 29_999, false),
                (30_000, 30_009, true),
                (30_010, 30_049, false),
                (30_050, 180_000, true),
            ]
        );
    }

    #[test]
    fn a_mark_finds_what_the_grid_would_miss() {
        let window = 91_000..91_003;
        let ask = |value| Ok::<_, Infallible>(answer(window.contains(&value)));
        let missed = Curve::of(0..=180_000, &[], ask).unwrap();
        assert_eq!(missed.stretches().len(), 1);
        let marked = Curve::of(0..=180_000, &[91_001, 999_999], ask).unwrap();
        assert_eq!(
            ends(&marked),
            [
                (0, 90_999, false),
                (91_000, 91_002, true),
                (91_003, 180_000, false)
            ]
        );
    }

    #[test]
    fn endless_changes_end_and_are_told() {
        let (curve, asked) = curve(0..=180_000, |value| value % 2 == 1);
        assert!(curve.is_unfinished());
        assert!(asked < 1000, "{asked}");
    }

    #[test]
    fn a_range_of_one_value_is_one_point() {
        let (curve, asked) = curve(7..=7, |_| false);
        assert_eq!((ends(&curve), asked), (vec![(7, 7, false)], 1));
    }

    #[test]
    fn the_first_error_of_the_question_ends_the_search() {
        let asked = Curve::of(0..=9, &[], |value| match value {
            5.. => Err(value),
            _ => Ok(answer(false)),
        });
        assert_eq!(asked, Err(5));
    }

    #[test]
    fn a_spread_rises_by_one_ratio_and_has_both_ends() {
        let values: Vec<u64> = spread(1, 1 << 15, 16).into_iter().collect();
        let powers: Vec<u64> = (0..=15).map(|power| 1 << power).collect();
        assert_eq!(values, powers);
        assert_eq!(spread(5, 4, 16).len(), 0);
        assert_eq!(spread(0, 0, 16).into_iter().collect::<Vec<_>>(), [0]);
        let wide = spread(1, u64::MAX / 2, 16);
        assert_eq!(wide.len(), 16);
    }
}
