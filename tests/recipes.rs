//! The recipes for many machines, with local processes in the place of machines: the command lines
//! that stand in them, and the variables that each kind of machine sets.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Small enough for a test, and with a bit of everything.
const SCENARIO: &str = "
name = 'small'
[[timer]]
id = 'report'
slots = 1
[topology]
schedulers = 1
executors = 1
[guard]
kind = 'state_machine'
[downstream]
protection = { kind = 'idempotency_key' }
[explore]
seeds = '1..2'
";

const SHARDS: u32 = 3;

/// A folder with the scenario, in which commands run that find runkey and nothing else of ours.
struct Machine {
    folder: TempDir,
    path: String,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("small.toml"), SCENARIO).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_runkey")).parent().unwrap();
        let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
        Machine { folder, path }
    }

    /// Runs a script; its stdout.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> String {
        let output = Command::new("sh")
            .args(["-euc", script])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("SCENARIO", "small.toml")
            .env("FAULTS", "2")
            .env("SHARDS", SHARDS.to_string())
            .env("JOURNALS", ".")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}\n{told}");
        assert_eq!(told, "", "{script}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).unwrap()
    }

    /// The shards together are what one process gives, to the byte.
    fn merges_into_what_one_process_gives(&self, merge: &str) {
        let certificate = merge.rsplit(' ').next().unwrap().replace("\"", "");
        let certificate = certificate.replace("$JOURNALS", ".");
        let alone =
            format!("runkey check small.toml --faults 2 --no-timing --certificate {certificate}");
        for format in ["human", "json", "jsonl"] {
            let expected = self.run(&format!("{alone} --format {format}"), &[]);
            let sealed = self.read(&certificate);
            fs::remove_file(self.folder.path().join(&certificate)).unwrap();
            let merged = self.run(&format!("{merge} --format {format}"), &[]);
            assert_eq!(merged, expected);
            assert_eq!(self.read(&certificate), sealed);
        }
    }
}

fn recipe(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/recipes")
        .join(name)
}

/// The one line of a recipe that begins so.
fn line(name: &str, begin: &str) -> String {
    let text = fs::read_to_string(recipe(name)).unwrap();
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(begin));
    let line = lines.next().unwrap().to_owned();
    assert_eq!(lines.next(), None);
    line
}

#[test]
fn the_ci_matrix_gives_what_one_process_gives() {
    let machine = Machine::new();
    let check = line("github-matrix.yml", "runkey check ");
    for shard in 1..=SHARDS {
        machine.run(&check, &[("SHARD", &shard.to_string())]);
    }
    machine.merges_into_what_one_process_gives(&line("github-matrix.yml", "runkey merge "));
}

#[test]
fn the_kubernetes_job_gives_what_one_process_gives() {
    let machine = Machine::new();
    let name = "kubernetes-indexed-job.yaml";
    let (check, done) = (line(name, "runkey check "), line(name, "touch "));
    for index in 0..SHARDS {
        let index = index.to_string();
        machine.run(
            &format!("{check}\n{done}"),
            &[("JOB_COMPLETION_INDEX", &index)],
        );
    }
    machine.run(&line(name, "until "), &[]);
    machine.merges_into_what_one_process_gives(&line(name, "runkey merge "));
}

#[test]
fn the_slurm_array_gives_what_one_process_gives() {
    let machine = Machine::new();
    let script = recipe("slurm-array.sh").display().to_string();
    let script = format!("sh '{script}'");
    for task in 1..=SHARDS {
        machine.run(
            &script,
            &[
                ("SLURM_ARRAY_TASK_ID", &task.to_string()),
                ("SLURM_CPUS_PER_TASK", "1"),
            ],
        );
    }
    let told = machine.run(&script, &[]);
    assert!(told.contains("EXACTLY ONCE"), "{told}");
    machine.merges_into_what_one_process_gives(&line("slurm-array.sh", "runkey merge "));
}
