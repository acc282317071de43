//! A sphere on the ground: sliding, rolling, slopes, rolling friction, against rigid-body mechanics.

use crate::{SOFT, params, start, touch};
use cutlink_grains::{Bed, Grain};
use std::f64::consts::PI;

const R: f64 = 1e-3;
const G: f64 = 9.81;

/// A sphere on the ground, where its weight is held.
fn on_the_ground(velocity: f64, gravity: [f64; 3], touch: cutlink_grains::Touch) -> Bed {
    let young = SOFT.young / (2.0 * (1.0 - SOFT.poisson.powi(2)));
    let weight = 4.0 / 3.0 * PI * R.powi(3) * SOFT.density * -gravity[2];
    let depth = (weight / (4.0 / 3.0 * young * R.sqrt())).powf(2.0 / 3.0);
    let mut grain = Grain::at([2e-3, 0.05, R - depth], R);
    grain.velocity[0] = velocity;
    let mut params = params([0.5, 0.1, 0.1], touch, 5e-6);
    params.gravity = gravity;
    start(params, &[grain])
}

fn run(bed: &mut Bed, time: f64) -> Grain {
    let steps = ((time - bed.time()) / bed.params().dt).round() as u64;
    bed.run(steps).expect("steps");
    assert_eq!(bed.validate(), Ok(()));
    bed.grains()[0]
}

#[test]
fn a_sliding_sphere_ends_rolling_at_five_sevenths_of_its_speed() {
    let (v, mu) = (0.2, 0.3);
    let mut bed = on_the_ground(v, [0.0, 0.0, -G], touch(0.5, mu, 0.0));
    let rolls_at = 2.0 * v / (7.0 * mu * G);
    let grain = run(&mut bed, 0.5 * rolls_at);
    let want = v - mu * G * bed.time();
    assert!((grain.velocity[0] / want - 1.0).abs() < 1e-3, "{grain:?}");
    let spin = 2.5 * mu * G * bed.time() / R;
    assert!(
        (grain.spin[1] / spin - 1.0).abs() < 1e-3,
        "{grain:?}, {spin}"
    );
    let grain = run(&mut bed, 3.0 * rolls_at);
    assert!(
        (grain.velocity[0] / (5.0 / 7.0 * v) - 1.0).abs() < 2e-3,
        "{grain:?}"
    );
    assert!(
        (grain.spin[1] * R / grain.velocity[0] - 1.0).abs() < 2e-3,
        "{grain:?}"
    );
}

#[test]
fn a_sphere_rolls_down_a_slope_at_five_sevenths_of_the_pull() {
    let slope = 20f64.to_radians();
    let gravity = [G * slope.sin(), 0.0, -G * slope.cos()];
    let mut bed = on_the_ground(0.0, gravity, touch(0.5, 0.5, 0.0));
    let grain = run(&mut bed, 0.05);
    let want = 5.0 / 7.0 * G * slope.sin() * bed.time();
    assert!(
        (grain.velocity[0] / want - 1.0).abs() < 2e-3,
        "{grain:?} {want}"
    );
}

#[test]
fn friction_holds_no_more_than_its_limit_on_a_slope() {
    // Below the limit 2/7 tan, the sphere slips: a = g (sin − mu cos).
    let slope = 40f64.to_radians();
    let gravity = [G * slope.sin(), 0.0, -G * slope.cos()];
    let mu = 0.1;
    let mut bed = on_the_ground(0.0, gravity, touch(0.5, mu, 0.0));
    let grain = run(&mut bed, 0.05);
    let want = G * (slope.sin() - mu * slope.cos()) * bed.time();
    assert!(
        (grain.velocity[0] / want - 1.0).abs() < 2e-3,
        "{grain:?} {want}"
    );
}

#[test]
fn rolling_friction_slows_and_stops_a_rolling_sphere() {
    // m a = F, 2/5 m r² a / r = −mu_r r m g − F r: a = −5/7 mu_r g.
    let (v, rolling) = (0.1, 0.05);
    let mut bed = on_the_ground(v, [0.0, 0.0, -G], touch(0.5, 0.6, rolling));
    let before = run(&mut bed, 0.05);
    let time = bed.time();
    let after = run(&mut bed, 0.1);
    let slowing = (before.velocity[0] - after.velocity[0]) / (bed.time() - time);
    assert!(
        (slowing / (5.0 / 7.0 * rolling * G) - 1.0).abs() < 5e-3,
        "{slowing}"
    );
    let at_rest = run(&mut bed, 0.5);
    assert!(at_rest.velocity[0].abs() < 1e-6 * v, "{at_rest:?}");
    // And holds on a slope below its angle.
    let slope = 0.5 * f64::from(0.05f32).atan();
    let gravity = [G * slope.sin(), 0.0, -G * slope.cos()];
    let mut bed = on_the_ground(0.0, gravity, touch(0.5, 0.6, rolling));
    let grain = run(&mut bed, 0.2);
    assert!(grain.velocity[0].abs() < 1e-6, "{grain:?}");
    assert!((grain.center[0] - 2e-3).abs() < 0.1 * R, "{grain:?}");
}
