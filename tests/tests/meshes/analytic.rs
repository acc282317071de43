//! Volumes and cut distances of bodies whose surface is known in closed form.

use cutlink_amr::{CellRef, dims};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_tests::{
    analytic::Body,
    bodies::{levels, mesh_of, unit_frame},
    worst,
};
use cutlink_voxelizer::Mesh;

const DEPTH: usize = 2;

fn moved<const D: usize>(mut surface: Surface<D>, by: [f64; D]) -> Surface<D> {
    for p in &mut surface.vertices {
        for a in 0..D {
            p[a] += by[a];
        }
    }
    surface
}

/// Places off any symmetry of the cells.
fn centers<const D: usize>() -> Vec<[f64; D]> {
    let at = |k: usize| {
        std::array::from_fn(|a| {
            let step = [0.618_033_988_7, 0.754_877_666_2, 0.569_840_290_9][a];
            0.49 + 0.02 * (step * (k + 1) as f64).fract()
        })
    };
    (0..6).map(at).collect()
}

fn spaces(center: [f64; 3]) -> [(Shape3, Body<3>); 3] {
    [
        (
            Shape3::Sphere { radius: 0.31 },
            Body::Ball {
                center,
                radius: 0.31,
            },
        ),
        (
            Shape3::Torus {
                major: 0.22,
                minor: 0.09,
            },
            Body::Torus {
                center,
                major: 0.22,
                minor: 0.09,
            },
        ),
        (
            Shape3::Box {
                size: [0.53, 0.37, 0.21],
            },
            Body::Box {
                center,
                half: [0.265, 0.185, 0.105],
            },
        ),
    ]
}

fn planes(center: [f64; 2]) -> [(Shape2, Body<2>); 2] {
    [
        (
            Shape2::Circle { radius: 0.31 },
            Body::Ball {
                center,
                radius: 0.31,
            },
        ),
        (
            Shape2::Rectangle { size: [0.53, 0.37] },
            Body::Box {
                center,
                half: [0.265, 0.185],
            },
        ),
    ]
}

/// How far the snapped facets may be from the true surface: the facets' deviation, and a
/// vertex moved by half a lattice unit on each axis.
fn deviation<const D: usize>(mesh: &Mesh<D>, facets: f64) -> f64 {
    facets + 0.5 * (D as f64).sqrt() * mesh.frame.lattice(DEPTH).unit + 1e-12
}

fn volume_error<const D: usize>(mesh: &Mesh<D>, body: &Body<D>) -> f64 {
    let dx = mesh.frame.dx_at(DEPTH - 1);
    mesh.solid_at(DEPTH - 1) as f64 * dx.powi(D as i32) - body.volume()
}

/// Root mean square over places of the volume error by dx, on three grids.
fn errors<const D: usize>(
    which: usize,
    at: impl Fn([f64; D], f64, usize) -> (Surface<D>, Body<D>),
) -> [f64; 3]
where
    Facet<D>: Exact<D>,
{
    [16u32, 32, 64].map(|root| {
        let frame = unit_frame::<D>(root);
        let dx = frame.dx_at(DEPTH - 1);
        let fine = 1e-3 * dx;
        let squares = centers::<D>().into_iter().map(|center| {
            let (surface, body) = at(center, fine, which);
            let mesh = mesh_of(&surface, frame, &levels(DEPTH));
            let error = volume_error(&mesh, &body);
            // Centres are misjudged only within the deviation, cells are of the wrong volume
            // only within half their diagonal of the surface.
            let reach = 0.5 * (D as f64).sqrt() * dx + deviation(&mesh, fine);
            assert!(
                error.abs() <= body.area() * reach,
                "{body:?} at {root} root cells: {error}"
            );
            error * error
        });
        let squares: Vec<f64> = squares.collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() / dx
    })
}

/// Curved surfaces: the errors of cells inside and outside cancel more the more cells there
/// are, so the layers of cells in error (error / (area dx)) shrink with dx: order 1.5 or more.
fn assert_curved(layers: [f64; 3], limit: f64) {
    assert!(
        layers[0] <= limit,
        "{layers:?} of a layer of cells, {limit} allowed"
    );
    assert!(layers[2] <= 0.5 * layers[0], "order below 1.5: {layers:?}");
}

/// Faces along the axes are rounded to whole cells: at most half a layer each, whatever dx.
fn assert_flat(layers: [f64; 3]) {
    assert!(
        layers.iter().all(|&l| l <= 0.25),
        "{layers:?} of a layer of cells"
    );
    let order_one = layers[2] * 0.25 <= 0.5 * layers[0];
    assert!(order_one, "no convergence: {layers:?}");
}

#[test]
fn volumes_in_space() {
    let layers = [0, 1, 2].map(|which| {
        let scaled = errors(which, |center: [f64; 3], fine, which| {
            let (shape, body) = spaces(center)[which].clone();
            (moved(shape.surface(fine).expect("a shape"), center), body)
        });
        scaled.map(|e| e / spaces([0.5; 3])[which].1.area())
    });
    assert_curved(layers[0], 0.01);
    assert_curved(layers[1], 0.05);
    assert_flat(layers[2]);
}

#[test]
fn areas_in_the_plane() {
    let layers = [0, 1].map(|which| {
        let scaled = errors(which, |center: [f64; 2], fine, which| {
            let (shape, body) = planes(center)[which].clone();
            (moved(shape.surface(fine).expect("a shape"), center), body)
        });
        scaled.map(|e| e / planes([0.5; 2])[which].1.area())
    });
    assert_curved(layers[0], 0.05);
    assert_flat(layers[1]);
}

/// Checks the cut of every link against the true surface; the number of links.
///
/// With e the deviation: the cut point lies within e of the true surface, no point before it
/// more than e inside, and the centre itself no more than e inside. On a ball also: the cut
/// lies between the true crossings of the balls e larger and e smaller.
fn check_cuts<const D: usize>(mesh: &Mesh<D>, body: &Body<D>, e: f64) -> usize {
    let mut count = 0;
    for &block in &mesh.links.blocks {
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block, cell };
            let center = mesh.frame.center(DEPTH - 1, mesh.forest.cell_coord(at));
            for direction in 0..dims::directions(D) {
                let Some(link) = mesh.link(at, direction) else {
                    continue;
                };
                let dx = mesh.frame.dx_at(DEPTH - 1);
                let d = dims::step::<D>(direction).map(|s| f64::from(s) * dx);
                let on = |t: f64| std::array::from_fn(|a| center[a] + t * d[a]);
                let q = f64::from(link.q);
                let off = body.distance(on(q));
                assert!(
                    off.abs() <= e,
                    "{body:?}: {at:?} {direction}: cut {off} off, e = {e}"
                );
                let depths = (0..16).map(|i| -body.distance(on(q * f64::from(i) / 16.0)));
                let deepest = -worst(depths);
                assert!(
                    deepest >= -e,
                    "{body:?}: {at:?} {direction}: inside before the cut"
                );
                if let Body::Ball { .. } = body {
                    let outer = body.ball_interval(center, d, e).expect("the link meets it");
                    let inner = body.ball_interval(center, d, -e);
                    let last = inner.map_or(outer[1], |i| i[0]);
                    let rounding = 1e-7;
                    assert!(
                        q >= outer[0] - rounding && q <= last + rounding,
                        "{at:?} {direction}: q = {q} not in {} .. {last}",
                        outer[0]
                    );
                }
                count += 1;
            }
        }
    }
    count
}

/// Every link from more than e outside to more than e inside must be there.
fn check_present<const D: usize>(mesh: &Mesh<D>, body: &Body<D>, e: f64) -> usize {
    let mut count = 0;
    let leaves = mesh.forest.leaves();
    for block in leaves.filter(|&id| usize::from(mesh.forest.level[id as usize]) == DEPTH - 1) {
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block, cell };
            let center = mesh.frame.center(DEPTH - 1, mesh.forest.cell_coord(at));
            let distance = body.distance(center);
            if distance.abs() > e {
                let solid = mesh.classes.solid[block as usize] >> cell & 1 == 1;
                assert_eq!(solid, distance < 0.0, "{body:?}: {at:?} at {distance}");
            }
            let dx = mesh.frame.dx_at(DEPTH - 1);
            if distance <= e || distance > 2.0 * dx {
                continue;
            }
            for direction in 0..dims::directions(D) {
                let d = dims::step::<D>(direction).map(|s| f64::from(s) * dx);
                if body.distance(std::array::from_fn(|a| center[a] + d[a])) < -e {
                    assert!(
                        mesh.link(at, direction).is_some(),
                        "{body:?}: {at:?} {direction}"
                    );
                    count += 1;
                }
            }
        }
    }
    count
}

#[test]
fn cuts_in_space() {
    for center in centers::<3>().into_iter().take(2) {
        for (shape, body) in spaces(center) {
            let frame = unit_frame(32);
            let fine = 0.01 * frame.dx_at(DEPTH - 1);
            let surface = moved(shape.surface(fine).expect("a shape"), center);
            let mesh = mesh_of(&surface, frame, &levels(DEPTH));
            let e = deviation(&mesh, fine);
            let links = check_cuts(&mesh, &body, e);
            let sure = check_present(&mesh, &body, e);
            assert!(
                sure > 10_000 && links >= sure,
                "{body:?}: {links} links, {sure} sure"
            );
        }
    }
}

#[test]
fn cuts_in_the_plane() {
    for center in centers::<2>() {
        for (shape, body) in planes(center) {
            let frame = unit_frame(64);
            let fine = 0.01 * frame.dx_at(DEPTH - 1);
            let surface = moved(shape.surface(fine).expect("a shape"), center);
            let mesh = mesh_of(&surface, frame, &levels(DEPTH));
            let e = deviation(&mesh, fine);
            let links = check_cuts(&mesh, &body, e);
            let sure = check_present(&mesh, &body, e);
            assert!(
                sure > 500 && links >= sure,
                "{body:?}: {links} links, {sure} sure"
            );
        }
    }
}

#[test]
#[should_panic(expected = "off, e =")]
fn cuts_of_another_body_are_noticed() {
    let [(shape, body), ..] = planes([0.5; 2]);
    let surface = moved(shape.surface(1e-4).expect("a shape"), [0.501, 0.5]);
    let mesh = mesh_of(&surface, unit_frame(64), &levels(DEPTH));
    check_cuts(&mesh, &body, deviation(&mesh, 1e-4));
}
