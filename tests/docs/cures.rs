//! `docs/survivors.md`: every change that is tried, from the list that is tried.

use crate::files;
use scenarios::cures::list;
use std::fmt::Write;

const PAGE: &str = "docs/survivors.md";

/// What stands above it is written by hand.
const MARKER: &str =
    "<!-- From here on generated: RUNKEY_BLESS=1 cargo test --test docs writes it. -->\n";

#[test]
fn the_list_of_changes_is_what_is_tried() {
    let page = files::read(PAGE);
    let (by_hand, _) = page
        .split_once(MARKER)
        .expect("the marker above the generated part");
    let mut table = String::from("| change | cost | sets |\n|---|---|---|\n");
    for listed in list() {
        let sets: Vec<String> = (listed.sets.iter())
            .map(|line| format!("`{}`", line.replace('|', "\\|")))
            .collect();
        let (name, cost) = (&listed.name, listed.cost.name());
        writeln!(table, "| {name} | {cost} | {} |", sets.join(", ")).unwrap();
    }
    files::hold(PAGE, &format!("{by_hand}{MARKER}\n{table}"));
}
