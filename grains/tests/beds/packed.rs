//! Packed beds: shares, overlaps, places, densities, bits.

use crate::{length, minus};
use cutlink_grains::GrainError;
use cutlink_grains::pack::{
    MAX_OVERLAP, PackContainer, PackOptions, PackSize, Packed, pack, spheres_surface, write_csv,
    write_ply,
};
use cutlink_mesher::health;
use cutlink_mesher::primitives::Shape3;

fn options(sizes: &[(f64, f64)], count: Option<usize>) -> PackOptions {
    let size = |&(diameter, share): &(f64, f64)| PackSize { diameter, share };
    PackOptions {
        sizes: sizes.iter().map(size).collect(),
        by_volume: false,
        count,
        seed: 7,
        friction: 0.3,
        rolling: 0.0,
    }
}

fn packed(container: &PackContainer, options: &PackOptions) -> Packed {
    pack(container, options, &mut |_| true).expect("a bed")
}

fn crate_of(size: [f64; 3], periodic: bool) -> PackContainer {
    PackContainer::Box {
        lower: [1.0, -2.0, 0.5],
        upper: std::array::from_fn(|a| [1.0, -2.0, 0.5][a] + size[a]),
        periodic: [periodic; 2],
    }
}

/// The largest overlap by brute force; distances across the period of x and y.
fn largest_overlap(packed: &Packed, period: f64) -> f64 {
    let mut largest = 0.0f64;
    for (i, a) in packed.grains.iter().enumerate() {
        for b in &packed.grains[..i] {
            let mut d = minus(a.center, b.center);
            for d in &mut d[..2] {
                *d -= period * (*d / period).round();
            }
            let overlap = (a.radius + b.radius - length(d)) / a.radius.min(b.radius);
            largest = largest.max(overlap);
        }
    }
    largest
}

#[test]
fn a_bed_of_three_sizes_in_a_periodic_box() {
    // In micrometres, which are no units of the method.
    let sizes = [(30e-6, 3.0), (40e-6, 4.0), (50e-6, 1.0)];
    let container = crate_of([300e-6, 300e-6, 300e-6], true);
    let options = options(&sizes, Some(240));
    let bed = packed(&container, &options);
    assert_eq!(bed.counts, [90, 120, 30], "shares");
    assert_eq!(bed.grains.len(), 240);
    for (i, (d, _)) in sizes.iter().enumerate() {
        let of_size = bed.grains.iter().filter(|g| 2.0 * g.radius == *d).count();
        assert_eq!(of_size, bed.counts[i], "diameters as given");
    }
    let overlap = largest_overlap(&bed, 300e-6);
    assert!(overlap > 0.0 && overlap <= MAX_OVERLAP, "{overlap}");
    assert!(
        (overlap - bed.overlap).abs() < 1e-3,
        "{overlap} {}",
        bed.overlap
    );
    let core = bed.density.core.expect("a core");
    // Random loose to random close packing: Onoda, Liniger 1990: 0.555; Scott, Kilgour 1969: 0.637.
    assert!((0.555..0.66).contains(&core), "{core}");
    assert!(
        (3.5..7.0).contains(&bed.coordination),
        "{}",
        bed.coordination
    );
    assert!(bed.energy < 1e-6, "{}", bed.energy);
    for grain in &bed.grains {
        assert!((1.0..=1.0 + 300e-6).contains(&grain.center[0]), "{grain:?}");
        assert!(grain.center[2] > 0.5 + 0.98 * grain.radius, "{grain:?}");
    }
    let again = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .expect("a pool");
    assert!(
        again.install(|| packed(&container, &options)) == bed,
        "the same bits"
    );
    let other = PackOptions { seed: 8, ..options };
    assert!(
        packed(&container, &other).grains != bed.grains,
        "of another seed"
    );
}

#[test]
fn a_sphere_is_filled() {
    let sphere = Shape3::Sphere { radius: 0.05 }
        .body(1e-3)
        .expect("a sphere");
    let container = PackContainer::Surface(Box::new(sphere));
    let bed = packed(&container, &options(&[(0.018, 1.0)], None));
    for grain in &bed.grains {
        let reach = length(grain.center) + grain.radius;
        assert!(
            reach < 0.05 + 1e-3 + 0.01 * grain.radius,
            "{grain:?} reaches {reach}"
        );
    }
    assert!(bed.overlap <= MAX_OVERLAP, "{}", bed.overlap);
    // 0.45 with walls so near; 0.64 is the densest.
    assert!(
        (0.35..0.64).contains(&bed.density.container),
        "{:?}",
        bed.density
    );
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.009f64.powi(3) * bed.grains.len() as f64;
    assert!((bed.density.volume / volume - 1.0).abs() < 1e-12);
    written(&bed);
}

/// Files have what the bed has.
fn written(bed: &Packed) {
    let mut text = Vec::new();
    write_csv(&mut text, &bed.grains).expect("memory");
    let text = String::from_utf8(text).expect("text");
    assert_eq!(text.lines().next(), Some("id,x,y,z,diameter"));
    assert_eq!(text.lines().count(), bed.grains.len() + 1);
    for (line, grain) in text.lines().skip(1).zip(&bed.grains) {
        let numbers: Vec<f64> = line
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert_eq!(numbers[1..4], grain.center);
        assert_eq!(numbers[4], 2.0 * grain.radius);
    }
    let mut ply = Vec::new();
    write_ply(&mut ply, &bed.grains).expect("memory");
    let header = b"end_header\n";
    let at = ply
        .windows(header.len())
        .position(|w| w == header)
        .expect("a header");
    assert_eq!(ply.len() - at - header.len(), 32 * bed.grains.len());
    let surface = spheres_surface(&bed.grains, 0.02).expect("a surface");
    let health = health::check(&surface);
    assert!(health.closed(), "{health}");
    assert_eq!(health.components as usize, bed.grains.len());
    assert!(
        (health.volume / bed.density.volume - 1.0).abs() < 1e-9,
        "of the true volume"
    );
}

#[test]
fn shares_by_volume() {
    let mut options = options(&[(2e-3, 1.0), (4e-3, 1.0)], Some(180));
    options.by_volume = true;
    let bed = packed(&crate_of([0.025, 0.025, 0.03], false), &options);
    assert_eq!(
        bed.counts,
        [160, 20],
        "as many of the volume 1 as of the volume 8"
    );
}

#[test]
fn what_cannot_be_packed() {
    let container = crate_of([0.01; 3], false);
    let error = |options: &PackOptions| pack(&container, options, &mut |_| true).expect_err("bad");
    let full = error(&options(&[(2e-3, 1.0)], Some(1000)));
    let GrainError::Full {
        placed,
        wanted: 1000,
    } = full
    else {
        panic!("{full}");
    };
    assert!((50..125).contains(&placed), "{placed}");
    for sizes in [
        &[][..],
        &[(0.0, 1.0)],
        &[(1e-3, 0.0)],
        &[(f64::NAN, 1.0)],
        &[(1e-3, 1.0), (1e-4, 1.0), (3e-3, 1.0)],
    ] {
        let refused = error(&options(sizes, Some(3)));
        assert!(matches!(refused, GrainError::Value { .. }), "{refused}");
    }
    let large = error(&options(&[(0.02, 1.0)], Some(1)));
    assert!(
        matches!(large, GrainError::Full { placed: 0, .. }),
        "{large}"
    );
    let stopped = pack(&container, &options(&[(2e-3, 1.0)], Some(10)), &mut |_| {
        false
    });
    assert!(
        matches!(stopped, Err(GrainError::Restless { .. })),
        "{stopped:?}"
    );
    let open = Shape3::Sphere { radius: 0.05 }
        .surface(1e-3)
        .expect("a sphere");
    let mut open = open;
    open.facets.pop();
    let container = PackContainer::Surface(Box::new(open));
    let refused = pack(&container, &options(&[(0.01, 1.0)], None), &mut |_| true);
    assert!(
        matches!(refused, Err(GrainError::NotClosed { edges: 3 })),
        "{refused:?}"
    );
}
