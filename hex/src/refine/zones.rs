//! Zones of a parent on its refined mesh, and faces by their cells.

use super::RefinedMesh;
use crate::PolyMesh;
use crate::kernels::NONE;
use crate::polymesh::FoamZone;
use rayon::prelude::*;

/// Internal faces of a mesh by owner and neighbour.
pub(super) struct FacesByCells {
    sorted: Vec<(u32, u32, u32)>,
    /// Faces of each group given out so far.
    given: Vec<u32>,
}

impl FacesByCells {
    pub(super) fn new(mesh: &PolyMesh) -> Self {
        let ends = mesh.owner.iter().zip(&mesh.neighbour).zip(0..);
        let mut sorted: Vec<_> = ends.map(|((&o, &n), face)| (o, n, face)).collect();
        sorted.par_sort_unstable();
        let given = vec![0; sorted.len()];
        Self { sorted, given }
    }

    /// The face between two cells. Of several, as polyhedra may have, each is given out in turn.
    pub(super) fn between(&mut self, owner: u32, neighbour: u32) -> Option<usize> {
        let first = self
            .sorted
            .partition_point(|f| (f.0, f.1) < (owner, neighbour));
        let group = self.sorted[first..].iter();
        let group = group
            .take_while(|f| (f.0, f.1) == (owner, neighbour))
            .count();
        let last = group.checked_sub(1)?;
        let at = first + (self.given[first] as usize).min(last);
        self.given[first] += 1;
        Some(self.sorted[at].2 as usize)
    }
}

impl RefinedMesh {
    /// Zones of cells: the parts of their cells.
    pub fn cell_zones(&self, parent: &PolyMesh, zones: &[FoamZone]) -> Vec<FoamZone> {
        let of = |zone: &FoamZone| {
            let mut is_in = vec![false; parent.cells];
            zone.ids.iter().for_each(|&id| is_in[id as usize] = true);
            let cells = self.paths.iter().zip(0..);
            let cells = cells.filter(|(path, _)| is_in[path.parent() as usize]);
            FoamZone {
                ids: cells.map(|(_, cell)| cell).collect(),
                ..zone.clone()
            }
        };
        zones.iter().map(of).collect()
    }

    /// Zones of faces: the parts of their faces, with the same flips.
    pub fn face_zones(&self, parent: &PolyMesh, zones: &[FoamZone]) -> Vec<FoamZone> {
        let origins = self.face_origins(parent);
        let of = |zone: &FoamZone| {
            let mut at = vec![NONE; parent.faces()];
            zone.ids
                .iter()
                .zip(0..)
                .for_each(|(&id, i)| at[id as usize] = i);
            let place = |origin: &u32| at.get(*origin as usize).copied().filter(|&i| i != NONE);
            let faces = origins.iter().zip(0..);
            let faces = faces.filter_map(|(origin, face)| Some((face, place(origin)?)));
            let (ids, from): (Vec<u32>, Vec<u32>) = faces.unzip();
            let flips = match zone.flips.is_empty() {
                true => vec![false; ids.len()],
                false => from.iter().map(|&i| zone.flips[i as usize]).collect(),
            };
            FoamZone {
                ids,
                flips,
                ..zone.clone()
            }
        };
        zones.iter().map(of).collect()
    }

    /// The parent's face that each face is part of; `NONE` inside its cells.
    fn face_origins(&self, parent: &PolyMesh) -> Vec<u32> {
        let mut by_cells = FacesByCells::new(parent);
        let internal = self.mesh.owner.iter().zip(&self.mesh.neighbour);
        let origin = |(&owner, &neighbour): (&u32, &u32)| {
            let [a, b] = [owner, neighbour].map(|cell| self.paths[cell as usize].parent());
            let face = if a == b { None } else { by_cells.between(a, b) };
            face.map_or(NONE, |face| face as u32)
        };
        let mut origins: Vec<u32> = internal.map(origin).collect();
        origins.extend(&self.rims);
        origins
    }
}
