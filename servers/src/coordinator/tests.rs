#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn kubernetes() -> Coordinator<u8> {
    Coordinator::new(Profile::KUBERNETES, 4)
}

fn leads(coordinator: &mut Coordinator<u8>, now: Ms, session: SessionId) -> Option<Epoch> {
    coordinator.campaign(now, session, "e").unwrap()
}

fn numbers(coordinator: &mut Coordinator<u8>, now: Ms, session: SessionId) -> Vec<u32> {
    let shards = coordinator.shards(now, session).unwrap();
    shards.iter().map(|shard| shard.number).collect()
}

#[test]
fn a_session_lives_for_its_timeout_after_the_last_beat() {
    let mut coordinator = kubernetes();
    let session = coordinator.join(0, 1);
    assert_eq!(coordinator.beat(14_999, session), Ok(29_999));
    assert_eq!(coordinator.beat(29_999, session), Err(Expired));
}

#[test]
fn zookeeper_ends_sessions_at_its_ticks_and_hears_every_request() {
    let mut coordinator = Coordinator::new(Profile::ZOOKEEPER, 0);
    let session = coordinator.join(1, 1);
    assert_eq!(coordinator.beat(19_999, session), Ok(38_000));
    assert!(coordinator.campaign(37_999, session, "e").is_ok());
    assert!(coordinator.campaign(55_999, session, "e").is_ok());
    assert_eq!(coordinator.campaign(74_000, session, "e"), Err(Expired));
}

#[test]
fn in_kubernetes_only_a_renewal_counts() {
    let mut coordinator = kubernetes();
    let session = coordinator.join(0, 1);
    assert_eq!(leads(&mut coordinator, 14_000, session), Some(Epoch(1)));
    assert_eq!(coordinator.campaign(15_000, session, "e"), Err(Expired));
}

#[test]
fn nobody_leads_until_the_session_of_a_dead_leader_is_over() {
    let mut coordinator = kubernetes();
    let (first, second) = (coordinator.join(0, 1), coordinator.join(0, 2));
    assert_eq!(leads(&mut coordinator, 0, first), Some(Epoch(1)));
    assert_eq!(leads(&mut coordinator, 0, second), None);
    coordinator.beat(10_000, second).unwrap();
    assert_eq!(coordinator.leader(14_999, "e"), Some((&1, Epoch(1))));
    assert_eq!(coordinator.leader(15_000, "e"), Some((&2, Epoch(2))));
}

#[test]
fn a_leader_that_leaves_hands_over_at_once_and_the_line_is_kept() {
    let mut coordinator = kubernetes();
    let [a, b, c] = [1, 2, 3].map(|member| coordinator.join(0, member));
    for session in [a, c, b] {
        leads(&mut coordinator, 0, session);
    }
    coordinator.leave(1, a);
    assert_eq!(coordinator.leader(1, "e"), Some((&3, Epoch(2))));
    coordinator.leave(2, c);
    assert_eq!(leads(&mut coordinator, 2, b), Some(Epoch(3)));
}

#[test]
fn a_cut_off_leader_believes_on_and_its_epoch_is_refused() {
    let mut coordinator = kubernetes();
    let (first, second) = (coordinator.join(0, 1), coordinator.join(0, 2));
    let old = leads(&mut coordinator, 0, first).unwrap();
    leads(&mut coordinator, 0, second);
    let mut watcher = Belief::new(Ends::WhenTold, 10_000);
    let mut careful = Belief::new(Ends::AfterAsking, 10_000);
    watcher.answered(0, 5);
    careful.answered(0, 5);
    coordinator.beat(12_000, second).unwrap();
    let new = leads(&mut coordinator, 15_000, second).unwrap();
    assert!(watcher.holds(15_000) && !careful.holds(10_000));
    let mut fence = Fence::default();
    assert!(
        fence.admits(old),
        "before the new one has come the old one passes"
    );
    assert!(fence.admits(new) && !fence.admits(old));
    watcher.told();
    assert!(!watcher.holds(15_001));
}

#[test]
fn a_session_that_is_lost_takes_leadership_and_shards_with_it() {
    let mut coordinator = kubernetes();
    let (first, second) = (coordinator.join(0, 1), coordinator.join(0, 2));
    leads(&mut coordinator, 0, first);
    leads(&mut coordinator, 0, second);
    assert_eq!(numbers(&mut coordinator, 0, first), [0, 1]);
    assert_eq!(numbers(&mut coordinator, 0, second), [2, 3]);
    coordinator.lose(1, |member| *member == 1);
    assert_eq!(coordinator.beat(1, first), Err(Expired));
    assert_eq!(leads(&mut coordinator, 1, second), Some(Epoch(2)));
    let epochs: Vec<u64> = coordinator.owners().map(|(_, epoch)| epoch.0).collect();
    assert_eq!(numbers(&mut coordinator, 1, second), [0, 1, 2, 3]);
    // 2 and 3 moved when the second came, 0 and 1 when the first was lost.
    assert_eq!(epochs, [2, 2, 2, 2]);
}

#[test]
fn a_new_server_gives_every_session_its_full_time_again() {
    let mut coordinator = kubernetes();
    let session = coordinator.join(0, 1);
    coordinator.fail_over(14_000);
    assert!(coordinator.beat(28_999, session).is_ok());
}

/// What a random history does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Join,
    Beat(usize),
    Campaign(usize),
    Leave(usize),
    Lose(u8),
    FailOver,
    Pass(Ms),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        Just(Act::Join),
        (0..6_usize).prop_map(Act::Beat),
        (0..6_usize).prop_map(Act::Campaign),
        (0..6_usize).prop_map(Act::Leave),
        (0..6_u8).prop_map(Act::Lose),
        Just(Act::FailOver),
        (0..9000_u64).prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 0..60)
}

/// What is believed in a history, with leaders that say it to each other.
struct Told {
    now: Ms,
    coordinator: Coordinator<u8>,
    sessions: Vec<SessionId>,
    beliefs: Vec<Belief>,
    /// The session of each epoch.
    led: BTreeMap<Epoch, SessionId>,
}

impl Told {
    fn new() -> Self {
        Told {
            now: 0,
            coordinator: Coordinator::new(Profile::KUBERNETES, 5),
            sessions: Vec::new(),
            beliefs: Vec::new(),
            led: BTreeMap::new(),
        }
    }

    fn act(&mut self, act: Act, ends: Ends) -> Result<(), TestCaseError> {
        let session = |place: usize| self.sessions.get(place).copied();
        match act {
            Act::Join => {
                let member = self.sessions.len() as u8;
                self.sessions.push(self.coordinator.join(self.now, member));
                let mut belief = Belief::new(ends, Profile::KUBERNETES.timeout);
                // Asked 3 ms before, answered 3 ms after.
                belief.answered(self.now.saturating_sub(3), self.now + 3);
                self.beliefs.push(belief);
            }
            Act::Beat(place) => {
                if let Some(session) = session(place)
                    && self.coordinator.beat(self.now, session).is_ok()
                {
                    self.beliefs[place].answered(self.now.saturating_sub(3), self.now + 3);
                }
            }
            Act::Campaign(place) => {
                if let Some(session) = session(place)
                    && let Ok(Some(epoch)) = self.coordinator.campaign(self.now, session, "e")
                {
                    let before = self.led.insert(epoch, session);
                    prop_assert!(before.is_none_or(|before| before == session), "{epoch:?}");
                    prop_assert_eq!(self.led.last_key_value(), Some((&epoch, &session)));
                }
            }
            Act::Leave(place) => {
                if let Some(session) = session(place) {
                    self.coordinator.leave(self.now, session);
                    self.beliefs[place].told();
                }
            }
            Act::Lose(member) => self.coordinator.lose(self.now, |lost| *lost == member),
            Act::FailOver => self.coordinator.fail_over(self.now),
            Act::Pass(ms) => self.now += ms,
        }
        self.coordinator.pass(self.now);
        Ok(())
    }

    /// Members that believe in a session that the coordinator has not.
    fn mistaken(&self) -> usize {
        let alive: Vec<SessionId> = self.coordinator.sessions().map(|(id, ..)| id).collect();
        let pairs = self.sessions.iter().zip(&self.beliefs);
        pairs
            .filter(|(session, belief)| belief.holds(self.now) && !alive.contains(session))
            .count()
    }
}

proptest! {
    #[test]
    fn an_epoch_belongs_to_one_leader_and_the_next_is_higher(acts in acts()) {
        let mut told = Told::new();
        for act in acts {
            told.act(act, Ends::WhenTold)?;
        }
    }

    #[test]
    fn every_shard_is_owned_evenly_while_anybody_is_there(acts in acts()) {
        let mut told = Told::new();
        for act in acts {
            told.act(act, Ends::WhenTold)?;
            let alive: Vec<SessionId> = told.coordinator.sessions().map(|(id, ..)| id).collect();
            let owners: Vec<_> = told.coordinator.owners().map(|(owner, _)| owner).collect();
            let counts = alive.iter().map(|session| {
                owners.iter().filter(|owner| **owner == Some(*session)).count()
            });
            let counts: Vec<usize> = counts.collect();
            let sum: usize = counts.iter().sum();
            prop_assert_eq!(sum, if alive.is_empty() { 0 } else { 5 });
            if let (Some(most), Some(least)) = (counts.iter().max(), counts.iter().min()) {
                prop_assert!(most - least <= 1, "{:?}", counts);
            }
        }
    }

    #[test]
    fn who_counts_from_the_question_never_believes_longer_than_the_session(acts in acts()) {
        let mut told = Told::new();
        for act in acts {
            if !matches!(act, Act::Lose(_)) {
                told.act(act, Ends::AfterAsking)?;
                prop_assert_eq!(told.mistaken(), 0);
            }
        }
    }
}

#[test]
fn who_counts_from_the_answer_or_waits_to_be_told_does() {
    for (ends, after) in [(Ends::AfterAnswer, 15_002), (Ends::WhenTold, 1_000_000)] {
        let mut told = Told::new();
        told.act(Act::Join, ends).unwrap();
        told.act(Act::Pass(after), ends).unwrap();
        assert_eq!(told.mistaken(), 1, "{ends:?}");
    }
}
