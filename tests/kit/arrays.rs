//! Comparison of what two backends made, array by array and bit by bit. Structures are taken apart
//! by name, so that a new array does not compile before it is compared.

use cutlink_amr::{FREE, Forest, ForestArrays, dims};
use cutlink_mesher::kernels::{BinArrays, Bins, FacetArrays, FacetSet};
use cutlink_voxelizer::{Classes, LinkTable, Mesh};
use std::fmt::{self, Debug};

/// The first array that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub array: &'static str,
    /// Where and by what, for people.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.array, self.text)
    }
}

/// One value.
fn value<T: PartialEq + Debug>(array: &'static str, a: &T, b: &T) -> Result<(), Difference> {
    if a == b {
        return Ok(());
    }
    let text = format!("{a:?} and {b:?}");
    Err(Difference { array, text })
}

/// The elements that `counts` of two arrays, and their lengths.
fn places<T: PartialEq + Debug>(
    array: &'static str,
    a: &[T],
    b: &[T],
    counts: impl Fn(usize) -> bool,
) -> Result<(), Difference> {
    if a.len() != b.len() {
        let text = format!("{} and {} elements", a.len(), b.len());
        return Err(Difference { array, text });
    }
    let mut unlike = (0..a.len()).filter(|&i| counts(i) && a[i] != b[i]);
    let Some(first) = unlike.next() else {
        return Ok(());
    };
    let text = format!(
        "element {first} of {} is {:?} and {:?}, {} more differ",
        a.len(),
        a[first],
        b[first],
        unlike.count()
    );
    Err(Difference { array, text })
}

/// All elements of two arrays.
pub fn same<T: PartialEq + Debug>(array: &'static str, a: &[T], b: &[T]) -> Result<(), Difference> {
    places(array, a, b, |_| true)
}

/// Compares two meshes: ids, orders and the bits of distances included.
pub fn same_mesh<const D: usize>(a: &Mesh<D>, b: &Mesh<D>) -> Result<(), Difference> {
    let Mesh {
        frame,
        forest,
        classes,
        links,
        patches,
        fill,
        graded,
    } = a;
    value("frame", frame, &b.frame)?;
    same_forest(forest, &b.forest)?;
    let Classes {
        solid,
        boundary,
        ghost,
        interface,
    } = classes;
    same("solid", solid, &b.classes.solid)?;
    same("boundary", boundary, &b.classes.boundary)?;
    same("ghost", ghost, &b.classes.ghost)?;
    same("interface", interface, &b.classes.interface)?;
    let LinkTable {
        blocks,
        row_of,
        cell_start,
        cells,
        q,
        patch,
    } = links;
    same("link blocks", blocks, &b.links.blocks)?;
    same("link rows", row_of, &b.links.row_of)?;
    same("link cell starts", cell_start, &b.links.cell_start)?;
    same("link cells", cells, &b.links.cells)?;
    let bits = |q: &[f32]| q.iter().map(|q| q.to_bits()).collect::<Vec<_>>();
    same("link distances", &bits(q), &bits(&b.links.q))?;
    same("link patches", patch, &b.links.patch)?;
    value("patches", patches, &b.patches)?;
    value("fill", fill, &b.fill)?;
    value("graded", graded, &b.graded)
}

/// Compares two forests, but for what the arrays hold of free ids.
pub fn same_forest<const D: usize>(a: &Forest<D>, b: &Forest<D>) -> Result<(), Difference> {
    let ForestArrays {
        root,
        periodic,
        coord,
        level,
        parent,
        first_child,
        families,
        levels,
        gaps,
    } = &**a;
    value("root", root, &b.root)?;
    value("periodic", periodic, &b.periodic)?;
    same("level", level, &b.level)?;
    let used = |id: usize| level[id] != FREE;
    places("coord", coord, &b.coord, used)?;
    places("parent", parent, &b.parent, used)?;
    places("first child", first_child, &b.first_child, used)?;
    let roots = root.iter().map(|&n| n as usize).product::<usize>();
    let first_of = |place: usize| roots + place / 4usize.pow(D as u32) * dims::children(D);
    places("families", families, &b.families, |i| used(first_of(i)))?;
    value("levels", &levels.len(), &b.levels.len())?;
    for (a, b) in levels.iter().zip(&b.levels) {
        same("levels", a, b)?;
    }
    same("gaps", gaps, &b.gaps)
}

/// Compares two surfaces.
pub fn same_facets<const D: usize>(a: &FacetSet<D>, b: &FacetSet<D>) -> Result<(), Difference> {
    let FacetArrays {
        corners,
        patch,
        times,
        patches,
        walls,
        extent,
    } = &**a;
    same("corners", corners, &b.corners)?;
    same("facet patches", patch, &b.patch)?;
    same("multiplicities", times, &b.times)?;
    value("number of patches", patches, &b.patches)?;
    value("walls", walls, &b.walls)?;
    value("extent", extent, &b.extent)
}

/// Compares two sets of lists.
pub fn same_bins(a: &Bins, b: &Bins) -> Result<(), Difference> {
    let BinArrays {
        starts,
        facets,
        rows,
    } = &**a;
    value("facets of the set", &a.set_len(), &b.set_len())?;
    same("list starts", starts, &b.starts)?;
    same("lists", facets, &b.facets)?;
    same("rows with a list", rows, &b.rows)
}
