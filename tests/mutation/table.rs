//! The table of the mutation run, as a snapshot and as a page of the book.

use crate::{RANDOM_PLANS, Row};
use std::fmt::Write;

const PAGE: &str = "docs/mutants.md";
const FROM: &str = "<!-- the table: written by the mutation run -->\n";
const TO: &str = "<!-- end of the table -->\n";

/// A row a mutant: what became of it.
pub fn table(rows: &[Row]) -> String {
    let mut table = String::new();
    for row in rows {
        let (weakness, scenario) = (row.mutant.weakness, row.mutant.scenario);
        let found = match &row.found {
            None => "equivalent: no plan breaks the promise".to_owned(),
            Some((verdict, faults, plan)) => format!("{verdict}, {faults}: {plan}"),
        };
        let by_chance = percent(row.by_chance);
        writeln!(table, "{weakness} in {scenario} ({by_chance})\n    {found}").unwrap();
    }
    table
}

/// The share of the random plans that fail.
fn percent(failing: u64) -> String {
    format!("{:.1} %", failing as f64 * 100.0 / RANDOM_PLANS as f64)
}

/// The same, for people.
fn page(rows: &[Row]) -> String {
    let mut page = String::from(
        "| mutant | what the line does | scenario | verdict | faults | at random |\n\
         |---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (weakness, scenario) = (row.mutant.weakness, row.mutant.scenario);
        let (verdict, faults) = match &row.found {
            None => ("equivalent".to_owned(), "-".to_owned()),
            Some((verdict, faults, _)) => (verdict.to_string(), faults.to_string()),
        };
        let (does, by_chance) = (weakness.does(), percent(row.by_chance));
        writeln!(
            page,
            "| `{weakness}` | {does} | {scenario} | {verdict} | {faults} | {by_chance} |"
        )
        .unwrap();
    }
    for row in rows {
        if let Some(why) = row.mutant.equivalent {
            let (weakness, scenario) = (row.mutant.weakness, row.mutant.scenario);
            writeln!(
                page,
                "\n`{weakness}` is equivalent in {scenario}: every plan keeps the promise, since \
                 {why}."
            )
            .unwrap();
        }
    }
    page
}

/// The page of the book has this table; written anew with `RUNKEY_BLESS=1`.
pub fn hold_page(rows: &[Row]) {
    let text = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = text.split_once(FROM).unwrap();
    let (held, after) = rest.split_once(TO).unwrap();
    let page = page(rows);
    if std::env::var_os("RUNKEY_BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(PAGE, format!("{before}{FROM}{page}{TO}{after}")).unwrap();
    } else {
        assert_eq!(held, page, "RUNKEY_BLESS=1 writes {PAGE} anew");
    }
}
