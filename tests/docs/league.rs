//! `docs/league-table.md`: what the command prints.

use crate::files;
use assert_cmd::Command;

const PAGE: &str = "docs/league-table.md";

/// What stands above it is written by hand.
const MARKER: &str =
    "<!-- From here on generated: RUNKEY_BLESS=1 cargo test --test docs writes it. -->\n";

#[test]
fn the_league_table_is_what_the_command_prints() {
    let page = files::read(PAGE);
    let (by_hand, _) = page
        .split_once(MARKER)
        .expect("the marker above the generated part");
    let done = Command::new(env!("CARGO_BIN_EXE_runkey"))
        .args(["matrix", "--downstream", "--format", "markdown"])
        .output()
        .unwrap();
    assert!(done.status.success());
    let table = String::from_utf8(done.stdout).unwrap();
    files::hold(PAGE, &format!("{by_hand}{MARKER}\n{table}"));
}
