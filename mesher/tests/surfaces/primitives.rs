//! Primitives against the true surfaces: distance by implicit functions, measures by closed
//! forms, topology by the health report.

use crate::worst;
use cutlink_mesher::health;
use cutlink_mesher::primitives::{
    AnyShape, MAX_FACETS, SHAPES, Shape2, Shape3, ShapeError, parse_shape,
};
use cutlink_mesher::surface::Surface;
use std::f64::consts::PI;

fn solid(text: &str) -> Shape3 {
    match parse_shape(text) {
        Ok(AnyShape::D3(shape)) => shape,
        other => panic!("{text}: {other:?}"),
    }
}

fn curve(text: &str) -> Shape2 {
    match parse_shape(text) {
        Ok(AnyShape::D2(shape)) => shape,
        other => panic!("{text}: {other:?}"),
    }
}

/// Solids with an implicit function.
fn round_solids() -> Vec<Shape3> {
    [
        "sphere",
        "sphere:r=3",
        "ellipsoid:r=1x0.5x0.2",
        "box:size=1x2x0.5",
        "cylinder:r=0.5,h=2",
        "cone:r=1,h=0.7",
        "capsule:r=0.25,h=1",
        "torus:R=1,r=0.25",
        "torus:R=1,r=0.95",
    ]
    .map(solid)
    .to_vec()
}

fn solids() -> Vec<Shape3> {
    let others = [
        "wing:0012,span=3",
        "wing:4415,chord=0.5,span=0.3",
        "ahmed",
        "ahmed:slant=0",
        "ahmed:slant=40,length=3,clearance=1",
    ];
    [round_solids(), others.map(solid).to_vec()].concat()
}

fn curves() -> Vec<Shape2> {
    [
        "circle",
        "ellipse:r=0.2x2",
        "rectangle:size=1x2",
        "polygon:0,0;0,2;1,0",
        "naca:0012",
        "naca:2412,chord=2",
    ]
    .map(curve)
    .to_vec()
}

/// Unsigned distance to the true surface.
fn distance(shape: &Shape3, [x, y, z]: [f64; 3]) -> f64 {
    let rho = x.hypot(y);
    match *shape {
        Shape3::Sphere { radius } => (rho.hypot(z) - radius).abs(),
        Shape3::Ellipsoid { radii } => distance_to_ellipsoid([x, y, z], radii),
        Shape3::Box { size } => {
            let q = [x.abs(), y.abs(), z.abs()];
            let gaps = (0..3).map(|a| q[a] - 0.5 * size[a]);
            worst(gaps).abs()
        }
        // No point of these two is outside.
        Shape3::Cylinder { radius, height } => worst([rho - radius, z.abs() - 0.5 * height]).abs(),
        Shape3::Cone { radius, height } => {
            let h = z + 0.5 * height;
            let side = (rho * height + h * radius - radius * height) / radius.hypot(height);
            -worst([-side.abs(), -h.abs()])
        }
        Shape3::Capsule { radius, height } => {
            let core = (z.abs() - (0.5 * height - radius)).max(0.0);
            (rho.hypot(core) - radius).abs()
        }
        Shape3::Torus { major, minor } => ((rho - major).hypot(z) - minor).abs(),
        _ => panic!("{shape} has its own test"),
    }
}

/// By bisection for the Lagrange parameter t: the foot of p is r² p / (r² + t).
fn distance_to_ellipsoid<const D: usize>(p: [f64; D], radii: [f64; D]) -> f64 {
    let used: Vec<usize> = (0..D).filter(|&a| p[a] != 0.0).collect();
    let term = |a: usize, t: f64| (radii[a] * p[a] / (radii[a] * radii[a] + t)).powi(2);
    let value = |t: f64| used.iter().map(|&a| term(a, t)).sum::<f64>() - 1.0;
    // The root lies above −(smallest used half axis)², where the function falls from +∞.
    let smallest = used.iter().map(|&a| radii[a]).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (-smallest.powi(2), 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if value(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let gaps = used.iter().map(|&a| {
        let gap = p[a] * high / (radii[a] * radii[a] + high);
        gap * gap
    });
    gaps.sum::<f64>().sqrt()
}

/// Largest value of `f` over a grid of points on every facet.
fn worst_on_facets(surface: &Surface<3>, grid: usize, f: impl Fn([f64; 3]) -> f64) -> f64 {
    let mut most = 0.0;
    for facet in 0..surface.facets.len() {
        let [a, b, c] = surface.corners(facet);
        for i in 0..=grid {
            for j in 0..=grid - i {
                let (u, v) = (i as f64 / grid as f64, j as f64 / grid as f64);
                let p = std::array::from_fn(|k| a[k] * (1.0 - u - v) + b[k] * u + c[k] * v);
                most = worst([most, f(p)]);
            }
        }
    }
    most
}

fn is_sound<const D: usize>(surface: &Surface<D>) -> bool {
    let h = health::check(surface);
    let bits = |v: &[f64; D]| v.map(f64::to_bits);
    let mut coordinates: Vec<[u64; D]> = surface.vertices.iter().map(bits).collect();
    coordinates.sort_unstable();
    coordinates.dedup();
    h.closed()
        && h.consistent()
        && !h.inward
        && h.volume > 0.0
        && h.nonmanifold_edges == 0
        && h.degenerate_facets == 0
        && h.duplicate_facets == 0
        && h.components == 1
        && h.vertices as usize == surface.vertices.len()
        && coordinates.len() == surface.vertices.len()
}

#[test]
fn solids_are_closed_manifold_outward_and_welded() {
    for shape in solids() {
        for deviation in [1e300, 1.0, 0.1, 1e-2, 1e-3] {
            let surface = shape.surface(deviation).expect("a valid shape");
            assert!(is_sound(&surface), "{shape} at {deviation}");
            // V − E + F with 2E = 3F.
            let euler = surface.vertices.len() as i64 - surface.facets.len() as i64 / 2;
            let holes = i64::from(matches!(shape, Shape3::Torus { .. }));
            assert_eq!(euler, 2 - 2 * holes, "{shape} at {deviation}");
            let patched = surface.facet_patch.len();
            let fine = patched == 0 || patched == surface.facets.len();
            assert!(fine, "{shape}: {patched} patch numbers");
        }
    }
}

#[test]
fn curves_are_closed_outward_and_welded() {
    for shape in curves() {
        for deviation in [1e300, 0.1, 1e-3, 1e-5] {
            let surface = shape.surface(deviation).expect("a valid shape");
            assert!(is_sound(&surface), "{shape} at {deviation}");
        }
    }
}

#[test]
fn an_inside_out_or_torn_solid_is_not_sound() {
    let mut surface = solid("sphere").surface(0.1).expect("a valid shape");
    surface.facets.iter_mut().for_each(|f| f.swap(0, 1));
    assert!(!is_sound(&surface), "inside out");
    surface.facets.iter_mut().for_each(|f| f.swap(0, 1));
    assert!(is_sound(&surface), "restored");
    surface.facets.pop();
    assert!(!is_sound(&surface), "torn");
}

#[test]
fn no_point_of_a_facet_is_farther_than_the_deviation() {
    for shape in round_solids() {
        for deviation in [0.3, 0.03, 3e-3] {
            let surface = shape.surface(deviation).expect("a valid shape");
            let worst = worst_on_facets(&surface, 12, |p| distance(&shape, p));
            assert!(worst <= deviation, "{shape}: {worst} > {deviation}");
        }
    }
}

#[test]
fn the_sphere_bound_holds_at_every_frequency_and_is_not_wasteful() {
    let sphere = solid("sphere:r=1");
    for deviation in (3..200).map(|k| 0.9 / f64::from(k)) {
        let surface = sphere.surface(deviation).expect("a valid shape");
        let worst = worst_on_facets(&surface, 6, |p| distance(&sphere, p));
        assert!(worst <= deviation, "{worst} > {deviation}");
    }
    // Fine enough that a step of the frequency no longer matters.
    let surface = sphere.surface(1e-4).expect("a valid shape");
    let worst = worst_on_facets(&surface, 6, |p| distance(&sphere, p));
    assert!(worst > 0.9e-4, "finer than it need be: {worst}");
}

#[test]
fn too_coarse_a_surface_fails_the_comparison() {
    for shape in round_solids() {
        if matches!(shape, Shape3::Box { .. }) {
            continue;
        }
        let coarse = shape.surface(0.02).expect("a valid shape");
        let worst = worst_on_facets(&coarse, 12, |p| distance(&shape, p));
        assert!(worst > 0.002, "{shape}: {worst}");
    }
}

#[test]
fn vertices_lie_on_the_true_surface() {
    for shape in round_solids() {
        let surface = shape.surface(0.01).expect("a valid shape");
        for (v, &p) in surface.vertices.iter().enumerate() {
            let gap = distance(&shape, p);
            assert!(gap < 2e-15, "{shape} vertex {v}: {gap}");
        }
    }
}

#[test]
fn ellipses_stay_within_the_deviation() {
    for (shape, radii) in [
        (curve("circle:r=0.5"), [0.5, 0.5]),
        (curve("ellipse:r=0.2x2"), [0.2, 2.0]),
    ] {
        for deviation in [0.1, 1e-2, 1e-4] {
            let surface = shape.surface(deviation).expect("a valid shape");
            let mut most = 0.0;
            for f in 0..surface.facets.len() {
                let [a, b] = surface.corners(f);
                for k in 0..=40 {
                    let t = f64::from(k) / 40.0;
                    let p = [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
                    most = worst([most, distance_to_ellipsoid(p, radii)]);
                }
            }
            assert!(most <= deviation, "{shape}: {most} > {deviation}");
        }
        let polygon = shape.surface(1e-4).expect("a valid shape");
        let most = 2.0 + PI * (radii[1] / 2e-4_f64).sqrt();
        assert!(
            (polygon.facets.len() as f64) < 1.1 * most,
            "{shape}: wasteful"
        );
    }
}

/// One side of a section as NACA report 460 writes it, nose to tail, 200,000 points.
fn section(digits: [u8; 4], chord: f64, side: f64) -> Vec<[f64; 2]> {
    let [m, p, t1, t0] = digits.map(f64::from);
    let (m, p, t) = (m / 100.0, p / 10.0, (10.0 * t1 + t0) / 100.0);
    (0..=200_000)
        .map(|i| {
            let x = (f64::from(i) / 2e5).powi(2);
            let polynomial = 0.2969 * x.sqrt() - 0.1260 * x - 0.3516 * x.powi(2)
                + 0.2843 * x.powi(3)
                - 0.1036 * x.powi(4);
            let yt = 5.0 * t * polynomial;
            let (yc, slope): (f64, f64) = if m == 0.0 {
                (0.0, 0.0)
            } else if x < p {
                let k = m / p.powi(2);
                (k * (2.0 * p * x - x * x), 2.0 * k * (p - x))
            } else {
                let k = m / (1.0 - p).powi(2);
                (k * (1.0 - 2.0 * p + 2.0 * p * x - x * x), 2.0 * k * (p - x))
            };
            let theta = slope.atan();
            let [dx, dy] = [-side * yt * theta.sin(), side * yt * theta.cos()];
            [chord * (x + dx), chord * (yc + dy)]
        })
        .collect()
}

fn segment_distance(p: [f64; 2], [a, b]: [[f64; 2]; 2]) -> f64 {
    let d = [b[0] - a[0], b[1] - a[1]];
    let r = [p[0] - a[0], p[1] - a[1]];
    let t = ((r[0] * d[0] + r[1] * d[1]) / (d[0] * d[0] + d[1] * d[1])).clamp(0.0, 1.0);
    (r[0] - t * d[0]).hypot(r[1] - t * d[1])
}

/// Largest distance from the true curve to one side of the chain. The curve runs from end to
/// end of each segment, so no point of the chain is farther from the curve than that.
fn worst_on_side(surface: &Surface<2>, patch: u16, truth: &[[f64; 2]]) -> f64 {
    let chain: Vec<[[f64; 2]; 2]> = (0..surface.facets.len())
        .filter(|&f| surface.patch_of(f) == patch)
        .map(|f| surface.corners(f))
        .collect();
    let to_chain = |&p: &[f64; 2]| {
        let distances = chain.iter().map(|&s| segment_distance(p, s));
        distances.fold(f64::INFINITY, f64::min)
    };
    worst(truth.iter().map(to_chain))
}

#[test]
fn sections_stay_within_the_deviation_of_report_460() {
    for digits in [
        [0, 0, 1, 2],
        [2, 4, 1, 2],
        [4, 4, 1, 5],
        [9, 2, 0, 6],
        [6, 8, 3, 0],
    ] {
        let chord = 1.5;
        let shape = Shape2::Naca { digits, chord };
        for (patch, side) in [(0, 1.0), (1, -1.0)] {
            let truth = section(digits, chord, side);
            for deviation in [1e-2, 1e-3, 1e-5] {
                let surface = shape.surface(deviation).expect("a valid section");
                let worst = worst_on_side(&surface, patch, &truth);
                assert!(worst <= deviation, "{shape} {patch}: {worst} > {deviation}");
            }
            let coarse = shape.surface(1e-2).expect("a valid section");
            let worst = worst_on_side(&coarse, patch, &truth);
            assert!(worst > 1e-4, "{shape}: the comparison must notice, {worst}");
        }
    }
}

#[test]
fn the_joint_of_the_mean_line_is_a_station() {
    let s = curve("naca:2412").surface(1e-3).expect("valid");
    let n = s.vertices.len() / 2;
    let joints = (1..n).filter(|i| {
        let (upper, lower) = (s.vertices[n - i], s.vertices[n + i]);
        let middle = [0, 1].map(|a| 0.5 * (upper[a] + lower[a]));
        (middle[0] - 0.4).abs() < 1e-12 && (middle[1] - 0.02).abs() < 1e-12
    });
    assert_eq!(joints.count(), 1);
}

#[test]
fn a_wing_is_its_section_drawn_along_the_span() {
    let flat = curve("naca:2412").surface(1e-4).expect("valid");
    let wing = solid("wing:2412,span=3").surface(1e-4).expect("valid");
    assert_eq!(wing.vertices.len(), 2 * flat.vertices.len());
    for (v, &[x, y, z]) in wing.vertices.iter().enumerate() {
        assert_eq!([x, z], flat.vertices[v % flat.vertices.len()]);
        assert_eq!(y.abs(), 1.5);
    }
    let (flat, wing) = (health::check(&flat), health::check(&wing));
    assert!((wing.volume - flat.volume * 3.0).abs() < 1e-13, "volume");
    let area = flat.area * 3.0 + 2.0 * flat.volume;
    assert!((wing.area - area).abs() < 1e-12, "area");
}

/// Depth below the true surface of an Ahmed body, negative outside: the least distance from its planes and cylinders.
fn below_ahmed([x, y, z]: [f64; 3], slant: f64) -> f64 {
    // Ground 0.05 m below; the section in x and z, and that in x and y, with two rounded corners each.
    let z = z - 0.05;
    let rounded = |across: f64, half: f64| {
        let (fore, out) = (-0.944 - x, across.abs() - (half - 0.1));
        match fore > 0.0 && out > 0.0 {
            true => 0.1 - fore.hypot(out),
            false => 0.1 - fore.max(out),
        }
    };
    let (sin, cos) = slant.to_radians().sin_cos();
    // Through the edge at the roof.
    let above = (x + 0.222 * cos) * sin + (z - 0.288) * cos;
    let depths = [rounded(z - 0.144, 0.144), rounded(y, 0.1945), -x, -above];
    -worst(depths.map(|depth| -depth))
}

#[test]
fn the_ahmed_body_has_the_published_measures() {
    for slant in [0.0, 12.5, 25.0, 40.0] {
        let shape = solid(&format!("ahmed:slant={slant}"));
        for deviation in [1e-2, 1e-3, 1e-5] {
            let surface = shape.surface(deviation).expect("a valid shape");
            let farthest = worst_on_facets(&surface, 6, |p| below_ahmed(p, slant).abs());
            assert!(farthest <= deviation, "{slant}: {farthest} > {deviation}");
            let off = |p: &[f64; 3]| below_ahmed(*p, slant).abs();
            let off = worst(surface.vertices.iter().map(off));
            assert!(off < 1e-14, "vertices lie on it: {off}");
            let bounds = surface.bounds().expect("facets");
            let wanted = [[-1.044, -0.1945, 0.05], [0.0, 0.1945, 0.338]];
            for (found, wanted) in bounds.as_flattened().iter().zip(wanted.as_flattened()) {
                assert!((found - wanted).abs() < 1e-15, "{bounds:?}");
            }
        }
        // By sections across x, with the midpoint rule.
        const N: usize = 200_000;
        let area = |x: f64| {
            let fore = (-0.944 - x).max(0.0);
            let inset = 0.1 - (0.01 - fore * fore).max(0.0).sqrt();
            let (sin, cos) = slant.to_radians().sin_cos();
            let cut = ((x + 0.222 * cos) * sin / cos).max(0.0);
            (0.389 - 2.0 * inset) * (0.288 - 2.0 * inset - cut)
        };
        let step = 1.044 / N as f64;
        let sum: f64 = (0..N)
            .map(|n| step * area(-1.044 + (n as f64 + 0.5) * step))
            .sum();
        let volume = shape.volume().expect("a closed form");
        assert!((volume / sum - 1.0).abs() < 1e-7, "{slant}: {volume} {sum}");
        let fine = health::check(&shape.surface(1e-7).expect("a valid shape"));
        assert!(
            (fine.volume / volume - 1.0).abs() < 1e-6,
            "{slant}: {}",
            fine.volume
        );
    }
    // The slant is 222 mm long at any angle, and its patch has its area.
    let surface = solid("ahmed:slant=35")
        .surface(0.01)
        .expect("a valid shape");
    let slant = surface.patches.iter().position(|p| p == "slant");
    let area = |f: usize| {
        let [a, b, c] = surface.corners(f);
        let [u, v]: [[f64; 3]; 2] = [b, c].map(|p| std::array::from_fn(|k| p[k] - a[k]));
        let n: [f64; 3] = std::array::from_fn(|k| {
            u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]
        });
        0.5 * n.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    let of_slant =
        (0..surface.facets.len()).filter(|&f| Some(usize::from(surface.patch_of(f))) == slant);
    let area: f64 = of_slant.map(area).sum();
    assert!((area - 0.222 * 0.389).abs() < 1e-14, "{area}");
}

fn unit_normal(surface: &Surface<3>, f: usize) -> [f64; 3] {
    let [a, b, c] = surface.corners(f);
    let u: [f64; 3] = std::array::from_fn(|k| b[k] - a[k]);
    let v: [f64; 3] = std::array::from_fn(|k| c[k] - a[k]);
    let n: [f64; 3] =
        std::array::from_fn(|k| u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    let norm = n.iter().map(|x| x * x).sum::<f64>().sqrt();
    n.map(|x| x / norm)
}

/// Every facet of a patch has the stated component of its normal.
#[test]
fn patches_face_where_their_names_say() {
    for (shape, patch, axis, component) in [
        ("box", "x-", 0, -1.0),
        ("box", "x+", 0, 1.0),
        ("box", "y-", 1, -1.0),
        ("box", "y+", 1, 1.0),
        ("box", "z-", 2, -1.0),
        ("box", "z+", 2, 1.0),
        ("cylinder", "side", 2, 0.0),
        ("cylinder", "bottom", 2, -1.0),
        ("cylinder", "top", 2, 1.0),
        ("cone", "base", 2, -1.0),
        ("capsule", "side", 2, 0.0),
        ("wing", "tip_left", 1, -1.0),
        ("wing", "tip_right", 1, 1.0),
        ("wing", "upper", 1, 0.0),
        ("wing", "lower", 1, 0.0),
        ("ahmed", "top", 2, 1.0),
        ("ahmed", "bottom", 2, -1.0),
        ("ahmed", "left", 1, -1.0),
        ("ahmed", "right", 1, 1.0),
        ("ahmed", "base", 0, 1.0),
        ("ahmed:slant=30", "slant", 0, 0.5),
        ("ahmed", "slant", 1, 0.0),
    ] {
        let surface = solid(shape).surface(0.01).expect("a default");
        let number = surface.patches.iter().position(|p| p == patch);
        let mut facets = 0;
        for f in 0..surface.facets.len() {
            if Some(usize::from(surface.patch_of(f))) != number {
                continue;
            }
            facets += 1;
            let n = unit_normal(&surface, f);
            assert!(
                (n[axis] - component).abs() < 1e-12,
                "{shape} {patch}: {n:?}"
            );
            match patch {
                "upper" => assert!(n[2] > 0.0, "{n:?}"),
                "lower" => assert!(n[2] < 0.0, "{n:?}"),
                _ => {}
            }
        }
        assert!(facets > 0, "{shape} {patch}");
    }
    let rectangle = curve("rectangle:size=1x2").surface(1.0).expect("valid");
    for f in 0..4 {
        let [a, b] = rectangle.corners(f);
        // To the right of a→b is outside.
        let outward = [b[1] - a[1], a[0] - b[0]];
        let expected = match rectangle.patches[usize::from(rectangle.patch_of(f))].as_str() {
            "x-" => [-2.0, 0.0],
            "x+" => [2.0, 0.0],
            "y-" => [0.0, -1.0],
            _ => [0.0, 1.0],
        };
        assert_eq!(outward, expected);
    }
}

/// An inscribed body loses at most its area times the deviation.
#[test]
fn measures_converge_to_closed_forms() {
    let check = |name: String, measured: f64, truth: f64, most: f64| {
        let error = (measured - truth).abs();
        assert!(error <= 1.05 * most + 1e-13, "{name}: {error}");
    };
    for shape in solids() {
        let Some(truth) = shape.volume() else {
            assert!(shape.to_string().contains("4415"), "{shape}");
            continue;
        };
        for deviation in [1e-2, 1e-3] {
            let h = health::check(&shape.surface(deviation).expect("a valid shape"));
            check(shape.to_string(), h.volume, truth, deviation * h.area);
        }
    }
    for shape in curves() {
        let Some(truth) = shape.area() else {
            assert!(shape.to_string().contains("2412"), "{shape}");
            continue;
        };
        for deviation in [1e-2, 1e-4] {
            let h = health::check(&shape.surface(deviation).expect("a valid shape"));
            check(shape.to_string(), h.volume, truth, deviation * h.area);
        }
    }
}

#[test]
fn volumes_agree_with_other_formulas() {
    let close = |text: &str, other: f64| {
        let volume = solid(text).volume().expect("a closed form");
        assert!((volume - other).abs() < 1e-12, "{text}: {volume}, {other}");
    };
    // Pappus; Archimedes; a capsule is a cylinder and a sphere.
    close("torus:R=1,r=0.25", PI * 0.0625 * 2.0 * PI);
    close("sphere:r=1", 2.0 / 3.0 * (2.0 * PI));
    close("capsule:r=0.5,h=3", PI * 0.25 * 2.0 + PI / 6.0);
    close("cone:r=2,h=3", 4.0 * PI);
    close("wing:0012,span=1", simpson_area([0, 0, 1, 2]));
}

/// Area of an uncambered section by Simpson's rule in √x.
fn simpson_area(digits: [u8; 4]) -> f64 {
    let side = section(digits, 1.0, 1.0);
    let h = 1.0 / (side.len() - 1) as f64;
    let integrand = |i: usize| side[i][1] * 2.0 * (i as f64 * h);
    let inner: f64 = (1..side.len() - 1)
        .map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * integrand(i))
        .sum();
    2.0 * h / 3.0 * (integrand(0) + inner + integrand(side.len() - 1))
}

#[test]
fn boxes_are_exact_and_quarter_turns_permute_the_vertices() {
    let surface = solid("ellipsoid:r=1x0.5x0.2").surface(0.01).expect("valid");
    assert_eq!(
        surface.bounds(),
        Some([[-1.0, -0.5, -0.2], [1.0, 0.5, 0.2]])
    );
    for text in [
        "sphere:r=0.7",
        "capsule:r=0.3",
        "torus:R=0.7,r=0.2",
        "cylinder:r=0.3",
    ] {
        let surface = solid(text).surface(0.003).expect("valid");
        let sorted = |map: fn([f64; 3]) -> [f64; 3]| {
            let bits = |&p: &[f64; 3]| map(p).map(|x| (x + 0.0).to_bits());
            let mut all: Vec<_> = surface.vertices.iter().map(bits).collect();
            all.sort_unstable();
            all
        };
        let set = sorted(|p| p);
        assert_eq!(set, sorted(|[x, y, z]| [-y, x, z]), "{text}");
        assert_eq!(set, sorted(|[x, y, z]| [y, x, z]), "{text}");
        assert_eq!(set, sorted(|[x, y, z]| [x, y, -z]), "{text}");
        if text.starts_with("sphere") {
            assert_eq!(set, sorted(|[x, y, z]| [y, z, x]), "{text}");
        } else {
            assert_ne!(set, sorted(|[x, y, z]| [y, z, x]), "{text}");
        }
    }
}

#[test]
fn too_fine_is_refused_before_memory_is_asked_for() {
    for shape in solids() {
        if matches!(shape, Shape3::Box { .. }) {
            continue;
        }
        let error = shape.surface(1e-300).expect_err("no machine has it");
        assert!(matches!(error, ShapeError::TooFine { .. }), "{error}");
    }
    for text in ["circle", "ellipse", "naca:2412"] {
        let error = curve(text).surface(1e-200).expect_err("no machine has it");
        assert!(matches!(error, ShapeError::TooFine { .. }), "{error}");
    }
    let error = solid("sphere").surface(1e-9).expect_err("too fine");
    assert!(
        error.to_string().contains(&MAX_FACETS.to_string()),
        "{error}"
    );
}

#[test]
fn impossible_shapes_are_refused_with_the_reason() {
    for (text, word) in [
        ("sphere:r=0", "positive"),
        ("sphere:r=nan", "positive"),
        ("sphere:r=-1", "positive"),
        ("box:size=1x0x1", "positive"),
        ("box:size=1x2", "count"),
        ("torus:R=1,r=1", "exceed"),
        ("capsule:r=1,h=2", "exceed"),
        ("naca:00", "four digits"),
        ("naca:00a2", "four digits"),
        ("naca:2012", "second digit"),
        ("wing:2400", "00"),
        ("naca:9199", "folds"),
        ("ahmed:slant=41", "between 0 and 40"),
        ("ahmed:slant=nan", "between 0 and 40"),
        ("ahmed:length=0", "positive"),
        ("ahmed:clearance=-1", "positive"),
        ("ahmed:slat=25", "'slant'"),
        ("polygon:", "missing"),
        ("polygon:0,0;1,0", "at least 3"),
        ("polygon:0,0;1,0;2,0", "area"),
        ("polygon:0,0;0,0;2,1", "equals"),
        ("polygon:0,0;1,0;0,1;0,0", "equals"),
        ("polygon:0,0;1;0,1", "x,y"),
        ("polygon:0,0;inf,1;0,1", "finite"),
        ("sphere:r=0.5,d=1", "both"),
        ("sphere:r=1,r=1", "twice"),
        ("sphere:r=1,radius=1", "twice"),
        ("sphere:0.5", "key=value"),
        ("sphere:radios=1", "'radius'"),
        ("cylinder:hight=1", "'height'"),
        ("spere", "'sphere'"),
        ("cilinder:r=1", "'cylinder'"),
        ("", "shapes: sphere, ellipsoid, box"),
    ] {
        let error = parse_shape(text).expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    let unknown = parse_shape("blob").expect_err("unknown").to_string();
    for (name, _) in SHAPES {
        assert!(unknown.contains(name), "{unknown}");
    }
    for deviation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = solid("sphere").surface(deviation).expect_err("deviation");
        assert!(error.to_string().contains("deviation"), "{error}");
    }
}

#[test]
fn text_reads_as_documented() {
    let same = |text: &str, canonical: &str| {
        let shape = parse_shape(text).expect("valid text");
        assert_eq!(shape.to_string(), canonical, "{text}");
    };
    assert_eq!(
        parse_shape("torus:R=1,r=0.25"),
        Ok(AnyShape::D3(Shape3::Torus {
            major: 1.0,
            minor: 0.25
        }))
    );
    assert_eq!(
        parse_shape("wing:2412,chord=1,span=3"),
        Ok(AnyShape::D3(Shape3::NacaWing {
            digits: [2, 4, 1, 2],
            chord: 1.0,
            span: 3.0
        }))
    );
    same(" Sphere : d = 3 ", "sphere:r=1.5");
    same("box:size=1e-3", "box:size=0.001x0.001x0.001");
    same("cylinder:h=4", "cylinder:r=2,h=4");
    same("cone:diameter=1,height=3", "cone:r=0.5,h=3");
    same("capsule:r=1", "capsule:r=1,h=4");
    same("torus:D=1,d=0.25", "torus:R=0.5,r=0.125");
    same("ellipsoid:d=2x1x1", "ellipsoid:r=1x0.5x0.5");
    same("ellipse:radius=2x1", "ellipse:r=2x1");
    same("naca:digits=2412", "naca:2412,chord=1");
    same("ahmed", "ahmed:slant=25,length=1.044,clearance=0.05");
    same(
        "ahmed:angle=30",
        "ahmed:slant=30,length=1.044,clearance=0.05",
    );
    same(
        "ahmed:length=2.088",
        "ahmed:slant=25,length=2.088,clearance=0.1",
    );
    same("polygon:points=0,0; 1,0 ;0,1", "polygon:0,0;1,0;0,1");
}

#[test]
fn every_shape_prints_as_it_reads_and_defaults_to_unit_size() {
    for (name, grammar) in SHAPES {
        // Grammars begin with an example, which for all but the polygon is the default.
        let example = grammar.split(" (").next().expect("text");
        let shape = parse_shape(example).expect("the example in the grammar");
        assert_eq!(shape.name(), *name);
        if *name != "polygon" {
            assert_eq!(parse_shape(name), Ok(shape.clone()), "{name}");
        }
        assert_eq!(
            parse_shape(&shape.to_string()),
            Ok(shape.clone()),
            "{shape}"
        );
        let bounds = match &shape {
            AnyShape::D2(s) => {
                let b = s.surface(1e-4).expect("valid").bounds().expect("facets");
                b.map(|p| p.to_vec())
            }
            AnyShape::D3(s) => {
                let b = s.surface(1e-2).expect("valid").bounds().expect("facets");
                b.map(|p| p.to_vec())
            }
        };
        let extents = bounds[0].iter().zip(&bounds[1]).map(|(l, u)| u - l);
        let longest = worst(extents);
        // As published, in metres.
        let expected = if *name == "ahmed" { 1.044 } else { 1.0 };
        assert!((longest - expected).abs() < 1e-15, "{shape}: {longest}");
    }
    let odd = AnyShape::D3(Shape3::Ellipsoid {
        radii: [1e-7, 0.1 + 0.2, 1e20],
    });
    assert_eq!(parse_shape(&odd.to_string()), Ok(odd));
}

/// Facets of [`Shape3::body`] and [`Shape2::body`] enclose the true measure, as closed forms have it, within the
/// deviation.
#[test]
fn round_bodies_have_the_true_area_or_volume() {
    let close = |name: String, measure: f64, truth: f64| {
        assert!(
            (measure / truth - 1.0).abs() < 1e-12,
            "{name}: {measure} {truth}"
        );
    };
    for shape in round_solids() {
        let truth = shape.volume().expect("a closed form");
        for deviation in [0.3, 0.03] {
            let body = shape.body(deviation).expect("a valid shape");
            assert!(is_sound(&body), "{shape} at {deviation}");
            let h = health::check(&body);
            if matches!(shape, Shape3::Torus { .. } | Shape3::Box { .. }) {
                assert_eq!(
                    body,
                    shape.surface(deviation).expect("a shape"),
                    "as it was"
                );
                continue;
            }
            close(format!("{shape} at {deviation}"), h.volume, truth);
            let worst = worst_on_facets(&body, 6, |p| distance(&shape, p).abs());
            assert!(worst <= deviation, "{shape}: {worst} > {deviation}");
            let inscribed = health::check(&shape.surface(deviation).expect("a valid shape"));
            assert!(
                inscribed.volume < truth * (1.0 - 1e-6),
                "inscribed it is less"
            );
        }
    }
    for [a, b] in [[1.0, 1.0], [2.0, 0.5]] {
        let shape = Shape2::Ellipse { radii: [a, b] };
        for deviation in [0.1, 1e-2, 1e-4] {
            let body = shape.body(deviation).expect("an ellipse");
            let h = health::check(&body);
            close(format!("{shape} at {deviation}"), h.volume, PI * a * b);
            let farthest = worst((0..body.facets.len()).flat_map(|f| {
                let [p, q] = body.corners(f);
                let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
                [p, middle].map(|p| distance_to_ellipsoid(p, [a, b]).abs())
            }));
            assert!(farthest <= deviation, "{shape}: {farthest} > {deviation}");
        }
    }
}
