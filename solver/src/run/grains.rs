//! Grains of a running flow, and their exchange with the fluid in a step of the finest level.

use super::{Run, level::State};
use crate::{
    SolverError,
    grains::{GrainPair, Suspended, inset},
    kernels::{FlowKernels, HeldSphere, HoldNumbers, HoldTables},
    lattice::Lattice,
    storage::Storage,
};
use cutlink_device::{Backend, Real};
use std::ops::{Deref, DerefMut};

/// The grains, with their lists where the flow is.
pub(super) struct Carried<B: Backend> {
    grains: Suspended,
    numbers: HoldNumbers,
    tables: Option<OnBackend<B>>,
}

struct OnBackend<B: Backend> {
    tables: HoldTables<B>,
    spheres: B::Buf<HeldSphere>,
    given: B::Buf<f64>,
    sums: B::Buf<f64>,
}

impl<B: Backend> Deref for Carried<B> {
    type Target = Suspended;

    fn deref(&self) -> &Suspended {
        &self.grains
    }
}

impl<B: Backend> DerefMut for Carried<B> {
    fn deref_mut(&mut self) -> &mut Suspended {
        &mut self.grains
    }
}

impl<B: Backend> OnBackend<B> {
    fn new(backend: &B, tables: HoldTables<B>, grains: usize) -> Result<Self, SolverError> {
        let zero = HeldSphere {
            center: [0.0; 3],
            radius: 0.0,
            velocity: [0.0; 3],
            spin: [0.0; 3],
        };
        Ok(Self {
            spheres: backend.alloc("grains", grains, zero)?,
            given: backend.alloc(
                "momentum of grains by block",
                6 * B::len(&tables.grains),
                0.0,
            )?,
            sums: backend.alloc("momentum of grains", 6 * grains, 0.0)?,
            tables,
        })
    }
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// Gives the fluid in and beside the grains their motion, and moves them by what they got for it.
    pub(super) fn exchange_with<L: Lattice>(
        &mut self,
        backend: &B,
        of: &mut Carried<B>,
    ) -> Result<(), SolverError> {
        let spheres = of.spheres();
        if !of.has_begun() {
            self.give::<L>(backend, of, &spheres)?;
            of.begin();
        }
        let given = self.give::<L>(backend, of, &spheres)?;
        let viscosity = of.numbers.viscosity;
        of.take(&spheres, &given, viscosity)
    }

    /// Gives the fluid in and beside the grains their motion; what each of them gave.
    fn give<L: Lattice>(
        &mut self,
        backend: &B,
        of: &mut Carried<B>,
        spheres: &[HeldSphere],
    ) -> Result<Vec<GrainPair>, SolverError> {
        let is_new = of.grains.follow(spheres)?;
        if let Some(reach) = of.grains.reach().filter(|_| is_new || of.tables.is_none()) {
            let tables = HoldTables::upload(backend, reach)?;
            of.tables = Some(OnBackend::new(backend, tables, spheres.len())?);
        }
        let Some(on) = &mut of.tables else {
            return Ok(Vec::new());
        };
        backend.write(spheres.to_vec(), 0, &mut on.spheres)?;
        backend.hold_cells::<L, S>(
            &self.level,
            &on.tables,
            &on.spheres,
            of.numbers,
            self.half_step,
            &mut self.now,
            &mut on.given,
        )?;
        backend.sum_given(&on.tables, &on.given, &mut on.sums)?;
        let sums = backend.download(&on.sums)?;
        let of_grain = |sum: &[f64]| [0, 1].map(|i| std::array::from_fn(|a| sum[3 * i + a]));
        Ok(sums.chunks_exact(6).map(of_grain).collect())
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// The fluid has another state, whose cells in grains do not have their motion yet.
    pub(super) fn forget_exchange(&mut self) {
        if let Some(grains) = &mut self.grains {
            grains.forget();
        }
    }

    /// Takes the grains of the plan.
    pub(super) fn begin_grains(&mut self, grains: Option<Box<Suspended>>) {
        let (Some(grains), Some(finest)) = (grains, self.levels.last()) else {
            return;
        };
        let relaxation = finest.relax.tau.wide() - 0.5;
        let viscosity = relaxation / 3.0;
        let magic = self.plan.params.collision.magic_at(relaxation);
        let numbers = HoldNumbers {
            viscosity,
            inset: inset(magic, viscosity),
            period: grains.period(),
        };
        self.grains = Some(Box::new(Carried {
            grains: *grains,
            numbers,
            tables: None,
        }));
    }
}
