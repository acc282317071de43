//! Facets on the same corners: each place once, with a multiplicity.
//!
//! Copies of a facet, whichever way they face, cross every line in the same point. So cut links, and the blocks that the
//! surface meets, need one of them; winding numbers need the copies that face one way less those that face the other.
//! Copies with different patches stay apart, because patches may be refined differently; the lowest one wins at a link.

use crate::snap::Snapped;
use rayon::prelude::*;
use std::borrow::Cow;

/// What a set of facets makes of those on the same corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// One facet with a multiplicity: [`FacetArrays::times`](super::FacetArrays::times).
    Merge,
    /// All of them: where signs of crossings are summed up on periodic faces.
    Keep,
}

/// The facets of a surface for a [`FacetSet`](super::FacetSet), walls first.
pub(super) struct Places<'a, const D: usize> {
    pub(super) facets: Cow<'a, [[u32; D]]>,
    /// As long as `facets`, or empty or shorter: then the rest is of patch 0.
    pub(super) patch: Cow<'a, [u16]>,
    pub(super) walls: usize,
    /// Copies that face as the facet does, less those that face the other way; empty where each is there once.
    pub(super) times: Vec<i32>,
}

impl<'a, const D: usize> Places<'a, D> {
    /// Cost: a look at some of the facets; if there are copies among them, a sort of all.
    pub(super) fn new(surface: &'a Snapped<D>, repeats: Repeats) -> Self {
        let (facets, walls) = (&surface.facets, surface.facets.len() - surface.caps);
        let whole = Self {
            facets: Cow::Borrowed(facets),
            patch: Cow::Borrowed(&surface.facet_patch),
            walls,
            times: Vec::new(),
        };
        if repeats == Repeats::Keep {
            return whole;
        }
        let patch = |f: u32| surface.facet_patch.get(f as usize).copied().unwrap_or(0);
        // Caps are no walls, and their patches are not read.
        let kind = |f: u32| ((f as usize) < walls).then(|| patch(f));
        let Some(copies) = copies_if_many(facets, kind) else {
            return whole;
        };
        let mut first: Vec<u32> = (0..facets.len() as u32).collect();
        for (copy, of) in copies {
            first[copy as usize] = of;
        }
        let mut place = vec![0; facets.len()];
        let mut merged = Self {
            facets: Cow::Owned(Vec::new()),
            patch: Cow::Owned(Vec::new()),
            walls: 0,
            times: Vec::new(),
        };
        for (f, &of) in first.iter().enumerate() {
            let of = of as usize;
            if of == f {
                place[f] = merged.times.len();
                merged.facets.to_mut().push(facets[f]);
                merged.patch.to_mut().push(patch(f as u32));
                merged.walls += usize::from(f < walls);
                merged.times.push(1);
            } else {
                let same_way = is_even(&facets[f]) == is_even(&facets[of]);
                merged.times[place[of]] += if same_way { 1 } else { -1 };
            }
        }
        merged
    }
}

/// Facets that are looked at for copies, about.
const SAMPLE: usize = 4096;
/// Share of copies among them from which it pays to merge all: fewer cost less than the search for them.
const SHARE: usize = 4;
/// Copies on one place from which it pays.
const CROWD: usize = 16;

/// The [`copies`] among all facets, if there are so many that the mesh is made faster without them. The mesh is the same
/// either way, so a sample decides.
fn copies_if_many<const D: usize>(
    facets: &[[u32; D]],
    kind: impl Fn(u32) -> Option<u16> + Sync + Copy,
) -> Option<Vec<(u32, u32)>> {
    let all = || 0..facets.len() as u32;
    if facets.len() <= SAMPLE {
        let found = copies(facets, kind, all().collect());
        return (!found.is_empty()).then_some(found);
    }
    // Copies share their lowest corner: facets with some of the corners are a fair sample.
    let step = facets.len().div_ceil(SAMPLE) as u32;
    let is_looked_at = |&f: &u32| lowest(&facets[f as usize]).is_multiple_of(step);
    let numbers = all().into_par_iter().with_min_len(1 << 14);
    let sample: Vec<u32> = numbers.filter(is_looked_at).collect();
    let looked_at = sample.len();
    let mut found = copies(facets, kind, sample);
    found.sort_unstable_by_key(|&(_, of)| of);
    let crowd = found.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).max();
    let many =
        found.len() >= looked_at.div_ceil(SHARE) || crowd.is_some_and(|copies| copies >= CROWD);
    many.then(|| copies(facets, kind, all().collect()))
}

/// Among some facets, each that is not the first of its kind on its corners, and that first one.
fn copies<const D: usize>(
    facets: &[[u32; D]],
    kind: impl Fn(u32) -> Option<u16> + Sync,
    among: Vec<u32>,
) -> Vec<(u32, u32)> {
    let hashed = |f: u32| (hash(&facets[f as usize]), f);
    let mut order: Vec<(u64, u32)>;
    if among.len() > 4 * SAMPLE {
        order = among.into_par_iter().map(hashed).collect();
        order.par_sort_unstable();
    } else {
        order = among.into_iter().map(hashed).collect();
        order.sort_unstable();
    }
    let (mut found, mut run) = (Vec::new(), Vec::new());
    for same in order
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| run.len() > 1)
    {
        run.clear();
        run.extend(
            same.iter()
                .map(|&(_, f)| (sorted(facets[f as usize]), kind(f), f)),
        );
        run.sort_unstable();
        for copies in run.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            found.extend(copies[1..].iter().map(|copy| (copy.2, copies[0].2)));
        }
    }
    found
}

fn lowest<const D: usize>(corners: &[u32; D]) -> u32 {
    *corners.iter().min().expect("a facet has corners")
}

/// A number that is the same for the same corners in any order.
fn hash<const D: usize>(corners: &[u32; D]) -> u64 {
    sorted(*corners).into_iter().fold(0, |hash: u64, corner| {
        (hash ^ u64::from(corner))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    })
}

fn sorted<const D: usize>(mut corners: [u32; D]) -> [u32; D] {
    corners.sort_unstable();
    corners
}

/// Whether an even number of exchanges sorts the corners.
fn is_even<const D: usize>(corners: &[u32; D]) -> bool {
    let pairs = (0..D).flat_map(|i| (i + 1..D).map(move |j| (i, j)));
    let descents = pairs.filter(|&(i, j)| corners[i] > corners[j]).count();
    descents.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snap::{SnapLattice, SnapReport};

    fn surface(facets: Vec<[u32; 3]>, facet_patch: Vec<u16>, caps: usize) -> Snapped<3> {
        Snapped {
            lattice: SnapLattice {
                origin: [0.0; 3],
                unit: 1.0,
            },
            vertices: vec![[0; 3], [9, 0, 0], [0, 9, 0], [0, 0, 9]],
            facets,
            facet_patch,
            patches: vec!["a".into(), "b".into()],
            caps,
            report: SnapReport::default(),
        }
    }

    #[test]
    fn copies_become_one_with_their_signs_added() {
        let facets = vec![
            [0, 1, 2],
            [3, 1, 2],
            [2, 0, 1],
            [1, 0, 2],
            [0, 1, 2],
            [1, 2, 3],
            [2, 1, 3],
            [0, 1, 2],
        ];
        // The fifth is of another patch, the last a cap.
        let of = surface(facets, vec![0, 0, 0, 0, 1, 0, 0, 0], 1);
        let places = Places::new(&of, Repeats::Merge);
        assert_eq!(
            *places.facets,
            [[0, 1, 2], [3, 1, 2], [0, 1, 2], [0, 1, 2]],
            "in order of the first copies"
        );
        assert_eq!(places.times, [2 - 1, 1 + 1 - 1, 1, 1]);
        assert_eq!(*places.patch, [0, 0, 1, 0]);
        assert_eq!(places.walls, 3);
        let kept = Places::new(&of, Repeats::Keep);
        assert_eq!((kept.facets.len(), kept.walls), (8, 7), "if asked for");
        // Twice as many as are looked at: a facet on each three numbers, and all of them again.
        let many: Vec<[u32; 3]> = (0..2 * SAMPLE as u32)
            .map(|f| f % SAMPLE as u32)
            .map(|f| [f, f + 1, f + 2])
            .collect();
        assert_eq!(
            Places::new(&surface(many, Vec::new(), 0), Repeats::Merge).times,
            [2; SAMPLE]
        );
        let few: Vec<[u32; 3]> = (0..2 * SAMPLE as u32).map(|f| [f, f + 1, f + 2]).collect();
        let crowd = [few.clone(), vec![few[0]; CROWD]].concat();
        let few = [few.clone(), few[..SAMPLE / 4].to_vec()].concat();
        let few = surface(few, Vec::new(), 0);
        assert!(
            Places::new(&few, Repeats::Merge).times.is_empty(),
            "not worth it"
        );
        let crowd = surface(crowd, Vec::new(), 0);
        let times = Places::new(&crowd, Repeats::Merge).times;
        assert_eq!((times[0], times[1]), (CROWD as i32 + 1, 1));
        let simple = surface(vec![[0, 1, 2], [1, 2, 3]], Vec::new(), 0);
        let simple = Places::new(&simple, Repeats::Merge);
        assert!(simple.times.is_empty(), "no copies, no multiplicities");
    }
}
