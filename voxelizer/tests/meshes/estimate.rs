//! Estimates against the meshes themselves: the same surface, embedded to the last level.

use crate::worst;
use cutlink_device::Host;
use cutlink_mesher::Surface;
use cutlink_mesher::primitives::{AnyShape, parse_shape};
use cutlink_mesher::snap::snap;
use cutlink_voxelizer::kernels::MeshKernels;
use cutlink_voxelizer::{
    BUILD_BLOCKS, EmbedParams, Estimate, Fill, Forecast, Frame, embed, forecast, mesh_file, rough,
};
use std::collections::BTreeMap;

/// Blocks, cells, links, boundary cells, bytes of the mesh file.
type Counts = [u64; 5];

const BOUND: f64 = 0.10;

fn params(levels: usize, wall_distance: f64) -> EmbedParams {
    EmbedParams::new(levels, wall_distance, Fill::NonZero)
}

fn truth<const D: usize>(surface: &Surface<D>, frame: Frame<D>, params: &EmbedParams) -> Counts
where
    Host: MeshKernels<D>,
{
    let snapped = snap(surface, frame.lattice(params.levels)).expect("in reach");
    let mesh = embed(&Host, &snapped, frame, params, &mut ()).expect("a mesh");
    let counts = mesh.level_counts();
    let mut file = Vec::new();
    mesh_file::write(&mesh, &BTreeMap::new(), &mut file).expect("bytes");
    [
        counts.iter().map(|l| l.blocks as u64).sum(),
        counts.iter().map(|l| l.fluid + l.boundary + l.solid).sum(),
        mesh.links.len() as u64,
        counts.iter().map(|l| l.boundary).sum(),
        file.len() as u64,
    ]
}

fn told(estimate: &Estimate) -> Counts {
    [
        estimate.blocks,
        estimate.cells,
        estimate.links,
        estimate.boundary_cells,
        estimate.bytes_file,
    ]
}

/// The largest relative error.
fn largest_error(estimate: &Estimate, truth: &Counts) -> f64 {
    worst(
        told(estimate)
            .iter()
            .zip(truth)
            .map(|(&told, &is)| (told as f64 / is as f64 - 1.0).abs()),
    )
}

fn solid(shape: &str) -> Surface<3> {
    match parse_shape(shape).expect("a shape") {
        AnyShape::D3(shape) => shape.surface(1e-3).expect("facets"),
        AnyShape::D2(_) => unreachable!("a solid shape is asked for"),
    }
}

fn flat(shape: &str) -> Surface<2> {
    match parse_shape(shape).expect("a shape") {
        AnyShape::D2(shape) => shape.surface(1e-4).expect("segments"),
        AnyShape::D3(_) => unreachable!("a flat shape is asked for"),
    }
}

fn cube(cells: u32) -> Frame<3> {
    Frame::new([-0.75; 3], 1.5 / f64::from(cells), [cells; 3]).expect("a frame")
}

/// The forecast with the last two levels, or more, left to the growth law.
fn coarse<const D: usize>(surface: &Surface<D>, frame: Frame<D>, p: &EmbedParams) -> Forecast<D>
where
    Host: MeshKernels<D>,
{
    let blocks = rough(surface, frame, p).expect("a forecast");
    let build: u64 = blocks.at(p.levels - 2).blocks + p.levels as u64;
    let made = forecast(&Host, surface, frame, p, build).expect("a forecast");
    assert_eq!(made.at(p.levels).counted_levels, p.levels - 2, "counted");
    made
}

#[test]
fn solids_are_within_ten_per_cent_two_levels_beyond_what_was_built() {
    for shape in ["sphere:r=0.5", "torus", "box:size=1x0.5x0.25"] {
        let (surface, frame, p) = (solid(shape), cube(32), params(5, 0.0));
        let made = coarse(&surface, frame, &p);
        let is = truth(&surface, frame, &p);
        let error = largest_error(&made.at(5), &is);
        assert!(error < BOUND, "{shape}: {:?} for {is:?}", told(&made.at(5)));
    }
}

#[test]
fn a_wing_in_the_plane_and_a_thick_layer_are_too() {
    let frame = Frame::new([-0.5, -0.75], 2.0 / 64.0, [64, 48]).expect("a frame");
    let surface = flat("naca:2412");
    for wall_distance in [0.0, 0.4] {
        let p = params(8, wall_distance);
        let made = coarse(&surface, frame, &p);
        let is = truth(&surface, frame, &p);
        let error = largest_error(&made.at(8), &is);
        assert!(error < BOUND, "{:?} for {is:?}", told(&made.at(8)));
    }
}

#[test]
fn what_lies_beyond_the_box_does_not_count() {
    let surface = solid("sphere:r=0.5");
    let frame = Frame::new([0.0; 3], 0.75 / 32.0, [32; 3]).expect("a frame");
    let p = params(4, 0.0);
    let is = truth(&surface, frame, &p);
    let error = largest_error(&coarse(&surface, frame, &p).at(4), &is);
    assert!(error < BOUND, "an eighth of the sphere: {error}");
    // The closed forms alone, clipped at the walls: the links are a sharp test of it.
    let links = rough(&surface, frame, &p).expect("a forecast").at(4).links;
    let off = (links as f64 / is[2] as f64 - 1.0).abs();
    assert!(off < 0.02, "links {links} for {}", is[2]);
}

#[test]
fn levels_that_are_built_are_exact_and_so_is_an_empty_box() {
    let (surface, frame, p) = (solid("sphere:r=0.5"), cube(16), params(3, 0.0));
    let made = forecast(&Host, &surface, frame, &p, BUILD_BLOCKS).expect("a forecast");
    let estimate = made.at(3);
    assert_eq!(estimate.counted_levels, 3, "all are built");
    assert!(estimate.seconds.is_some(), "and timed");
    let is = truth(&surface, frame, &p);
    assert_eq!(told(&estimate)[..4], is[..4], "counts");
    let mut far = solid("sphere:r=0.5");
    for v in &mut far.vertices {
        v[0] += 3.0;
    }
    let none = forecast(&Host, &far, frame, &p, BUILD_BLOCKS).expect("a forecast");
    assert_eq!((none.at(3).blocks, none.at(3).links), (64, 0), "roots only");
}

#[test]
fn the_finest_that_fits_is_the_finest_that_fits() {
    let (surface, frame, p) = (solid("sphere:r=0.5"), cube(32), params(9, 0.0));
    let made = forecast(&Host, &surface, frame, &p, 20_000).expect("a forecast");
    for n in 1..9 {
        let cap = made.at(n).cells;
        let found = made.finest(|e| e.cells <= cap).expect("the root grid");
        assert_eq!(found.levels.len(), n, "{n} levels fit exactly");
        let below = made.finest(|e| e.cells < cap).map_or(0, |e| e.levels.len());
        assert_eq!(below, n - 1, "and one less does not take them");
        assert!(made.at(n).bytes_peak < made.at(n + 1).bytes_peak, "memory");
    }
}

#[test]
fn a_wrong_growth_law_fails_the_bound() {
    let (surface, frame, p) = (solid("sphere:r=0.5"), cube(32), params(5, 0.0));
    let made = coarse(&surface, frame, &p);
    let is = truth(&surface, frame, &p);
    // Growth by 2 or by 8 a level instead of 4, from the same counts.
    for ratio in [2u64, 8] {
        let mut wrong = made.at(5);
        let last = made.at(3).levels[2].blocks;
        wrong.blocks = made.at(3).blocks + last * ratio + last * ratio * ratio;
        assert!(largest_error(&wrong, &is) > BOUND, "growth by {ratio}");
    }
    // A level less, and a root grid alone.
    for n in [1, 4] {
        assert!(largest_error(&made.at(n), &is) > BOUND, "{n} levels for 5");
    }
}
