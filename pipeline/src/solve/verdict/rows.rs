//! The measured rows of the verdict: each from numbers to a check with its bars (`docs/verdict.md`).

use super::openings::{FacesLook, Opening};
use cutlink_flow::{
    bulk::Bulk,
    verdict::{Check, number},
};

/// Imbalance above which hardly anything that enters leaves, or the other way round.
const ONE_WAY: f64 = 0.9;
/// Relaxation (τ - 1/2) on the finest level above which walls are out of place.
const SLOW: f64 = 1.0;

/// The largest Mach number at the checks from a root step on, at this lattice velocity.
pub(crate) fn mach(looks: &[Bulk], from: u64, lattice_velocity: f64) -> Option<Check> {
    let late = looks.iter().filter(|look| look.step >= from);
    let largest = late.map(Bulk::mach).max_by(f64::total_cmp)?;
    let slower = lattice_velocity * 0.15 / largest;
    Some(Check {
        name: "Mach",
        value: largest,
        bars: [0.2, 0.3],
        what: format!(
            "largest Mach number; lattice_velocity is {}",
            number(lattice_velocity)
        ),
        remedy: Some(format!(
            "lattice_velocity = {} makes it 0.15, in {:.1} times the steps",
            number(slower),
            lattice_velocity / slower
        )),
    })
}

/// What the openings are judged with.
pub(crate) struct OfOpenings<'a, const D: usize> {
    pub(crate) openings: &'a [Opening<D>],
    /// All checks, oldest first, the end included.
    pub(crate) looks: &'a [FacesLook],
    /// Largest pressure variation over ρ c² of the last quarter.
    pub(crate) compression: f64,
    /// Lattice velocity of the reference velocity.
    pub(crate) velocity: f64,
    /// Patches that prescribe a mass flow: what passes over that, minus 1.
    pub(crate) patches: Vec<(&'a str, f64)>,
    /// Largest distance of the mean density from what the openings hold, if they hold any.
    pub(crate) density: Option<f64>,
}

impl<const D: usize> OfOpenings<'_, D> {
    /// The looks of the run after this share of it.
    fn after(&self, share: f64) -> &[FacesLook] {
        let end = self.looks.last().map_or(0, |look| look.step) as f64;
        let first = self
            .looks
            .iter()
            .position(|look| look.step as f64 >= share * end);
        &self.looks[first.unwrap_or(0)..]
    }

    fn mean(&self, of: impl Fn(&FacesLook) -> f64) -> f64 {
        let last = self.after(0.75);
        last.iter().map(of).sum::<f64>() / last.len() as f64
    }

    /// All rows that apply.
    pub(crate) fn rows(&self) -> Vec<Check> {
        if self.looks.is_empty() {
            return Vec::new();
        }
        let rows = [
            self.level(),
            self.flow(),
            self.inflow(),
            self.mean_density(),
        ];
        rows.into_iter().flatten().collect()
    }

    /// The face with the largest value.
    fn worst(
        &self,
        of: impl Fn(usize, &Opening<D>) -> Option<f64>,
    ) -> Option<(usize, &Opening<D>, f64)> {
        let faces = self.openings.iter().enumerate();
        let found = faces.filter_map(|(n, face)| Some((n, face, of(n, face)?)));
        found.max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))
    }

    fn level(&self) -> Option<Check> {
        let square = self.velocity * self.velocity;
        let scale = square.max(self.compression / 3.0);
        let end = self.looks.last().map_or(0, |look| look.step);
        let off = |n: usize, face: &Opening<D>| {
            let given = face.density(end)?;
            Some((self.mean(|look| look.faces[n].density) - given) / 3.0 / scale)
        };
        let (_, face, value) = self.worst(off)?;
        let name = face.name();
        Some(Check {
            name: "openings: level",
            value: value.abs(),
            bars: [0.1, 0.5],
            what: format!(
                "mean pressure at {name} less the given one, {value:+.2e} of rho U^2 or of the pressure variation"
            ),
            remedy: Some(match face.is_outflow() {
                true => {
                    format!("give \"{name}\" type = \"pressure\", which holds the mean pressure")
                }
                false => format!(
                    "move \"{name}\" farther from bodies and bends, or use more cells across it"
                ),
            }),
        })
    }

    fn flow(&self) -> Option<Check> {
        let off = |n: usize, _: &Opening<D>| {
            let asked = self.mean(|look| look.faces[n].asked.unwrap_or(0.0));
            let delivered = self.mean(|look| -look.faces[n].mass);
            (asked != 0.0).then(|| delivered / asked - 1.0)
        };
        let of_faces = self.worst(off).map(|(n, face, value)| {
            let density = self.mean(|look| look.faces[n].density);
            (face.name(), value, density - 1.0)
        });
        let of_patches = self
            .patches
            .iter()
            .map(|&(name, value)| (name, value, f64::NAN));
        let all = of_faces.into_iter().chain(of_patches);
        let (name, value, denser) = all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let remedy = match (denser - value).abs() < 0.5 * value.abs() {
            true => format!(
                "reduce lattice_velocity: the density at \"{name}\" is {denser:+.1e} off with the pressure"
            ),
            false => format!(
                "use more cells across \"{name}\", or a profile that ends at 0 where walls begin"
            ),
        };
        Some(Check {
            name: "openings: flow",
            value: value.abs(),
            bars: [0.01, 0.03],
            what: format!("mass flow through {name} against what it asks for, {value:+.2e}"),
            remedy: Some(remedy),
        })
    }

    fn inflow(&self) -> Option<Check> {
        let half = self.after(0.5);
        let most = |n: usize, face: &Opening<D>| {
            let shares = half.iter().map(|look| look.faces[n].back);
            shares
                .max_by(f64::total_cmp)
                .filter(|_| face.leaves(self.looks, n))
        };
        let (_, face, value) = self.worst(most)?;
        let name = face.name();
        Some(Check {
            name: "openings: inflow",
            value,
            bars: [0.02, 0.1],
            what: format!("largest share of {name} through which fluid comes back in"),
            remedy: Some(format!(
                "move \"{name}\" farther downstream, or give it a sponge: sponge = {{ length = ... }}"
            )),
        })
    }

    fn mean_density(&self) -> Option<Check> {
        let value = self.density?;
        let delta = self.compression;
        Some(Check {
            name: "mean density",
            value,
            bars: [0.7 * delta + 1e-3, delta + 1e-2],
            what: format!(
                "mean density less what the openings hold; the pressure variation is {delta:.1e} of rho c^2"
            ),
            remedy: Some(
                "fluid gathers in the box or leaves it: give the outlet type = \"pressure\", and check the flow through inlets"
                    .into(),
            ),
        })
    }
}

/// Mass that leaves less what enters, over the larger: the mean over the last quarter.
pub(crate) fn imbalance(value: f64) -> Check {
    Check {
        name: "imbalance",
        value: value.abs(),
        bars: [0.005, 0.1],
        what: format!(
            "mass flow out less that in, mean of the last quarter: {value:+.2e} of the larger"
        ),
        remedy: Some(match value.abs() > ONE_WAY {
            true => "check that fluid connects the inlet with the outlet: hardly any passes both".into(),
            false => "run longer, until the mass in the box stays; else give the outlet type = \"pressure\"".into(),
        }),
    }
}

/// The difference of both forces on all walls, over the force; `relaxation` is τ - 1/2 on the finest level.
pub(crate) fn exchange(value: f64, relaxation: f64, is_quadratic: bool) -> Check {
    let remedy = if relaxation > SLOW {
        format!(
            "reduce lattice_velocity: tau - 1/2 is {} on the finest level, more than {SLOW}",
            number(relaxation)
        )
    } else if is_quadratic {
        "take wall = \"linear\"".into()
    } else {
        "use more cells across the body".into()
    };
    Check {
        name: "exchange",
        value,
        bars: [0.2, 0.5],
        what: "pressure and friction at the end against the force by momentum exchange".into(),
        remedy: Some(remedy),
    }
}

/// The share of the mass that holding the mean density has taken, by steps of a closed box with moving walls; none where
/// nothing is held.
pub(crate) fn resets(taken: f64, steps: u64) -> Option<Check> {
    if taken == 0.0 || steps == 0 {
        return None;
    }
    let each = 1000.0 * taken / steps as f64;
    Some(Check {
        name: "mass taken by resets",
        value: each.abs(),
        bars: [1e-4, 1e-2],
        what: format!(
            "mass that moving walls make in 1000 root steps, {each:+.1e} of all, and that resets take away"
        ),
        remedy: Some("more cells at moving walls, or wall = \"bounce-back\" there".into()),
    })
}
