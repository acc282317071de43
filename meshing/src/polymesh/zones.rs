//! `--zone`: cell zones and face zones from closed surfaces.
//!
//! A cell is in a zone if its centre is inside, by the exact winding numbers of the embedding: the surface is embedded on the
//! blocks that the mesh has. The faces between such cells and others are a face zone of the same name, its normals out of
//! the zone. Walls and faces of the box are in no face zone.

use super::cells::Cells;
use super::each_cell;
use cutlink_common::Error;
use cutlink_device::Host;
use cutlink_hex::PolyMesh;
use cutlink_hex::polymesh::FoamZone;
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{EmbedParams, Fill, Mesh, embed_fixed};

/// A closed surface that makes a zone.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneSurface {
    /// The name of the zone, a word of OpenFOAM.
    pub name: String,
    /// The surface, on the lattice of the mesh.
    pub surface: Snapped<3>,
}

/// Zones of a mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolyZones {
    /// Cells, by ascending number.
    pub cells: Vec<FoamZone>,
    /// Faces, likewise.
    pub faces: Vec<FoamZone>,
}

impl PolyZones {
    /// After layers: new cells are in the zone of their parent, and faces are found again.
    pub(super) fn extend(&mut self, made: &PolyMesh, parent: &[u32]) {
        let before = made.cells - parent.len();
        for (cells, faces) in self.cells.iter_mut().zip(&mut self.faces) {
            let mut is_in = vec![false; made.cells];
            cells
                .ids
                .iter()
                .for_each(|&cell| is_in[cell as usize] = true);
            for (at, &of) in parent.iter().enumerate() {
                is_in[before + at] = is_in[of as usize];
            }
            cells.ids = (0..made.cells as u32)
                .filter(|&cell| is_in[cell as usize])
                .collect();
            (faces.ids, faces.flips) = faces_around(made, &is_in);
        }
    }
}

/// Internal faces between cells inside and others, and whether they point inward.
fn faces_around(made: &PolyMesh, is_in: &[bool]) -> (Vec<u32>, Vec<bool>) {
    let (mut ids, mut flips) = (Vec::new(), Vec::new());
    for (face, &beyond) in made.neighbour.iter().enumerate() {
        let own = is_in[made.owner[face] as usize];
        if own != is_in[beyond as usize] {
            ids.push(face as u32);
            flips.push(!own);
        }
    }
    (ids, flips)
}

/// Adds the zones of some surfaces. Cost: an embedding each, without refinement.
///
/// # Errors
/// Memory that is not there.
pub(super) fn find(
    cells: &Cells<'_>,
    made: &PolyMesh,
    surfaces: &[ZoneSurface],
) -> Result<PolyZones, Error> {
    let mut zones = PolyZones::default();
    for of in surfaces {
        let inside = inside(cells.mesh, &of.surface)?;
        let mut is_in = Vec::with_capacity(made.cells);
        for (slot, &id) in cells.blocks.iter().enumerate() {
            let mask = inside[id as usize];
            each_cell(cells.kept[slot], |cell, _| {
                is_in.push(mask >> cell & 1 == 1)
            });
        }
        let zone = |ids, flips| FoamZone {
            name: of.name.clone(),
            ids,
            flips,
            entries: vec![("type".to_owned(), String::new())],
        };
        let ids = (0..made.cells as u32).filter(|&cell| is_in[cell as usize]);
        let mut cell_zone = zone(ids.collect(), Vec::new());
        cell_zone.entries[0].1 = "cellZone".into();
        zones.cells.push(cell_zone);
        let (ids, flips) = faces_around(made, &is_in);
        let mut face_zone = zone(ids, flips);
        face_zone.entries[0].1 = "faceZone".into();
        zones.faces.push(face_zone);
    }
    Ok(zones)
}

/// The cells of each block whose centre is inside a surface, by block id; refined blocks' own cells too.
fn inside(mesh: &Mesh<3>, surface: &Snapped<3>) -> Result<Vec<u64>, Error> {
    let forest = mesh.forest.download(&Host)?;
    let mut params = EmbedParams::new(forest.levels.len(), 0.0, Fill::NonZero);
    params.periodic = forest.periodic;
    let made = embed_fixed(&Host, surface, mesh.frame, &params, forest, &mut ())?;
    Ok(made.classes.solid)
}
