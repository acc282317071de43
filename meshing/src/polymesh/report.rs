//! What is said about a `polyMesh`.

use super::{Castellated, PatchLayerCounts};
use crate::mesh::report::{counted, grouped};
use cutlink_hex::SnapCounts;
use serde::Serialize;

/// A `polyMesh` in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PolyMeshReport {
    pub cells: usize,
    pub points: usize,
    pub faces: usize,
    pub internal_faces: usize,
    pub patches: Vec<PolyPatchReport>,
    pub baffles: u64,
    pub guessed: u64,
    pub underdetermined: u64,
    pub coarser_than_wanted: u64,
    pub regions: u64,
    pub pockets: u64,
    pub pocket_cells: u64,
    pub zones: Vec<PolyZoneReport>,
    pub snap: Option<PolySnapReport>,
    pub layers: Vec<PolyLayerReport>,
    pub case: Vec<String>,
}

/// Walls moved onto the surface.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PolySnapReport {
    pub points: u64,
    pub snapped: u64,
    pub on_edges: u64,
    pub held_back: u64,
    pub out_of_reach: u64,
    pub beyond_limits: u64,
    pub rounds: u64,
    pub mean_distance: f64,
    pub max_distance: f64,
}

impl From<SnapCounts> for PolySnapReport {
    fn from(counts: SnapCounts) -> Self {
        let [mean_distance, max_distance] = counts.distance;
        Self {
            points: counts.points,
            snapped: counts.snapped,
            on_edges: counts.on_edges,
            held_back: counts.held_back,
            out_of_reach: counts.out_of_reach,
            beyond_limits: counts.beyond_limits,
            rounds: counts.rounds,
            mean_distance,
            max_distance,
        }
    }
}

/// Layers of a patch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PolyLayerReport {
    pub patch: String,
    pub layers: u32,
    pub faces: u64,
    pub covered: u64,
    pub coverage: f64,
    pub mean_layers: f64,
    pub thickness: f64,
    pub relative_thickness: f64,
    pub first_min: f64,
    pub first_mean: f64,
    pub without_by_shape: u64,
    pub without_beside: u64,
    pub without_by_quality: u64,
    pub largest_gap: Option<[f64; 3]>,
    pub largest_gap_area: f64,
}

impl From<&PatchLayerCounts> for PolyLayerReport {
    fn from(of: &PatchLayerCounts) -> Self {
        let counts = &of.counts;
        let [without_by_shape, without_beside, without_by_quality] = counts.dropped;
        Self {
            patch: of.name.clone(),
            layers: counts.layers,
            faces: counts.faces,
            covered: counts.covered,
            coverage: counts.coverage(),
            mean_layers: counts.mean_layers,
            thickness: counts.thickness,
            relative_thickness: counts.relative,
            first_min: counts.first[0],
            first_mean: counts.first[1],
            without_by_shape,
            without_beside,
            without_by_quality,
            largest_gap: counts.largest_gap.map(|gap| gap.0),
            largest_gap_area: counts.largest_gap.map_or(0.0, |gap| gap.1),
        }
    }
}

impl PolyLayerReport {
    fn text(&self) -> String {
        format!(
            "layers    {}: {:.1} % of its area, {:.2} layers on average, {:.4e} m thick ({:.0} % of what was asked for), first {:.4e} m\n",
            self.patch,
            100.0 * self.coverage,
            self.mean_layers,
            self.thickness,
            100.0 * self.relative_thickness,
            self.first_mean,
        )
    }
}

/// A zone of cells and the zone of faces around it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PolyZoneReport {
    pub name: String,
    pub cells: usize,
    pub faces: usize,
}

/// A patch of a `polyMesh`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PolyPatchReport {
    pub name: String,
    pub kind: String,
    pub faces: usize,
}

impl PolyMeshReport {
    /// Of a mesh.
    pub fn new(made: &Castellated) -> Self {
        let mesh = &made.mesh;
        let zones = made.zones.cells.iter().zip(&made.zones.faces);
        let zones = zones.map(|(cells, faces)| PolyZoneReport {
            name: cells.name.clone(),
            cells: cells.ids.len(),
            faces: faces.ids.len(),
        });
        Self {
            cells: mesh.cells,
            points: mesh.points.len(),
            faces: mesh.faces(),
            internal_faces: mesh.internal_faces(),
            patches: mesh
                .patches
                .iter()
                .map(|p| PolyPatchReport {
                    name: p.name.clone(),
                    kind: p.kind.clone(),
                    faces: p.faces,
                })
                .collect(),
            baffles: made.baffles,
            guessed: made.guessed,
            underdetermined: made.underdetermined,
            coarser_than_wanted: made.coarser_than_wanted,
            regions: made.regions,
            pockets: made.pockets,
            pocket_cells: made.pocket_cells,
            zones: zones.collect(),
            snap: made.snapped.map(PolySnapReport::from),
            layers: made.layers.iter().map(PolyLayerReport::from).collect(),
            case: made.case.clone(),
        }
    }

    /// A line of the summary.
    pub fn text(&self) -> String {
        let patches: Vec<&str> = self.patches.iter().map(|p| p.name.as_str()).collect();
        let shown = patches.len().min(12);
        let more = match patches.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let snapped = self.snap.as_ref().map_or(String::new(), |s| {
            format!(
                "snapped   {} of {} wall points on the surface, {} of them on its edges; {} held back, {} out of reach\n",
                grouped(s.snapped),
                grouped(s.points),
                grouped(s.on_edges),
                grouped(s.held_back),
                grouped(s.out_of_reach),
            )
        });
        let zones = self.zones.iter().map(|zone| {
            format!(
                "zone      {}: {} cells, {} faces around\n",
                zone.name,
                grouped(zone.cells as u64),
                grouped(zone.faces as u64)
            )
        });
        let zones: String = zones.collect();
        let layers: String = self.layers.iter().map(PolyLayerReport::text).collect();
        let case = self.case.iter().map(|line| format!("case      {line}\n"));
        let case: String = case.collect();
        format!(
            "polyMesh  {} cells, {} faces, {} points; patches {}{more}\n{zones}{snapped}{layers}{case}",
            grouped(self.cells as u64),
            grouped(self.faces as u64),
            grouped(self.points as u64),
            patches[..shown].join(", "),
        )
    }
}

impl Castellated {
    /// What differs from the mesh file, and what a solver should know.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.pockets > 0 {
            notes.push(format!(
                "polyMesh: {} of fluid without a connection to the rest left out, {}",
                counted(self.pockets, "pocket"),
                counted(self.pocket_cells, "cell")
            ));
        }
        if self.regions > 1 {
            notes.push(format!(
                "polyMesh: {} that no face connects; keep one of them with --seed",
                counted(self.regions, "region")
            ));
        }
        if self.baffles > 0 {
            notes.push(format!(
                "polyMesh: {} where the body is thinner than a cell",
                counted(self.baffles, "baffle")
            ));
        }
        if self.underdetermined > 0 {
            notes.push(format!(
                "polyMesh: {} between walls, without a neighbour along some axis; finer cells resolve such slots",
                counted(self.underdetermined, "cell")
            ));
        }
        if self.coarser_than_wanted > 0 {
            notes.push(format!(
                "polyMesh: {} within the wall distance as coarse as the blocks of the mesh; `--refine \
                 near:*,levels=N,distance=D` makes finer blocks there",
                counted(self.coarser_than_wanted, "cell")
            ));
        }
        if self.guessed > 0 {
            notes.push(format!(
                "polyMesh: {} between levels without a cut link, of the patch nearby",
                counted(self.guessed, "wall face")
            ));
        }
        for zone in self.zones.cells.iter().filter(|zone| zone.ids.is_empty()) {
            notes.push(format!(
                "polyMesh: zone {} has no cell: none has its centre inside",
                zone.name
            ));
        }
        for PatchLayerCounts { name, counts } in &self.layers {
            if let Some(([x, y, z], area)) = counts.largest_gap {
                let [shape, beside, quality] = counts.dropped;
                notes.push(format!(
                    "polyMesh: {name} has {} without layers: {shape} where the surface folds or touches itself, {quality} where \
                     cells would be beyond the limits, {beside} beside these; the largest part around {x:.4},{y:.4},{z:.4}, \
                     {area:.2e} m2",
                    counted(counts.faces - counts.covered, "face")
                ));
            }
        }
        for (from, to) in &self.renamed {
            notes.push(format!("polyMesh: patch \"{from}\" is called {to}"));
        }
        if !self.without_faces.is_empty() {
            let names = self.without_faces.join(", ");
            notes.push(format!("polyMesh: no face is of {names}; left out"));
        }
        notes
    }
}
