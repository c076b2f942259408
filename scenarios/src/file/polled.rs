//! Topology `polled`: what its workers are told, and what makes no sense there.

use super::check::Checked;
use super::document::Document;
use super::{AckFencing, DatabaseProfile, Scenario};
use scheduler::dispatch::{CatchUp, Order};
use scheduler::recovery::DeadSince;
use scheduler::row_queue::{RowQueueConfig, Take};
use scheduler::schedules::ScheduleConfig;
use scheduler::topologies::PolledConfig;

impl Scenario {
    /// What workers do; nobody asks in another topology.
    pub fn polled(&self) -> PolledConfig {
        let (topology, broker) = (&self.topology, &self.broker);
        PolledConfig {
            rows: topology.rows,
            poll: topology.poll,
            queue: RowQueueConfig {
                take: topology.take,
                lease: broker.ack_deadline.0,
                renew_every: broker.renew_every.0,
                dead_since: self.recovery.dead_since,
                stop_heartbeat: topology.stop_heartbeat,
                max_claims: broker.max_deliver.times(),
                fenced: broker.ack_fencing != AckFencing::Off,
            },
        }
    }
}

/// Refuses what could not act.
pub(super) fn check(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let topology = &scenario.topology;
    if !topology.queues_in_table() {
        for (path, is_said) in [
            ("topology.take", document.get("topology.take").is_some()),
            (
                "topology.stop_heartbeat",
                document.get("topology.stop_heartbeat").is_some(),
            ),
            (
                "recovery.dead_since",
                scenario.recovery.dead_since != DeadSince::LastHeartbeat,
            ),
        ] {
            if is_said {
                let key = path.rsplit('.').next().unwrap_or(path);
                let message = format!(
                    "`{key}` needs rows that workers claim: topology polled with `rows = \"runs\"`"
                );
                return Err(document.error(path, message));
            }
        }
    }
    if topology.queues_in_table() {
        rows_of_runs(document, scenario)
    } else if topology.polls_timers() {
        rows_of_timers(document, scenario)
    } else {
        Ok(())
    }
}

fn rows_of_runs(document: &Document<'_>, scenario: &Scenario) -> Checked {
    if scenario.dispatch.order != Order::Outbox {
        let message =
            "a due run becomes a row in the transaction of its claim; allowed is \"outbox\"";
        return Err(document.error("dispatch.order", message));
    }
    let mariadb = scenario.database.profile == DatabaseProfile::Mariadb;
    if mariadb && scenario.topology.take == Take::SkipLocked {
        let message = "the model of MariaDB has no SKIP LOCKED; allowed is `take = \
                       \"read_then_write\"`, or another profile";
        return Err(document.error("topology.take", message));
    }
    Ok(())
}

fn rows_of_timers(document: &Document<'_>, scenario: &Scenario) -> Checked {
    let (claim, order) = (&scenario.dispatch.claim, scenario.dispatch.order);
    let unique = *claim == scheduler::dispatch::ClaimConfig::UniqueRunKey;
    let refused = match order {
        Order::AdvanceThenDispatch => None,
        Order::DispatchThenAdvance if unique => Some(
            "the claim unique_run_key records the position; allowed is \"advance_then_dispatch\"",
        ),
        Order::DispatchThenAdvance => None,
        Order::OneTransaction | Order::Outbox => Some(
            "nothing is published; allowed are \"advance_then_dispatch\" and \
             \"dispatch_then_advance\"",
        ),
    };
    if let Some(message) = refused {
        return Err(document.error("dispatch.order", message));
    }
    if scenario.dispatch.catch_up != CatchUp::All {
        let message = "a row keeps its slot until somebody claims it; allowed is \"all\"";
        return Err(document.error("dispatch.catch_up", message));
    }
    for (place, timer) in scenario.timers.iter().enumerate() {
        let at = |key: &str| format!("timer.{place}.{key}");
        if matches!(timer.schedule, ScheduleConfig::Delay { .. }) {
            let message = "a row says when its next slot is, and a timer with a delay does not \
                           know; allowed are cron, every and at";
            return Err(document.error(&at("schedule"), message));
        }
        if timer.registrations > 1 {
            let message = "a timer has one row; allowed is 1";
            return Err(document.error(&at("registrations"), message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn refusal(text: &str) -> String {
        let error = Scenario::parse(text, "t.toml").expect_err("it is refused");
        error.to_string()
    }

    #[test]
    fn what_could_not_act_is_refused_with_what_is_allowed() {
        const POLLED: &str = "[topology]\nkind = 'polled'\n";
        for (text, says) in [
            (
                "take = 'skip_locked'".to_owned(),
                "needs rows that workers claim",
            ),
            (
                "rows = 'runs'\n[dispatch]\norder = 'one_transaction'".to_owned(),
                "allowed is \"outbox\"",
            ),
            (
                "[dispatch]\norder = 'outbox'".to_owned(),
                "nothing is published",
            ),
            (
                "[dispatch]\norder = 'dispatch_then_advance'".to_owned(),
                "records the position",
            ),
            (
                "[dispatch]\ncatch_up = 'one'".to_owned(),
                "allowed is \"all\"",
            ),
            (
                "schedulers = 2".to_owned(),
                "does not belong to topology polled",
            ),
            ("poll = '0s'".to_owned(), "longer than zero"),
            (
                "[recovery]\ndead_since = 'start'".to_owned(),
                "needs rows that workers claim",
            ),
        ] {
            let told = refusal(&format!("{POLLED}{text}"));
            assert!(told.contains(says), "{told}");
        }
        let told = refusal("[topology]\nworkers = 3");
        assert!(
            told.contains("does not belong to topology queued"),
            "{told}"
        );
    }

    #[test]
    fn workers_have_names_and_a_written_out_file_reads_back() {
        for rows in ["timers", "runs"] {
            let text = format!("[topology]\nkind = 'polled'\nworkers = 3\nrows = '{rows}'");
            let scenario = Scenario::parse(&text, "t.toml").expect("a scenario");
            assert_eq!(
                scenario.instance_names(),
                ["worker-1", "worker-2", "worker-3"]
            );
            let again = Scenario::parse(&scenario.written_out(), "t.toml").expect("the same");
            assert_eq!(again.canonical(), scenario.canonical());
        }
    }

    #[test]
    fn what_belongs_to_polled_is_not_in_the_hash_of_others() {
        let canonical = Scenario::default().canonical();
        for key in [
            "workers",
            "rows",
            "poll",
            "\"take\"",
            "stop_heartbeat",
            "dead_since",
        ] {
            assert!(!canonical.contains(key), "{key}");
        }
    }
}
