//! The examples do what they say.
#![allow(clippy::unwrap_used)]

use runkey::Verdict;

#[path = "../examples/two_effects.rs"]
#[allow(dead_code)]
mod two_effects;
#[path = "../examples/which_laws.rs"]
#[allow(dead_code)]
mod which_laws;

#[test]
fn a_handler_that_makes_two_effects_is_a_duplicate_without_any_fault() {
    let report = two_effects::explored().unwrap();
    assert_eq!(report.verdict(), Some(Verdict::Duplicate));
    assert_eq!(report.faults_needed(), Some(0));
    assert_eq!(report.effects(), Some(2));
}

#[test]
fn the_table_of_laws_names_guard_law_and_plan() {
    insta::assert_snapshot!(which_laws::table().unwrap());
}
