//! Parts of a mesh for parallel runs, as OpenFOAM's `decomposePar` makes them.
//!
//! | in a part | order |
//! |---|---|
//! | points, cells, internal faces | as in the mesh |
//! | the patches of the mesh, empty ones too | as in the mesh |
//! | faces between two parts: a patch `processor`, `procBoundaryAtoB`, for each part beyond | parts; in each as in the mesh, on both sides |
//! | faces of `cyclic` patches whose other side is in another part: `processorCyclic`, `procBoundaryAtoBthroughPATCH` | after those between the same parts |
//!
//! Faces whose owner is in another part are turned, and begin with the same point.

use crate::polymesh::{FoamZone, PolyMeshFormat, write_signed};
use crate::refine::Boundary;
use crate::{MeshFileError, PolyLevels, PolyMesh, PolyPatch};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// By the part beyond and the joined patch, if any: faces, and whether each is turned.
type Between = BTreeMap<(u32, Option<usize>), Vec<(u32, bool)>>;

/// No element.
const NONE: u32 = u32::MAX;

/// A part of a mesh, and what its elements are in the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshPart {
    /// The part.
    pub mesh: PolyMesh,
    /// The point of the mesh that each point is.
    pub points: Vec<u32>,
    /// The cell that each cell is.
    pub cells: Vec<u32>,
    /// The face that each face is.
    pub faces: Vec<u32>,
    /// Whether it is turned.
    pub turned: Vec<bool>,
    /// The patch that each patch is; none between parts.
    pub patches: Vec<Option<usize>>,
}

impl PolyMesh {
    /// Divides the mesh into `parts`, by the part of each cell. Cost: a pass over the faces for each part, on all threads.
    ///
    /// # Panics
    /// Where there is not one part for each cell, or it is not below `parts`.
    pub fn decompose(&self, part_of: &[u32], parts: u32) -> Vec<MeshPart> {
        assert_eq!(part_of.len(), self.cells, "a part for each cell");
        assert!(part_of.iter().all(|&part| part < parts), "parts that exist");
        let boundary = Boundary::of(self.patches.clone());
        let all = (0..parts).into_par_iter();
        all.map(|part| self.part(part, part_of, &boundary))
            .collect()
    }

    fn part(&self, part: u32, part_of: &[u32], boundary: &Boundary) -> MeshPart {
        let internal = self.internal_faces();
        let is_here = |cell: u32| part_of[cell as usize] == part;
        // Faces with the part beyond and, of a joined patch, that patch: within, of patches, between parts.
        let (mut within, mut outer) = (Vec::new(), vec![Vec::new(); self.patches.len()]);
        let mut between = Between::new();
        for face in 0..internal {
            let [owner, other] = [self.owner[face], self.neighbour[face]];
            match (is_here(owner), is_here(other)) {
                (true, true) => within.push(face as u32),
                (true, false) => {
                    let key = (part_of[other as usize], None);
                    between.entry(key).or_default().push((face as u32, false));
                }
                (false, true) => {
                    let key = (part_of[owner as usize], None);
                    between.entry(key).or_default().push((face as u32, true));
                }
                (false, false) => {}
            }
        }
        for (at, patch) in self.patches.iter().enumerate() {
            for face in patch.start..patch.start + patch.faces {
                if !is_here(self.owner[face]) {
                    continue;
                }
                let mate = boundary.mate(face);
                let beyond = mate.map_or(part, |(mate, _)| part_of[self.owner[mate] as usize]);
                if beyond == part {
                    outer[at].push((face as u32, false));
                } else {
                    let list = between.entry((beyond, Some(at))).or_default();
                    list.push((face as u32, false));
                }
            }
        }
        let mut made = Self::default();
        let mut out = MeshPart {
            mesh: Self::default(),
            points: Vec::new(),
            cells: (0..self.cells as u32)
                .filter(|&cell| is_here(cell))
                .collect(),
            faces: within.clone(),
            turned: vec![false; within.len()],
            patches: Vec::new(),
        };
        let mut put = |faces: &[(u32, bool)], patch: PolyPatch, of: Option<usize>| {
            let start = out.faces.len();
            out.faces.extend(faces.iter().map(|face| face.0));
            out.turned.extend(faces.iter().map(|face| face.1));
            out.patches.push(of);
            made.patches.push(PolyPatch {
                start,
                faces: faces.len(),
                ..patch
            });
        };
        for (at, faces) in outer.iter().enumerate() {
            put(faces, self.patches[at].clone(), Some(at));
        }
        for (&(beyond, through), faces) in &between {
            let through = through.map(|patch| self.patches[patch].name.as_str());
            put(faces, between_parts(part, beyond, through), None);
        }
        self.fill(&mut made, &mut out);
        out.mesh = made;
        out
    }

    /// The arrays of a part whose faces are known.
    fn fill(&self, made: &mut Self, part: &mut MeshPart) {
        let mut cell_at = vec![NONE; self.cells];
        for (at, &cell) in (0..).zip(&part.cells) {
            cell_at[cell as usize] = at;
        }
        let mut point_at = vec![NONE; self.points.len()];
        for &face in &part.faces {
            self.face(face as usize)
                .iter()
                .for_each(|&point| point_at[point as usize] = 0);
        }
        let used = (0..self.points.len() as u32).filter(|&point| point_at[point as usize] != NONE);
        part.points = used.collect();
        for (at, &point) in (0..).zip(&part.points) {
            point_at[point as usize] = at;
        }
        made.cells = part.cells.len();
        made.points = part
            .points
            .iter()
            .map(|&p| self.points[p as usize])
            .collect();
        made.face_start.push(0);
        for (&face, &is_turned) in part.faces.iter().zip(&part.turned) {
            let face = face as usize;
            let ids = self.face(face).iter().map(|&p| point_at[p as usize]);
            match is_turned {
                true => {
                    made.face_points.extend(ids.clone().take(1));
                    made.face_points.extend(ids.skip(1).rev());
                }
                false => made.face_points.extend(ids),
            }
            made.face_start.push(made.face_points.len() as u32);
            let owner = if is_turned {
                self.neighbour[face]
            } else {
                self.owner[face]
            };
            made.owner.push(cell_at[owner as usize]);
        }
        let internal = made
            .patches
            .first()
            .map_or(part.faces.len(), |patch| patch.start);
        let neighbour = |&face: &u32| cell_at[self.neighbour[face as usize] as usize];
        made.neighbour = part.faces[..internal].iter().map(neighbour).collect();
        made.levels = self.levels.as_ref().map(|levels| PolyLevels {
            cell: part
                .cells
                .iter()
                .map(|&c| levels.cell[c as usize])
                .collect(),
            point: part
                .points
                .iter()
                .map(|&p| levels.point[p as usize])
                .collect(),
            edge: levels.edge,
        });
    }
}

/// The patch of faces between two parts, or through a joined patch.
fn between_parts(part: u32, beyond: u32, through: Option<&str>) -> PolyPatch {
    let kind = through.map_or("processor", |_| "processorCyclic");
    let mut entries = vec![
        ("inGroups".to_owned(), format!("1({kind})")),
        ("matchTolerance".to_owned(), "0.0001".to_owned()),
        ("transform".to_owned(), "unknown".to_owned()),
        ("myProcNo".to_owned(), part.to_string()),
        ("neighbProcNo".to_owned(), beyond.to_string()),
    ];
    entries.extend(through.map(|patch| ("referPatch".to_owned(), patch.to_owned())));
    let through = through.map_or_else(String::new, |patch| format!("through{patch}"));
    PolyPatch {
        name: format!("procBoundary{part}to{beyond}{through}"),
        kind: kind.to_owned(),
        entries,
        ..PolyPatch::default()
    }
}

impl MeshPart {
    /// Writes the part into a folder `processorN/constant/polyMesh`, which must exist, with the lists by which
    /// `reconstructPar` puts fields together. Returns the bytes written.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path, format: PolyMeshFormat) -> Result<u64, MeshFileError> {
        let ids = |list: &[u32]| list.iter().map(|&id| i64::from(id)).collect::<Vec<_>>();
        // From 1 on, negative where a face is turned.
        let face = |(&face, &is_turned): (&u32, &bool)| match is_turned {
            true => -1 - i64::from(face),
            false => 1 + i64::from(face),
        };
        let faces = self.faces.iter().zip(&self.turned).map(face).collect();
        let patch = |patch: &Option<usize>| patch.map_or(-1, |patch| patch as i64);
        let patches = self.patches.iter().map(patch).collect();
        let mut bytes = self.mesh.write(folder, format)?;
        for (name, list) in [
            ("cellProcAddressing", ids(&self.cells)),
            ("pointProcAddressing", ids(&self.points)),
            ("faceProcAddressing", faces),
            ("boundaryProcAddressing", patches),
        ] {
            bytes += write_signed(folder, name, &list, format)?;
        }
        Ok(bytes)
    }

    /// The cells of zones that are here.
    pub fn cell_zones(&self, zones: &[FoamZone]) -> Vec<FoamZone> {
        zones
            .iter()
            .map(|zone| within(zone, &self.cells, &[]))
            .collect()
    }

    /// The faces of zones that are here. A turned face is flipped.
    pub fn face_zones(&self, zones: &[FoamZone]) -> Vec<FoamZone> {
        zones
            .iter()
            .map(|zone| within(zone, &self.faces, &self.turned))
            .collect()
    }
}

/// The elements of a zone that a part has.
fn within(zone: &FoamZone, elements: &[u32], turned: &[bool]) -> FoamZone {
    let places: BTreeMap<u32, usize> = zone.ids.iter().copied().zip(0..).collect();
    let found = (0u32..).zip(elements);
    let found = found.filter_map(|(at, id)| Some((at, *places.get(id)?)));
    let found: Vec<(u32, usize)> = found.collect();
    let flip = |&(at, place): &(u32, usize)| {
        zone.flips.get(place).copied().unwrap_or_default() != turned[at as usize]
    };
    FoamZone {
        ids: found.iter().map(|of| of.0).collect(),
        flips: match turned.is_empty() {
            true => Vec::new(),
            false => found.iter().map(flip).collect(),
        },
        ..zone.clone()
    }
}
