//! `[coordinator]`: who is there, who leads, who has which shard.

use scheduler::Span;
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
        Profile {
            timeout: self.session_timeout.map_or(profile.timeout, Span::ms),
            ..profile
        }
    }
}
