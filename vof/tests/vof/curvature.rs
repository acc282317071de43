//! V4: curvature of exact discs and spheres.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{LiquidShape, TwoPhaseFlow};

/// The largest relative error over places of a circle, of radius 0.2, or a sphere; and the part by heights.
fn error<const D: usize>(n: u32, places: u32, radius: f64) -> [f64; 2] {
    let h = 1.0 / f64::from(n);
    let (mut largest, mut counts) = (Vec::new(), [0, 0]);
    for k in 0..places {
        let centre = std::array::from_fn(|a| {
            let odd = [0.37, 0.73, 0.59][a] * f64::from(k);
            0.5 + h * odd.fract()
        });
        let ball = LiquidShape::Ball { centre, radius };
        let mesh = mesh::mesh([n / 4; D], [false; D], 1, |_, _| false);
        let flow = TwoPhaseFlow::new(mesh, mesh::params(), &[ball]).expect("a flow");
        let (curvature, found) = flow.curvature();
        let exact = (D - 1) as f64 / radius;
        let mixed = |i: &usize| flow.alpha()[*i] > 1e-6 && flow.alpha()[*i] < 1.0 - 1e-6;
        let of = (0..curvature.len())
            .filter(mixed)
            .map(|i| (curvature[i] / exact - 1.0).abs());
        largest.push(worst(of));
        counts = [counts[0] + found[0], counts[1] + found[1]];
    }
    [
        worst(largest),
        counts[0] as f64 / (counts[0] + counts[1]) as f64,
    ]
}

#[test]
fn v4_discs_converge_with_the_second_order() {
    let table = [(32, 3.0e-2), (64, 5.5e-3), (128, 1.2e-3)];
    let mut last = f64::INFINITY;
    for (n, bar) in table {
        let [found, _] = error::<2>(n, 20, 0.2);
        assert!(found < 1.05 * bar, "{n}: {found:e}");
        assert!(found <= last / 3.7, "{n}: {found:e} after {last:e}");
        last = found;
    }
}

#[test]
fn v4_small_discs_by_fits() {
    for (n, bar) in [(16, 0.17), (20, 0.10), (24, 0.06)] {
        let [found, heights] = error::<2>(n, 20, 0.2);
        assert!(found < 1.3 * bar, "{n}: {found:e}");
        assert!(heights < 1.0, "some by fits");
    }
}

#[test]
fn spheres() {
    let [coarse, _] = error::<3>(32, 3, 0.3);
    let [fine, _] = error::<3>(64, 1, 0.3);
    assert!(coarse < 0.1 && fine < coarse / 2.5, "{coarse:e} {fine:e}");
}
