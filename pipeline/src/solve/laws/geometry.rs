//! What the laws of the error need to know of a mesh: how much fluid there is, beside how much wall, and how finely both are
//! resolved.
//!
//! Lengths, areas and volumes are in root cells. The area of a body is that of its cut links: in each boundary cell the vector of the
//! cut links along the axes, whose length is exact for walls along the axes and at 45°, and up to 8 % too large between.

use cutlink_amr::dims;
use cutlink_solver::{FaceCondition, Motion, Params, PatchCondition, fields::blocks_at};
use cutlink_voxelizer::{LinkTable, Mesh};
use rayon::prelude::*;

/// Leaves that a thread counts by itself, at least.
const LEAVES_AT_ONCE: usize = 1 << 14;

/// Fluid and walls of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Geometry {
    /// Edges of the box.
    pub(crate) edges: Vec<f64>,
    /// Volume of the fluid.
    pub(crate) volume: f64,
    /// By axis and side, the area of fluid at a face of the box.
    pub(crate) beside: Vec<[f64; 2]>,
    /// By axis.
    pub(crate) planes: Vec<Planes>,
    /// Area of walls at faces of the box, beside fluid.
    pub(crate) faces: f64,
    /// Area of the walls of bodies.
    pub(crate) body: f64,
    /// Mean distance of these walls from halfway along the cut links, in cells.
    pub(crate) offset: f64,
    /// Extents of the cells beside them.
    pub(crate) extents: Option<Vec<f64>>,
    /// Of bodies that fluid flows through: a bed of grains, foam, fins.
    pub(crate) bed: Option<Bed>,
    /// Area of the openings through which fluid enters or leaves, the larger of both; 0 where there is none.
    pub(crate) open: f64,
    /// Shortest edge of the box between two walls that face each other; twice the edge between a wall and a plane of symmetry.
    pub(crate) between: Option<f64>,
    /// The finest level beside a wall.
    pub(crate) level: Option<usize>,
    /// Whether the fluid is inside what the surface encloses: by the fill rule, or as in a housing, which leaves no fluid at the faces of
    /// all axes but one.
    pub(crate) is_inside: bool,
}

/// The fluid in the planes of cells across an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Planes {
    /// The least area of them: 0 where one has no fluid.
    pub(crate) least: f64,
    /// The mean area.
    pub(crate) mean: f64,
    /// How many times the viscous drop of a duct with the mean area is that of one with these areas, if their shapes are similar: the mean
    /// of (mean area / area)³ in 2D, where the velocity is inverse to the width and the drop to its square, and of the square in 3D.
    pub(crate) resistance: f64,
}

/// Bodies that have much more surface than the box around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bed {
    /// Hydraulic diameter of the fluid between them, 4 V / S.
    pub(crate) pore: f64,
    /// What has their volume and surface: 6 V / S.
    pub(crate) grain: f64,
    /// The share of fluid.
    pub(crate) void: f64,
}

/// Surface of bodies over that of the box around them, and their share of it, from which on they are a bed.
const OF_BEDS: [f64; 2] = [2.0, 0.2];

impl Bed {
    /// Of bodies of a surface and volume between these bounds in a box of these edges.
    fn of<const D: usize>(
        [surface, volume]: [f64; 2],
        [low, high]: &[[f64; D]; 2],
        edges: &[f64],
    ) -> Option<Self> {
        let extents: [f64; D] = std::array::from_fn(|a| high[a] - low[a]);
        let all: f64 = extents.iter().product();
        // Sides that lie at a face of the box have no fluid beside them.
        let around = |a: usize| {
            let is_open = [low[a] > 1.0, high[a] < edges[a] - 1.0];
            all / extents[a] * f64::from(is_open.map(u8::from).iter().sum::<u8>())
        };
        let around: f64 = (0..D).map(around).sum();
        let is_one = surface > OF_BEDS[0] * around && volume > OF_BEDS[1] * all && volume < all;
        // In 2D the diameter of a disc is 4 A / S.
        let of_grain = 2.0 * D as f64;
        is_one.then(|| Self {
            pore: 4.0 * (all - volume) / surface,
            grain: of_grain * volume / surface,
            void: 1.0 - volume / all,
        })
    }
}

/// What a face or patch is to the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A wall, at rest or moving along itself.
    Wall,
    Enters,
    Leaves,
    /// A symmetry plane or a periodic face.
    None,
}

impl Role {
    fn of_face<const D: usize>(face: &FaceCondition<D>, axis: usize, side: usize) -> Self {
        let inward = if side == 0 { 1.0 } else { -1.0 };
        let through = |v: &[f64; D]| match v[axis] * inward {
            0.0 => Self::Wall,
            speed if speed > 0.0 => Self::Enters,
            _ => Self::Leaves,
        };
        match face {
            FaceCondition::Velocity(v) => through(v),
            // One along the stream is neither.
            FaceCondition::FarField { velocity, .. } => match through(velocity) {
                Self::Wall => Self::None,
                role => role,
            },
            FaceCondition::Outflow | FaceCondition::Pressure(_) => Self::Leaves,
            FaceCondition::Periodic | FaceCondition::FreeSlip => Self::None,
        }
    }

    /// A patch with a velocity is an opening where the box has others.
    fn of_patch<const D: usize>(patch: &PatchCondition<D>, has_opening: bool) -> Self {
        match patch {
            PatchCondition::Pressure(_) => Self::Leaves,
            PatchCondition::Wall {
                motion: Motion::Uniform(v),
                ..
            } if has_opening && *v != [0.0; D] => Self::Enters,
            PatchCondition::Wall { .. } => Self::Wall,
        }
    }
}

/// The links of a row, by role: areas, and the bounds of the cells with a wall.
struct Row<const D: usize> {
    areas: [f64; 3],
    /// Sum of the distances of walls from halfway, in cells, and of how many.
    offset: f64,
    walls: u64,
    bounds: Option<[[f64; D]; 2]>,
    level: usize,
}

impl Geometry {
    /// Of a mesh with these conditions. Cost: a pass over the blocks and one over the links.
    pub(crate) fn of<const D: usize>(mesh: &Mesh<D>, params: &Params<D>) -> Self {
        let mut found = Self {
            edges: mesh.frame.root_cells.map(f64::from).to_vec(),
            volume: volume(mesh),
            beside: Vec::new(),
            planes: planes(mesh),
            faces: 0.0,
            body: 0.0,
            offset: 0.0,
            extents: None,
            bed: None,
            open: 0.0,
            between: None,
            level: None,
            is_inside: mesh.fill.flow() == "inside",
        };
        let mut through = [0.0; 2];
        for axis in 0..D {
            let roles = [0, 1].map(|side| Role::of_face(&params.faces[axis][side], axis, side));
            let sides = [false, true].map(|upper| beside(mesh, axis, upper));
            found.beside.push(sides.map(|(area, _)| area));
            for (role, (area, level)) in roles.into_iter().zip(sides) {
                match role {
                    Role::Wall => {
                        found.faces += area;
                        found.level = found.level.max(level);
                    }
                    Role::Enters => through[0] += area,
                    Role::Leaves => through[1] += area,
                    Role::None => {}
                }
            }
            let walls = roles.iter().zip(sides);
            let walls = walls.filter(|(role, (area, _))| **role == Role::Wall && *area > 0.0);
            let is_symmetric = params.faces[axis].contains(&FaceCondition::FreeSlip);
            let edge = found.edges[axis];
            let distance = match walls.count() {
                2 => Some(edge),
                1 if is_symmetric => Some(2.0 * edge),
                _ => None,
            };
            if let Some(edge) = distance {
                found.between = Some(found.between.map_or(edge, |other| other.min(edge)));
            }
        }
        found.add_links(mesh, params, &mut through);
        if let Some(adaptation) = &params.adaptation
            && found.level.is_some()
        {
            found.level = found.level.max(Some(adaptation.levels - 1));
        }
        found.open = through[0].max(through[1]);
        let dry = found.beside.iter().filter(|of| **of == [0.0; 2]);
        found.is_inside |= dry.count() + 1 >= D && found.body > 0.0;
        found
    }

    fn add_links<const D: usize>(
        &mut self,
        mesh: &Mesh<D>,
        params: &Params<D>,
        through: &mut [f64; 2],
    ) {
        let has_opening = params.has_opening();
        let of_patch = |patch| Role::of_patch(patch, has_opening);
        let roles: Vec<Role> = params.patches.iter().map(of_patch).collect();
        let rows = (0..mesh.links.blocks.len()).into_par_iter();
        let rows: Vec<Row<D>> = rows.map(|row| row_of(mesh, row, &roles)).collect();
        let mut all: Option<[[f64; D]; 2]> = None;
        let walls: u64 = rows.iter().map(|row| row.walls).sum();
        let offsets: f64 = rows.iter().map(|row| row.offset).sum();
        self.offset = offsets / walls.max(1) as f64;
        for row in &rows {
            self.body += row.areas[0];
            through[0] += row.areas[1];
            through[1] += row.areas[2];
            if let Some([low, high]) = row.bounds {
                self.level = self.level.max(Some(row.level));
                all = Some(joined(all, [low, high]));
            }
        }
        let solid = self.edges.iter().product::<f64>() - self.volume;
        let bounds = all.filter(|_| !self.is_inside);
        self.bed = bounds.and_then(|of| Bed::of([self.body, solid], &of, &self.edges));
        self.extents = all.map(|[low, high]| (0..D).map(|a| high[a] - low[a]).collect());
    }
}

/// The bounds of what has bounds already, if any, and of more.
fn joined<const D: usize>(all: Option<[[f64; D]; 2]>, [low, high]: [[f64; D]; 2]) -> [[f64; D]; 2] {
    let [l, h] = all.unwrap_or([low, high]);
    [
        std::array::from_fn(|a| l[a].min(low[a])),
        std::array::from_fn(|a| h[a].max(high[a])),
    ]
}

/// Volume of the fluid cells of leaves.
fn volume<const D: usize>(mesh: &Mesh<D>) -> f64 {
    let of_level = |count: &cutlink_voxelizer::LevelCounts| {
        (count.fluid + count.boundary) as f64 * cell::<D>(count.level, D)
    };
    mesh.level_counts().iter().map(of_level).sum()
}

/// A cell's size to a power.
fn cell<const D: usize>(level: usize, power: usize) -> f64 {
    0.5f64.powi((level * power) as i32)
}

/// The fluid in the planes across each axis, which are as thick as the finest cells.
fn planes<const D: usize>(mesh: &Mesh<D>) -> Vec<Planes> {
    let finest = mesh.forest.levels.len() - 1;
    let counts: [usize; D] =
        std::array::from_fn(|axis| (mesh.frame.root_cells[axis] as usize) << finest);
    let masks: [[u64; 4]; D] =
        std::array::from_fn(|axis| std::array::from_fn(|at| plane::<D>(axis, at)));
    // What begins and ends with each plane. Areas are multiples of the finest cells', so that sums are exact in any order.
    let none = || counts.map(|count| vec![0.0; count + 1]);
    let add = |mut changes: [Vec<f64>; D], block: u32| {
        let level = usize::from(mesh.forest.level[block as usize]);
        let (area, thick) = (cell::<D>(level, D - 1), 1usize << (finest - level));
        let fluid = dims::full_mask(D) & !mesh.classes.solid[block as usize];
        let coord = mesh.forest.coord[block as usize];
        for (axis, changes) in changes.iter_mut().enumerate() {
            for (at, mask) in masks[axis].iter().enumerate() {
                let area = area * f64::from((mask & fluid).count_ones());
                let first = (4 * coord[axis] as usize + at) * thick;
                changes[first] += area;
                changes[first + thick] -= area;
            }
        }
        changes
    };
    let leaves: Vec<u32> = mesh.forest.leaves().collect();
    // A list of planes a part, in parts that are longer than their lists.
    let part = counts.iter().sum::<usize>().max(LEAVES_AT_ONCE);
    let parts = leaves.par_chunks(part);
    let changes = parts.map(|part| part.iter().copied().fold(none(), add));
    let changes = changes.reduce(none, |mut all, part| {
        for (all, part) in all.iter_mut().flatten().zip(part.iter().flatten()) {
            *all += part;
        }
        all
    });
    changes.into_iter().map(along_axis::<D>).collect()
}

/// What there is to say of the planes across an axis, by what begins and ends with each.
fn along_axis<const D: usize>(changes: Vec<f64>) -> Planes {
    let count = changes.len() - 1;
    let areas = changes[..count].iter().scan(0.0, |area, change| {
        *area += change;
        Some(*area)
    });
    let areas: Vec<f64> = areas.collect();
    let mean = areas.iter().sum::<f64>() / count as f64;
    let power = if D == 2 { 3 } else { 2 };
    let sum: f64 = areas.iter().map(|area| (mean / area).powi(power)).sum();
    Planes {
        least: areas.iter().copied().fold(f64::INFINITY, f64::min),
        mean,
        resistance: sum / count as f64,
    }
}

/// The area of fluid cells at a face of the box, in root cells, and their finest level.
pub(crate) fn beside<const D: usize>(
    mesh: &Mesh<D>,
    axis: usize,
    upper: bool,
) -> (f64, Option<usize>) {
    let layer = layer::<D>(axis, upper);
    let mut counts = vec![0u64; mesh.forest.levels.len()];
    for block in blocks_at(mesh, axis, upper) {
        let fluid = layer & !mesh.classes.solid[block as usize];
        counts[usize::from(mesh.forest.level[block as usize])] += u64::from(fluid.count_ones());
    }
    let area = |(level, &count): (usize, &u64)| count as f64 * cell::<D>(level, D - 1);
    let finest = counts.iter().rposition(|&count| count > 0);
    (counts.iter().enumerate().map(area).sum(), finest)
}

/// The cells of a block at one side.
fn layer<const D: usize>(axis: usize, upper: bool) -> u64 {
    plane::<D>(axis, if upper { 3 } else { 0 })
}

/// The cells of a block at one of the four places along an axis.
fn plane<const D: usize>(axis: usize, at: usize) -> u64 {
    let is_there = |&cell: &usize| (cell >> (2 * axis)) & 3 == at;
    (0..dims::cells(D))
        .filter(is_there)
        .fold(0, |mask, cell| mask | 1 << cell)
}

fn row_of<const D: usize>(mesh: &Mesh<D>, row: usize, roles: &[Role]) -> Row<D> {
    let links: &LinkTable = &mesh.links;
    let block = links.blocks[row];
    let level = usize::from(mesh.forest.level[block as usize]);
    let mut found = Row {
        areas: [0.0; 3],
        offset: 0.0,
        walls: 0,
        bounds: None,
        level,
    };
    if !mesh.forest.is_leaf(block) {
        return found;
    }
    let (size, area) = (cell::<D>(level, 1), cell::<D>(level, D - 1));
    let boundary = mesh.classes.boundary[block as usize];
    for cell in (0..dims::cells(D) as u32).filter(|cell| boundary >> cell & 1 == 1) {
        let mut vectors = [[0i32; D]; 3];
        let mut has_wall = false;
        let (cut, first) = links.cell(block, boundary, cell).unwrap_or_default();
        let directions = (0..dims::directions(D)).filter(|direction| cut >> direction & 1 == 1);
        for (direction, at) in directions.zip(first as usize..) {
            let patch = links.patch.get(at).map_or(0, |&patch| usize::from(patch));
            let of = match roles.get(patch) {
                Some(Role::Enters) => 1,
                Some(Role::Leaves) => 2,
                _ => 0,
            };
            if of == 0 {
                has_wall = true;
                found.walls += 1;
                found.offset += (f64::from(links.q[at]) - 0.5).abs();
            }
            let step = dims::step::<D>(direction);
            if step.iter().filter(|&&s| s != 0).count() == 1 {
                for a in 0..D {
                    vectors[of][a] += step[a];
                }
            }
        }
        for (sum, vector) in found.areas.iter_mut().zip(vectors) {
            let square: i32 = vector.iter().map(|x| x * x).sum();
            *sum += area * f64::from(square).sqrt();
        }
        if has_wall {
            let coord = mesh.forest.coord[block as usize];
            let low: [f64; D] = std::array::from_fn(|a| {
                size * f64::from(4 * coord[a] + (cell as i32 >> (2 * a) & 3))
            });
            // The wall lies between the centre of the cell and the next one: its upper corner bounds it from below.
            let (low, high) = (low.map(|x| x + size), low);
            found.bounds = Some(joined(found.bounds, [low, high]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn beds_are_what_fluid_flows_through() {
        // Eight spheres of radius 1, which touch, in a stream and as a bed across a duct.
        let of = [8.0 * 4.0 * PI, 8.0 * 4.0 / 3.0 * PI];
        let around = [[3.0; 3], [7.0; 3]];
        assert_eq!(Bed::of(of, &around, &[10.0; 3]), None);
        let across = [[0.0, 0.0, 3.0], [4.0, 4.0, 7.0]];
        let bed = Bed::of(of, &across, &[4.0, 4.0, 10.0]).expect("a bed");
        assert!((bed.grain - 2.0).abs() < 1e-12, "{bed:?}");
        assert!((bed.void - (1.0 - PI / 6.0)).abs() < 1e-12, "{bed:?}");
        assert!((bed.pore - 4.0 * (64.0 - of[1]) / of[0]).abs() < 1e-12);
        // Ten fins of 1 by 20 by 40 on a floor, 3 apart; a wing is none, whatever it has of the box around it.
        let fins = [10.0 * 2.0 * 20.0 * 40.0, 10.0 * 800.0];
        let on_floor = [[30.0, 30.0, 0.0], [60.0, 70.0, 20.0]];
        let bed = Bed::of(fins, &on_floor, &[100.0; 3]).expect("fins");
        assert!((bed.pore - 4.0).abs() < 1e-12, "{bed:?}");
        let wing = [2.0 * 100.0 * 400.0, 100.0 * 400.0 * 8.0];
        let bounds = [[10.0; 3], [110.0, 410.0, 22.0]];
        assert_eq!(Bed::of(wing, &bounds, &[1000.0; 3]), None);
        assert_eq!(Bed::of([f64::NAN; 2], &around, &[10.0; 3]), None);
    }
}
