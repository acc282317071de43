//! Bodies of any shape, by volume penalization: points of elements inside of one are held by it (Kou, Joshi,
//! Hurtado-de-Mendoza, Puri, Hirsch & Ferrer, *J. Comput. Phys.* 448 (2022) 110721).
//!
//! After each step the velocity there relaxes to zero by the exact solution of `dv/dt = -v / η`, so η does not bound the
//! step; at a wall with a temperature, so does the temperature. Density stays, and so does the inner energy without a
//! temperature. What the gas loses is the force on the body. The method is of first order at the surface.

use crate::{
    Basis, FrError,
    kernels::{MaskTable, sizes},
};
use cutlink_amr::linear::Leaves;
use cutlink_device::{Backend, Real};
use rayon::prelude::*;
use std::{fmt::Debug, sync::Arc};

/// Where bodies are whose surfaces cut elements.
pub trait BodyGeometry<const D: usize>: Debug + Send + Sync {
    /// The body at a point, below the number of bodies; `None` in the gas.
    fn body_at(&self, point: [f64; D]) -> Option<usize>;

    /// Whether a block of a level may have points in bodies.
    fn is_near(&self, level: u32, coord: [i32; D]) -> bool;

    /// The coarsest level of an element in place of a block. It should resolve the surface; elements there are never
    /// coarser, also while the mesh follows the flow.
    fn least_level(&self, level: u32, coord: [i32; D]) -> u32;
}

/// Bodies whose surfaces cut elements. The gas sticks to them.
#[derive(Debug, Clone)]
pub struct EmbeddedBodies<const D: usize> {
    /// Where they are.
    pub geometry: Arc<dyn BodyGeometry<D>>,
    /// By body, its temperature as p / ρ; `None` for no heat into it.
    pub temperatures: Vec<Option<f64>>,
    /// The time η in which the velocity inside falls to 1/e; `None` for the length of each step.
    pub relaxation: Option<f64>,
}

impl<const D: usize> PartialEq for EmbeddedBodies<D> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.geometry, &other.geometry)
            && self.temperatures == other.temperatures
            && self.relaxation == other.relaxation
    }
}

impl<const D: usize> EmbeddedBodies<D> {
    /// # Errors
    /// Where a number makes no sense, or there is no viscosity.
    pub(crate) fn validate(&self, is_viscous: bool) -> Result<(), FrError> {
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        if !is_viscous {
            return Err(FrError::NoViscosity);
        }
        if let Some(time) = self.relaxation.filter(|&time| !is_positive(time)) {
            return Err(FrError::Relaxation { time });
        }
        if self.temperatures.len() > MOST_BODIES {
            return Err(FrError::ManyBodies {
                bodies: self.temperatures.len(),
            });
        }
        match self
            .temperatures
            .iter()
            .flatten()
            .find(|&&t| !is_positive(t))
        {
            Some(&temperature) => Err(FrError::WallTemperature { temperature }),
            None => Ok(()),
        }
    }
}

/// Bodies that a mask can tell apart.
pub(crate) const MOST_BODIES: usize = 255;

/// An element with points in bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MaskedElement<const D: usize> {
    key: u64,
    /// Its lower corner, and its edges.
    pub(crate) corner: [f64; D],
    pub(crate) edges: [f64; D],
}

/// The embedded bodies on a tree.
#[derive(Debug)]
pub(crate) struct Masks<const D: usize, T: Real, B: Backend> {
    pub(crate) table: MaskTable<B>,
    /// By body, its inner energy over the density, or 0.
    pub(crate) energies: B::Buf<T>,
    /// The elements of the table, on the host.
    pub(crate) elements: Vec<MaskedElement<D>>,
    /// By element of the table, point, and momentum and then energy: density of what the last step took.
    pub(crate) losses: B::Buf<T>,
    /// The length of the last step; 0 before the first.
    pub(crate) step: f64,
}

impl<const D: usize, T: Real, B: Backend> Masks<D, T, B> {
    /// Those of a tree, which took nothing yet.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub(crate) fn new(
        backend: &B,
        bodies: Option<&EmbeddedBodies<D>>,
        gamma: f64,
        leaves: &Leaves<D>,
        places: &Places<'_, D>,
    ) -> Result<Self, FrError> {
        let (mut elements, mut numbers, mut masks) = (Vec::new(), Vec::new(), Vec::new());
        let mut energies = Vec::new();
        if let Some(bodies) = bodies {
            let found: Vec<_> = (0..leaves.len() as u32)
                .into_par_iter()
                .filter_map(|leaf| places.mask(&*bodies.geometry, leaves, leaf))
                .collect();
            for (leaf, element, mask) in found {
                elements.push(element);
                numbers.push(leaf);
                masks.extend(mask);
            }
            let inner = |t: &Option<f64>| T::of(t.map_or(0.0, |t| t / (gamma - 1.0)));
            energies = bodies.temperatures.iter().map(inner).collect();
        }
        let len = masks.len() * sizes::gradients(D);
        Ok(Self {
            table: MaskTable {
                elements: backend.upload(numbers)?,
                bodies: backend.upload(masks)?,
            },
            energies: backend.upload(energies)?,
            elements,
            losses: backend.alloc("what bodies take", len, T::ZERO)?,
            step: 0.0,
        })
    }

    /// What elements that were there before had lost, kept.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub(crate) fn keep_losses(&mut self, backend: &B, before: &Self) -> Result<(), FrError> {
        self.step = before.step;
        if self.elements.is_empty() || before.elements.is_empty() {
            return Ok(());
        }
        let old = backend.download(&before.losses)?;
        let one = old.len() / before.elements.len();
        let mut losses = vec![T::ZERO; one * self.elements.len()];
        for (element, own) in self.elements.iter().zip(losses.chunks_exact_mut(one)) {
            let found = before
                .elements
                .binary_search_by_key(&element.key, |of| of.key);
            if let Ok(at) = found {
                own.copy_from_slice(&old[at * one..][..one]);
            }
        }
        self.losses = backend.upload(losses)?;
        Ok(())
    }

    /// The same in the memory of another backend.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub(crate) fn to<C: Backend>(&self, from: &B, to: &C) -> Result<Masks<D, T, C>, FrError> {
        Ok(Masks {
            table: MaskTable {
                elements: to.upload(from.download(&self.table.elements)?)?,
                bodies: to.upload(from.download(&self.table.bodies)?)?,
            },
            energies: to.upload(from.download(&self.energies)?)?,
            elements: self.elements.clone(),
            losses: to.upload(from.download(&self.losses)?)?,
            step: self.step,
        })
    }
}

/// Where the points of elements are.
pub(crate) struct Places<'a, const D: usize> {
    pub(crate) basis: &'a Basis,
    pub(crate) lower: [f64; D],
    /// Edges of root elements.
    pub(crate) edges: [f64; D],
}

impl<const D: usize> Places<'_, D> {
    /// An element, and by point 1 + the body there or 0; `None` where all are 0.
    fn mask(
        &self,
        geometry: &dyn BodyGeometry<D>,
        leaves: &Leaves<D>,
        leaf: u32,
    ) -> Option<(u32, MaskedElement<D>, Vec<u8>)> {
        let (level, coord) = (leaves.level(leaf), leaves.coord(leaf));
        if !geometry.is_near(level, coord) {
            return None;
        }
        let share = 1.0 / f64::from(1u32 << level);
        let edges = self.edges.map(|edge| edge * share);
        let corner = std::array::from_fn(|a| self.lower[a] + edges[a] * f64::from(coord[a]));
        let q = self.basis.points.len();
        let body = |node: usize| {
            let at = std::array::from_fn(|a| {
                let local = 0.5 + 0.5 * self.basis.points[node / q.pow(a as u32) % q];
                corner[a] + edges[a] * local
            });
            geometry.body_at(at).map_or(0, |body| 1 + body as u8)
        };
        let mask: Vec<u8> = (0..sizes::nodes(D, q)).map(body).collect();
        let element = MaskedElement {
            key: leaves.keys()[leaf as usize],
            corner,
            edges,
        };
        mask.iter().any(|&m| m > 0).then_some((leaf, element, mask))
    }
}
