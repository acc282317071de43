//! Cells by their corners become a mesh of faces.

use super::collect::{FileCells, FileShape};
use super::source::{reserve, syntax};
use super::{MOST_PATCHES, VolumeFormat, VolumeMesh, groups};
use crate::MeshFileError;
use crate::geometry::{cell_of, face_of};
use crate::polymesh::FoamZone;
use crate::{PolyMesh, PolyPatch, PolyViolation};
use rayon::prelude::*;
use std::path::Path;

/// No point, no group.
pub(super) const NONE: u32 = u32::MAX;
/// The patch of faces in no group.
const DEFAULT: &str = "defaultFaces";

/// A side of a cell: its corners in ascending order, which both cells of a face have alike.
type Side = ([u32; 4], u32, u8);

/// Cells with a shape.
struct Cells<'a> {
    path: &'a Path,
    shape: FileShape,
    corners: Vec<u32>,
    labels: &'a [u64],
    noun: &'static str,
}

/// Faces of cells: internal ones by owner and neighbour, boundary ones; each with the owner's side.
struct Faces {
    internal: Vec<(u32, u32, u8)>,
    boundary: Vec<(u32, u8)>,
}

/// The mesh of some cells.
pub(super) fn assemble(
    path: &Path,
    mut file: FileCells,
    angle: f64,
    format: VolumeFormat,
) -> Result<VolumeMesh, MeshFileError> {
    let (shape, mut corners) = file.shape(path)?;
    let lost = file.compact(&mut corners);
    if lost > 0 {
        let note = format!("{lost} surface elements have points that no cell has: left out");
        file.notes.push(note);
    }
    let labels = std::mem::take(&mut file.labels);
    let mut cells = Cells {
        path,
        shape,
        corners,
        labels: &labels,
        noun: file.noun,
    };
    cells.check_corners()?;
    if cells.orient(&file.points)? {
        let note = "all cells are mirrored, with corners in left-handed order: they were turned";
        file.notes.push(note.into());
    }
    let faces = cells.faces()?;
    let names = groups::words(&file.surfaces, &mut file.notes);
    let groups = Groups::of(&cells, &faces, &mut file);
    let (order, patches) = rims(&cells, &faces, &groups, &names, angle, &mut file);
    let mesh = cells.mesh(&mut file, &faces, &order, patches)?;
    cells.check(&mesh)?;
    let volumes = groups::words(&file.volumes, &mut file.notes);
    Ok(VolumeMesh {
        cell_zones: zones(&volumes, &file.cell_groups),
        face_zones: groups.zones(&names),
        mesh,
        format,
        values: file.values,
        notes: file.notes,
    })
}

impl Cells<'_> {
    fn count(&self) -> usize {
        self.corners.len() / self.shape.corners()
    }

    fn of(&self, cell: usize) -> &[u32] {
        let n = self.shape.corners();
        &self.corners[cell * n..(cell + 1) * n]
    }

    /// A side's corners, in a loop seen from outside.
    fn side(&self, cell: u32, side: u8) -> impl Iterator<Item = u32> {
        let corners = self.of(cell as usize);
        let side = self.shape.sides()[usize::from(side)];
        side.iter().map(|&corner| corners[corner])
    }

    fn wrong(&self, cell: usize, what: impl Into<String>) -> MeshFileError {
        syntax(
            self.path,
            format!("{} {}", self.noun, self.labels[cell]),
            what,
        )
    }

    /// Refuses cells with a corner twice, such as prisms given as hexahedra.
    fn check_corners(&self) -> Result<(), MeshFileError> {
        let has_twins = |&cell: &usize| {
            let corners = self.of(cell);
            (1..corners.len()).any(|i| corners[..i].contains(&corners[i]))
        };
        let all = (0..self.count()).into_par_iter().filter(has_twins);
        match all.clone().min() {
            None => Ok(()),
            Some(first) => {
                let count = all.count();
                let what = format!("{count} cells have a point as two of their corners");
                Err(self.wrong(first, what))
            }
        }
    }

    fn volume(&self, cell: usize, points: &[[f64; 3]]) -> f64 {
        let side = |side| {
            let ids: Vec<u32> = self.side(cell as u32, side).collect();
            face_of(points, &ids)
        };
        let faces: Vec<_> = (0..self.shape.sides().len() as u8).map(side).collect();
        let ids: Vec<u32> = (0..faces.len() as u32).collect();
        cell_of(|face| faces[face as usize], &ids, |_| true).volume
    }

    /// Turns cells that are all mirrored, and says whether they were.
    fn orient(&mut self, points: &[[f64; 3]]) -> Result<bool, MeshFileError> {
        let all = (0..self.count()).into_par_iter();
        let volumes: Vec<f64> = all.map(|cell| self.volume(cell, points)).collect();
        let Some(first) = volumes.iter().position(|&v| v.is_nan() || v <= 0.0) else {
            return Ok(false);
        };
        if !volumes.iter().all(|&v| v < 0.0) {
            let count = volumes.iter().filter(|&&v| v.is_nan() || v <= 0.0).count();
            let what = format!(
                "its volume is {:e}; {count} of {} cells are inverted or flat",
                volumes[first],
                self.count()
            );
            return Err(self.wrong(first, what));
        }
        let n = self.shape.corners();
        for corners in self.corners.chunks_mut(n) {
            match self.shape {
                FileShape::Hexahedron => corners.rotate_left(4),
                FileShape::Tetrahedron => corners.swap(0, 1),
            }
        }
        Ok(true)
    }

    /// Matches sides by their corners.
    fn faces(&self) -> Result<Faces, MeshFileError> {
        let of_cell = self.shape.sides().len();
        let mut sides: Vec<Side> = reserve(self.path, "sides of cells", self.count() * of_cell)?;
        sides.par_extend((0..self.count() * of_cell).into_par_iter().map(|i| {
            let (cell, side) = ((i / of_cell) as u32, (i % of_cell) as u8);
            let mut key = [NONE; 4];
            self.side(cell, side)
                .zip(&mut key)
                .for_each(|(id, key)| *key = id);
            key.sort_unstable();
            (key, cell, side)
        }));
        sides.par_sort_unstable();
        let mut faces = Faces {
            internal: reserve(self.path, "faces", sides.len() / 2)?,
            boundary: Vec::new(),
        };
        for same in sides.chunk_by(|a, b| a.0 == b.0) {
            match *same {
                [(_, cell, side)] => faces.boundary.push((cell, side)),
                [(_, a, side), (_, b, other)] => {
                    if !self.are_opposite((a, side), (b, other)) {
                        let what = format!(
                            "the face that it shares with {} {} has its corners in another order: the cells overlap, or \
                             their corners are in a wrong order",
                            self.noun, self.labels[b as usize]
                        );
                        return Err(self.wrong(a as usize, what));
                    }
                    faces.internal.push((a, b, side));
                }
                _ => {
                    let (first, more) = (same[0].1 as usize, same.len());
                    return Err(self.wrong(first, format!("{more} cells share one of its faces")));
                }
            }
        }
        faces.internal.par_sort_unstable();
        faces.boundary.par_sort_unstable();
        Ok(faces)
    }

    /// Whether two sides pass the same points in opposite directions.
    fn are_opposite(&self, a: (u32, u8), b: (u32, u8)) -> bool {
        let a: Vec<u32> = self.side(a.0, a.1).collect();
        let mut b: Vec<u32> = self.side(b.0, b.1).collect();
        b.reverse();
        let turn = b.iter().position(|&id| id == a[0]).unwrap_or(0);
        b.rotate_left(turn);
        a == b
    }

    fn mesh(
        &self,
        file: &mut FileCells,
        faces: &Faces,
        order: &[usize],
        patches: Vec<PolyPatch>,
    ) -> Result<PolyMesh, MeshFileError> {
        let internal = faces.internal.iter().map(|&(owner, _, side)| (owner, side));
        let boundary = order.iter().map(|&face| faces.boundary[face]);
        let count = faces.internal.len() + order.len();
        let corners = count * self.shape.sides()[0].len();
        if corners as u64 >= u64::from(u32::MAX) {
            let what = format!("{corners} corners of faces, more than 2^32");
            return Err(syntax(self.path, "the whole file", what));
        }
        let mut mesh = PolyMesh {
            points: std::mem::take(&mut file.points),
            face_start: reserve(self.path, "faces", count + 1)?,
            face_points: reserve(self.path, "face corners", corners)?,
            owner: reserve(self.path, "face owners", count)?,
            neighbour: faces.internal.iter().map(|face| face.1).collect(),
            patches,
            cells: self.count(),
            levels: None,
        };
        mesh.face_start.push(0);
        for (owner, side) in internal.chain(boundary) {
            mesh.face_points.extend(self.side(owner, side));
            mesh.face_start.push(mesh.face_points.len() as u32);
            mesh.owner.push(owner);
        }
        Ok(mesh)
    }

    /// Every invariant of the mesh.
    fn check(&self, mesh: &PolyMesh) -> Result<(), MeshFileError> {
        let Err(violation) = mesh.validate() else {
            return Ok(());
        };
        let cell = match violation {
            PolyViolation::OpenCell { cell, .. }
            | PolyViolation::OpenArea { cell, .. }
            | PolyViolation::Volume { cell, .. } => Some(cell),
            PolyViolation::Orientation { cell, .. } | PolyViolation::Order { owner: cell, .. } => {
                Some(cell as usize)
            }
            _ => None,
        };
        Err(match cell {
            Some(cell) => self.wrong(cell, violation.to_string()),
            None => MeshFileError::Invalid {
                path: self.path.to_owned(),
                violation,
            },
        })
    }
}

/// Groups of faces.
struct Groups {
    /// Of each boundary face, or [`NONE`].
    boundary: Vec<u32>,
    /// Internal faces in a group: the face, the group, whether the element looks the other way than the owner.
    internal: Vec<(u32, u32, bool)>,
}

impl Groups {
    fn of(cells: &Cells<'_>, faces: &Faces, file: &mut FileCells) -> Self {
        let mut named: Vec<([u32; 4], usize)> = file
            .faces
            .par_iter()
            .enumerate()
            .map(|(i, &(mut key, _))| {
                key.sort_unstable();
                (key, i)
            })
            .collect();
        named.par_sort_unstable();
        named.dedup_by_key(|face| face.0);
        let find = |owner: u32, side: u8| {
            let mut key = [NONE; 4];
            cells
                .side(owner, side)
                .zip(&mut key)
                .for_each(|(id, key)| *key = id);
            key.sort_unstable();
            let at = named.binary_search_by_key(&key, |face| face.0).ok()?;
            Some(named[at].1)
        };
        if named.is_empty() {
            let boundary = vec![NONE; faces.boundary.len()];
            return Self {
                boundary,
                internal: Vec::new(),
            };
        }
        let boundary: Vec<u32> = faces
            .boundary
            .par_iter()
            .map(|&(owner, side)| find(owner, side).map_or(NONE, |i| file.faces[i].1))
            .collect();
        let of_internal = |(face, &(owner, _, side)): (usize, &(u32, u32, u8))| {
            let at = find(owner, side)?;
            let (ids, group) = file.faces[at];
            Some((
                face as u32,
                group,
                !is_same_loop(cells.side(owner, side), ids),
            ))
        };
        let internal: Vec<_> = faces
            .internal
            .par_iter()
            .enumerate()
            .filter_map(of_internal)
            .collect();
        let found = internal.len() + boundary.iter().filter(|&&group| group != NONE).count();
        if found < named.len() {
            let note = format!(
                "{} surface elements are no face of a cell: left out",
                named.len() - found
            );
            file.notes.push(note);
        }
        Self { boundary, internal }
    }

    /// Zones of internal faces.
    fn zones(&self, names: &[String]) -> Vec<FoamZone> {
        let zone = |group: usize| {
            let of = self.internal.iter().filter(|face| face.1 as usize == group);
            let (ids, flips) = of.map(|&(face, _, flip)| (face, flip)).unzip();
            FoamZone {
                name: names[group].clone(),
                ids,
                flips,
                entries: vec![("type".to_owned(), "faceZone".to_owned())],
            }
        };
        (0..names.len())
            .map(zone)
            .filter(|zone| !zone.ids.is_empty())
            .collect()
    }
}

/// Whether a loop passes some points in the order of an element.
fn is_same_loop(of_face: impl Iterator<Item = u32>, element: [u32; 4]) -> bool {
    let mut ids: Vec<u32> = of_face.collect();
    let turn = ids.iter().position(|&id| id == element[0]).unwrap_or(0);
    ids.rotate_left(turn);
    ids.get(1) == Some(&element[1])
}

/// Zones of cells.
fn zones(names: &[String], groups: &[u32]) -> Vec<FoamZone> {
    let zone = |group: usize| {
        let ids = groups
            .iter()
            .zip(0..)
            .filter(|(of, _)| **of as usize == group);
        FoamZone {
            name: names[group].clone(),
            ids: ids.map(|(_, cell)| cell).collect(),
            flips: Vec::new(),
            entries: vec![("type".to_owned(), "cellZone".to_owned())],
        }
    };
    (0..names.len())
        .map(zone)
        .filter(|zone| !zone.ids.is_empty())
        .collect()
}

/// Boundary faces by patch, and the patches.
fn rims(
    cells: &Cells<'_>,
    faces: &Faces,
    groups: &Groups,
    names: &[String],
    angle: f64,
    file: &mut FileCells,
) -> (Vec<usize>, Vec<PolyPatch>) {
    let is_named = groups.boundary.iter().any(|&group| group != NONE);
    let (of_face, names) = match is_named {
        true => {
            let open = groups
                .boundary
                .iter()
                .filter(|&&group| group == NONE)
                .count();
            if open > 0 {
                let note = format!("{open} boundary faces are in no group: patch {DEFAULT}");
                file.notes.push(note);
            }
            // A group may have that name.
            let last = names.iter().position(|name| name == DEFAULT);
            let last = last.unwrap_or(names.len()) as u32;
            let patch = |&group: &u32| if group == NONE { last } else { group };
            let names: Vec<String> = names.iter().cloned().chain([DEFAULT.to_owned()]).collect();
            (groups.boundary.iter().map(patch).collect(), names)
        }
        false => by_angle(cells, faces, angle, file),
    };
    let mut order: Vec<usize> = (0..faces.boundary.len()).collect();
    order.par_sort_by_key(|&face| of_face[face]);
    note_coincident(cells, faces, file);
    let mut start = faces.internal.len();
    let patch = |(patch, name): (u32, &String)| {
        let count = of_face.iter().filter(|&&of| of == patch).count();
        start += count;
        PolyPatch {
            name: name.clone(),
            kind: "patch".to_owned(),
            start: start - count,
            faces: count,
            entries: Vec::new(),
        }
    };
    let patches = (0..).zip(&names).map(patch);
    let patches = patches.filter(|patch| patch.faces > 0).collect();
    (order, patches)
}

/// Patches by the angle between faces.
fn by_angle(
    cells: &Cells<'_>,
    faces: &Faces,
    angle: f64,
    file: &mut FileCells,
) -> (Vec<u32>, Vec<String>) {
    let ids: Vec<Vec<u32>> = faces
        .boundary
        .par_iter()
        .map(|&(cell, side)| cells.side(cell, side).collect())
        .collect();
    let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
    let (of_face, count) = groups::by_angle(&file.points, &ids, angle);
    if count > MOST_PATCHES {
        file.notes.push(format!(
            "an angle of {angle} degrees divides the boundary into {count} patches, more than {MOST_PATCHES}: it is one"
        ));
        return (vec![0; of_face.len()], vec!["patch0".to_owned()]);
    }
    (of_face, (0..count).map(|i| format!("patch{i}")).collect())
}

/// Says how many boundary points lie on others: the cells there are not connected.
fn note_coincident(cells: &Cells<'_>, faces: &Faces, file: &mut FileCells) {
    let mut rim: Vec<u32> = faces
        .boundary
        .iter()
        .flat_map(|&(cell, side)| cells.side(cell, side))
        .collect();
    rim.par_sort_unstable();
    rim.dedup();
    // -0.0 + 0.0 is 0.0.
    let mut places: Vec<[u64; 3]> = rim
        .par_iter()
        .map(|&id| file.points[id as usize].map(|x| (x + 0.0).to_bits()))
        .collect();
    places.par_sort_unstable();
    let twins = places.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if twins > 0 {
        file.notes.push(format!(
            "{twins} points of the boundary lie on others: cells on either side of them are not connected"
        ));
    }
}
