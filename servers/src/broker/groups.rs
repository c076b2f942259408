//! A group of consumers that shares partitions (Kafka).
//!
//! A partition belongs to one member and is read in order: the next message only once the one
//! before is committed. Whenever a member comes or goes the partitions are dealt anew, and until
//! every member has finished what it has in hand nobody gets anything.

use super::delivering::Taker;
use super::rules::Crash;
use super::{Broker, Holder, State};
use crate::Ms;

/// The members of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    members: Vec<Member>,
    /// Whether the partitions are being dealt anew.
    rebalancing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    holder: Holder,
    /// Without a sign of life; it is a member until then.
    until: Option<Ms>,
}

impl Group {
    pub(super) fn clear(&mut self) {
        self.members.clear();
        self.rebalancing = false;
    }

    /// A consumer polls: its holder is a member.
    pub(super) fn join(&mut self, holder: Holder) {
        let alive = |member: &Member| member.holder == holder && member.until.is_none();
        if !self.members.iter().any(alive) {
            self.members.push(Member {
                holder,
                until: None,
            });
            self.rebalancing = true;
        }
    }

    /// A member did not poll in time.
    pub(super) fn expelled(&mut self, partitions: Option<u32>, holder: Holder) {
        if partitions.is_some() {
            self.members.retain(|member| member.holder != holder);
            self.rebalancing = true;
        }
    }

    /// Members are gone, and nobody knows it before `until`.
    pub(super) fn silent(&mut self, gone: impl Fn(Holder) -> bool, until: Ms) {
        for member in &mut self.members {
            if gone(member.holder) && member.until.is_none() {
                member.until = Some(until);
            }
        }
    }

    /// Whether the partitions are being dealt anew.
    pub(super) const fn is_dealing(&self) -> bool {
        self.rebalancing
    }

    fn bury(&mut self, now: Ms) {
        let before = self.members.len();
        self.members
            .retain(|member| member.until.is_none_or(|until| now < until));
        self.rebalancing |= self.members.len() != before;
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// The first message whose partition is free and whose owner waits.
    pub(super) fn next_of_group(
        &mut self,
        now: Ms,
        holder: &mut impl FnMut(C) -> Holder,
    ) -> Option<(usize, u32, Taker)> {
        self.group.bury(now);
        if self.group.rebalancing {
            let in_hand = |state| matches!(state, State::Unacked { .. });
            if self.messages.iter().any(|message| in_hand(message.state)) {
                return None;
            }
            self.group.rebalancing = false;
        }
        let members = self.group.members.len();
        let mut seen = Vec::new();
        for (at, (place, _)) in self.ready.iter().enumerate() {
            let message = &self.messages[place as usize];
            if message.state != State::Ready || seen.contains(&message.partition) {
                continue;
            }
            seen.push(message.partition);
            if members == 0 || self.is_read(message.partition) {
                continue;
            }
            let owner = self
                .group
                .members
                .get(message.partition as usize % members)?;
            if owner.until.is_some() {
                continue;
            }
            let waits = self
                .consumers
                .iter()
                .position(|c| holder(*c) == owner.holder);
            if let Some(consumer) = waits {
                return Some((at, place, Taker::Consumer(consumer)));
            }
        }
        None
    }

    /// Whether a message of this partition is in somebody's hands.
    fn is_read(&self, partition: u32) -> bool {
        self.messages.iter().any(|message| {
            message.partition == partition
                && matches!(
                    message.state,
                    State::Unacked { .. } | State::Delayed(_) | State::Held { .. }
                )
        })
    }

    /// When the session of a holder that fell silent at `now` is over.
    pub(super) const fn session_end(&self, now: Ms) -> Option<Ms> {
        match self.rules.crash {
            Crash::AfterSession(session) => Some(now + session),
            _ => None,
        }
    }
}

impl<C: Copy, B: Clone> Broker<C, B> {
    /// The members of the group in the order in which partitions are dealt to them, each with
    /// until when it is believed alive, if it has gone silent.
    pub fn members(&self) -> impl Iterator<Item = (Holder, Option<Ms>)> {
        self.group
            .members
            .iter()
            .map(|member| (member.holder, member.until))
    }
}
