//! Edge uses: keys, counts, and the samples shown to the user.

use super::{EdgeKind, EdgeSample, MAX_SAMPLES, repeats};
use crate::surface::Surface;
use rayon::prelude::*;

/// Facets in a unit of parallel work.
const CHUNK: usize = 1 << 16;
/// Most facets listed for one edge.
const MAX_FACETS_LISTED: usize = 8;

/// Counts over all edges, and the first few of each kind.
#[derive(Default)]
pub(super) struct EdgeCounts {
    pub(super) open: u64,
    pub(super) nonmanifold: u64,
    pub(super) flipped: u64,
    pub(super) unbalanced: u64,
    pub(super) odd: u64,
    /// By kind, in ascending key order, at most [`MAX_SAMPLES`] each.
    found: [Vec<Use>; 4],
}

#[derive(Clone, Copy)]
struct Use {
    kind: EdgeKind,
    key: u64,
    forward: u32,
    backward: u32,
}

/// Calls `each(key, forward)` for every edge of a facet. The key of a 3D edge is low vertex
/// · 2³² + high vertex; that of a 2D one is its vertex.
fn for_each_edge<const D: usize>(facet: &[u32; D], mut each: impl FnMut(u64, bool)) {
    if repeats(facet) {
        return;
    }
    if D == 2 {
        each(u64::from(facet[0]), true);
        each(u64::from(facet[1]), false);
        return;
    }
    for i in 0..D {
        let (a, b) = (u64::from(facet[i]), u64::from(facet[(i + 1) % D]));
        if a < b {
            each(a << 32 | b, true);
        } else {
            each(b << 32 | a, false);
        }
    }
}

/// Sorted keys of all forward and of all backward uses.
fn sorted_keys<const D: usize>(surface: &Surface<D>) -> [Vec<u64>; 2] {
    let parts: Vec<[Vec<u64>; 2]> = surface
        .facets
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut keys = [const { Vec::new() }; 2];
            for k in &mut keys {
                k.reserve(chunk.len() * 2);
            }
            for facet in chunk {
                for_each_edge(facet, |key, forward| keys[usize::from(!forward)].push(key));
            }
            keys
        })
        .collect();
    let mut forward = Vec::with_capacity(parts.iter().map(|p| p[0].len()).sum());
    let mut backward = Vec::with_capacity(parts.iter().map(|p| p[1].len()).sum());
    for [f, b] in parts {
        forward.extend(f);
        backward.extend(b);
    }
    rayon::join(
        || forward.par_sort_unstable(),
        || backward.par_sort_unstable(),
    );
    [forward, backward]
}

/// Length of the run of `key` that `keys` starts with.
fn run(keys: &[u64], key: u64) -> usize {
    keys.iter().take_while(|&&k| k == key).count()
}

pub(super) fn count<const D: usize>(surface: &Surface<D>) -> EdgeCounts {
    let [forward, backward] = sorted_keys(surface);
    let (mut f, mut b) = (forward.as_slice(), backward.as_slice());
    let mut counts = EdgeCounts::default();
    while let Some(key) = [f.first(), b.first()].into_iter().flatten().min().copied() {
        let (nf, nb) = (run(f, key), run(b, key));
        (f, b) = (&f[nf..], &b[nb..]);
        counts.add(key, nf, nb);
    }
    counts
}

impl EdgeCounts {
    fn add(&mut self, key: u64, forward: usize, backward: usize) {
        let (uses, excess) = (forward + backward, forward.abs_diff(backward));
        let kind = match (uses, excess) {
            (1, _) => EdgeKind::Open,
            (_, 2..) => EdgeKind::Flipped,
            (_, 1) => EdgeKind::Odd,
            (3.., _) => EdgeKind::Nonmanifold,
            _ => return,
        };
        self.open += u64::from(uses == 1);
        self.nonmanifold += u64::from(uses > 2);
        self.flipped += u64::from(excess >= 2);
        self.unbalanced += u64::from(excess != 0);
        self.odd += u64::from(uses % 2 == 1);
        let found = &mut self.found[kind as usize];
        if found.len() < MAX_SAMPLES {
            let saturate = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            found.push(Use {
                kind,
                key,
                forward: saturate(forward),
                backward: saturate(backward),
            });
        }
    }
}

pub(super) fn samples<const D: usize>(
    surface: &Surface<D>,
    counts: &EdgeCounts,
) -> Vec<EdgeSample<D>> {
    let chosen: Vec<Use> = counts
        .found
        .iter()
        .flatten()
        .take(MAX_SAMPLES)
        .copied()
        .collect();
    let facets = facets_of(surface, &chosen);
    chosen
        .iter()
        .zip(facets)
        .map(|(edge, facets)| {
            let (low, high) = ((edge.key >> 32) as u32, edge.key as u32);
            let vertices = if D == 2 { vec![high] } else { vec![low, high] };
            EdgeSample {
                kind: edge.kind,
                at: vertices
                    .iter()
                    .map(|&v| surface.vertices[v as usize])
                    .collect(),
                vertices,
                facets,
                forward: edge.forward,
                backward: edge.backward,
            }
        })
        .collect()
}

/// The first facets on each chosen edge: a second pass, because keys carry no facet.
fn facets_of<const D: usize>(surface: &Surface<D>, chosen: &[Use]) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); chosen.len()];
    if chosen.is_empty() {
        return lists;
    }
    let hits: Vec<Vec<(usize, u32)>> = surface
        .facets
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(c, chunk)| {
            let mut hits = Vec::new();
            let mut taken = vec![0; chosen.len()];
            for (i, facet) in chunk.iter().enumerate() {
                for_each_edge(facet, |key, _| {
                    if let Some(e) = chosen.iter().position(|u| u.key == key)
                        && taken[e] < MAX_FACETS_LISTED
                    {
                        taken[e] += 1;
                        hits.push((e, (c * CHUNK + i) as u32));
                    }
                });
            }
            hits
        })
        .collect();
    for (e, facet) in hits.into_iter().flatten() {
        if lists[e].len() < MAX_FACETS_LISTED {
            lists[e].push(facet);
        }
    }
    lists
}
