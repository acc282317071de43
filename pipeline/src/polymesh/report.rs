//! What is said about a `polyMesh`.

use super::Castellated;
use crate::mesh::report::{counted, grouped};
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
    pub regions: u64,
    pub pockets: u64,
    pub pocket_cells: u64,
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
            regions: made.regions,
            pockets: made.pockets,
            pocket_cells: made.pocket_cells,
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
        format!(
            "polyMesh  {} cells, {} faces, {} points; patches {}{more}\n",
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
        if self.guessed > 0 {
            notes.push(format!(
                "polyMesh: {} between levels without a cut link, of the patch nearby",
                counted(self.guessed, "wall face")
            ));
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
