//! The boundary as refinement sees it: patches, which of them are two sides of one another, and which of them bound a mesh that
//! is one cell thick.

use crate::{PolyMesh, PolyPatch, PolyViolation};
use std::ops::Range;

/// Types of patches whose faces are joined with those of another one, face by face and point by point.
const COUPLED: [&str; 3] = ["cyclic", "cyclicSlip", "nonuniformTransformCyclic"];
/// Types of patches on both sides of a mesh of one cell's thickness.
const SHEETS: [&str; 2] = ["empty", "wedge"];

/// Two patches whose faces are joined, in the order of both. The points of a face of the second one follow one another against
/// those of the first, from the same point on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Couple {
    /// The first face of each.
    pub(crate) start: [usize; 2],
    /// Faces of each.
    pub(crate) faces: usize,
}

/// The patches of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Boundary {
    pub(crate) patches: Vec<PolyPatch>,
    pub(crate) couples: Vec<Couple>,
    /// Faces of patches on both sides of a mesh of one cell's thickness.
    pub(crate) sheets: Vec<Range<usize>>,
}

impl Boundary {
    /// Of patches that [`check`] has passed.
    pub(crate) fn of(patches: Vec<PolyPatch>) -> Self {
        let mut couples = Vec::new();
        for (at, patch) in patches.iter().enumerate() {
            let second = partner(&patches, patch).filter(|second| *second > at);
            if let Some(second) = second.map(|second| &patches[second]) {
                couples.push(Couple {
                    start: [patch.start, second.start],
                    faces: patch.faces,
                });
            }
        }
        let sheets = patches.iter().filter(|patch| is_of(patch, &SHEETS));
        let sheets = sheets.map(|patch| patch.start..patch.start + patch.faces);
        let sheets = sheets.filter(|faces| !faces.is_empty()).collect();
        Self {
            patches,
            couples,
            sheets,
        }
    }

    /// The first patch that asks for what no GPU does.
    pub(crate) fn only_on_host(&self) -> Option<&PolyPatch> {
        only_on_host(&self.patches)
    }

    /// The face that a face is joined with, and whether it is one of a second patch.
    #[inline]
    pub(crate) fn mate(&self, face: usize) -> Option<(usize, bool)> {
        self.couples.iter().find_map(|couple| {
            let [first, second] = couple.start;
            match face {
                _ if (first..first + couple.faces).contains(&face) => {
                    Some((face - first + second, false))
                }
                _ if (second..second + couple.faces).contains(&face) => {
                    Some((face - second + first, true))
                }
                _ => None,
            }
        })
    }

    /// All joined faces, those of first patches before their mates.
    pub(crate) fn mates(&self) -> impl Iterator<Item = (usize, usize)> {
        self.couples.iter().flat_map(|couple| {
            let [first, second] = couple.start;
            (0..couple.faces).map(move |i| (first + i, second + i))
        })
    }

    /// Whether a face lies on one of the two sides of a mesh of one cell's thickness.
    #[inline]
    pub(crate) fn is_sheet(&self, face: usize) -> bool {
        self.sheets.iter().any(|faces| faces.contains(&face))
    }
}

/// The first patch that only the CPU refines: of types `empty`, `wedge`, `cyclic` and its kind.
pub fn only_on_host(patches: &[PolyPatch]) -> Option<&PolyPatch> {
    let is_it = |patch: &&PolyPatch| is_of(patch, &COUPLED) || is_of(patch, &SHEETS);
    patches.iter().filter(|patch| patch.faces > 0).find(is_it)
}

/// Whether a mesh is one cell thick, between patches of type `empty` or `wedge`.
pub fn is_one_cell_thick(patches: &[PolyPatch]) -> bool {
    let mut patches = patches.iter().filter(|patch| patch.faces > 0);
    patches.any(|patch| is_of(patch, &SHEETS))
}

fn is_of(patch: &PolyPatch, kinds: &[&str]) -> bool {
    kinds.contains(&patch.kind.as_str())
}

/// The patch that a patch is joined with.
fn partner(patches: &[PolyPatch], patch: &PolyPatch) -> Option<usize> {
    if !is_of(patch, &COUPLED) {
        return None;
    }
    let mut entries = patch.entries.iter();
    let (_, name) = entries.find(|(key, _)| key == "neighbourPatch")?;
    patches.iter().position(|other| other.name == *name)
}

/// The points of two joined faces that are one another's image.
pub(crate) fn images<'a>(
    first: &'a [u32],
    second: &'a [u32],
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let n = second.len();
    let image = move |(k, &p): (usize, &u32)| (p, second[(n - k) % n]);
    first.iter().take(n).enumerate().map(image)
}

/// Checks that joined patches have faces that fit one another, and that the mesh is not a part of a decomposed one.
///
/// # Errors
/// The first patch that has no partner, or another number of faces; faces with other points.
pub(super) fn check(mesh: &PolyMesh) -> Result<(), PolyViolation> {
    let patches = &mesh.patches;
    let wrong = |patch: &PolyPatch, reason| {
        Err(PolyViolation::Coupled {
            patch: patch.name.clone(),
            kind: patch.kind.clone(),
            reason,
        })
    };
    for patch in patches.iter().filter(|patch| patch.faces > 0) {
        if patch.kind.starts_with("processor") {
            return wrong(
                patch,
                "the mesh is a part of a decomposed one, which reconstructParMesh puts together",
            );
        }
        if !is_of(patch, &COUPLED) {
            continue;
        }
        let Some(other) = partner(patches, patch) else {
            return wrong(patch, "its neighbourPatch does not exist");
        };
        let other = &patches[other];
        let is_mutual = partner(patches, other).is_some_and(|back| patches[back] == *patch);
        if !is_mutual || other.name == patch.name {
            return wrong(patch, "its neighbourPatch has another one as its own");
        }
        if other.faces != patch.faces {
            return wrong(patch, "its neighbourPatch has another number of faces");
        }
        if patch.start < other.start && !fits(mesh, patch, other) {
            return wrong(
                patch,
                "its faces and those of its neighbourPatch do not have the same points in opposite order, as createPatch \
                 orders them",
            );
        }
    }
    Ok(())
}

/// Whether each point of a patch has one image.
fn fits(mesh: &PolyMesh, first: &PolyPatch, second: &PolyPatch) -> bool {
    let mut pairs = Vec::new();
    for i in 0..first.faces {
        let [a, b] = [first, second].map(|patch| mesh.face(patch.start + i));
        if a.len() != b.len() {
            return false;
        }
        pairs.extend(images(a, b));
    }
    let one_image = |pairs: &mut Vec<(u32, u32)>| {
        pairs.sort_unstable();
        pairs.dedup();
        pairs.windows(2).all(|two| two[0].0 != two[1].0)
    };
    if !one_image(&mut pairs) {
        return false;
    }
    pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
    one_image(&mut pairs)
}
