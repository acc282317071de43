//! A flow on another backend, and back.

use crate::{
    EulerFlow, FrError,
    adapt::Lengths,
    embedded::{Masks, Places},
    kernels::{EulerKernels, Kernels, operator_numbers},
    run::{coords, levels, task},
    walls::WallsOf,
};
use cutlink_amr::linear::{Faces, Leaves};
use cutlink_device::{Backend, Host, Memory};

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// The flow in the memory of another backend, where it takes the same steps to the last bit.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn on<B: EulerKernels<D>>(self, backend: &B) -> Result<EulerFlow<D, T, B>, FrError> {
        (B::functions::<T>().on)(self, backend)
    }

    pub(crate) fn on_here<B: EulerKernels<D>>(
        self,
        backend: &B,
    ) -> Result<EulerFlow<D, T, B>, FrError> {
        let (hanging, walls) = (self.faces.slots.len(), self.wall_faces.len());
        let len = Lengths::of(&self.params, self.leaves.len(), hanging, walls);
        let at_faces = 2 * len.traces + len.mortars + len.states + len.viscous;
        let at_faces = at_faces + len.wall_viscous + len.walls;
        let numbers = (2 * len.state + at_faces + len.rates) as u64;
        backend.reserve("the flow", numbers * size_of::<T>() as u64)?;
        let zeros = |what, len| backend.alloc(what, len, T::ZERO);
        let (levels, coords, removed) = match B::MEMORY {
            Memory::Host => (self.levels, self.coords, self.removed),
            Memory::Device => Default::default(),
        };
        let mut flow = EulerFlow {
            matrices: backend.upload(operator_numbers(&self.basis))?,
            leaves: self.leaves.upload(backend)?,
            faces: Faces {
                codes: backend.upload(self.faces.codes)?,
                hanging: backend.upload(self.faces.hanging)?,
                slots: backend.upload(self.faces.slots)?,
            },
            u: backend.upload(self.u)?,
            start: zeros("the state at a step's start", len.state)?,
            traces: zeros("traces", len.traces)?,
            next_traces: zeros("new traces", len.traces)?,
            mortars: zeros("fluxes of hanging faces", len.mortars)?,
            states: zeros("common states", len.states)?,
            viscous: zeros("viscous traces", len.viscous)?,
            viscous_rates: zeros("viscous rates", len.rates)?,
            wall_viscous: zeros("viscous fluxes at walls", len.wall_viscous)?,
            wall_fluxes: zeros("fluxes through walls", len.walls)?,
            walls: self.walls.upload(backend)?,
            wall_faces: self.wall_faces,
            removed,
            bodies: self.bodies,
            masks: self.masks.to(&Host, backend)?,
            far_field: backend.upload(self.far_field)?,
            backend: backend.clone(),
            params: self.params,
            basis: self.basis,
            levels,
            coords,
            lower: self.lower,
            edges: self.edges,
            time: self.time,
            steps: self.steps,
            adaptation: self.adaptation,
            epoch: self.epoch,
            looks: self.looks,
            recorded: [None, None],
        };
        flow.make_traces()?;
        Ok(flow)
    }
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// A copy of the flow on the host.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn to_host(&self) -> Result<EulerFlow<D, T>, FrError> {
        (B::functions::<T>().to_host)(self)
    }

    pub(crate) fn to_host_here(&self) -> Result<EulerFlow<D, T>, FrError> {
        let leaves = self.leaves.download(&self.backend)?;
        let mut faces = self.faces.download(&self.backend)?;
        let of = WallsOf::new(&self.params, &leaves, &mut faces, self.lower, self.edges)?;
        let (hanging, walls) = (faces.slots.len(), of.faces.len());
        let len = Lengths::of(&self.params, leaves.len(), hanging, walls);
        let zeros = |what, len| Host.alloc(what, len, T::ZERO);
        let mut flow = EulerFlow {
            backend: Host,
            matrices: operator_numbers(&self.basis),
            u: self.backend.download(&self.u)?,
            start: zeros("the state at a step's start", len.state)?,
            traces: zeros("traces", len.traces)?,
            next_traces: zeros("new traces", len.traces)?,
            mortars: zeros("fluxes of hanging faces", len.mortars)?,
            states: zeros("common states", len.states)?,
            viscous: zeros("viscous traces", len.viscous)?,
            viscous_rates: zeros("viscous rates", len.rates)?,
            wall_viscous: zeros("viscous fluxes at walls", len.wall_viscous)?,
            wall_fluxes: zeros("fluxes through walls", len.walls)?,
            walls: of.table,
            wall_faces: of.faces,
            removed: of.removed,
            bodies: of.bodies,
            masks: self.masks.to(&self.backend, &Host)?,
            far_field: self.backend.download(&self.far_field)?,
            levels: levels(&leaves),
            coords: coords(&leaves),
            leaves,
            faces,
            params: self.params.clone(),
            basis: self.basis.clone(),
            lower: self.lower,
            edges: self.edges,
            time: self.time,
            steps: self.steps,
            adaptation: self.adaptation.clone(),
            epoch: self.epoch,
            looks: Vec::new(),
            recorded: [None, None],
        };
        flow.make_traces()?;
        Ok(flow)
    }

    /// The embedded bodies on a tree.
    pub(crate) fn masks_of(&self, leaves: &Leaves<D>) -> Result<Masks<D, T, B>, FrError> {
        let places = Places {
            basis: &self.basis,
            lower: self.lower,
            edges: self.edges,
        };
        let bodies = self.params.walls.embedded.as_ref();
        Masks::new(&self.backend, bodies, self.params.gamma, leaves, &places)
    }

    /// The traces of the state.
    pub(crate) fn make_traces(&mut self) -> Result<(), FrError> {
        let task = task!(self, &self.next_traces);
        self.backend.traces(&task, &self.u, &mut self.traces)
    }
}
