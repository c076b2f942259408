//! What leaders and owners of shards need, and what would have no effect beside them.

use super::check::{Checked, within};
use super::document::Document;
use super::{Scenario, TopologyKind};
use scheduler::Span;
use scheduler::dispatch::{ClaimConfig, LeaderClaimConfig, LeaderVia};

/// The most shards of one timer.
const MOST_SHARDS: u64 = 64;

/// Refuses what cannot be simulated.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    shards(document, scenario)?;
    if let Some(coordinator) = &scenario.coordinator
        && coordinator.session_timeout == Some(Span::ZERO)
    {
        let message = "session_timeout is `0s`; allowed is a duration longer than zero";
        return Err(document.error("coordinator.session_timeout", message));
    }
    let ClaimConfig::Leader(claim) = &scenario.dispatch.claim else {
        return Ok(());
    };
    for (key, span) in [("lease", claim.lease), ("renew_every", claim.renew_every)] {
        let path = format!("dispatch.claim.{key}");
        if span == Span::ZERO {
            let message = format!("{key} is `0s`; allowed is a duration longer than zero");
            return Err(document.error(&path, message));
        }
    }
    let usual = LeaderClaimConfig::default();
    for (key, differs) in [
        ("belief", claim.belief != usual.belief),
        ("lease", claim.lease != usual.lease),
        ("renew_every", claim.renew_every != usual.renew_every),
    ] {
        if claim.via == LeaderVia::Coordinator && differs {
            let message = format!(
                "`{key}` belongs to a leader via `database`; of a coordinator [coordinator] says it"
            );
            let path = format!("dispatch.claim.{key}");
            return Err(document.key_error(&path, message));
        }
    }
    Ok(())
}

/// Where runs are sharded there are shards, and no leader.
fn shards(document: &Document<'_>, scenario: &Scenario) -> Checked {
    if scenario.topology.kind != TopologyKind::Sharded {
        return Ok(());
    }
    if let Some(coordinator) = &scenario.coordinator {
        let shards = u64::from(coordinator.shards);
        within(document, "coordinator.shards", shards, 1, MOST_SHARDS)?;
    }
    if matches!(scenario.dispatch.claim, ClaimConfig::Leader(_)) {
        let message = "in topology sharded the owners of shards fire, not a leader; allowed are \
                       the other claims";
        return Err(document.error("dispatch.claim.kind", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use scheduler::ports::Failover;

    fn refused(text: &str, part: &str) {
        let error = Scenario::parse(text, "t").unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }

    #[test]
    fn what_could_not_act_is_refused_with_what_is_allowed() {
        let leader = "dispatch.claim = { kind = 'leader'";
        refused(&format!("{leader}, lease = '9s' }}"), "via `database`");
        refused(
            &format!("{leader}, belief = 'until_told' }}"),
            "via `database`",
        );
        let by_row = format!("{leader}, via = 'database'");
        refused(&format!("{by_row}, lease = '0s' }}"), "longer than zero");
        refused("coordinator.session_timeout = '0s'", "longer than zero");
        let sharded = "topology.kind = 'sharded'";
        refused(&format!("{sharded}\ncoordinator.shards = 0"), "1 to 64");
        refused(&format!("{sharded}\n{leader} }}"), "not a leader");
        refused(&format!("{sharded}\ntopology.executors = 2"), "`instances`");
    }

    #[test]
    fn a_leader_and_shards_have_a_coordinator_where_the_file_names_none() {
        let led = Scenario::parse("dispatch.claim.kind = 'leader'", "t").unwrap();
        assert_eq!(led.coordinator.unwrap().terms().timeout, 15_000);
        let by_row = "dispatch.claim = { kind = 'leader', via = 'database' }";
        assert_eq!(Scenario::parse(by_row, "t").unwrap().coordinator, None);
        let sharded = "topology.kind = 'sharded'\ncoordinator.session_timeout = '9s'";
        let sharded = Scenario::parse(sharded, "t").unwrap();
        let coordinator = sharded.coordinator.clone().unwrap();
        assert_eq!(
            (coordinator.shards, coordinator.failover),
            (2, Failover::Off)
        );
        let terms = coordinator.terms();
        assert_eq!(
            (terms.timeout, terms.beat_every, terms.gives_up_after),
            (9000, 3000, 6000)
        );
        assert_eq!(sharded.dispatch.claim, ClaimConfig::None);
        let ids = sharded.cast().timers;
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        assert_eq!(ids, ["report/0", "report/1"]);
    }

    #[test]
    fn keys_that_joined_leave_the_hash_of_older_files_alone() {
        let text = Scenario::parse("[coordinator]", "t").unwrap().canonical();
        for key in ["belief", "failover", "cursor"] {
            assert!(!text.contains(key), "{key}");
        }
    }
}
