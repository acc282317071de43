//! What is counted of a mesh, against a search through all its cells by their places.

use super::files_kit::{Random, ball_mesh, random_mesh};
use cutlink_amr::{CellRef, dims};
use cutlink_device::Host;
use cutlink_voxelizer::{Mesh, thin};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The level of a cell and its coordinates at it.
type Place<const D: usize> = (u8, [i32; D]);

fn beside<const D: usize>((level, at): Place<D>, direction: usize) -> Place<D> {
    let step = dims::step::<D>(direction);
    (level, std::array::from_fn(|a| at[a] + step[a]))
}

/// Checks the counts of a mesh; links with fluid at both ends, and cells of thin places.
fn check<const D: usize>(mesh: &Mesh<D>) -> [u64; 2] {
    let counts = mesh.counts(&Host).expect("memory");
    assert_eq!(counts.levels, mesh.level_counts());
    assert_eq!(counts.checksum, mesh.checksum());
    assert_eq!(counts.thin, thin(mesh));

    let mut solid: HashMap<Place<D>, bool> = HashMap::new();
    let mut cells: Vec<(CellRef, Place<D>)> = Vec::new();
    let mut leaves = vec![[0; 4]; mesh.forest.levels.len()];
    for block in mesh.forest.ids() {
        let (id, level) = (block as usize, mesh.forest.level[block as usize]);
        for cell in 0..dims::cells(D) as u32 {
            let cell = CellRef { block, cell };
            let place = (level, mesh.forest.cell_coord(cell));
            let has = |mask: &[u64]| mask[id] >> cell.cell & 1 == 1;
            solid.insert(place, has(&mesh.classes.solid));
            cells.push((cell, place));
            if mesh.forest.is_leaf(block) {
                let boundary = has(&mesh.classes.boundary);
                let class = [!boundary && !solid[&place], boundary, solid[&place], true];
                let sums = leaves[usize::from(level)].iter_mut();
                sums.zip(class).for_each(|(sum, is)| *sum += u64::from(is));
            }
        }
    }
    for (found, [fluid, boundary, solid, all]) in counts.levels.iter().zip(leaves) {
        assert_eq!(
            [found.fluid, found.boundary, found.solid],
            [fluid, boundary, solid]
        );
        assert_eq!((found.leaf_blocks * dims::cells(D)) as u64, all);
    }

    let directions = 0..dims::directions(D);
    let beside_solid = |place: Place<D>| {
        let mut around = directions.clone().map(|d| beside(place, d));
        around.any(|place| solid.get(&place) == Some(&true))
    };
    let (mut links, mut is_thin) = (BTreeSet::new(), HashSet::new());
    for &(cell, place) in &cells {
        for direction in directions.clone() {
            let end = beside(place, direction);
            if mesh.link(cell, direction).is_none() || solid.get(&end) != Some(&false) {
                continue;
            }
            links.insert((place, direction));
            let step = dims::step::<D>(direction);
            let is_along_axis = step.iter().filter(|&&s| s != 0).count() == 1;
            if is_along_axis && !beside_solid(place) && !beside_solid(end) {
                is_thin.insert(place);
            }
        }
    }
    assert_eq!(counts.thin.links, links.len() as u64 / 2);
    assert_eq!(counts.thin.cells, is_thin.len() as u64);
    // Places are made of blocks that touch: all cells are in one, and none reaches into another.
    let of_places: u64 = counts.thin.places.iter().map(|place| place.cells).sum();
    assert_eq!(of_places, counts.thin.cells);
    for &(level, at) in &is_thin {
        let center = mesh.frame.center(usize::from(level), at);
        let is_in = |[low, high]: [[f64; D]; 2]| {
            (0..D).all(|a| low[a] <= center[a] && center[a] <= high[a])
        };
        assert!(counts.thin.places.iter().any(|place| is_in(place.bounds)));
    }
    [counts.thin.links, counts.thin.cells]
}

/// A mesh with links whose ends are fluid: most of its blocks lose their solid cells, some only a few.
fn hollow<const D: usize>(mut mesh: Mesh<D>, seed: u64) -> Mesh<D> {
    let mut random = Random::new(seed);
    for solid in &mut mesh.classes.solid {
        *solid &= match random.below(8) {
            0 => u64::MAX,
            1 => random.next() | random.next(),
            _ => 0,
        };
    }
    mesh
}

#[test]
fn counts_are_those_of_a_search_through_all_cells() {
    let mut sum = [0; 2];
    let mut add = |[links, cells]: [u64; 2]| {
        sum[0] += links;
        sum[1] += cells;
    };
    for seed in 0..3 {
        add(check(&hollow(random_mesh(seed, [4, 3, 4], 3), seed)));
        add(check(&hollow(random_mesh(seed, [5, 4], 4), seed)));
    }
    add(check(&hollow(ball_mesh([5, 5, 5], 2), 7)));
    add(check(&ball_mesh([5, 5], 3)));
    assert!(sum[0] > 1000 && sum[1] > 100 && sum[1] < sum[0], "{sum:?}");
}
