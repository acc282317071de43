//! The content of a mesh file: one struct for the JSON object and the summary. `docs/json-schema.md` describes every
//! key; keys are only added.

use crate::mesh::report::{
    FrameReport, LevelReport, Written, bytes, columns, grouped, short, table,
};
use crate::options::Axes;
use cutlink_common::{Error, ErrorKind};
use cutlink_voxelizer::{LinkTable, Mesh, validate};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Number of bins of the histogram of q.
const BINS: usize = 10;
/// Length of its longest bar in characters.
const BAR: u64 = 40;

/// The object that `cutlink inspect --json` prints for a mesh file.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct InspectReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub kind: &'static str,
    pub file: Written,
    pub dimensions: usize,
    pub frame: FrameReport,
    pub fill: &'static str,
    pub flow: &'static str,
    pub periodic: String,
    pub levels: Vec<LevelReport>,
    pub blocks: usize,
    pub cells: u64,
    pub solid_finest: u64,
    pub links: usize,
    pub boundary_cells: u64,
    pub checksum: String,
    pub patches: Vec<Patch>,
    pub q: Option<Distances>,
    pub metadata: BTreeMap<String, serde_json::Value>,
    pub checks: Vec<FileCheck>,
    pub files: BTreeMap<&'static str, Written>,
}

/// A patch, its area (`None` where the file does not tell) and its cut links.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Patch {
    pub name: String,
    pub area: Option<f64>,
    pub links: u64,
}

/// The cut distances.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Distances {
    pub min: f32,
    pub mean: f64,
    pub max: f32,
    pub on_surface: u64,
    pub histogram: Vec<u64>,
}

/// The result of a check.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FileCheck {
    pub name: &'static str,
    pub what: &'static str,
    pub passed: bool,
    pub violation: Option<String>,
}

impl InspectReport {
    /// Counts the contents of a mesh.
    pub fn new<const D: usize>(
        mesh: &Mesh<D>,
        metadata: &BTreeMap<String, String>,
        path: &Path,
    ) -> Self {
        let levels: Vec<LevelReport> = mesh
            .level_counts()
            .into_iter()
            .map(LevelReport::from)
            .collect();
        let counts = || levels.iter().filter_map(|l| l.counts);
        let parsed = |text: &String| serde_json::from_str(text).unwrap_or(text.clone().into());
        Self {
            schema: cutlink_common::JSON_SCHEMA,
            cutlink: env!("CARGO_PKG_VERSION"),
            command: "inspect",
            kind: "mesh",
            file: Written {
                path: path.to_owned(),
                bytes: std::fs::metadata(path).map_or(0, |m| m.len()),
            },
            dimensions: D,
            frame: FrameReport {
                origin: mesh.frame.origin.to_vec(),
                upper: mesh.frame.upper().to_vec(),
                dx: mesh.frame.dx,
                root_cells: mesh.frame.root_cells.to_vec(),
                how: "as in the file".into(),
            },
            fill: mesh.fill.rule(),
            flow: mesh.fill.flow(),
            periodic: Axes::of(mesh.forest.periodic).to_string(),
            blocks: mesh.forest.blocks(),
            cells: counts().map(|c| c.fluid + c.boundary + c.solid).sum(),
            solid_finest: mesh.solid_at(mesh.forest.finest()),
            links: mesh.links.len(),
            boundary_cells: counts().map(|c| c.boundary).sum(),
            checksum: format!("{:016x}", mesh.checksum()),
            patches: patches(&mesh.patches, &mesh.links, metadata),
            q: Distances::of(&mesh.links.q),
            metadata: metadata
                .iter()
                .map(|(k, v)| (k.clone(), parsed(v)))
                .collect(),
            checks: Vec::new(),
            files: BTreeMap::new(),
            levels,
        }
    }

    /// The summary.
    pub fn text(&self) -> String {
        let frame = &self.frame;
        let numbers = |x: &[f64]| {
            let each: Vec<String> = x.iter().map(|&x| short(x)).collect();
            each.join(", ")
        };
        let cells: Vec<String> = frame.root_cells.iter().map(u32::to_string).collect();
        let mut text = format!(
            "file      {} ({}, {}D)\nbox       ({}) to ({}), root {} cells, fill rule {}, fluid {}\n",
            self.file.path.display(),
            bytes(self.file.bytes),
            self.dimensions,
            numbers(&frame.origin),
            numbers(&frame.upper),
            cells.join(" x "),
            self.fill,
            self.flow
        );
        if !self.periodic.is_empty() {
            text += &format!("periodic  {}\n", self.periodic);
        }
        for key in ["input", "placement"] {
            let value = self.metadata.get(key);
            let name = value.map(|v| v.get("name").unwrap_or(v));
            if let Some(name) = name.and_then(|n| n.as_str()) {
                text += &format!("{key:<9} {name}\n");
            }
        }
        text += &format!("\n{}", table(&self.levels));
        text += &format!(
            "\n{} cells, {} links cut at {} boundary cells, {} finest-level cell centres inside\nchecksum  {}\n",
            grouped(self.cells),
            grouped(self.links as u64),
            grouped(self.boundary_cells),
            grouped(self.solid_finest),
            self.checksum
        );
        text += &self.patch_text();
        if let Some(q) = &self.q {
            text += &q.text();
        }
        text
    }

    fn patch_text(&self) -> String {
        if self.patches.len() < 2 {
            return String::new();
        }
        let unit = if self.dimensions == 2 {
            "length"
        } else {
            "area"
        };
        let mut rows = vec![["patch", unit, "links"].map(str::to_owned)];
        for patch in &self.patches {
            let area = patch.area.map_or("?".into(), short);
            rows.push([patch.name.clone(), area, grouped(patch.links)]);
        }
        format!("\n{}", columns(&rows))
    }

    /// The checks and the exports, as text.
    pub fn after_text(&self) -> String {
        let mut text = String::new();
        for check in &self.checks {
            let verdict = if check.passed { "passed" } else { "FAILED" };
            text += &format!("check     {verdict}: {}: {}\n", check.name, check.what);
            if let Some(violation) = &check.violation {
                text += &format!("          {violation}\n");
            }
        }
        for file in self.files.values() {
            text += &format!(
                "wrote     {} ({})\n",
                file.path.display(),
                bytes(file.bytes)
            );
        }
        text
    }
}

/// Checks a mesh that was read: its file (which reading did), its forest, its cells and links.
pub fn checks<const D: usize>(mesh: &Mesh<D>) -> Vec<FileCheck> {
    let forest = mesh.forest.validate().err().map(|e| e.to_string());
    let cells = validate(mesh).err().map(|e| e.to_string());
    let file = FileCheck {
        name: "file",
        what: "sizes, structure and both checksums (on reading)",
        passed: true,
        violation: None,
    };
    let forest = FileCheck {
        name: "forest",
        what: "lists, tree, coordinates, siblings, neighbours, 2:1 over faces, edges and corners",
        passed: forest.is_none(),
        violation: forest,
    };
    let cells = FileCheck {
        name: "cells and links",
        what: "class masks, link table, every q in (0, 1], every fluid-solid link cut, every cut \
               seen from both ends, no surface between levels",
        passed: cells.is_none(),
        violation: cells,
    };
    vec![file, forest, cells]
}

/// The error of the first check that failed, if one did; `name` is the file's.
///
/// # Errors
/// [`ErrorKind::Runtime`], with all checks as details.
pub fn verdict(checks: &[FileCheck], name: &str) -> Result<(), Error> {
    let Some(check) = checks.iter().find(|c| !c.passed) else {
        return Ok(());
    };
    let mut failure = Error::new(
        ErrorKind::Runtime,
        format!("{name} failed its check: {}", check.name),
    );
    failure.causes.extend(check.violation.clone());
    failure = failure.details(serde_json::json!({ "checks": checks }));
    Err(failure.hint("write the mesh again with cutlink mesh"))
}

fn patches(names: &[String], links: &LinkTable, metadata: &BTreeMap<String, String>) -> Vec<Patch> {
    let told: Vec<serde_json::Value> = metadata
        .get("areas")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let area = |name: &str| {
        let patch = told.iter().find(|patch| patch["name"] == name);
        patch.and_then(|patch| patch["area"].as_f64())
    };
    let mut counts = vec![0u64; names.len()];
    if let (true, Some(first)) = (links.patch.is_empty(), counts.first_mut()) {
        *first = links.len() as u64;
    }
    for &patch in &links.patch {
        if let Some(count) = counts.get_mut(usize::from(patch)) {
            *count += 1;
        }
    }
    let patch = |(name, links): (&String, u64)| Patch {
        name: name.clone(),
        area: area(name),
        links,
    };
    names.iter().zip(counts).map(patch).collect()
}

impl Distances {
    /// The distances of all links; `None` if there are none.
    pub fn of(q: &[f32]) -> Option<Self> {
        if q.is_empty() {
            return None;
        }
        let mut histogram = vec![0u64; BINS];
        for &x in q {
            // Bins are open below and closed above, like (0, 1].
            let bin = (x * BINS as f32).ceil() as usize;
            histogram[bin.clamp(1, BINS) - 1] += 1;
        }
        Some(Self {
            min: q.iter().copied().fold(f32::INFINITY, f32::min),
            mean: q.iter().map(|&x| f64::from(x)).sum::<f64>() / q.len() as f64,
            max: q.iter().copied().fold(0.0, f32::max),
            on_surface: q.iter().filter(|&&x| x == f32::MIN_POSITIVE).count() as u64,
            histogram,
        })
    }

    fn text(&self) -> String {
        let most = self.histogram.iter().copied().max().unwrap_or(0).max(1);
        let rows: Vec<[String; 2]> = self
            .histogram
            .iter()
            .enumerate()
            .map(|(i, &n)| {
                let (from, to) = (i as f64 / BINS as f64, (i + 1) as f64 / BINS as f64);
                [format!("{from:.1} < q <= {to:.1}"), grouped(n)]
            })
            .collect();
        let mut text = format!(
            "\ncut distances q: mean {:.4}, range {} to {}; {} links start at a centre on the surface\n",
            self.mean,
            short(f64::from(self.min)),
            short(f64::from(self.max)),
            grouped(self.on_surface)
        );
        for (line, &n) in columns(&rows).lines().zip(&self.histogram) {
            let bar = "#".repeat((n * BAR).div_ceil(most) as usize);
            text += format!("{line}  {bar}").trim_end();
            text += "\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_bins_that_are_closed_above() {
        let q = Distances::of(&[f32::MIN_POSITIVE, 0.05, 0.1, 0.11, 0.5, 1.0]).expect("links");
        assert_eq!(q.histogram, [3, 1, 0, 0, 1, 0, 0, 0, 0, 1], "bins");
        assert_eq!((q.on_surface, q.max), (1, 1.0), "ends");
        assert!(Distances::of(&[]).is_none(), "no links");
    }
}
