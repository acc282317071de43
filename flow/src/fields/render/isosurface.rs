//! An isosurface of values at cell centres, by marching tetrahedra on the dual grid.
//!
//! In: a value per cell. A hexahedron of the dual grid has the centres of the eight leaf cells around a corner of a cell
//! as its corners; at the end of a level some of them are the same coarse cell, and the hexahedron degenerates to a
//! pyramid or a wedge (Schaefer & Warren 2004). Hexahedra on both sides of a face have the same cells on it, and the six
//! tetrahedra of Kuhn's subdivision the same diagonal, so that the surface has no cracks, across levels either. It ends
//! half a cell inside the box. Solid cells have values only beside fluid, see [`Values`]: there the surface ends inside
//! the body. Cost: one look at the 27 blocks around each leaf block, more where the surface is.

use cutlink_amr::{CellRef, FREE, NONE, dims};
use cutlink_pictures::camera::{cross, sub};
use cutlink_voxelizer::{Frame, Mesh};
use rayon::prelude::*;
use std::collections::HashMap;

/// Cells of a block with a layer around, along an axis.
const PADDED: usize = 6;
/// Leaf blocks whose triangles are in memory at a time.
const BATCH: usize = 512;
/// Bytes of the triangles of a batch: a tenth of its dual cells with four triangles each.
pub(super) const BATCH_BYTES: u64 = (BATCH * 13 * 4 * size_of::<[Vertex; 3]>()) as u64;

/// A corner of a triangle of the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vertex {
    /// In root cells from the lower corner of the box.
    pub(super) at: [f64; 3],
    /// Gradient of the values, of any unit.
    pub(super) slope: [f64; 3],
    /// The cells between whose centres it lies, and its share of the way.
    pub(super) between: [CellRef; 2],
    pub(super) share: f64,
}

impl Vertex {
    /// Its place, in the length unit of the mesh.
    pub(super) fn place<const D: usize>(&self, frame: &Frame<D>) -> [f64; 3] {
        std::array::from_fn(|a| frame.origin[a.min(D - 1)] + frame.dx * self.at[a])
    }

    /// A value there, of those of cells.
    pub(super) fn value(&self, of: impl Fn(CellRef) -> f32) -> f32 {
        let [from, to] = self.between.map(of);
        from + self.share as f32 * (to - from)
    }
}

/// Values at the centres of leaf cells, by block id and cell.
pub(super) struct Values<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    /// NaN where there is none.
    values: Vec<f32>,
    /// Smallest and largest value of each block.
    bounds: Vec<[f32; 2]>,
    leaves: Vec<u32>,
}

/// A cell of a padded block.
#[derive(Clone, Copy)]
struct Padded {
    cell: CellRef,
    value: f32,
    level: u8,
}

impl<'a, const D: usize> Values<'a, D> {
    /// Values of the leaf cells from a function of fluid cells. A solid cell has the mean of the fluid cells around it.
    pub(super) fn new(mesh: &'a Mesh<D>, of: impl Fn(CellRef) -> f32 + Sync) -> Self {
        let cells = dims::cells(D);
        let forest = &mesh.forest;
        let is_leaf = |b: usize| forest.level[b] != FREE && forest.first_child[b] == NONE;
        let leaves: Vec<u32> = (0..forest.capacity() as u32)
            .filter(|&b| is_leaf(b as usize))
            .collect();
        let is_solid = |at: CellRef| mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1;
        let mut values = vec![f32::NAN; forest.capacity() * cells];
        values
            .par_chunks_exact_mut(cells)
            .enumerate()
            .for_each(|(block, values)| {
                for (cell, value) in values.iter_mut().enumerate().filter(|_| is_leaf(block)) {
                    let at = CellRef {
                        block: block as u32,
                        cell: cell as u32,
                    };
                    if !is_solid(at) {
                        *value = of(at);
                    }
                }
            });
        let mut field = Self {
            mesh,
            values,
            bounds: Vec::new(),
            leaves,
        };
        let beside: Vec<(usize, f32)> = field
            .leaves
            .par_iter()
            .filter(|&&block| mesh.classes.solid[block as usize] != 0)
            .flat_map_iter(|&block| {
                let field = &field;
                (0..cells as u32)
                    .map(move |cell| CellRef { block, cell })
                    .filter(|&at| is_solid(at))
                    .filter_map(|at| Some((field.index(at), field.around(at)?)))
            })
            .collect();
        for (i, value) in beside {
            field.values[i] = value;
        }
        let bounds = |values: &[f32]| {
            let finite = values.iter().filter(|v| v.is_finite());
            finite.fold([f32::MAX, f32::MIN], |[l, h], &v| [l.min(v), h.max(v)])
        };
        field.bounds = field.values.par_chunks_exact(cells).map(bounds).collect();
        field
    }

    fn index(&self, at: CellRef) -> usize {
        at.block as usize * dims::cells(D) + at.cell as usize
    }

    fn value(&self, at: CellRef) -> f32 {
        self.values[self.index(at)]
    }

    /// The mean of the values around a cell.
    fn around(&self, at: CellRef) -> Option<f32> {
        let (middle, edge) = self.place(at);
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..27 {
            let step = [i % 3, i / 3 % 3, i / 9].map(|s| f64::from(s) - 1.0);
            let near = std::array::from_fn(|a| middle[a] + 0.75 * edge * step[a]);
            let found = self.mesh.forest.leaf_at(near).map(|at| self.value(at));
            if let Some(value) = found.filter(|v| v.is_finite()) {
                (sum, count) = (sum + value, count + 1.0);
            }
        }
        (count > 0.0).then(|| sum / count)
    }

    /// Centre and edge of a cell, in root cells.
    fn place(&self, at: CellRef) -> ([f64; D], f64) {
        let edge = 0.5f64.powi(i32::from(self.mesh.forest.level[at.block as usize]));
        let low = self.mesh.forest.cell_coord(at);
        (low.map(|c| (f64::from(c) + 0.5) * edge), edge)
    }

    /// The gradient of the values at a cell, from its neighbours along the axes.
    fn slope(&self, at: CellRef) -> [f64; 3] {
        let (middle, edge) = self.place(at);
        let own = self.value(at);
        std::array::from_fn(|a| {
            let side = |by: f64| {
                let mut near = middle;
                near[a] += 0.75 * by * edge;
                let cell = self.mesh.forest.leaf_at(near)?;
                let value = Some(self.value(cell)).filter(|v| v.is_finite())?;
                Some((self.place(cell).0[a], value))
            };
            let here = (middle[a], own);
            let (low, high) = (side(-1.0).unwrap_or(here), side(1.0).unwrap_or(here));
            match high.0 > low.0 {
                true => f64::from(high.1 - low.1) / (high.0 - low.0),
                false => 0.0,
            }
        })
    }

    /// The triangles of the surface at a level, in batches; their normals by orientation point to lower values.
    pub(super) fn surface(&self, level: f32, mut take: impl FnMut(Vec<[Vertex; 3]>)) {
        for batch in self.leaves.chunks(BATCH) {
            let of = |&block: &u32| self.of_block(block, level);
            take(batch.par_iter().flat_map_iter(of).collect());
        }
    }

    /// The ids of the 27 blocks around and including a leaf block; `None` outside the box.
    fn blocks_around(&self, block: u32) -> [Option<u32>; 27] {
        let forest = &self.mesh.forest;
        let level = usize::from(forest.level[block as usize]);
        let coord = forest.coord[block as usize];
        std::array::from_fn(|i| {
            let step = [i % 3, i / 3 % 3, i / 9].map(|s| s as i32 - 1);
            forest.find(level, std::array::from_fn(|a| coord[a] + step[a]))
        })
    }

    fn of_block(&self, block: u32, level: f32) -> Vec<[Vertex; 3]> {
        let around = self.blocks_around(block);
        let [low, high] = around
            .iter()
            .flatten()
            .fold([f32::MAX, f32::MIN], |[l, h], &b| {
                let [low, high] = self.bounds[b as usize];
                [l.min(low), h.max(high)]
            });
        if !(low < level && high >= level) {
            return Vec::new();
        }
        let padded = self.padded(block, &around);
        let own = self.mesh.forest.level[block as usize];
        let mut triangles = Vec::new();
        let mut slopes = HashMap::new();
        for node in 0..125 {
            let node = [node % 5, node / 5 % 5, node / 25];
            let octant = |o: usize| [0, 1, 2].map(|a| node[a] + (o >> a & 1));
            let cell = |o: usize| {
                let [i, j, k] = octant(o);
                padded[i + PADDED * (j + PADDED * k)].filter(|p| p.value.is_finite())
            };
            let Some(cells) = (0..8).map(cell).collect::<Option<Vec<_>>>() else {
                continue;
            };
            // A corner shared by several blocks of this level belongs to the first of them.
            let first = (0..8).find(|&o| cells[o].level == own);
            if !first.is_some_and(|o| octant(o).iter().all(|i| (1..=4).contains(i))) {
                continue;
            }
            let above = cells.iter().filter(|c| c.value >= level).count();
            if above > 0 && above < 8 {
                self.hexahedron(&cells, level, &mut slopes, &mut triangles);
            }
        }
        triangles
    }

    /// The cells of a block and those around it; `None` outside the box and where cells are finer.
    fn padded(&self, block: u32, around: &[Option<u32>; 27]) -> Vec<Option<Padded>> {
        let forest = &self.mesh.forest;
        let own = usize::from(forest.level[block as usize]);
        let low = forest.coord[block as usize].map(|c| 4 * c);
        let entry = |i: usize| {
            let at = [i % PADDED, i / PADDED % PADDED, i / PADDED / PADDED].map(|i| i as i32 - 1);
            let side = at.map(|x| (x.div_euclid(4) + 1) as usize);
            let id = around[side[0] + 3 * side[1] + 9 * side[2]]?;
            if forest.first_child[id as usize] != NONE {
                return None;
            }
            let level = forest.level[id as usize];
            let up = own - usize::from(level);
            let local = std::array::from_fn(|a| (low[a] + at[a]) >> up & 3);
            let cell = CellRef {
                block: id,
                cell: dims::ravel::<D>(local, 4) as u32,
            };
            Some(Padded {
                cell,
                value: self.value(cell),
                level,
            })
        };
        (0..PADDED.pow(3)).map(entry).collect()
    }

    /// Adds the triangles in a hexahedron of the dual grid.
    fn hexahedron(
        &self,
        cells: &[Padded],
        level: f32,
        slopes: &mut HashMap<CellKey, [f64; 3]>,
        triangles: &mut Vec<[Vertex; 3]>,
    ) {
        const ORDERS: [[usize; 3]; 6] = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        for [a, b, _] in ORDERS {
            let corners = [0, 1 << a, 1 << a | 1 << b, 7].map(|o| cells[o]);
            let (above, below): (Vec<Padded>, Vec<Padded>) =
                corners.into_iter().partition(|c| c.value >= level);
            let mut cut = |p: &Padded, q: &Padded| self.vertex([p, q], level, slopes);
            let added: &[[Vertex; 3]] = match (&above[..], &below[..]) {
                ([p], [q, r, s]) | ([q, r, s], [p]) => &[[cut(p, q), cut(p, r), cut(p, s)]],
                ([p, q], [r, s]) => {
                    let [pr, ps, qr, qs] = [cut(p, r), cut(p, s), cut(q, r), cut(q, s)];
                    &[[pr, ps, qs], [pr, qs, qr]]
                }
                _ => continue,
            };
            let inner = self.place(above[0].cell).0;
            for triangle in added {
                let [p, q, r] = triangle.map(|v| v.at);
                if p == q || q == r || r == p {
                    continue;
                }
                // The centre of a cell with a larger value is behind it.
                let normal = cross(sub(q, p), sub(r, p));
                let behind: f64 = (0..3).map(|a| normal[a] * (inner[a] - p[a])).sum();
                let [p, q, r] = *triangle;
                triangles.push(if behind <= 0.0 { [p, q, r] } else { [p, r, q] });
            }
        }
    }

    /// The point between the centres of two cells where the value is that of the surface; the same from both ends.
    fn vertex(
        &self,
        ends: [&Padded; 2],
        level: f32,
        slopes: &mut HashMap<CellKey, [f64; 3]>,
    ) -> Vertex {
        let key = |p: &Padded| (p.cell.block, p.cell.cell);
        let [p, q] = if key(ends[0]) < key(ends[1]) {
            ends
        } else {
            [ends[1], ends[0]]
        };
        let share = f64::from(level - p.value) / f64::from(q.value - p.value);
        let mut slope = |p: &Padded| *slopes.entry(key(p)).or_insert_with(|| self.slope(p.cell));
        let mixed = |from: f64, to: f64| from + share * (to - from);
        let (from, to) = (slope(p), slope(q));
        let (low, high) = (self.place(p.cell).0, self.place(q.cell).0);
        Vertex {
            at: std::array::from_fn(|a| mixed(low[a], high[a])),
            slope: std::array::from_fn(|a| mixed(from[a], to[a])),
            between: [p.cell, q.cell],
            share,
        }
    }
}

/// Block and cell.
type CellKey = (u32, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files_kit::{ball_mesh, random_mesh};
    use cutlink_pictures::camera::{cross, dot, length, sub};
    use std::f64::consts::PI;

    /// The mesh as if all of it were fluid.
    fn fluid(mut mesh: Mesh<3>) -> Mesh<3> {
        mesh.classes.solid.fill(0);
        mesh
    }

    /// Triangles of the sphere of a radius about a point, both in root cells.
    fn sphere(mesh: &Mesh<3>, middle: [f64; 3], radius: f64) -> Vec<[Vertex; 3]> {
        let forest = &mesh.forest;
        let values = Values::new(mesh, |at| {
            let edge = 0.5f64.powi(i32::from(forest.level[at.block as usize]));
            let place = forest.cell_coord(at).map(|c| (f64::from(c) + 0.5) * edge);
            (radius - length(sub(place, middle))) as f32
        });
        let mut all = Vec::new();
        values.surface(0.0, |batch| all.extend(batch));
        all
    }

    fn area(triangles: &[[Vertex; 3]]) -> f64 {
        let of =
            |t: &[Vertex; 3]| length(cross(sub(t[1].at, t[0].at), sub(t[2].at, t[0].at))) / 2.0;
        triangles.iter().map(of).sum()
    }

    fn volume(triangles: &[[Vertex; 3]]) -> f64 {
        let of = |t: &[Vertex; 3]| dot(t[0].at, cross(t[1].at, t[2].at)) / 6.0;
        triangles.iter().map(of).sum()
    }

    /// Edges that do not belong to an even number of triangles.
    fn open_edges(triangles: &[[Vertex; 3]]) -> usize {
        let mut counts: HashMap<[[u64; 3]; 2], u32> = HashMap::new();
        let key = |v: &Vertex| v.at.map(f64::to_bits);
        for t in triangles {
            for k in 0..3 {
                let mut ends = [key(&t[k]), key(&t[(k + 1) % 3])];
                ends.sort_unstable();
                *counts.entry(ends).or_default() += 1;
            }
        }
        counts.values().filter(|&&n| n % 2 == 1).count()
    }

    #[test]
    fn area_and_volume_of_a_sphere_converge_with_second_order() {
        let errors = [4u32, 8].map(|blocks| {
            let mesh = fluid(ball_mesh([blocks; 3], 1));
            let (middle, radius) = ([2.03 * f64::from(blocks); 3], 1.37 * f64::from(blocks));
            let found = sphere(&mesh, middle, radius);
            assert_eq!(open_edges(&found), 0, "closed");
            let off = [
                area(&found) / (4.0 * PI * radius.powi(2)) - 1.0,
                volume(&found) / (4.0 / 3.0 * PI * radius.powi(3)) - 1.0,
            ];
            off.map(f64::abs)
        });
        for (i, name) in ["area", "volume"].iter().enumerate() {
            let [coarse, fine] = [errors[0][i], errors[1][i]];
            assert!(fine < 0.01, "{name} is {fine} off");
            assert!(coarse / fine > 3.2, "{name}: {coarse} to {fine}");
        }
    }

    #[test]
    fn surfaces_across_levels_have_no_cracks() {
        for (seed, mesh) in [
            (0, fluid(ball_mesh([4, 4, 4], 3))),
            (1, fluid(random_mesh(3, [4, 4, 4], 3))),
        ] {
            let mut levels = [false; 3];
            let found = sphere(&mesh, [9.9, 7.9, 8.03], 5.3);
            for vertex in found.iter().flatten() {
                for cell in vertex.between {
                    levels[usize::from(mesh.forest.level[cell.block as usize])] = true;
                }
            }
            assert!(
                levels.iter().filter(|&&l| l).count() > 1,
                "{seed}: several levels: {levels:?}"
            );
            assert_eq!(open_edges(&found), 0, "{seed}: closed");
            let off = volume(&found) / (4.0 / 3.0 * PI * 5.3f64.powi(3)) - 1.0;
            assert!(off.abs() < 0.03, "{seed}: the volume is {off} off");
            // The check sees a missing triangle.
            assert!(open_edges(&found[1..]) > 0, "{seed}: an open surface");
        }
    }

    #[test]
    fn normals_of_a_sphere_are_radial() {
        let mesh = fluid(ball_mesh([6; 3], 1));
        let middle = [12.1, 11.9, 12.0];
        for vertex in sphere(&mesh, middle, 7.0).iter().flatten() {
            let out = sub(middle, vertex.at);
            let cos = dot(out, vertex.slope) / length(out) / length(vertex.slope);
            assert!(cos > 0.995, "{cos} at {:?}", vertex.at);
        }
    }

    #[test]
    fn solid_cells_beside_fluid_continue_the_values_and_no_others() {
        let mesh = ball_mesh([4, 4, 4], 2);
        let values = Values::new(&mesh, |_| 2.5);
        let (mut beside, mut inside) = (0, 0);
        for &block in &values.leaves {
            for cell in 0..64 {
                let at = CellRef { block, cell };
                match values.value(at) {
                    v if v.is_nan() => inside += 1,
                    v => {
                        assert_eq!(v, 2.5, "the only value");
                        beside += usize::from(mesh.classes.solid[block as usize] >> cell & 1 == 1);
                    }
                }
            }
        }
        assert!(
            beside > 100 && inside > 100,
            "{beside} beside, {inside} inside"
        );
    }
}
