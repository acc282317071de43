//! Folders `processorN` of a case: a part of the mesh and of its fields for each process of a parallel run.

use super::Castellated;
use cutlink_common::{Error, output};
use cutlink_hex::polymesh::write_zones;
use cutlink_hex::{MeshFileError, MeshPart, PolyMeshFormat};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of parts that a case has.
fn folders(case: &Path) -> Vec<PathBuf> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("processor"));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let entries = fs::read_dir(case).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_part).collect();
    found.sort();
    found
}

/// Checks before any work that no parts of another mesh are there.
///
/// # Errors
/// A folder of a part, without `force`.
pub(super) fn check(case: &Path, force: bool) -> Result<(), Error> {
    match folders(case).first() {
        Some(folder) if !force => Err(Error::input(format!("{} exists", folder.display()))
            .hint("--force removes the parts of an earlier mesh, with all that is in them")),
        _ => Ok(()),
    }
}

/// Removes the parts of an earlier mesh.
///
/// # Errors
/// A folder that cannot be removed.
pub(super) fn clear(case: &Path) -> Result<(), Error> {
    folders(case)
        .iter()
        .try_for_each(|folder| fs::remove_dir_all(folder).map_err(|e| output::failed(folder, &e)))
}

/// Writes `counts` parts along each axis, of equal numbers of cells, and the files of `0` into each. Returns the bytes of the
/// meshes.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn write(
    made: &Castellated,
    counts: [u32; 3],
    fields: &[(&str, &str)],
    case: &Path,
    format: PolyMeshFormat,
) -> Result<u64, Error> {
    let mesh = &made.mesh;
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    let centers: Vec<[f64; 3]> = cells.iter().map(|cell| cell.center).collect();
    let parts = counts.iter().product();
    let all = mesh.decompose(&boxes(&centers, counts), parts);
    let numbered = all.iter().enumerate();
    let bytes = numbered.map(|(n, part)| {
        let target = case.join(format!("processor{n}"));
        output::write_folder(&target, true, &|_| true, |folder| {
            put(made, part, fields, folder, format)
        })
    });
    bytes.sum()
}

fn put(
    made: &Castellated,
    part: &MeshPart,
    fields: &[(&str, &str)],
    folder: &Path,
    format: PolyMeshFormat,
) -> Result<u64, Error> {
    let at = folder.join("constant").join("polyMesh");
    fs::create_dir_all(&at).map_err(|e| output::failed(&at, &e))?;
    let mesh = || -> Result<u64, MeshFileError> {
        let mut bytes = part.write(&at, format)?;
        let zones = &made.zones;
        if !zones.cells.is_empty() {
            bytes += write_zones(&at, "cellZones", &part.cell_zones(&zones.cells))?;
        }
        if !zones.faces.is_empty() {
            bytes += write_zones(&at, "faceZones", &part.face_zones(&zones.faces))?;
        }
        Ok(bytes)
    };
    let bytes = mesh().map_err(|error| output::failed(&at, &error))?;
    for (name, text) in fields {
        let path = folder.join(name);
        let into = path.parent().unwrap_or(folder);
        fs::create_dir_all(into).map_err(|e| output::failed(into, &e))?;
        output::write_text(&path, true, text)?;
    }
    Ok(bytes)
}

/// The part of each cell: so many along each axis, of equal numbers of cells to one, x fastest.
fn boxes(centers: &[[f64; 3]], counts: [u32; 3]) -> Vec<u32> {
    let mut part = vec![0; centers.len()];
    let mut all: Vec<u32> = (0..centers.len() as u32).collect();
    divide(centers, counts, 0, &mut all, 0, &mut part);
    part
}

/// Divides some cells along an axis, and each piece along the next one.
fn divide(
    centers: &[[f64; 3]],
    counts: [u32; 3],
    axis: usize,
    cells: &mut [u32],
    first: u32,
    part: &mut [u32],
) {
    if axis == 3 {
        return cells.iter().for_each(|&cell| part[cell as usize] = first);
    }
    let at = |cell: u32| centers[cell as usize][axis];
    cells.sort_unstable_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    let stride: u32 = counts[..axis].iter().product();
    let (count, mut rest) = (counts[axis] as usize, cells);
    for piece in 0..count {
        let len = rest.len() / (count - piece);
        let (here, behind) = rest.split_at_mut(len);
        divide(
            centers,
            counts,
            axis + 1,
            here,
            first + stride * piece as u32,
            part,
        );
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_equal_numbers_of_cells_and_are_boxes() {
        let centers: Vec<[f64; 3]> = (0..6 * 5 * 4)
            .map(|i| [i % 6, i / 6 % 5, i / 30].map(f64::from))
            .collect();
        let part = boxes(&centers, [3, 1, 2]);
        let of = |n: u32| (0..centers.len()).filter(move |&cell| part[cell] == n);
        let all: Vec<Vec<usize>> = (0..6).map(|n| of.clone()(n).collect()).collect();
        for (n, cells) in all.iter().enumerate() {
            assert_eq!(cells.len(), 20, "part {n}");
            let (x, z) = (n % 3, n / 3);
            let is_in = |&cell: &usize| {
                let at = centers[cell];
                at[0] as usize / 2 == x && at[2] as usize / 2 == z
            };
            assert!(cells.iter().all(is_in), "part {n}");
        }
        let odd = boxes(&centers[..7], [3, 1, 1]);
        let count = |n: u32| odd.iter().filter(|&&part| part == n).count();
        assert_eq!([count(0), count(1), count(2)].iter().sum::<usize>(), 7);
        assert!((0..3).all(|n| (2..=3).contains(&count(n))));
    }
}
