#![allow(clippy::unwrap_used)]
use super::*;

type Api = Downstream<&'static str, u8, ()>;

fn api(terms: Terms) -> Api {
    let mut api = Api::default();
    api.open(terms);
    api
}

fn keyed(key: &'static str, content: &'static str) -> Request<&'static str> {
    Request {
        key: Some(key),
        fence: None,
        content: Some(content),
    }
}

fn bare(content: &'static str) -> Request<&'static str> {
    Request {
        key: None,
        fence: None,
        content: Some(content),
    }
}

fn fenced(fence: u64) -> Request<&'static str> {
    Request {
        key: None,
        fence: Some(("report", fence)),
        content: None,
    }
}

/// A request from its arrival to its answer, 10 ms later where it is at work.
fn ask(api: &mut Api, now: Ms, request: Request<&'static str>) -> Answer {
    match api.arrive(now, Some(1), (), request) {
        Arrived::Answered(answer) => answer,
        Arrived::Working(number) => api.finish(now + 10, number, None).unwrap().answer,
        Arrived::Waiting => panic!("nothing is at work"),
    }
}

const KEYS: Terms = Terms {
    retention: Some(100),
    in_flight: InFlight::Wait,
    on_mismatch: OnMismatch::Ignore,
    dedup_window: None,
    lookup_lag: 0,
};

#[test]
fn a_key_is_remembered_from_the_end_of_its_effect_for_its_retention() {
    let mut api = api(KEYS);
    assert_eq!(ask(&mut api, 0, keyed("k", "a")), Answer::Performed);
    assert_eq!(ask(&mut api, 109, keyed("k", "a")), Answer::Repeated);
    assert_eq!(ask(&mut api, 110, keyed("k", "a")), Answer::Performed);
}

#[test]
fn a_key_with_another_content_is_refused_where_contents_are_compared() {
    for (on_mismatch, answer) in [
        (OnMismatch::Ignore, Answer::Repeated),
        (OnMismatch::Refuse, Answer::Mismatch),
    ] {
        let mut api = api(Terms {
            on_mismatch,
            ..KEYS
        });
        assert_eq!(ask(&mut api, 0, keyed("k", "a")), Answer::Performed);
        assert_eq!(ask(&mut api, 20, keyed("k", "b")), answer);
        assert_eq!(ask(&mut api, 20, keyed("k", "a")), Answer::Repeated);
    }
}

#[test]
fn a_key_that_is_in_flight_waits_is_refused_or_is_not_noticed() {
    for (in_flight, second) in [
        (InFlight::Wait, Arrived::Waiting),
        (InFlight::Conflict, Arrived::Answered(Answer::InProgress)),
        (InFlight::Naive, Arrived::Working(1)),
    ] {
        let mut api = api(Terms { in_flight, ..KEYS });
        assert_eq!(
            api.arrive(0, Some(1), (), keyed("k", "a")),
            Arrived::Working(0)
        );
        assert_eq!(api.arrive(5, Some(2), (), keyed("k", "a")), second);
        let answers = api.finish(10, 0, None).unwrap().answers;
        match in_flight {
            InFlight::Wait => {
                assert_eq!(answers, [(1, Answer::Performed), (2, Answer::Repeated)]);
            }
            _ => assert_eq!(answers, [(1, Answer::Performed)]),
        }
    }
}

#[test]
fn equal_contents_within_the_window_are_one_whatever_their_keys() {
    let mut api = api(Terms {
        dedup_window: Some(50),
        ..Terms::default()
    });
    assert_eq!(ask(&mut api, 0, bare("a")), Answer::Performed);
    assert_eq!(ask(&mut api, 59, keyed("k", "a")), Answer::Repeated);
    assert_eq!(ask(&mut api, 59, bare("b")), Answer::Performed);
    assert_eq!(ask(&mut api, 60, bare("a")), Answer::Performed);
}

#[test]
fn the_window_does_not_see_a_request_that_is_still_at_work() {
    let mut api = api(Terms {
        dedup_window: Some(50),
        ..Terms::default()
    });
    assert_eq!(api.arrive(0, None, (), bare("a")), Arrived::Working(0));
    assert_eq!(api.arrive(5, None, (), bare("a")), Arrived::Working(1));
    for number in 0..2 {
        assert_eq!(
            api.finish(10, number, None).unwrap().answer,
            Answer::Performed
        );
    }
}

#[test]
fn a_look_up_finds_an_effect_only_after_its_lag() {
    let mut api = api(Terms {
        lookup_lag: 30,
        ..Terms::default()
    });
    assert_eq!(ask(&mut api, 0, keyed("k", "a")), Answer::Performed);
    assert!(!api.lookup(39, &"k"));
    assert!(api.lookup(40, &"k"));
    assert!(!api.lookup(40, &"other"));
}

#[test]
fn a_superseded_token_is_refused_when_it_arrives_and_when_its_work_is_over() {
    let mut api = api(Terms::default());
    assert_eq!(api.arrive(0, None, (), fenced(1)), Arrived::Working(0));
    assert_eq!(ask(&mut api, 1, fenced(2)), Answer::Performed);
    assert_eq!(api.finish(10, 0, None).unwrap().answer, Answer::Stale);
    assert_eq!(ask(&mut api, 20, fenced(1)), Answer::Stale);
}

#[test]
fn a_purge_forgets_what_is_done_and_not_what_is_at_work() {
    let mut api = api(KEYS);
    assert_eq!(ask(&mut api, 0, keyed("done", "a")), Answer::Performed);
    assert_eq!(
        api.arrive(11, Some(1), (), keyed("at work", "a")),
        Arrived::Working(1)
    );
    api.purge();
    assert_eq!(
        api.arrive(12, Some(2), (), keyed("at work", "a")),
        Arrived::Waiting
    );
    assert_eq!(ask(&mut api, 12, keyed("done", "a")), Answer::Performed);
    assert!(
        api.lookup(12, &"done"),
        "the effect itself is not forgotten"
    );
}
