//! `[[particles]]` in a lattice Boltzmann flow: from tables to a bed in the flow's box, and what a run has of it.

use super::start::Inputs;
use crate::solve::{
    case::{Case, FaceKind},
    conditions::FACES,
    grains::{
        case::SurfaceSide,
        in_flow::{BedInFlow, BedTables},
        running::{BedNow, RunningSpheres},
        walls::{WallSurface, named_walls, surfaces_of},
    },
    particles::{BedOf, explained, material, vector},
    resolve::Resolved,
};
use cutlink_common::Error;
use cutlink_flow::{Lines, particles::ParticleState};
use cutlink_grains::{Bed, BoxAxis, GrainBox};
use cutlink_mesher::Surface;
use cutlink_solver::{GrainScale, LatticeFlow, LatticeGrains, SolverError};
use cutlink_voxelizer::Fill;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    f64::consts::PI,
    io::{Read, Write},
};

/// The spheres of a case, resolved.
pub(super) struct CaseSpheres {
    pub(super) bed: BedInFlow,
    gravity: [f64; 3],
    held: bool,
    scale: GrainScale,
}

/// The spheres of a running flow.
pub(super) struct LatticeSpheres {
    of: RunningSpheres,
    gravity: [f64; 3],
    /// Forces on walls.
    loads: Lines,
    /// Root steps between two lines; 0 for none.
    every: u64,
}

/// A key that only cases with spheres have.
fn key_of_spheres(case: &Case) -> Option<String> {
    let faces = case.boundary.faces().into_iter().flatten().enumerate();
    let of_face = faces
        .filter(|(_, face)| face.as_ref().is_some_and(|f| f.material.is_some()))
        .map(|(side, _)| format!("[boundary] {}: material", FACES[side / 2][side % 2]));
    let numerics = &case.numerics;
    let given = [
        ("[materials]", !case.materials.is_empty()),
        ("[[contact]]", !case.contacts.is_empty()),
        ("[[wall]]", !case.walls.is_empty()),
        ("[coupling]", case.coupling.is_some()),
        ("[numerics] contact_step", numerics.contact_step.is_some()),
        ("[numerics] max_overlap", numerics.max_overlap.is_some()),
    ];
    let given = given.into_iter().filter(|(_, is)| *is);
    given.map(|(key, _)| key.to_owned()).chain(of_face).next()
}

/// The spheres of a case for a mesh; none without `[[particles]]`.
///
/// # Errors
/// What a flow with spheres has not, keys that are missing or make no sense, spheres where they cannot be.
pub(super) fn of_case<const D: usize>(
    case: &Case,
    inputs: &Inputs<'_, D>,
    resolved: &Resolved<D>,
) -> Result<Option<CaseSpheres>, Error> {
    if case.particles.is_empty() {
        return match key_of_spheres(case) {
            None => Ok(None),
            Some(key) => Err(Error::input(format!(
                "{key} is given, and there are no [[particles]]"
            ))
            .hint("it is for spheres in the flow: add [[particles]], or remove it")),
        };
    }
    if D != 3 {
        return Err(
            Error::input("[[particles]] are given, and the flow is in 2D")
                .hint("spheres need a box in 3D"),
        );
    }
    if !case.motion.is_empty() {
        return Err(
            Error::input("[[particles]] are given, and [motion]").hint(
                "spheres do not meet bodies that move: remove one of both, or make the body one of the spheres",
            ),
        );
    }
    let tables = BedTables {
        materials: &case.materials,
        contacts: &case.contacts,
        particles: &case.particles,
        contact_step: case.numerics.contact_step,
        max_overlap: case.numerics.max_overlap,
    };
    let materials = tables.names()?;
    let domain = box_of(case, inputs, &materials.0)?;
    let gravity = case.gravity.as_ref();
    let gravity = gravity.map(|table| vector("[gravity] acceleration", &table.acceleration));
    let gravity = gravity.transpose()?.unwrap_or_default();
    let mut surfaces = surfaces_of(&named_walls(&case.walls), &domain)?;
    surfaces.extend(body_of(case, inputs)?);
    let stream = resolved.fastest.max(resolved.physics.velocity);
    let bed = tables.bed(materials, domain, surfaces, (gravity.map(f64::abs), stream))?;
    Ok(Some(CaseSpheres {
        bed,
        gravity,
        held: case.coupling.as_ref().is_some_and(|of| of.fixed),
        scale: GrainScale {
            origin: domain.lower,
            length: resolved.units.length,
            time: resolved.units.time,
            density: resolved.units.density,
        },
    }))
}

/// The box as spheres have it: all faces hold them but periodic ones.
fn box_of<const D: usize>(
    case: &Case,
    inputs: &Inputs<'_, D>,
    names: &[String],
) -> Result<GrainBox, Error> {
    let frame = &inputs.mesh.frame;
    let three = |of: [f64; D]| std::array::from_fn(|a| of.get(a).copied().unwrap_or(0.0));
    let mut axes = [BoxAxis::Periodic; 3];
    for (axis, pair) in case.boundary.faces().into_iter().enumerate() {
        let is_periodic = |face: &Option<_>| {
            let kind = face
                .as_ref()
                .map(|of: &crate::solve::case::FaceTable| of.kind);
            kind == Some(FaceKind::Periodic)
        };
        let mut walls = [None; 2];
        let mut is_wall = true;
        for (upper, given) in pair.into_iter().enumerate() {
            let what = format!("[boundary] {}", FACES[axis][upper]);
            let name = given.as_ref().and_then(|face| face.material.as_ref());
            if is_periodic(given) {
                is_wall = false;
                if name.is_some() {
                    return Err(Error::input(format!(
                        "{what}: material is no key of this type of face"
                    )));
                }
                continue;
            }
            walls[upper] = Some(material(name, names).map_err(|error| error.within(&what))?);
        }
        if is_wall {
            axes[axis] = BoxAxis::Walls(walls);
        }
    }
    Ok(GrainBox {
        lower: three(frame.origin),
        upper: three(frame.upper()),
        axes,
    })
}

/// The body of the flow as a wall of spheres.
fn body_of<const D: usize>(
    case: &Case,
    inputs: &Inputs<'_, D>,
) -> Result<Option<WallSurface>, Error> {
    let mesh = inputs.mesh;
    if mesh.links.is_empty() {
        return Ok(None);
    }
    let Some(placed) = inputs.surfaces.placed else {
        return Err(Error::input(
            "[[particles]] are given, and the body is in a mesh file, which has no surface to meet",
        )
        .hint("give [mesh] input with the surface in place of the file"));
    };
    let side = match mesh.fill {
        Fill::NonZero | Fill::EvenOdd => Some(SurfaceSide::Outside),
        Fill::Zero | Fill::Even => Some(SurfaceSide::Inside),
        Fill::Sheets | Fill::Sheltered => None,
    };
    let mut surface = Surface::<3>::single_patch(Vec::new(), Vec::new(), "body");
    surface.vertices = placed.vertices.iter().map(|v| three_of(*v, 0.0)).collect();
    surface.facets = placed.facets.iter().map(|f| three_of(*f, 0)).collect();
    Ok(Some(WallSurface {
        what: "[mesh]".into(),
        name: "body".into(),
        material: case.coupling.as_ref().and_then(|of| of.material.clone()),
        // What may be open has no sides.
        side: side.filter(|_| !case.mesh.as_ref().is_some_and(|of| of.robust)),
        surface,
    }))
}

/// A vector or a facet with three components, the missing ones `rest`.
fn three_of<const D: usize, T: Copy>(of: [T; D], rest: T) -> [T; 3] {
    std::array::from_fn(|a| of.get(a).copied().unwrap_or(rest))
}

impl CaseSpheres {
    /// The smallest diameter, m.
    pub(super) fn diameter(&self) -> f64 {
        let grains = self.bed.bed.grains();
        2.0 * grains
            .iter()
            .map(|of| of.radius)
            .fold(f64::INFINITY, f64::min)
    }

    /// The share of the volume around spheres that is in others: the mean over spheres of that in boxes two diameters wide.
    pub(super) fn share(&self) -> f64 {
        let (grains, domain) = (self.bed.bed.grains(), &self.bed.bed.params().domain);
        let largest = 2.0 * grains.iter().map(|of| of.radius).fold(0.0, f64::max);
        let count: [f64; 3] =
            std::array::from_fn(|a| (domain.length(a) / (2.0 * largest)).floor().max(1.0));
        let mut boxes: BTreeMap<[i64; 3], f64> = BTreeMap::new();
        let (mut all, mut squares) = (0.0, 0.0);
        for grain in &grains {
            let at = std::array::from_fn(|a| {
                let place = (grain.center[a] - domain.lower[a]) / domain.length(a);
                (place * count[a]).floor().clamp(0.0, count[a] - 1.0) as i64
            });
            let volume = 4.0 / 3.0 * PI * grain.radius.powi(3);
            *boxes.entry(at).or_default() += volume;
            all += volume;
            squares += volume * volume;
        }
        let of_box: f64 = (0..3).map(|a| domain.length(a) / count[a]).product();
        let pairs = boxes.values().map(|own| own * own).sum::<f64>() - squares;
        pairs.max(0.0) / (all * of_box)
    }

    /// The forecast in finest cells of a width, with steps of them: keys, and lines of text.
    pub(super) fn forecast(&self, h: f64, dt: f64) -> (Value, String) {
        self.bed.forecast(h, (!self.held).then_some(dt))
    }

    /// For the flow, and what the run has of them.
    pub(super) fn split(self, every: u64) -> (LatticeGrains, LatticeSpheres) {
        let (of, bed) = RunningSpheres::new(self.bed, self.scale.time);
        let columns = of.columns();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let running = LatticeSpheres {
            loads: Lines::new("loads.csv", &columns, self.scale.time),
            of,
            gravity: self.gravity,
            every,
        };
        let grains = LatticeGrains {
            bed,
            scale: self.scale,
            gravity: self.gravity,
            held: self.held,
        };
        (grains, running)
    }
}

/// The bed of a flow that has one.
fn bed_of<const D: usize>(flow: &dyn LatticeFlow<D>) -> &Bed {
    flow.bed().expect("a flow with spheres has a bed")
}

impl LatticeSpheres {
    fn now<'a, const D: usize>(&self, flow: &'a dyn LatticeFlow<D>) -> BedNow<'a> {
        let mut fluid_force = [0.0; 3];
        for load in flow.grain_loads() {
            (0..3).for_each(|a| fluid_force[a] += load[0][a]);
        }
        BedNow {
            bed: bed_of(flow),
            gravity: self.gravity,
            fluid_force,
        }
    }

    /// Whether they have a weight.
    pub(super) fn fall(&self) -> bool {
        self.gravity != [0.0; 3]
    }

    /// An error of the flow, with the tables and keys of the case.
    pub(super) fn told(&self, error: SolverError) -> Error {
        match error {
            SolverError::Bed(error) => explained(error, &self.of.ends, BedOf::Flow),
            error => error.into(),
        }
    }

    /// Adds lines to the tables.
    pub(super) fn add<const D: usize>(&mut self, step: u64, flow: &dyn LatticeFlow<D>) {
        let now = self.now(flow);
        let forces = self.of.forces(now.bed);
        self.of.add(step, &now);
        self.loads.add(step, forces);
    }

    /// `particles.csv` and `loads.csv`, where they are wanted.
    pub(super) fn tables(&mut self) -> Vec<&mut dyn cutlink_flow::Table> {
        match self.every {
            0 => Vec::new(),
            _ => vec![&mut self.of.particles, &mut self.loads],
        }
    }

    pub(super) fn fill<const D: usize>(&self, flow: &dyn LatticeFlow<D>, to: &mut ParticleState) {
        self.of.fill(bed_of(flow), to);
    }

    /// Of the summary: keys, and lines of text.
    pub(super) fn report<const D: usize>(&mut self, flow: &dyn LatticeFlow<D>) -> (Value, String) {
        let now = self.now(flow);
        self.of.report(&now)
    }

    /// Rows of the verdict.
    pub(super) fn checks<const D: usize>(
        &self,
        flow: &dyn LatticeFlow<D>,
    ) -> Vec<cutlink_flow::Check> {
        self.of.checks(bed_of(flow))
    }

    /// What a run has of them beside the flow, whose state has the bed.
    pub(super) fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        self.of.save(&[], out)
    }

    /// Takes what was saved.
    pub(super) fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        self.of.restore(from).map(|_| ())
    }
}
