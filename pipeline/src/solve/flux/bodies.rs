//! Bodies of any shape: each is voxelized on its own, twice as fine as the points of elements need, and its solid cells say
//! which points it holds.

use super::case::{FluxCase, GasBodyTable};
use crate::solve::placed::{place, placed};
use cutlink_amr::{Forest, dims};
use cutlink_common::{Error, device::Opened};
use cutlink_fr::{BodyGeometry, EmbeddedBodies};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{
    mesh::{build::Builder, resolve::resolve},
    options::{MeshOptions, Numbers, Root},
};
use cutlink_voxelizer::Mesh;
use std::sync::Arc;

/// Levels of cells below those of elements, of which a body's cells are. Cells are a quarter of a block, so an element of
/// order 3 has two cells a point along each axis.
const FINER: usize = 1;

/// The bodies of a case that have a shape.
#[derive(Debug)]
pub(super) struct Shaped<const D: usize> {
    pub(super) embedded: EmbeddedBodies<D>,
    /// The corners of the box around the first of them.
    pub(super) bounds: [[f64; D]; 2],
    /// What the user should know of them.
    pub(super) notes: Vec<String>,
}

/// Solid cells of bodies.
#[derive(Debug)]
struct SolidCells<const D: usize> {
    bodies: Vec<Solid<D>>,
    lower: [f64; D],
    /// The edge of root blocks, which are the coarsest elements.
    edge: f64,
}

#[derive(Debug)]
struct Solid<const D: usize> {
    forest: Forest<D>,
    cells: Vec<u64>,
    /// By block, whether a cell in it is solid.
    has_solid: Vec<bool>,
}

impl<const D: usize> Solid<D> {
    fn new(mesh: Mesh<D>) -> Self {
        let (forest, cells) = (mesh.forest, mesh.classes.solid);
        let mut has_solid = vec![false; forest.capacity()];
        for ids in forest.levels.iter().rev() {
            for &id in ids {
                let first = forest.first_child[id as usize] as usize;
                has_solid[id as usize] = match forest.is_leaf(id) {
                    true => cells[id as usize] != 0,
                    false => (0..dims::children(D)).any(|child| has_solid[first + child]),
                };
            }
        }
        Self {
            forest,
            cells,
            has_solid,
        }
    }

    /// The block of a level, or the leaf that it is in; and its level. `None` outside of the box.
    fn block(&self, level: u32, coord: [i32; D]) -> Option<(u32, u32)> {
        let (mut id, root) = (0, self.forest.root);
        for a in (0..D).rev() {
            let at = u32::try_from(coord[a] >> level)
                .ok()
                .filter(|&at| at < root[a])?;
            id = id * root[a] + at;
        }
        for depth in 1..=level {
            if self.forest.is_leaf(id) {
                return Some((id, depth - 1));
            }
            let at = coord.map(|c| c >> (level - depth));
            let child: u32 = (0..D).map(|a| (at[a] as u32 & 1) << a).sum();
            id = self.forest.first_child[id as usize] + child;
        }
        Some((id, level))
    }
}

impl<const D: usize> BodyGeometry<D> for SolidCells<D> {
    fn body_at(&self, point: [f64; D]) -> Option<usize> {
        let is_in = |body: &Solid<D>| {
            let finest = body.forest.finest() as u32;
            let scale = f64::from(1u32 << finest) / self.edge;
            let blocks = std::array::from_fn(|a| (point[a] - self.lower[a]) * scale);
            let coord = blocks.map(|x: f64| x.floor() as i32);
            let Some((id, level)) = body.block(finest, coord) else {
                return false;
            };
            let share = 1.0 / f64::from(1u32 << (finest - level));
            let cell = blocks.map(|x| ((x * share).fract() * f64::from(dims::EDGE)) as i32);
            body.cells[id as usize] >> dims::ravel::<D>(cell, dims::EDGE as usize) & 1 == 1
        };
        self.bodies.iter().position(is_in)
    }

    fn is_near(&self, level: u32, coord: [i32; D]) -> bool {
        let is_near = |body: &Solid<D>| match body.block(level, coord) {
            Some((id, _)) => body.has_solid[id as usize],
            None => false,
        };
        self.bodies.iter().any(is_near)
    }

    fn least_level(&self, level: u32, coord: [i32; D]) -> u32 {
        let least = |body: &Solid<D>| match body.block(level, coord) {
            Some((id, found)) => found + u32::from(!body.forest.is_leaf(id)),
            None => 0,
        };
        self.bodies.iter().map(least).max().unwrap_or(0)
    }
}

impl GasBodyTable {
    /// Whether it has a shape of its own, and is no box of elements.
    pub(super) fn is_shaped(&self) -> bool {
        self.file.is_some() || self.shape.is_some()
    }
}

impl FluxCase {
    /// The bodies that have a shape, in a box with so many levels of elements; `None` where there are none.
    ///
    /// # Errors
    /// A file that cannot be read, a surface that is open or not in the box; memory that is short.
    pub(super) fn shaped<const D: usize>(&self, levels: u32) -> Result<Option<Shaped<D>>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let (mut bodies, mut temperatures, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for body in self.bodies.iter().filter(|body| body.is_shaped()) {
            let what = format!("[[body]] \"{}\"", body.name);
            let built = self.solid_cells::<D>(body, levels as usize);
            let (solid, bounds, said) = built.map_err(|error| error.about(&what))?;
            notes.extend(said.into_iter().map(|note| format!("{what}: {note}")));
            first.get_or_insert(bounds);
            bodies.push(solid);
            temperatures.push(body.temperature);
        }
        let Some(bounds) = first else {
            return Ok(None);
        };
        let numbers = &self.domain.bounds;
        let edge = (numbers[D] - numbers[0]) / f64::from(self.domain.elements[0]);
        let geometry = SolidCells {
            bodies,
            lower: std::array::from_fn(|a| numbers[a]),
            edge,
        };
        Ok(Some(Shaped {
            embedded: EmbeddedBodies {
                geometry: Arc::new(geometry),
                temperatures,
                relaxation: self.numerics.relaxation,
            },
            bounds,
            notes,
        }))
    }

    /// The solid cells of a body, the box around it, and notes.
    #[expect(
        clippy::type_complexity,
        reason = "three things that have no name together"
    )]
    fn solid_cells<const D: usize>(
        &self,
        body: &GasBodyTable,
        levels: usize,
    ) -> Result<(Solid<D>, [[f64; D]; 2], Vec<String>), Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let blocks = dims::EDGE as u32;
        let options = MeshOptions {
            domain: Some(Numbers::Many(self.domain.bounds.clone())),
            root: Some(Root::Cells(
                self.domain.elements.iter().map(|n| blocks * n).collect(),
            )),
            levels: Some(levels + FINER),
            wall_distance: Some(0.0),
            robust: body.robust,
            ..placed!(body)
        };
        let job = resolve(&options)?;
        let mut observer = ();
        let mut builder = Builder::new(&job, &Opened::Cpu, &mut observer);
        let placed = place::<D>(&mut builder)?;
        let bounds = placed.placed.bounds().unwrap_or([[0.0; D]; 2]);
        let prepared = builder.prepare(placed)?;
        let mesh = builder.build(&prepared)?;
        Ok((Solid::new(mesh), bounds, builder.notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball<const D: usize>(shape: &str, levels: u32) -> SolidCells<D>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let mut case = FluxCase::default();
        case.domain.bounds = [[-2.0; D], [4.0; D]].concat();
        case.domain.elements = vec![3; D];
        let body = GasBodyTable {
            shape: Some(shape.into()),
            ..GasBodyTable::default()
        };
        let (solid, bounds, _) = case
            .solid_cells::<D>(&body, levels as usize)
            .expect("a body");
        assert!(
            bounds[0].iter().all(|x| (x + 0.7).abs() < 1e-2),
            "{bounds:?}"
        );
        SolidCells {
            bodies: vec![solid],
            lower: [-2.0; D],
            edge: 2.0,
        }
    }

    fn is_that_ball<const D: usize>(of: &SolidCells<D>, levels: u32) {
        let cell = 2.0 / f64::from(4u32 << levels);
        let mut inside = 0;
        for i in 0..20_000_u32 {
            // A low-discrepancy sequence in the box (Roberts 2018).
            let at = |a: usize| f64::from(i) * [0.819_172_513, 0.671_043_606, 0.549_700_477][a];
            let x: [f64; D] = std::array::from_fn(|a| -2.0 + 6.0 * at(a).fract());
            let distance = x.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.7;
            let found = of.body_at(x).is_some();
            if distance.abs() > cell {
                assert_eq!(found, distance < 0.0, "{x:?}");
            }
            inside += u32::from(found);
            for level in 0..levels {
                let size = 2.0 / f64::from(1u32 << level);
                let coord = x.map(|x| ((x + 2.0) / size).floor() as i32);
                assert!(of.is_near(level, coord) || !found, "{x:?}, level {level}");
                // At the surface, elements of all levels but the finest are too coarse.
                let is_cut = distance.abs() < 1e-3 * size;
                assert!(!is_cut || of.least_level(level, coord) > level, "{x:?}");
            }
        }
        assert!(inside > 0, "a point inside");
        assert_eq!(of.body_at([-2.5; D]), None);
        assert_eq!(of.body_at([4.5; D]), None);
    }

    #[test]
    fn solid_cells_are_those_of_the_shape() {
        is_that_ball(&ball::<2>("circle:r=0.7", 4), 4);
        is_that_ball(&ball::<3>("sphere:r=0.7", 3), 3);
    }
}
