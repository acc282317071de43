//! Detection of divergence from the spread of the forces, the mean density and the kinetic energy.
//!
//! In: histories, of coefficients and of bulk quantities in lattice units. Out: the quantity that grows beyond any
//! physical flow, by how much and from which step. All criteria are functions of histories alone.
//!
//! | quantity | diverging if |
//! |---|---|
//! | spread of the forces: standard deviation about a straight line, in each sixteenth of the run | it has grown in each of the last four sixteenths, by `GROWTH` times in total, is the largest of the run (without its first two sixteenths), and is above `SENSE` times the force itself and `COEFFICIENT` if it swings faster than vortices do, else above `BEYOND` times both |
//! | mean density | it has changed from its first value by `DENSITY`, monotonically, and does not slow down |
//! | kinetic energy | its mean Mach number is above `MACH`, and it has grown monotonically by `ENERGY` times |
//!
//! The onset of vortex shedding grows exponentially as well, but saturates: at a spread of about the drag behind one body,
//! at 1.3, above the drag, for the second of two cylinders in tandem (Meneghini et al. 2001, J. Fluids Struct. 15, 327). An
//! impulsive start is large and decays; the spin-up of a cavity ends at the velocity of its lid; the filling of a box by a
//! pressure slows down.

use crate::bulk::Bulk;
use std::fmt;

/// Number of compared parts of a run.
const PARTS: usize = 16;
/// Number of last parts, which grow from each to the next.
const LAST: usize = 5;
/// Minimum number of samples of a part.
const SAMPLES: usize = 16;
/// Growth over the last parts.
const GROWTH: f64 = 2.0;
/// Largest physical spread relative to the force: vortex shedding of a cylinder at high Reynolds numbers in 2D has 0.7.
const SENSE: f64 = 1.0;
/// The same as a coefficient: a slender body may have strong shedding and little drag.
const COEFFICIENT: f64 = 1.0;
/// Multiple of both that no shedding reaches at a frequency of its own.
const BEYOND: f64 = 5.0;
/// Cycles in a convective time (length over velocity) above which it is sound: shedding has 0.1 to 0.5.
const FAST: f64 = 1.0;
/// Relative change of the mean density; the pressure is then off by this share of ρ c², which is 2 / (3 u²) dynamic
/// pressures.
const DENSITY: f64 = 0.05;
/// Mean Mach number beyond the limit for any case.
const MACH: f64 = cutlink_solver::stability::MAX_MACH;
/// Growth of the kinetic energy.
const ENERGY: f64 = 4.0;
/// Number of compared samples of bulk quantities.
const LOOKS: usize = 6;

/// A quantity that grows without bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    what: What,
    /// Its value before and now.
    values: [f64; 2],
    /// Root steps then and now.
    steps: [u64; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// With the cycles in a convective time.
    Spread(f64),
    Density,
    Energy,
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([before, now], [from, to]) = (self.values, self.steps);
        let times = now / before;
        match self.what {
            What::Spread(cycles) => write!(
                f,
                "the spread of the force coefficients has grown {times:.1} times, from {before:.3e} to {now:.3e}, \
                 between root steps {from} and {to}, at {cycles:.2} cycles in length/velocity"
            ),
            What::Density => write!(
                f,
                "the mean density drifted from {before:.4} to {now:.4} between root steps {from} and {to} and is \
                 still drifting"
            ),
            What::Energy => write!(
                f,
                "the kinetic energy has grown {times:.1} times between root steps {from} and {to}, to a mean \
                 Mach number of {:.3}",
                (3.0 * now).sqrt()
            ),
        }
    }
}

impl Growth {
    /// What to do about it, if that is not what every flow that diverges needs.
    pub fn advice(&self) -> Option<String> {
        let on = "[run] watch = false lets it go on";
        match self.what {
            What::Spread(cycles) if cycles > FAST => Some(format!(
                "sound grows between the faces of the box: use far-field faces, or a sponge before the outlet and the sides; {on}"
            )),
            What::Spread(_) => Some(format!("if the body may swing like this, {on}")),
            _ => None,
        }
    }
}

/// Whether the forces diverge: `steps` of the samples, coefficients of all patches together along three axes, and the root
/// steps of a convective time (length over velocity).
pub fn forces(steps: &[u64], coefficients: [&[f64]; 3], convective: f64) -> Option<Growth> {
    let size = steps.len() / PARTS;
    if size < SAMPLES {
        return None;
    }
    // The oldest samples are skipped if the number is not divisible.
    let first = steps.len() - size * PARTS;
    let part = |k: usize| first + k * size..first + (k + 1) * size;
    let spreads: Vec<f64> = (0..PARTS)
        .map(|k| coefficients.map(|c| spread(&c[part(k)])))
        .map(|[a, b, c]| (a + b + c).sqrt())
        .collect();
    let mut sizes: Vec<f64> = (2..PARTS)
        .map(|k| coefficients.map(|c| mean(&c[part(k)]).powi(2)))
        .map(|[a, b, c]| (a + b + c).sqrt())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let force = sizes[sizes.len() / 2];
    let now = spreads[PARTS - 1];
    let last = &spreads[PARTS - LAST..];
    let grows = last.windows(2).all(|w| w[1] > w[0]) && now > GROWTH * last[0];
    let largest = spreads[2..].iter().all(|&s| s <= now);
    if !(grows && largest) {
        return None;
    }
    // Of the coefficient that swings most.
    let late = |c: &[f64]| c[part(PARTS - 1)].to_vec();
    let [a, b, c] = coefficients.map(late);
    let swings = [a, b, c].into_iter();
    let swings = swings.max_by(|a, b| spread(a).total_cmp(&spread(b)))?;
    let duration = (steps[steps.len() - 1] - steps[part(PARTS - 1).start]) as f64;
    let cycles = 0.5 * crossings(&swings) as f64 / duration * convective;
    let bar = (SENSE * force).max(COEFFICIENT);
    let bar = if cycles > FAST { bar } else { BEYOND * bar };
    (now > bar).then(|| Growth {
        what: What::Spread(cycles),
        values: [last[0], now],
        steps: [steps[part(PARTS - LAST).start], steps[steps.len() - 1]],
    })
}

/// How often values pass their mean.
fn crossings(values: &[f64]) -> usize {
    let level = mean(values);
    let passes = |w: &&[f64]| (w[0] > level) != (w[1] > level);
    values.windows(2).filter(passes).count()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance about the regression line.
fn spread(values: &[f64]) -> f64 {
    let (n, level) = (values.len() as f64, mean(values));
    let time = |i: usize| i as f64 - 0.5 * (n - 1.0);
    let times: f64 = (0..values.len()).map(|i| time(i).powi(2)).sum();
    let along: f64 = values.iter().enumerate().map(|(i, x)| x * time(i)).sum();
    let slope = along / times;
    let rest = |(i, x): (usize, &f64)| (x - level - slope * time(i)).powi(2);
    values.iter().enumerate().map(rest).sum::<f64>() / n
}

/// Whether the bulk quantities diverge; `looks` are in time order.
pub fn bulk(looks: &[Bulk]) -> Option<Growth> {
    let first = looks.first()?;
    let last = looks.get(looks.len().checked_sub(LOOKS)?..)?;
    let now = last[LOOKS - 1];
    let of = |what: What, from: &Bulk, value: fn(&Bulk) -> f64| Growth {
        what,
        values: [value(from), value(&now)],
        steps: [from.step, now.step],
    };
    let rates: Vec<f64> = last
        .windows(2)
        .map(|w| (w[1].density - w[0].density) / (w[1].step - w[0].step).max(1) as f64)
        .collect();
    let moved = now.density - first.density;
    let one_way = rates.iter().all(|&rate| rate * moved > 0.0);
    let (before, after) = (mean(&rates[..2]).abs(), mean(&rates[LOOKS - 3..]).abs());
    if moved.abs() > DENSITY && one_way && after > 0.9 * before {
        return Some(of(What::Density, first, |b| b.density));
    }
    let grows = last.windows(2).all(|w| w[1].energy > w[0].energy);
    let from = &last[0];
    if grows && 3.0 * now.energy > MACH * MACH && now.energy > ENERGY * from.energy {
        return Some(of(What::Energy, from, |b| b.energy));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn judge(
        samples: usize,
        drag: impl Fn(f64) -> f64,
        lift: impl Fn(f64) -> f64,
    ) -> Option<Growth> {
        let steps: Vec<u64> = (1..=samples as u64).map(|s| 10 * s).collect();
        let of = |f: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..samples).map(|i| f(i as f64 / samples as f64)).collect()
        };
        // Twenty convective times.
        let convective = samples as f64 * 10.0 / 20.0;
        let of = [of(&drag), of(&lift), vec![0.0; samples]];
        forces(&steps, [&of[0], &of[1], &of[2]], convective)
    }

    /// The first growth found at 64 checks of a run.
    fn ever(drag: impl Fn(f64) -> f64 + Copy, lift: impl Fn(f64) -> f64 + Copy) -> Option<Growth> {
        (1..=64).find_map(|k| {
            let share = f64::from(k) / 64.0;
            judge(80 * k as usize, |t| drag(share * t), |t| lift(share * t))
        })
    }

    #[test]
    fn sound_that_grows_beyond_the_force_is_reported() {
        let sound = |t: f64| 0.05 * (4.5 * t).exp() * (TAU * 90.0 * t).sin();
        let found = ever(|_| 1.3, sound).expect("it grows to 4.5");
        let text = found.to_string();
        assert!(
            text.contains("force coefficients has grown") && text.contains("times"),
            "{text}"
        );
        assert_eq!(
            ever(|_| 1.3, |t| 0.1 * sound(t)),
            None,
            "as long as it is small"
        );
        assert_eq!(ever(|_| 1.3, |t| sound(1.0 - t)), None, "decays");
    }

    #[test]
    fn physical_growth_is_no_alarm() {
        // Vortex shedding: exponential growth from rounding to a lift as large as the drag.
        let street = |t: f64| (1e-7 * (60.0 * t).exp()).min(1.4) * (TAU * 80.0 * t).sin();
        let drag = |t: f64| 1.1 + 0.4 * street(t).powi(2);
        assert_eq!(ever(drag, street), None, "vortices");
        // An impulsive start oscillates with a force of 2 c / u and decays.
        let start = |t: f64| 1.0 + 23.0 * (-12.0 * t).exp() * (TAU * 40.0 * t).cos();
        assert_eq!(ever(start, |_| 0.0), None, "impulsive start");
        assert_eq!(ever(|t| 3.0 * t * t, |_| 0.0), None, "a ramp");
        assert_eq!(
            ever(|t| (TAU * 7.0 * t).sin(), |_| 0.0),
            None,
            "a force that swings about zero"
        );
        // The second of two cylinders in tandem: a late onset of a lift above the drag, in the same 20 convective times.
        let tandem = |t: f64| (1e-6 * (20.0 * t).exp()).min(1.9) * (TAU * 3.5 * t).sin();
        assert_eq!(ever(|_| 0.5, tandem), None, "a late onset of strong lift");
        let beats = |t: f64| (TAU * 80.0 * t).sin() + (TAU * 81.5 * t).sin();
        assert_eq!(ever(|_| 1.3, beats), None, "beats");
    }

    fn looks(density: impl Fn(f64) -> f64, energy: impl Fn(f64) -> f64) -> Vec<Bulk> {
        (1..=40)
            .map(|k| Bulk {
                step: 256 * k,
                density: density(k as f64 / 40.0),
                energy: energy(k as f64 / 40.0),
                fastest: 0.1,
                densities: [1.0; 2],
            })
            .collect()
    }

    fn bulk_ever(looks: &[Bulk]) -> Option<Growth> {
        (1..=looks.len()).find_map(|n| bulk(&looks[..n]))
    }

    #[test]
    fn density_and_energy_that_diverge_are_reported() {
        let fills = looks(|t| 1.0 + 0.48 * t, |_| 0.0025);
        let found = bulk_ever(&fills).expect("it fills");
        assert!(
            found.to_string().contains("mean density drifted from 1.0"),
            "{found}"
        );
        assert!(found.values[1] < 1.1, "soon: {found:?}");
        let saturates = looks(|t| 1.0 + 0.2 * (1.0 - (-5.0 * t).exp()), |_| 0.0025);
        assert_eq!(bulk_ever(&saturates), None, "a pressure that builds up");
        let swings = looks(|t| 1.0 + 0.1 * (40.0 * t).sin(), |_| 0.0025);
        assert_eq!(bulk_ever(&swings), None, "sound of the whole box");
        let grows = looks(|_| 1.0, |t| 0.0025 * (12.0 * t).exp());
        let found = bulk_ever(&grows).expect("it grows");
        assert!(
            found.to_string().contains("kinetic energy has grown"),
            "{found}"
        );
        let spins = looks(|_| 1.0, |t| 0.0025 * (1.0 - (-3.0 * t).exp()));
        assert_eq!(bulk_ever(&spins), None, "a cavity that spins up");
        let starts = looks(|_| 1.0, |t| 0.02 * t.powi(2));
        assert_eq!(
            bulk_ever(&starts),
            None,
            "a flow that an acceleration starts"
        );
    }

    /// Recorded steps, drag and lift of a run of this program.
    fn recorded(text: &str) -> (Vec<u64>, [Vec<f64>; 2]) {
        let (mut steps, mut coefficients) = (Vec::new(), [Vec::new(), Vec::new()]);
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split(',').collect();
            steps.push(words[0].parse().expect("a step"));
            for (values, word) in coefficients.iter_mut().zip(&words[1..]) {
                values.push(word.parse().expect("a number"));
            }
        }
        (steps, coefficients)
    }

    /// The first sample at which a recorded run is classified as diverging, checked every ten samples.
    fn first(text: &str) -> Option<(usize, usize)> {
        let (steps, [drag, lift]) = recorded(text);
        let none = vec![0.0; steps.len()];
        // A chord is passed in more than 16 root steps, at a lattice velocity below 0.1 and ten cells or more in a chord.
        let of = |n: usize| forces(&steps[..n], [&drag[..n], &lift[..n], &none[..n]], 100.0);
        let wrong = |n: &usize| of(*n);
        let found = (1..=steps.len()).step_by(10).find(|n| wrong(n).is_some());
        found.map(|n| (n, steps.len()))
    }

    #[test]
    fn recorded_sound_is_found_and_recorded_vortices_are_not() {
        // An aerofoil at Re 1000 whose lift falls from 2.0 to 0.7 while its oscillation grows to 1.8.
        let (at, of) = first(include_str!("recorded/growing.csv")).expect("it grows");
        assert!(at < of, "before the end: {at} of {of}");
        // A cylinder at Re 200 from the start to the vortex street.
        assert_eq!(first(include_str!("recorded/street.csv")), None);
    }
}
