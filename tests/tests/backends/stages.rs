//! Kernels on their own, against the host's: facets in order, lists of root blocks and of children, winding
//! numbers of root blocks.

use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use cutlink_mesher::{
    exact::{Exact, Facet},
    kernels::{Bins, ChildBoxes, FacetSet, Repeats},
    primitives::{Shape2, Shape3},
    snap::{Snapped, snap},
};
use cutlink_tests::{
    arrays::{Difference, same, same_bins, same_facets},
    backend_test,
    backends::{AnyKernels, random_cases},
    bodies::frame_around,
    chains::{Bodies, CELL, Case, Chains, Sizes, cases},
};
use cutlink_voxelizer::{Frame, kernels::MeshKernels};
use proptest::prelude::*;
use std::collections::BTreeSet;

backend_test!(
    stages_of_random_chains_in_space,
    stages_of_random_chains_in_the_plane,
    stages_of_many_facets,
    stages_of_nothing,
);

/// What the stages made, on the host.
struct Made<const D: usize> {
    set: FacetSet<D>,
    seeds: Vec<i32>,
    roots: Bins,
    children: Bins,
}

/// The stages one after the other, on two levels; every root block with a facet, and every fifth, is refined.
fn stages<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    root: [u32; D],
    spacing: i32,
) -> Result<Made<D>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let device = |error| text(&error as &cutlink_device::DeviceError);
    let set = kernels.facet_set(surface, Repeats::Merge).map_err(device)?;
    let mut forest = Forest::new(kernels, root).map_err(|e| text(&e))?;
    let seeds = kernels
        .seed_roots(&set, &forest, spacing)
        .map_err(|e| text(&e))?;
    let roots = kernels.bin_root(&set, root, 4 * spacing).map_err(device)?;
    let lists = roots.download(kernels).map_err(device)?;

    let marks = (0..forest.capacity())
        .map(|id| u8::from(id % 5 == 0 || !lists.of(id).is_empty()) * Mark::Refine as u8);
    let mut marks = kernels.upload(marks.collect()).map_err(device)?;
    forest
        .refine(kernels, 0, &mut marks)
        .map_err(|e| text(&e))?;
    let first = K::len(&forest.levels[0]);
    let children = kernels.bin_children(
        &set,
        &roots,
        ChildBoxes {
            coord: &forest.coord,
            parent: &forest.parent,
            first_child: &forest.first_child,
            first,
            count: forest.capacity() - first,
            first_parent: 0,
            edge: 2 * spacing,
        },
    );
    let children = children.map_err(device)?;
    Ok(Made {
        set: set.download(kernels).map_err(device)?,
        seeds: kernels.download(&seeds).map_err(device)?,
        roots: lists,
        children: children.download(kernels).map_err(device)?,
    })
}

fn differ<const D: usize>(a: &Made<D>, b: &Made<D>) -> Result<(), Difference> {
    same_facets(&a.set, &b.set)?;
    same("seeds", &a.seeds, &b.seeds)?;
    same_bins(&a.roots, &b.roots)?;
    same_bins(&a.children, &b.children)
}

/// Entries of the children's lists.
fn check<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    root: [u32; D],
    spacing: i32,
) -> Result<usize, String>
where
    Facet<D>: Exact<D>,
{
    let there = stages(kernels, surface, root, spacing)?;
    let here = stages(&Host, surface, root, spacing)?;
    differ(&there, &here).map_err(|d| format!("not the host's: {d}"))?;
    brute(&there, surface, root, spacing)?;
    Ok(there.children.facets.len())
}

/// Of the facets of each root block: those whose bounding box meets the grown box, at most; all of those with a
/// corner in it, at least.
fn brute<const D: usize>(
    made: &Made<D>,
    surface: &Snapped<D>,
    root: [u32; D],
    spacing: i32,
) -> Result<(), String> {
    let corners = &made.set.corners;
    // Each place once; caps, which are last, apart from walls.
    let walls = surface.facets.len() - surface.caps;
    let place = |(f, corners): (usize, &[u32; D])| {
        let mut corners = *corners;
        corners.sort_unstable();
        let patch = surface.facet_patch.get(f).copied().unwrap_or(0);
        (corners, (f < walls).then_some(patch))
    };
    let places: BTreeSet<_> = surface.facets.iter().enumerate().map(place).collect();
    if corners.len() != places.len() {
        return Err(format!("{} facets in the set", corners.len()));
    }
    let (edge, grow) = (4 * spacing, spacing / 2);
    for block in 0..made.roots.starts.len() - 1 {
        let mut rest = block as i32;
        let low = root.map(|n| {
            let c = rest % n as i32;
            rest /= n as i32;
            c * edge - grow
        });
        let high = low.map(|c| c + edge + 2 * grow);
        let list = made.roots.of(block);
        if !list.is_sorted_by(|f, g| f < g) {
            return Err(format!("the list of block {block} does not ascend"));
        }
        for f in 0..corners.len() as u32 {
            let facet = &corners[f as usize];
            let is_in = |p: &[i32; D]| (0..D).all(|a| low[a] <= p[a] && p[a] <= high[a]);
            let apart = (0..D).any(|a| {
                facet.iter().all(|p| p[a] < low[a]) || facet.iter().all(|p| p[a] > high[a])
            });
            let is_listed = list.binary_search(&f).is_ok();
            if is_listed && apart || !is_listed && facet.iter().any(is_in) {
                return Err(format!("facet {f} of block {block}: listed {is_listed}"));
            }
        }
    }
    Ok(())
}

fn random<const D: usize, K: MeshKernels<D>>(kernels: &K, count: u32)
where
    Facet<D>: Exact<D>,
    Bodies: Chains<D>,
{
    let sizes = Sizes {
        levels: (2, 2),
        bodies: 4,
        far: true,
    };
    let entries = std::cell::Cell::new(0);
    random_cases(count, &cases::<D>(sizes), |case: Case<D>| {
        let root = case.frame.root_blocks();
        let found = check(kernels, &case.surface, root, 2 * CELL).map_err(TestCaseError::fail)?;
        entries.set(entries.get() + found);
        Ok(())
    });
    assert!(entries.get() > 10 * count as usize, "{entries:?} entries");
}

fn stages_of_random_chains_in_space<K: AnyKernels>(kernels: &K) {
    random::<3, K>(kernels, 500);
}

fn stages_of_random_chains_in_the_plane<K: AnyKernels>(kernels: &K) {
    random::<2, K>(kernels, 1000);
}

fn shape<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: &Frame<D>,
    levels: usize,
) where
    Facet<D>: Exact<D>,
{
    let spacing = CELL << (levels - 1);
    match check(kernels, surface, frame.root_blocks(), spacing) {
        Ok(entries) => assert!(entries >= surface.facets.len(), "{entries} entries"),
        Err(text) => panic!("{text}"),
    }
}

fn stages_of_many_facets<K: AnyKernels>(kernels: &K) {
    let torus = Shape3::Torus {
        major: 1.0,
        minor: 0.3,
    };
    let torus = torus.surface(2e-4).expect("a torus");
    assert!(torus.facets.len() > 10_000, "{}", torus.facets.len());
    let frame = frame_around(&torus, 24);
    let snapped = snap(&torus, frame.lattice(3)).expect("in range");
    shape(kernels, &snapped, &frame, 3);

    let circle = Shape2::Circle { radius: 1.0 };
    let circle = circle.surface(1e-9).expect("a circle");
    assert!(circle.facets.len() > 10_000, "{}", circle.facets.len());
    let frame = frame_around(&circle, 64);
    let snapped = snap(&circle, frame.lattice(9)).expect("in range");
    shape(kernels, &snapped, &frame, 9);
}

fn stages_of_nothing<K: AnyKernels>(kernels: &K) {
    let none = cutlink_tests::chains::Soup::<3>::default().snapped(1);
    assert_eq!(check(kernels, &none, [3, 2, 1], CELL), Ok(0));
    let none = cutlink_tests::chains::Soup::<2>::default().snapped(2);
    assert_eq!(check(kernels, &none, [1, 5], CELL), Ok(0));
}

#[test]
fn damaged_stages_are_told_apart() {
    let torus = Shape3::Torus {
        major: 1.0,
        minor: 0.3,
    };
    let torus = torus.surface(0.01).expect("a torus");
    let frame = frame_around(&torus, 16);
    let mut snapped = snap(&torus, frame.lattice(2)).expect("in range");
    let count = snapped.facets.len();
    snapped.patches.push("other".into());
    snapped.facet_patch = (0..count).map(|f| (f % 2) as u16).collect();
    let made = || stages(&Host, &snapped, frame.root_blocks(), 2 * CELL).expect("memory");
    let sound = made();
    assert_eq!(differ(&sound, &made()), Ok(()), "as they are");
    type Damage = (&'static str, fn(&mut Made<3>));
    let damages: [Damage; 8] = [
        ("corners", |m| m.set.corners[7][2][1] += 1),
        ("corners", |m| m.set.corners.swap(3, 900)),
        ("facet patches", |m| m.set.patch[11] ^= 1),
        ("walls", |m| m.set.walls -= 1),
        ("seeds", |m| m.seeds[31] -= 1),
        ("list starts", |m| m.roots.starts[20] += 1),
        ("lists", |m| m.roots.facets.swap(0, 1)),
        ("lists", |m| m.children.facets.truncate(100)),
    ];
    for (array, damage) in damages {
        let mut bad = made();
        damage(&mut bad);
        let found = differ(&sound, &bad).map_err(|d| d.array);
        assert_eq!(found, Err(array), "where that is damaged");
    }
    // Brute force sees damage without a comparison: in a block's list a facet from elsewhere, one too few, two
    // exchanged.
    let full = (0..sound.roots.starts.len() - 1).find(|&b| sound.roots.of(b).len() > 2);
    let at = sound.roots.starts[full.expect("a block with facets")] as usize;
    let check = |bad: &Made<3>| brute(bad, &snapped, frame.root_blocks(), 2 * CELL);
    assert_eq!(check(&sound), Ok(()), "as they are");
    let last = count as u32 - 1;
    let damages: [fn(&mut Vec<u32>, usize, u32); 3] = [
        |lists, at, last| lists[at + 1] = last,
        |lists, at, _| lists[at] = lists[at + 1],
        |lists, at, _| lists.swap(at, at + 1),
    ];
    for damage in damages {
        let mut bad = made();
        damage(&mut bad.roots.facets, at, last);
        assert!(check(&bad).is_err(), "damaged lists");
    }
}
