//! Means along a coordinate axis: a field on the plane normal to it.
//!
//! The cells of the plane are the finest of the cells in each column along the axis. A cell has the mean of the fluid
//! in its column, with each leaf cell weighted by its volume in the column. Every part of the fluid counts exactly
//! once, so the sum over the plane, weighted by area and column length, equals the volume integral over the fluid. A
//! column without fluid has the values of a solid cell.

use super::kinds::CellField;
use super::values::{Column, Scene};
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::collections::HashSet;

/// Level of a block and its coordinates across the axis.
type Place = (u8, [i32; 2]);

/// A block of the plane, with the mesh blocks of its column.
struct ColumnBlock {
    place: Place,
}

/// A field on the plane.
pub(super) struct Flat {
    /// For each of its cells a mesh cell of the same size in its column, a fluid cell if there is one.
    pub(super) cells: Vec<CellRef>,
    pub(super) columns: Vec<Column>,
}

/// The means along an axis.
pub(super) fn flat<const D: usize>(scene: Scene<'_, D>, axis: usize, fields: &[CellField]) -> Flat {
    let mesh = scene.mesh;
    let whole = scene.everywhere(fields);
    let column_blocks = column_blocks(mesh, axis);
    let parts: Vec<(Vec<CellRef>, Vec<Vec<f32>>)> = column_blocks
        .par_iter()
        .map(|pile| pile.means(mesh, axis, &whole))
        .collect();
    let mut cells = Vec::new();
    let mut columns: Vec<Column> = whole
        .into_iter()
        .map(|column| Column {
            values: Vec::new(),
            ..column
        })
        .collect();
    for (of, values) in parts {
        cells.extend(of);
        for (to, from) in columns.iter_mut().zip(values) {
            to.values.extend(from);
        }
    }
    Flat { cells, columns }
}

/// The two axes normal to one.
fn across(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

/// Blocks of the plane: positions with a leaf and nothing finer, in the order of the leaves.
fn column_blocks<const D: usize>(mesh: &Mesh<D>, axis: usize) -> Vec<ColumnBlock> {
    let forest = &mesh.forest;
    let place = |block: u32| -> Place {
        let coord = forest.coord[block as usize];
        (forest.level[block as usize], across(axis).map(|a| coord[a]))
    };
    let refined = forest.ids().filter(|&id| !forest.is_leaf(id));
    let mut done: HashSet<Place> = refined.map(place).collect();
    let leaves = forest.leaves().map(place);
    leaves
        .filter(|&place| done.insert(place))
        .map(|place| ColumnBlock { place })
        .collect()
}

impl ColumnBlock {
    /// The cells of the plane, and their means, by column of the file.
    fn means<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        axis: usize,
        whole: &[Column],
    ) -> (Vec<CellRef>, Vec<Vec<f32>>) {
        const CELLS: usize = 16;
        let (level, [i, j]) = self.place;
        let level = usize::from(level);
        let mut cells: [Option<CellRef>; CELLS] = [None; CELLS];
        let mut has_fluid = [false; CELLS];
        let mut lengths = [0.0; CELLS];
        let width = whole.iter().map(|column| column.components).sum::<usize>();
        let mut sums = vec![0.0; CELLS * width];
        let count = (mesh.forest.root[axis] << level) as i32;
        let mut at = 0;
        while at < count {
            let mut coord = [at; D];
            let [a, b] = across(axis);
            (coord[a], coord[b]) = (i, j);
            let block = mesh.forest.find(level, coord).unwrap_or(NONE);
            let up = level - usize::from(mesh.forest.level[block as usize]);
            let length = 0.5f64.powi((level - up) as i32);
            for flat in 0..CELLS {
                let mut local = [0; D];
                local[a] = ((4 * i + (flat & 3) as i32) >> up) & 3;
                local[b] = ((4 * j + (flat >> 2) as i32) >> up) & 3;
                for k in 0..4 {
                    local[axis] = k;
                    let cell = dims::ravel(local, 4) as u32;
                    let is_fluid = mesh.classes.solid[block as usize] >> cell & 1 == 0;
                    if up == 0 && (cells[flat].is_none() || is_fluid && !has_fluid[flat]) {
                        cells[flat] = Some(CellRef { block, cell });
                        has_fluid[flat] = is_fluid;
                    }
                    if !is_fluid {
                        continue;
                    }
                    lengths[flat] += length;
                    let index = block as usize * dims::cells(D) + cell as usize;
                    let mut sums = sums[flat * width..].iter_mut();
                    for column in whole {
                        let n = column.components;
                        for value in &column.values[index * n..(index + 1) * n] {
                            if let Some(sum) = sums.next() {
                                *sum += length * f64::from(*value);
                            }
                        }
                    }
                }
            }
            at += 1 << up;
        }
        let cells: Vec<CellRef> = cells.into_iter().flatten().collect();
        (cells.clone(), divided(&cells, &sums, &lengths, whole))
    }
}

/// Sums divided by lengths, by column; without fluid the values of the solid cell.
fn divided(cells: &[CellRef], sums: &[f64], lengths: &[f64], whole: &[Column]) -> Vec<Vec<f32>> {
    let width = sums.len() / lengths.len();
    let mut before = 0;
    let column = |column: &Column| {
        let n = column.components;
        let first = before;
        before += n;
        let mut values = Vec::with_capacity(n * cells.len());
        for (flat, &CellRef { block, cell }) in cells.iter().enumerate() {
            let length = lengths[flat];
            // Blocks in 3D have 4³ cells.
            let index = block as usize * dims::cells(3) + cell as usize;
            for c in 0..n {
                values.push(match length > 0.0 {
                    true => (sums[flat * width + first + c] / length) as f32,
                    false => column.values[index * n + c],
                });
            }
        }
        values
    };
    whole.iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{FieldUnits, tests::snapshot};
    use crate::files_kit::random_mesh;
    use cutlink_meshing::mesh::build::bare;
    use cutlink_meshing::options::Root;
    use cutlink_solver::Snapshot;
    use std::collections::BTreeMap;
    use std::f64::consts::TAU;

    const FIELDS: [CellField; 2] = [CellField::Density, CellField::Velocity];

    fn of<'a>(mesh: &'a Mesh<3>, snapshot: &'a Snapshot<3>, units: &'a FieldUnits) -> Scene<'a, 3> {
        Scene {
            pressure: None,
            scalars: &[],
            particles: None,
            mesh,
            snapshot,
            units,
            average: None,
        }
    }

    /// The expected field on the plane, from the finest cells of the box: sum and count in each cell of the plane.
    fn by_finest_cells(
        mesh: &Mesh<3>,
        axis: usize,
        flat: &Flat,
        value: impl Fn(CellRef) -> f64,
    ) -> Vec<Option<f64>> {
        let finest = mesh.forest.finest();
        let [a, b] = across(axis);
        let mut sums: BTreeMap<[i32; 2], (f64, f64)> = BTreeMap::new();
        let n = mesh.frame.root_cells.map(|n| (n << finest) as i32);
        for i in 0..n[0] * n[1] * n[2] {
            let at = [i % n[0], i / n[0] % n[1], i / n[0] / n[1]];
            let dx = 0.5f64.powi(finest as i32);
            let leaf = mesh.forest.leaf_at(at.map(|c| (f64::from(c) + 0.5) * dx));
            let leaf = leaf.expect("inside");
            let sum = sums.entry([at[a], at[b]]).or_default();
            if mesh.classes.solid[leaf.block as usize] >> leaf.cell & 1 == 0 {
                sum.0 += value(leaf);
                sum.1 += 1.0;
            }
        }
        let mut area = 0;
        let means = flat.cells.iter().map(|&at| {
            let up = finest - usize::from(mesh.forest.level[at.block as usize]);
            let low = mesh.forest.cell_coord(at).map(|c| c << up);
            let mut all = (0.0, 0.0);
            for (k, sum) in &sums {
                if (low[a]..low[a] + (1 << up)).contains(&k[0])
                    && (low[b]..low[b] + (1 << up)).contains(&k[1])
                {
                    all = (all.0 + sum.0, all.1 + sum.1);
                    area += 1;
                }
            }
            (all.1 > 0.0).then(|| all.0 / all.1)
        });
        let means = means.collect();
        assert_eq!(area, n[a] * n[b], "each place of the plane once");
        means
    }

    #[test]
    fn means_are_those_over_the_fluid_by_volume() {
        let units = FieldUnits::lattice();
        for (seed, axis) in [(1, 2), (2, 0), (3, 1)] {
            let mesh = random_mesh(seed, [2, 1, 2], 3);
            let flow = snapshot(&mesh, 1, |x| {
                (1.0 + 0.01 * x[2], [0.1 * x[0], 0.0, 0.02 * x[1] * x[2]])
            });
            let flat = flat(of(&mesh, &flow, &units), axis, &FIELDS);
            let index = |at: CellRef| at.block as usize * 64 + at.cell as usize;
            let wanted =
                by_finest_cells(&mesh, axis, &flat, |at| f64::from(flow.density[index(at)]));
            let found = flat.columns[0].values.iter();
            let mut fluid = 0;
            for (found, wanted) in found.zip(&wanted) {
                let wanted = wanted.unwrap_or(1.0);
                assert!(
                    (f64::from(*found) - wanted).abs() < 1e-6,
                    "{found} {wanted}"
                );
                fluid += usize::from(wanted != 1.0);
            }
            assert!(fluid > 10, "{fluid} with fluid");
            let along = |at: CellRef| f64::from(flow.velocity[2][index(at)]);
            let wanted = by_finest_cells(&mesh, axis, &flat, along);
            let found = flat.columns[1].values.chunks(3);
            for (found, wanted) in found.zip(&wanted) {
                let wanted = wanted.unwrap_or(0.0);
                assert!(
                    (f64::from(found[2]) - wanted).abs() < 1e-6,
                    "{found:?} {wanted}"
                );
            }
        }
    }

    #[test]
    fn waves_along_the_axis_have_no_mean_and_a_slope_has_its_middle() {
        let units = FieldUnits::lattice();
        let mut mesh = random_mesh(5, [2, 2, 2], 3);
        mesh.classes.solid.fill(0);
        // 8 root cells along z: the mean of z is 4 in each column, on any levels.
        let flow = snapshot(&mesh, 1, |x| (1.0, [0.01 * x[2], 0.0, 0.0]));
        let flat_one = flat(of(&mesh, &flow, &units), 2, &FIELDS);
        let near = |found: f32, wanted: f64| assert!((f64::from(found) - wanted).abs() < 1e-6);
        flat_one.columns[1]
            .values
            .chunks(3)
            .for_each(|u| near(u[0], 0.04));
        let mesh = bare::<3>(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], &Root::Longest(16)).expect("a box");
        let flow = snapshot(&mesh, 1, |x| {
            let wave = (TAU * x[2] / 16.0).sin();
            (1.0, [0.01 * x[0] + 0.1 * wave, 0.05 * wave, 0.0])
        });
        let flat_two = flat(of(&mesh, &flow, &units), 2, &FIELDS);
        assert_eq!(flat_two.cells.len(), 256);
        for (at, u) in flat_two
            .cells
            .iter()
            .zip(flat_two.columns[1].values.chunks(3))
        {
            let x = f64::from(mesh.forest.cell_coord(*at)[0]) + 0.5;
            near(u[0], 0.01 * x);
            near(u[1], 0.0);
        }
    }
}
