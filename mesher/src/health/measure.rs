//! Parts, duplicates, box, area, volume, degenerate facets.

use super::repeats;
use crate::surface::Surface;
use cutlink_device::UnionFind;
use rayon::prelude::*;

/// Facets in a unit of parallel work; fixed, so that sums do not depend on threads.
const CHUNK: usize = 1 << 14;

pub(super) struct Parts {
    pub(super) vertices: u64,
    pub(super) components: u64,
}

/// Used vertices and the sets that facets join them to. Sequential: it runs beside the sort of the edges, which takes
/// longer.
pub(super) fn parts<const D: usize>(surface: &Surface<D>) -> Parts {
    let mut sets = UnionFind::new(surface.vertices.len());
    let mut is_used = vec![false; surface.vertices.len()];
    let (mut vertices, mut joined) = (0, 0);
    for facet in &surface.facets {
        for &v in facet {
            vertices += u64::from(!std::mem::replace(&mut is_used[v as usize], true));
            joined += u64::from(sets.join(facet[0], v));
        }
    }
    Parts {
        vertices,
        components: vertices - joined,
    }
}

/// Facets beyond the first on each vertex set. Hashes are sorted first: only facets whose
/// hash occurs twice, few in a sound mesh, are compared in full.
pub(super) fn duplicates<const D: usize>(surface: &Surface<D>) -> u64 {
    let sorted = |facet: &[u32; D]| {
        let mut set = *facet;
        set.sort_unstable();
        set
    };
    let mut hashes: Vec<u64> = surface
        .facets
        .par_iter()
        .map(|f| hash(&sorted(f)))
        .collect();
    hashes.par_sort_unstable();
    let mut suspects: Vec<u64> = hashes
        .par_windows(2)
        .filter(|w| w[0] == w[1])
        .map(|w| w[0])
        .collect();
    if suspects.is_empty() {
        return 0;
    }
    suspects.dedup();
    let mut sets: Vec<[u32; D]> = surface
        .facets
        .par_iter()
        .filter(|f| !repeats(f))
        .map(sorted)
        .filter(|set| suspects.binary_search(&hash(set)).is_ok())
        .collect();
    sets.par_sort_unstable();
    sets.windows(2).filter(|w| w[0] == w[1]).count() as u64
}

/// Multiply and shift (the finaliser of `SplitMix64`), folded over the vertex numbers.
fn hash(set: &[u32]) -> u64 {
    set.iter().fold(0, |h: u64, &v| {
        let x = (h ^ u64::from(v)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    })
}

/// Box of the used vertices, zeros where there is none.
pub(super) fn bounds<const D: usize>(surface: &Surface<D>) -> [[f64; D]; 2] {
    let join = |mut a: [[f64; D]; 2], b: [[f64; D]; 2]| {
        for k in 0..D {
            a[0][k] = a[0][k].min(b[0][k]);
            a[1][k] = a[1][k].max(b[1][k]);
        }
        a
    };
    surface
        .facets
        .par_chunks(CHUNK)
        .map(|chunk| {
            let first = surface.vertices[chunk[0][0] as usize];
            chunk.iter().flatten().fold([first; 2], |b, &v| {
                join(b, [surface.vertices[v as usize]; 2])
            })
        })
        .reduce_with(join)
        .unwrap_or([[0.0; D]; 2])
}

#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) area: f64,
    pub(super) volume: f64,
    pub(super) degenerate: u64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            area: self.area + other.area,
            volume: self.volume + other.volume,
            degenerate: self.degenerate + other.degenerate,
        }
    }
}

/// Area and volume about the box centre. Chunks are summed in their order.
pub(super) fn sums<const D: usize>(surface: &Surface<D>, bounds: [[f64; D]; 2]) -> Sums {
    let centre: [f64; D] = std::array::from_fn(|a| 0.5 * bounds[0][a] + 0.5 * bounds[1][a]);
    let chunks: Vec<Sums> = surface
        .facets
        .par_chunks(CHUNK)
        .map(|chunk| {
            chunk
                .iter()
                .map(|facet| one(surface, facet, centre))
                .fold(Sums::default(), Sums::plus)
        })
        .collect();
    chunks.into_iter().fold(Sums::default(), Sums::plus)
}

fn one<const D: usize>(surface: &Surface<D>, facet: &[u32; D], centre: [f64; D]) -> Sums {
    let corners = facet.map(|v| surface.vertices[v as usize]);
    let minus = |p: [f64; D], q: [f64; D]| -> [f64; D] { std::array::from_fn(|a| p[a] - q[a]) };
    let edge = minus(corners[1], corners[0]);
    let arm = minus(corners[0], centre);
    if D == 2 {
        return Sums {
            area: edge[0].hypot(edge[1]),
            volume: 0.5 * (arm[0] * edge[1] - arm[1] * edge[0]),
            degenerate: u64::from(repeats(facet) || corners[0] == corners[1]),
        };
    }
    let other = minus(corners[2], corners[0]);
    let normal: [f64; 3] = std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        edge[b] * other[c] - edge[c] * other[b]
    });
    let norm = (normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]).sqrt();
    Sums {
        area: 0.5 * norm,
        volume: (arm[0] * normal[0] + arm[1] * normal[1] + arm[2] * normal[2]) / 6.0,
        degenerate: u64::from(repeats(facet) || collinear(&corners, normal)),
    }
}

/// Whether all three projections have exactly zero area, the likeliest non-zero one first.
fn collinear<const D: usize>(corners: &[[f64; D]; D], normal: [f64; 3]) -> bool {
    let size = normal.map(f64::abs);
    let first = (0..3).fold(0, |best, a| if size[a] > size[best] { a } else { best });
    (0..3).map(|k| (first + k) % 3).all(|a| {
        let [p, q, r] = [0, 1, 2].map(|i: usize| robust::Coord {
            x: corners[i][(a + 1) % 3],
            y: corners[i][(a + 2) % 3],
        });
        robust::orient2d(p, q, r) == 0.0
    })
}
