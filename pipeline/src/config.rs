//! TOML files: the options of a mesh (`--config`, `--write-config`), and the cases of flows.
//!
//! An unknown key or name is an error that suggests the nearest known one. The structs themselves tell the known ones, so
//! no list of them can drift from the structs.

use crate::error::{Error, ErrorKind};
use crate::options::MeshOptions;
use crate::schema;
use cutlink_device::limits::{self, LimitError, MAX_CASE, MAX_TABLE, Readable};
use serde::de::DeserializeOwned;
use std::path::Path;
use unknown::{Unknown, unknown};

mod unknown;

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
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    limited(path, MAX_CASE)
}

/// As [`text`], of a table of numbers: up to [`MAX_TABLE`] bytes.
///
/// # Errors
/// As [`text`].
pub(crate) fn table(path: &Path) -> Result<String, Error> {
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
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(String::new, |span| {
            let before = &text[..span.start.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            format!(", line {line}, column {column}")
        });
        let table = text.parse().ok();
        refused::<T>(&format!("{name}{place}"), error.message(), table)
    })
}

/// Like [`parse`], from a table in memory. Messages name the key instead of line and column.
///
/// # Errors
/// An unknown key (the nearest known one is suggested), a value of the wrong type.
pub fn from_table<T: DeserializeOwned>(name: &str, table: toml::Table) -> Result<T, Error> {
    toml::Value::Table(table.clone())
        .try_into()
        .map_err(|error: toml::de::Error| {
            // Its text ends with the key, on a line of its own.
            let text = error.to_string();
            let place = text.lines().find_map(|line| line.strip_prefix("in "));
            let place = place.map_or_else(String::new, |key| format!(", {}", key.trim()));
            refused::<T>(&format!("{name}{place}"), error.message(), Some(table))
        })
}

/// The error for the parser's message about a place in tables; none if the text has no tables.
fn refused<T: DeserializeOwned>(place: &str, message: &str, table: Option<toml::Table>) -> Error {
    match table.and_then(unknown::<T>) {
        Some(Unknown { what, given, known }) => {
            Error::input(format!("{place}: unknown {what} `{given}`"))
                .hint(suggestion(what, &given, known))
        }
        None => Error::input(format!("{place}: {message}")),
    }
}

/// The options as TOML; [`parse`] reads them back unchanged.
///
/// # Errors
/// None that a user can cause.
pub fn write(options: &MeshOptions) -> Result<String, Error> {
    let body = toml::to_string(options)
        .map_err(|e| Error::input("cannot write the options as TOML").because(&e))?;
    Ok(format!(
        "# cutlink {}: use with `cutlink mesh --config FILE`\n{body}",
        env!("CARGO_PKG_VERSION")
    ))
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

/// The keys that a table of options may hold, in alphabetical order.
pub fn keys() -> Vec<String> {
    schema::keys(&schema::of::<MeshOptions>(), &[]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{
        Axes, DeviceOption, FillRule, FlowSide, Numbers, PolyMeshEncoding, Root, SnapDomain,
    };
    use cutlink_mesher::placement::Unit;

    fn full() -> MeshOptions {
        MeshOptions {
            file: Some(vec!["a b.stl".into(), "c.obj".into()]),
            shape: Some("sphere".into()),
            deviation: Some(1e-3),
            unit: Some(Unit::Mm),
            scale: Some(Numbers::Many(vec![1.0, 2.0, -3.5])),
            rotate: Some(vec!["x:90".parse().expect("a rotation")]),
            fit: Some(Numbers::One(2.0)),
            translate: Some(Numbers::Many(vec![0.1, 0.2, 0.3])),
            domain: Some(Numbers::Many(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0])),
            snap_domain: Some(SnapDomain::Grow),
            periodic: Some(Axes([true, false, true])),
            root: Some(Root::Cells(vec![64, 32, 32])),
            levels: Some(3),
            max_cells: Some(1_000_000),
            wall_distance: Some(0.05),
            fill: Some(FillRule::EvenOdd),
            flow: Some(FlowSide::Inside),
            seed: Some(Numbers::Many(vec![0.5, 0.0, -0.25])),
            close_holes: Some(0.01),
            robust: true,
            check_intersections: true,
            refine: Some(vec![
                "near:*,levels=3,distance=0.5".parse().expect("a rule"),
            ]),
            device: Some(DeviceOption::default()),
            threads: Some(2),
            ranks: Some(3),
            gpus: Some(1),
            output: Some("out".into()),
            polymesh: Some("case".into()),
            polymesh_format: Some(PolyMeshEncoding::Ascii),
            snap: true,
            no_picture: true,
        }
    }

    #[test]
    fn every_option_survives_the_round_trip() {
        let text = write(&full()).expect("TOML");
        assert_eq!(parse("test", &text), Ok(full()), "{text}");
        let table: toml::Table = text.parse().expect("TOML");
        let mut written: Vec<&String> = table.keys().collect();
        let mut keys = keys();
        written.sort();
        keys.sort();
        assert_eq!(written, keys.iter().collect::<Vec<_>>(), "names");
    }

    #[test]
    fn tables_in_memory_are_read_like_texts() {
        let table: toml::Table = write(&full()).expect("TOML").parse().expect("a table");
        assert_eq!(from_table("test", table), Ok(full()));
        let cases = [
            (
                "rooot = 64",
                "test: unknown key `rooot`",
                "did you mean `root`",
            ),
            ("levels = \"three\"", "test, `levels`: ", ""),
        ];
        for (text, message, hint) in cases {
            let table = text.parse().expect("a table");
            let failure = from_table::<MeshOptions>("test", table).expect_err("a mistake");
            assert!(failure.message.starts_with(message), "{failure}");
            assert!(failure.hint.unwrap_or_default().contains(hint), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let cases = [
            ("levels = 3\nrooot = 64\n", "line 2, column 1", "`root`"),
            ("levels = \"three\"\n", "line 1, column 10", ""),
            ("root = \"64y32\"\n", "line 1, column 8", ""),
            ("levels = [\n", "line", ""),
        ];
        for (text, place, hint) in cases {
            let failure = parse::<MeshOptions>("case.toml", text).expect_err("a mistake");
            assert!(failure.message.contains(place), "{failure}");
            assert!(failure.message.starts_with("case.toml"), "{failure}");
            assert!(failure.hint.unwrap_or_default().contains(hint), "{text}");
        }
        let far = parse::<MeshOptions>("case.toml", "qqqq = 1").expect_err("no such key");
        let hint = far.hint.unwrap_or_default();
        assert!(!hint.contains("did you mean"), "{hint}");
        let mut named: Vec<&str> = hint.trim_start_matches("keys: ").split(", ").collect();
        let mut keys = keys();
        named.sort_unstable();
        keys.sort();
        assert_eq!(named, keys, "all of them");
    }
}
