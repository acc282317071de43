//! The report of a run: one struct for the JSON object and the summary, so that both agree. `docs/json-schema.md`
//! describes every key; keys are only added.

use crate::mesh::intersections::IntersectionReport;
use crate::polymesh::PolyMeshReport;
use cutlink_common::device::DeviceReport;
use cutlink_pictures::scale::significant;
use cutlink_voxelizer::LevelCounts;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The object that `cutlink mesh --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct MeshReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub dry_run: bool,
    pub dimensions: usize,
    pub input: Input,
    pub patches: Vec<PatchArea>,
    pub health: serde_json::Value,
    #[serde(skip)]
    pub health_text: String,
    pub transform: Transform,
    pub frame: FrameReport,
    pub parameters: Parameters,
    pub snapping: Snapping,
    pub intersections: Option<IntersectionReport>,
    pub device: DeviceReport,
    pub threads: usize,
    pub levels: Vec<LevelReport>,
    #[serde(flatten)]
    pub built: Option<Built>,
    pub polymesh: Option<PolyMeshReport>,
    pub times_ms: Times,
    pub peak_rss_bytes: u64,
    pub files: BTreeMap<&'static str, Written>,
    pub notes: Vec<String>,
}

/// A patch of the mesh and its area, that of its caps or closing faces for a gap.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PatchArea {
    pub name: String,
    pub area: f64,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Input {
    pub kind: &'static str,
    pub name: String,
    pub format: Option<String>,
    pub gzipped: bool,
    pub bytes: u64,
    pub triangles: u64,
    pub vertices: u64,
    pub closed: bool,
    pub patches: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Transform {
    pub unit: String,
    pub linear: Vec<Vec<f64>>,
    pub offset: Vec<f64>,
    #[serde(skip)]
    pub text: String,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FrameReport {
    pub origin: Vec<f64>,
    pub upper: Vec<f64>,
    pub dx: f64,
    pub root_cells: Vec<u32>,
    pub how: String,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Parameters {
    pub levels: usize,
    pub wall_distance: f64,
    pub fill: &'static str,
    pub flow: &'static str,
    pub deviation: Option<f64>,
    pub robust: bool,
    pub periodic: String,
    pub refine: Vec<String>,
    pub seed: Option<Vec<f64>>,
    pub close_holes: Option<f64>,
    #[serde(skip)]
    pub wall_distance_given: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Snapping {
    pub unit: f64,
    pub max_displacement: f64,
    pub merged_vertices: usize,
    pub collapsed_facets: usize,
}

/// A level; a dry run has no counts.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct LevelReport {
    pub level: usize,
    pub dx: f64,
    #[serde(flatten)]
    pub counts: Option<Counts>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Counts {
    pub blocks: usize,
    pub leaf_blocks: usize,
    pub fluid: u64,
    pub boundary: u64,
    pub solid: u64,
}

impl From<LevelCounts> for LevelReport {
    fn from(counts: LevelCounts) -> Self {
        Self {
            level: counts.level,
            dx: counts.dx,
            counts: Some(Counts {
                blocks: counts.blocks,
                leaf_blocks: counts.leaf_blocks,
                fluid: counts.fluid,
                boundary: counts.boundary,
                solid: counts.solid,
            }),
        }
    }
}

/// The part of the report that needs a built mesh.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Built {
    pub blocks: usize,
    pub cells: u64,
    pub solid_finest: u64,
    pub links: usize,
    pub boundary_cells: u64,
    pub gap_links: u64,
    pub thin: ThinReport,
    pub checksum: String,
}

/// Where the body is thinner than a cell.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct ThinReport {
    pub links: u64,
    pub cells: u64,
    pub places: Vec<ThinPlaceReport>,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct ThinPlaceReport {
    pub cells: u64,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl<const D: usize> From<cutlink_voxelizer::Thin<D>> for ThinReport {
    fn from(thin: cutlink_voxelizer::Thin<D>) -> Self {
        let place = |p: cutlink_voxelizer::ThinPlace<D>| ThinPlaceReport {
            cells: p.cells,
            lower: p.bounds[0].to_vec(),
            upper: p.bounds[1].to_vec(),
        };
        Self {
            links: thin.links,
            cells: thin.cells,
            places: thin.places.into_iter().take(20).map(place).collect(),
        }
    }
}

/// Wall times in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Times {
    pub open: f64,
    pub read: f64,
    pub health: f64,
    pub estimate: f64,
    pub snap: f64,
    pub intersections: f64,
    pub upload: f64,
    pub bins: f64,
    pub voxelize: f64,
    pub refine: f64,
    pub links: f64,
    pub embed: f64,
    pub download: f64,
    pub counts: f64,
    pub write: f64,
    pub picture: f64,
    pub polymesh: f64,
    pub total: f64,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Written {
    pub path: PathBuf,
    pub bytes: u64,
}

impl MeshReport {
    /// The part of the summary that is known before the mesh is built.
    pub fn plan(&self) -> String {
        let mut text = format!("cutlink {}\n", self.cutlink);
        let mut line = |head: &str, body: &str| {
            for (i, part) in body.lines().enumerate() {
                let head = if i == 0 { head } else { "" };
                text += &format!("{head:<9} {part}\n");
            }
        };
        let input = &self.input;
        line(
            "input",
            &match &input.format {
                Some(format) => format!(
                    "{} ({format}{}, {})",
                    input.name,
                    if input.gzipped { ", gzipped" } else { "" },
                    bytes(input.bytes)
                ),
                None => format!("shape {}", input.name),
            },
        );
        line("", &self.health_text);
        line("placed", &self.transform.text);
        let frame = &self.frame;
        line(
            "box",
            &format!(
                "{} to {}: {}",
                point(&frame.origin),
                point(&frame.upper),
                frame.how
            ),
        );
        let finest = self.levels.last().map_or(frame.dx, |l| l.dx);
        line(
            "grid",
            &format!(
                "root {} cells, {} level{}: cells from {} m down to {} m",
                times(&frame.root_cells),
                self.parameters.levels,
                if self.parameters.levels == 1 { "" } else { "s" },
                short(frame.dx),
                short(finest),
            ),
        );
        line(
            "",
            &format!(
                "refined up to {} m from the surface{}; fill rule {}, fluid {}",
                short(self.parameters.wall_distance),
                if self.parameters.wall_distance_given {
                    ""
                } else {
                    " (5 % of the longest edge)"
                },
                self.parameters.fill,
                self.parameters.flow
            ),
        );
        if let Some(deviation) = self.parameters.deviation {
            line(
                "",
                &format!("facets within {} m of the true shape", short(deviation)),
            );
        }
        let snapping = &self.snapping;
        line(
            "snapped",
            &format!(
                "to a lattice of {} m, vertices moved by at most {} m{}",
                short(snapping.unit),
                short(snapping.max_displacement),
                match (snapping.merged_vertices, snapping.collapsed_facets) {
                    (0, 0) => String::new(),
                    (v, f) => format!(
                        "; {} merged, {} collapsed",
                        if v == 1 {
                            "1 vertex".into()
                        } else {
                            format!("{} vertices", grouped(v as u64))
                        },
                        counted(f as u64, "facet")
                    ),
                }
            ),
        );
        if let Some(found) = &self.intersections {
            line("crossings", &found.text());
        }
        line(
            "device",
            &format!(
                "{}, {} thread{}",
                self.device.text(),
                self.threads,
                if self.threads == 1 { "" } else { "s" }
            ),
        );
        text
    }

    /// The rest of the summary.
    pub fn result(&self) -> String {
        let Some(built) = &self.built else {
            return "dry run: nothing was built or written\n".to_owned();
        };
        let mut text = "\n".to_owned() + &table(&self.levels);
        text += &format!(
            "\n{} cells, {} links cut at {} boundary cells, {} finest-level cell centres inside\n",
            grouped(built.cells),
            grouped(built.links as u64),
            grouped(built.boundary_cells),
            grouped(built.solid_finest)
        );
        text += &format!("checksum  {}\n", built.checksum);
        if let Some(made) = &self.polymesh {
            text += &made.text();
        }
        let t = &self.times_ms;
        text += &format!(
            "time      {} = read {}, health {}, snap {}{}, upload {}, bins {}, voxelize {}, refine {}, links {}{}, write {}{}{}\n",
            millis(t.total),
            millis(t.read),
            millis(t.health),
            millis(t.snap),
            match self.intersections {
                Some(_) => format!(", intersections {}", millis(t.intersections)),
                None => String::new(),
            },
            millis(t.upload),
            millis(t.bins),
            millis(t.voxelize),
            millis(t.refine),
            millis(t.links),
            match self.device.model {
                Some(_) => format!(", download {}", millis(t.download)),
                None => String::new(),
            },
            millis(t.write),
            if self.files.contains_key("picture") {
                format!(", picture {}", millis(t.picture))
            } else {
                String::new()
            },
            match self.polymesh {
                Some(_) => format!(", polyMesh {}", millis(t.polymesh)),
                None => String::new(),
            }
        );
        let on_device = self.device.peak_bytes.map(|peak| {
            let name = &self.device.name;
            format!(", {} on {name}", bytes(peak))
        });
        text += &format!(
            "memory    {} at most{}\n",
            bytes(self.peak_rss_bytes),
            on_device.unwrap_or_default()
        );
        for (i, file) in self.files.values().enumerate() {
            let head = if i == 0 { "files" } else { "" };
            text += &format!(
                "{head:<9} {} ({})\n",
                file.path.display(),
                bytes(file.bytes)
            );
        }
        text
    }
}

/// The levels as a table, with totals of the counts that add up over levels.
pub fn table(levels: &[LevelReport]) -> String {
    let heads = [
        "level",
        "dx [m]",
        "blocks",
        "leaf blocks",
        "fluid",
        "boundary",
        "solid",
    ];
    let mut rows = vec![heads.map(str::to_owned)];
    let mut sum = [0u64; 5];
    for level in levels {
        let Some(c) = level.counts else { continue };
        let counts = [
            c.blocks as u64,
            c.leaf_blocks as u64,
            c.fluid,
            c.boundary,
            c.solid,
        ];
        for (total, n) in sum.iter_mut().zip(counts) {
            *total += n;
        }
        let [b, l, f, n, s] = counts.map(grouped);
        rows.push([level.level.to_string(), short(level.dx), b, l, f, n, s]);
    }
    let [b, l, f, n, s] = sum.map(grouped);
    rows.push(["all".into(), String::new(), b, l, f, n, s]);
    columns(&rows)
}

/// Right-aligned columns, separated by two spaces.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width: [usize; N] =
        std::array::from_fn(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = (0..N)
            .map(|i| format!("{:>w$}", row[i], w = width[i]))
            .collect();
        text += cells.join("  ").trim_end();
        text += "\n";
    }
    text
}

/// `1 234 567`
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `1 cell`, `1 234 cells`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `12.3 MB`, in powers of 1000.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000.0 {
            let digits = if unit == "bytes" { 0 } else { 1 };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Milliseconds in a readable unit.
pub fn millis(ms: f64) -> String {
    if ms < 9_999.5 {
        format!("{ms:.*} ms", if ms < 9.95 { 1 } else { 0 })
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

/// Six significant digits, no trailing zeros.
pub fn short(x: f64) -> String {
    significant(x, 6)
}

/// Coordinates in parentheses.
pub fn point(x: &[f64]) -> String {
    let numbers: Vec<String> = x.iter().map(|&x| short(x)).collect();
    format!("({})", numbers.join(", "))
}

fn times(n: &[u32]) -> String {
    let numbers: Vec<String> = n.iter().map(u32::to_string).collect();
    numbers.join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let groups = [
            (0, "0"),
            (999, "999"),
            (1000, "1 000"),
            (1_234_567, "1 234 567"),
        ];
        for (n, want) in groups {
            assert_eq!(grouped(n), want, "{n}");
        }
        let lengths = [
            (0.0, "0"),
            (0.0625, "0.0625"),
            (1.0 / 3.0, "0.333333"),
            (-12.5, "-12.5"),
            (123_456.0, "123456"),
            (1e-7, "1e-7"),
            (1.234_567_8e9, "1.23457e9"),
        ];
        for (x, want) in lengths {
            assert_eq!(short(x), want, "{x}");
        }
        assert_eq!(bytes(999), "999 bytes", "bytes");
        assert_eq!(bytes(3_483_284), "3.5 MB", "megabytes");
    }

    #[test]
    fn the_table_lines_up_and_sums() {
        let level = |level, solid| {
            let counts = Counts {
                blocks: 8,
                leaf_blocks: 4,
                fluid: 1000,
                boundary: 0,
                solid,
            };
            LevelReport {
                level,
                dx: 0.5,
                counts: Some(counts),
            }
        };
        let text = table(&[level(0, 1), level(1, 20)]);
        let last = text.lines().last().expect("a sum");
        assert!(last.starts_with("  all") && last.ends_with("21"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
