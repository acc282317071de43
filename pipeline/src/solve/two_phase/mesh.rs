//! From tables to the mesh at the start, and to what of it stays refined.

use super::case::TwoPhaseCase;
use super::resolve::{bytes_of_cell, corners};
use super::spheres::{Blocks, NearSpheres, Spheres};
use super::surface::{SolidBody, SurfaceKeys};
use crate::solve::{blocks::with_forest, resolve::missing};
use cutlink_amr::{Forest, Mark, NONE, dims};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Backend, Host};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{mesh::build::bare_periodic, options::Root};
use cutlink_vof::{BoxFace, InterfaceAdaptation, LiquidShape};
use cutlink_voxelizer::{Frame, Mesh, VoxelError, kernels::AdaptKernels};

/// Defaults of `[adapt]`.
const MARGIN: u32 = 4;
const COARSEN: f64 = 0.5;

/// Cells of the finest level around bodies that are on this level too.
const AT_BODIES: f64 = 2.0;

/// The mesh at the start, and the forest of what stays refined.
pub(super) struct CaseMeshes<const D: usize> {
    pub(super) mesh: Mesh<D>,
    pub(super) floor: Forest<D>,
}

/// The bodies of a case.
pub(super) struct CaseBodies<const D: usize> {
    boxes: Vec<[[f64; D]; 2]>,
    surfaces: Vec<SolidBody<D>>,
    /// Numbers of the tables of boxes, and of surfaces.
    tables: [Vec<usize>; 2],
    /// What the user should know of them.
    pub(super) notes: Vec<String>,
}

impl<const D: usize> CaseBodies<D> {
    /// By block id, cells whose centre is in a body; of refined blocks those with nothing but solid finer cells.
    pub(super) fn solid(&self, mesh: &Mesh<D>) -> Vec<u64> {
        let (forest, frame) = (&mesh.forest, &mesh.frame);
        let mut solid = vec![0u64; forest.capacity()];
        for id in forest.leaves() {
            let id = id as usize;
            let (level, coord) = (usize::from(forest.level[id]), forest.coord[id]);
            for (_, mask) in self.masks(frame, level, coord) {
                solid[id] |= mask;
            }
        }
        solid_above(forest, &mut solid);
        solid
    }

    /// The bodies' tables, by number, with the cells of a block that are in each.
    fn masks(
        &self,
        frame: &Frame<D>,
        level: usize,
        coord: [i32; D],
    ) -> impl Iterator<Item = (usize, u64)> {
        let [of_boxes, of_surfaces] = &self.tables;
        let surfaces = self.surfaces.iter().zip(of_surfaces);
        let surfaces = surfaces.map(move |(body, &table)| (table, body.mask(level, coord)));
        let h = frame.dx / f64::from(1u32 << level);
        let origin = frame.origin;
        let in_box = move |of: &[[f64; D]; 2]| {
            let holds = |cell: &usize| {
                let at: [i32; D] = dims::unravel(*cell, 4);
                (0..D).all(|a| {
                    let x = origin[a] + (f64::from(4 * coord[a] + at[a]) + 0.5) * h;
                    x > of[0][a] && x < of[1][a]
                })
            };
            let inside = (0..dims::cells(D)).filter(holds);
            inside.fold(0, |mask, cell| mask | 1 << cell)
        };
        let boxes = self.boxes.iter().zip(of_boxes);
        surfaces.chain(boxes.map(move |(of, &table)| (table, in_box(of))))
    }

    /// By cell, the number of the body that a solid cell is of, plus 1: of several the first.
    pub(super) fn numbers(&self, mesh: &Mesh<D>) -> Vec<u8> {
        let (forest, cells) = (&mesh.forest, dims::cells(D));
        let mut numbers = vec![0u8; forest.capacity() * cells];
        for id in forest.leaves() {
            let id = id as usize;
            let (level, coord) = (usize::from(forest.level[id]), forest.coord[id]);
            for (table, mask) in self.masks(&mesh.frame, level, coord) {
                for cell in (0..cells).filter(|cell| mask >> cell & 1 == 1) {
                    let number = &mut numbers[id * cells + cell];
                    let own = (table + 1).min(usize::from(u8::MAX)) as u8;
                    *number = if *number == 0 { own } else { own.min(*number) };
                }
            }
        }
        numbers
    }
}

/// What is refined for good, as a question of a block: its corners, and the levels that its children would make.
struct Floor<const D: usize> {
    /// `[[refine]]` boxes; none: everywhere.
    boxes: Option<Vec<[[f64; D]; 2]>>,
    in_boxes: usize,
    bodies: Vec<LiquidShape<D>>,
    at_bodies: usize,
    body_margin: f64,
    /// Sides of the box with a wall that holds the fluid.
    walls: Vec<usize>,
    at_walls: usize,
    domain: [[f64; D]; 2],
}

impl<const D: usize> Floor<D> {
    fn holds(&self, [low, high]: [[f64; D]; 2], levels: usize) -> bool {
        let meets = |of: &[[f64; D]; 2]| (0..D).all(|a| low[a] < of[1][a] && high[a] > of[0][a]);
        let in_box = self.boxes.as_ref().is_none_or(|b| b.iter().any(meets));
        let touches = |body: &LiquidShape<D>| body.touches(low, high, self.body_margin);
        let is_at = |&side: &usize| {
            let (axis, width) = (side / 2, high[side / 2] - low[side / 2]);
            match side % 2 {
                0 => low[axis] < self.domain[0][axis] + 0.5 * width,
                _ => high[axis] > self.domain[1][axis] - 0.5 * width,
            }
        };
        (levels <= self.in_boxes && in_box)
            || (levels <= self.at_bodies && self.bodies.iter().any(touches))
            || (levels <= self.at_walls && self.walls.iter().any(is_at))
    }
}

/// A shape whose faces on the box or beyond it are far away: there is no interface at walls.
fn reaching<const D: usize>(shape: &LiquidShape<D>, domain: &[[f64; D]; 2]) -> LiquidShape<D> {
    let LiquidShape::Box([mut from, mut to]) = *shape else {
        return shape.clone();
    };
    for a in 0..D {
        let size = domain[1][a] - domain[0][a];
        if from[a] <= domain[0][a] + 1e-9 * size {
            from[a] = domain[0][a] - size;
        }
        if to[a] >= domain[1][a] - 1e-9 * size {
            to[a] = domain[1][a] + size;
        }
    }
    LiquidShape::Box([from, to])
}

impl TwoPhaseCase {
    /// `[adapt]` with all defaults; the budget is bounded by memory later.
    ///
    /// # Errors
    /// Keys that are missing or make no sense.
    pub(super) fn adaptation(&self) -> Result<Option<InterfaceAdaptation>, Error> {
        let Some(table) = &self.adapt else {
            return Ok(None);
        };
        let wrong = |what: String, hint: &str| {
            Err(Error::input(format!("[adapt] {what}")).hint(hint.to_owned()))
        };
        let Some(levels) = table.levels else {
            return wrong(
                "levels is missing".into(),
                "the most levels of the mesh, the root included",
            );
        };
        if !(1..=16).contains(&levels) {
            return wrong(format!("levels is {levels}"), "it is 1 to 16");
        }
        let margin = table.margin.unwrap_or(MARGIN);
        if !(3..=8).contains(&margin) {
            return wrong(
                format!("margin is {margin}"),
                "it is 3 to 8 cells of the finest level",
            );
        }
        if table.vorticity.is_some_and(|v| !(v > 0.0 && v.is_finite())) {
            return wrong(
                "vorticity is not positive".into(),
                "vorticity times the cell's width, m/s",
            );
        }
        if table.coarsen.is_some() && table.vorticity.is_none() {
            return wrong(
                "coarsen is given, and no vorticity".into(),
                "it is a share of vorticity",
            );
        }
        let coarsen = table.coarsen.unwrap_or(COARSEN);
        if !(coarsen > 0.0 && coarsen < 1.0) {
            return wrong(format!("coarsen is {coarsen}"), "it lies between 0 and 1");
        }
        if table.at_walls.is_some_and(|n| n == 0 || n > levels) {
            return wrong(
                "at_walls is no number of levels".into(),
                "1, the coarsest cells, to `levels`",
            );
        }
        match self.domain.levels {
            Some(_) if self.refine.is_empty() => {
                return wrong(
                    "[domain] levels is given, and no [[refine]]".into(),
                    "with [adapt] it is for [[refine]] boxes: remove it",
                );
            }
            Some(n) if n > levels => {
                return wrong(
                    format!("levels is {levels}, and [domain] levels is {n}"),
                    "[adapt] has the most levels",
                );
            }
            _ => {}
        }
        Ok(Some(InterfaceAdaptation {
            levels,
            margin,
            vorticity: table.vorticity,
            coarsen,
            max_cells: table.max_cells.unwrap_or(u64::MAX),
        }))
    }

    /// The mesh: root cells, and what is refined for good; one that follows has all levels around the liquid and spheres too.
    ///
    /// # Errors
    /// Keys that are missing or make no sense, too little memory.
    pub(super) fn meshes<const D: usize>(
        &self,
        faces: &[[BoxFace<D>; 2]; D],
        (liquid, spheres): (&[LiquidShape<D>], Option<&Spheres>),
        bodies: &CaseBodies<D>,
        adaptation: Option<&InterfaceAdaptation>,
    ) -> Result<CaseMeshes<D>, Error>
    where
        Facet<D>: Exact<D>,
        Host: AdaptKernels<D>,
    {
        let root = self.root()?;
        let all = self.all_levels(adaptation)?;
        let levels = self.domain.levels.unwrap_or(all);
        let base = bare_periodic::<D>(&self.domain.bounds, root, self.periodic()?)?;
        let frame = base.frame;
        let size = base.forest.root.map(|n| 4.0 * f64::from(n) * frame.dx);
        let domain = [
            frame.origin,
            std::array::from_fn(|a| frame.origin[a] + size[a]),
        ];
        let finest = frame.dx / f64::from(1u32 << (all - 1));
        let floor = self.floor(
            faces,
            bodies,
            adaptation.map(|a| a.levels),
            levels,
            (domain, finest),
        )?;
        let liquid: Vec<_> = liquid
            .iter()
            .map(|shape| reaching(shape, &domain))
            .collect();
        let margin = f64::from(adaptation.map_or(0, |a| a.margin)) * finest;
        let blocks = Blocks {
            origin: frame.origin,
            width: 4.0 * frame.dx,
            root: base.forest.root,
            periodic: self.periodic()?,
            levels: adaptation.map_or(1, |a| a.levels),
            margin,
        };
        let at_spheres = spheres.map(|of| of.blocks(&blocks));
        let is_at_start = |block: [[f64; D]; 2], levels: usize| {
            let touches = |shape: &LiquidShape<D>| shape.touches(block[0], block[1], margin);
            let near = adaptation.is_some_and(|a| levels <= a.levels) && liquid.iter().any(touches);
            let at_sphere = |of: &NearSpheres<D>| of.holds(block[0], levels);
            near || at_spheres.as_ref().is_some_and(at_sphere) || floor.holds(block, levels)
        };
        let stays = refined(&base, all, |block, levels| floor.holds(block, levels))?;
        let forest = refined(&base, all, is_at_start)?;
        let solid = vec![0; forest.capacity()];
        Ok(CaseMeshes {
            mesh: with_forest(&base, forest, solid)?,
            floor: stays,
        })
    }

    fn floor<const D: usize>(
        &self,
        faces: &[[BoxFace<D>; 2]; D],
        bodies: &CaseBodies<D>,
        adapted: Option<usize>,
        levels: usize,
        (domain, finest): ([[f64; D]; 2], f64),
    ) -> Result<Floor<D>, Error> {
        let mut boxes = Vec::new();
        for table in &self.refine {
            boxes.push(corners::<D>("[[refine]] box", &table.bounds)?);
        }
        let is_everywhere = adapted.is_none() && boxes.is_empty();
        let of_boxes = bodies.boxes.iter();
        let of_boxes = of_boxes.map(|&of| reaching(&LiquidShape::Box(of), &domain));
        let of_surfaces = bodies.surfaces.iter();
        let of_surfaces = of_surfaces.map(|of| LiquidShape::Surface(of.surface.clone()));
        let is_wall = |side: &usize| matches!(faces[side / 2][side % 2], BoxFace::NoSlip);
        let periodic = self.periodic()?;
        Ok(Floor {
            boxes: (!is_everywhere).then_some(boxes),
            in_boxes: levels,
            bodies: of_boxes.chain(of_surfaces).collect(),
            at_bodies: adapted.unwrap_or(1),
            body_margin: AT_BODIES * finest,
            walls: (0..2 * D)
                .filter(|side| is_wall(side) && !periodic[side / 2])
                .collect(),
            at_walls: self.adapt.and_then(|table| table.at_walls).unwrap_or(1),
            domain,
        })
    }

    /// The coarsest cells.
    ///
    /// # Errors
    /// Where they are missing.
    pub(super) fn root(&self) -> Result<&Root, Error> {
        let root = self.domain.root.as_ref();
        root.ok_or_else(|| missing("[domain] root"))
    }

    /// The number of levels that cells may have.
    ///
    /// # Errors
    /// Where it is out of its range.
    pub(super) fn all_levels(
        &self,
        adaptation: Option<&InterfaceAdaptation>,
    ) -> Result<usize, Error> {
        let most = adaptation.map_or(1, |a| a.levels);
        let levels = self.domain.levels.unwrap_or(most);
        if !(1..=16).contains(&levels) {
            return Err(Error::input(format!("[domain] levels is {levels}")).hint("it is 1 to 16"));
        }
        Ok(most.max(levels))
    }

    /// The bodies, of which cells have so many levels.
    ///
    /// # Errors
    /// Keys that make no sense, files that cannot be read, surfaces that are open or not in the box.
    pub(super) fn solid_bodies<const D: usize>(&self, levels: usize) -> Result<CaseBodies<D>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let mut bodies = CaseBodies {
            boxes: Vec::new(),
            surfaces: Vec::new(),
            tables: [const { Vec::new() }; 2],
            notes: Vec::new(),
        };
        for (i, table) in self.bodies.iter().enumerate() {
            if !table.has_surface() {
                let bounds = corners::<D>("[[body]] box", &table.bounds)?;
                bodies.boxes.push(bounds);
                bodies.tables[0].push(i);
                continue;
            }
            let what = format!("[[body]] {}", i + 1);
            if !table.bounds.is_empty() {
                return Err(
                    Error::input(format!("{what} has a box and keys of a surface"))
                        .hint("give box, or file or shape with its keys"),
                );
            }
            let made = self.solid_body(table, self.root()?, levels);
            let (body, said) = made.map_err(|error| error.about(&what))?;
            bodies.surfaces.push(body);
            bodies.tables[1].push(i);
            bodies
                .notes
                .extend(said.into_iter().map(|note| format!("{what}: {note}")));
        }
        Ok(bodies)
    }
}

/// Gives refined blocks the cells with nothing but solid finer cells.
pub(super) fn solid_above<const D: usize>(forest: &Forest<D>, solid: &mut [u64]) {
    for id in (0..forest.capacity()).rev() {
        let first = forest.first_child[id];
        if first == NONE {
            continue;
        }
        let mut mask = 0;
        for cell in 0..dims::cells(D) {
            let at: [i32; D] = dims::unravel(cell, 4);
            let is_solid = (0..dims::children(D)).all(|corner| {
                let (child, fine) = dims::below(at, dims::unravel::<D>(corner, 2));
                solid[first as usize + child] >> dims::ravel(fine, 4) & 1 == 1
            });
            mask |= u64::from(is_solid) << cell;
        }
        solid[id] = mask;
    }
}

/// A forest of at most `most` levels. `is_refined` gets the corners of a block, and the number of levels down to its children, the
/// root level included. Ids are canonical.
fn refined<const D: usize>(
    base: &Mesh<D>,
    most: usize,
    is_refined: impl Fn([[f64; D]; 2], usize) -> bool,
) -> Result<Forest<D>, Error>
where
    Host: AdaptKernels<D>,
{
    let frame = base.frame;
    let mut forest = Forest::new(&Host, base.forest.root)
        .map_err(VoxelError::from)?
        .with_periodic(base.forest.periodic);
    for level in 0..most - 1 {
        let width = 4.0 * frame.dx / f64::from(1u32 << level);
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for &id in forest.levels.get(level).into_iter().flatten() {
            let at = forest.coord[id as usize];
            let low: [f64; D] = std::array::from_fn(|a| frame.origin[a] + f64::from(at[a]) * width);
            if is_refined([low, low.map(|x| x + width)], level + 2) {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        let fresh = (marks.iter().filter(|&&m| m == Mark::Refine as u8).count() as u64) << D;
        let bytes = (fresh << (2 * D)) * bytes_of_cell(D as u64);
        if bytes > Host.free_bytes() {
            let text = format!("level {} alone needs {bytes} bytes of memory", level + 1);
            return Err(Error::new(ErrorKind::Memory, text)
                .hint("fewer levels, or smaller [[refine]] boxes"));
        }
        forest.adapt(&Host, &mut marks).map_err(VoxelError::from)?;
    }
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest
        .refined_after(&Host, &keep)
        .map_err(VoxelError::from)?;
    let (forest, _) = forest.rebuilt(&Host, &same).map_err(VoxelError::from)?;
    Ok(forest)
}

/// By block id, the solid cells of leaves; no cell of refined blocks.
pub(super) fn leaf_masks<const D: usize>(mesh: &Mesh<D>) -> Vec<u64> {
    let of = |(id, &mask): (usize, &u64)| match mesh.forest.is_leaf(id as u32) {
        true => mask,
        false => 0,
    };
    mesh.classes.solid.iter().enumerate().map(of).collect()
}
