//! The JSON header: which arrays lie where, and the string map.

use super::FORMAT_VERSIONS;
use super::error::Fault;
use crate::{Fill, Frame};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Keys of the string map that the format itself uses.
pub(super) const RESERVED: [&str; 13] = [
    "format",
    "format_version",
    "program",
    "dimension",
    "origin",
    "dx",
    "root_cells",
    "levels",
    "fill",
    "graded",
    "patches",
    "checksum",
    "periodic",
];

/// Names of the axes.
const AXES: [char; 3] = ['x', 'y', 'z'];

/// The value of `format`.
pub(super) const FORMAT: &str = "cutlink-mesh";

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) data_offsets: [u64; 2],
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = self.data_offsets;
        let (dtype, shape) = (&self.dtype, &self.shape);
        write!(f, "type {dtype}, shape {shape:?}, bytes {from} to {to}")
    }
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Header {
    #[serde(rename = "__metadata__")]
    pub(super) metadata: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) arrays: BTreeMap<String, Entry>,
}

/// All numbers that the sizes of the arrays follow from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sizes {
    pub(super) dimension: u64,
    pub(super) levels: u64,
    pub(super) blocks: u64,
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) links: u64,
    pub(super) patches: u64,
}

impl Sizes {
    /// The arrays in the order of the file: wider elements first, so that all are aligned.
    fn arrays(&self) -> [(&'static str, &'static str, Vec<u64>); 13] {
        [
            ("solid", "U64", vec![self.blocks]),
            ("boundary", "U64", vec![self.blocks]),
            ("ghost", "U64", vec![self.blocks]),
            ("interface", "U64", vec![self.blocks]),
            ("link_cells", "U64", vec![self.cells]),
            ("coord", "I32", vec![self.blocks, self.dimension]),
            ("first_child", "U32", vec![self.blocks]),
            ("level_start", "U32", vec![self.levels + 1]),
            ("link_blocks", "U32", vec![self.rows]),
            ("link_cell_start", "U32", vec![self.rows + 1]),
            ("link_q", "F32", vec![self.links]),
            ("link_patch", "U16", vec![self.patches]),
            ("file_checksum", "U8", vec![8]),
        ]
    }

    /// Names and places of the arrays, and where the last one ends.
    pub(super) fn entries(&self) -> (BTreeMap<String, Entry>, u64) {
        let mut end = 0u64;
        let mut entries = BTreeMap::new();
        for (name, dtype, shape) in self.arrays() {
            let width = match dtype {
                "U64" => 8,
                "U16" => 2,
                "U8" => 1,
                _ => 4,
            };
            let bytes = shape.iter().fold(width, |a: u64, &b| a.saturating_mul(b));
            let from = end;
            end = end.saturating_add(bytes);
            let entry = Entry {
                dtype: dtype.into(),
                shape,
                data_offsets: [from, end],
            };
            entries.insert(name.to_owned(), entry);
        }
        (entries, end)
    }

    /// The sizes that a header claims; every array must be there, with the type, shape and
    /// place that follow from them.
    pub(super) fn claimed(header: &Header, dimension: u64) -> Result<Self, Fault> {
        let rows = |name: &str| {
            let entry = header.arrays.get(name);
            let entry = entry.ok_or_else(|| Fault::damaged(name, "the array is missing"))?;
            let first = entry.shape.first().copied();
            first.ok_or_else(|| Fault::damaged(name, "the array has no dimension"))
        };
        let sizes = Self {
            dimension,
            levels: rows("level_start")?.saturating_sub(1),
            blocks: rows("first_child")?,
            rows: rows("link_blocks")?,
            cells: rows("link_cells")?,
            links: rows("link_q")?,
            patches: rows("link_patch")?,
        };
        if sizes.blocks >= u64::from(u32::MAX) - 1 || sizes.rows > sizes.blocks {
            return Err(Fault::damaged(
                "the header",
                format!(
                    "{} blocks with {} link rows are not possible",
                    sizes.blocks, sizes.rows
                ),
            ));
        }
        let (expected, _) = sizes.entries();
        for (name, entry) in &expected {
            let found = header.arrays.get(name);
            if found != Some(entry) {
                return Err(Fault::damaged(
                    name.as_str(),
                    match found {
                        Some(found) => {
                            format!("{found} in the header, {entry} expected by the other arrays")
                        }
                        None => format!("not in the header, {entry} expected by the other arrays"),
                    },
                ));
            }
        }
        match header.arrays.keys().find(|k| !expected.contains_key(*k)) {
            Some(name) => Err(Fault::damaged(name.as_str(), "no array of this format")),
            None => Ok(sizes),
        }
    }
}

/// What the string map says about the mesh.
#[derive(Debug)]
pub(super) struct About<const D: usize> {
    pub(super) frame: Frame<D>,
    pub(super) fill: Fill,
    pub(super) graded: bool,
    pub(super) patches: Vec<String>,
    pub(super) checksum: u64,
    pub(super) periodic: [bool; D],
}

impl<const D: usize> About<D> {
    pub(super) fn to_map(&self, levels: usize) -> BTreeMap<String, String> {
        let frame = &self.frame;
        let patches = serde_json::Value::from(self.patches.clone());
        let values = [
            FORMAT.to_owned(),
            self.version().to_owned(),
            format!("cutlink {}", env!("CARGO_PKG_VERSION")),
            D.to_string(),
            format!("{:?}", frame.origin),
            format!("{:?}", frame.dx),
            format!("{:?}", frame.root_cells),
            levels.to_string(),
            self.fill.name().to_owned(),
            self.graded.to_string(),
            patches.to_string(),
            format!("{:016x}", self.checksum),
        ];
        let mut map: BTreeMap<_, _> = RESERVED.map(String::from).into_iter().zip(values).collect();
        if self.periodic != [false; D] {
            let axes = (0..D).filter(|&a| self.periodic[a]).map(|a| AXES[a]);
            map.insert("periodic".into(), axes.collect());
        }
        map
    }

    /// Meshes that are not periodic can be read by programs that know version 1 only.
    fn version(&self) -> &'static str {
        FORMAT_VERSIONS[usize::from(self.periodic != [false; D])]
    }

    pub(super) fn from_map(map: &BTreeMap<String, String>) -> Result<Self, Fault> {
        let frame = Frame::new(
            list("origin", text(map, "origin")?)?,
            number("dx", text(map, "dx")?)?,
            list("root_cells", text(map, "root_cells")?)?,
        )
        .map_err(|e| Fault::damaged("the header", e.to_string()))?;
        let fill = text(map, "fill")?;
        let fill = Fill::ALL
            .into_iter()
            .find(|f| f.name() == fill)
            .ok_or_else(|| Fault::damaged("fill", format!("{fill:?} is no fill rule")))?;
        let graded = text(map, "graded")?;
        let graded = graded
            .parse()
            .map_err(|_| Fault::damaged("graded", format!("{graded:?} is not true or false")))?;
        let patches: Vec<String> = serde_json::from_str(text(map, "patches")?)
            .map_err(|e| Fault::damaged("patches", e.to_string()))?;
        let checksum = text(map, "checksum")?;
        let checksum = u64::from_str_radix(checksum, 16)
            .map_err(|_| Fault::damaged("checksum", format!("{checksum:?} is not hexadecimal")))?;
        let axes = map.get("periodic").map_or("", String::as_str);
        let periodic = std::array::from_fn(|a| axes.contains(AXES[a]));
        let known: String = (0..D).filter(|&a| periodic[a]).map(|a| AXES[a]).collect();
        if known != axes {
            let reason = format!("{axes:?} is no list of axes such as x or xz");
            return Err(Fault::damaged("periodic", reason));
        }
        Ok(Self {
            periodic,
            frame,
            fill,
            graded,
            patches,
            checksum,
        })
    }
}

/// The value of a key.
pub(super) fn text<'a>(map: &'a BTreeMap<String, String>, key: &str) -> Result<&'a str, Fault> {
    map.get(key)
        .map(String::as_str)
        .ok_or_else(|| Fault::damaged(key, "the key is missing"))
}

/// Numbers are parsed by Rust and not by the JSON reader, which may be off by one bit.
fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T, Fault> {
    text.trim()
        .parse()
        .map_err(|_| Fault::damaged(key, format!("{text:?} is not a number")))
}

fn list<const D: usize, T: std::str::FromStr>(key: &str, text: &str) -> Result<[T; D], Fault> {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'));
    let numbers: Vec<T> = inner
        .unwrap_or_default()
        .split(',')
        .map(|t| number(key, t))
        .collect::<Result<_, _>>()?;
    numbers
        .try_into()
        .map_err(|_| Fault::damaged(key, format!("{text:?} is not a list of {D} numbers")))
}
