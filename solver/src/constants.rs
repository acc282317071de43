//! Numbers in tables that kernels share; the build script writes them out for CUDA.

/// What populations less their weights are multiplied by where they are stored in 16 bits.
pub(crate) const F16_SCALE: f32 = 32768.0;

/// The law of the wall: `wall_model.rs`.
pub(crate) mod law {
    /// Kármán's constant.
    pub(crate) const KAPPA: f64 = 0.41;
    /// B - ln κ / κ with B = 5.2.
    pub(crate) const LOG: f64 = 7.374_636;
    /// Thickness of the buffer layer, in viscous lengths.
    pub(crate) const BUFFER: f64 = 11.0;
    /// Of the correction within it.
    pub(crate) const DECAY: f64 = 3.0;
    /// Newton steps for the friction velocity.
    pub(crate) const NEWTON_STEPS: u32 = 5;
    /// By how much the velocity extrapolated to a wall may be slower than the cell's, in speeds of the cell.
    pub(crate) const SLACK: f64 = 0.5;
}

/// Conditions of a face or patch as kernels read them: `Rule::kind`.
pub(crate) mod condition {
    /// Bounce-back from a wall at rest or a moving one.
    pub(crate) const WALL: u32 = 0;
    /// Specular reflection.
    pub(crate) const SLIP: u32 = 1;
    /// A face that fluid leaves through, with the mean density held.
    pub(crate) const OUTFLOW: u32 = 2;
    /// A given density: of a face by ghost cells, of a patch by anti-bounce-back.
    pub(crate) const PRESSURE: u32 = 3;
    /// A face with a given far field.
    pub(crate) const FAR: u32 = 4;
    /// A face that fluid passes with a given velocity.
    pub(crate) const STREAM: u32 = 5;
    /// None: neighbours wrap around.
    pub(crate) const PERIODIC: u32 = 6;
}

/// Schemes of walls: `Rule::scheme`.
pub(crate) mod scheme {
    /// Halfway bounce-back.
    pub(crate) const BOUNCE_BACK: u32 = 0;
    /// Linear interpolation.
    pub(crate) const LINEAR: u32 = 1;
    /// Quadratic interpolation.
    pub(crate) const QUADRATIC: u32 = 2;
    /// Central linear interpolation.
    pub(crate) const LOCAL: u32 = 3;
    /// Distance from which it is used (decision 044); linear interpolation below.
    pub(crate) const CENTRAL_FROM: f64 = 0.1;
}

/// Walls whose cells keep their mass (decision 046): `Relaxation::conserves`.
pub(crate) mod balance {
    /// None.
    pub(crate) const NONE: u32 = 0;
    /// Those that turn, with bounce-back.
    pub(crate) const TURNING: u32 = 1;
    /// All.
    pub(crate) const ALL: u32 = 2;
}

/// Where a condition has a profile: `Rule::profile`; 0 for none.
pub(crate) mod profile {
    /// By cut link.
    pub(crate) const BY_LINK: u32 = 1;
    /// By place of a face: this and the face's number, 2 axis + side.
    pub(crate) const BY_FACE: u32 = 2;
}

/// What a block of a level has to do, as flags.
pub(crate) mod slot {
    /// It has populations: a leaf, or refined beside one.
    pub(crate) const HAS_SLOT: u8 = 1;
    /// Refined beside a leaf.
    pub(crate) const OVERLAP: u8 = 2;
    /// An overlap block, or beside a refined block.
    pub(crate) const EXCHANGES: u8 = 4;
    /// A wall, a face, a solid cell or the end of the level in it or beside it.
    pub(crate) const IS_SPECIAL: u8 = 8;
}

/// What the populations of a slot are made of after the mesh has changed: `SlotSource::kind`.
pub(crate) mod source {
    /// The same block.
    pub(crate) const SAME: u32 = 0;
    /// Its children.
    pub(crate) const CHILD_BLOCKS: u32 = 1;
    /// What another rank sends.
    pub(crate) const OTHER_RANK: u32 = 2;
    /// Its parent and the blocks around that; plus the number of the child.
    pub(crate) const PARENT: u32 = 3;
}

/// Indicators: `Indicator`.
pub(crate) mod indicator {
    /// Magnitude of the vorticity.
    pub(crate) const VORTICITY: u32 = 0;
    /// Second invariant of the velocity gradient.
    pub(crate) const Q_CRITERION: u32 = 1;
    /// Magnitude of the strain rate.
    pub(crate) const STRAIN: u32 = 2;
    /// Largest velocity difference to a face neighbour.
    pub(crate) const VELOCITY_JUMP: u32 = 3;
    /// Magnitude of the density gradient.
    pub(crate) const PRESSURE_GRADIENT: u32 = 4;
}

/// Collision operators: `Relaxation::operator` has their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorKind {
    /// BGK and TRT.
    Trt,
    /// Recursive regularization.
    Regularized,
    /// Cumulants.
    Cumulant,
    /// Entropic multi-relaxation.
    Kbc,
}

impl OperatorKind {
    /// By number.
    pub(crate) const ALL: [Self; 4] = [Self::Trt, Self::Regularized, Self::Cumulant, Self::Kbc];
}

/// Models of the eddy viscosity: `Relaxation::closure`.
pub(crate) mod closure {
    /// None.
    pub(crate) const NONE: u32 = 0;
    /// By the rate of strain.
    pub(crate) const SMAGORINSKY: u32 = 1;
    /// By its second and third invariant.
    pub(crate) const QR: u32 = 2;
}

/// What the rate of odd parts follows where an eddy viscosity changes the even one: `Relaxation::odd_by`.
pub(crate) mod odd {
    /// Nothing: it stays.
    pub(crate) const FIXED: u32 = 0;
    /// It is the even one.
    pub(crate) const AS_EVEN: u32 = 1;
    /// The magic parameter.
    pub(crate) const MAGIC: u32 = 2;
}

/// What is at a face of a cell with heat: `HeatFace::kind`.
pub(crate) mod heat_face {
    /// A wall that holds a temperature.
    pub(crate) const HELD: u32 = 0;
    /// A wall that gives a flux of heat.
    pub(crate) const FLUX: u32 = 1;
    /// An opening; what flows in has the temperature inside.
    pub(crate) const OPEN: u32 = 2;
    /// An opening; what flows in has a temperature of its own.
    pub(crate) const OPEN_HELD: u32 = 3;
    /// A ghost cell, above which is a cell of the coarser level.
    pub(crate) const SHARED: u32 = 4;
}

/// Bits of an entry of cut cells that say which of a cell's links are cut; above them, the first one's place.
pub(crate) const DIRECTION_BITS: u32 = 27;

/// Links along an axis, from surface to surface, between bodies that meet: with more than one cell between them each line along an
/// axis through both has a centre there, so that none meet unseen.
pub(crate) const NEAREST_BODIES: f32 = 1.5;

/// What cells keep of the collision instead of populations: see `tables/tiles.rs`.
pub(crate) mod kept {
    /// Values of a cell.
    pub(crate) const VALUES: u32 = 9;
    /// The mark of slots that a tile steps.
    pub(crate) const STEPPED: u32 = 1 << 31;
}

/// Faces of the box and of patches that fluid passes: `kernels/cpu/faces.rs`.
pub(crate) mod opening {
    /// Share of the given density in an outflow's: enough to hold the mean pressure, too little to reflect much.
    pub(crate) const ANCHOR: f64 = 0.03;
    /// Share of the normal stress in the mass that enters through an outflow, in 2D and in 3D. With all of it the mean
    /// density of the cells beside the face would be exactly the given one; from 0.9 (D2Q9) and 0.5 (D3Q19) on the shortest
    /// wave grows.
    pub(crate) const OUTFLOW_STRESS: [f64; 2] = [0.75, 0.4];
    /// The same of a pressure face. With -1 the mean pressure at the face would be exactly the given one; from -0.75 on
    /// waves grow.
    pub(crate) const PRESSURE_STRESS: f64 = -0.5;
    /// Density of the fluid at rest, which a given velocity is meant for.
    pub(crate) const AT_REST: f64 = 1.0;
    /// Outward speed (Δx / Δt) above which the flow counts as leaving: a far field takes all of the tangential velocity
    /// from inside there.
    pub(crate) const LEAVING: f64 = 0.02;
}

/// τ - 1/2 of the viscosity below which rates of the third order are at least 1 - (τ - 1/2) / this: the optimized ones vanish with
/// the viscosity, and walls and faces would feed third-order cumulants up to the size of the limiter (decision 024).
pub(crate) const LEAST_UNDAMPED: f64 = 5e-4;

/// Force, torque and mass: what a patch sums up.
pub const SUMS: usize = 7;

/// Threads of thread blocks whose size a kernel counts on.
#[cfg(feature = "cuda")]
pub(crate) mod launch {
    /// One a listed cell, or one a cell of a slot.
    pub(crate) const THREADS: u32 = 64;
    /// Those that add up what thread blocks have summed.
    pub(crate) const ADDERS: u32 = 256;
    /// Of `plain` and `open` for whole slots, of `faced` (in 2D and in 3D), `bounded` and `cut` for one.
    pub(crate) const PLAIN: u32 = 128;
    pub(crate) const OPEN: u32 = 64;
    pub(crate) const FACED: [u32; 2] = [32, 64];
    pub(crate) const BOUNDED: u32 = 64;
    /// Cells of a tile along an axis, one thread a cell; blocks of a tile and those around it.
    pub(crate) const TILE_EDGE: u32 = 8;
    pub(crate) const TILE_AROUND: usize = 64;
}

/// Values of a slot that integrals have: density, kinetic energy, enstrophy; largest square of a speed, smallest and largest
/// density. The first ones are sums.
#[cfg(feature = "cuda")]
pub(crate) mod integral {
    pub(crate) const VALUES: usize = 6;
    pub(crate) const SUMMED: usize = 3;
}
