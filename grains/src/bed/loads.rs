//! What is asked of a bed for outputs: forces on walls, pressure, contacts by grain, grains that got lost.

use super::Bed;
use crate::kernels::BLOCK;
use crate::kernels::cpu::pairs::apart;
use crate::kernels::cpu::walls::{FACES, face};
use crate::law::{self, Meeting};
use crate::vec3::{Vec3, add, along, cross, dot, norm, scale};
use crate::walls::WallRecord;
use rayon::prelude::*;

/// A wall of a bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BedWall {
    /// A face of the box: 2 axis, plus 1 for the upper one.
    Face(u8),
    /// A facet of the surface.
    Facet(u32),
}

/// The force of a grain on a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainLoad {
    /// The grain.
    pub id: u32,
    /// The wall.
    pub wall: BedWall,
    /// Where they touch, in m.
    pub at: [f64; 3],
    /// Force on the wall, in N.
    pub force: [f64; 3],
}

impl Bed {
    /// The speed of the fastest grain, in m/s.
    pub fn largest_speed(&self) -> f64 {
        let squares = self.grains.v.iter().map(|v| dot(*v, *v));
        squares
            .fold(0.0f64, |a, b| if b > a { b } else { a })
            .sqrt()
    }

    /// The forces on walls now, with the present velocities, grain by grain in the order of memory.
    pub fn wall_loads(&self) -> Vec<GrainLoad> {
        let mut loads = Vec::new();
        for i in 0..self.len() {
            for record in self.contacts.walls[i / BLOCK].of(i % BLOCK) {
                loads.extend(self.wall_load(i, record));
            }
        }
        loads
    }

    fn wall_load(&self, i: usize, record: &WallRecord) -> Option<GrainLoad> {
        let g = &self.grains;
        let (wall, distance) = match record.key.checked_sub(FACES) {
            None => (
                BedWall::Face(record.key as u8),
                face(&self.params.domain, record.key, g.x[i])?.0,
            ),
            Some(facet) => (
                BedWall::Facet(facet),
                self.surface.as_ref()?.nearest(facet, g.x[i]).distance,
            ),
        };
        let arm = scale(distance, record.normal);
        let overlap = g.r[i] - distance;
        let meeting = Meeting {
            normal: record.normal,
            overlap: overlap.max(0.0),
            radius: g.r[i],
            mass: g.m[i],
            velocity: add(g.v[i], cross(g.w[i], arm)),
            spin: g.w[i],
        };
        let law = self
            .params
            .materials
            .law(g.material[i], self.wall_material(record));
        // The memory is half a step ahead; it stays as it is.
        let mut memory = record.memory;
        let push = law::push(law, &meeting, 0.0, &mut memory);
        Some(GrainLoad {
            id: g.id[i],
            wall,
            at: add(g.x[i], arm),
            force: scale(-1.0, push.force),
        })
    }

    /// Calls with the place of each contact and its part of the pressure times volume, in J: a third of the elastic normal force
    /// times the distance of the centres, at walls that from the centre to the wall. The sum over a volume, over it, is the
    /// mean normal stress of the contacts (Love 1927; Christoffersen, Mehrabadi, Nemat-Nasser 1981). Pairs come first,
    /// in the order of memory.
    pub fn each_virial(&self, mut call: impl FnMut([f64; 3], f64)) {
        let (g, materials) = (&self.grains, &self.params.materials);
        let normal = |young: f64, radius: f64, overlap: f64| {
            4.0 / 3.0 * young * radius.sqrt() * overlap * overlap.sqrt()
        };
        self.each_touching(|i, j, overlap| {
            let apart = apart(g.x[i], g.x[j], &self.periods);
            let radius = g.r[i] * g.r[j] / (g.r[i] + g.r[j]);
            let law = materials.law(g.material[i], g.material[j]);
            let force = normal(law.young, radius, overlap.max(0.0));
            let distance = norm(apart);
            // In the middle of the overlap, from the first grain.
            let share = (g.r[i] - 0.5 * overlap) / distance.max(f64::MIN_POSITIVE);
            call(along(g.x[i], share, apart), force * distance / 3.0);
        });
        for i in 0..self.len() {
            let records = self.contacts.walls[i / BLOCK].of(i % BLOCK).iter();
            for (record, distance) in records.zip(self.wall_distances(i)) {
                let law = materials.law(g.material[i], self.wall_material(record));
                let force = normal(law.young, g.r[i], (g.r[i] - distance).max(0.0));
                call(
                    along(g.x[i], distance, record.normal),
                    force * distance / 3.0,
                );
            }
        }
    }

    /// Contacts of each grain by id, walls included.
    pub fn contact_counts(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.len()];
        let id = &self.grains.id;
        self.each_touching(|i, j, _| {
            counts[id[i] as usize] += 1;
            counts[id[j] as usize] += 1;
        });
        for (i, &id) in id.iter().enumerate() {
            counts[id as usize] += self.contacts.walls[i / BLOCK].of(i % BLOCK).len() as u32;
        }
        counts
    }

    /// Grains whose centre is beyond a wall of the box, or on the wrong side of the surface.
    pub fn strayed(&self) -> usize {
        let is_beyond = |x: Vec3| {
            let mut faces = (0..FACES).filter_map(|f| face(&self.params.domain, f, x));
            faces.any(|(distance, _)| distance < 0.0)
                || self.surface.as_ref().is_some_and(|wall| !wall.is_free(x))
        };
        let places = self.grains.x.par_iter();
        places.filter(|x| is_beyond(**x)).count()
    }
}
