//! Self-intersections: which facets of a snapped surface meet where they should not.
//!
//! In: a [`Snapped`] surface. Out: [`Intersections`], pairs of facet numbers.
//!
//! **Definition.** Two facets *offend* when what they have in common is more than the hull of
//! the corners they share: nothing, the shared corner, or the shared edge. So these offend:
//! facets that pass through one another; that touch, be it with a corner or an edge in the
//! interior of the other's face or edge (T-contacts); that overlap in a plane, also
//! folded back about a shared edge; and duplicates, which share all corners. Facets that share
//! a corner offend if they meet anywhere else. A facet of no area is the segment between its
//! outer corners, and does not offend by itself. Caps ([`crate::robust`]) are not walls and are
//! ignored.
//!
//! A self-intersecting surface can be meshed: overlapping bodies are legal under the nonzero
//! rule. It is reported, not refused.
//!
//! **Exactness.** Signs of integer determinants only, of the *snapped* facets. Snapping may make contacts of gaps below
//! its unit, and folds of slivers.
//!
//! **Method.** Duplicates are counted by sorting the corners; one facet of each set is tested further. A
//! bounding-volume tree in Morton order gives the pairs whose boxes touch, each once; each is tested ([`Meet`]).
//!
//! **Determinism.** The same result for any number of threads. **Cost.** O(n log n) and a few
//! dozen tests per facet on ordinary surfaces, about 120 bytes per facet. Where n facets all overlap one
//! another there are n² pairs: the search ends after a number of tests that depends on the
//! surface alone (a million facets: about 20 s on two cores), and reports that ([`Intersections::complete`]). At most
//! [`MAX_LISTED`] pairs are listed; all are counted.

mod pair;
mod tree;

pub use pair::Meet;

use crate::{exact::Facet, snap::Snapped};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use tree::Tree;

/// Most pairs in [`Intersections::pairs`].
pub const MAX_LISTED: usize = 1 << 14;

/// The search ends after this number of steps: boxes visited, and pairs tested, which count [`TEST_STEPS`] each.
const STEPS: u64 = 1 << 29;
/// Further steps per facet; scans and CAD parts take 150 to 1000.
const STEPS_PER_FACET: u64 = 1 << 9;
const TEST_STEPS: u64 = 16;
/// Facets between two checks of the count.
const BATCH: u64 = 256;

/// What was found; numbers of facets are those of the snapped surface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intersections {
    /// Offending pairs, lower number first, ascending: all, or [`MAX_LISTED`] of them.
    pub pairs: Vec<[u32; 2]>,
    /// How many there are.
    pub pair_count: u64,
    /// All facets that are in a pair, ascending.
    pub facets: Vec<u32>,
    /// Whether the search was completed; if not, `pair_count` is a lower bound.
    pub complete: bool,
}

/// Finds all pairs of facets that offend; see the module.
pub fn find<const D: usize>(surface: &Snapped<D>) -> Intersections
where
    Facet<D>: Meet<D>,
{
    let walls = &surface.facets[..surface.facets.len() - surface.caps];
    let steps = STEPS + STEPS_PER_FACET * walls.len() as u64;
    find_within(surface, walls, steps)
}

fn find_within<const D: usize>(
    surface: &Snapped<D>,
    walls: &[[u32; D]],
    max_steps: u64,
) -> Intersections
where
    Facet<D>: Meet<D>,
{
    let sets = Sets::new(walls);
    let shapes: Vec<Facet<D>> = (0..sets.len())
        .into_par_iter()
        .map(|s| Facet(walls[sets.members(s)[0] as usize].map(|v| surface.vertices[v as usize])))
        .collect();
    let boxes: Vec<_> = shapes.par_iter().map(Facet::bounds).collect();
    let tree = Tree::new(&boxes);
    drop(boxes);

    let search = Search {
        sets: &sets,
        shapes: &shapes,
        tree: &tree,
        offends: (0..sets.len())
            .map(|s| AtomicBool::new(sets.members(s).len() > 1))
            .collect(),
    };
    let mut listed: Vec<[u32; 2]> = Vec::new();
    let (mut steps, mut at) = (0, 0);
    let mut pair_count = sets.duplicate_pairs();
    // A batch in which every facet meets every other is no longer than the whole may be.
    let most = max_steps / (TEST_STEPS * sets.len().max(1) as u64);
    let batch_size = most.clamp(1, BATCH) as usize;
    while at < sets.len() && steps < max_steps {
        let batch = at..(at + batch_size).min(sets.len());
        at = batch.end;
        let room = MAX_LISTED - listed.len();
        let rows: Vec<Row> = batch
            .into_par_iter()
            .map(|position| search.row(position, room))
            .collect();
        for row in rows {
            steps += row.steps;
            pair_count += row.pairs;
            let room = MAX_LISTED - listed.len();
            listed.extend(row.listed.into_iter().take(room));
        }
    }
    Intersections {
        pairs: sets.expand(&listed),
        pair_count,
        facets: search.facets(),
        complete: at == sets.len(),
    }
}

/// Facets with the same corners, in sets; the lowest number of a set stands for it.
struct Sets {
    /// Facets, by set and number.
    facets: Vec<u32>,
    /// Where each set begins, and the end.
    begin: Vec<u32>,
}

impl Sets {
    fn new<const D: usize>(walls: &[[u32; D]]) -> Self {
        let mut keys: Vec<([u32; D], u32)> = walls
            .par_iter()
            .enumerate()
            .map(|(f, corners)| {
                let mut corners = *corners;
                corners.sort_unstable();
                (corners, f as u32)
            })
            .collect();
        keys.par_sort_unstable();
        let mut begin: Vec<u32> = (0..keys.len())
            .filter(|&i| i == 0 || keys[i - 1].0 != keys[i].0)
            .map(|i| i as u32)
            .collect();
        begin.push(keys.len() as u32);
        Self {
            facets: keys.into_iter().map(|(_, f)| f).collect(),
            begin,
        }
    }

    fn len(&self) -> usize {
        self.begin.len() - 1
    }

    fn members(&self, set: usize) -> &[u32] {
        &self.facets[self.begin[set] as usize..self.begin[set + 1] as usize]
    }

    fn duplicate_pairs(&self) -> u64 {
        let of = |n: u64| n * (n - 1) / 2;
        (0..self.len())
            .map(|s| of(self.members(s).len() as u64))
            .sum()
    }

    /// The pairs of facets of pairs of sets, and those within sets; sorted, no more than may
    /// be listed.
    fn expand(&self, listed: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let across = listed.iter().flat_map(|&[s, t]| {
            let [s, t] = [s, t].map(|s| self.members(s as usize));
            s.iter().flat_map(move |&f| t.iter().map(move |&g| [f, g]))
        });
        let within = (0..self.len()).flat_map(|s| {
            let members = self.members(s);
            let later = |i: usize| members[i + 1..].iter();
            (0..members.len()).flat_map(move |i| later(i).map(move |&g| [members[i], g]))
        });
        let ascending = |[f, g]: [u32; 2]| [f.min(g), f.max(g)];
        let mut pairs: Vec<[u32; 2]> = across
            .chain(within)
            .map(ascending)
            .take(MAX_LISTED)
            .collect();
        pairs.sort_unstable();
        pairs
    }
}

struct Search<'a, const D: usize> {
    sets: &'a Sets,
    shapes: &'a [Facet<D>],
    tree: &'a Tree<D>,
    /// Sets with a partner, or with duplicates.
    offends: Vec<AtomicBool>,
}

/// What one set meets among those behind it in the tree.
struct Row {
    /// Pairs of sets.
    listed: Vec<[u32; 2]>,
    /// Pairs of facets.
    pairs: u64,
    steps: u64,
}

impl<const D: usize> Search<'_, D>
where
    Facet<D>: Meet<D>,
{
    fn row(&self, position: usize, room: usize) -> Row {
        let set = self.tree.order[position];
        let shape = &self.shapes[set as usize];
        let size = |set: u32| self.sets.members(set as usize).len() as u64;
        let mut row = Row {
            listed: Vec::new(),
            pairs: 0,
            steps: 0,
        };
        let mut tests = 0;
        row.steps = self.tree.partners(position, &mut |other| {
            let other = self.tree.order[other];
            tests += 1;
            if shape.meet(&self.shapes[other as usize]).is_some() {
                row.pairs += size(set) * size(other);
                for set in [set, other] {
                    // Set from many threads, never unset, read after all of them.
                    self.offends[set as usize].store(true, Ordering::Relaxed);
                }
                if row.listed.len() < room {
                    row.listed.push([set, other]);
                }
            }
        });
        row.steps += TEST_STEPS * tests;
        row
    }

    fn facets(&self) -> Vec<u32> {
        let mut facets: Vec<u32> = (0..self.sets.len())
            .filter(|&s| self.offends[s].load(Ordering::Relaxed))
            .flat_map(|s| self.sets.members(s).iter().copied())
            .collect();
        facets.par_sort_unstable();
        facets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snap::SnapLattice;

    /// A fan of walls through one axis: all pairs of them cross.
    fn fan(walls: i32) -> Snapped<3> {
        let corners = (0..walls).flat_map(|k| {
            [
                [-1000, -k, -1000 - k],
                [1000, k, -1000 - k],
                [k, 1, 1000 + k],
            ]
        });
        Snapped {
            lattice: SnapLattice {
                origin: [0.0; 3],
                unit: 1.0,
            },
            vertices: corners.collect(),
            facets: (0..walls as u32)
                .map(|k| [3 * k, 3 * k + 1, 3 * k + 2])
                .collect(),
            facet_patch: Vec::new(),
            patches: vec!["fan".into()],
            caps: 0,
            report: Default::default(),
        }
    }

    #[test]
    fn a_search_that_is_too_long_ends_and_says_so() {
        let fan = fan(2000);
        let all = find(&fan);
        assert!(all.complete && all.pair_count > 1_000_000, "{all:?}");
        assert_eq!(all.pairs.len(), MAX_LISTED, "as many as may be listed");
        let cut = find_within(&fan, &fan.facets, 1_000_000);
        assert!(!cut.complete, "said");
        assert!((1..all.pair_count).contains(&cut.pair_count), "at least");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let again = pool
            .expect("a pool")
            .install(|| find_within(&fan, &fan.facets, 1_000_000));
        assert_eq!(again, cut, "the same for any number of threads");
    }
}
