//! The flow of another run as initial state: from its checkpoint, on its own mesh, in its own units.
//!
//! A checkpoint holds populations and their case. The mesh is rebuilt from that case, and its checksum is compared with
//! that of the checkpoint, so the surface file must be in place. Velocities and pressures are in SI units at points in
//! metres, so mesh, lattice, box and lattice velocity of the new run may differ.

use crate::solve::{
    case::Case,
    flux::parse,
    resolve::{CaseGrid, Resolved},
    sheet::Sheet,
    units::Units,
};
use cutlink_amr::{CellRef, NeighborCell, dims};
use cutlink_common::{
    Error,
    device::{Opened, on},
};
use cutlink_device::Host;
use cutlink_flow::{checkpoint, tables::RunTable};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{
    mesh::{
        build::{AnyPlaced, Builder, Placed},
        resolve as job,
    },
    options::MeshOptions,
};
use cutlink_solver::{
    FluidState, LatticeFlow, Plan, Snapshot, StrainRates,
    fields::{strain_at, velocity_at},
    kernels::FlowKernels,
};
use cutlink_voxelizer::{Frame, Mesh};
use std::{
    any::Any,
    ops::Deref,
    path::{Path, PathBuf},
};

/// The flow of another run at one root step.
pub(super) struct Earlier<'a, const D: usize> {
    /// None for an earlier part of the same run.
    path: Option<PathBuf>,
    mesh: Held<'a, D>,
    snapshot: Snapshot<D>,
    strain: StrainRates<D>,
    units: Units,
}

/// A mesh of its own, or another's.
enum Held<'a, const D: usize> {
    Own(Box<Mesh<D>>),
    Of(&'a Mesh<D>),
}

impl<const D: usize> Deref for Held<'_, D> {
    type Target = Mesh<D>;

    fn deref(&self) -> &Mesh<D> {
        match self {
            Self::Own(mesh) => mesh,
            Self::Of(mesh) => mesh,
        }
    }
}

/// Reads a checkpoint, or the last valid one of a folder.
///
/// # Errors
/// No checkpoint; one that is damaged, of a mesh with another dimension, or whose mesh cannot be rebuilt.
pub(super) fn load<const D: usize>(
    path: &Path,
    opened: &Opened,
) -> Result<Earlier<'static, D>, Error>
where
    Facet<D>: Meet<D> + Exact<D>,
{
    let (path, header) = find(path)?;
    let name = path.display().to_string();
    let case: Case = parse(&name, &header.case).map_err(of_this_kind)?;
    if case.heat.is_some() {
        return Err(
            Error::input(format!("[initial] from: {name} is of a run with [heat]"))
                .hint("its temperature would be lost: begin with a run without heat, or from rest"),
        );
    }
    // Its initial state and duration are irrelevant here.
    let case = Case {
        initial: None,
        run: RunTable {
            steps: Some(1),
            ..RunTable::default()
        },
        ..case
    };
    let mesh = mesh_of::<D>(&case, opened).map_err(|failure| failure.within(&name))?;
    let resolved = case.resolve(&name, CaseGrid::of(&mesh))?;
    on!(opened, backend => restored(path, &header, &mesh, &resolved, backend))
}

/// The error of a checkpoint whose case is not one for the solver at hand.
pub(super) fn of_this_kind(failure: Error) -> Error {
    let way = "give a run with the same [solver] kind";
    failure.within("[initial] from").hint(way)
}

/// The checkpoint at a path, and its header.
pub(super) fn find(path: &Path) -> Result<(PathBuf, checkpoint::Header), Error> {
    let way = "give a checkpoint (.ckpt), or the output folder of a run that has one";
    let wrong = |failure: Error| failure.within("[initial] from").hint(way);
    if !path.is_dir() {
        let header = checkpoint::header(path).map_err(wrong)?;
        return Ok((path.to_owned(), header));
    }
    let mut refused = None;
    for path in checkpoint::list(path) {
        match checkpoint::header(&path) {
            Ok(header) => return Ok((path, header)),
            Err(failure) => refused = refused.or(Some(wrong(failure))),
        }
    }
    Err(refused.unwrap_or_else(|| {
        Error::input(format!(
            "[initial] from: {} has no checkpoint",
            path.display()
        ))
        .hint(way)
    }))
}

/// Rebuilds the mesh of a resolved case.
fn mesh_of<const D: usize>(case: &Case, opened: &Opened) -> Result<Mesh<D>, Error>
where
    Facet<D>: Meet<D> + Exact<D>,
{
    let other = |other: usize| {
        Error::input(format!("the flow is {other}D, but this case is {D}D"))
            .hint("use a flow with the same number of dimensions")
    };
    if let Some(domain) = &case.domain {
        return match case.dimensions_of_domain()? {
            Some(d) if d == D => case.box_of::<D>(domain),
            _ => Err(other(domain.bounds.len() / 2)),
        };
    }
    let options: MeshOptions = case.mesh.clone().unwrap_or_default();
    let job = job::resolve(&options)?;
    let mut silent = ();
    let mut builder = Builder::new(&job, opened, &mut silent);
    let placed: Box<dyn Any> = match builder.place()? {
        AnyPlaced::D2(placed) => Box::new(placed),
        AnyPlaced::D3(placed) => Box::new(placed),
    };
    let placed = placed.downcast::<Placed<D>>().map_err(|_| other(5 - D))?;
    let prepared = builder.prepare(*placed)?;
    builder.build(&prepared)
}

/// The flow of a checkpoint, with the mesh that it is on, which may have changed in that run.
fn restored<const D: usize, B: FlowKernels<D>>(
    path: PathBuf,
    header: &checkpoint::Header,
    mesh: &Mesh<D>,
    resolved: &Resolved<D>,
    backend: &B,
) -> Result<Earlier<'static, D>, Error> {
    let plan = Plan::new(mesh, resolved.params.clone())?;
    Sheet::new(&plan, resolved, None, B::MEMORY).check_memory(backend)?;
    let mut flow = plan.start(backend)?;
    checkpoint::read(&path, &header.case, mesh.checksum(), |from| {
        flow.restore(from).map_err(Error::from)
    })
    .map_err(|failure| {
        failure.within("[initial] from").hint(
            "the mesh is rebuilt from its case: the surface file must be unchanged and in place",
        )
    })?;
    let snapshot = flow.snapshot()?;
    Ok(Earlier {
        strain: flow.strain_rates(&snapshot)?,
        mesh: Held::Own(Box::new(flow.mesh()?.download(&Host)?)),
        units: resolved.units,
        path: Some(path),
        snapshot,
    })
}

impl<'a, const D: usize> Earlier<'a, D> {
    /// The state of a flow on its own mesh.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub(super) fn now(
        flow: &dyn LatticeFlow<D>,
        mesh: &'a Mesh<D>,
        units: Units,
    ) -> Result<Self, Error> {
        let snapshot = flow.snapshot()?;
        Ok(Self {
            strain: flow.strain_rates(&snapshot)?,
            path: None,
            mesh: Held::Of(mesh),
            snapshot,
            units,
        })
    }

    /// A note on its file and root step; none for an earlier part of the same run.
    pub(super) fn note(&self) -> Option<String> {
        let (path, step) = (self.path.as_ref()?.display(), self.snapshot.step);
        Some(format!("initial flow: {path}, root step {step}"))
    }

    /// Checks that a box lies within the box of this flow.
    pub(super) fn check_covers(&self, frame: &Frame<D>) -> Result<(), Error> {
        let (own, slack) = (&self.mesh.frame, 1e-6 * frame.dx);
        let inside = |a: usize| {
            frame.origin[a] >= own.origin[a] - slack && frame.upper()[a] <= own.upper()[a] + slack
        };
        if (0..D).all(inside) {
            return Ok(());
        }
        let path = self.path.as_deref().unwrap_or(Path::new("the flow"));
        let (path, low, high) = (path.display(), own.origin, own.upper());
        Err(Error::input(format!(
            "[initial] from: the box of {path} is {low:?} to {high:?} m, this box is {:?} to {:?} m",
            frame.origin,
            frame.upper()
        ))
        .hint("this box must lie within that one"))
    }

    /// Pressure, velocity and rate of strain at a point, in SI units. `density` is that of the new run's fluid, by which pressures
    /// are scaled. Inside the body of this flow the velocity is zero, and the pressure is the mean of the adjacent fluid
    /// cells, or 0 without any.
    fn at(&self, x: [f64; D], density: f64) -> FluidAt<D> {
        let frame = &self.mesh.frame;
        // Rounding must not move a point on the edge outside.
        let point = std::array::from_fn(|a| {
            let most = f64::from(frame.root_cells[a]);
            ((x[a] - frame.origin[a]) / frame.dx).clamp(0.0, most * (1.0 - f64::EPSILON))
        });
        let speed = self.units.velocity();
        let pressure = |of: f64| (of - 1.0) / 3.0 * density * speed * speed;
        let (density, velocity) = velocity_at(&self.mesh, &self.snapshot, point)
            .unwrap_or_else(|| (self.beside(point), [0.0; D]));
        let strain = strain_at(&self.mesh, &self.strain, point).unwrap_or([[0.0; D]; D]);
        FluidAt {
            density,
            pressure: pressure(density),
            velocity: velocity.map(|u| u * speed),
            strain: strain.map(|row| row.map(|s| s / self.units.time)),
        }
    }

    /// Mean density of the fluid cells adjacent to the cell of a point; 1 without any.
    fn beside(&self, point: [f64; D]) -> f64 {
        let Some(leaf) = self.mesh.forest.leaf_at(point) else {
            return 1.0;
        };
        let is_fluid = |&CellRef { block, cell }: &CellRef| {
            self.mesh.classes.solid[block as usize] >> cell & 1 == 0
        };
        let fluid: Vec<f64> = (0..dims::directions(D))
            .filter_map(
                |direction| match self.mesh.forest.neighbor_cell(leaf, direction) {
                    NeighborCell::Same(to)
                    | NeighborCell::Refined(to)
                    | NeighborCell::Coarser(to) => Some(to),
                    NeighborCell::Outside => None,
                },
            )
            .filter(is_fluid)
            .map(|at| self.snapshot.density[at.block as usize * dims::cells(D) + at.cell as usize])
            .map(f64::from)
            .collect();
        match fluid.len() {
            0 => 1.0,
            count => fluid.iter().sum::<f64>() / count as f64,
        }
    }

    /// The fluid in lattice units of a run, at a point in its root cells: strained as here, so that its stress is that of the run's
    /// own viscosity and time step. An earlier part of the same run keeps its mass flow, which the density goes with: where it is steady
    /// it stays so, and no sound is made.
    pub(super) fn on_lattice(&self, frame: &Frame<D>, units: &Units, x: [f64; D]) -> FluidState<D> {
        let place = std::array::from_fn(|a| frame.origin[a] + frame.dx * x[a]);
        let fluid = self.at(place, units.density);
        let square = units.density * units.velocity().powi(2);
        let density = 1.0 + 3.0 * fluid.pressure / square;
        let speed = match self.path {
            Some(_) => units.velocity(),
            None => units.velocity() * density / fluid.density,
        };
        FluidState {
            density,
            velocity: fluid.velocity.map(|u| u / speed),
            strain: fluid.strain.map(|row| row.map(|s| s * units.time)),
        }
    }
}

/// The fluid at a point, in SI units.
struct FluidAt<const D: usize> {
    /// In lattice units.
    density: f64,
    pressure: f64,
    velocity: [f64; D],
    strain: [[f64; D]; D],
}
