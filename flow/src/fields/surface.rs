//! Pressure, shear and y⁺ on the facets of the body, as `.vtp` or `.ply`.
//!
//! Facets are those of the meshed surface whose centroids lie in the box, bisected at their longest edges until no edge
//! is longer than the adjacent cells. Values are per facet: see [`wall_state`] for their computation from cells. Facets
//! without adjacent fluid (inside other bodies) have NaN.
//!
//! | array | value |
//! |---|---|
//! | `pressure` | at the wall, zero at the reference density |
//! | `shear` | three components: the tangential force of the fluid on the wall, per area |
//! | `y_plus` | distance of the first cell's centre from the wall in units of ν / √(τ / ρ) |
//! | `normal` | three components, into the fluid; the force on the facet is its area times (shear − pressure · normal) |
//! | `patch` | number of the patch, in the order of the mesh |

use super::kinds::{Average, SurfaceFormat};
use super::render::SurfaceColour;
use super::values::Scene;
use cutlink_amr::CellRef;
use cutlink_common::{Error, output};
use cutlink_device::of_dimension;
use cutlink_mesher::snap::Snapped;
use cutlink_mesher::surface::{area_vector, unit_normal};
use cutlink_report::{PageColours, PageField, PageSurface};
use cutlink_solver::fields::{WallPlace, WallState, wall_state};
use cutlink_solver::{BodyState, Motion, Params, PatchCondition, Snapshot};
use cutlink_voxelizer::Mesh;
use cutlink_voxelizer::vtk::{About, Field, Vtp};
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;

/// The facets of a body, with their positions relative to the fluid.
#[derive(Debug)]
pub struct Body<const D: usize> {
    /// In the length unit of the mesh.
    points: Vec<[f64; D]>,
    facets: Vec<[u32; D]>,
    patch: Vec<u16>,
    /// Positions of the facets and normals into the fluid, in root cells; `None` without adjacent fluid.
    places: Vec<Option<WallPlace<D>>>,
    viscosity: f64,
    /// By patch.
    motions: Vec<WallMotion<D>>,
    /// Patches whose walls are modelled.
    modeled: Vec<usize>,
}

/// How a wall moves.
#[derive(Debug, Clone, Copy)]
enum WallMotion<const D: usize> {
    /// In its place.
    Stays(Motion<D>),
    /// With a body.
    Goes(BodyState<D>),
}

impl<const D: usize> WallMotion<D> {
    /// The velocity at a point, in root cells.
    fn velocity_at(&self, at: [f64; D]) -> [f64; D] {
        match self {
            Self::Stays(motion) => motion.velocity_at(at),
            Self::Goes(state) => state.velocity_at(at),
        }
    }
}

/// y⁺ of the centres of the first cells, over the area of a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct YPlus {
    /// Integral over the area.
    pub sum: f64,
    /// Largest value.
    pub most: f64,
    /// Area where it is from 30 to 300, in the logarithmic layer.
    pub logarithmic: f64,
}

impl YPlus {
    fn add(&mut self, value: f64, area: f64) {
        self.sum += area * value;
        self.most = self.most.max(value);
        if (30.0..=300.0).contains(&value) {
            self.logarithmic += area;
        }
    }
}

/// Total force of the fluid on the facets of a patch, in units of the root lattice.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WallForce {
    /// Pressure force, zero at density 1.
    pub pressure: [f64; 3],
    /// Friction force.
    pub friction: [f64; 3],
    /// Area of the facets with adjacent fluid.
    pub area: f64,
    /// y⁺ of the first cells.
    pub y_plus: YPlus,
}

/// Facets of a surface that a thread refines at once.
const SOME: usize = 256;

/// Some facets, refined to the cells of a mesh.
struct Refined<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    /// Longest edge, in cells.
    width: f64,
    /// Points of the surface, before those that are added.
    given: &'a [[f64; D]],
    more: Vec<[f64; D]>,
    facets: Vec<[u32; D]>,
    patch: Vec<u16>,
}

impl<'a, const D: usize> Refined<'a, D> {
    fn of(mesh: &'a Mesh<D>, width: f64, given: &'a [[f64; D]]) -> Self {
        Self {
            mesh,
            width,
            given,
            more: Vec::new(),
            facets: Vec::new(),
            patch: Vec::new(),
        }
    }

    fn point(&self, v: u32) -> [f64; D] {
        match (v as usize).checked_sub(self.given.len()) {
            None => self.given[v as usize],
            Some(added) => self.more[added],
        }
    }

    /// Adds a facet, or its halves.
    fn add(&mut self, facet: [u32; D], patch: u16) {
        let (mesh, points) = (self.mesh, facet.map(|v| self.point(v)));
        let length = |[i, j]: [usize; 2]| {
            let (p, q) = (points[i], points[j]);
            (0..D).map(|a| (p[a] - q[a]).powi(2)).sum::<f64>().sqrt()
        };
        let edges = if D == 2 { 1 } else { 3 };
        let edge = |k: usize| [k, (k + 1) % D];
        let longest = (0..edges).max_by(|&a, &b| length(edge(a)).total_cmp(&length(edge(b))));
        let longest = longest.unwrap_or(0);
        let bounds = |a: usize| {
            let along = points.iter().map(|p| p[a]);
            let (low, high) = along.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
            low <= mesh.frame.upper()[a] && high >= mesh.frame.origin[a]
        };
        if !(0..D).all(bounds) {
            return;
        }
        let leaf = mesh.forest.leaf_at(middle(mesh, points));
        if length(edge(longest)) <= self.width * dx_of(mesh, leaf) * (1.0 + 1e-9) {
            if leaf.is_some() {
                self.facets.push(facet);
                self.patch.push(patch);
            }
            return;
        }
        let [p, q] = edge(longest).map(|k| points[k]);
        let half = (self.given.len() + self.more.len()) as u32;
        self.more.push(std::array::from_fn(|a| 0.5 * (p[a] + q[a])));
        let mut halves = [facet; 2];
        halves[0][(longest + 1) % D] = half;
        halves[1][longest] = half;
        for part in halves {
            self.add(part, patch);
        }
    }
}

/// The spacing of a cell; the finest one where there is none.
fn dx_of<const D: usize>(mesh: &Mesh<D>, leaf: Option<CellRef>) -> f64 {
    let level = leaf.map_or(mesh.forest.finest(), |leaf| {
        usize::from(mesh.forest.level[leaf.block as usize])
    });
    mesh.frame.dx_at(level)
}

/// The longest edge, in cells, of facets of which there are about so many at most: halves of halves have a fifth of its square.
fn width_of<const D: usize>(
    mesh: &Mesh<D>,
    points: &[[f64; D]],
    facets: &[[u32; D]],
    most: usize,
) -> f64 {
    if D == 2 {
        return 1.0;
    }
    let count = |facet: &[u32; D]| {
        let corners = facet.map(|v| points[v as usize]);
        let dx = dx_of(mesh, mesh.forest.leaf_at(middle(mesh, corners)));
        length(&area_vector(corners)) / (0.2 * dx * dx)
    };
    let all: f64 = facets.par_iter().map(count).sum();
    (all / most as f64).sqrt().max(1.0)
}

/// The centroid of a facet, in root cells from the lower corner of the box.
fn middle<const D: usize>(mesh: &Mesh<D>, facet: [[f64; D]; D]) -> [f64; D] {
    std::array::from_fn(|a| {
        let sum: f64 = facet.iter().map(|p| p[a]).sum();
        (sum / D as f64 - mesh.frame.origin[a]) / mesh.frame.dx
    })
}

/// What callers use of a dimension, compiled here; see [`of_dimension`].
struct Compiled<const D: usize> {
    new: fn(&Mesh<D>, &Snapped<D>, &Params<D>, usize) -> Body<D>,
    forces: fn(&Body<D>, &Mesh<D>, &Snapshot<D>) -> Vec<WallForce>,
}

static COMPILED_2D: Compiled<2> = Compiled {
    new: Body::made,
    forces: Body::sums,
};
static COMPILED_3D: Compiled<3> = Compiled {
    new: Body::made,
    forces: Body::sums,
};

fn compiled<const D: usize>() -> &'static Compiled<D> {
    of_dimension::<D, Compiled<D>>(&COMPILED_2D, &COMPILED_3D)
}

impl<const D: usize> Body<D> {
    /// The facets of the surface of a mesh, refined to its cells, for a flow with these parameters. In 3D there are about five for each
    /// square of a cell; where these would be more than `most`, facets are refined to as many cells as `most` allows. Cost: some 5 µs
    /// of a core a facet for each look at it.
    pub fn new(mesh: &Mesh<D>, surface: &Snapped<D>, params: &Params<D>, most: usize) -> Self {
        (compiled::<D>().new)(mesh, surface, params, most)
    }

    /// The same with patches that move with a body, in units of the root lattice.
    #[must_use]
    pub fn moving(mut self, patches: &[usize], state: BodyState<D>) -> Self {
        for &patch in patches {
            self.motions[patch] = WallMotion::Goes(state);
        }
        self
    }

    /// Forces by patch: sums over the facets of pressure and shear at the centroids times the area.
    pub fn forces(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> Vec<WallForce> {
        (compiled::<D>().forces)(self, mesh, snapshot)
    }

    fn made(mesh: &Mesh<D>, surface: &Snapped<D>, params: &Params<D>, most: usize) -> Self {
        let lattice = surface.lattice;
        let mut body = Self {
            points: surface
                .vertices
                .iter()
                .map(|v| {
                    std::array::from_fn(|a| lattice.origin[a] + lattice.unit * f64::from(v[a]))
                })
                .collect(),
            facets: Vec::new(),
            patch: Vec::new(),
            places: Vec::new(),
            viscosity: params.viscosity,
            motions: params
                .patches
                .iter()
                .map(|patch| match patch {
                    PatchCondition::Wall { motion, .. } => *motion,
                    PatchCondition::Pressure(_) => Motion::Uniform([0.0; D]),
                })
                .map(WallMotion::Stays)
                .collect(),
            modeled: params.modeled.clone(),
        };
        let given = body.points.len() as u32;
        let of_body = &surface.facets[..surface.facets.len() - surface.caps];
        let width = width_of(mesh, &body.points, of_body, most);
        let of_some = |(n, some): (usize, &[[u32; D]])| {
            let mut refined = Refined::of(mesh, width, &body.points);
            for (f, &facet) in (n * SOME..).zip(some) {
                let patch = surface.facet_patch.get(f).copied().unwrap_or(0);
                refined.add(facet, patch);
            }
            (refined.more, refined.facets, refined.patch)
        };
        let all = of_body.par_chunks(SOME).enumerate();
        let all: Vec<_> = all.map(of_some).collect();
        for (more, facets, patch) in all {
            let moved = body.points.len() as u32 - given;
            let of_all = |v: u32| if v < given { v } else { v + moved };
            body.facets
                .extend(facets.into_iter().map(|f| f.map(of_all)));
            body.patch.extend(patch);
            body.points.extend(more);
        }
        // The fluid is on the same side of all facets: the outer one unless the surface is inside out or the flow is
        // internal.
        let votes = |facet: &[u32; D]| {
            let seen = |side| i64::from(body.place(mesh, facet, side).is_some());
            seen(1.0) - seen(-1.0)
        };
        let votes: i64 = body.facets.par_iter().map(votes).sum();
        let side = if votes < 0 { -1.0 } else { 1.0 };
        let place = |facet: &[u32; D]| body.place(mesh, facet, side);
        body.places = body.facets.par_iter().map(place).collect();
        body
    }

    /// The centroid of a facet, in root cells from the lower corner of the box.
    fn middle(&self, mesh: &Mesh<D>, facet: &[u32; D]) -> [f64; D] {
        middle(mesh, facet.map(|v| self.points[v as usize]))
    }

    /// The position of a facet and its normal into the fluid, which is outward (`side` = 1) or inward (-1).
    fn place(&self, mesh: &Mesh<D>, facet: &[u32; D], side: f64) -> Option<WallPlace<D>> {
        let at = self.middle(mesh, facet);
        let leaf = mesh.forest.leaf_at(at)?;
        let outward = unit_normal(facet.map(|v| self.points[v as usize]))?;
        let normal = outward.map(|x| side * x);
        let spacing = 0.5f64.powi(i32::from(mesh.forest.level[leaf.block as usize]));
        // The point one cell ahead, or half a cell in narrow gaps, must lie in a fluid cell.
        let is_fluid = |by: f64| {
            let ahead = std::array::from_fn(|a| at[a] + by * spacing * normal[a]);
            let cell = mesh.forest.leaf_at(ahead);
            cell.is_some_and(|CellRef { block, cell }| {
                mesh.classes.solid[block as usize] >> cell & 1 == 0
            })
        };
        (is_fluid(1.0) || is_fluid(0.5)).then_some(WallPlace { at, normal })
    }

    fn sums(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> Vec<WallForce> {
        let mut forces = vec![WallForce::default(); self.motions.len()];
        let unit = mesh.frame.dx.powi(1 - D as i32);
        for (f, state) in self.states(mesh, snapshot).iter().enumerate() {
            let (Some(state), Some(place)) = (state, &self.places[f]) else {
                continue;
            };
            let corners = self.facets[f].map(|v| self.points[v as usize]);
            let area = unit * length(&area_vector(corners));
            let force = &mut forces[usize::from(self.patch[f])];
            force.area += area;
            force.y_plus.add(self.y_plus(state), area);
            for a in 0..D {
                force.pressure[a] -= area * (state.density - 1.0) / 3.0 * place.normal[a];
                force.friction[a] += area * state.shear[a];
            }
        }
        forces
    }

    /// Distance of the first cell's centre from the wall in viscous lengths.
    fn y_plus(&self, state: &WallState<D>) -> f64 {
        let shear = state.shear.iter().map(|x| x * x).sum::<f64>().sqrt();
        state.distance * (shear / state.density).sqrt() / self.viscosity
    }

    fn states(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> Vec<Option<WallState<D>>> {
        let state = |(place, patch): (&Option<WallPlace<D>>, &u16)| {
            let place = place.as_ref()?;
            let motion = self.motions.get(usize::from(*patch));
            let velocity = |at| motion.map_or([0.0; D], |motion| motion.velocity_at(at));
            let is_modeled = self.modeled.contains(&usize::from(*patch));
            wall_state(mesh, snapshot, self.viscosity, place, velocity, is_modeled)
        };
        let places = self.places.par_iter().zip(&self.patch);
        places.with_min_len(64).map(state).collect()
    }

    /// Points in the length unit of the mesh, and the facets between them.
    pub(super) fn facets(&self) -> (&[[f64; D]], &[[u32; D]]) {
        (&self.points, &self.facets)
    }

    /// The level of the cell at the centroid of each facet.
    pub(super) fn levels(&self, mesh: &Mesh<D>) -> Vec<f32> {
        let level = |facet: &[u32; D]| {
            let leaf = mesh.forest.leaf_at(self.middle(mesh, facet));
            leaf.map_or(f32::NAN, |at| {
                f32::from(mesh.forest.level[at.block as usize])
            })
        };
        self.facets.par_iter().map(level).collect()
    }

    /// The values of each facet that colour it, in output units.
    pub(super) fn values(&self, scene: Scene<'_, D>, colour: SurfaceColour) -> Vec<f32> {
        let wanted = match colour {
            SurfaceColour::Pressure => "pressure",
            SurfaceColour::Shear => "shear",
            SurfaceColour::YPlus => "y_plus",
            SurfaceColour::Plain | SurfaceColour::Level => return Vec::new(),
        };
        let columns = self.columns(scene).into_iter();
        let found = columns.filter(|column| column.0 == wanted);
        let size = |(_, components, values): (_, usize, Vec<f32>)| match components {
            1 => values,
            n => values
                .chunks_exact(n)
                .map(|v| v.iter().map(|x| x * x).sum::<f32>().sqrt())
                .collect(),
        };
        found.flat_map(size).collect()
    }

    /// The values of each facet, in output units.
    fn columns(&self, scene: Scene<'_, D>) -> Vec<(&'static str, usize, Vec<f32>)> {
        let states = self.states(scene.mesh, scene.snapshot);
        let stress = scene.units.pressure.factor;
        let scalar = |of: &(dyn Fn(&WallState<D>) -> f64 + Sync)| -> Vec<f32> {
            let value = |state: &Option<WallState<D>>| state.as_ref().map_or(f64::NAN, of) as f32;
            states.par_iter().map(value).collect()
        };
        let vector = |of: &(dyn Fn(usize, usize) -> f64 + Sync)| -> Vec<f32> {
            let value = |i: usize| {
                let a = i % 3;
                if a < D { of(i / 3, a) as f32 } else { 0.0 }
            };
            (0..3 * states.len()).into_par_iter().map(value).collect()
        };
        let y_plus = |state: &WallState<D>| self.y_plus(state);
        let of_state = |f: usize, a: usize| states[f].as_ref().map_or(f64::NAN, |s| s.shear[a]);
        let of_place = |f: usize, a: usize| self.places[f].map_or(f64::NAN, |p| p.normal[a]);
        vec![
            (
                "pressure",
                1,
                scalar(&|state| scene.pressure(state.density)),
            ),
            ("shear", 3, vector(&|f, a| stress * of_state(f, a))),
            ("y_plus", 1, scalar(&y_plus)),
            ("normal", 3, vector(&of_place)),
            (
                "patch",
                1,
                self.patch.iter().map(|&p| f32::from(p)).collect(),
            ),
        ]
    }

    /// The surface as a page shows it, in 3D; `patches` are the names of its patches.
    pub(super) fn paged(&self, scene: Scene<'_, D>, patches: &[String]) -> Option<PageSurface> {
        if D != 3 {
            return None;
        }
        let field = |name: &str, unit: &str, values, colours| PageField {
            name: name.into(),
            unit: unit.into(),
            values,
            colours,
            range: None,
        };
        let stress = scene.units.pressure.name.as_str();
        let shown = |(name, components, values): (&'static str, usize, Vec<f32>)| {
            let size = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            Some(match name {
                "pressure" => field("pressure", stress, values, PageColours::Diverging),
                "shear" => {
                    let sizes = values.chunks_exact(components).map(size).collect();
                    field("friction", stress, sizes, PageColours::Sequential)
                }
                "y_plus" => field("y⁺", "1", values, PageColours::Sequential),
                _ => return None,
            })
        };
        let mut fields: Vec<PageField> =
            self.columns(scene).into_iter().filter_map(shown).collect();
        let levels = self.levels(scene.mesh);
        fields.push(field("level", "1", levels, PageColours::Steps));
        Some(PageSurface {
            points: self
                .points
                .iter()
                .map(|p| std::array::from_fn(|a| p[a]))
                .collect(),
            triangles: self
                .facets
                .iter()
                .map(|f| std::array::from_fn(|k| f[k]))
                .collect(),
            patch: self.patch.clone(),
            patches: patches.to_vec(),
            fields,
        })
    }

    /// Writes the file of a root step.
    pub(super) fn write(
        &self,
        path: &Path,
        replace: bool,
        scene: Scene<'_, D>,
        format: SurfaceFormat,
    ) -> Result<(), Error> {
        let mut columns = self.columns(scene);
        let points: Vec<[f64; 3]> = self
            .points
            .iter()
            .map(|p| std::array::from_fn(|a| p.get(a).copied().unwrap_or(0.0)))
            .collect();
        if format == SurfaceFormat::Ply {
            output::write(path, replace, |out| {
                write_ply(out, &points, &self.facets, &columns)
                    .map_err(|e| output::failed(path, &e))
            })?;
            return Ok(());
        }
        let suffix = match scene.average {
            Some(Average::Mean) => "_mean",
            _ => "",
        };
        let names: Vec<String> = columns
            .iter()
            .map(|(name, ..)| match *name {
                "normal" | "patch" => (*name).to_owned(),
                name => format!("{name}{suffix}"),
            })
            .collect();
        let fields: Vec<Field<'_>> = names
            .iter()
            .zip(&mut columns)
            .map(|(name, (_, components, values))| Field {
                name,
                components: *components,
                values,
            })
            .collect();
        let units = ["pressure", "shear", "y_plus"].map(|name| format!("{name}{suffix}_unit"));
        let stress = scene.units.pressure.name.as_str();
        let notes = [
            (units[0].as_str(), stress),
            (units[1].as_str(), stress),
            (units[2].as_str(), "1"),
            ("normal_unit", "1"),
            ("patch_unit", "1"),
            ("time_unit", scene.units.time.name.as_str()),
        ];
        let about = About {
            time: Some(scene.time()),
            notes: &notes,
        };
        output::write(path, replace, |out| {
            let file = Vtp::new(&points, &self.facets, &fields, &about);
            let written = file.and_then(|file| file.write(out));
            written.map_err(|e| output::failed(path, &e))
        })?;
        Ok(())
    }
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Binary, little-endian; values are properties of the faces, in 2D of the edges.
pub(super) fn write_ply<const D: usize>(
    out: &mut impl Write,
    points: &[[f64; 3]],
    facets: &[[u32; D]],
    columns: &[(&str, usize, Vec<f32>)],
) -> std::io::Result<()> {
    let element = if D == 2 { "edge" } else { "face" };
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\nelement {element} {}\n",
        points.len(),
        facets.len()
    )?;
    if D == 2 {
        out.write_all(b"property int vertex1\nproperty int vertex2\n")?;
    } else {
        out.write_all(b"property list uchar int vertex_indices\n")?;
    }
    for (name, components, _) in columns {
        for axis in &["x", "y", "z"][..*components] {
            match components {
                1 => writeln!(out, "property float {name}")?,
                _ => writeln!(out, "property float {name}_{axis}")?,
            }
        }
    }
    out.write_all(b"end_header\n")?;
    for point in points {
        out.write_all(bytemuck::bytes_of(point))?;
    }
    for (f, facet) in facets.iter().enumerate() {
        if D == 3 {
            out.write_all(&[3])?;
        }
        for v in facet {
            out.write_all(&v.to_le_bytes())?;
        }
        for (_, components, values) in columns {
            let own = &values[f * components..][..*components];
            out.write_all(bytemuck::cast_slice(own))?;
        }
    }
    Ok(())
}
