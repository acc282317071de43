//! Tables made from a mesh: cut links, leaf cells, cells at points, corners of cells.

use crate::errors::OrRaise;
use cutlink::{Error, Mesh};
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_device::memory::{grow, with_capacity};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use numpy::{PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Points that one task locates.
const POINTS: usize = 4096;

/// An array of rows of `N` numbers.
fn columns<T: Element, const N: usize>(
    py: Python<'_>,
    rows: Vec<[T; N]>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = rows.len();
    PyArray1::from_vec(py, rows.into_flattened()).reshape([count, N])
}

/// A row per cut link, in the order of the link table.
struct Links<const D: usize> {
    center: Vec<[f64; D]>,
    step: Vec<[i8; D]>,
    direction: Vec<u8>,
    q: Vec<f32>,
    patch: Vec<u16>,
    point: Vec<[f64; D]>,
    block: Vec<u32>,
    cell: Vec<u8>,
    level: Vec<u8>,
}

impl<const D: usize> Links<D> {
    fn of(mesh: &Mesh<D>) -> Result<Self, Error> {
        let count = mesh.links.len();
        let mut table = Self {
            center: with_capacity("centres of links", count)?,
            step: with_capacity("steps of links", count)?,
            direction: with_capacity("directions of links", count)?,
            q: with_capacity("distances of links", count)?,
            patch: with_capacity("patches of links", count)?,
            point: with_capacity("points of links", count)?,
            block: with_capacity("blocks of links", count)?,
            cell: with_capacity("cells of links", count)?,
            level: with_capacity("levels of links", count)?,
        };
        for link in mesh.links() {
            table.center.push(link.center);
            table.step.push(link.step.map(|s| s as i8));
            table.direction.push(dims::direction(link.step) as u8);
            table.q.push(link.q);
            table.patch.push(link.patch);
            table.point.push(link.point());
            table.block.push(link.cell.block);
            table.cell.push(link.cell.cell as u8);
            table.level.push(link.level as u8);
        }
        Ok(table)
    }
}

pub(crate) fn links<'py, const D: usize>(
    py: Python<'py>,
    mesh: &Mesh<D>,
) -> PyResult<Bound<'py, PyAny>> {
    let table = py.detach(|| Links::of(mesh)).or_raise(py)?;
    let arrays = (
        columns(py, table.center)?,
        columns(py, table.step)?,
        table.direction.into_pyarray(py),
        table.q.into_pyarray(py),
        table.patch.into_pyarray(py),
        columns(py, table.point)?,
        table.block.into_pyarray(py),
        table.cell.into_pyarray(py),
        table.level.into_pyarray(py),
    );
    Ok(arrays.into_pyobject(py)?.into_any())
}

/// A row per leaf cell, by block and cell.
struct Leaves<const D: usize> {
    center: Vec<[f64; D]>,
    level: Vec<u8>,
    class: Vec<u8>,
    block: Vec<u32>,
    cell: Vec<u8>,
}

impl<const D: usize> Leaves<D> {
    fn of(mesh: &Mesh<D>, bounds: Option<[[f64; D]; 2]>) -> Result<Self, Error> {
        let forest = &mesh.forest;
        let inside = |x: &[f64; D]| {
            bounds.is_none_or(|[from, to]| (0..D).all(|a| from[a] <= x[a] && x[a] <= to[a]))
        };
        let center = |block: u32, cell: u32| {
            let at = CellRef { block, cell };
            let level = usize::from(forest.level[block as usize]);
            mesh.frame.center(level, forest.cell_coord(at))
        };
        let cells = dims::cells(D) as u32;
        let of_block = |block: u32| (0..cells).map(move |cell| (block, cell, center(block, cell)));
        let rows = || {
            forest
                .leaves()
                .flat_map(of_block)
                .filter(|(.., x)| inside(x))
        };
        let count = match bounds {
            None => forest.leaves().count() * cells as usize,
            Some(_) => rows().count(),
        };
        let mut table = Self {
            center: with_capacity("centres of cells", count)?,
            level: with_capacity("levels of cells", count)?,
            class: with_capacity("classes of cells", count)?,
            block: with_capacity("blocks of cells", count)?,
            cell: with_capacity("cells of blocks", count)?,
        };
        for (block, cell, center) in rows() {
            let at = block as usize;
            let of = |mask: &[u64]| (mask[at] >> cell & 1) as u8;
            table.center.push(center);
            table.level.push(forest.level[at]);
            table
                .class
                .push(of(&mesh.classes.boundary) + 2 * of(&mesh.classes.solid));
            table.block.push(block);
            table.cell.push(cell as u8);
        }
        Ok(table)
    }
}

/// A box given as its lower, then its upper corner.
fn box_of<const D: usize>(bounds: &[f64]) -> Result<[[f64; D]; 2], Error> {
    if bounds.len() != 2 * D || bounds.iter().any(|x| x.is_nan()) {
        return Err(Error::input(format!(
            "a box in {D}D has {} numbers, not {bounds:?}",
            2 * D
        ))
        .hint("give the lower corner, then the upper one"));
    }
    let corner = |n: usize| std::array::from_fn(|a| bounds[n * D + a]);
    Ok([corner(0), corner(1)])
}

pub(crate) fn leaves<'py, const D: usize>(
    py: Python<'py>,
    mesh: &Mesh<D>,
    bounds: Option<&[f64]>,
) -> PyResult<Bound<'py, PyAny>> {
    let bounds = bounds.map(box_of).transpose().or_raise(py)?;
    let table = py.detach(|| Leaves::of(mesh, bounds)).or_raise(py)?;
    let arrays = (
        columns(py, table.center)?,
        table.level.into_pyarray(py),
        table.class.into_pyarray(py),
        table.block.into_pyarray(py),
        table.cell.into_pyarray(py),
    );
    Ok(arrays.into_pyobject(py)?.into_any())
}

/// Block and cell of the leaf at each of `count` points; no block outside the box.
fn find<const D: usize>(
    mesh: &Mesh<D>,
    count: usize,
    point: impl Fn(usize) -> [f64; D] + Sync,
) -> Result<(Vec<u32>, Vec<u8>), Error> {
    let mut blocks = Vec::new();
    grow("blocks of points", &mut blocks, count, NONE)?;
    let mut cells = Vec::new();
    grow("cells of points", &mut cells, count, 0u8)?;
    let frame = &mesh.frame;
    let tasks = blocks
        .par_chunks_mut(POINTS)
        .zip(cells.par_chunks_mut(POINTS));
    tasks.enumerate().for_each(|(task, (blocks, cells))| {
        for (n, (block, cell)) in blocks.iter_mut().zip(cells).enumerate() {
            let x = point(task * POINTS + n);
            let at = std::array::from_fn(|a| (x[a] - frame.origin[a]) / frame.dx);
            if let Some(leaf) = mesh.forest.leaf_at(at) {
                (*block, *cell) = (leaf.block, leaf.cell as u8);
            }
        }
    });
    Ok((blocks, cells))
}

fn found(py: Python<'_>, (blocks, cells): (Vec<u32>, Vec<u8>)) -> PyResult<Bound<'_, PyAny>> {
    let arrays = (blocks.into_pyarray(py), cells.into_pyarray(py));
    Ok(arrays.into_pyobject(py)?.into_any())
}

pub(crate) fn locate<'py, const D: usize>(
    py: Python<'py>,
    mesh: &Mesh<D>,
    points: &PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let [count, columns] = [points.shape()[0], points.shape()[1]];
    if columns != D {
        let error = Error::input(format!("points have {columns} columns, the mesh is {D}D"));
        return Err(error).or_raise(py);
    }
    let points = points.as_array();
    let at = |n: usize| std::array::from_fn(|a| points[[n, a]]);
    let leaves = py.detach(|| find(mesh, count, at)).or_raise(py)?;
    found(py, leaves)
}

pub(crate) fn locate_grid<'py, const D: usize>(
    py: Python<'py>,
    mesh: &Mesh<D>,
    shape: &[usize],
    lower: &[f64],
    upper: &[f64],
) -> PyResult<Bound<'py, PyAny>> {
    let count = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m));
    let (Some(count), true) = (count, [shape.len(), lower.len(), upper.len()] == [D; 3]) else {
        let error = Error::input(format!("{shape:?} is no shape of a grid in {D}D"));
        return Err(error).or_raise(py);
    };
    let spacing = |a: usize| (upper[a] - lower[a]) / shape[a] as f64;
    // The last axis is the fastest.
    let at = |n: usize| {
        let mut rest = n;
        let mut x = [0.0; D];
        for a in (0..D).rev() {
            x[a] = lower[a] + ((rest % shape[a]) as f64 + 0.5) * spacing(a);
            rest /= shape[a];
        }
        x
    };
    let leaves = py.detach(|| find(mesh, count, at)).or_raise(py)?;
    found(py, leaves)
}

/// Corners of cells: the points, and those of each cell.
struct Corners {
    points: Vec<[f64; 3]>,
    /// 2^D a cell, x fastest.
    of_cells: Vec<i64>,
}

/// Bits of a corner's coordinate, in finest cells: a box has at most 2^19 of them on an axis.
const BITS: usize = 20;

impl Corners {
    fn of<const D: usize>(mesh: &Mesh<D>, cells: &[CellRef]) -> Result<Self, Error> {
        let forest = &mesh.forest;
        let finest = forest.finest();
        let per_cell = dims::children(D);
        let key = |at: &CellRef, corner: usize| {
            let up = finest - usize::from(forest.level[at.block as usize]);
            let coord = forest.cell_coord(*at);
            let along = |a: usize| ((coord[a] as u64) + (corner >> a & 1) as u64) << up;
            (0..D).fold(0, |key, a| key | along(a) << (BITS * a))
        };
        let mut keys: Vec<u64> = with_capacity("corners", cells.len() * per_cell)?;
        keys.extend(
            cells
                .iter()
                .flat_map(|at| (0..per_cell).map(move |c| key(at, c))),
        );
        let mut unique: Vec<u64> = with_capacity("corners", keys.len())?;
        unique.extend_from_slice(&keys);
        unique.par_sort_unstable();
        unique.dedup();
        let dx = mesh.frame.dx_at(finest);
        let mut points = Vec::new();
        grow("points", &mut points, unique.len(), [0.0; 3])?;
        points.par_iter_mut().zip(&unique).for_each(|(point, key)| {
            for a in 0..D {
                let at = key >> (BITS * a) & ((1 << BITS) - 1);
                point[a] = mesh.frame.origin[a] + at as f64 * dx;
            }
        });
        let mut of_cells = Vec::new();
        grow("corners of cells", &mut of_cells, keys.len(), 0i64)?;
        of_cells.par_iter_mut().zip(&keys).for_each(|(point, key)| {
            *point = unique.partition_point(|k| k < key) as i64;
        });
        Ok(Self { points, of_cells })
    }
}

pub(crate) fn corners<'py, const D: usize>(
    py: Python<'py>,
    mesh: &Mesh<D>,
    blocks: &PyReadonlyArray1<'py, u32>,
    cells: &PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyAny>> {
    let (blocks, cells) = (blocks.as_array(), cells.as_array());
    let pairs = blocks.iter().zip(&cells);
    let list: Vec<CellRef> = pairs
        .map(|(&block, &cell)| CellRef {
            block,
            cell: cell.into(),
        })
        .collect();
    let known = |at: &CellRef| {
        (at.block as usize) < mesh.forest.capacity() && (at.cell as usize) < dims::cells(D)
    };
    if blocks.len() != cells.len() || !list.iter().all(known) {
        return Err(Error::input("these are no cells of the mesh")).or_raise(py);
    }
    let made = py.detach(|| Corners::of(mesh, &list)).or_raise(py)?;
    let count = list.len();
    let of_cells = PyArray1::from_vec(py, made.of_cells).reshape([count, dims::children(D)])?;
    Ok((columns(py, made.points)?, of_cells)
        .into_pyobject(py)?
        .into_any())
}
