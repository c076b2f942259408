//! Who is handed a message, and who is not.
#![allow(clippy::unwrap_used)]

use evidence::{Verdict, What};
use runkey_sim::{Parts, Setup, run};
use scenarios::Scenario;
use scenarios::spec::{Fault, FaultKind, Phase, Plan};
use scheduler::steps;

/// One delivery is all that a message gets.
const ONE_DELIVERY: &str = "
timer = [{ id = 'report', slots = 1 }]
[broker]
max_deliver = 1
";

#[test]
fn a_consumer_that_stops_while_its_poll_is_on_its_way_is_handed_nothing() {
    let scenario = Scenario::parse(ONE_DELIVERY, "one-delivery.toml").unwrap();
    let setup = Setup::new(&scenario, Parts::default()).unwrap();
    let sites = run(&setup, 1, &Plan::empty()).sites;
    let polls = sites.iter().map(|reached| reached.site).filter(|site| {
        site.step == steps::BROKER_DELIVER.number && site.phase == Phase::Before && site.n == 1
    });
    let mut stopped = 0;
    for site in polls {
        let plan = Plan {
            faults: vec![Fault {
                site,
                kind: FaultKind::GracefulStop,
                magnitude_ms: 0,
            }],
        };
        let outcome = run(&setup, 1, &plan);
        let says = |what: &What| {
            let events = outcome.history.events.iter();
            events.filter(|event| event.what == *what).count()
        };
        assert_eq!(says(&What::Stopped), 1);
        assert_eq!(says(&What::Delivered), 1);
        assert_eq!(says(&What::AttemptStarted), 1);
        assert_eq!(outcome.judgement.verdict, Verdict::ExactlyOnce);
        stopped += 1;
    }
    assert_eq!(stopped, 2, "one poll of each executor");
}
