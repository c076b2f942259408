//! A batch: several items in one request, done one after the other.
//!
//! An API that takes a batch and fails at an item has done those before it; whoever sends the whole
//! batch again does these twice, unless each item has a key of its own.

use super::{Answer, Arrived, Downstream, Request};
use crate::Ms;

/// Items that are done one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<K> {
    /// The items, in their order.
    pub items: Vec<Request<K>>,
    /// How long each takes.
    pub each: Ms,
}

/// What a batch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batched {
    /// What each item came to, up to the one that failed.
    pub answers: Vec<Answer>,
    /// Whether every item was done.
    pub whole: bool,
    /// When it was over.
    pub at: Ms,
}

impl<K: Clone + Ord> Batch<K> {
    /// Does the items from `now` on; before the item `fails_before`, counted from 0, the batch
    /// breaks off.
    pub fn run<C, A: Clone>(
        &self,
        downstream: &mut Downstream<K, C, A>,
        now: Ms,
        asker: &A,
        fails_before: Option<usize>,
    ) -> Batched {
        let mut done = Batched {
            answers: Vec::with_capacity(self.items.len()),
            whole: true,
            at: now,
        };
        for (place, item) in self.items.iter().enumerate() {
            if fails_before == Some(place) {
                done.whole = false;
                break;
            }
            let arrived = downstream.arrive(done.at, None, asker.clone(), item.clone());
            let answer = match arrived {
                Arrived::Answered(answer) => answer,
                // Somebody else is at this very item; a batch does not wait for it.
                Arrived::Waiting => Answer::InProgress,
                Arrived::Working(number) => {
                    done.at += self.each;
                    let finished = downstream.finish(done.at, number, None);
                    finished.map_or(Answer::InProgress, |finished| finished.answer)
                }
            };
            done.answers.push(answer);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;

    fn batch(keys: bool) -> Batch<&'static str> {
        let items = ["a", "b", "c"].map(|content| Request {
            key: keys.then_some(content),
            fence: None,
            content: Some(content),
        });
        Batch {
            items: items.into(),
            each: 10,
        }
    }

    #[test]
    fn a_batch_that_fails_half_way_and_is_sent_again_does_its_first_half_twice() {
        use Answer::{Performed, Repeated};
        for (keys, again) in [
            (false, [Performed, Performed, Performed]),
            (true, [Repeated, Repeated, Performed]),
        ] {
            let mut api = Downstream::<_, (), ()>::default();
            api.open(Terms {
                retention: Some(1000),
                ..Terms::default()
            });
            let first = batch(keys).run(&mut api, 0, &(), Some(2));
            assert_eq!(first.answers, [Performed, Performed]);
            assert_eq!((first.whole, first.at), (false, 20));
            let second = batch(keys).run(&mut api, 20, &(), None);
            assert_eq!(second.answers, again);
            assert!(second.whole);
        }
    }
}
