//! Forces of grains, in a fixed order: own row, rows of others, walls.

use crate::arrays::{Contacts, GrainArrays};
use crate::kernels::cpu::integrate::kick;
use crate::kernels::cpu::pairs::split;
use crate::kernels::cpu::walls::{Near, WallView, touch_walls};
use crate::kernels::{APART, BLOCK};
use crate::vec3::{Vec3, add, sub};
use rayon::prelude::*;

/// Sums the forces of all grains, and ends the step of the velocities. `half` is half of the time step.
pub(crate) fn gather(
    grains: &mut GrainArrays,
    contacts: &mut Contacts,
    walls: &WallView<'_>,
    half: f64,
) {
    let n = grains.x.len();
    let (x, r, m, material) = (&grains.x, &grains.r, &grains.m, &grains.material);
    let (mut v, mut w) = (&mut grains.v[..], &mut grains.w[..]);
    let (mut f, mut t) = (&mut grains.f[..], &mut grains.t[..]);
    let (pairs, touch) = (&contacts.pairs, &contacts.touch);
    let candidates = (&contacts.wall_first[..], &contacts.wall[..]);
    let mut blocks = Vec::with_capacity(n.div_ceil(BLOCK));
    for (begin, block) in (0..n).step_by(BLOCK).zip(&mut contacts.walls) {
        let len = BLOCK.min(n - begin);
        let velocities = (split(&mut v, len), split(&mut w, len));
        let forces = (split(&mut f, len), split(&mut t, len));
        blocks.push((begin, velocities, forces, block));
    }
    blocks
        .into_par_iter()
        .for_each_init(Near::default, |near, (begin, (v, w), (f, t), block)| {
            block.begin();
            for row in 0..v.len() {
                let i = begin + row;
                let mut sum = ([0.0; 3], [0.0; 3]);
                let own = touch.first[i] as usize..(touch.first[i] + touch.count[i]) as usize;
                for pair in &touch.force[own] {
                    sum.0 = add(sum.0, pair.force);
                    sum.1 = add(sum.1, pair.torque);
                }
                let back = pairs.back_first[i] as usize..pairs.back_first[i + 1] as usize;
                for &q in &pairs.back[back] {
                    let at = pairs.place[q as usize];
                    if at != APART {
                        let pair = &touch.force[at as usize];
                        sum.0 = sub(sum.0, pair.force);
                        sum.1 = add(sum.1, pair.back_torque);
                    }
                }
                let grain = WallGrain {
                    x: x[i],
                    v: v[row],
                    w: w[row],
                    r: r[i],
                    m: m[i],
                    material: material[i],
                };
                touch_walls(walls, candidates, (i, &grain), block, near, &mut sum);
                let rates = (&mut v[row], &mut w[row]);
                kick(rates, (&mut f[row], &mut t[row]), (m[i], r[i]), half, sum);
            }
            block.end();
        });
}

/// A grain at walls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallGrain {
    pub(crate) x: Vec3,
    pub(crate) v: Vec3,
    pub(crate) w: Vec3,
    pub(crate) r: f64,
    pub(crate) m: f64,
    pub(crate) material: u8,
}
