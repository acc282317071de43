//! Poiseuille and Couette flow between walls that are inclined by arctan(4/11), 19.98 degrees, to the lattice.
//!
//! In a periodic box of 11 by 4 the lines y = 4 x / 11 + const go on as themselves through the faces, so the channel has no ends, and parabola
//! and line are exact. The walls pass the faces at four places, moving ones too: links are cut there as everywhere.

use cutlink_mesher::Surface;
use cutlink_solver::{LatticeFlow, Motion, PatchCondition, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    on_one_thread:
    poiseuille_between_inclined_walls,
    couette_between_inclined_walls,
    permeability_by_viscosity
);

/// Vertical distance of the channel's walls, and where the lower one meets x = 0, at 16 cells a period.
pub(super) const GAP: f64 = 10.3;
const LOWER: f64 = 2.37;
pub(super) const SLOPE: f64 = 4.0 / 11.0;

const INTERPOLATED: [WallScheme; 3] =
    [WallScheme::Linear, WallScheme::Quadratic, WallScheme::Local];

/// The channel in a box of 44 by 16 cells times a scale: the solid between one period of it and the next.
pub(super) fn channel(scale: u32) -> Mesh<2> {
    channel_of(scale, 44)
}

/// The same in a box so many cells long.
pub(super) fn channel_of(scale: u32, length: u32) -> Mesh<2> {
    let (s, slope, end) = (
        f64::from(scale),
        16.0 / f64::from(length),
        f64::from(length) + 5.0,
    );
    let mut slabs = Surface::<2>::single_patch(Vec::new(), Vec::new(), "lower");
    slabs.patches.push("upper".into());
    for period in -3..=2 {
        let low = LOWER + GAP + 16.0 * f64::from(period);
        let first = slabs.vertices.len() as u32;
        let corner = |x: f64, rise: f64| [s * x, s * (slope * x + low + rise)];
        slabs.vertices.extend([
            corner(-5.0, 0.0),
            corner(end, 0.0),
            corner(end, 16.0 - GAP),
            corner(-5.0, 16.0 - GAP),
        ]);
        slabs
            .facets
            .extend((0..4).map(|i| [first + i, first + (i + 1) % 4]));
        // The slab's lower side bounds the channel from above.
        slabs.facet_patch.extend([1, 0, 0, 0]);
    }
    let frame = Frame::new([0.0; 2], 1.0, [length * scale, 16 * scale]).expect("a box");
    let params = EmbedParams {
        periodic: [true, true, false],
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    bodies::mesh_of(&slabs, frame, &params)
}

/// Poiseuille flow with its greatest speed `peak`, advanced from the exact parabola by so many times h² / ν. Calls `judge` with mesh,
/// flow and the exact velocity.
fn poiseuille<K: AnyFlow, R>(
    kernels: &K,
    scale: u32,
    scheme: WallScheme,
    (viscosity, peak, times): (f64, f64, f64),
    judge: impl FnOnce(&Mesh<2>, &mut dyn LatticeFlow<2>, &dyn Fn([f64; 2]) -> [f64; 2]) -> R,
) -> R {
    let mesh = channel(scale);
    let s = f64::from(scale);
    let along = [1.0, SLOPE].map(|c| c / 1f64.hypot(SLOPE));
    let height = GAP * s * along[0];
    let mut params = flows::params(&mesh, viscosity);
    let drive = 8.0 * viscosity * peak / (height * height);
    params.acceleration = along.map(|c| c * drive);
    params.patches = vec![PatchCondition::wall(scheme); 2];
    let exact = |x: [f64; 2]| {
        let above = (x[1] - SLOPE * x[0] - LOWER * s).rem_euclid(16.0 * s) * along[0];
        along.map(|c| c * 4.0 * peak * above * (height - above) / (height * height))
    };
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|x| (1.0, exact(x))).expect("a start");
    flow.advance((times * height * height / viscosity) as u64)
        .expect("steps");
    flow.check().expect("no divergence");
    judge(&mesh, flow.as_mut(), &exact)
}

/// The L2 error of the velocity.
fn error<K: AnyFlow>(kernels: &K, scale: u32, scheme: WallScheme) -> f64 {
    let setting = (0.2, 0.02 / f64::from(scale), 0.6);
    poiseuille(kernels, scale, scheme, setting, l2_error)
}

fn l2_error(
    mesh: &Mesh<2>,
    flow: &mut dyn LatticeFlow<2>,
    exact: &dyn Fn([f64; 2]) -> [f64; 2],
) -> f64 {
    let (mut wrong, mut all) = (0.0, 0.0);
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(mesh, &snapshot, |x, _, _, u| {
        let e = exact(x);
        wrong += (u[0] - e[0]).powi(2) + (u[1] - e[1]).powi(2);
        all += e[0].powi(2) + e[1].powi(2);
    });
    (wrong / all).sqrt()
}

fn poiseuille_between_inclined_walls<K: AnyFlow>(kernels: &K) {
    let of = |scheme| {
        let errors = [1, 2, 3].map(|scale| error(kernels, scale, scheme));
        let order = (errors[0] / errors[2]).ln() / 3f64.ln();
        (order, errors)
    };
    let (simple, halfway) = of(WallScheme::BounceBack);
    assert!((0.6..1.5).contains(&simple), "order {simple}: {halfway:?}");
    for scheme in INTERPOLATED {
        let (order, errors) = of(scheme);
        assert!(order > 1.7, "{scheme}: order {order}: {errors:?}");
        assert!(
            errors[2] < 0.3 * halfway[2],
            "{scheme}: {errors:?} {halfway:?}"
        );
    }
}

/// The permeability of the channel, relative to the exact one, as a steady flow with a magic parameter of 3/16 has it.
fn permeability<K: AnyFlow>(kernels: &K, scheme: WallScheme, viscosity: f64) -> f64 {
    // So slow that no error is that of compressibility or inertia; from the parabola, since sound decays slowly.
    let mean = 1e-6;
    let setting = (viscosity, 1.5 * mean, 3.0);
    poiseuille(kernels, 1, scheme, setting, |mesh, flow, _| {
        let (mut sum, snapshot) = (0.0, flow.snapshot().expect("a snapshot"));
        flows::each_cell(mesh, &snapshot, |_, volume, _, u| {
            sum += volume * (u[0] + SLOPE * u[1]) / 1f64.hypot(SLOPE);
        });
        sum / (mean * GAP * 44.0)
    })
}

/// Ginzburg, Verhaeghe & d'Humières 2008: at a fixed magic parameter the central scheme has one permeability; links shorter than a
/// tenth, which are linear, change it a little.
fn permeability_by_viscosity<K: AnyFlow>(kernels: &K) {
    let of = |scheme| [0.02, 0.2, 1.0].map(|viscosity| permeability(kernels, scheme, viscosity));
    let spread = |k: [f64; 3]| {
        let least = -worst(k.map(|k| -k));
        worst(k) / least - 1.0
    };
    let (local, linear) = (of(WallScheme::Local), of(WallScheme::Linear));
    assert!(spread(local) < 1e-3, "local: {local:?}");
    assert!(
        (local[0] - 1.0).abs() < 0.012,
        "local: {local:?} linear: {linear:?}"
    );
    assert!(spread(linear) > 4e-2, "linear: {linear:?}");
}

/// The L2 error of steady Couette flow, and the force on the moving wall along itself over the exact one.
fn couette<K: AnyFlow>(kernels: &K, scale: u32, scheme: WallScheme) -> (f64, f64) {
    let mesh = channel(scale);
    let s = f64::from(scale);
    let along = [1.0, SLOPE].map(|c| c / 1f64.hypot(SLOPE));
    let (height, speed) = (GAP * s * along[0], 0.01);
    let mut params = flows::params(&mesh, 0.2);
    params.forces = true;
    let viscosity = params.viscosity;
    let motion = Motion::Uniform(along.map(|c| c * speed));
    params.patches = vec![
        PatchCondition::wall(scheme),
        PatchCondition::Wall { scheme, motion },
    ];
    let exact = |x: [f64; 2]| {
        let above = (x[1] - SLOPE * x[0] - LOWER * s).rem_euclid(16.0 * s) * along[0];
        along.map(|c| c * speed * above / height)
    };
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|x| (1.0, exact(x))).expect("a start");
    flow.advance((0.6 * height * height / viscosity) as u64)
        .expect("steps");
    flow.check().expect("no divergence");
    let wall = 44.0 * s / along[0];
    let last = flow.take_forces().expect("forces").pop().expect("a sample");
    let force = last.patches[1];
    let drag = force[0] * along[0] + force[1] * along[1];
    let shear = viscosity * speed / height * wall;
    (l2_error(&mesh, flow.as_mut(), &exact), -drag / shear)
}

fn couette_between_inclined_walls<K: AnyFlow>(kernels: &K) {
    let [(coarse, _), (fine, _)] =
        [1, 3].map(|scale| couette(kernels, scale, WallScheme::BounceBack));
    assert!(
        (1.5..6.0).contains(&(coarse / fine)) && coarse < 0.1,
        "bounce-back: {coarse} {fine}"
    );
    for scheme in INTERPOLATED {
        let errors = [1, 3].map(|scale| couette(kernels, scale, scheme));
        let [(coarse, _), (error, drag)] = errors;
        assert!(
            (error < 1e-4 || coarse / error > 6.0) && error < 0.05 * fine,
            "{scheme}: {errors:?}, bounce-back {fine}"
        );
        assert!((drag - 1.0).abs() < 3e-3, "{scheme}: {errors:?}");
    }
}
