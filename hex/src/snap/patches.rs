//! Faces of walls that lie on another patch of the surface than the cut beside them change their patch.

use crate::PolyMesh;

/// Moves boundary faces to other patches: pairs of a face and the number of its patch. Faces of patches that change are sorted by
/// owner. Cost: a pass over the boundary.
pub(super) fn move_faces(mesh: &mut PolyMesh, to: &[(u32, u32)]) {
    if to.is_empty() {
        return;
    }
    let first = mesh.internal_faces();
    let mut patch_of: Vec<u32> = Vec::with_capacity(mesh.faces() - first);
    for (at, patch) in mesh.patches.iter().enumerate() {
        patch_of.extend(std::iter::repeat_n(at as u32, patch.faces));
    }
    let mut changes = vec![false; mesh.patches.len()];
    for &(face, patch) in to {
        let before = &mut patch_of[face as usize - first];
        changes[*before as usize] = true;
        changes[patch as usize] = true;
        *before = patch;
    }
    let mut order: Vec<u32> = (0..patch_of.len() as u32).collect();
    order.sort_by_key(|&at| {
        let patch = patch_of[at as usize];
        let owner = mesh.owner[first + at as usize];
        (patch, if changes[patch as usize] { owner } else { 0 }, at)
    });
    let start = mesh.face_start[first];
    let (mut points, mut starts, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for &at in &order {
        let face = first + at as usize;
        points.extend_from_slice(mesh.face(face));
        starts.push(start + points.len() as u32);
        owners.push(mesh.owner[face]);
    }
    mesh.face_points.truncate(start as usize);
    mesh.face_points.append(&mut points);
    mesh.face_start.truncate(first + 1);
    mesh.face_start.append(&mut starts);
    mesh.owner.truncate(first);
    mesh.owner.append(&mut owners);
    let mut begin = first;
    for (at, patch) in mesh.patches.iter_mut().enumerate() {
        patch.start = begin;
        patch.faces = patch_of.iter().filter(|&&p| p == at as u32).count();
        begin += patch.faces;
    }
}
