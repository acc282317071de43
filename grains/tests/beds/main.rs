//! Beds of grains against analytic impacts, definitions and brute force.

mod conserved;
mod hostile;
mod impact;
mod loads;
mod outside;
mod packed;
mod same_bits;
mod sliding;
mod surfaces;

#[path = "../../../tests/kit/worst.rs"]
mod worst;

use cutlink_grains::{Bed, Grain, GrainBox, GrainParams, Material, Materials, Touch};

/// Glass, but softer.
pub(crate) const SOFT: Material = Material {
    young: 5e6,
    poisson: 0.3,
    density: 2500.0,
};

pub(crate) fn touch(restitution: f64, friction: f64, rolling: f64) -> Touch {
    Touch {
        restitution,
        friction,
        rolling,
    }
}

/// A box of one material.
pub(crate) fn params(size: [f64; 3], touch: Touch, dt: f64) -> GrainParams {
    let materials = Materials::alike(&[SOFT], touch).expect("a material");
    GrainParams::new(materials, GrainBox::closed([0.0; 3], size, 0), dt)
}

/// A bed that starts and is sound.
pub(crate) fn start(params: GrainParams, grains: &[Grain]) -> Bed {
    let bed = Bed::start(params, None, grains).expect("a sound start");
    assert_eq!(bed.validate(), Ok(()));
    bed
}

pub(crate) fn length(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// Numbers from 0 to 1 of a linear congruence (Knuth's MMIX).
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    pub(crate) fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
}

/// Grains on a lattice with some disorder and small random velocities: radii from 0.8 to 1 mm.
pub(crate) fn lattice(count: [usize; 3], seed: u64) -> Vec<Grain> {
    let mut numbers = Numbers(seed);
    let mut grains = Vec::new();
    for k in 0..count[2] {
        for j in 0..count[1] {
            for i in 0..count[0] {
                let shift = numbers.vector();
                let at = [i, j, k];
                let center = std::array::from_fn(|a| {
                    2.2e-3 * (at[a] as f64 + 0.5) + 1e-4 * (shift[a] - 0.5)
                });
                let mut grain = Grain::at(center, 0.8e-3 + 0.2e-3 * numbers.next());
                grain.velocity = numbers.vector().map(|x| 0.1 * (x - 0.5));
                grains.push(grain);
            }
        }
    }
    grains
}
