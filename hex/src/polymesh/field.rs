//! Fields of a time folder: values of cells and of boundary faces, and everything else as it is.

use super::foam::Source;
use crate::MeshFileError;
use std::io::{self, Write};
use std::path::Path;

/// A value of a field's file.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Text up to its `;`, or a sub-dictionary with its braces.
    Text(String),
    /// A list, one entry of `components` numbers for each cell or face.
    List {
        /// The list's type, such as `List<vector>`.
        kind: String,
        /// Numbers an entry.
        components: usize,
        /// All numbers.
        values: Vec<f64>,
    },
}

/// Keywords and values in their order.
pub type FieldEntries = Vec<(String, FieldValue)>;

/// A field, such as `0/p`.
#[derive(Debug, Clone, PartialEq)]
pub struct FoamField {
    /// OpenFOAM's class, such as `volScalarField`.
    pub class: String,
    /// Entries but `boundaryField`.
    pub entries: FieldEntries,
    /// Entries of each patch, or of patches that a regular expression names.
    pub patches: Vec<(String, FieldEntries)>,
}

impl FoamField {
    /// Reads a field; `None` where the file is not one: another class, or no file of OpenFOAM.
    ///
    /// # Errors
    /// A field that is damaged, by name and place.
    pub fn read(path: &Path) -> Result<Option<Self>, MeshFileError> {
        let mut source = match Source::open(path) {
            Ok(Some(source)) => source,
            Ok(None) | Err(MeshFileError::Syntax { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !source.class.ends_with("Field") {
            return Ok(None);
        }
        let mut field = Self {
            class: source.class.clone(),
            entries: Vec::new(),
            patches: Vec::new(),
        };
        while !source.is_end() {
            let key = source.word()?;
            if key != "boundaryField" {
                let value = value(&mut source, &key)?;
                field.entries.push((key, value));
                continue;
            }
            source.skip(b'{')?;
            while !source.take(b'}') {
                let patch = source.word()?;
                let mut entries = Vec::new();
                if patch.starts_with('#') {
                    let line = value(&mut source, &patch)?;
                    field.patches.push((patch.clone(), vec![(patch, line)]));
                    continue;
                }
                source.skip(b'{')?;
                while !source.take(b'}') {
                    let key = source.word()?;
                    let value = value(&mut source, &key)?;
                    entries.push((key, value));
                }
                field.patches.push((patch, entries));
            }
        }
        Ok(Some(field))
    }

    /// Writes the field as text, with the shortest decimals that parse to the same doubles.
    ///
    /// # Errors
    /// I/O errors.
    pub fn write(&self, object: &str, location: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "FoamFile\n{{\n    version     2.0;\n    format      ascii;\n    class       {};\n    location    \
             \"{location}\";\n    object      {object};\n}}\n",
            self.class
        )?;
        for (key, value) in &self.entries {
            put(out, "", key, value)?;
        }
        writeln!(out, "\nboundaryField\n{{")?;
        for (patch, entries) in &self.patches {
            if let [(key, value)] = &entries[..]
                && key.starts_with('#')
            {
                put(out, "    ", key, value)?;
                continue;
            }
            writeln!(out, "    {patch}\n    {{")?;
            for (key, value) in entries {
                put(out, "        ", key, value)?;
            }
            writeln!(out, "    }}")?;
        }
        writeln!(out, "}}")
    }

    /// The value of an entry.
    pub fn get(&self, key: &str) -> Option<&FieldValue> {
        self.entries
            .iter()
            .find(|entry| entry.0 == key)
            .map(|entry| &entry.1)
    }
}

fn value(source: &mut Source, key: &str) -> Result<FieldValue, MeshFileError> {
    if key.starts_with('#') {
        return Ok(FieldValue::Text(source.line()));
    }
    if key.starts_with('$') {
        // All entries of another dictionary; a semicolon may follow.
        source.take(b';');
        return Ok(FieldValue::Text(String::new()));
    }
    match source.list()? {
        Some((kind, components, values)) => Ok(FieldValue::List {
            kind,
            components,
            values,
        }),
        None => Ok(FieldValue::Text(source.value()?)),
    }
}

fn put(out: &mut impl Write, indent: &str, key: &str, value: &FieldValue) -> io::Result<()> {
    match value {
        FieldValue::Text(line) if key.starts_with('#') => writeln!(out, "{indent}{key} {line}"),
        FieldValue::Text(block) if block.starts_with('{') => writeln!(out, "{indent}{key} {block}"),
        FieldValue::Text(text) => writeln!(out, "{indent}{key:<15} {text};"),
        FieldValue::List {
            kind,
            components,
            values,
        } => {
            writeln!(
                out,
                "{indent}{key:<15} nonuniform {kind}\n{}\n(",
                values.len() / components
            )?;
            for entry in values.chunks(*components) {
                match entry {
                    [x] => writeln!(out, "{x:?}")?,
                    many => {
                        for (i, x) in many.iter().enumerate() {
                            write!(out, "{}{x:?}", if i == 0 { "(" } else { " " })?;
                        }
                        writeln!(out, ")")?;
                    }
                }
            }
            writeln!(out, ")\n;")
        }
    }
}
