//! What is wrong with a scenario file: one sentence, with the place.

use std::fmt;
use std::ops::Range;

/// A line and a column of a file, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Place {
    /// Where the byte at `offset` stands in `text` (the end of the text, if it is shorter).
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A scenario file (or plan file) that cannot be used.
///
/// Prints as one sentence, `file:line:column: what is wrong; what is allowed`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    file: String,
    span: Option<Range<usize>>,
    place: Option<Place>,
    message: String,
}

impl ScenarioError {
    /// About the file as a whole.
    pub(crate) fn whole(file: &str, message: impl Into<String>) -> Self {
        ScenarioError {
            file: file.to_owned(),
            span: None,
            place: None,
            message: message.into(),
        }
    }

    /// About a part of the file's text.
    pub(crate) fn part(
        file: &str,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        ScenarioError {
            file: file.to_owned(),
            place: Some(Place::of(text, span.start)),
            span: Some(span),
            message: message.into(),
        }
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Line and column, where there is one.
    pub const fn place(&self) -> Option<Place> {
        self.place
    }

    /// The bytes of the text that it is about, where there are some.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// What is wrong and what is allowed, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The text of a file, or where it stops being one.
pub(crate) fn utf8<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, ScenarioError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let text = std::str::from_utf8(good).unwrap_or_default();
        let end = good.len()..good.len();
        ScenarioError::part(
            file,
            text,
            end,
            "the file is not UTF-8 from here on; allowed is UTF-8 text",
        )
    })
}
