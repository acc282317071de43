//! The velocity Verlet method. Between drift and kick, velocities are those predicted for the end of the step, so that
//! damping forces are of second order too.

use crate::arrays::GrainArrays;
use crate::kernels::BLOCK;
use crate::kernels::cpu::pairs::split;
use crate::vec3::{Vec3, add, along, dot, scale, sub};
use rayon::prelude::*;

/// Moves centres by a step. The largest squared distance from where candidates were made, and the grains that moved by
/// more than half their radius or are not a number, with the lowest id of them.
pub(crate) fn drift(grains: &mut GrainArrays, gravity: Vec3, dt: f64) -> (f64, usize, u32) {
    let n = grains.x.len();
    let (mut x, mut v, mut w) = (&mut grains.x[..], &mut grains.v[..], &mut grains.w[..]);
    let (f, t, r, m) = (&grains.f, &grains.t, &grains.r, &grains.m);
    let (id, load) = (&grains.id, &grains.load);
    let from = &grains.x_sorted;
    let mut blocks = Vec::with_capacity(n.div_ceil(BLOCK));
    for begin in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - begin);
        let rows = (split(&mut x, len), split(&mut v, len), split(&mut w, len));
        blocks.push((begin, rows));
    }
    let each = blocks.into_par_iter().map(|(begin, (x, v, w))| {
        let (mut far, mut lost, mut first) = (0.0f64, 0, u32::MAX);
        for row in 0..x.len() {
            let i = begin + row;
            // Loads do not change in a step, so that the kick needs none.
            let [force, torque] = match load.get(i) {
                Some(load) => [add(f[i], load[0]), add(t[i], load[1])],
                None => [f[i], t[i]],
            };
            let a = along(gravity, 1.0 / m[i], force);
            let turn = scale(2.5 / (m[i] * r[i] * r[i]), torque);
            let step = scale(dt, along(v[row], 0.5 * dt, a));
            x[row] = add(x[row], step);
            v[row] = along(v[row], dt, a);
            w[row] = along(w[row], dt, turn);
            let away = sub(x[row], from[i]);
            far = far.max(dot(away, away));
            // Not a number is beyond any bound, and so is a rotation that is none.
            let good = dot(step, step) <= 0.25 * r[i] * r[i] && dot(w[row], w[row]).is_finite();
            if !good {
                lost += 1;
                first = first.min(id[i]);
            }
        }
        (far, lost, first)
    });
    each.reduce(
        || (0.0, 0, u32::MAX),
        |a, b| (a.0.max(b.0), a.1 + b.1, a.2.min(b.2)),
    )
}

/// Corrects the predicted velocities of a grain by the new force and torque, and stores these.
#[inline]
pub(crate) fn kick(
    (v, w): (&mut Vec3, &mut Vec3),
    (f, t): (&mut Vec3, &mut Vec3),
    (mass, radius): (f64, f64),
    half: f64,
    (force, torque): (Vec3, Vec3),
) {
    *v = along(*v, half / mass, sub(force, *f));
    let inertia = 0.4 * mass * radius * radius;
    *w = along(*w, half / inertia, sub(torque, *t));
    *f = force;
    *t = torque;
}
