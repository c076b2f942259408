//! Each comparison of the harness can fail: a vector that is wrong in one place is found to
//! disagree, at that place.

use crate::report::Outcome;
use crate::{Vector, replay};
use serde_json::{Value, json};

/// Two sessions want one row: steps, a wait, its release, an error, a final state.
fn right() -> Value {
    let step = |session: &str, sql: &str, expect: Value| json!({"session": session, "sql": sql, "expect": expect});
    json!({
        "id": "W1", "server": "postgresql", "claim": "A1", "isolation": "READ COMMITTED",
        "sessions": ["A", "B"],
        "setup": [
            "CREATE TABLE run (id SERIAL PRIMARY KEY, run_key VARCHAR(64) NOT NULL, UNIQUE (run_key))",
            "INSERT INTO run(run_key) VALUES('k1')"
        ],
        "steps": [
            step("A", "BEGIN", json!({"tag": "BEGIN"})),
            step("A", "SELECT run_key FROM run ORDER BY id", json!({"rows": [["k1"]]})),
            step("A", "UPDATE run SET run_key='k2' WHERE run_key='k1'", json!({"affected": 1})),
            step("B", "UPDATE run SET run_key='k3' WHERE run_key='k1'",
                json!({"blocks": true, "by": ["A"]})),
            step("A", "SELECT count(*) FROM run", json!({"rows": [[1]]})),
            step("A", "COMMIT", json!({"tag": "COMMIT"})),
            json!({"session": "B", "op": "await", "expect": {"affected": 0}}),
            step("B", "INSERT INTO run(run_key) VALUES('k2')", json!({"error": "23505"}))
        ],
        "final_state": {"query": "SELECT run_key FROM run ORDER BY id", "result": [["k2"]]}
    })
}

/// What comes of it where one place is another.
fn with(place: &str, value: Value) -> String {
    let mut vector = right();
    if let Some(at) = vector.pointer_mut(place) {
        *at = value;
    }
    let vector: Vector = serde_json::from_value(vector).expect("it is of the format");
    match replay(&vector) {
        Some(Outcome::Disagreed { step, why }) => format!("step {step}: {why}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn the_right_vector_agrees() {
    assert_eq!(with("/id", json!("W1")), "Some(Agreed)");
}

#[test]
fn a_wrong_tag_row_count_blocker_error_or_final_state_is_found_where_it_is() {
    let wrong = [
        (
            "/steps/0/expect/tag",
            json!("COMMIT"),
            "step 1: its tag is BEGIN",
        ),
        (
            "/steps/1/expect/rows/0/0",
            json!("k9"),
            "step 2: the rows are",
        ),
        (
            "/steps/2/expect/affected",
            json!(2),
            "step 3: 1 rows are affected, not 2",
        ),
        (
            "/steps/3/expect/by/0",
            json!("B"),
            r#"step 4: it waits for ["A"], not for ["B"]"#,
        ),
        (
            "/steps/3/expect",
            json!({"affected": 0}),
            r#"step 4: it waits for ["A"]"#,
        ),
        (
            "/steps/4/expect",
            json!({"error": "25P02"}),
            "step 5: it should fail with 25P02",
        ),
        (
            "/steps/2/expect",
            json!({"blocks": true, "by": ["B"]}),
            "step 3: it should wait for",
        ),
        (
            "/steps/6/expect/affected",
            json!(1),
            "step 7: 0 rows are affected, not 1",
        ),
        (
            "/steps/7/expect/error",
            json!("40001"),
            "step 8: it fails with 23505, not with 40001",
        ),
        (
            "/steps/7/expect",
            json!({"affected": 1}),
            "step 8: it fails with 23505",
        ),
        ("/final_state/result", json!([]), "step 9: the rows are"),
    ];
    for (place, value, found) in wrong {
        let said = with(place, value);
        assert!(said.starts_with(found), "{place}: {said}");
    }
}

#[test]
fn a_wait_that_ends_before_the_step_that_should_release_it_is_found() {
    // The answer is fetched one step after the COMMIT, so that the COMMIT may not have released it.
    let steps = &mut right()["steps"];
    let mut steps = steps.as_array_mut().map(std::mem::take).unwrap_or_default();
    steps.insert(
        6,
        json!({"session": "A", "sql": "SELECT 1", "expect": {"rows": [[1]]}}),
    );
    assert_eq!(
        with("/steps", Value::Array(steps)),
        "step 6: B should still wait, but is done: 0 affected"
    );
}

#[test]
fn a_wait_that_nothing_releases_is_found() {
    let steps = &mut right()["steps"];
    let mut steps = steps.as_array_mut().map(std::mem::take).unwrap_or_default();
    steps.remove(5);
    assert_eq!(
        with("/steps", Value::Array(steps)),
        r#"step 6: it still waits for ["A"]"#
    );
}

#[test]
fn a_race_with_an_outcome_that_does_not_come_out_is_found() {
    let mut vector = right();
    let mut other = vector["steps"].clone();
    other[6]["expect"] = json!({"affected": 1});
    vector["variants"] = json!([
        {"steps": vector["steps"], "final_state": vector["final_state"]},
        {"steps": other, "final_state": vector["final_state"]}
    ]);
    vector["steps"] = json!([]);
    vector["final_state"] = Value::Null;
    let vector: Vector = serde_json::from_value(vector).expect("it is of the format");
    let said = replay(&vector).map(|outcome| outcome.to_string());
    let found = "disagreed at step 7: outcome 2 does not come out: 0 rows are affected, not 1";
    assert_eq!(said.as_deref(), Some(found));
}
