//! Every command line that README and the book show is run, and prints what stands below it.
//!
//! A block ` ```console ` holds lines `$ command`, each followed by what it prints, or by nothing where
//! that does not matter. A command ends with 0, or as `# exits with N` behind it says. All of a
//! page run in one folder, in order. Commands of cargo itself are for `.ci/run`.

use crate::files;
use assert_cmd::Command;
use std::path::Path;

/// One command with what stands below it.
#[derive(Debug, PartialEq)]
struct Example {
    /// The lines of the page that show its output.
    lines: std::ops::Range<usize>,
    /// What follows `runkey`.
    args: Vec<String>,
    exits: i32,
}

#[test]
fn every_command_that_a_page_shows_runs_and_prints_what_stands_below_it() {
    for path in files::pages() {
        let text = files::read(&path);
        let folder = tempfile::tempdir().unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the end, so that the places of earlier lines stay what they are.
        let mut shown = Vec::new();
        for example in examples(&text) {
            let printed = run(&example, folder.path(), &path);
            if !example.lines.is_empty() {
                shown.push((example.lines, printed));
            }
        }
        for (place, printed) in shown.into_iter().rev() {
            let stands = lines[place.clone()].join("\n");
            if timeless(&stands) != timeless(printed.trim_end()) {
                lines.splice(place, printed.trim_end().lines().map(str::to_owned));
            }
        }
        files::hold(&path, &(lines.join("\n") + "\n"));
    }
}

/// Runs an example and gives what it prints.
fn run(example: &Example, folder: &Path, page: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runkey"));
    let done = command
        .args(&example.args)
        .current_dir(folder)
        .output()
        .unwrap();
    let (out, err) = (done.stdout, String::from_utf8(done.stderr).unwrap());
    assert_eq!(
        done.status.code(),
        Some(example.exits),
        "{page}: runkey {}\n{err}",
        example.args.join(" ")
    );
    String::from_utf8(out).unwrap() + &err
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut inside, mut ours) = (false, false);
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            ours = false;
        } else if let Some(typed) = line.strip_prefix("$ ").filter(|_| inside) {
            let (typed, remark) = typed.split_once('#').unwrap_or((typed, ""));
            let exits = remark
                .split_once("exits with ")
                .map_or("0", |(_, code)| code.trim());
            let runkey = typed.strip_prefix("runkey ");
            let args = runkey.or_else(|| typed.strip_prefix("cargo run --release -- "));
            ours = args.is_some();
            examples.extend(args.map(|args| Example {
                lines: number + 1..number + 1,
                args: args.split_whitespace().map(str::to_owned).collect(),
                exits: exits.parse().unwrap(),
            }));
        } else if inside
            && ours
            && let Some(example) = examples.last_mut()
        {
            example.lines.end = number + 1;
        }
    }
    for example in &mut examples {
        example.lines.end = without_blank_end(page, &example.lines);
    }
    examples
}

/// The blank line between one output and the next command belongs to neither.
fn without_blank_end(page: &str, lines: &std::ops::Range<usize>) -> usize {
    let shown: Vec<&str> = page.lines().skip(lines.start).take(lines.len()).collect();
    let kept = shown.iter().rposition(|line| !line.trim().is_empty());
    lines.start + kept.map_or(0, |last| last + 1)
}

/// The same without how long it took, which no two runs share.
fn timeless(printed: &str) -> String {
    let lines = printed.lines().map(|line| match line.rsplit_once(", in ") {
        Some((before, _)) if line.trim_start().starts_with("Explored") => before,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn commands_are_found_with_what_they_print() {
    let page = "\
text
```console
$ runkey list
one
two

$ runkey check a.toml --faults 1   # exits with 100
$ cargo test --workspace
not ours
```
$ runkey run not-in-a-block
";
    let example = |lines, args: &[&str], exits| Example {
        lines,
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        exits,
    };
    assert_eq!(
        examples(page),
        [
            example(3..5, &["list"], 0),
            example(7..7, &["check", "a.toml", "--faults", "1"], 100),
        ]
    );
}

#[test]
fn only_the_time_it_took_may_differ() {
    let line = |text: &str| format!("  Explored 1 fault, seeds 1..16{text}");
    assert_eq!(timeless(&line(", in 0.1 s")), timeless(&line(", in 12 s")));
    assert_ne!(
        timeless("Why  it was, in 2 s"),
        timeless("Why  it was, in 3 s")
    );
}
