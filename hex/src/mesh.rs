//! The arrays of a mesh.

/// A mesh of polyhedra; see the table of the crate. Memory: 24 bytes a point, 12 bytes a face, 4 bytes a corner of a
/// face.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolyMesh {
    /// Coordinates of each point, in metres.
    pub points: Vec<[f64; 3]>,
    /// First entry of each face in `face_points`, and their number.
    pub face_start: Vec<u32>,
    /// Points of all faces.
    pub face_points: Vec<u32>,
    /// Cell on the inner side of each face.
    pub owner: Vec<u32>,
    /// Cell on the other side of each internal face.
    pub neighbour: Vec<u32>,
    /// The boundary.
    pub patches: Vec<PolyPatch>,
    /// Number of cells.
    pub cells: usize,
    /// Refinement levels, where the mesh is known to be an octree.
    pub levels: Option<PolyLevels>,
}

/// Boundary faces with a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolyPatch {
    /// The name: see [`crate::polymesh::word`].
    pub name: String,
    /// OpenFOAM's type: `patch`, `wall`, `cyclic`, …
    pub kind: String,
    /// First face.
    pub start: usize,
    /// Number of faces.
    pub faces: usize,
    /// Other entries of the patch: keyword, and value as it is in the file.
    pub entries: Vec<(String, String)>,
}

/// Refinement levels as OpenFOAM's `hexRef8` reads them, so that its tools can refine the mesh further.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolyLevels {
    /// Level of each cell, 0 the coarsest.
    pub cell: Vec<u8>,
    /// Level of each point: the coarsest one that has it as the corner of a cell.
    pub point: Vec<u8>,
    /// Length of the edges of a cell of level 0.
    pub edge: f64,
}

impl PolyMesh {
    /// Number of faces.
    pub fn faces(&self) -> usize {
        self.owner.len()
    }

    /// Number of internal faces; the others are boundary faces.
    pub fn internal_faces(&self) -> usize {
        self.neighbour.len()
    }

    /// The points of a face.
    #[inline]
    pub fn face(&self, face: usize) -> &[u32] {
        &self.face_points[self.face_start[face] as usize..self.face_start[face + 1] as usize]
    }

    /// The faces of each cell, owned ones and others in ascending order: starts of the cells, and faces. Memory: 4
    /// bytes a cell and 8 bytes a face. Ids must be in range.
    pub fn cell_faces(&self) -> (Vec<u32>, Vec<u32>) {
        let mut start = vec![0u32; self.cells + 1];
        for &cell in self.owner.iter().chain(&self.neighbour) {
            start[cell as usize + 1] += 1;
        }
        for cell in 0..self.cells {
            start[cell + 1] += start[cell];
        }
        let mut faces = vec![0; self.owner.len() + self.neighbour.len()];
        let mut next = start.clone();
        let mut put = |cell: u32, face: usize| {
            let at = &mut next[cell as usize];
            faces[*at as usize] = face as u32;
            *at += 1;
        };
        for (face, &owner) in self.owner.iter().enumerate() {
            put(owner, face);
            if let Some(&neighbour) = self.neighbour.get(face) {
                put(neighbour, face);
            }
        }
        (start, faces)
    }

    /// A checksum of topology, coordinates and patches, for comparisons. Depends on ids and order.
    pub fn checksum(&self) -> u64 {
        let mut sum = Fnv(0xcbf2_9ce4_8422_2325);
        sum.add(self.cells as u64);
        for p in self.points.as_flattened() {
            sum.add(p.to_bits());
        }
        for ids in [
            &self.face_start,
            &self.face_points,
            &self.owner,
            &self.neighbour,
        ] {
            sum.add(ids.len() as u64);
            ids.iter().for_each(|&id| sum.add(u64::from(id)));
        }
        for patch in &self.patches {
            patch.name.bytes().for_each(|b| sum.add(u64::from(b)));
            sum.add(patch.start as u64);
            sum.add(patch.faces as u64);
        }
        sum.0
    }
}

/// FNV-1a over words.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }
}
