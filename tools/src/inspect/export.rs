//! Exports of `cutlink inspect`: VTK files, slices, voxel surfaces.

use crate::cli::InspectArgs;
use crate::cli::SliceAxis;
use crate::console::Console;
use cutlink::mesh::product::write_picture;
use cutlink::mesh::report::Written;
use cutlink::output;
use cutlink::picture::voxels::{VoxelOptions, draw};
use cutlink::picture::{Position, SliceOptions};
use cutlink::polymesh::{self, PolyMeshReport};
use cutlink::solid_stl::solid_surface;
use cutlink::vtk::{self, VtkFormat};
use cutlink::{Error, Observer as _};
use cutlink_mesher::write_stl::write_stl;
use cutlink_voxelizer::{AnyMesh, Mesh};
use std::collections::BTreeMap;
use std::path::Path;

/// Whether any export is requested.
pub(super) fn wanted(args: &InspectArgs) -> bool {
    let files = [
        &args.vtk,
        &args.png,
        &args.solid_stl,
        &args.voxels,
        &args.polymesh,
    ];
    files.iter().any(|file| file.is_some())
}

/// Checks the requested exports before the file is read.
///
/// # Errors
/// Usage errors.
pub(super) fn check(args: &InspectArgs) -> Result<(), Error> {
    let targets = [
        &args.vtk,
        &args.png,
        &args.solid_stl,
        &args.voxels,
        &args.report,
    ];
    for (i, target) in targets.into_iter().enumerate() {
        let Some(path) = target else { continue };
        if targets[..i].contains(&target) {
            return Err(Error::input(format!(
                "{} would be written twice",
                path.display()
            )));
        }
        output::check(path, args.force, Some(&args.file))?;
    }
    if let Some(case) = &args.polymesh {
        polymesh::check(case, args.force)?;
    }
    if let Some(path) = &args.vtk {
        VtkFormat::of(path, args.level)?;
    }
    let of_level = [&args.vtk, &args.solid_stl, &args.voxels];
    if args.level.is_some() && of_level.iter().all(|file| file.is_none()) {
        return Err(Error::input("--level needs --vtk, --solid-stl or --voxels"));
    }
    view(args)?;
    if !(0.0..=1.0).contains(&args.position) {
        return Err(Error::input(format!(
            "--position is {}: it must be a fraction of the box edge, 0 to 1",
            args.position
        )));
    }
    Ok(())
}

/// Checks the requested exports against the mesh.
///
/// # Errors
/// Usage errors.
pub(super) fn check_for(args: &InspectArgs, mesh: &AnyMesh) -> Result<(), Error> {
    let (planar, finest) = match mesh {
        AnyMesh::D2(mesh) => (true, mesh.forest.finest()),
        AnyMesh::D3(mesh) => (false, mesh.forest.finest()),
    };
    match args.level {
        Some(level) if level > finest => {
            return Err(Error::input(format!(
                "--level is {level}, but this mesh has levels 0 to {finest}"
            )));
        }
        _ => {}
    }
    for (given, name) in [
        (args.solid_stl.is_some(), "--solid-stl"),
        (args.voxels.is_some(), "--voxels"),
    ] {
        if planar && given {
            return Err(Error::input(format!("{name} is for 3D meshes")));
        }
    }
    if planar && args.polymesh.is_some() {
        return Err(polymesh::planar());
    }
    if planar && args.axis.is_some() {
        return Err(Error::input(
            "--axis is for 3D meshes: in 2D the slice is the whole mesh",
        ));
    }
    Ok(())
}

/// Writes the requested exports.
///
/// # Errors
/// I/O errors.
pub(super) fn write(
    args: &InspectArgs,
    mesh: &AnyMesh,
    console: &Console,
) -> Result<BTreeMap<&'static str, Written>, Error> {
    let mut files = BTreeMap::new();
    let mut add = |kind, path: &Path, bytes| {
        let path = path.to_owned();
        files.insert(kind, Written { path, bytes });
    };
    if let Some(path) = &args.vtk {
        let format = VtkFormat::of(path, args.level)?;
        let bytes = match mesh {
            AnyMesh::D2(mesh) => vtk::write(mesh, format, args.level, path, args.force)?,
            AnyMesh::D3(mesh) => vtk::write(mesh, format, args.level, path, args.force)?,
        };
        add("vtk", path, bytes);
    }
    if let Some(path) = &args.png {
        let slice = SliceOptions {
            axis: args.axis.map_or(2, SliceAxis::number),
            position: Position::Fraction(args.position),
            ..SliceOptions::default()
        };
        add("png", path, write_picture(mesh, &slice, path, args.force)?);
    }
    if let (Some(path), AnyMesh::D3(mesh)) = (&args.solid_stl, mesh) {
        let level = args.level.unwrap_or(mesh.forest.finest());
        add("solid_stl", path, solid_stl(mesh, level, path, args.force)?);
    }
    if let (Some(path), AnyMesh::D3(mesh)) = (&args.voxels, mesh) {
        add("voxels", path, voxels(mesh, args, path)?);
    }
    if let (Some(case), AnyMesh::D3(mesh)) = (&args.polymesh, mesh) {
        let format = args
            .polymesh_format
            .map_or_else(Default::default, Into::into);
        let of = polymesh::PolyMeshExport {
            cells: None,
            labels: polymesh::PolyLabels::default(),
            template: None,
            layers: &[],
            snap_to: None,
            case,
            format,
            force: args.force,
        };
        let (made, bytes) = polymesh::export(mesh, &of)?;
        for note in made.notes() {
            console.clone().note(&note);
        }
        console.show(&PolyMeshReport::new(&made).text())?;
        add("polymesh", case, bytes);
    }
    Ok(files)
}

/// The direction from the body to the eye.
fn view(args: &InspectArgs) -> Result<Option<[f64; 3]>, Error> {
    let Some(view) = &args.view else {
        return Ok(None);
    };
    let wrong = || {
        Error::input("--view is a direction of three numbers, not all zero")
            .hint("for example --view 0.4,0.3,1")
    };
    let view: [f64; 3] = view.as_slice().try_into().map_err(|_| wrong())?;
    match view == [0.0; 3] {
        true => Err(wrong()),
        false => Ok(Some(view)),
    }
}

/// Writes the picture of the solid cells; returns its bytes.
fn voxels(mesh: &Mesh<3>, args: &InspectArgs, path: &Path) -> Result<u64, Error> {
    let options = VoxelOptions {
        level: args.level.unwrap_or(mesh.forest.finest()),
        view: view(args)?,
        up: args.up.map_or(2, SliceAxis::number),
        width: SliceOptions::default().width,
    };
    let canvas = draw(mesh, &options)
        .map_err(|what| Error::input(format!("--view: {what}")).hint("or give another --up"))?
        .ok_or_else(|| no_solid(options.level))?;
    let written = output::write(path, args.force, |out| {
        canvas.write_png(out).map_err(|e| output::failed(path, &e))
    })?;
    Ok(written.1)
}

fn no_solid(level: usize) -> Error {
    Error::input(format!(
        "level {level} has no solid cells, so it has no solid surface"
    ))
    .hint("use a finer --level")
}

fn solid_stl(mesh: &Mesh<3>, level: usize, path: &Path, force: bool) -> Result<u64, Error> {
    let surface = solid_surface(mesh, level).filter(|s| !s.facets.is_empty());
    let surface = surface.ok_or_else(|| no_solid(level))?;
    let written = output::write_by_path(path, force, |temporary| {
        write_stl(temporary, &surface).map_err(|e| output::failed(path, &e))
    })?;
    Ok(written.1)
}
