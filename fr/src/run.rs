//! A flow: its state on a tree, steps, and what can be asked of it.

use crate::{
    Basis, ElementAdaptation, ElementLook, EulerParams, FrError, Primitive,
    adapt::Lengths,
    embedded::{Masks, Places},
    kernels::{EulerKernels, Kernels, operator_numbers, sizes},
    steps::RecordedStep,
    walls::{Bodies, WallFace, WallTable, WallsOf},
};
use cutlink_amr::linear::{Faces, Leaves};
use cutlink_device::{Backend, Host, Item};
use rayon::prelude::*;

/// Volume integrals of the unknowns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals<const D: usize> {
    /// Of density.
    pub mass: f64,
    /// Of momentum.
    pub momentum: [f64; D],
    /// Of energy, inner and kinetic.
    pub energy: f64,
}

/// Volume integrals of turbulence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// Kinetic energy, ∫ ρ v² / 2 dV.
    pub kinetic: f64,
    /// Enstrophy, ∫ ρ (rot v)² / 2 dV, of the polynomials inside elements: jumps between them count for nothing.
    pub enstrophy: f64,
}

/// A compressible flow on the leaves of a tree, an element each: by the Euler equations, or with [viscosity](EulerParams::viscosity)
/// by those of Navier and Stokes.
///
/// Memory: two states and two sets of traces, so `(D + 2) (2 Q^D + 4 D Q^(D-1))` numbers an element with Q = p + 1
/// points on an axis, and `(D + 1) (D Q^(D-1) + Q^D)` with viscosity; elements in bodies have them too. It is set up and looked at on the host, and may take its
/// steps elsewhere: see [`on`](Self::on).
#[derive(Debug)]
pub struct EulerFlow<const D: usize, T: Kernels<D> = f64, B: Backend = Host> {
    pub(crate) backend: B,
    pub(crate) params: EulerParams<D>,
    pub(crate) basis: Basis,
    /// The matrices of the basis, for kernels.
    pub(crate) matrices: B::Buf<T>,
    pub(crate) leaves: Leaves<D, B>,
    pub(crate) faces: Faces<D, B>,
    /// Levels of leaves; empty where the flow is not on the host.
    pub(crate) levels: Vec<u8>,
    /// Coordinates of leaves at their levels; likewise.
    pub(crate) coords: Vec<[i32; D]>,
    pub(crate) lower: [f64; D],
    /// Edges of root elements.
    pub(crate) edges: [f64; D],
    pub(crate) u: B::Buf<T>,
    pub(crate) start: B::Buf<T>,
    pub(crate) traces: B::Buf<T>,
    pub(crate) next_traces: B::Buf<T>,
    pub(crate) mortars: B::Buf<T>,
    /// Common velocities and temperatures of hanging faces; empty without viscosity.
    pub(crate) states: B::Buf<T>,
    /// Viscous traces; likewise.
    pub(crate) viscous: B::Buf<T>,
    /// Viscous rates; likewise.
    pub(crate) viscous_rates: B::Buf<T>,
    /// Viscous fluxes at walls; empty without viscosity or walls.
    pub(crate) wall_viscous: B::Buf<T>,
    /// Fluxes through walls.
    pub(crate) wall_fluxes: B::Buf<T>,
    pub(crate) walls: WallTable<T, B>,
    /// By slot of walls, on the host.
    pub(crate) wall_faces: Vec<WallFace<D>>,
    /// By leaf, whether it is in a body; empty without bodies, and where the flow is not on the host.
    pub(crate) removed: Vec<bool>,
    pub(crate) bodies: Bodies<D>,
    /// Embedded bodies.
    pub(crate) masks: Masks<D, T, B>,
    pub(crate) far_field: B::Buf<T>,
    pub(crate) time: f64,
    pub(crate) steps: u64,
    pub(crate) adaptation: Option<ElementAdaptation>,
    /// Changes of the mesh since the flow was made.
    pub(crate) epoch: u64,
    /// Adaptations that nobody has asked for yet.
    pub(crate) looks: Vec<ElementLook>,
    /// A step from an even and one from an odd number of steps, as launches to be replayed. To be dropped where buffers are
    /// replaced.
    pub(crate) recorded: [Option<RecordedStep<B>>; 2],
}

/// What stages of a flow read besides traces, with no time and no viscosity.
macro_rules! task {
    ($flow:expr, $traces:expr) => {
        $crate::kernels::Task {
            basis: &$flow.basis,
            matrices: &$flow.matrices,
            gamma: T::of($flow.params.gamma),
            leaves: &$flow.leaves,
            levels: &$flow.levels,
            faces: &$flow.faces,
            time: T::ZERO,
            rates: [T::ZERO; D],
            keep: T::ZERO,
            is_first: true,
            traces: $traces,
            far_field: &$flow.far_field,
            viscosity: None,
            walls: &$flow.walls,
            penalty: T::of(0.5 * ($flow.params.order + 1) as f64),
        }
    };
}
pub(crate) use task;

/// # Errors
/// Where memory is short.
fn zeros<T: Item>(what: &'static str, len: usize, zero: T) -> Result<Vec<T>, FrError> {
    Ok(Host.alloc(what, len, zero)?)
}

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// A flow at rest of density and pressure 1, in the box between two corners that the tree divides.
    ///
    /// # Errors
    /// Where a parameter makes no sense, the box has no volume, faces of the box are neither periodic nor walls and there
    /// is no far field, a body is not on faces of elements or elements beside it are too coarse ([`GasWalls::leaves`](crate::GasWalls::leaves)
    /// makes a tree), or memory is short.
    pub fn new(
        leaves: &Leaves<D>,
        lower: [f64; D],
        upper: [f64; D],
        params: EulerParams<D>,
    ) -> Result<Self, FrError> {
        // Before the basis: there is none of any order.
        params.validate()?;
        let basis = Basis::new(params.order);
        Self::with_basis(leaves, lower, upper, params, basis)
    }

    /// The same with other matrices: for experiments with schemes, and for tests that have to notice a wrong one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// Where the basis is of another order.
    pub fn with_basis(
        leaves: &Leaves<D>,
        lower: [f64; D],
        upper: [f64; D],
        params: EulerParams<D>,
        basis: Basis,
    ) -> Result<Self, FrError> {
        (T::host_functions().make)(leaves, [lower, upper], params, basis)
    }

    pub(crate) fn make(
        leaves: &Leaves<D>,
        [lower, upper]: [[f64; D]; 2],
        params: EulerParams<D>,
        basis: Basis,
    ) -> Result<Self, FrError> {
        params.validate()?;
        assert_eq!(
            basis.order(),
            params.order,
            "the basis should be the order's"
        );
        let is_box = |a: usize| lower[a] < upper[a] && (upper[a] - lower[a]).is_finite();
        if !(0..D).all(is_box) {
            return Err(FrError::Box {
                lower: lower.to_vec(),
                upper: upper.to_vec(),
            });
        }
        let grid = leaves.grid();
        params.walls.check_box(grid, params.far_field.is_some())?;
        let mut faces = leaves.faces(&Host)?;
        let edges = std::array::from_fn(|a| (upper[a] - lower[a]) / f64::from(grid.root()[a]));
        let walls = WallsOf::new(&params, leaves, &mut faces, lower, edges)?;
        let places = Places {
            basis: &basis,
            lower,
            edges,
        };
        let embedded = params.walls.embedded.as_ref();
        let masks = Masks::new(&Host, embedded, params.gamma, leaves, &places)?;
        let (q, len) = (params.order + 1, leaves.len());
        let lengths = Lengths::of(&params, len, faces.slots.len(), walls.faces.len());
        let mut flow = Self {
            backend: Host,
            matrices: operator_numbers(&basis),
            leaves: leaves.clone(),
            levels: levels(leaves),
            coords: coords(leaves),
            edges,
            lower,
            u: zeros("the state", lengths.state, T::ZERO)?,
            start: zeros("the state at a step's start", lengths.state, T::ZERO)?,
            traces: zeros("traces", lengths.traces, T::ZERO)?,
            next_traces: zeros("new traces", lengths.traces, T::ZERO)?,
            mortars: zeros("fluxes of hanging faces", lengths.mortars, T::ZERO)?,
            states: zeros("common states", lengths.states, T::ZERO)?,
            viscous: zeros("viscous traces", lengths.viscous, T::ZERO)?,
            viscous_rates: zeros("viscous rates", lengths.rates, T::ZERO)?,
            wall_viscous: zeros("viscous fluxes at walls", lengths.wall_viscous, T::ZERO)?,
            wall_fluxes: zeros("fluxes through walls", lengths.walls, T::ZERO)?,
            walls: walls.table,
            wall_faces: walls.faces,
            removed: walls.removed,
            bodies: walls.bodies,
            masks,
            far_field: params.far_field.map_or(Vec::new(), |state| {
                trace_of(&state, params.gamma, sizes::face(D, q))
            }),
            faces,
            params,
            basis,
            time: 0.0,
            steps: 0,
            adaptation: None,
            epoch: 0,
            looks: Vec::new(),
            recorded: [None, None],
        };
        flow.set_here(|_| Primitive {
            density: 1.0,
            velocity: [0.0; D],
            pressure: 1.0,
        });
        Ok(flow)
    }

    /// Sets the state at all points, by their coordinates, and the time to 0. Removed elements, those in bodies, have gas at
    /// rest of density and pressure 1; in embedded bodies the gas is at rest.
    pub fn set(&mut self, state: impl Fn([f64; D]) -> Primitive<D> + Sync) {
        (T::host_functions().set)(self, &state);
    }

    pub(crate) fn set_here(&mut self, state: impl Fn([f64; D]) -> Primitive<D> + Sync) {
        let (nodes, one) = (self.nodes(), self.element());
        let mut u = std::mem::take(&mut self.u);
        u.par_chunks_mut(one).enumerate().for_each(|(leaf, u)| {
            for node in 0..nodes {
                let state = match self.is_removed(leaf as u32) {
                    false => self.held(leaf as u32, node, state(self.point(leaf as u32, node))),
                    true => Primitive {
                        density: 1.0,
                        velocity: [0.0; D],
                        pressure: 1.0,
                    },
                };
                for v in 0..sizes::unknowns(D) {
                    u[v * nodes + node] = T::of(state.unknown(self.params.gamma, v));
                }
            }
        });
        self.u = u;
        T::traces(&self.basis, &self.u, &mut self.traces);
        (self.time, self.steps) = (0.0, 0);
    }

    /// A state, at rest where the point of an element is in an embedded body.
    fn held(&self, leaf: u32, node: usize, state: Primitive<D>) -> Primitive<D> {
        let masks = &self.masks.table;
        let is_in = |at: usize| masks.bodies[at * self.nodes() + node] > 0;
        let velocity = match masks.elements.binary_search(&leaf).is_ok_and(is_in) {
            true => [0.0; D],
            false => state.velocity,
        };
        Primitive { velocity, ..state }
    }

    /// Another tree, without the state on it.
    pub(crate) fn take_mesh(
        &mut self,
        leaves: Leaves<D>,
        faces: Faces<D>,
        walls: WallsOf<D, T>,
        masks: Masks<D, T, Host>,
    ) {
        self.epoch += 1;
        self.masks = masks;
        (self.levels, self.coords) = (levels(&leaves), coords(&leaves));
        (self.leaves, self.faces) = (leaves, faces);
        (self.walls, self.wall_faces) = (walls.table, walls.faces);
        (self.removed, self.bodies) = (walls.removed, walls.bodies);
    }

    /// Whether an element is in a body, where nothing is computed. Asked of a flow on the host.
    pub fn is_removed(&self, leaf: u32) -> bool {
        self.removed.get(leaf as usize).copied().unwrap_or(false)
    }

    /// Elements that are not in bodies.
    pub fn elements_in_gas(&self) -> usize {
        self.elements() - self.removed.iter().filter(|&&is| is).count()
    }

    /// The unknowns: by leaf, unknown (ρ, ρ v, ρ E) and point.
    pub fn unknowns(&self) -> &[T] {
        &self.u
    }

    /// Numbers of an element.
    fn element(&self) -> usize {
        sizes::element(D, self.params.order + 1)
    }

    /// Where a point of an element is: points count up along x first.
    pub fn point(&self, leaf: u32, node: usize) -> [f64; D] {
        let (q, leaf) = (self.params.order + 1, leaf as usize);
        let scale = 1.0 / f64::from(1u32 << self.levels[leaf]);
        std::array::from_fn(|a| {
            let local = 0.5 + 0.5 * self.basis.points[node / q.pow(a as u32) % q];
            let at = f64::from(self.coords[leaf][a]) + local;
            self.lower[a] + self.edges[a] * scale * at
        })
    }

    /// The volume of the part of an element that a point stands for.
    fn weight(&self, leaf: usize, node: usize) -> f64 {
        let q = self.params.order + 1;
        let scale = 0.5 / f64::from(1u32 << self.levels[leaf]);
        let weight = |a: usize| self.basis.weights[node / q.pow(a as u32) % q];
        (0..D).map(|a| weight(a) * self.edges[a] * scale).product()
    }

    /// The sum over all points of the gas of a number times the volume that a point stands for: the scheme's own quadrature. Elements
    /// are added up in their order.
    fn integral(&self, value: impl Fn(usize, usize) -> f64 + Sync) -> f64 {
        let of_element = |leaf: usize| -> f64 {
            if self.is_removed(leaf as u32) {
                return 0.0;
            }
            let terms = (0..self.nodes()).map(|node| self.weight(leaf, node) * value(leaf, node));
            terms.sum()
        };
        let parts: Vec<f64> = (0..self.levels.len())
            .into_par_iter()
            .map(of_element)
            .collect();
        parts.iter().sum()
    }

    /// The volume of the gas.
    pub(crate) fn volume(&self) -> f64 {
        self.integral(|_, _| 1.0)
    }

    /// The edges of an element.
    pub(crate) fn edges_of(&self, leaf: usize) -> [f64; D] {
        let scale = 1.0 / f64::from(1u32 << self.levels[leaf]);
        self.edges.map(|edge| scale * edge)
    }

    /// Volume integrals of the unknowns.
    pub fn totals(&self) -> Totals<D> {
        (T::host_functions().totals)(self)
    }

    pub(crate) fn totals_here(&self) -> Totals<D> {
        let (nodes, one) = (self.nodes(), self.element());
        let of =
            |v: usize| self.integral(|leaf, node| self.u[leaf * one + v * nodes + node].wide());
        Totals {
            mass: of(0),
            momentum: std::array::from_fn(|a| of(1 + a)),
            energy: of(1 + D),
        }
    }

    /// Kinetic energy and enstrophy.
    pub fn energies(&self) -> Energies {
        (T::host_functions().energies)(self)
    }

    pub(crate) fn energies_here(&self) -> Energies {
        let (nodes, one, q) = (self.nodes(), self.element(), self.params.order + 1);
        let velocity = |leaf: usize, node: usize, a: usize| {
            let value = |v: usize| self.u[leaf * one + v * nodes + node].wide();
            value(1 + a) / value(0)
        };
        let density = |leaf: usize, node: usize| self.u[leaf * one + node].wide();
        // The derivative of velocity `a` along `axis`, on the line of points through a point.
        let slope = |leaf: usize, node: usize, a: usize, axis: usize| -> f64 {
            let stride = q.pow(axis as u32);
            let (i, first) = (node / stride % q, node - node / stride % q * stride);
            let terms = (0..q)
                .map(|j| self.basis.derivative[i * q + j] * velocity(leaf, first + j * stride, a));
            terms.sum::<f64>() * 2.0 * f64::from(1u32 << self.levels[leaf]) / self.edges[axis]
        };
        let kinetic = |leaf: usize, node: usize| {
            let square: f64 = (0..D).map(|a| velocity(leaf, node, a).powi(2)).sum();
            0.5 * density(leaf, node) * square
        };
        let enstrophy = |leaf: usize, node: usize| {
            let pairs: &[[usize; 2]] = if D == 3 {
                &[[0, 1], [1, 2], [2, 0]]
            } else {
                &[[0, 1]]
            };
            let rotation = |&[a, b]: &[usize; 2]| slope(leaf, node, b, a) - slope(leaf, node, a, b);
            let square: f64 = pairs.iter().map(|pair| rotation(pair).powi(2)).sum();
            0.5 * density(leaf, node) * square
        };
        Energies {
            kinetic: self.integral(kinetic),
            enstrophy: self.integral(enstrophy),
        }
    }

    /// The L2 norm of the density's difference from an exact one, √∫ (ρ - ρ_exact)² dV, by the scheme's own quadrature
    /// (W24, eq. 13).
    pub fn density_error(&self, exact: impl Fn([f64; D]) -> f64 + Sync) -> f64 {
        (T::host_functions().density_error)(self, &exact)
    }

    pub(crate) fn density_error_here(&self, exact: impl Fn([f64; D]) -> f64 + Sync) -> f64 {
        let one = self.element();
        let square = self.integral(|leaf, node| {
            let own = self.u[leaf * one + node].wide();
            (own - exact(self.point(leaf as u32, node))).powi(2)
        });
        square.sqrt()
    }
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// Elements.
    pub fn elements(&self) -> usize {
        self.leaves.len()
    }

    /// Points of an element.
    pub fn nodes(&self) -> usize {
        sizes::nodes(D, self.params.order + 1)
    }

    /// Unknowns at all points.
    pub fn degrees_of_freedom(&self) -> usize {
        self.elements() * sizes::element(D, self.params.order + 1)
    }

    /// How the mesh follows the flow.
    pub fn adaptation(&self) -> Option<&ElementAdaptation> {
        self.adaptation.as_ref()
    }

    /// What the flow is computed with.
    pub fn params(&self) -> &EulerParams<D> {
        &self.params
    }

    /// The basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The time.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the state was set.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes of the mesh so far: numbers of elements hold for one of them.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What [adaptations](ElementAdaptation) of steps found and did since the last call, oldest first; of them the last
    /// 65536.
    pub fn take_looks(&mut self) -> Vec<ElementLook> {
        std::mem::take(&mut self.looks)
    }
}

/// The levels of leaves.
pub(crate) fn levels<const D: usize>(leaves: &Leaves<D>) -> Vec<u8> {
    (0..leaves.len() as u32)
        .map(|i| leaves.level(i) as u8)
        .collect()
}

/// The coordinates of leaves at their levels.
pub(crate) fn coords<const D: usize>(leaves: &Leaves<D>) -> Vec<[i32; D]> {
    (0..leaves.len() as u32).map(|i| leaves.coord(i)).collect()
}

/// The trace of the same state at all points of a face.
fn trace_of<const D: usize, T: Kernels<D>>(
    state: &Primitive<D>,
    gamma: f64,
    points: usize,
) -> Vec<T> {
    let unknown = |i: usize| T::of(state.unknown(gamma, i / points));
    (0..sizes::unknowns(D) * points).map(unknown).collect()
}
