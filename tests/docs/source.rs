//! Reads what the sources say of a type: its fields and variants with their doc comments.
//!
//! The sources are formatted by rustfmt, so that a line tells by its indentation what it is.

use crate::files;

/// A struct with named fields, or an enum.
pub struct Item {
    /// Its fields or variants.
    pub members: Vec<Member>,
    /// Its `#[..]` lines.
    attributes: String,
}

/// A field or a variant.
#[derive(Default)]
pub struct Member {
    /// Its doc comment, one line.
    pub about: String,
    /// Its type; of a variant what it holds, if anything.
    pub of: String,
    /// Fields of a variant that has any.
    pub fields: Vec<Member>,
    name: String,
    attributes: String,
}

impl Member {
    /// As a scenario file writes a field.
    pub fn key(&self) -> String {
        quoted_after(&self.attributes, "rename = ").unwrap_or_else(|| self.name.clone())
    }

    /// True if no file may say it.
    pub fn is_skipped(&self) -> bool {
        self.attributes.contains("serde(skip)")
    }
}

impl Item {
    /// As a scenario file writes a variant of this enum.
    pub fn word(&self, variant: &Member) -> String {
        if let Some(word) = quoted_after(&variant.attributes, "rename = ") {
            return word;
        }
        let case = quoted_after(&self.attributes, "rename_all = ");
        let between = match case.as_deref() {
            Some("kebab-case") => '-',
            _ => '_',
        };
        let mut word = String::new();
        for letter in variant.name.chars() {
            if letter.is_uppercase() && !word.is_empty() {
                word.push(between);
            }
            word.extend(letter.to_lowercase());
        }
        word
    }

    /// True if a scenario file writes its variants as words.
    pub fn is_words(&self) -> bool {
        self.attributes.contains("rename_all")
            && self.members.iter().all(|member| member.of.is_empty())
    }
}

/// The text between the quotes after `key`.
fn quoted_after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(key)?;
    let (word, _) = rest.strip_prefix('"')?.split_once('"')?;
    Some(word.to_owned())
}

/// What a line of a doc comment says, in the words of a scenario file; links lose their brackets.
fn told(line: &str) -> Option<String> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = text.replace("[`", "`").replace("`]", "`");
    // A file has no `None`: it does not say the key.
    Some(text.replace("`None`:", "left out:"))
}

/// The doc comment on top of a file.
pub fn module(path: &str) -> String {
    let text = files::read(path);
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    let lines: Vec<String> = lines.filter_map(told).collect();
    lines.join("\n").trim().to_owned()
}

/// The struct or enum with this name, if the file has it.
pub fn find(path: &str, name: &str) -> Option<Item> {
    let text = files::read(path);
    let mut lines = text.lines();
    let mut attributes = String::new();
    let heads = [
        format!("pub struct {name} {{"),
        format!("pub enum {name} {{"),
        format!("pub struct {name} {{}}"),
    ];
    while let Some(line) = lines.next() {
        if heads.iter().any(|head| head == line) {
            let members = match line.ends_with("{}") {
                true => Vec::new(),
                false => members(&mut lines, "    "),
            };
            return Some(Item {
                members,
                attributes,
            });
        }
        match line.starts_with("#[") || line.starts_with("    ") && !attributes.is_empty() {
            true => attributes.push_str(line),
            false => attributes.clear(),
        }
    }
    None
}

/// The members up to the brace that closes them.
fn members<'a>(lines: &mut impl Iterator<Item = &'a str>, indent: &str) -> Vec<Member> {
    let mut members = Vec::new();
    let mut member = Member::default();
    while let Some(line) = lines.next() {
        let Some(text) = line.strip_prefix(indent) else {
            match line.is_empty() {
                true => continue,
                false => break,
            }
        };
        if let Some(about) = told(text) {
            if !member.about.is_empty() {
                member.about.push(' ');
            }
            member.about.push_str(&about);
        } else if text.starts_with("#[") {
            member.attributes.push_str(text);
        } else {
            let text = text.strip_prefix("pub ").unwrap_or(text);
            if let Some(name) = text.strip_suffix(" {") {
                member.name = name.to_owned();
                member.fields = self::members(lines, &format!("{indent}    "));
            } else {
                let text = text.trim_end_matches(',');
                // `name: Type`, `Variant`, `Variant = 1` or `Variant(Type)`.
                let text = text.split(" = ").next().unwrap_or(text);
                let parts = text.split_once(": ").or(text.split_once('('));
                let (name, of) = parts.unwrap_or((text, ""));
                member.name = name.to_owned();
                member.of = of.trim_end_matches(')').to_owned();
            }
            members.push(std::mem::take(&mut member));
        }
    }
    members
}

/// The numbers that a file declares, each `const NAME: type = number;`, with what they mean.
pub fn numbers(path: &str) -> Vec<(String, String)> {
    let text = files::read(path);
    let mut about = String::new();
    let mut numbers = Vec::new();
    for line in text.lines() {
        if let Some(told) = told(line) {
            about = format!("{about} {told}").trim().to_owned();
            continue;
        }
        let constant = line
            .strip_prefix("const ")
            .map(|rest| rest.split_once(" = "));
        if let Some(Some((_, value))) = constant
            && let Ok(number) = value.trim_end_matches(';').replace('_', "").parse::<u64>()
        {
            numbers.push((about.clone(), number.to_string()));
        }
        about.clear();
    }
    numbers
}

#[test]
fn fields_and_variants_are_read_with_what_is_said_of_them() {
    let item = find("scenarios/src/file/topology.rs", "TopologyKind").unwrap();
    assert!(item.is_words());
    let words: Vec<String> = item.members.iter().map(|kind| item.word(kind)).collect();
    assert_eq!(words, ["local", "queued", "sharded", "polled", "routed"]);
    let item = find("scenarios/src/file/fault.rs", "FaultTable").unwrap();
    let keys: Vec<String> = item.members.iter().map(Member::key).collect();
    assert_eq!(keys, ["at", "do", "for", "by", "lose", "direction"]);
    assert_eq!(item.members[0].about, "Where it strikes.");
    assert!(find("scenarios/src/file/fault.rs", "NoSuchType").is_none());
}
