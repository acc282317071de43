//! The longest time step that resolves contacts.

use crate::law::{hertz_time, rayleigh_time, sphere_mass};
use crate::{Grain, Materials};

/// Longest step as a share of the Rayleigh time, and of the duration of the fastest possible impact.
const RAYLEIGH: f64 = 0.2;
const HERTZ: f64 = 0.05;

/// The longest time step of some grains, and what sets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLimit {
    /// The longest step, in s.
    pub limit: f64,
    /// `Rayleigh` or `Hertz`.
    pub rule: &'static str,
    /// The grain that sets it.
    pub id: u32,
}

impl StepLimit {
    /// Of grains that move at most so fast, in m/s: a fifth of the Rayleigh time (Li, Xu, Thornton 2005), and a twentieth of
    /// the duration of a head-on impact of two of them, with the stiffest material. `None` without grains.
    pub fn of(materials: &Materials, grains: &[Grain], speed: f64) -> Option<Self> {
        let list = materials.list();
        let each = grains.iter().enumerate().map(|(id, grain)| {
            let density = list[usize::from(grain.material)].density;
            let mass = sphere_mass(grain.radius, density);
            (id as u32, grain.radius, mass, grain.material)
        });
        Self::least(materials, each, speed)
    }

    /// The same, of ids, radii, masses and materials.
    pub(crate) fn least(
        materials: &Materials,
        grains: impl Iterator<Item = (u32, f64, f64, u8)>,
        speed: f64,
    ) -> Option<Self> {
        let list = materials.list();
        let mut least: Option<Self> = None;
        let mut lower = |limit: f64, rule: &'static str, id: u32| {
            if least.is_none_or(|l| limit < l.limit || limit == l.limit && id < l.id) {
                least = Some(Self { limit, rule, id });
            }
        };
        for (id, r, m, a) in grains {
            let rayleigh = rayleigh_time(r, &list[usize::from(a)]);
            lower(RAYLEIGH * rayleigh, "Rayleigh", id);
            if speed > 0.0 {
                // Half the radius and mass: with a like grain. Of all materials, the stiffest.
                let laws = (0..list.len()).map(|b| materials.law(a, b as u8));
                let times = laws.map(|law| hertz_time(law, 0.5 * r, 0.5 * m, 2.0 * speed));
                if let Some(time) = times.reduce(f64::min) {
                    lower(HERTZ * time, "Hertz", id);
                }
            }
        }
        least
    }
}
