//! Names of patches and zones, and patches by the shape of the boundary.

use crate::geometry::{dot, face_of, norm, scale};
use crate::polymesh::word;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Words of OpenFOAM for names, each once; notes say which changed.
pub(super) fn words(names: &[String], notes: &mut Vec<String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let unique = |name: &String| {
        let first = word(name);
        let mut all = std::iter::once(first.clone()).chain((2..).map(|n| format!("{first}_{n}")));
        let free = all.find(|word| !taken.contains(word));
        let free = free.unwrap_or(first);
        taken.insert(free.clone());
        if free != *name {
            notes.push(format!("{name:?} is called {free}"));
        }
        free
    };
    names.iter().map(unique).collect()
}

/// The patch of each boundary face, and their number: faces are joined over edges at which their normals differ by less
/// than an angle in degrees; edges of more than two faces part them. Patches are numbered by their first face.
pub(super) fn by_angle(points: &[[f64; 3]], faces: &[&[u32]], angle: f64) -> (Vec<u32>, usize) {
    let normals: Vec<[f64; 3]> = faces
        .par_iter()
        .map(|ids| {
            let area = face_of(points, ids).area;
            scale(area, 1.0 / norm(area).max(f64::MIN_POSITIVE))
        })
        .collect();
    let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(4 * faces.len());
    for (face, ids) in faces.iter().enumerate() {
        for (i, &from) in ids.iter().enumerate() {
            let to = ids[(i + 1) % ids.len()];
            edges.push((from.min(to), from.max(to), face as u32));
        }
    }
    edges.par_sort_unstable();
    // Each face points to a face of its patch with a smaller number, the first one to itself.
    let mut root: Vec<u32> = (0..faces.len() as u32).collect();
    let least = angle.to_radians().cos();
    for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let &[(_, _, a), (_, _, b)] = same else {
            continue;
        };
        if dot(normals[a as usize], normals[b as usize]) > least {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            root[a.max(b) as usize] = a.min(b);
        }
    }
    let mut number = vec![u32::MAX; faces.len()];
    let mut count = 0;
    let mut patches = Vec::with_capacity(faces.len());
    for face in 0..faces.len() as u32 {
        let first = find(&mut root, face) as usize;
        if number[first] == u32::MAX {
            number[first] = count;
            count += 1;
        }
        patches.push(number[first]);
    }
    (patches, count as usize)
}

fn find(root: &mut [u32], mut at: u32) -> u32 {
    while root[at as usize] != at {
        root[at as usize] = root[root[at as usize] as usize];
        at = root[at as usize];
    }
    at
}
