//! Lists of what is near each point.

use crate::PolyMesh;
use rayon::prelude::*;

/// A list for each point.
#[derive(Debug, Default)]
pub(super) struct Near {
    start: Vec<u32>,
    ids: Vec<u32>,
}

impl Near {
    /// The points at the other ends of the edges of each point, ascending.
    pub(super) fn of(mesh: &PolyMesh) -> Self {
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
    pub(super) fn faces(mesh: &PolyMesh, faces: &[u32]) -> Self {
        Self::collect(mesh.points.len(), || {
            let each = faces.iter();
            each.flat_map(|&face| mesh.face(face as usize).iter().map(move |&p| (p, face)))
        })
    }

    /// The cells at each point.
    pub(super) fn cells(mesh: &PolyMesh) -> Self {
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
    fn collect<I: Iterator<Item = (u32, u32)>>(points: usize, pairs: impl Fn() -> I) -> Self {
        let mut first = vec![0u32; points + 1];
        pairs().for_each(|(p, _)| first[p as usize + 1] += 1);
        for p in 0..points {
            first[p + 1] += first[p];
        }
        let mut all = vec![0; first[points] as usize];
        let mut next = first.clone();
        for (p, id) in pairs() {
            let at = &mut next[p as usize];
            all[*at as usize] = id;
            *at += 1;
        }
        let lists: Vec<&[u32]> = first
            .windows(2)
            .map(|w| &all[w[0] as usize..w[1] as usize])
            .collect();
        let parts: Vec<(Vec<u32>, Vec<u32>)> = lists
            .par_chunks(1 << 12)
            .map(|lists| {
                let (mut ends, mut ids) = (Vec::with_capacity(lists.len()), Vec::new());
                let mut own = Vec::with_capacity(32);
                for list in lists {
                    own.clear();
                    own.extend_from_slice(list);
                    own.sort_unstable();
                    own.dedup();
                    ids.extend_from_slice(&own);
                    ends.push(ids.len() as u32);
                }
                (ends, ids)
            })
            .collect();
        let mut near = Self {
            start: vec![0],
            ids: Vec::new(),
        };
        for (ends, ids) in parts {
            let before = near.ids.len() as u32;
            near.start.extend(ends.into_iter().map(|end| before + end));
            near.ids.extend(ids);
        }
        near
    }

    /// The list of a point.
    pub(super) fn at(&self, point: usize) -> &[u32] {
        &self.ids[self.start[point] as usize..self.start[point + 1] as usize]
    }
}
