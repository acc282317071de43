//! Flows with heat, as their users have them.

use crate::flow::TwoPhaseFlow;
use crate::heat;
use crate::heat_params::{HeatAccount, HeatField, HeatNumbers, HeatParams, WallHeat};
use crate::transfer;
use crate::{TwoPhaseError, check};
use cutlink_amr::dims;
use cutlink_elliptic::{block_sum, ordered_sum};
use rayon::prelude::*;
use std::sync::Arc;

impl<const D: usize> TwoPhaseFlow<D> {
    /// The flow with heat, of a temperature at the start. Cells of bodies that hold one have that. Memory in bytes a cell: 8 for the
    /// field, with the arrays of steps about 60 + 23 D.
    ///
    /// # Errors
    /// Parameters out of their range, a temperature that is not finite, a flow with grains, memory.
    pub fn with_heat(
        mut self,
        params: HeatParams<D>,
        temperature: impl Fn([f64; D]) -> f64 + Sync,
    ) -> Result<Self, TwoPhaseError> {
        params.check(self.params())?;
        self.check_no_grains()?;
        let cells = dims::cells(D);
        let mut values = transfer::array(self.mesh.blocks.cells())?;
        let mesh = &self.mesh;
        let held = |block: usize, cell: usize| {
            let body = mesh.body_of(block, cell)?;
            match params.bodies.get(body) {
                Some(&WallHeat::Temperature(held)) => Some(held),
                _ => None,
            }
        };
        values
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, values)| {
                for (cell, to) in values.iter_mut().enumerate() {
                    let given = || temperature(mesh.centre(block, cell));
                    *to = held(block, cell).unwrap_or_else(given);
                }
            });
        let bad = values.par_iter().find_any(|of| !of.is_finite());
        check(
            "a temperature at the start",
            bad.copied().unwrap_or(0.0),
            bad.is_none(),
            "finite",
        )?;
        let numbers = HeatNumbers::new(&self.params, &params);
        self.mesh.restrict(&mut values)?;
        let sums = heat::heat_sums(&self.mesh, &numbers, &self.host.fields.alpha, &values);
        let patches = params.patches();
        self.changed();
        self.host.fields.heat = Some(HeatField {
            temperature: values,
            params: Arc::new(params),
            account: HeatAccount {
                heat: sums.heat,
                capacity: sums.capacity,
                through: vec![0.0; patches],
                defect: 0.0,
                extremes: [sums.least, sums.most],
            },
        });
        self.host.forget_work();
        Ok(self)
    }

    /// # Errors
    /// A flow with grains.
    fn check_no_grains(&self) -> Result<(), TwoPhaseError> {
        let count = self.grain_motions().len();
        let what = "the number of grains in a flow with heat";
        check(what, count as f64, self.grains.is_none(), "zero")
    }

    /// Temperatures of cells, of a flow with heat; those of solid cells mean nothing.
    pub fn temperature(&self) -> Option<&[f64]> {
        let heat = self.host.fields.heat.as_ref()?;
        Some(match self.shown.temperature.is_empty() {
            true => &heat.temperature,
            false => &self.shown.temperature,
        })
    }

    /// The heat of a flow with heat, and where it came from.
    pub fn heat_account(&self) -> Option<&HeatAccount> {
        self.host.fields.heat.as_ref().map(|of| &of.account)
    }

    /// The heat in the box by the fields of the state, J: that of the account to rounding.
    pub fn heat(&self) -> Option<f64> {
        let fields = &self.host.fields;
        let heat = fields.heat.as_ref()?;
        let numbers = HeatNumbers::new(&self.params, &heat.params);
        let sums = heat::heat_sums(&self.mesh, &numbers, &fields.alpha, &heat.temperature);
        Some(sums.heat)
    }

    /// How unevenly heat is spread: the integral of ρ c (T − mean T)² over the fluid, J K. Conduction in an insulated box only lowers it.
    pub fn heat_spread(&self) -> Option<f64> {
        let fields = &self.host.fields;
        let field = fields.heat.as_ref()?;
        let numbers = HeatNumbers::new(&self.params, &field.params);
        let (mesh, cells) = (&self.mesh, dims::cells(D));
        let mean = field.account.heat / field.account.capacity;
        let of_block = |block: usize| {
            if !mesh.blocks.is_leaf(block) {
                return 0.0;
            }
            let of_cell = |cell: usize| match mesh.is_solid(block, cell) {
                true => 0.0,
                false => {
                    let at = block * cells + cell;
                    numbers.capacity(fields.alpha[at]) * (field.temperature[at] - mean).powi(2)
                }
            };
            mesh.volume_of(block) * block_sum::<D>(of_cell)
        };
        let blocks = (0..mesh.blocks.len()).into_par_iter();
        Some(ordered_sum(&blocks.map(of_block).collect::<Vec<_>>()))
    }

    /// What a flow with heat was set up with.
    pub fn heat_params(&self) -> Option<&HeatParams<D>> {
        self.host.fields.heat.as_ref().map(|of| &*of.params)
    }
}
