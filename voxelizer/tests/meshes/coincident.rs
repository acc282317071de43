//! Facets that are there many times: what they mesh to follows from the fill rule alone.
//!
//! Winding numbers of k copies are k times those of one, and the lowest patch at a place is that of its links. So the
//! mesh of the copies is that of one body, which other tests hold against brute force.

use super::files_kit::Random;
use cutlink_device::Host;
use cutlink_mesher::Surface;
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, embed, prepare, validate};

const BOX: f64 = 2.0;

fn mesh(surface: &Surface<3>, fill: Fill, periodic: [bool; 3]) -> Mesh<3> {
    let frame = Frame::new([0.0; 3], BOX / 16.0, [16; 3]).expect("a box");
    let params = EmbedParams {
        periodic,
        ..EmbedParams::new(2, 0.0, fill)
    };
    let (snapped, _) = prepare(&Host, surface, &frame, &params).expect("in reach");
    let mesh = embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh");
    validate(&mesh).expect("a valid mesh");
    mesh
}

fn solid(mesh: &Mesh<3>) -> u64 {
    mesh.level_counts().iter().map(|level| level.solid).sum()
}

fn surface(corners: &[[[f64; 3]; 3]], patch: impl Fn(usize) -> u16) -> Surface<3> {
    let mut surface = Surface {
        vertices: corners.as_flattened().to_vec(),
        facets: (0..corners.len() as u32)
            .map(|f| [3 * f, 3 * f + 1, 3 * f + 2])
            .collect(),
        facet_patch: (0..corners.len()).map(patch).collect(),
        patches: (0..3).map(|k| format!("p{k}")).collect(),
    };
    surface.weld();
    surface
}

/// The cube from 0 to 1, which touches three faces of the box.
fn cube() -> Vec<[[f64; 3]; 3]> {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2].map(|c| c as f64);
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let halves = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    halves.map(|t| t.map(corner)).collect()
}

/// Closed tetrahedra, outward or inward, some of them flat once they are snapped.
fn tetrahedra(random: &mut Random) -> Vec<[[f64; 3]; 3]> {
    let mut all = Vec::new();
    for _ in 0..4 {
        // Multiples of half a finest cell: many crossings at cell centres.
        let mut point = || std::array::from_fn(|_| 0.25 + random.below(25) as f64 / 16.0);
        let [a, b, c, d]: [[f64; 3]; 4] = std::array::from_fn(|_| point());
        all.extend([[a, b, c], [a, c, d], [a, d, b], [b, d, c]]);
    }
    all
}

fn reversed(corners: &[[[f64; 3]; 3]]) -> Vec<[[f64; 3]; 3]> {
    corners.iter().map(|&[a, b, c]| [a, c, b]).collect()
}

#[test]
fn copies_mesh_to_one_body_or_to_none() {
    let mut random = Random::new(11);
    let mut bodies = vec![cube()];
    bodies.extend((0..12).map(|_| tetrahedra(&mut random)));
    for (k, body) in bodies.iter().enumerate() {
        let n = body.len();
        let one = |fill| mesh(&surface(body, |f| (f % 2) as u16), fill, [false; 3]).checksum();
        // The lowest patch comes last but one.
        let patch =
            |copies: usize| move |f: usize| if f / n + 2 == copies { f % n % 2 } else { 2 } as u16;
        let many = |copies: usize, fill| {
            mesh(
                &surface(&body.repeat(copies), patch(copies)),
                fill,
                [false; 3],
            )
            .checksum()
        };
        let [odd, even] = if k == 0 { [201, 200] } else { [41, 40] };
        assert_eq!(many(odd, Fill::NonZero), one(Fill::NonZero), "body {k}");
        assert_eq!(many(even, Fill::NonZero), one(Fill::NonZero), "body {k}");
        assert_eq!(many(odd, Fill::EvenOdd), one(Fill::EvenOdd), "body {k}");
        assert_eq!(
            many(even, Fill::EvenOdd),
            many(2, Fill::EvenOdd),
            "body {k}"
        );
        let other = mesh(&surface(body, |_| 2), Fill::NonZero, [false; 3]).checksum();
        assert_ne!(other, one(Fill::NonZero), "body {k}: patches count");
    }
}

#[test]
fn copies_and_their_reverse_add_up() {
    let mut random = Random::new(12);
    let at_the_end = cube()
        .iter()
        .map(|t| t.map(|p| p.map(|x| x + 1.0)))
        .collect();
    for body in [cube(), at_the_end, tetrahedra(&mut random)] {
        let one = surface(&body, |_| 0);
        let net = |copies| surface(&[body.repeat(copies), reversed(&body)].concat(), |_| 0);
        // On periodic faces the crossings of all copies add up.
        for periodic in [[false; 3], [true; 3]] {
            let mesh = |surface: &Surface<3>| mesh(surface, Fill::NonZero, periodic);
            let expected = mesh(&one);
            assert!(solid(&expected) > 0, "a body");
            assert_eq!(mesh(&net(40)).checksum(), expected.checksum());
            assert_eq!(
                solid(&mesh(&net(1))),
                0,
                "a body and its reverse are nothing"
            );
        }
    }
}
