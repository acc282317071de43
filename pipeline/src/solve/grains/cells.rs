//! Fields on cells: solid fraction, bulk density, mean velocity by mass, pressure of contacts.
//!
//! A sphere that a cell holds whole counts there; one that reaches into others is cut into equal parts, 280 or so at the
//! points of a lattice in it, so that sums over all cells are exact. Order: spheres by id, on one thread; the same bits for any
//! number of threads.

use cutlink_amr::dims;
use cutlink_common::Error;
use cutlink_flow::FlowState;
use cutlink_grains::{Bed, BoxAxis, Grain, GrainBox};
use cutlink_meshing::{mesh::build::bare, options::Root};
use cutlink_voxelizer::Mesh;
use std::f64::consts::PI;

/// Points of a sphere along its diameter.
const PARTS: i32 = 8;
/// Width of a cell over the mean diameter by default: at least, and at most.
const WIDE: [f64; 2] = [1.2, 4.0];
/// Most cells along an axis by default.
const MOST: f64 = 128.0;

/// A mesh of cubic cells from the lower corner of a box on, which covers it: with the given edge of cells, else with the one of
/// 1.2 to four mean diameters that leaves the least beyond the upper corner.
///
/// # Errors
/// Too many cells.
pub(super) fn mesh_of(
    domain: &GrainBox,
    cell: Option<f64>,
    diameter: f64,
) -> Result<Mesh<3>, Error> {
    let lengths: [f64; 3] = std::array::from_fn(|a| domain.length(a));
    let blocks = |dx: f64| lengths.map(|l| (l / (4.0 * dx) * (1.0 - 1e-12)).ceil().max(1.0));
    let dx = cell.unwrap_or_else(|| {
        let longest = lengths.into_iter().fold(0.0, f64::max);
        let [least, most] = WIDE.map(|wide| (wide * diameter).max(longest / MOST));
        let volume = |dx: f64| blocks(dx).iter().map(|n| 4.0 * dx * n).product::<f64>();
        let mut best = (volume(most), most);
        for length in lengths {
            let (few, many) = (length / (4.0 * most), length / (4.0 * least));
            for n in (few.floor().max(1.0) as u64)..=(many.ceil().max(1.0) as u64) {
                let dx = length / (4.0 * n as f64);
                // The widest of those that fit equally well.
                let waste = volume(dx);
                if (least..=most).contains(&dx)
                    && (waste < best.0 * (1.0 - 1e-9)
                        || waste < best.0 * (1.0 + 1e-9) && dx > best.1)
                {
                    best = (waste, dx);
                }
            }
        }
        best.1
    });
    let counts = blocks(dx).map(|n| 4.0 * n);
    if counts.iter().any(|n| *n > 4096.0) {
        return Err(
            Error::input(format!("[domain] cell is {dx}: there are {counts:?} cells"))
                .hint("wider cells: fields need two mean diameters or more to be means"),
        );
    }
    let bounds: Vec<f64> = (domain.lower.iter().copied())
        .chain((0..3).map(|a| domain.lower[a] + counts[a] * dx))
        .collect();
    bare::<3>(&bounds, &Root::Cells(counts.map(|n| n as u32).to_vec()))
}

/// Sums over spheres, by cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    volume: Vec<f64>,
    mass: Vec<f64>,
    momentum: [Vec<f64>; 3],
    virial: Vec<f64>,
}

/// Where a place is.
struct Places<'a> {
    mesh: &'a Mesh<3>,
    domain: &'a GrainBox,
}

impl Places<'_> {
    /// The cell of a place, by block and cell; none outside of the mesh.
    fn cell(&self, x: [f64; 3]) -> Option<usize> {
        let frame = &self.mesh.frame;
        let mut at = [0i32; 3];
        for a in 0..3 {
            let x = match self.domain.axes[a] {
                BoxAxis::Periodic => {
                    let (low, length) = (self.domain.lower[a], self.domain.length(a));
                    x[a] - ((x[a] - low) / length).floor() * length
                }
                BoxAxis::Walls(_) => x[a],
            };
            at[a] = ((x - frame.origin[a]) / frame.dx).floor() as i32;
        }
        let block = self.mesh.forest.find(0, at.map(|c| c.div_euclid(4)))?;
        let cell = dims::ravel::<3>(at.map(|c| c.rem_euclid(4)), 4);
        Some(block as usize * dims::cells(3) + cell)
    }

    /// Calls with the cells of a sphere, and the share of it in each.
    fn each(&self, grain: &Grain, points: &[[f64; 3]], mut call: impl FnMut(usize, f64)) {
        let (frame, x, r) = (&self.mesh.frame, grain.center, grain.radius);
        let is_whole = (0..3).all(|a| {
            let at = |x: f64| ((x - frame.origin[a]) / frame.dx).floor();
            at(x[a] - r) == at(x[a] + r)
        });
        if is_whole {
            return self.cell(x).into_iter().for_each(|cell| call(cell, 1.0));
        }
        let share = 1.0 / points.len() as f64;
        for p in points {
            let at = std::array::from_fn(|a| x[a] + r * p[a]);
            self.cell(at).into_iter().for_each(|cell| call(cell, share));
        }
    }
}

/// Points of a lattice in the unit sphere.
fn points() -> Vec<[f64; 3]> {
    let along = |i: i32| (f64::from(i) + 0.5) * 2.0 / f64::from(PARTS) - 1.0;
    let all = (0..PARTS.pow(3)).map(|i| {
        let at = [i % PARTS, i / PARTS % PARTS, i / PARTS / PARTS];
        at.map(along)
    });
    all.filter(|p| p.iter().map(|x| x * x).sum::<f64>() < 1.0)
        .collect()
}

impl Cells {
    /// Brings the values of a flow up to date.
    pub(super) fn fill(
        &mut self,
        bed: &Bed,
        grains: &[Grain],
        mesh: &Mesh<3>,
        to: &mut FlowState<3>,
    ) {
        let count = mesh.forest.capacity() * dims::cells(3);
        let arrays = [&mut self.volume, &mut self.mass, &mut self.virial];
        for array in arrays.into_iter().chain(&mut self.momentum) {
            array.clear();
            array.resize(count, 0.0);
        }
        let places = Places {
            mesh,
            domain: &bed.params().domain,
        };
        let (points, materials) = (points(), bed.params().materials.list());
        for grain in grains {
            let volume = 4.0 / 3.0 * PI * grain.radius.powi(3);
            let mass = volume * materials[usize::from(grain.material)].density;
            places.each(grain, &points, |cell, share| {
                self.volume[cell] += share * volume;
                self.mass[cell] += share * mass;
                for (sum, v) in self.momentum.iter_mut().zip(grain.velocity) {
                    sum[cell] += share * mass * v;
                }
            });
        }
        bed.each_virial(|at, part| {
            if let Some(cell) = places.cell(at) {
                self.virial[cell] += part;
            }
        });
        let space = mesh.frame.dx.powi(3);
        let over = |sum: &[f64], to: &mut Vec<f32>| {
            to.clear();
            to.extend(sum.iter().map(|x| (x / space) as f32));
        };
        over(&self.mass, &mut to.snapshot.density);
        over(&self.virial, to.pressure.get_or_insert_default());
        to.scalars.resize_with(1, Vec::new);
        over(&self.volume, &mut to.scalars[0]);
        for (to, sum) in to.snapshot.velocity.iter_mut().zip(&self.momentum) {
            let mean = |(p, m): (&f64, &f64)| if *m > 0.0 { (p / m) as f32 } else { 0.0 };
            to.clear();
            to.extend(sum.iter().zip(&self.mass).map(mean));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_grains::{GrainParams, Material, Materials, Touch};

    fn bed(domain: GrainBox, grains: &[Grain]) -> Bed {
        let material = Material {
            young: 1e7,
            poisson: 0.25,
            density: 2000.0,
        };
        let touch = Touch {
            restitution: 0.5,
            friction: 0.0,
            rolling: 0.0,
        };
        let materials = Materials::alike(&[material], touch).expect("a material");
        let mut params = GrainParams::new(materials, domain, 1e-6);
        params.max_overlap = 0.05;
        Bed::start(params, None, grains).expect("a bed")
    }

    #[test]
    fn cells_cover_the_box_and_fit_it_where_they_can() {
        let of = |upper: [f64; 3], cell: Option<f64>| {
            let domain = GrainBox::closed([0.0; 3], upper, 0);
            let frame = mesh_of(&domain, cell, 0.01).expect("a mesh").frame;
            for (a, length) in upper.iter().enumerate() {
                let over = frame.upper()[a] - length;
                assert!(over > -1e-12 && over < 4.0 * frame.dx, "{upper:?}: {over}");
            }
            (frame.dx, frame.upper())
        };
        // Blocks of 0.048 to 0.16: 0.16 fits all.
        let (dx, upper) = of([0.32, 0.48, 1.6], None);
        assert!(
            (dx - 0.04).abs() < 1e-12 && (upper[1] - 0.48).abs() < 1e-12,
            "{dx}"
        );
        let (dx, _) = of([0.3, 0.47, 1.0], None);
        assert!((0.012..=0.04).contains(&dx), "{dx}");
        assert_eq!(of([0.3, 0.4, 0.5], Some(0.03)).0, 0.03);
        // Spheres as large as the box: one block.
        let (_, upper) = of([0.012; 3], None);
        assert!(upper[0] < 0.2, "{upper:?}");
        let domain = GrainBox::closed([0.0; 3], [1.0; 3], 0);
        assert!(mesh_of(&domain, Some(1e-5), 1.0).is_err(), "too many");
    }

    #[test]
    fn sums_over_cells_are_those_of_spheres() {
        let mut domain = GrainBox::closed([0.0; 3], [0.08; 3], 0);
        domain.axes[0] = BoxAxis::Periodic;
        let mut grains = Vec::new();
        for i in 0..64 {
            let at = [i % 4, i / 4 % 4, i / 16].map(|i| 0.02 * f64::from(i) + 0.01);
            let mut grain = Grain::at(at, 0.007);
            // Through the ends of the period too.
            grain.center[0] -= 0.0083;
            grain.velocity = [0.1 * f64::from(i % 7), -0.2, 0.3];
            grains.push(grain);
        }
        // Two that overlap by a tenth of a millimetre.
        let first = [0.0103, 0.0199, 0.0199];
        grains.push(Grain::at(first, 0.002));
        grains.push(Grain::at([first[0] + 3.9e-3, first[1], first[2]], 0.002));
        let bed = bed(domain, &grains);
        let mesh = mesh_of(&domain, Some(0.005), 0.014).expect("a mesh");
        let mut to = FlowState::default();
        Cells::default().fill(&bed, &bed.grains(), &mesh, &mut to);
        let space = 0.005f64.powi(3);
        let sum = |of: &[f32]| of.iter().map(|x| f64::from(*x) * space).sum::<f64>();
        let volume: f64 = grains
            .iter()
            .map(|g| 4.0 / 3.0 * PI * g.radius.powi(3))
            .sum();
        assert!((sum(&to.scalars[0]) / volume - 1.0).abs() < 1e-6);
        assert!((sum(&to.snapshot.density) / (2000.0 * volume) - 1.0).abs() < 1e-6);
        for a in 0..3 {
            let momentum: f64 = (to.snapshot.density.iter())
                .zip(&to.snapshot.velocity[a])
                .map(|(m, v)| f64::from(*m) * f64::from(*v) * space)
                .sum();
            let expected: f64 = grains
                .iter()
                .map(|g| 2000.0 * 4.0 / 3.0 * PI * g.radius.powi(3) * g.velocity[a])
                .sum();
            assert!(
                (momentum / expected - 1.0).abs() < 1e-5,
                "{momentum} {expected}"
            );
        }
        // The middle cell of a sphere of 14 mm is full, and a cell is within 4 % of the volume by brute force.
        let places = Places {
            mesh: &mesh,
            domain: &domain,
        };
        let at = grains[21].center;
        let cell = places.cell(at).expect("a cell");
        assert!(
            f64::from(to.scalars[0][cell]) > 0.9,
            "{}",
            to.scalars[0][cell]
        );
        // Hertz: F d / 3 of the one contact.
        let (young, radius, overlap) = (1e7 / (2.0 * (1.0 - 0.0625)), 0.001f64, 1e-4f64);
        let force = 4.0 / 3.0 * young * radius.sqrt() * overlap.powf(1.5);
        let pressure = to.pressure.as_ref().expect("a pressure");
        assert!((sum(pressure) / (force * 3.9e-3 / 3.0) - 1.0).abs() < 1e-5);
        let cell = places.cell([first[0] + 1.95e-3, first[1], first[2]]);
        assert!(pressure[cell.expect("a cell")] > 0.0, "where they touch");
    }
}
