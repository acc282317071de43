//! From a surface to a mesh: options → a checked job ([`resolve`]) → the mesh ([`build`]) → its report and files
//! ([`product`], [`report`]).
//!
//! [`mesh()`] takes a surface in memory, [`from_options`] the file or shape of [`MeshOptions`]. Both run on the calling
//! thread and rayon's current pool, or on a pool of `threads` workers if the options set it.

pub mod build;
pub mod domain;
pub mod gate;
pub mod intersections;
pub mod product;
pub mod report;
pub mod resolve;
pub mod sides;
pub mod source;
mod windows;

use crate::options::MeshOptions;
use build::{AnyPlaced, Builder};
use cutlink_common::{Error, Observer, device::Opening, pool};
use cutlink_mesher::Surface;
use cutlink_voxelizer::{AnyMesh, Mesh};

/// Extension of mesh files.
pub const MESH_EXTENSION: &str = "cutlink";
/// The default near-wall distance, as a share of the box's longest edge (J26 Table 1).
const WALL_SHARE: f64 = 0.05;

/// Embeds a surface in memory; `options` must not name another surface. Files are neither read nor written.
///
/// ```
/// use cutlink_meshing::MeshOptions;
/// use cutlink_mesher::Surface;
///
/// // A tetrahedron, facets counter-clockwise from outside.
/// let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let facets = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let surface = Surface::single_patch(vertices, facets, "body");
/// let options = MeshOptions { levels: Some(2), ..MeshOptions::default() };
/// let mesh = cutlink_meshing::mesh(&surface, &options)?;
/// assert!(mesh.links.len() > 0);
/// # Ok::<(), cutlink_common::Error>(())
/// ```
///
/// # Errors
/// Invalid options, a surface that is not closed (without `robust`), a mesh that does not fit into memory, a device
/// error.
pub fn mesh<const D: usize>(surface: &Surface<D>, options: &MeshOptions) -> Result<Mesh<D>, Error> {
    let mut job = resolve::resolve_for_surface(options)?;
    job.targets.intersections = None;
    pool::install(job.threads, || {
        let opening = Opening::begin(job.device.0)?;
        let mut observer = ();
        let mut builder = Builder::opening(&job, &opening, &mut observer);
        let placed = builder.place_surface(surface.clone())?;
        let prepared = builder.prepare(placed)?;
        builder.build(&prepared)
    })
}

/// Embeds the file or shape of `options`. Nothing is written; notes and progress go to `observer`.
///
/// ```
/// use cutlink_meshing::MeshOptions;
/// use cutlink_voxelizer::AnyMesh;
///
/// let mut options = MeshOptions::default();
/// options.shape = Some("sphere:r=0.5".into());
/// options.levels = Some(2);
/// let AnyMesh::D3(mesh) = cutlink_meshing::mesh::from_options(&options, &mut ())? else {
///     unreachable!("a sphere is 3D");
/// };
/// assert!(mesh.links.len() > 0);
/// # Ok::<(), cutlink_common::Error>(())
/// ```
///
/// # Errors
/// As [`mesh()`], and a file that cannot be read.
pub fn from_options(options: &MeshOptions, observer: &mut dyn Observer) -> Result<AnyMesh, Error> {
    let mut job = resolve::resolve(options)?;
    job.targets.intersections = None;
    pool::install(job.threads, || {
        let opening = Opening::begin(job.device.0)?;
        let mut builder = Builder::opening(&job, &opening, observer);
        Ok(match builder.place()? {
            AnyPlaced::D2(placed) => {
                let prepared = builder.prepare(placed)?;
                AnyMesh::D2(builder.build(&prepared)?)
            }
            AnyPlaced::D3(placed) => {
                let prepared = builder.prepare(placed)?;
                AnyMesh::D3(builder.build(&prepared)?)
            }
        })
    })
}
