//! Grains at walls: the faces of the box, and the surface.

use super::gather::WallGrain;
use crate::GrainError;
use crate::arrays::GrainArrays;
use crate::kernels::BLOCK;
use crate::law::{self, Meeting, Memory};
use crate::params::{BoxAxis, GrainBox, Materials};
use crate::surface::{Nearest, SurfaceWall};
use crate::vec3::{Vec3, add, along, cross, dot, scale};
use crate::walls::{WallBlock, WallRecord};
use cutlink_device::memory;
use rayon::prelude::*;

/// Faces of the box come before facets among the candidates.
pub(crate) const FACES: u32 = 6;

/// Cosine of the largest angle between the normals of a contact and of one that it continues on another facet.
const CONTINUES: f64 = 0.9;

/// The walls of a bed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallView<'a> {
    pub(crate) domain: &'a GrainBox,
    pub(crate) materials: &'a Materials,
    pub(crate) surface: Option<&'a SurfaceWall>,
    pub(crate) dt: f64,
}

/// Scratch of a thread.
#[derive(Debug, Default)]
pub(crate) struct Near {
    hits: Vec<Nearest>,
    kept: Vec<Nearest>,
}

/// Distance of a point from a face of the box, 2 axis + side; negative beyond it. `None` where there is no wall.
#[inline]
pub(crate) fn face(domain: &GrainBox, face: u32, x: Vec3) -> Option<(f64, u8)> {
    let (axis, side) = (face as usize / 2, face as usize % 2);
    let BoxAxis::Walls(walls) = domain.axes[axis] else {
        return None;
    };
    let distance = match side {
        0 => x[axis] - domain.lower[axis],
        _ => domain.upper[axis] - x[axis],
    };
    Some((distance, walls[side]?))
}

/// Walls nearer to each grain than its radius and the skin: rows of faces, then facets.
pub(crate) fn find(
    grains: &GrainArrays,
    domain: &GrainBox,
    surface: Option<&SurfaceWall>,
    skin: f64,
) -> Result<(Vec<u32>, Vec<u32>), GrainError> {
    let n = grains.x_sorted.len();
    let found: Vec<(Vec<u32>, Vec<u32>)> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|b| {
            let (mut ends, mut list) = (Vec::with_capacity(BLOCK), Vec::new());
            let mut facets = Vec::new();
            for i in b * BLOCK..n.min((b + 1) * BLOCK) {
                let (x, reach) = (grains.x_sorted[i], grains.r[i] + skin);
                let near = |f: &u32| face(domain, *f, x).is_some_and(|(d, _)| d < reach);
                list.extend((0..FACES).filter(near));
                if let Some(surface) = surface {
                    facets.clear();
                    surface.candidates(x, reach, &mut facets);
                    list.extend(facets.iter().map(|f| f + FACES));
                }
                ends.push(list.len() as u32);
            }
            (ends, list)
        })
        .collect();
    let total: usize = found.iter().map(|(_, list)| list.len()).sum();
    if total >= u32::MAX as usize {
        return Err(GrainError::TooMany {
            what: "candidates of grains and facets",
            count: total,
            most: u32::MAX as usize,
        });
    }
    let mut first = memory::with_capacity("rows of walls", n + 1)?;
    let mut list = memory::with_capacity("candidates of walls", total)?;
    first.push(0u32);
    for (ends, part) in found {
        let begin = list.len() as u32;
        first.extend(ends.into_iter().map(|end| begin + end));
        list.extend(part);
    }
    Ok((first, list))
}

/// Adds the forces of walls on a grain, whose contacts are appended to its block.
pub(crate) fn touch_walls(
    walls: &WallView<'_>,
    (first, list): (&[u32], &[u32]),
    (i, grain): (usize, &WallGrain),
    block: &mut WallBlock,
    near: &mut Near,
    sum: &mut (Vec3, Vec3),
) {
    let candidates = &list[first[i] as usize..first[i + 1] as usize];
    if !candidates.is_empty() {
        let faces = candidates.partition_point(|c| *c < FACES);
        for &f in &candidates[..faces] {
            let Some((distance, material)) = face(walls.domain, f, grain.x) else {
                continue;
            };
            if distance < grain.r {
                let mut normal = [0.0; 3];
                normal[f as usize / 2] = if f % 2 == 0 { -1.0 } else { 1.0 };
                let before = block.of_before(i % BLOCK);
                let same = before.iter().find(|old| old.key == f);
                let record = WallRecord {
                    key: f,
                    normal,
                    memory: same.map_or_else(Memory::default, |old| old.memory),
                };
                press(walls, grain, (record, distance, material), block, sum);
            }
        }
        if let Some(surface) = walls.surface.filter(|_| faces < candidates.len()) {
            let facets = candidates[faces..].iter().map(|c| c - FACES);
            let mut kept = std::mem::take(&mut near.kept);
            surface.contacts((grain.x, grain.r), facets, &mut near.hits, &mut kept);
            // Contacts before that still are, or that a new one continues; of the first 64.
            let mut taken = 0u64;
            for (at, old) in block.of_before(i % BLOCK).iter().enumerate().take(64) {
                let is_there = kept.iter().any(|hit| hit.facet + FACES == old.key);
                taken |= u64::from(is_there || old.key < FACES) << at;
            }
            for hit in &kept {
                let record = recall(block.of_before(i % BLOCK), hit, &mut taken);
                let place = (record, hit.distance, surface.material());
                press(walls, grain, place, block, sum);
            }
            near.kept = kept;
        }
    }
    block.ends.push(block.records.len() as u32);
}

/// The memory of a contact: that of the same facet, else of one that has ended with nearly the same normal.
fn recall(before: &[WallRecord], hit: &Nearest, taken: &mut u64) -> WallRecord {
    let key = hit.facet + FACES;
    let same = before.iter().find(|old| old.key == key);
    let memory = same.map(|old| old.memory).unwrap_or_else(|| {
        let ended = before.iter().enumerate().take(64);
        let ended = ended.filter(|(at, _)| *taken >> at & 1 == 0);
        let alike = ended.map(|(at, old)| (dot(old.normal, hit.normal), at));
        let alike = alike.filter(|(cosine, _)| *cosine > CONTINUES);
        let nearest = alike.reduce(|a, b| if b.0 > a.0 { b } else { a });
        nearest.map_or_else(Memory::default, |(_, at)| {
            *taken |= 1 << at;
            before[at].memory
        })
    });
    WallRecord {
        key,
        normal: hit.normal,
        memory,
    }
}

/// The force of one contact.
fn press(
    walls: &WallView<'_>,
    grain: &WallGrain,
    (mut record, distance, material): (WallRecord, f64, u8),
    block: &mut WallBlock,
    sum: &mut (Vec3, Vec3),
) {
    let arm = scale(distance, record.normal);
    let meeting = Meeting {
        normal: record.normal,
        overlap: grain.r - distance,
        radius: grain.r,
        mass: grain.m,
        velocity: add(grain.v, cross(grain.w, arm)),
        spin: grain.w,
    };
    let law = walls.materials.law(grain.material, material);
    let push = law::push(law, &meeting, walls.dt, &mut record.memory);
    sum.0 = add(sum.0, push.force);
    sum.1 = add(sum.1, along(push.roll, 1.0, cross(arm, push.force)));
    block.records.push(record);
}
