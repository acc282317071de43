//! Random closed chains of facets on the lattice, for proptest.
//!
//! A case draws a small pool of points and builds bodies on them, so that bodies share
//! corners, edges and faces. Coordinates come from sets that hurt: cell centres, cell faces,
//! one unit beside them, walls of the box, and the limit of the lattice. A body is the
//! boundary of something (a simplex, a box, a suspension of a loop), so the chain is closed
//! whatever its shape: flat, inside out, self-crossing, doubled, cancelling.

use cutlink_mesher::snap::{COORDINATE_LIMIT, SnapLattice, SnapReport, Snapped};
use cutlink_voxelizer::{EmbedParams, Fill, Frame};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Lattice units a finest cell.
pub const CELL: i32 = 1 << cutlink_voxelizer::SUBCELL_BITS;

/// Facets by coordinates, before they become a [`Snapped`].
#[derive(Debug, Clone, Default)]
pub struct Soup<const D: usize> {
    /// Corners and patch.
    pub facets: Vec<([[i32; D]; D], u16)>,
}

impl<const D: usize> Soup<D> {
    /// The indexed surface: points welded and sorted, facets with equal corners dropped.
    pub fn snapped(&self, patches: usize) -> Snapped<D> {
        let distinct = |f: &&([[i32; D]; D], u16)| (1..D).all(|i| !f.0[..i].contains(&f.0[i]));
        let kept: Vec<_> = self.facets.iter().filter(distinct).collect();
        let points: BTreeSet<[i32; D]> = kept.iter().flat_map(|f| f.0).collect();
        let vertices: Vec<[i32; D]> = points.into_iter().collect();
        let id = |p| {
            vertices
                .binary_search(&p)
                .expect("every corner should be listed") as u32
        };
        Snapped {
            lattice: SnapLattice {
                origin: [0.0; D],
                unit: 1.0,
            },
            facets: kept.iter().map(|f| f.0.map(id)).collect(),
            facet_patch: match patches {
                1 => Vec::new(),
                n => kept.iter().map(|f| f.1 % n as u16).collect(),
            },
            patches: (0..patches).map(|i| format!("patch {i}")).collect(),
            caps: 0,
            report: SnapReport::default(),
            vertices,
        }
    }
}

/// One embedding to try.
#[derive(Debug, Clone)]
pub struct Case<const D: usize> {
    /// The surface.
    pub surface: Snapped<D>,
    /// The box; lattice units are its lengths.
    pub frame: Frame<D>,
    /// Levels, wall distance, fill rule.
    pub params: EmbedParams,
    /// Direction of the oracle's rays.
    pub ray: [i32; D],
}

impl<const D: usize> Case<D> {
    /// The surface and as many copies, a period of the box apart along its periodic axes, as reach it:
    /// periodic in the box and around it.
    pub fn continued(&self) -> Snapped<D> {
        let extent = self.frame.extent(self.params.levels);
        let mut soup = Soup::<D>::default();
        let patch = |f: usize| self.surface.facet_patch.get(f).copied().unwrap_or(0);
        for (f, corners) in self.surface.facets.iter().enumerate() {
            let corners = corners.map(|v| self.surface.vertices[v as usize]);
            soup.facets.push((corners, patch(f)));
        }
        for a in (0..D).filter(|&a| self.params.periodic[a]) {
            let along = soup.facets.iter().flat_map(|f| f.0).map(|v| v[a]);
            let (low, high) = along.fold((0, 0), |(low, high), c| (low.min(c), high.max(c)));
            // Beyond the box by a cell of the root at most.
            let (from, to) = (-high / extent[a] - 1, 1 - low / extent[a] + 1);
            let copies = (from..=to).flat_map(|k| {
                soup.facets.iter().map(move |(corners, patch)| {
                    let mut corners = *corners;
                    corners.iter_mut().for_each(|v| v[a] += k * extent[a]);
                    (corners, *patch)
                })
            });
            soup.facets = copies.collect();
        }
        Snapped {
            patches: self.surface.patches.clone(),
            ..soup.snapped(self.surface.patches.len())
        }
    }
}

/// How large cases are.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Levels, from and to.
    pub levels: (usize, usize),
    /// Most bodies.
    pub bodies: usize,
    /// Whether points may lie at the limit of the lattice.
    pub far: bool,
}

/// A coordinate of a box of `size` units along an axis.
fn coordinate(size: i32, far: bool) -> BoxedStrategy<i32> {
    let half = CELL / 2;
    let (low, high) = (-2, 2 * size / CELL + 2);
    let far_weight = if far { 1 } else { 0 };
    prop_oneof![
        4 => (low..=high).prop_map(move |k| k * half),
        4 => (low / 2..=high / 2).prop_map(move |k| k * CELL + half),
        2 => ((low..=high), prop_oneof![Just(-1), Just(1)]).prop_map(move |(k, e)| k * half + e),
        2 => prop_oneof![Just(0), Just(size), Just(-size), Just(2 * size)],
        3 => -size / 2..=3 * size / 2,
        far_weight => (0..4i32, 0..3i32, any::<bool>()).prop_map(|(scale, less, negative)| {
            let c = [1 << 19, 1 << 20, 1 << 26, COORDINATE_LIMIT][scale as usize] - less;
            if negative { -c } else { c }
        }),
    ]
    .boxed()
}

/// Recipes: indices point into the pool, modulo its size.
#[derive(Debug, Clone)]
enum Recipe {
    /// The boundary of a simplex, in the orientation its points happen to have.
    Simplex([usize; 4]),
    /// An axis-aligned box between two points.
    Box([usize; 2], bool),
    /// A cross polytope around a point.
    Cross(usize, [i32; 3], bool),
    /// Two apexes over a loop (2D: the loop alone).
    Suspension(Vec<usize>, [usize; 2]),
    /// A body once more, its facets turned if asked.
    Again(usize, bool),
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let pick = 0..8usize;
    let half = CELL / 2;
    let radius = prop_oneof![(1..8i32).prop_map(move |k| k * half), 1..4 * CELL, Just(1)];
    prop_oneof![
        4 => prop::array::uniform4(pick.clone()).prop_map(Recipe::Simplex),
        3 => (prop::array::uniform2(pick.clone()), any::<bool>()).prop_map(|(p, f)| Recipe::Box(p, f)),
        2 => (pick.clone(), prop::array::uniform3(radius), any::<bool>())
            .prop_map(|(c, r, f)| Recipe::Cross(c, r, f)),
        3 => (prop::collection::vec(pick.clone(), 3..7), prop::array::uniform2(pick.clone()))
            .prop_map(|(l, a)| Recipe::Suspension(l, a)),
        1 => (pick, any::<bool>()).prop_map(|(i, f)| Recipe::Again(i, f)),
    ]
}

/// Closed chains in a dimension.
pub trait Chains<const D: usize> {
    /// The boundary of the convex hull of a simplex' corners, by orientation of their order.
    fn simplex(p: [[i32; D]; 4]) -> Vec<[[i32; D]; D]>;
    /// An axis-aligned box.
    fn cuboid(low: [i32; D], high: [i32; D]) -> Vec<[[i32; D]; D]>;
    /// A cross polytope.
    fn cross(center: [i32; D], radii: [i32; 3]) -> Vec<[[i32; D]; D]>;
    /// A suspended loop.
    fn suspension(ring: &[[i32; D]], apexes: [[i32; D]; 2]) -> Vec<[[i32; D]; D]>;
}

/// The plane (D = 2) or space (D = 3).
#[derive(Debug)]
pub struct Bodies;

fn ring_edges<const D: usize>(ring: &[[i32; D]]) -> Vec<[[i32; D]; 2]> {
    (0..ring.len())
        .map(|i| [ring[i], ring[(i + 1) % ring.len()]])
        .collect()
}

impl Chains<2> for Bodies {
    fn simplex(p: [[i32; 2]; 4]) -> Vec<[[i32; 2]; 2]> {
        ring_edges(&p[..3])
    }

    fn cuboid([x0, y0]: [i32; 2], [x1, y1]: [i32; 2]) -> Vec<[[i32; 2]; 2]> {
        ring_edges(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    }

    fn cross([x, y]: [i32; 2], r: [i32; 3]) -> Vec<[[i32; 2]; 2]> {
        ring_edges(&[[x + r[0], y], [x, y + r[1]], [x - r[0], y], [x, y - r[1]]])
    }

    fn suspension(ring: &[[i32; 2]], _: [[i32; 2]; 2]) -> Vec<[[i32; 2]; 2]> {
        ring_edges(ring)
    }
}

impl Chains<3> for Bodies {
    fn simplex([a, b, c, d]: [[i32; 3]; 4]) -> Vec<[[i32; 3]; 3]> {
        vec![[a, c, b], [a, b, d], [b, c, d], [c, a, d]]
    }

    fn cuboid(low: [i32; 3], high: [i32; 3]) -> Vec<[[i32; 3]; 3]> {
        let corner = |i: usize| std::array::from_fn(|a| [low, high][i >> a & 1][a]);
        // Counter-clockwise from outside; each face by one of its diagonals.
        let faces = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let halves = |q: [usize; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
        faces
            .into_iter()
            .flat_map(halves)
            .map(|t| t.map(corner))
            .collect()
    }

    fn cross([x, y, z]: [i32; 3], [a, b, c]: [i32; 3]) -> Vec<[[i32; 3]; 3]> {
        let ring = [[x + a, y, z], [x, y + b, z], [x - a, y, z], [x, y - b, z]];
        Self::suspension(&ring, [[x, y, z - c], [x, y, z + c]])
    }

    fn suspension(ring: &[[i32; 3]], [low, high]: [[i32; 3]; 2]) -> Vec<[[i32; 3]; 3]> {
        ring_edges(ring)
            .into_iter()
            .flat_map(|[a, b]| [[a, b, high], [b, a, low]])
            .collect()
    }
}

fn build<const D: usize>(pool: &[[i32; D]], recipes: &[Recipe], by_facet: bool) -> Soup<D>
where
    Bodies: Chains<D>,
{
    let at = |i: usize| pool[i % pool.len()];
    let mut bodies: Vec<Vec<[[i32; D]; D]>> = Vec::new();
    for recipe in recipes {
        let (mut facets, flip) = match recipe {
            Recipe::Simplex(p) => (Bodies::simplex(p.map(at)), false),
            Recipe::Box([p, q], flip) => {
                let (p, q) = (at(*p), at(*q));
                let low = std::array::from_fn(|a| p[a].min(q[a]));
                let high = std::array::from_fn(|a| p[a].max(q[a]));
                (Bodies::cuboid(low, high), *flip)
            }
            Recipe::Cross(c, radii, flip) => {
                // Keep the points within the limit of the lattice.
                let room = COORDINATE_LIMIT - 4 * CELL;
                (
                    Bodies::cross(at(*c).map(|x| x.clamp(-room, room)), *radii),
                    *flip,
                )
            }
            Recipe::Suspension(ring, apexes) => {
                let ring: Vec<_> = ring.iter().map(|&i| at(i)).collect();
                (Bodies::suspension(&ring, apexes.map(at)), false)
            }
            Recipe::Again(i, flip) => match bodies.get(i % bodies.len().max(1)) {
                Some(body) => (body.clone(), *flip),
                None => continue,
            },
        };
        if flip {
            for f in &mut facets {
                f.swap(0, 1);
            }
        }
        bodies.push(facets);
    }
    let facets = bodies.into_iter().enumerate().flat_map(|(body, facets)| {
        let patch = move |f: usize| if by_facet { f as u16 } else { body as u16 };
        facets
            .into_iter()
            .enumerate()
            .map(move |(f, corners)| (corners, patch(f)))
    });
    Soup {
        facets: facets.collect(),
    }
}

/// Random embeddings of random closed chains.
pub fn cases<const D: usize>(sizes: Sizes) -> impl Strategy<Value = Case<D>>
where
    Bodies: Chains<D>,
{
    let root = (0..D + 1).prop_map(|axis| std::array::from_fn(|a| if a == axis { 8 } else { 4 }));
    let levels = sizes.levels.0..=sizes.levels.1;
    (root, levels)
        .prop_flat_map(move |(root, levels): ([u32; D], usize)| {
            let spacing = CELL << (levels - 1);
            let axes: Vec<BoxedStrategy<i32>> = root
                .iter()
                .map(|&n| coordinate(n as i32 * spacing, sizes.far))
                .collect();
            let point = axes.prop_map(|v| std::array::from_fn(|a| v[a]));
            (
                Just((root, levels)),
                prop::collection::vec(point, 3..8),
                prop::collection::vec(recipe(), 1..=sizes.bodies),
                (1..4usize, any::<bool>(), 0..4usize, 0..4u8),
                prop::array::uniform3(prop_oneof![3..900i32, -900..-2i32]),
            )
        })
        .prop_map(|((root, levels), pool, recipes, choice, ray)| {
            let (patches, by_facet, fill, wall): (usize, bool, usize, u8) = choice;
            let dx = f64::from(CELL << (levels - 1));
            Case {
                surface: build(&pool, &recipes, by_facet).snapped(patches),
                frame: Frame {
                    origin: [0.0; D],
                    dx,
                    root_cells: root,
                },
                params: EmbedParams::new(levels, f64::from(wall) * 2.0 * dx, Fill::ALL[fill]),
                ray: std::array::from_fn(|a| ray[a]),
            }
        })
}
