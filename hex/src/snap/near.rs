//! Lists of what is near each point.

use crate::PolyMesh;
use rayon::prelude::*;

/// Points whose lists a thread sorts at a time.
const PIECE: usize = 1 << 12;

/// A list for each point.
#[derive(Debug, Default)]
pub(crate) struct Near {
    start: Vec<u32>,
    ids: Vec<u32>,
}

impl Near {
    /// The points at the other ends of the edges of each point, ascending.
    pub(crate) fn of(mesh: &PolyMesh) -> Self {
        let all = 0..mesh.faces() as u32;
        Self::collect(mesh.points.len(), || {
            all.clone().flat_map(|face| {
                let ids = mesh.face(face as usize);
                let next = ids.iter().cycle().skip(1);
                ids.iter().zip(next).flat_map(|(&a, &b)| [(a, b), (b, a)])
            })
        })
    }

    /// The faces of a list at each of their points.
    pub(crate) fn faces(mesh: &PolyMesh, faces: &[u32]) -> Self {
        Self::collect(mesh.points.len(), || {
            let each = faces.iter();
            each.flat_map(|&face| mesh.face(face as usize).iter().map(move |&p| (p, face)))
        })
    }

    /// The cells at each point.
    pub(crate) fn cells(mesh: &PolyMesh) -> Self {
        let all = 0..mesh.faces();
        Self::collect(mesh.points.len(), || {
            all.clone().flat_map(|face| {
                let other = mesh.neighbour.get(face);
                let cells = std::iter::once(mesh.owner[face]).chain(other.copied());
                cells.flat_map(move |cell| mesh.face(face).iter().map(move |&p| (p, cell)))
            })
        })
    }

    /// From pairs of a point and an entry; entries are sorted, each once.
    pub(super) fn collect<I: Iterator<Item = (u32, u32)>>(
        points: usize,
        pairs: impl Fn() -> I,
    ) -> Self {
        let mut first = vec![0u32; points + 1];
        pairs().for_each(|(p, _)| first[p as usize + 1] += 1);
        for p in 0..points {
            first[p + 1] += first[p];
        }
        let mut all = vec![0; first[points] as usize];
        for (p, id) in pairs() {
            let at = &mut first[p as usize];
            all[*at as usize] = id;
            *at += 1;
        }
        // Each list is filled, so its start has become its end.
        let ends = first;
        let mut pieces = Vec::with_capacity(points.div_ceil(PIECE));
        let mut rest = &mut all[..];
        let mut start = 0;
        for chunk in ends[..points].chunks(PIECE) {
            let end = chunk[chunk.len() - 1] as usize;
            let (piece, others) = rest.split_at_mut(end - start);
            pieces.push((start, chunk, piece));
            (rest, start) = (others, end);
        }
        let counts: Vec<(usize, Vec<u32>)> = pieces
            .into_par_iter()
            .map(|(start, ends, piece)| (start, sort_lists(start, ends, piece)))
            .collect();
        let mut near = Self {
            start: Vec::with_capacity(points + 1),
            ids: all,
        };
        near.start.push(0);
        let mut len = 0;
        for (start, ends) in counts {
            let count = ends.last().map_or(0, |&end| end as usize);
            near.ids.copy_within(start..start + count, len);
            let before = len as u32;
            near.start.extend(ends.into_iter().map(|end| before + end));
            len += count;
        }
        near.ids.truncate(len);
        near.ids.shrink_to_fit();
        near
    }

    /// The list of a point.
    pub(crate) fn at(&self, point: usize) -> &[u32] {
        &self.ids[self.start[point] as usize..self.start[point + 1] as usize]
    }
}

/// Sorts the lists of some points, drops repeated entries, and moves what is left to the front. `ends` are the ends of the lists,
/// of which the first begins at `start`; returns those after, from 0.
fn sort_lists(start: usize, ends: &[u32], piece: &mut [u32]) -> Vec<u32> {
    let (mut from, mut len) = (0, 0);
    let compact = |&end: &u32| {
        let end = end as usize - start;
        piece[from..end].sort_unstable();
        let first = len;
        for at in from..end {
            if len == first || piece[len - 1] != piece[at] {
                piece[len] = piece[at];
                len += 1;
            }
        }
        from = end;
        len as u32
    };
    ends.iter().map(compact).collect()
}
