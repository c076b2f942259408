//! One call of the command, and what came of it.

use assert_cmd::cargo::cargo_bin_cmd;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// What one call gave.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A folder with files in it, from which the command is called.
pub struct Folder(TempDir);

/// An empty folder.
pub fn folder() -> Folder {
    Folder(tempfile::tempdir().unwrap())
}

/// Calls the command in an empty folder.
pub fn runkey(args: &[&str]) -> Done {
    folder().runkey(args)
}

impl Folder {
    pub fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.path().join(name), content).unwrap();
        self
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn runkey(&self, args: &[&str]) -> Done {
        self.runkey_with(&[], args)
    }

    pub fn runkey_with(&self, environment: &[(&str, &str)], args: &[&str]) -> Done {
        let output = cargo_bin_cmd!("runkey")
            .args(args)
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        Done {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    /// Insists on an exit code, and shows what was said otherwise.
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// The one JSON document.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Every instance fires for itself: a duplicate without any fault.
pub const REPLICAS: &str = "
name = 'replicas'
[topology]
kind = 'local'
[expect]
verdict = 'duplicate'
layer = 'scheduling'
faults_needed = 0
";

/// A claim between them: sound as long as nothing goes wrong.
pub const CLAIMED: &str = "
name = 'claimed'
[topology]
kind = 'local'
[dispatch]
claim = { kind = 'unique_run_key' }
[expect]
verdict = 'exactly_once'
faults = 0
";

/// The same, stated to survive one fault, which is not true.
pub const OVERSTATED: &str = "
name = 'overstated'
[topology]
kind = 'local'
[dispatch]
claim = { kind = 'unique_run_key' }
[expect]
verdict = 'exactly_once'
faults = 1
";

/// A plan at a site that no execution reaches.
pub const NEVER_REACHED: &str = "
name = 'never-reached'
[topology]
kind = 'local'
[[fault]]
at = { step = 'timer.fire', run = 'report#1', occurrence = 99 }
do = 'crash'
[expect]
verdict = 'lost'
";
