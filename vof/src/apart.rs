//! A state apart from the host's, which steps work on: that of a GPU.

use crate::TwoPhaseError;
use crate::adapt::{SeenBlocks, Sight};
use crate::flow::StepDone;
use crate::grains::Coupled;
use crate::heat_params::HeatField;
use crate::heat_step::HeatKernels;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::running::{Fields, Next, Running, Shown, Way, by_axis};
use crate::survey::Survey;
use cutlink_device::Host;

/// The state of a flow in a backend's memory. It is made from the host's fields where there is none.
#[derive(Debug)]
pub(crate) struct Apart<const D: usize, B: HeatKernels<D>> {
    backend: B,
    running: Option<Running<D, B>>,
    /// Whether it has done steps that the host's fields do not have.
    is_ahead: bool,
}

impl<const D: usize, B: HeatKernels<D>> Apart<D, B> {
    pub(crate) fn new(backend: B) -> Self {
        Self {
            backend,
            running: None,
            is_ahead: false,
        }
    }

    /// One step.
    ///
    /// # Errors
    /// Those of [`Running::step`].
    pub(crate) fn step(
        &mut self,
        (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
        host: &Fields<D>,
        next: Next,
        grains: Option<&mut Coupled>,
    ) -> Result<(StepDone, Survey), TwoPhaseError> {
        self.is_ahead = true;
        let running = self.prepare(mesh, host)?;
        running.step(mesh, params, next, grains)
    }

    /// Fractions after a way.
    ///
    /// # Errors
    /// Those of [`Running::after`].
    pub(crate) fn after(
        &mut self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        host: &Fields<D>,
        way: Way,
    ) -> Result<Shown, TwoPhaseError> {
        self.prepare(mesh, host)?.after(mesh, params, way)
    }

    /// The state, made from the host's fields where there is none.
    ///
    /// # Errors
    /// Memory.
    pub(crate) fn prepare(
        &mut self,
        mesh: &FlowMesh<D>,
        host: &Fields<D>,
    ) -> Result<&mut Running<D, B>, TwoPhaseError> {
        Ok(match &mut self.running {
            Some(running) => running,
            none => {
                let fields = uploaded(&self.backend, host)?;
                none.insert(Running::new(self.backend.clone(), mesh, fields)?)
            }
        })
    }

    /// Brings the host's fields up to the last step.
    ///
    /// # Errors
    /// What the backend reports.
    pub(crate) fn sync(&mut self, host: &mut Fields<D>) -> Result<(), TwoPhaseError> {
        if let Some(running) = self.running.as_ref().filter(|_| self.is_ahead) {
            *host = downloaded(&self.backend, &running.fields)?;
            self.is_ahead = false;
        }
        Ok(())
    }

    /// What a look sees.
    ///
    /// # Errors
    /// Memory, and what the backend reports.
    pub(crate) fn seen(
        &mut self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        host: &Fields<D>,
        of: &Sight,
    ) -> Result<SeenBlocks, TwoPhaseError> {
        self.prepare(mesh, host)?.seen(mesh, params, of)
    }

    /// Takes another mesh: of its blocks, `old_of` has the former ids. The host's fields stay as they are, on the old mesh, until
    /// the next [`sync`](Self::sync). Returns the largest velocity through a face over the width of its cells, 1/s.
    ///
    /// # Errors
    /// Memory, and what the backend reports; the state is as it was then.
    pub(crate) fn take_mesh(
        &mut self,
        [old, new]: [&FlowMesh<D>; 2],
        params: &FlowParams<D>,
        host: &Fields<D>,
        old_of: &[u32],
    ) -> Result<f64, TwoPhaseError> {
        let running = self.prepare(old, host)?;
        let next = running.on_mesh([old, new], params, old_of)?;
        let fastest = next.fastest(new, params)?;
        (self.running, self.is_ahead) = (Some(next), true);
        Ok(fastest)
    }

    /// Forgets the state: the host's fields are others now.
    pub(crate) fn forget(&mut self) {
        (self.running, self.is_ahead) = (None, false);
    }
}

fn uploaded<const D: usize, B: HeatKernels<D>>(
    backend: &B,
    from: &Fields<D>,
) -> Result<Fields<D, B>, TwoPhaseError> {
    let of = |values: &Vec<f64>| backend.upload(values.clone());
    let warm = |heat: &HeatField<D>| Ok::<_, TwoPhaseError>(heat.with::<B>(of(&heat.temperature)?));
    let heat = from.heat.as_ref().map(warm).transpose()?;
    Ok(Fields {
        alpha: of(&from.alpha)?,
        velocity: by_axis(|a| of(&from.velocity[a]))?,
        pressure: of(&from.pressure)?,
        flux: of(&from.flux)?,
        pull: by_axis(|a| of(&from.pull[a]))?,
        heat,
    })
}

fn downloaded<const D: usize, B: HeatKernels<D>>(
    backend: &B,
    from: &Fields<D, B>,
) -> Result<Fields<D>, TwoPhaseError> {
    let of = |values: &B::Buf<f64>| backend.download(values);
    let warm =
        |heat: &HeatField<D, B>| Ok::<_, TwoPhaseError>(heat.with::<Host>(of(&heat.temperature)?));
    let heat = from.heat.as_ref().map(warm).transpose()?;
    Ok(Fields {
        alpha: of(&from.alpha)?,
        velocity: by_axis(|a| of(&from.velocity[a]))?,
        pressure: of(&from.pressure)?,
        flux: of(&from.flux)?,
        pull: by_axis(|a| of(&from.pull[a]))?,
        heat,
    })
}
