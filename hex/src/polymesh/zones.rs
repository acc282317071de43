//! `cellZones`, `faceZones` and `pointZones`: named lists of cells, faces and points.

use super::foam::Source;
use crate::MeshFileError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The files of zones, and what their entries are called.
pub const ZONE_FILES: [(&str, &str); 3] = [
    ("cellZones", "cellLabels"),
    ("faceZones", "faceLabels"),
    ("pointZones", "pointLabels"),
];

/// A zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoamZone {
    /// Its name.
    pub name: String,
    /// Its cells, faces or points.
    pub ids: Vec<u32>,
    /// Of each face, whether the zone takes it for its owner's side the other way round. Empty for cells and points.
    pub flips: Vec<bool>,
    /// Other entries: keyword, and value as it is in the file.
    pub entries: Vec<(String, String)>,
}

/// Reads a file of zones, whose ids are below `count`; `None` where there is no such file.
///
/// # Errors
/// A damaged file, by name and place.
pub fn read_zones(path: &Path, count: usize) -> Result<Option<Vec<FoamZone>>, MeshFileError> {
    let Some(mut source) = Source::open(path)? else {
        return Ok(None);
    };
    let len = source.length(2)?;
    let mut zones = Vec::new();
    source.skip(b'(')?;
    for _ in 0..len {
        zones.push(zone(&mut source, count)?);
    }
    source.skip(b')')?;
    match source.is_end() {
        true => Ok(Some(zones)),
        false => Err(source.wrong("the file goes on after its last zone")),
    }
}

fn zone(source: &mut Source, count: usize) -> Result<FoamZone, MeshFileError> {
    let mut zone = FoamZone {
        name: source.name("a zone")?,
        ..FoamZone::default()
    };
    source.skip(b'{')?;
    while !source.take(b'}') {
        let key = source.word()?;
        if ZONE_FILES.iter().any(|(_, labels)| *labels == key) {
            source.list_of("List<label>")?;
            zone.ids = source.labels("a zone")?;
            source.skip(b';')?;
        } else if key == "flipMap" {
            source.list_of("List<bool>")?;
            zone.flips = source.bools()?;
            source.skip(b';')?;
        } else {
            let value = source.value()?;
            zone.entries.push((key, value));
        }
    }
    let name = &zone.name;
    if let Some(id) = zone.ids.iter().find(|&&id| id as usize >= count) {
        return Err(source.wrong(format!(
            "zone {name}: {id} does not exist, there are {count}"
        )));
    }
    let flips = zone.flips.len();
    if flips != 0 && flips != zone.ids.len() {
        let ids = zone.ids.len();
        return Err(source.wrong(format!("zone {name} has {ids} faces and {flips} flips")));
    }
    Ok(zone)
}

/// Writes a file of zones as text; returns its bytes.
///
/// # Errors
/// A file that cannot be written.
pub fn write_zones(folder: &Path, name: &str, zones: &[FoamZone]) -> Result<u64, MeshFileError> {
    let path = folder.join(name);
    let labels = ZONE_FILES.iter().find(|file| file.0 == name);
    let labels = labels.map_or("cellLabels", |file| file.1);
    let write = || -> io::Result<u64> {
        let mut out = BufWriter::new(File::create(&path)?);
        writeln!(
            out,
            "FoamFile\n{{\n    version     2.0;\n    format      ascii;\n    class       regIOobject;\n    location    \
             \"constant/polyMesh\";\n    object      {name};\n}}\n\n{}\n(",
            zones.len()
        )?;
        for zone in zones {
            writeln!(out, "{}\n{{", zone.name)?;
            for (key, value) in &zone.entries {
                writeln!(out, "    {key} {value};")?;
            }
            list(&mut out, labels, "List<label>", &zone.ids)?;
            if name == "faceZones" {
                let flips: Vec<u8> = zone.flips.iter().map(|&flip| flip.into()).collect();
                list(&mut out, "flipMap", "List<bool>", &flips)?;
            }
            writeln!(out, "}}")?;
        }
        writeln!(out, ")")?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    };
    write().map_err(|source| MeshFileError::Write {
        path: path.clone(),
        source,
    })
}

fn list<T: std::fmt::Display>(
    out: &mut impl Write,
    key: &str,
    kind: &str,
    items: &[T],
) -> io::Result<()> {
    writeln!(out, "    {key} {kind}\n{}\n(", items.len())?;
    items.iter().try_for_each(|item| writeln!(out, "{item}"))?;
    writeln!(out, ")\n;")
}
