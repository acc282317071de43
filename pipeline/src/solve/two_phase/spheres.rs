//! `[[particles]]` in a flow: from tables to a bed in the flow's box.

use super::case::{CouplingTable, SolidTable, TwoPhaseCase};
use super::resolve::{AXES, numbers, side_name};
use super::surface::SurfaceKeys;
use crate::solve::{
    grains::{
        case::{GrainWallTable, SurfaceSide},
        in_flow::{BedInFlow, BedTables},
        walls::{named_walls, surfaces_of},
    },
    particles::{BYTES, BedOf, explained, material, table_of},
};
use cutlink_common::Error;
use cutlink_grains::{BoxAxis, Grain, GrainBox};
use cutlink_meshing::{mesh::domain::of_case, options::FlowSide};
use cutlink_vof::{BoxFace, FlowMesh, GrainCoupling, TwoPhaseError};
use std::collections::HashSet;

/// Least diameter of a sphere in widths of the finest cells.
const LEAST_CELLS: f64 = 4.0;

/// Bytes of a cell in a flow with spheres besides: the part that is fluid, the density of spheres, places in two lists.
const BYTES_OF_CELL: u64 = 24;

/// Bytes of a cell in a sphere: its part, arm and places, twice, and three velocities.
const BYTES_OF_PART: f64 = 200.0;

/// The spheres of a flow, and what they are made from.
pub(super) struct Spheres {
    pub(super) of: BedInFlow,
    pub(super) coupling: GrainCoupling,
}

impl TwoPhaseCase {
    /// The spheres; none without `[[particles]]`.
    ///
    /// # Errors
    /// What a flow with spheres has not, keys that are missing or make no sense, spheres where they cannot be.
    pub(super) fn spheres<const D: usize>(
        &self,
        faces: &[[BoxFace<D>; 2]; D],
        gravity: [f64; D],
        viscosity: [f64; 2],
    ) -> Result<Option<Spheres>, Error> {
        if self.particles.is_empty() {
            return self.check_no_spheres().map(|()| None);
        }
        self.check_kind::<D>(viscosity)?;
        let tables = BedTables {
            materials: &self.materials,
            contacts: &self.contacts,
            particles: &self.particles,
            contact_step: self.numerics.contact_step,
            max_overlap: self.numerics.max_overlap,
        };
        let materials = tables.names()?;
        let domain = self.box_of_spheres(&materials.0)?;
        let coupling = self.coupled(&domain)?;
        let weight = std::array::from_fn(|a| {
            gravity.get(a).map_or(0.0, |g| g.abs()) + coupling.drive[a].abs()
        });
        let walls = surfaces_of(&self.sphere_walls()?, &domain)?;
        let of = tables.bed(materials, domain, walls, (weight, inflow(faces)))?;
        Ok(Some(Spheres { of, coupling }))
    }

    /// Refuses keys of spheres where there are none.
    fn check_no_spheres(&self) -> Result<(), Error> {
        let faces = self.boundary.faces();
        let mut faces = faces.iter().flatten().zip(0..);
        let of_face = faces.find(|(face, _)| face.as_ref().is_some_and(|f| f.material.is_some()));
        let given = [
            ("[materials]".to_owned(), !self.materials.is_empty()),
            ("[[contact]]".to_owned(), !self.contacts.is_empty()),
            ("[[wall]]".to_owned(), !self.walls.is_empty()),
            ("[coupling]".to_owned(), self.coupling.is_some()),
            (
                "[numerics] contact_step".to_owned(),
                self.numerics.contact_step.is_some(),
            ),
            (
                "[numerics] max_overlap".to_owned(),
                self.numerics.max_overlap.is_some(),
            ),
            (
                "[[body]] material".to_owned(),
                self.bodies.iter().any(|body| body.material.is_some()),
            ),
            (
                format!(
                    "[boundary] {}: material",
                    side_name(of_face.map_or(0, |(_, side)| side))
                ),
                of_face.is_some(),
            ),
        ];
        match given.into_iter().find(|(_, is)| *is) {
            None => Ok(()),
            Some((key, _)) => Err(Error::input(format!(
                "{key} is given, and there are no [[particles]]"
            ))
            .hint("it is for spheres in the flow: add [[particles]], or remove it")),
        }
    }

    /// Refuses what a flow with spheres has not.
    fn check_kind<const D: usize>(&self, viscosity: [f64; 2]) -> Result<(), Error> {
        let (what, hint) = if D != 3 {
            (
                "[[particles]] are given, and the box is in 2D",
                "spheres need a [domain] box of 6 numbers",
            )
        } else if viscosity[0] == 0.0 {
            (
                "[[particles]] are given, and the fluids have no viscosity",
                "it is what moves the fluid with a sphere: give [phases.liquid] and [phases.gas] viscosity",
            )
        } else if self.frame.as_ref().is_some_and(|of| of.angle.is_some()) {
            (
                "[frame] angle is given, and there are [[particles]]",
                "a box with spheres may be shifted, not turned: remove angle",
            )
        } else {
            return Ok(());
        };
        Err(Error::input(what).hint(hint))
    }

    /// The box as spheres have it: all faces hold them but periodic ones.
    fn box_of_spheres(&self, names: &[String]) -> Result<GrainBox, Error> {
        let frame = of_case::<3>(&self.domain.bounds, self.root()?)?.frame;
        let periodic = self.periodic()?;
        let mut axes = [BoxAxis::Periodic; 3];
        for (axis, pair) in self.boundary.faces().into_iter().enumerate() {
            let mut walls = [None; 2];
            for (upper, given) in pair.into_iter().enumerate() {
                let what = format!("[boundary] {}", side_name(2 * axis + upper));
                let name = given.as_ref().and_then(|face| face.material.as_ref());
                if periodic[axis] {
                    if name.is_some() {
                        return Err(Error::input(format!(
                            "{what}: material is no key of this type of face"
                        )));
                    }
                    continue;
                }
                walls[upper] = Some(material(name, names).map_err(|error| error.within(&what))?);
            }
            if !periodic[axis] {
                axes[axis] = BoxAxis::Walls(walls);
            }
        }
        Ok(GrainBox {
            lower: frame.origin,
            upper: frame.upper(),
            axes,
        })
    }

    fn coupled(&self, domain: &GrainBox) -> Result<GrainCoupling, Error> {
        let Some(CouplingTable { fixed, drive }) = &self.coupling else {
            return Ok(GrainCoupling::default());
        };
        let drive = drive.as_ref();
        let drive = drive.map(|drive| numbers::<3>("[coupling] drive", drive));
        let drive = drive.transpose()?.unwrap_or_default();
        let is_wall = |a: &usize| drive[*a] != 0.0 && domain.axes[*a] != BoxAxis::Periodic;
        if let Some(a) = (0..3).find(is_wall) {
            let axis = AXES[a];
            return Err(Error::input(format!(
                "[coupling] drive is along {axis}, and the faces {axis}- and {axis}+ are not periodic"
            ))
            .hint("it drives the flow through a periodic box; elsewhere faces of type velocity and pressure do"));
        }
        Ok(GrainCoupling {
            held: *fixed,
            drive,
        })
    }

    /// `[[wall]]`, and bodies as walls.
    fn sphere_walls(&self) -> Result<Vec<(String, GrainWallTable)>, Error> {
        let mut walls = named_walls(&self.walls);
        for (i, body) in self.bodies.iter().enumerate() {
            walls.push((format!("[[body]] {}", i + 1), wall_of(body, i)?));
        }
        Ok(walls)
    }
}

/// A body as a wall of spheres.
fn wall_of(body: &SolidTable, index: usize) -> Result<GrainWallTable, Error> {
    let side = match body.flow {
        _ if body.robust => None,
        Some(FlowSide::Inside) => Some(SurfaceSide::Inside),
        _ => Some(SurfaceSide::Outside),
    };
    let own = GrainWallTable {
        name: Some(format!("body-{}", index + 1)),
        side,
        material: body.material.clone(),
        ..GrainWallTable::default()
    };
    if body.has_surface() {
        return Ok(GrainWallTable {
            file: body.file.clone(),
            shape: body.shape.clone(),
            unit: body.unit,
            scale: body.scale.clone(),
            rotate: body.rotate.clone(),
            translate: body.translate.clone(),
            ..own
        });
    }
    let [low, high] = super::resolve::corners::<3>("[[body]] box", &body.bounds)?;
    let [x, y, z]: [f64; 3] = std::array::from_fn(|a| high[a] - low[a]);
    let middle = (0..3).map(|a| 0.5 * (low[a] + high[a])).collect();
    Ok(GrainWallTable {
        shape: Some(format!("box:size={x}x{y}x{z}")),
        translate: Some(cutlink_meshing::options::Numbers::Many(middle)),
        ..own
    })
}

/// The largest velocity at a face, m/s.
fn inflow<const D: usize>(faces: &[[BoxFace<D>; 2]; D]) -> f64 {
    let speed = |face: &BoxFace<D>| match face {
        BoxFace::Inflow { velocity, .. } => velocity.iter().map(|v| v * v).sum::<f64>().sqrt(),
        _ => 0.0,
    };
    faces.iter().flatten().map(speed).fold(0.0, f64::max)
}

impl Spheres {
    /// Bytes that the spheres need in a flow of so many cells, the finest of a width.
    pub(super) fn bytes(&self, cells: usize, h: f64) -> u64 {
        let parts = |grain: &Grain| (2.0 * grain.radius / h + 2.0).powi(3) * BYTES_OF_PART;
        let parts: f64 = self.of.bed.grains().iter().map(parts).sum();
        self.of.bed.len() as u64 * BYTES + parts as u64 + cells as u64 * BYTES_OF_CELL
    }

    /// Refuses what a mesh whose finest cells have a width cannot show.
    ///
    /// # Errors
    /// Spheres of too few cells, how many and the first; spheres on coarse cells or in bodies.
    pub(super) fn check<const D: usize>(&self, mesh: &FlowMesh<D>, h: f64) -> Result<(), Error> {
        let grains = self.of.bed.grains();
        let is_small = |grain: &Grain| 2.0 * grain.radius < LEAST_CELLS * h * (1.0 - 1e-12);
        if let Some(first) = grains.iter().position(is_small) {
            let count = grains.iter().filter(|grain| is_small(grain)).count();
            let Grain { center, radius, .. } = grains[first];
            return Err(Error::input(format!(
                "{count} spheres are less than {LEAST_CELLS} of the finest cells wide; the first is {}, at {center:?} m, of {:.2} cells of \
                 {h:.4e} m",
                table_of(&self.of.ends, first as u32),
                2.0 * radius / h
            ))
            .hint("finer cells: more cells in [domain] root, or more levels of [domain] or [adapt]; or larger spheres"));
        }
        mesh.check_bed(&self.of.bed)
            .map_err(|error| told(error, &self.of.ends))
    }

    /// Blocks of levels with finer ones, that spheres or the margin around them reach into.
    pub(super) fn blocks<const D: usize>(&self, of: &Blocks<D>) -> NearSpheres<D> {
        let mut near = NearSpheres {
            levels: Vec::new(),
            origin: of.origin,
            width: of.width,
        };
        for level in 0..of.levels - 1 {
            let mut found = HashSet::new();
            let width = of.width / f64::from(1u32 << level);
            for grain in self.of.bed.grains() {
                each_block(of, (level, width), &grain, |at| {
                    found.insert(at);
                });
            }
            near.levels.push(found);
        }
        near
    }
}

/// What blocks a mesh may have.
pub(super) struct Blocks<const D: usize> {
    pub(super) origin: [f64; D],
    /// The width of root blocks, m.
    pub(super) width: f64,
    /// Root blocks along each axis.
    pub(super) root: [u32; D],
    pub(super) periodic: [bool; 3],
    pub(super) levels: usize,
    /// Around spheres, m.
    pub(super) margin: f64,
}

/// Blocks at spheres, by level and place.
pub(super) struct NearSpheres<const D: usize> {
    levels: Vec<HashSet<[i32; D]>>,
    origin: [f64; D],
    width: f64,
}

impl<const D: usize> NearSpheres<D> {
    /// Whether a block with this lower corner is to have children, which are on so many levels, the root included.
    pub(super) fn holds(&self, low: [f64; D], levels: usize) -> bool {
        let Some(found) = levels.checked_sub(2).and_then(|l| self.levels.get(l)) else {
            return false;
        };
        let width = self.width / f64::from(1u32 << (levels - 2));
        let at = std::array::from_fn(|a| ((low[a] - self.origin[a]) / width).round() as i32);
        found.contains(&at)
    }
}

/// Calls with the blocks of a level that a sphere with its margin reaches into, through the ends of periods too.
fn each_block<const D: usize>(
    of: &Blocks<D>,
    (level, width): (usize, f64),
    grain: &Grain,
    mut call: impl FnMut([i32; D]),
) {
    let reach = grain.radius + of.margin;
    let place = |x: f64, a: usize| ((x - of.origin[a]) / width).floor() as i64;
    let count = |a: usize| i64::from(of.root[a]) << level;
    let range: [[i64; 2]; D] = std::array::from_fn(|a| {
        let [from, to] = [-reach, reach].map(|by| place(grain.center[a] + by, a));
        match of.periodic[a] {
            true => [from, to.min(from + count(a) - 1)],
            false => [from.max(0), to.min(count(a) - 1)],
        }
    });
    let wide: [i64; D] = std::array::from_fn(|a| (range[a][1] - range[a][0] + 1).max(0));
    for k in 0..wide.iter().product() {
        let mut rest = k;
        let at: [i64; D] = std::array::from_fn(|a| {
            let i = range[a][0] + rest % wide[a];
            rest /= wide[a];
            i
        });
        let away: f64 = (0..D)
            .map(|a| {
                let low = of.origin[a] + at[a] as f64 * width - of.margin;
                let high = low + width + 2.0 * of.margin;
                let x = grain.center[a];
                (low - x).max(x - high).max(0.0).powi(2)
            })
            .sum();
        if away < grain.radius * grain.radius {
            call(std::array::from_fn(|a| at[a].rem_euclid(count(a)) as i32));
        }
    }
}

/// An error of a flow with spheres, with the tables and keys of the case.
pub(super) fn told(error: TwoPhaseError, ends: &[usize]) -> Error {
    match error {
        TwoPhaseError::Grains(error) => explained(error, ends, BedOf::Flow),
        TwoPhaseError::GrainOutside { id, .. } => {
            let text = format!("{error} ({})", table_of(ends, id));
            Error::input(text.replace(": close the faces of its box", "")).hint(
                "spheres are held by faces of the box, [[body]] and [[wall]]: a softer youngs_modulus lets fast ones through",
            )
        }
        TwoPhaseError::CoarseGrain { .. } => Error::from(error).hint(
            "[adapt] has the finest cells around spheres; without it larger [[refine]] boxes",
        ),
        other => Error::from(other),
    }
}
