//! A bed: grains, their contacts, and time.

mod check;
mod limit;
mod loads;
mod outside;

pub use limit::StepLimit;
pub use loads::{BedWall, GrainLoad};

use crate::arrays::{Contacts, GrainArrays};
use crate::kernels::cpu::sort::{Grid, sort, wrap};
use crate::kernels::cpu::walls::{FACES, WallView, face};
use crate::kernels::cpu::{candidates, gather, integrate, pairs, walls};
use crate::kernels::{APART, BLOCK};
use crate::law::{sphere_mass, stored_energy};
use crate::params::check_material;
use crate::vec3::{Vec3, add, along, cross, dot, norm, scale, sub};
use crate::walls::{WallBlock, WallRecord};
use crate::{GrainError, GrainParams, SurfaceWall};
use cutlink_device::memory;

/// A sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Centre, in m.
    pub center: [f64; 3],
    /// Velocity, in m/s.
    pub velocity: [f64; 3],
    /// Angular velocity, in rad/s.
    pub spin: [f64; 3],
    /// Radius, in m.
    pub radius: f64,
    /// Index of its material.
    pub material: u8,
}

impl Grain {
    /// A grain at rest, of the first material.
    pub fn at(center: [f64; 3], radius: f64) -> Self {
        Self {
            center,
            velocity: [0.0; 3],
            spin: [0.0; 3],
            radius,
            material: 0,
        }
    }
}

/// Energies of a bed, in J.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BedEnergy {
    /// Of translation.
    pub kinetic: f64,
    /// Of rotation.
    pub spin: f64,
    /// Elastic, of normal overlaps.
    pub elastic: f64,
    /// In the field of gravity, 0 at the lower corner of the box.
    pub gravity: f64,
}

impl BedEnergy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.spin + self.elastic + self.gravity
    }
}

/// A contact of a grain with a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallContact {
    /// The grain.
    pub id: u32,
    /// The facet of the surface; `None`: a face of the box.
    pub facet: Option<u32>,
    /// Unit vector from the grain to the wall.
    pub normal: [f64; 3],
}

/// Grains at a time; see the documentation of the crate.
#[derive(Debug)]
pub struct Bed {
    pub(crate) params: GrainParams,
    pub(crate) surface: Option<SurfaceWall>,
    pub(crate) grains: GrainArrays,
    pub(crate) contacts: Contacts,
    pub(crate) step: u64,
    /// A time, and the step at which it was: since then steps have had the length of the parameters.
    pub(crate) clock: (f64, u64),
    pub(crate) sorts: u64,
    /// Absolute skin, in m.
    pub(crate) skin: f64,
    pub(crate) grid: Grid,
    pub(crate) periods: [[f64; 2]; 3],
}

/// Most grains: ids, and the sentinel of places.
const MAX_GRAINS: usize = 1 << 31;

impl Bed {
    /// Checks parameters and grains, finds the contacts and computes the first forces.
    ///
    /// # Errors
    /// Numbers out of range; grains outside of the box, inside a wall or overlapping one another, with their count and the
    /// first place; a time step that does not resolve contacts; no memory.
    pub fn start(
        params: GrainParams,
        surface: Option<SurfaceWall>,
        grains: &[Grain],
    ) -> Result<Self, GrainError> {
        params.check()?;
        if grains.len() > MAX_GRAINS {
            return Err(GrainError::TooMany {
                what: "grains",
                count: grains.len(),
                most: MAX_GRAINS,
            });
        }
        let mut arrays = arrays(&params, grains)?;
        wrap(&mut arrays, &params.domain);
        let mut bed = Self::from_arrays(params, surface, arrays, None)?;
        bed.check_places()?;
        bed.check_step()?;
        bed.sort()?;
        bed.check_overlaps()?;
        bed.forces(0.0, 0.0);
        Ok(bed)
    }

    /// A bed without contacts.
    pub(crate) fn from_arrays(
        params: GrainParams,
        surface: Option<SurfaceWall>,
        grains: GrainArrays,
        skin: Option<f64>,
    ) -> Result<Self, GrainError> {
        if let Some(surface) = &surface {
            let materials = params.materials.list().len();
            check_material("material of the surface", surface.material(), materials)?;
        }
        let n = grains.x.len();
        let mean = grains.r.iter().sum::<f64>() / n.max(1) as f64;
        let largest = grains.r.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let skin = skin.unwrap_or(params.skin * mean);
        let reach = 2.0 * largest + skin;
        check::periods(&params.domain, surface.as_ref(), reach)?;
        Ok(Self {
            grid: Grid::new(&params.domain, reach, n),
            periods: params.domain.periods(),
            params,
            surface,
            grains,
            contacts: Contacts::default(),
            step: 0,
            clock: (0.0, 0),
            sorts: 0,
            skin,
        })
    }

    /// Makes so many steps.
    ///
    /// # Errors
    /// [`GrainError::Diverged`]; [`GrainError::TimeStep`], where grains have become too fast for the step; no memory.
    pub fn run(&mut self, steps: u64) -> Result<(), GrainError> {
        self.check_step()?;
        self.steps_of(self.params.dt, steps)
    }

    /// Makes so many steps of a length that was checked.
    fn steps_of(&mut self, dt: f64, steps: u64) -> Result<(), GrainError> {
        for _ in 0..steps {
            let gravity = self.params.gravity;
            let (far, lost, first) = integrate::drift(&mut self.grains, gravity, dt);
            self.step += 1;
            if lost > 0 {
                return Err(self.lost(lost, first));
            }
            if far > 0.25 * self.skin * self.skin {
                self.sort()?;
            }
            self.forces(dt, 0.5 * dt);
        }
        Ok(())
    }

    /// Forces at the present places, after a step of `dt`; velocities are corrected by `half` a step.
    fn forces(&mut self, dt: f64, half: f64) {
        let materials = &self.params.materials;
        let Contacts { pairs, touch, .. } = &mut self.contacts;
        pairs::meet(&self.grains, materials, &self.periods, dt, pairs, touch);
        let view = WallView {
            domain: &self.params.domain,
            materials,
            surface: self.surface.as_ref(),
            dt,
        };
        gather::gather(&mut self.grains, &mut self.contacts, &view, half);
    }

    /// Sorts the grains, and finds candidates; contacts keep what they remember.
    fn sort(&mut self) -> Result<(), GrainError> {
        let order = sort(&mut self.grains, &self.params.domain, &self.grid)?;
        let before = std::mem::take(&mut self.contacts.pairs);
        let records = std::mem::take(&mut self.contacts.walls);
        self.find_candidates()?;
        if !before.first.is_empty() {
            candidates::remember(&before, &order, &mut self.contacts.pairs);
            let rows = order.iter().map(|&old| {
                let old = old as usize;
                records[old / BLOCK].of(old % BLOCK)
            });
            self.contacts.walls = blocks(rows);
        }
        self.sorts += 1;
        Ok(())
    }

    /// Candidates from the places at the last sort; nothing is remembered.
    pub(crate) fn find_candidates(&mut self) -> Result<(), GrainError> {
        let n = self.grains.x.len();
        let mut pairs = candidates::find(&self.grains, &self.grid, &self.periods, self.skin)?;
        let total = pairs.other.len();
        if self.params.materials.has_rolling() {
            memory::grow("rolling angles of pairs", &mut pairs.roll, total, [0.0; 3])?;
        }
        candidates::room(&mut self.contacts.touch, n, total)?;
        self.contacts.pairs = pairs;
        let surface = self.surface.as_ref();
        let found = walls::find(&self.grains, &self.params.domain, surface, self.skin)?;
        (self.contacts.wall_first, self.contacts.wall) = found;
        self.contacts.walls = blocks((0..n).map(|_| &[][..]));
        Ok(())
    }

    /// Adds grains, whose ids follow those that are there. The skin stays as it is.
    ///
    /// # Errors
    /// As [`Bed::start`]; the bed is of no use then.
    pub fn insert(&mut self, grains: &[Grain]) -> Result<(), GrainError> {
        let (n, count) = (self.len(), self.len() + grains.len());
        if count > MAX_GRAINS {
            return Err(GrainError::TooMany {
                what: "grains",
                count,
                most: MAX_GRAINS,
            });
        }
        let mut new = arrays(&self.params, grains)?;
        new.id.iter_mut().for_each(|id| *id += n as u32);
        let g = &mut self.grains;
        for (array, new) in [
            (&mut g.x, new.x),
            (&mut g.v, new.v),
            (&mut g.w, new.w),
            (&mut g.f, new.f),
            (&mut g.t, new.t),
            (&mut g.x_sorted, new.x_sorted),
        ] {
            array.extend(new);
        }
        g.r.extend(new.r);
        g.m.extend(new.m);
        g.material.extend(new.material);
        g.id.extend(new.id);
        if !g.load.is_empty() {
            g.load.resize(count, [[0.0; 3]; 2]);
        }
        let largest = g.r.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let reach = 2.0 * largest + self.skin;
        check::periods(&self.params.domain, self.surface.as_ref(), reach)?;
        self.grid = Grid::new(&self.params.domain, reach, count);
        // Before, the new ones had no contacts.
        let first = &mut self.contacts.pairs.first;
        let last = first.last().copied().unwrap_or(0);
        first.resize(count + 1, last);
        let rows: Vec<Vec<WallRecord>> = (0..n)
            .map(|i| self.contacts.walls[i / BLOCK].of(i % BLOCK).to_vec())
            .collect();
        let new_rows = (n..count).map(|_| &[][..]);
        self.contacts.walls = blocks(rows.iter().map(Vec::as_slice).chain(new_rows));
        wrap(&mut self.grains, &self.params.domain);
        self.check_places()?;
        self.check_step()?;
        self.sort()?;
        self.check_overlaps()?;
        self.forces(0.0, 0.0);
        Ok(())
    }

    /// Multiplies velocities and spins, of beds that are to come to rest.
    pub(crate) fn slow_down(&mut self, factor: f64) {
        let each = self.grains.v.iter_mut().chain(&mut self.grains.w);
        each.for_each(|v| *v = scale(factor, *v));
    }

    /// Other materials and another step from now on. Contacts keep what they remember.
    ///
    /// # Errors
    /// Another number of materials; those of [`Bed::start`] about the step.
    pub(crate) fn harden(
        &mut self,
        materials: crate::Materials,
        dt: f64,
    ) -> Result<(), GrainError> {
        self.clock = (self.time(), self.step);
        self.params.materials = materials;
        self.params.dt = dt;
        self.params.check()?;
        self.check_step()
    }

    /// Grains.
    pub fn len(&self) -> usize {
        self.grains.x.len()
    }

    /// Whether there is no grain.
    pub fn is_empty(&self) -> bool {
        self.grains.x.is_empty()
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// How often candidates were made.
    pub fn sorts(&self) -> u64 {
        self.sorts
    }

    /// Candidate pairs now.
    pub fn candidates(&self) -> usize {
        self.contacts.pairs.other.len()
    }

    /// Time since the start, in s.
    pub fn time(&self) -> f64 {
        let (time, step) = self.clock;
        time + (self.step - step) as f64 * self.params.dt
    }

    /// The parameters.
    pub fn params(&self) -> &GrainParams {
        &self.params
    }

    /// The surface.
    pub fn surface(&self) -> Option<&SurfaceWall> {
        self.surface.as_ref()
    }

    /// The grains by id. Along periodic axes, centres may be outside of the box by a skin.
    pub fn grains(&self) -> Vec<Grain> {
        let mut by_id = vec![Grain::at([0.0; 3], 0.0); self.len()];
        let arrays = &self.grains;
        for (i, &id) in arrays.id.iter().enumerate() {
            by_id[id as usize] = Grain {
                center: arrays.x[i],
                velocity: arrays.v[i],
                spin: arrays.w[i],
                radius: arrays.r[i],
                material: arrays.material[i],
            };
        }
        by_id
    }

    /// Forces of contacts by id, in N, without weight.
    pub fn contact_forces(&self) -> Vec<[f64; 3]> {
        let mut by_id = vec![[0.0; 3]; self.len()];
        for (&id, &f) in self.grains.id.iter().zip(&self.grains.f) {
            by_id[id as usize] = f;
        }
        by_id
    }

    /// Pairs that touch.
    pub fn touching(&self) -> usize {
        self.contacts.pairs.touching()
    }

    /// Contacts with walls, in no particular order.
    pub fn wall_contacts(&self) -> Vec<WallContact> {
        let mut all = Vec::new();
        for (i, &id) in self.grains.id.iter().enumerate() {
            let records = self.contacts.walls[i / BLOCK].of(i % BLOCK);
            all.extend(records.iter().map(|record| WallContact {
                id,
                facet: record.key.checked_sub(FACES),
                normal: record.normal,
            }));
        }
        all
    }

    /// The largest overlap of a pair, or of a grain with a wall, as a share of the (smaller) radius.
    pub fn largest_overlap(&self) -> f64 {
        let (mut largest, g) = (0.0f64, &self.grains);
        self.each_touching(|i, j, overlap| {
            largest = largest.max(overlap / g.r[i].min(g.r[j]));
        });
        for i in 0..self.len() {
            for distance in self.wall_distances(i) {
                largest = largest.max((g.r[i] - distance) / g.r[i]);
            }
        }
        largest
    }

    /// Calls with each touching pair and its overlap, in order.
    pub(crate) fn each_touching(&self, mut call: impl FnMut(usize, usize, f64)) {
        let (g, p) = (&self.grains, &self.contacts.pairs);
        for i in 0..self.len() {
            for q in p.first[i] as usize..p.first[i + 1] as usize {
                if p.place[q] != APART {
                    let j = p.other[q] as usize;
                    let d = norm(pairs::apart(g.x[i], g.x[j], &self.periods));
                    call(i, j, g.r[i] + g.r[j] - d);
                }
            }
        }
    }

    /// Distances of the walls that a grain has contacts with.
    fn wall_distances(&self, i: usize) -> impl Iterator<Item = f64> {
        let x = self.grains.x[i];
        let records = self.contacts.walls[i / BLOCK].of(i % BLOCK).iter();
        records.filter_map(move |record| match record.key.checked_sub(FACES) {
            None => face(&self.params.domain, record.key, x).map(|(distance, _)| distance),
            Some(facet) => Some(self.surface.as_ref()?.nearest(facet, x).distance),
        })
    }

    /// Sum of mass times velocity, in kg m/s.
    pub fn momentum(&self) -> [f64; 3] {
        let each = self.grains.v.iter().zip(&self.grains.m);
        each.fold([0.0; 3], |sum, (v, m)| along(sum, *m, *v))
    }

    /// Angular momentum about the origin, in kg m²/s. Of no meaning in periodic boxes.
    pub fn angular_momentum(&self) -> [f64; 3] {
        let g = &self.grains;
        (0..self.len()).fold([0.0; 3], |sum, i| {
            let inertia = 0.4 * g.m[i] * g.r[i] * g.r[i];
            let orbit = scale(g.m[i], cross(g.x[i], g.v[i]));
            add(add(sum, orbit), scale(inertia, g.w[i]))
        })
    }

    /// Kinetic energy of translation and rotation, in J, and the mass of all grains.
    pub(crate) fn kinetic(&self) -> (f64, f64) {
        let g = &self.grains;
        (0..self.len()).fold((0.0, 0.0), |(energy, mass), i| {
            let turning = 0.4 * g.r[i] * g.r[i] * dot(g.w[i], g.w[i]);
            let own = 0.5 * g.m[i] * (dot(g.v[i], g.v[i]) + turning);
            (energy + own, mass + g.m[i])
        })
    }

    /// Energies now.
    pub fn energy(&self) -> BedEnergy {
        let (g, lower) = (&self.grains, self.params.domain.lower);
        let mut energy = BedEnergy {
            kinetic: 0.0,
            spin: 0.0,
            elastic: 0.0,
            gravity: 0.0,
        };
        for i in 0..self.len() {
            energy.kinetic += 0.5 * g.m[i] * dot(g.v[i], g.v[i]);
            energy.spin += 0.2 * g.m[i] * g.r[i] * g.r[i] * dot(g.w[i], g.w[i]);
            energy.gravity -= g.m[i] * dot(self.params.gravity, sub(g.x[i], lower));
            let records = self.contacts.walls[i / BLOCK].of(i % BLOCK).iter();
            for (record, distance) in records.zip(self.wall_distances(i)) {
                let wall = self.wall_material(record);
                let law = self.params.materials.law(g.material[i], wall);
                energy.elastic += stored_energy(law, g.r[i], g.r[i] - distance);
            }
        }
        self.each_touching(|i, j, overlap| {
            let law = self.params.materials.law(g.material[i], g.material[j]);
            let radius = g.r[i] * g.r[j] / (g.r[i] + g.r[j]);
            energy.elastic += stored_energy(law, radius, overlap);
        });
        energy
    }

    fn wall_material(&self, record: &WallRecord) -> u8 {
        match (&self.surface, record.key.checked_sub(FACES)) {
            (Some(surface), Some(_)) => surface.material(),
            _ => {
                face(&self.params.domain, record.key, [0.0; 3]).map_or(0, |(_, material)| material)
            }
        }
    }
}

/// Contacts with walls by block, from rows of records.
pub(crate) fn blocks<'a>(rows: impl Iterator<Item = &'a [WallRecord]>) -> Vec<WallBlock> {
    let mut blocks: Vec<WallBlock> = Vec::new();
    for (i, row) in rows.enumerate() {
        if i % BLOCK == 0 {
            blocks.push(WallBlock::default());
        }
        if let Some(block) = blocks.last_mut() {
            block.records.extend_from_slice(row);
            block.ends.push(block.records.len() as u32);
        }
    }
    blocks
}

fn arrays(params: &GrainParams, grains: &[Grain]) -> Result<GrainArrays, GrainError> {
    let n = grains.len();
    let materials = params.materials.list();
    let vectors = || memory::with_capacity::<Vec3>("vectors of grains", n);
    let mut arrays = GrainArrays {
        x: vectors()?,
        v: vectors()?,
        w: vectors()?,
        f: vectors()?,
        t: vectors()?,
        x_sorted: vectors()?,
        r: memory::with_capacity("radii", n)?,
        m: memory::with_capacity("masses", n)?,
        material: memory::with_capacity("materials of grains", n)?,
        id: memory::with_capacity("ids of grains", n)?,
        load: Vec::new(),
    };
    for (id, grain) in grains.iter().enumerate() {
        check_material("material of a grain", grain.material, materials.len())?;
        check::numbers(id as u32, grain)?;
        let density = materials[usize::from(grain.material)].density;
        arrays.x.push(grain.center);
        arrays.v.push(grain.velocity);
        arrays.w.push(grain.spin);
        arrays.f.push([0.0; 3]);
        arrays.t.push([0.0; 3]);
        arrays.x_sorted.push(grain.center);
        arrays.r.push(grain.radius);
        arrays.m.push(sphere_mass(grain.radius, density));
        arrays.material.push(grain.material);
        arrays.id.push(id as u32);
    }
    Ok(arrays)
}
