//! A mesh file as the mesh of a case.
//!
//! It has cells, cut links and patches, but no surface: what is computed from facets has to be given in the case, or is
//! refused.

use crate::solve::case::{Case, PatchKind};
use cutlink_common::{Error, Observer};
use cutlink_flow::fields::OutputKind;
use cutlink_meshing::{inspect, options::MeshOptions};
use cutlink_voxelizer::{
    AnyMesh, Mesh,
    mesh_file::{self, FileError},
};
use std::path::Path;

/// The mesh of `[mesh] file`, if that is a mesh file.
///
/// # Errors
/// A mesh file that is damaged, or that does not fit into memory; keys of `[mesh]`, faces or outputs that do not go with
/// it; quantities that the case has to give.
pub(super) fn of(
    options: &MeshOptions,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<Option<AnyMesh>, Error> {
    let files = options.file.as_deref().unwrap_or_default();
    let [path] = files else {
        return Ok(None);
    };
    let mesh = match mesh_file::read(path) {
        Ok((mesh, _)) => mesh,
        Err(FileError::NotAMesh { .. }) => return Ok(None),
        Err(error) => return Err(inspect::unreadable(error)),
    };
    check_options(path, options)?;
    match &mesh {
        AnyMesh::D2(mesh) => check(path, mesh, case),
        AnyMesh::D3(mesh) => check(path, mesh, case),
    }?;
    for (name, patch) in &case.patches {
        if patch.kind == PatchKind::Velocity {
            observer.note(&format!(
                "patch {name}: its flux is that of its cut links, for a mesh file has no facets to correct it by"
            ));
        }
    }
    Ok(Some(mesh))
}

/// Checks that `[mesh]` has nothing that would change the mesh.
fn check_options(path: &Path, options: &MeshOptions) -> Result<(), Error> {
    let neutral = MeshOptions {
        file: options.file.clone(),
        device: options.device,
        threads: options.threads,
        ranks: options.ranks,
        gpus: options.gpus,
        ..MeshOptions::default()
    };
    if *options == neutral {
        return Ok(());
    }
    let given = toml::Table::try_from(options)
        .map_err(|e| Error::input("cannot list the keys of [mesh]").because(&e))?;
    let neutral = toml::Table::try_from(&neutral)
        .map_err(|e| Error::input("cannot list the keys of [mesh]").because(&e))?;
    let keys = given
        .iter()
        .filter(|(key, value)| neutral.get(*key) != Some(value));
    let keys: Vec<&str> = keys.map(|(key, _)| key.as_str()).collect();
    Err(Error::input(format!(
        "[mesh] has {} beside a mesh file, {}",
        keys.join(", "),
        path.display()
    ))
    .hint("a mesh file is used as it is: remove these keys, or name the surface to build another mesh"))
}

fn check<const D: usize>(path: &Path, mesh: &Mesh<D>, case: &Case) -> Result<(), Error> {
    let no_surface = || format!("{} is a mesh file, which has no surface", path.display());
    let of_mesh = &mesh.forest.periodic;
    let of_case = case.boundary.periodic().0;
    for a in 0..D {
        let axis = ["x", "y", "z"][a];
        if of_mesh[a] == of_case[a] {
            continue;
        }
        let (what, hint) = if of_mesh[a] {
            (
                "are not periodic",
                format!("make both faces periodic, or mesh without --periodic {axis}"),
            )
        } else {
            (
                "are periodic",
                format!("build the mesh with --periodic {axis}"),
            )
        };
        let is = if of_mesh[a] { "is" } else { "is not" };
        return Err(Error::input(format!(
            "the faces {axis}- and {axis}+ {what}, but {} {is} periodic along {axis}",
            path.display()
        ))
        .hint(hint));
    }
    let outside = mesh.fill.flow() == "outside";
    if case.physics.area.is_none() && outside && !mesh.links.is_empty() {
        return Err(Error::input("[physics] area is missing").hint(format!(
            "{}: give the reference area of the coefficients, in 2D a length",
            no_surface()
        )));
    }
    let needs_facets = |kind| match kind {
        OutputKind::Surface => true,
        OutputKind::Render => !mesh.links.is_empty(),
        _ => false,
    };
    let mut outputs = case.output.write.iter().map(|output| output.kind);
    if let Some(kind) = outputs.find(|&kind| needs_facets(kind)) {
        return Err(Error::input(format!(
            "[[output.write]] kind = \"{}\" needs the facets of the body",
            kind.name()
        ))
        .hint(format!(
            "{}: name the surface in [mesh] instead",
            no_surface()
        )));
    }
    Ok(())
}
