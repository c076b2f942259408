//! `runkey matrix`: guard by fault.

use crate::runkey::{Done, runkey};
use ::runkey::report::{Markdown, MatrixReport, MatrixRow, Report};
use ::runkey::{CallError, Entry, Fut, Guard, Outcome, Permit, Settle, Visit};
use explore::Control;
use explore::matrix::{Asked, Column, PerCell, Row, row};
use scenarios::Scenario;
use scenarios::file::Seeds;
use serde_json::Value;
use std::sync::{Arc, Mutex};

fn matrix(more: &[&str]) -> Done {
    runkey(&[&["matrix"], more].concat())
}

fn rows(more: &[&str]) -> Vec<Value> {
    let done = matrix(&[more, &["--format", "json"]].concat()).ends(0);
    done.json()["results"].as_array().unwrap().clone()
}

/// The letters of a row.
fn letters(row: &Value) -> String {
    let cells = row["cells"].as_array().unwrap().iter();
    cells.map(|cell| cell["letter"].as_str().unwrap()).collect()
}

const FEW: [&str; 2] = [
    "--faults=none,crash@downstream.perform:done,crash@guard.enter,pause:past",
    "--seeds=1..4",
];

#[test]
fn a_broken_guard_is_told_from_a_sound_one_and_from_one_that_never_comes_there() {
    let args = ["--guards=none,insert_first,state_machine", "--downstream"];
    let told: Vec<String> = rows(&[&args[..], &FEW[..]].concat())
        .iter()
        .map(|row| format!("{} {}", row["scenario"].as_str().unwrap(), letters(row)))
        .collect();
    assert_eq!(
        told,
        [
            "matrix:none OD-D",
            "matrix:none+idempotency_key OO-O",
            "matrix:none+fencing_token OD-D",
            "matrix:none+lookup_before_retry OO-D",
            "matrix:none+transactional OD-D",
            "matrix:none+quarantine OD-D",
            "matrix:insert_first OULO",
            "matrix:insert_first+idempotency_key OULO",
            "matrix:insert_first+fencing_token OULO",
            "matrix:insert_first+lookup_before_retry OULO",
            "matrix:insert_first+transactional OOLO",
            "matrix:insert_first+quarantine OULO",
            "matrix:state_machine ODOO",
            "matrix:state_machine+idempotency_key OOOO",
            "matrix:state_machine+fencing_token ODOO",
            "matrix:state_machine+lookup_before_retry OOOO",
            "matrix:state_machine+transactional OOOO",
            "matrix:state_machine+quarantine ODOO",
        ]
    );
}

#[test]
fn every_failing_cell_has_a_plan_that_replays_and_no_other_has_one() {
    let mut replayed = 0;
    for row in rows(&[&["--guards=redis_lock,insert_first"], &FEW[..]].concat()) {
        for cell in row["cells"].as_array().unwrap() {
            let fails = !["O", "-"].contains(&cell["letter"].as_str().unwrap());
            assert_eq!(cell["example"].is_object(), fails, "{cell}");
            if !fails {
                continue;
            }
            let example = &cell["example"];
            let line = example["replay"].as_str().unwrap();
            let words: Vec<&str> = line.split(' ').skip(1).collect();
            let again = runkey(&[&words[..], &["--format", "json"]].concat()).ends(0);
            let again = &again.json()["results"][0];
            for key in ["verdict", "layer", "trace_hash", "plan", "seed"] {
                assert_eq!(again[key], example[key], "{line}");
            }
            assert_eq!(again["scenario"], row["scenario"]);
            replayed += 1;
        }
    }
    assert_eq!(replayed, 4);
}

#[test]
fn the_bytes_are_the_same_twice_and_with_any_number_of_threads() {
    for format in ["human", "json", "jsonl", "markdown"] {
        let of = |jobs: &str| {
            let args = ["--guards=lock_row", "--faults-per-cell=2", "--seeds=1..1"];
            matrix(&[&args[..], &["--jobs", jobs, "--format", format]].concat())
                .ends(0)
                .stdout
        };
        assert!(of("1") == of("3"), "{format}");
        assert!(of("3") == of("3"), "{format}");
    }
}

#[test]
fn a_second_fault_breaks_what_one_does_not_and_never_mends_what_one_breaks() {
    let of = |faults: &str| {
        let args = [
            "--guards=state_machine",
            "--faults=crash@guard.finish,lose_reply@broker.ack",
        ];
        letters(&rows(&[&args[..], &["--seeds=1..2", "--faults-per-cell", faults]].concat())[0])
    };
    assert_eq!(of("1"), "DO");
    assert_eq!(of("2"), "DD");
}

#[test]
fn the_table_fits_a_terminal_and_says_what_its_letters_mean() {
    let told = matrix(&["--downstream", "--seeds=1..1"]).ends(0).stdout;
    let (table, plans) = told.split_once("\nnone\n").unwrap();
    for line in table.lines() {
        assert!(line.len() <= 120, "{line}");
    }
    let begins = "queued, 2 schedulers, 2 executors, at-least-once broker, outbox, work 200 ms\n";
    assert!(table.starts_with(begins));
    assert!(table.contains("\nO exactly once  D duplicate  L lost  S stuck  G gave up  "));
    assert!(table.contains("\n- no execution without faults comes to a site "));
    assert!(table.contains("\nstate_machine "));
    assert!(table.contains("\n + idempotency_key "));
    assert!(plans.contains("       runkey replay rk1-"));
}

#[test]
fn all_faults_are_those_that_some_set_up_comes_to() {
    let rows = rows(&["--guards=none,redis_lock", "--faults=all", "--seeds=1..1"]);
    let cells: Vec<&Value> = rows
        .iter()
        .flat_map(|row| row["cells"].as_array().unwrap())
        .collect();
    let reached = |fault: &str| cells.iter().any(|cell| cell["fault"] == fault);
    assert!(reached("none") && reached("crash@broker.ack") && reached("pause@lock.acquire"));
    assert!(!reached("crash@guard.finish"));
    let per_row = cells.len() / 2;
    for (one, other) in cells[..per_row].iter().zip(&cells[per_row..]) {
        assert!(
            !(one["verdict"].is_null() && other["verdict"].is_null()),
            "{one}"
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_is_allowed() {
    let wrong = [
        (
            &["--guards", "mutex"][..],
            2,
            "error: --guards mutex: there is no such guard; allowed are none, process_mutex, ",
        ),
        (
            &["--faults", "crush@broker.ack"],
            2,
            "error: --faults crush@broker.ack: `crush` is no kind of fault; allowed are none, ",
        ),
        (
            &["--faults", "crash@broker.akc"],
            2,
            "error: --faults crash@broker.akc: `broker.akc` is no step; allowed are timer.wait, ",
        ),
        (
            &["--faults", "crash:past"],
            2,
            "error: --faults crash:past: `past` says neither when nor how much; allowed are before, ",
        ),
        (
            &["--faults", "lock_failover@lock.acquire"],
            4,
            "error: --faults lock_failover@lock.acquire: in none of these set-ups ",
        ),
        (&["--faults-per-cell", "3"], 2, "error: invalid value '3'"),
    ];
    for (args, code, says) in wrong {
        let done = matrix(args).ends(code);
        assert!(done.stderr.starts_with(says), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let done = runkey(&["list", "--format", "markdown"]).ends(2);
    assert_eq!(
        done.stderr,
        "error: --format markdown: only matrix has it; allowed for list are human, json, jsonl\n"
    );
}

#[test]
fn a_row_is_a_scenario_under_its_name() {
    let done = runkey(&[
        "check",
        "matrix:none",
        "--seeds",
        "1..1",
        "--format",
        "json",
    ]);
    assert_eq!(done.code, 100);
    let result = &done.json()["results"][0];
    assert_eq!(result["scenario"], "matrix:none");
    assert_eq!(result["verdict"], "duplicate");
}

/// A test's own: remembers in memory what is done, and forgets it with the process.
#[derive(Default)]
struct Remembers(Mutex<Vec<::runkey::Key>>);

impl Guard for Remembers {
    fn enter<'a>(&'a self, visit: Visit<'a>) -> Fut<'a, Result<Entry, CallError>> {
        let entry = match self.0.lock().unwrap().contains(visit.key) {
            true => Entry::Done,
            false => Entry::Run(Permit::first(visit.token)),
        };
        Box::pin(std::future::ready(Ok(entry)))
    }

    fn finish<'a>(
        &'a self,
        visit: Visit<'a>,
        _: &'a Permit,
        outcome: Outcome,
    ) -> Fut<'a, Result<Settle, CallError>> {
        self.0.lock().unwrap().push(visit.key.clone());
        Box::pin(std::future::ready(Ok(outcome.settle_without_record())))
    }
}

#[test]
fn a_guard_of_a_test_is_a_row_like_any_other() {
    let seeds = Seeds { first: 1, last: 4 };
    let columns = ["none", "crash@broker.ack:before", "lose_reply@broker.ack"];
    let columns = columns.map(|text| Column::parse(text).unwrap());
    let scenario = scenarios::matrix::find("matrix:none").unwrap().scenario;
    let parts = |guard: bool| sim::Parts {
        guard: guard.then(|| -> Arc<scheduler::topologies::GuardFactory> {
            Arc::new(|_| Box::new(Remembers::default()))
        }),
        ..sim::Parts::default()
    };
    let answered = |name: &str, own: bool| {
        let setup = sim::Setup::new(&scenario, parts(own)).unwrap();
        let asked = Asked {
            columns: &columns,
            per_cell: PerCell::One,
            seeds: &seeds.iter(),
            control: &Control::new(),
        };
        let of = Row {
            scenario: &scenario,
            execute: &setup,
        };
        MatrixRow {
            guard: name.to_owned(),
            protection: None,
            scenario: Scenario::clone(&scenario),
            answers: row(&asked, of).unwrap(),
        }
    };
    let rows = [answered("none", false), answered("remembers", true)];
    let mut page = Vec::new();
    Markdown::new(&mut page)
        .matrix(&MatrixReport {
            base: "as always",
            columns: &columns,
            per_cell: PerCell::One,
            seeds,
            rows: &rows,
        })
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("\n| none | O | D | O |\n| remembers | O | D | O |\n"),
        "{page}"
    );
}
