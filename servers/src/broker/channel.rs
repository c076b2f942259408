//! Delivery tags: numbers that mean something on one channel only.

use crate::broken::broken;

/// The tags of one channel, and what they stand for until they are settled.
#[derive(Clone, Debug)]
pub struct Channel<T> {
    last: u64,
    unsettled: Vec<(u64, T)>,
}

/// The channel knows no such tag; a server closes the channel for it (406).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTag(
    /// The tag.
    pub u64,
);

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Channel {
            last: 0,
            unsettled: Vec::new(),
        }
    }
}

impl<T> Channel<T> {
    /// The next tag stands for this delivery.
    pub fn hand_out(&mut self, delivery: T) -> u64 {
        self.last += 1;
        self.unsettled.push((self.last, delivery));
        self.last
    }

    /// Counts a delivery that needs no settling.
    pub const fn pass(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// What a tag stands for, or it and all before it (0: all there are), in the order of their
    /// tags; they are not unsettled any more.
    ///
    /// # Errors
    ///
    /// A tag that is not unsettled, and nothing has changed.
    pub fn settle(&mut self, tag: u64, multiple: bool) -> Result<Vec<T>, UnknownTag> {
        if multiple && tag == 0 {
            return Ok(self.unsettled.drain(..).map(|(_, of)| of).collect());
        }
        let place = self.unsettled.iter().position(|(known, _)| *known == tag);
        let place = place.ok_or(UnknownTag(tag))?;
        let first = if multiple && !broken!(MultipleAcksOne) {
            0
        } else {
            place
        };
        Ok(self
            .unsettled
            .drain(first..=place)
            .map(|(_, of)| of)
            .collect())
    }

    /// The unsettled tags with what they stand for, oldest first.
    pub fn unsettled(&self) -> impl Iterator<Item = (u64, &T)> {
        self.unsettled.iter().map(|(tag, of)| (*tag, of))
    }

    /// Takes away what has been settled from elsewhere.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.unsettled.retain(|(_, of)| keep(of));
    }

    /// The last tag that was given.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// How many are unsettled.
    pub const fn len(&self) -> usize {
        self.unsettled.len()
    }

    /// Whether nothing is unsettled.
    pub const fn is_empty(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// The channel that is opened in place of this one: it counts from 1 again.
    pub fn reopened(&self) -> Self {
        Channel {
            last: if broken!(TagsGoOn) { self.last } else { 0 },
            unsettled: Vec::new(),
        }
    }
}
