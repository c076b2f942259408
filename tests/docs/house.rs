//! Rules of the house that no lint knows: who may name what, and what no file may say.

use crate::files;

const CRATES: [&str; 6] = [
    "evidence",
    "scheduler",
    "servers",
    "scenarios",
    "sim",
    "explore",
];

/// The sources of a crate of the workspace.
fn sources(of: &str) -> Vec<(String, String)> {
    let paths = files::below(&format!("{of}/src"), ".rs").into_iter();
    paths
        .map(|path| (path.clone(), files::read(&path)))
        .collect()
}

/// The lines of a file that are no comment.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn only_the_engine_names_madsim() {
    for of in CRATES.into_iter().chain(["."]) {
        for (path, text) in sources(of) {
            let names =
                code(&text).any(|line| line.contains("madsim::") || line.contains("madsim_tokio"));
            assert!(!names || path == "sim/src/engine.rs", "{path} names madsim");
        }
    }
}

#[test]
fn arrows_between_the_crates_point_downwards() {
    for (place, of) in CRATES.iter().enumerate() {
        let manifest = files::read(&format!("{of}/Cargo.toml"));
        for above in &CRATES[place..] {
            let arrow = manifest.lines().any(|line| {
                line.starts_with(&format!("{above}.")) || line.starts_with(&format!("{above} "))
            });
            assert!(!arrow, "{of} depends on {above}");
        }
    }
}

#[test]
fn what_is_judged_and_what_is_simulated_share_no_async_runtime() {
    for of in ["evidence", "scheduler", "servers", "scenarios"] {
        let manifest = files::read(&format!("{of}/Cargo.toml"));
        let (dependencies, _) = manifest
            .split_once("[dev-dependencies]")
            .unwrap_or((&manifest, ""));
        for runtime in ["tokio", "madsim", "async-std", "smol"] {
            assert!(!dependencies.contains(runtime), "{of} depends on {runtime}");
        }
    }
}

#[test]
fn no_crate_of_the_core_takes_chance_from_elsewhere() {
    for of in CRATES {
        let manifest = files::read(&format!("{of}/Cargo.toml"));
        let (dependencies, _) = manifest
            .split_once("[dev-dependencies]")
            .unwrap_or((&manifest, ""));
        for chance in ["rand", "getrandom", "fastrand", "ahash", "uuid"] {
            let names = |line: &str| line.split(['.', ' ', '=']).next() == Some(chance);
            assert!(!dependencies.lines().any(names), "{of} depends on {chance}");
        }
    }
}

#[test]
fn every_select_is_biased() {
    for folder in CRATES.into_iter().chain(["src", "tests", "benches"]) {
        for path in files::below(folder, ".rs") {
            let text = files::read(&path);
            let lines: Vec<&str> = code(&text).collect();
            for pair in lines.windows(2) {
                let opens = pair[0].trim_end().ends_with(concat!("select", "! {"));
                assert!(
                    !opens || pair[1].trim() == "biased;",
                    "{path}: {}",
                    pair[0].trim()
                );
            }
        }
    }
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    for of in CRATES.into_iter().chain(["."]) {
        let manifest = files::read(&format!("{of}/Cargo.toml"));
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{of}/Cargo.toml"
        );
    }
}
