//! `particles.csv` and `loads.csv`, and what the verdict needs of the run so far.

use super::walls::CaseWalls;
use crate::solve::two_phase::side_name;
use cutlink_flow::{Check, Lines, Table};
use cutlink_grains::{Bed, BedEnergy, BedWall, BoxAxis, Grain};
use std::f64::consts::PI;

/// Extremes of a run so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::solve) struct Extremes {
    /// Largest overlap, as a share of the smaller radius.
    pub(in crate::solve) overlap: f64,
    /// Largest speed, m/s.
    pub(in crate::solve) speed: f64,
    /// Largest sum of kinetic and elastic energy, J.
    pub(in crate::solve) motion: f64,
    /// Smallest energy in all, J.
    pub(in crate::solve) least: f64,
    /// Largest rise above the smallest energy before, J.
    pub(in crate::solve) rise: f64,
    /// Largest number of spheres beyond a wall.
    pub(in crate::solve) lost: u64,
}

impl Default for Extremes {
    fn default() -> Self {
        Self {
            overlap: 0.0,
            speed: 0.0,
            motion: 0.0,
            least: f64::INFINITY,
            rise: 0.0,
            lost: 0,
        }
    }
}

impl Extremes {
    pub(in crate::solve) const BYTES: usize = 48;

    pub(in crate::solve) fn to_bytes(self) -> [u8; Self::BYTES] {
        let words = [
            self.overlap.to_bits(),
            self.speed.to_bits(),
            self.motion.to_bits(),
            self.least.to_bits(),
            self.rise.to_bits(),
            self.lost,
        ];
        let mut bytes = [0; Self::BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(in crate::solve) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |i: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
            u64::from_le_bytes(word)
        };
        let number = |i: usize| f64::from_bits(word(i));
        Self {
            overlap: number(0),
            speed: number(1),
            motion: number(2),
            least: number(3),
            rise: number(4),
            lost: word(5),
        }
    }

    pub(in crate::solve) fn add(&mut self, line: &BedLine) {
        let energy = &line.energy;
        self.overlap = self.overlap.max(line.overlap);
        self.speed = self.speed.max(line.speed);
        let motion = energy.kinetic + energy.spin + energy.elastic;
        self.motion = self.motion.max(motion);
        // Not a number stays one.
        let total = energy.total();
        let rise = total - self.least;
        if rise > self.rise || rise.is_nan() {
            self.rise = rise;
        }
        self.least = self.least.min(total);
        self.lost = self.lost.max(line.lost as u64);
    }

    /// The rows of the verdict; `has_potential`: gravity has one in the box; `key` is that of the step.
    pub(in crate::solve) fn checks(
        &self,
        count: usize,
        has_potential: bool,
        step: [f64; 2],
        key: &str,
    ) -> Vec<Check> {
        let shorter = format!("a smaller [numerics] {key}");
        let mut checks = vec![
            Check {
                name: "overlap",
                value: self.overlap,
                bars: [0.05, 0.2],
                what: "largest overlap as a share of the smaller radius".into(),
                remedy: Some("a larger youngs_modulus of [materials]".into()),
            },
            Check {
                name: "time step",
                value: step[0] / step[1],
                bars: [1.0, 1.2],
                what: "time step over the limit of Rayleigh and Hertz at the largest speed".into(),
                remedy: Some(shorter.clone()),
            },
            Check {
                name: "lost grains",
                value: self.lost as f64 / count.max(1) as f64,
                bars: [0.0, 0.01],
                what:
                    "share of the spheres that are beyond a wall, or on the wrong side of a surface"
                        .into(),
                remedy: Some(format!("a larger youngs_modulus, or {shorter}")),
            },
        ];
        if has_potential {
            checks.push(Check {
                name: "energy",
                value: match self.motion > 0.0 {
                    true => self.rise / self.motion,
                    false => 0.0,
                },
                bars: [0.02, 0.2],
                what: "largest rise of the energy, over the largest kinetic and elastic energy"
                    .into(),
                remedy: Some(shorter),
            });
        }
        checks
    }
}

/// A bed at a step.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::solve) struct BedLine {
    pub(in crate::solve) energy: BedEnergy,
    pub(in crate::solve) pairs: usize,
    pub(in crate::solve) at_walls: usize,
    pub(in crate::solve) overlap: f64,
    pub(in crate::solve) speed: f64,
    pub(in crate::solve) lost: usize,
    /// Spheres with their centre outside of the box.
    pub(in crate::solve) outside: usize,
    pub(in crate::solve) center: [f64; 3],
}

impl BedLine {
    pub(in crate::solve) fn of(bed: &Bed, walls: &CaseWalls) -> Self {
        let grains = bed.grains();
        let materials = bed.params().materials.list();
        let (mut mass, mut center) = (0.0, [0.0; 3]);
        for grain in &grains {
            let density = materials[usize::from(grain.material)].density;
            let m = 4.0 / 3.0 * PI * grain.radius.powi(3) * density;
            mass += m;
            center = std::array::from_fn(|a| center[a] + m * grain.center[a]);
        }
        let domain = &bed.params().domain;
        let is_outside = |grain: &&Grain| {
            (0..3).any(|a| {
                let x = grain.center[a];
                domain.axes[a] != BoxAxis::Periodic && (x < domain.lower[a] || x > domain.upper[a])
            })
        };
        // One surface is that of the bed; several have their sides here.
        let mut lost = bed.strayed();
        if walls.each.len() > 1 {
            let is_free = |grain: &&Grain| walls.each.iter().all(|(_, w)| w.is_free(grain.center));
            lost += grains.iter().filter(|grain| !is_free(grain)).count();
        }
        Self {
            energy: bed.energy(),
            pairs: bed.touching(),
            at_walls: bed.wall_contacts().len(),
            overlap: bed.largest_overlap(),
            speed: bed.largest_speed(),
            lost,
            outside: grains.iter().filter(is_outside).count(),
            center: center.map(|x| x / mass),
        }
    }
}

/// The walls of a bed, by name, and the forces on them.
#[derive(Debug, Clone)]
pub(in crate::solve) struct BedWalls {
    /// Faces of the box with a wall.
    faces: Vec<u8>,
    names: Vec<String>,
}

impl BedWalls {
    pub(in crate::solve) fn new(bed: &Bed, walls: &CaseWalls) -> Self {
        let faces: Vec<u8> = (0..6u8)
            .filter(|&side| {
                let axis = bed.params().domain.axes[usize::from(side / 2)];
                matches!(axis, BoxAxis::Walls(of) if of[usize::from(side % 2)].is_some())
            })
            .collect();
        let names = faces.iter().map(|&side| side_name(usize::from(side)));
        let names = names.chain(walls.each.iter().map(|(name, _)| name.clone()));
        Self {
            names: names.collect(),
            faces,
        }
    }

    /// Columns of forces: `… WHAT x`, and so on, of each.
    pub(in crate::solve) fn columns(&self, what: &str) -> Vec<String> {
        let of = |wall: &String| ["x", "y", "z"].map(|a| format!("{wall} {what} {a}"));
        self.names.iter().flat_map(of).collect()
    }

    /// Forces on them, N, in the order of the columns.
    pub(in crate::solve) fn forces(&self, bed: &Bed, walls: &CaseWalls) -> Vec<f64> {
        let mut forces = vec![0.0; 3 * self.names.len()];
        for load in bed.wall_loads() {
            let at = match load.wall {
                BedWall::Face(face) => self.faces.iter().position(|own| *own == face),
                BedWall::Facet(facet) => Some(self.faces.len() + walls.of_facet(facet)),
            };
            let Some(at) = at else { continue };
            for (sum, force) in forces[3 * at..].iter_mut().zip(load.force) {
                *sum += force;
            }
        }
        forces
    }
}

/// Columns of `particles.csv` behind step and time.
pub(in crate::solve) const COLUMNS: [&str; 13] = [
    "kinetic energy",
    "spin energy",
    "elastic energy",
    "potential energy",
    "pairs",
    "wall contacts",
    "largest overlap",
    "largest speed",
    "centre x",
    "centre y",
    "centre z",
    "outside",
    "lost",
];

impl BedLine {
    /// The values of [`COLUMNS`].
    pub(in crate::solve) fn values(&self) -> Vec<f64> {
        let energy = &self.energy;
        let mut numbers = vec![energy.kinetic, energy.spin, energy.elastic, energy.gravity];
        numbers.extend([self.pairs as f64, self.at_walls as f64]);
        numbers.extend([self.overlap, self.speed]);
        numbers.extend(self.center);
        numbers.extend([self.outside as f64, self.lost as f64]);
        numbers
    }
}

/// The histories of a run.
pub(super) struct Histories {
    particles: Lines,
    loads: Lines,
    walls: BedWalls,
    pub(super) extremes: Extremes,
}

impl Histories {
    pub(super) fn new(bed: &Bed, walls: &CaseWalls, dt: f64) -> Self {
        let walls = BedWalls::new(bed, walls);
        let columns = walls.columns("force");
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        Self {
            particles: Lines::new("particles.csv", &COLUMNS, dt),
            loads: Lines::new("loads.csv", &columns, dt),
            walls,
            extremes: Extremes::default(),
        }
    }

    pub(super) fn all(&mut self) -> Vec<&mut dyn Table> {
        let mut tables: Vec<&mut dyn Table> = vec![&mut self.particles];
        if !self.walls.names.is_empty() {
            tables.push(&mut self.loads);
        }
        tables
    }

    /// Adds a line.
    pub(super) fn add(&mut self, step: u64, bed: &Bed, walls: &CaseWalls) {
        let line = BedLine::of(bed, walls);
        self.extremes.add(&line);
        self.particles.add(step, line.values());
        self.loads.add(step, self.walls.forces(bed, walls));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_flow::Grade;

    fn line(kinetic: f64, gravity: f64, overlap: f64, lost: usize) -> BedLine {
        BedLine {
            energy: BedEnergy {
                kinetic,
                spin: 0.0,
                elastic: 0.0,
                gravity,
            },
            pairs: 0,
            at_walls: 0,
            overlap,
            speed: kinetic.sqrt(),
            lost,
            outside: 0,
            center: [0.0; 3],
        }
    }

    /// The grades of overlap, time step, lost grains and energy after some lines.
    fn grades(lines: &[BedLine]) -> Vec<Grade> {
        let mut extremes = Extremes::default();
        lines.iter().for_each(|line| extremes.add(line));
        let bytes = extremes.to_bytes();
        assert_eq!(Extremes::from_bytes(&bytes).to_bytes(), bytes);
        let checks = extremes.checks(100, true, [1.0, 1.1], "time_step");
        checks.iter().map(Check::grade).collect()
    }

    #[test]
    fn each_check_can_fail() {
        use Grade::{Doubtful, Ok, Wrong};
        let sound = [
            line(0.0, 2.0, 0.01, 0),
            line(1.5, 0.4, 0.03, 0),
            line(0.1, 0.0, 0.0, 0),
        ];
        assert_eq!(grades(&sound), [Ok, Ok, Ok, Ok]);
        let mut bad = sound.to_vec();
        bad.push(line(1.0, 0.0, 0.1, 1));
        assert_eq!(grades(&bad), [Doubtful, Ok, Doubtful, Wrong]);
        let mut bad = sound.to_vec();
        bad.push(line(0.15, 0.0, 0.3, 3));
        assert_eq!(grades(&bad), [Wrong, Ok, Wrong, Doubtful]);
        let mut bad = sound.to_vec();
        bad.push(line(f64::NAN, 0.0, 0.0, 0));
        assert_eq!(grades(&bad)[3], Wrong, "not a number");
        let steps = Extremes::default().checks(1, false, [1.1, 1.0], "time_step");
        assert_eq!(steps[1].grade(), Doubtful);
        assert_eq!(steps.len(), 3, "without a potential");
    }
}
