//! Every rule of a model that is broken on purpose turns a vector red.

use crate::report::Outcome;
use crate::{own_folder, replay, vectors_of};
use servers::broken::{self, Broken};

/// The vectors that are red now.
fn red() -> Vec<String> {
    let mut vectors = vectors_of(&own_folder()).expect("the vectors of this project");
    let recorded = vectors_of(&own_folder().join("recorded"));
    vectors.extend(recorded.expect("the recordings beside them"));
    let red = |outcome: &Outcome| matches!(outcome, Outcome::Disagreed { .. });
    let vectors = vectors.into_iter();
    vectors
        .filter(|vector| replay(vector).as_ref().is_some_and(red))
        .map(|vector| vector.id)
        .collect()
}

/// Which vectors each rule turns red: `broken.txt`, a line for each rule; `RUNKEY_BLESS=1` writes it
/// anew.
#[test]
fn every_rule_that_is_broken_turns_a_vector_red() {
    assert_eq!(red(), [""; 0], "without a broken rule");
    let mut lines = String::new();
    for rule in Broken::ALL {
        broken::set(Some(rule));
        let red = red();
        broken::set(None);
        assert!(!red.is_empty(), "{rule:?} is broken, and no vector tells");
        lines.push_str(&format!("{rule:?}: {}\n", red.join(" ")));
    }
    let table = own_folder().join("broken.txt");
    if std::env::var_os("RUNKEY_BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(&table, &lines).expect("the table can be written");
    }
    let held = std::fs::read_to_string(&table).expect("the table is there");
    assert_eq!(
        held,
        lines,
        "RUNKEY_BLESS=1 writes {} anew",
        table.display()
    );
}
