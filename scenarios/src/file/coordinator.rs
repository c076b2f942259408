//! `[coordinator]`: who is there, who leads, who has which shard.

use scheduler::ports::Failover;
use scheduler::{Belief, SessionTerms, Span};
use serde::{Deserialize, Serialize};
use servers::coordinator::Profile;

/// `[coordinator]`; without the table there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoordinatorTable {
    /// What kind of coordinator it is.
    pub profile: CoordinatorProfile,
    /// How long a session lives of which nothing is heard. Default: as the profile has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_timeout: Option<Span>,
    /// How many shards it deals out.
    pub shards: u32,
    /// How long an instance that gets no answer believes that it leads, or owns a shard.
    #[serde(skip_serializing_if = "is_default")]
    pub belief: Belief,
    /// sharded: which runs of a shard its next owner does again when its owner's session is over.
    #[serde(skip_serializing_if = "is_default")]
    pub failover: Failover,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What kind of coordinator it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoordinatorProfile {
    /// A lease of 15 s, which only its renewal keeps.
    #[default]
    Kubernetes,
    /// A lease of 60 s, looked at every 500 ms.
    Etcd,
    /// A session of 18 s, which every request keeps, looked at every 2 s.
    Zookeeper,
}

impl CoordinatorTable {
    /// How it treats a session.
    pub fn terms(&self) -> Profile {
        let profile = match self.profile {
            CoordinatorProfile::Kubernetes => Profile::KUBERNETES,
            CoordinatorProfile::Etcd => Profile::ETCD,
            CoordinatorProfile::Zookeeper => Profile::ZOOKEEPER,
        };
        match self.session_timeout {
            Some(timeout) => profile.lasting(timeout.ms()),
            None => profile,
        }
    }

    /// How instances get on with it.
    pub fn session(&self) -> SessionTerms {
        let terms = self.terms();
        SessionTerms {
            belief: self.belief,
            gives_up_after: Span::millis(terms.gives_up_after),
            looks_every: Span::millis(terms.look_every),
            failover: self.failover,
        }
    }
}
