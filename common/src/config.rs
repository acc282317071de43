//! TOML files: options and cases.
//!
//! An unknown key or name is an error that suggests the nearest known one. The structs themselves tell the known ones, so
//! no list of them can drift from the structs.

use crate::{Error, ErrorKind};
use cutlink_device::limits::{self, LimitError, MAX_CASE, MAX_TABLE, Readable};
use reader::{Mistake, Refusal, Unknown};
use serde::de::DeserializeOwned;
use std::path::Path;

mod reader;

/// Reads a file.
///
/// # Errors
/// A file that cannot be read, is not TOML, has an unknown key (the nearest known one is suggested) or a value of the
/// wrong type, each with line and column.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    parse(&path.display().to_string(), &text(path)?)
}

/// The text of a case or of options: of a regular file or a pipe, up to [`MAX_CASE`] bytes.
///
/// # Errors
/// A file that cannot be read, of another kind, too large, or no text.
pub fn text(path: &Path) -> Result<String, Error> {
    limited(path, MAX_CASE)
}

/// As [`text`], of a table of numbers: up to [`MAX_TABLE`] bytes.
///
/// # Errors
/// As [`text`].
pub fn table(path: &Path) -> Result<String, Error> {
    limited(path, MAX_TABLE)
}

fn limited(path: &Path, most: u64) -> Result<String, Error> {
    limits::read_text(path, Readable::FilesAndPipes, most).map_err(|e| {
        let kind = match e {
            LimitError::Memory { .. } => ErrorKind::Memory,
            _ => ErrorKind::Input,
        };
        Error::new(kind, format!("cannot read {}", path.display())).because(&e)
    })
}

/// Like [`read`], from text; `name` is used in messages.
///
/// # Errors
/// As [`read`].
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Error> {
    let made = reader::of_text(text).and_then(T::deserialize);
    made.map_err(|Refusal(mistake)| {
        let place = mistake.span.as_ref().map_or_else(String::new, |span| {
            let before = &text[..span.start.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            format!(", line {line}, column {column}")
        });
        refused(&format!("{name}{place}"), *mistake)
    })
}

/// Like [`parse`], from a table in memory. Messages name the key instead of line and column.
///
/// # Errors
/// An unknown key (the nearest known one is suggested), a value of the wrong type.
pub fn from_table<T: DeserializeOwned>(name: &str, table: toml::Table) -> Result<T, Error> {
    T::deserialize(reader::of_table(table)).map_err(|Refusal(mistake)| {
        let place = mistake.path();
        let place = place.map_or_else(String::new, |path| format!(", `{path}`"));
        refused(&format!("{name}{place}"), *mistake)
    })
}

/// The error for a mistake at a place.
fn refused(place: &str, mistake: Mistake) -> Error {
    match mistake.unknown {
        Some(Unknown { what, given, known }) => {
            Error::input(format!("{place}: unknown {what} `{given}`"))
                .hint(suggestion(what, &given, known))
        }
        None => Error::input(format!("{place}: {}", mistake.message)),
    }
}

/// The nearest of the known names, and all of them: "did you mean `x`? keys: x, y".
pub fn suggestion(what: &str, given: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(given, a).total_cmp(&strsim::jaro_winkler(given, b)))
        .filter(|k| strsim::jaro_winkler(given, k) > 0.7);
    let all = known.join(", ");
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`? {what}s: {all}"),
        None => format!("{what}s: {all}"),
    }
}
