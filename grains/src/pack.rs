//! Packed beds: grains of given sizes and shares, poured into a box or a closed surface, at rest under gravity.
//!
//! **Method.** Rounds: grains are put at random places of the free space (random sequential addition) until one finds
//! none, then fall under gravity along -z. This is repeated until all are in, or none fits. Grains are soft meanwhile; at
//! the end their stiffness is doubled, step by step, until no overlap is above [`MAX_OVERLAP`], and the bed comes to rest
//! with some damping of all velocities.
//!
//! Lengths are divided by the mean radius and gravity is 1, so that the result depends on shape and shares only. The
//! random numbers follow from the seed (SplitMix64: Steele, Lea, Flood 2014). The same options give the same bits, for any
//! number of threads.

mod density;
mod place;
mod scatter;
mod write;

pub use density::PackDensity;
pub use scatter::ScatterBlock;
pub use write::{SpheresError, spheres_surface, write_csv, write_ply};

use crate::law::{hertz_time, rayleigh_time, sphere_mass};
use crate::vec3::scale;
use crate::{
    Bed, BoxAxis, Grain, GrainBox, GrainError, GrainParams, GrainSide, Material, Materials,
    SurfaceWall, Touch,
};
use cutlink_mesher::{Surface, health};
use place::{Places, Sizes};

/// Largest overlap at the end, as a share of the smaller radius.
pub const MAX_OVERLAP: f64 = 0.01;

/// Most sizes.
pub const MAX_SIZES: usize = 64;

/// Most grains of a bed.
pub const MAX_PACKED: usize = 100_000_000;

/// A size of grains, and its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackSize {
    /// Diameter, in m.
    pub diameter: f64,
    /// Share, in any unit; see [`PackOptions::by_volume`].
    pub share: f64,
}

/// Where grains are packed.
#[derive(Debug, Clone)]
pub enum PackContainer {
    /// A box; gravity is along -z.
    Box {
        /// Lower corner, in m.
        lower: [f64; 3],
        /// Upper corner.
        upper: [f64; 3],
        /// Whether it is periodic along x and y.
        periodic: [bool; 2],
    },
    /// The inside of a closed surface, in m.
    Surface(Box<Surface<3>>),
}

/// What to pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PackOptions {
    /// Sizes and shares.
    pub sizes: Vec<PackSize>,
    /// Shares are of the volume of all grains, not of their number.
    pub by_volume: bool,
    /// Grains; `None`: as many as fit.
    pub count: Option<usize>,
    /// Seed of the random places.
    pub seed: u64,
    /// Coulomb's friction: 0 gives dense beds, 0.5 and more loose ones.
    pub friction: f64,
    /// Rolling friction.
    pub rolling: f64,
}

/// How far a bed is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackProgress {
    /// Grains so far.
    pub grains: usize,
    /// Rounds so far.
    pub round: u32,
    /// Mean kinetic energy of a grain over its weight times its radius.
    pub energy: f64,
}

/// A bed at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    /// The grains, in m; at rest.
    pub grains: Vec<Grain>,
    /// Grains of each size, in the order of the options.
    pub counts: Vec<usize>,
    /// Solid fractions.
    pub density: PackDensity,
    /// Largest overlap, as a share of the smaller radius.
    pub overlap: f64,
    /// Mean number of contacts of a grain, walls included.
    pub coordination: f64,
    /// Mean kinetic energy of a grain over its weight times its radius.
    pub energy: f64,
    /// Rounds of pouring.
    pub rounds: u32,
    /// Steps in all.
    pub steps: u64,
}

/// Mean kinetic energy over weight times radius, below which the next round is poured, and below which the bed rests.
const POUR_ON: f64 = 0.1;
const AT_REST: f64 = 1e-6;
/// Effective stiffness over the pressure at the ground of a full container, while grains are poured.
const SOFT: f64 = 1e3;
/// Restitution: low, so that beds come to rest soon.
const RESTITUTION: f64 = 0.3;
const POISSON: f64 = 0.3;
/// Rate at which velocities decay once all grains are poured, in units of √(g / r), the inverse of the unit of time: grains that spin on the spot or roll
/// on plane ground come to rest too.
const DAMPING: f64 = 1.0;
/// Steps between looks at the energy.
const LOOK: u64 = 100;
/// A round that adds less than this share of the grains ends a bed without a given count.
const LAST_ROUND: f64 = 0.01;
const MAX_ROUNDS: u32 = 200;
const MAX_DOUBLINGS: u32 = 24;

/// Packs a bed; `watch` is called every 100 steps and returns whether to go on.
///
/// # Errors
/// Options out of range; a surface that is not closed; [`GrainError::Full`], where a given count does not fit;
/// [`GrainError::Restless`], also where `watch` stops it; no memory.
pub fn pack(
    container: &PackContainer,
    options: &PackOptions,
    watch: &mut dyn FnMut(PackProgress) -> bool,
) -> Result<Packed, GrainError> {
    check(options)?;
    let sizes = Sizes::new(options);
    let unit = sizes.mean_radius();
    pour(container, options, (sizes, unit), watch).map_err(|error| error.in_units(unit))
}

fn pour(
    container: &PackContainer,
    options: &PackOptions,
    (sizes, unit): (Sizes, f64),
    watch: &mut dyn FnMut(PackProgress) -> bool,
) -> Result<Packed, GrainError> {
    let vessel = Vessel::new(container, unit)?;
    let mut sizes = sizes.scaled(1.0 / unit);
    check_sizes(&sizes, &vessel)?;
    let mut job = Job {
        stiffness: SOFT * vessel.height() * sizes.ratio().powi(2),
        options,
        vessel: &vessel,
        steps: 0,
        round: 0,
        watch,
    };
    let mut places = Places::new(&vessel, options.seed);
    let wanted = options.count.unwrap_or(MAX_PACKED);
    let first = places.fill(&vessel, &[], &mut sizes, wanted)?;
    if first.is_empty() {
        return Err(GrainError::Full {
            placed: 0,
            wanted: options.count.unwrap_or(1),
        });
    }
    let params = job.params(sizes.least())?;
    let mut bed = Bed::start(params, vessel.wall.clone(), &first)?;
    job.round = 1;
    while bed.len() < wanted {
        job.settle(&mut bed, POUR_ON, 0.0)?;
        let new = places.fill(&vessel, &bed.grains(), &mut sizes, wanted - bed.len())?;
        let is_last = match options.count {
            None => (new.len() as f64) < LAST_ROUND * bed.len() as f64,
            Some(_) => new.is_empty() || job.round >= MAX_ROUNDS,
        };
        if is_last {
            sizes.undo(new.iter().map(|grain| grain.radius));
            break;
        }
        bed.insert(&new)?;
        job.round += 1;
    }
    if let Some(wanted) = options.count.filter(|count| bed.len() < *count) {
        let placed = bed.len();
        return Err(GrainError::Full { placed, wanted });
    }
    // Without damping, which would hold up what still falls.
    job.settle(&mut bed, POUR_ON, 0.0)?;
    let energy = job.harden(&mut bed, sizes.least())?;
    finish(&bed, &vessel, &sizes, (unit, energy), &job)
}

fn finish(
    bed: &Bed,
    vessel: &Vessel,
    sizes: &Sizes,
    (unit, energy): (f64, f64),
    job: &Job<'_>,
) -> Result<Packed, GrainError> {
    let contacts = 2 * bed.touching() + bed.wall_contacts().len();
    let mut grains = bed.grains();
    let density = PackDensity::of(&grains, vessel)?.in_units(unit);
    for grain in &mut grains {
        vessel.wrap(&mut grain.center);
        grain.center = scale(unit, grain.center);
        grain.radius = sizes.given(grain.radius);
        (grain.velocity, grain.spin) = ([0.0; 3], [0.0; 3]);
    }
    Ok(Packed {
        counts: sizes.counts(),
        density,
        overlap: bed.largest_overlap(),
        coordination: contacts as f64 / bed.len() as f64,
        energy,
        rounds: job.round,
        steps: job.steps,
        grains,
    })
}

/// A container in units of the mean radius.
pub(crate) struct Vessel {
    pub(crate) domain: GrainBox,
    pub(crate) wall: Option<SurfaceWall>,
    pub(crate) volume: f64,
}

impl Vessel {
    fn new(container: &PackContainer, unit: f64) -> Result<Self, GrainError> {
        let scaled = |x: [f64; 3]| x.map(|x| x / unit);
        match container {
            PackContainer::Box {
                lower,
                upper,
                periodic,
            } => {
                let mut domain = GrainBox::closed(scaled(*lower), scaled(*upper), 0);
                for a in (0..2).filter(|a| periodic[*a]) {
                    domain.axes[a] = BoxAxis::Periodic;
                }
                domain.check(1)?;
                let volume = (0..3).map(|a| domain.length(a)).product();
                Ok(Self {
                    domain,
                    wall: None,
                    volume,
                })
            }
            PackContainer::Surface(surface) => {
                let mut surface = (**surface).clone();
                surface.vertices.iter_mut().for_each(|x| *x = scaled(*x));
                let wall = SurfaceWall::new(&surface, 0, Some(GrainSide::Inside))?;
                let [lower, upper] = wall.bounds();
                let mut domain = GrainBox::closed(lower, upper, 0);
                domain.axes = [BoxAxis::Walls([None; 2]); 3];
                Ok(Self {
                    domain,
                    volume: health::check(&surface).volume.abs(),
                    wall: Some(wall),
                })
            }
        }
    }

    fn height(&self) -> f64 {
        self.domain.length(2)
    }

    /// Moves a centre into the period.
    fn wrap(&self, x: &mut [f64; 3]) {
        for a in (0..3).filter(|a| self.domain.is_periodic(*a)) {
            let length = self.domain.length(a);
            x[a] -= ((x[a] - self.domain.lower[a]) / length).floor() * length;
        }
    }
}

/// A bed while it is made.
struct Job<'a> {
    options: &'a PackOptions,
    vessel: &'a Vessel,
    stiffness: f64,
    steps: u64,
    round: u32,
    watch: &'a mut dyn FnMut(PackProgress) -> bool,
}

impl Job<'_> {
    /// Parameters for the present stiffness and the smallest radius: density and gravity are 1.
    fn params(&self, least: f64) -> Result<GrainParams, GrainError> {
        let material = Material {
            young: 2.0 * (1.0 - POISSON * POISSON) * self.stiffness,
            poisson: POISSON,
            density: 1.0,
        };
        let touch = Touch {
            restitution: RESTITUTION,
            friction: self.options.friction,
            rolling: self.options.rolling,
        };
        let materials = Materials::alike(&[material], touch)?;
        // The fastest grain falls through the container; the check doubles the speed.
        let speed = 2.4 * (2.0 * self.vessel.height()).sqrt();
        let mass = 0.5 * sphere_mass(least, 1.0);
        let hertz = hertz_time(materials.law(0, 0), 0.5 * least, mass, speed);
        let dt = (0.19 * rayleigh_time(least, &material)).min(0.045 * hertz);
        let mut params = GrainParams::new(materials, self.vessel.domain, dt);
        params.gravity = [0.0, 0.0, -1.0];
        // Grains that were poured before may be in the middle of an impact.
        params.max_overlap = 0.9;
        Ok(params)
    }

    /// Steps until the mean energy is below `rest`; returns it. Velocities decay at the rate `damping`.
    fn settle(&mut self, bed: &mut Bed, rest: f64, damping: f64) -> Result<f64, GrainError> {
        let fall = (2.0 * self.vessel.height()).sqrt() / bed.params().dt;
        let most = 100 * fall as u64 + 100_000;
        let mut made = 0;
        loop {
            bed.run(LOOK)?;
            if damping > 0.0 {
                bed.slow_down(1.0 / (1.0 + damping * LOOK as f64 * bed.params().dt));
            }
            made += LOOK;
            self.steps += LOOK;
            let energy = self.energy(bed);
            let progress = PackProgress {
                grains: bed.len(),
                round: self.round,
                energy,
            };
            let goes_on = (self.watch)(progress);
            if energy < rest && made as f64 > 0.1 * fall {
                return Ok(energy);
            }
            if !goes_on || made >= most {
                return Err(GrainError::Restless {
                    grains: bed.len(),
                    steps: self.steps,
                    energy,
                });
            }
        }
    }

    /// Mean kinetic energy of a grain over the mean weight times the mean radius, which is 1.
    fn energy(&self, bed: &Bed) -> f64 {
        let (kinetic, mass) = bed.kinetic();
        kinetic / mass
    }

    /// Doubles the stiffness until the bed is at rest without large overlaps; returns the energy.
    fn harden(&mut self, bed: &mut Bed, least: f64) -> Result<f64, GrainError> {
        let mut doublings = 0;
        loop {
            // Looser while overlaps are too large anyway.
            let rest = if bed.largest_overlap() > MAX_OVERLAP {
                1e-3
            } else {
                AT_REST
            };
            let energy = self.settle(bed, rest, DAMPING)?;
            if bed.largest_overlap() > 0.9 * MAX_OVERLAP && doublings < MAX_DOUBLINGS {
                doublings += 1;
                self.stiffness *= 2.0;
                let params = self.params(least)?;
                bed.harden(params.materials, params.dt)?;
            } else if energy < AT_REST {
                return Ok(energy);
            }
        }
    }
}

fn check(options: &PackOptions) -> Result<(), GrainError> {
    let value = |what, value: f64, good: bool, range| match good && value.is_finite() {
        true => Ok(()),
        false => Err(GrainError::Value { what, value, range }),
    };
    let n = options.sizes.len();
    value(
        "number of sizes",
        n as f64,
        (1..=MAX_SIZES).contains(&n),
        "1 to 64",
    )?;
    for size in &options.sizes {
        value(
            "diameter",
            size.diameter,
            size.diameter > 0.0,
            "positive and finite",
        )?;
        value("share", size.share, size.share > 0.0, "positive and finite")?;
    }
    let count = options.count.unwrap_or(1);
    let good = (1..=MAX_PACKED).contains(&count);
    value("number of grains", count as f64, good, "1 to 100 million")?;
    let range = "finite and not negative";
    value("friction", options.friction, options.friction >= 0.0, range)?;
    value(
        "rolling friction",
        options.rolling,
        options.rolling >= 0.0,
        range,
    )
}

/// The container holds the largest grain, and periodic axes three of them.
fn check_sizes(sizes: &Sizes, vessel: &Vessel) -> Result<(), GrainError> {
    let ratio = sizes.ratio();
    if ratio > 20.0 {
        return Err(GrainError::Value {
            what: "ratio of the largest to the smallest size",
            value: ratio,
            range: "at most 20",
        });
    }
    let largest = 2.0 * sizes.greatest();
    for a in 0..3 {
        let length = vessel.domain.length(a);
        if length < largest {
            return Err(GrainError::Full {
                placed: 0,
                wanted: 1,
            });
        }
    }
    Ok(())
}
