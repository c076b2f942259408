//! Links between the pages lead somewhere, and the scenarios that they show can be read.

use crate::files;
use assert_cmd::Command;
use scenarios::Scenario;
use std::path::Path;

#[test]
fn every_link_of_a_page_leads_to_a_file_of_the_repository() {
    for page in files::pages() {
        let folder = Path::new(&page).parent().unwrap();
        for link in links(&files::read(&page)) {
            let (path, _) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = files::root().join(folder).join(path);
            assert!(
                target.exists(),
                "{page} links to {link}, which is not there"
            );
        }
    }
}

#[test]
fn the_index_of_the_book_names_every_page() {
    let index = links(&files::read("docs/README.md"));
    for page in files::below("docs", ".md") {
        let name = page.trim_start_matches("docs/");
        assert!(
            name == "README.md" || index.iter().any(|link| link == name),
            "{page}"
        );
    }
}

#[test]
fn every_scenario_that_a_page_shows_is_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for page in files::pages() {
        for (line, block) in blocks(&files::read(&page), "toml") {
            // Lines of a Cargo.toml or of cargo's configuration are no scenario.
            if ["rustflags", "-dependencies]"]
                .iter()
                .any(|cargo| block.contains(cargo))
            {
                continue;
            }
            let name = format!("{page}, block at line {line}");
            let scenario = Scenario::parse(&block, &name).unwrap_or_else(|error| panic!("{error}"));
            if scenario.expect.is_some() {
                let file = folder.path().join("scenario.toml");
                std::fs::write(&file, &block).unwrap();
                let mut runkey = Command::new(env!("CARGO_BIN_EXE_runkey"));
                let done = runkey.arg("check").arg(&file).output().unwrap();
                let told = String::from_utf8_lossy(&done.stdout);
                assert_eq!(done.status.code(), Some(0), "{name}\n{told}");
                checked += 1;
            }
        }
    }
    assert!(checked > 0);
}

#[test]
fn the_configuration_that_a_user_must_add_is_told_alike_everywhere() {
    let says = files::read("sim/src/lib.rs")
        .replace("\\n", "\n")
        .replace("\\\"", "\"");
    let config = files::read(".cargo/config.toml");
    let readme = files::read("README.md");
    let block = blocks(&readme, "toml").into_iter().map(|(_, block)| block);
    let block = block
        .filter(|block| block.contains("rustflags"))
        .collect::<Vec<_>>()
        .join("");
    let lines: Vec<&str> = block
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(lines.len(), 4, "two tables with one key each:\n{block}");
    for line in lines {
        assert!(config.contains(line), ".cargo/config.toml has no `{line}`");
        assert!(
            says.contains(line),
            "the compile error does not say `{line}`"
        );
    }
}

/// The targets of links inside the repository.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for part in page.split("](").skip(1) {
        if let Some((target, _)) = part.split_once(')')
            && !target.starts_with("http")
            && !target.starts_with('#')
        {
            links.push(target.to_owned());
        }
    }
    links
}

/// The blocks in this language, each with the number of its first line.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.strip_prefix("```") != Some(language) {
            continue;
        }
        let block: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .collect();
        blocks.push((number + 2, block.join("\n") + "\n"));
    }
    blocks
}
