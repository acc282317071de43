//! Integrals of the fluid: where nothing but ends of the box is near, by the backend; elsewhere from a snapshot of some blocks.

use super::Run;
use crate::{
    LatticeFlow, Snapshot, SolverError,
    fields::{FluidSums, Integrals, blocks_of_gradients, fluid_around, sums, toward},
    kernels::FlowKernels,
    lattice::Lattice,
    storage::Storage,
    tables::periodic_axes,
};
use cutlink_amr::OUTSIDE;
use cutlink_device::Backend;
use cutlink_voxelizer::Mesh;

/// How the leaves of a mesh are shared.
#[derive(Debug)]
pub(crate) struct Summed<B: Backend> {
    /// Slots by level, for the backend.
    slots: Vec<B::Buf<u32>>,
    /// The other leaves by block id, and the blocks whose values their gradients take.
    others: Vec<u32>,
    near: Vec<u32>,
}

/// Whether a leaf has nothing but fluid in it, and leaves of its level likewise or an end of the box beside each of its faces. Means of
/// refined blocks are not in the populations of their level. Where the flow alone is `periodic`, its neighbours are not those of the mesh.
fn is_clear<const D: usize>(mesh: &Mesh<D>, periodic: [bool; D], block: u32) -> bool {
    let Some(around) = fluid_around(mesh, block) else {
        return false;
    };
    let is_end = |axis: usize, side: usize| {
        let direction = toward::<D>(axis, [-1, 1][side]);
        !periodic[axis] && mesh.forest.neighbor(block, direction) == OUTSIDE
    };
    let sides = around.into_iter().enumerate();
    sides
        .flat_map(|(axis, ids)| [(axis, 0, ids[0]), (axis, 1, ids[1])])
        .all(|(axis, side, id)| match id {
            Some(id) => mesh.forest.is_leaf(id),
            None => is_end(axis, side),
        })
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    fn share_leaves(&self) -> Result<Summed<B>, SolverError> {
        let mesh = self.mesh()?;
        let (mut slots, mut others) = (Vec::new(), Vec::new());
        let periodic = periodic_axes(&self.plan.params);
        for state in &self.levels {
            let blocks = self.backend.download(&state.blocks)?;
            let mut clear = Vec::new();
            for (slot, &block) in (0..).zip(&blocks) {
                if !mesh.forest.is_leaf(block) {
                    continue;
                }
                match is_clear(mesh, periodic, block) {
                    true => clear.push(slot),
                    false => others.push(block),
                }
            }
            slots.push(self.backend.upload(clear)?);
        }
        let near = blocks_of_gradients(mesh, &others);
        Ok(Summed {
            slots,
            others,
            near,
        })
    }

    /// See [`LatticeFlow::integrals`].
    pub(super) fn sum_fluid(
        &self,
        blocks: &[u32],
        snapshot: &mut Snapshot<D>,
    ) -> Result<Integrals, SolverError> {
        let summed = match self.summed.get() {
            Some(summed) => summed,
            None => {
                let fresh = self.share_leaves()?;
                self.summed.get_or_init(|| fresh)
            }
        };
        let mut all = FluidSums::NONE;
        for (state, slots) in self.levels.iter().zip(&summed.slots) {
            let (level, now) = (&state.level, &state.now);
            let of_level = self
                .backend
                .integrate::<L, S>(level, slots, state.half_step, now)?;
            all = all.and(of_level);
        }
        self.update_fields(Some(&[&summed.near, blocks].concat()), snapshot)?;
        let mesh = self.mesh()?;
        Ok(all.and(sums(mesh, snapshot, &summed.others)).means())
    }
}
