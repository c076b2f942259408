//! What makes no sense of a claim, alone or beside an order.

use super::check::Checked;
use super::document::Document;
use super::{Scenario, TopologyKind};
use scheduler::Span;
use scheduler::dispatch::{Base, ClaimConfig, Order, ReadsFrom};
use scheduler::guards::TimeSource;

/// Refuses keys of a claim that it does not have, and those that could not act.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    fields(document)?;
    order(document, scenario)?;
    match &scenario.dispatch.claim {
        ClaimConfig::LockRow(claim) => {
            let of_transaction = claim.base == Base::TransactionStart;
            if of_transaction && claim.clock == TimeSource::Node {
                let message = "the start of a transaction is the database's: allowed beside it is \
                               `clock = \"statement\"` or `\"transaction\"`";
                return Err(document.error("dispatch.claim.base", message));
            }
            let path = "dispatch.claim.opened_before";
            if !of_transaction && document.get(path).is_some() {
                let message = "`opened_before` needs `base = \"transaction_start\"`";
                return Err(document.key_error(path, message));
            }
        }
        ClaimConfig::SelectForUpdate(claim) => {
            let behind = scenario.database.replica_lag > Span::ZERO;
            if claim.read == ReadsFrom::Replica && !behind {
                let message = "there is no replica; set how far it is behind, `[database] \
                               replica_lag`, or read from the primary";
                return Err(document.error("dispatch.claim.read", message));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Serde lets any key stand beside a `kind` that has no fields of its own.
fn fields(document: &Document<'_>) -> Checked {
    const WITHOUT_FIELDS: &[&str] = &["none", "unique_run_key", "compare_version"];
    let kind = document.str("dispatch.claim.kind").unwrap_or_default();
    let claim = document.get("dispatch.claim");
    let keys = claim.and_then(|claim| claim.get_ref().as_table());
    let foreign = keys
        .into_iter()
        .flatten()
        .find(|(key, _)| key.get_ref() != "kind");
    match foreign {
        Some((key, _)) if WITHOUT_FIELDS.contains(&kind) => Err(document.error_at(
            key.span(),
            format!(
                "unknown key `{}`; the claim `{kind}` has no fields",
                key.get_ref()
            ),
        )),
        _ => Ok(()),
    }
}

/// Orders that a claim by the timer's row cannot have.
fn order(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let (claim, order) = (&scenario.dispatch.claim, scenario.dispatch.order);
    if scenario.topology.kind == TopologyKind::Local {
        return Ok(());
    }
    let refused = match order {
        Order::DispatchThenAdvance if claim.moves_position() => {
            "moves the position as it claims; allowed are `advance_then_dispatch`, \
             `one_transaction` and `outbox`"
        }
        Order::OneTransaction if matches!(claim, ClaimConfig::CompareState(_)) => {
            "is acquired in one transaction and given back in another; allowed are \
             `advance_then_dispatch`, `dispatch_then_advance` and `outbox`"
        }
        _ => return Ok(()),
    };
    let message = format!("the claim {} {refused}", claim.name());
    Err(document.error("dispatch.order", message))
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn refusal(text: &str) -> String {
        let error = Scenario::parse(text, "t.toml").expect_err("it is refused");
        error.to_string()
    }

    #[test]
    fn what_a_claim_cannot_do_is_refused_with_what_is_allowed() {
        for (claim, more, says) in [
            (
                "{ kind = 'compare_version', ttl = '1s' }",
                "",
                "has no fields",
            ),
            (
                "{ kind = 'lock_row', base = 'transaction_start' }",
                "",
                "allowed beside it is `clock = \"statement\"`",
            ),
            (
                "{ kind = 'lock_row', opened_before = '1s' }",
                "",
                "needs `base = \"transaction_start\"`",
            ),
            (
                "{ kind = 'select_for_update', read = 'replica' }",
                "",
                "there is no replica",
            ),
            (
                "{ kind = 'select_for_update' }",
                "order = 'dispatch_then_advance'",
                "moves the position as it claims; allowed are",
            ),
            (
                "{ kind = 'compare_state' }",
                "order = 'one_transaction'",
                "allowed are `advance_then_dispatch`",
            ),
        ] {
            let told = refusal(&format!("[dispatch]\nclaim = {claim}\n{more}"));
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn a_base_that_is_not_said_is_not_in_the_hash() {
        let hash = |claim: &str| {
            let text = format!("[dispatch]\nclaim = {{ kind = 'lock_row'{claim} }}");
            Scenario::parse(&text, "t.toml").map(|scenario| scenario.canonical())
        };
        let (plain, now) = (hash(""), hash(", base = 'now'"));
        assert_eq!(plain, now);
        assert!(plain.is_ok_and(|text| !text.contains("\"base\"")));
    }
}
