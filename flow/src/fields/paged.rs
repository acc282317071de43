//! The fields of `report.html`: slices over time, and the body.
//!
//! Slices are the planes of the pictures and slices that the case writes, at most three; without any, the middle planes of
//! the body, or of the box without one. Values are those of the leaf cells at the centres of a grid, whose cells are the
//! finest ones or 2^k of them; cells of the body have none, apart from those beside the fluid where the section is closed: it
//! is drawn over them, and they have the mean of the cells beside as in pictures.
//!
//! Frames are taken every `spacing` steps. Where there are more than [`FRAMES`], every second one is dropped and the spacing
//! doubles, so that a run of any length has as many.

use super::kinds::{NormalAxis, OutputKind, Quantity};
use super::plane::Plane;
use super::spec::OutputSpec;
use super::surface::Body;
use super::units::FieldUnits;
use super::values::{Scene, title_of};
use super::writer::FieldWriter;
use crate::{Flow, FlowState};
use cutlink_amr::{NONE, dims};
use cutlink_common::Error;
use cutlink_mesher::snap::Snapped;
use cutlink_pictures::blocks::{add_section, blocks_in, empty_slice, middle_planes};
use cutlink_report::{PageColours, PageSlice, PageSliceField, PageSurface};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Most frames of a slice.
const FRAMES: usize = 24;
/// Most values across a slice.
const ACROSS: usize = 320;
/// Most planes.
const PLANES: usize = 3;
/// Most scalars besides speed, pressure and vorticity.
const SCALARS: usize = 2;

/// What a page shows of the fields of a run.
#[derive(Debug)]
pub(crate) struct PagedFields<const D: usize> {
    slices: Vec<(Plane, PageSlice)>,
    /// Whether the planes are those of the case's outputs.
    is_given: bool,
    /// Steps between two frames, and the step of the last one.
    spacing: u64,
    last: Option<u64>,
    /// Values, in memory of their own.
    state: FlowState<D>,
    /// Whether the next body is for the page alone.
    pub(super) wants_body: bool,
    pub(super) body: Option<Body<D>>,
}

impl<const D: usize> PagedFields<D> {
    /// Slices of a mesh; the first frames are `spacing` steps apart.
    pub(crate) fn new(mesh: &Mesh<D>, specs: &[OutputSpec], spacing: u64) -> Self {
        let of_plane =
            |s: &&OutputSpec| matches!(s.kind, OutputKind::Picture | OutputKind::Slice) && D == 3;
        let mut planes: Vec<Plane> = Vec::new();
        for spec in specs.iter().filter(of_plane) {
            let plane = Plane::new(mesh, spec.axis, spec.position);
            planes.extend(plane.ok().filter(|plane| !planes.contains(plane)));
        }
        planes.truncate(PLANES);
        let is_given = !planes.is_empty();
        let slices = match is_given {
            true => slices_of(mesh, planes.iter().map(|plane| plane.normal)),
            false => slices_of(mesh, middle_planes(mesh, None)),
        };
        Self {
            slices,
            is_given,
            spacing: spacing.max(1),
            last: None,
            state: FlowState::default(),
            wants_body: false,
            body: None,
        }
    }

    /// Adds the sections of the surface; before the first frame.
    pub(super) fn set_surface(&mut self, mesh: &Mesh<D>, surface: &Snapped<D>) {
        if !self.is_given && self.last.is_none() {
            self.slices = slices_of(mesh, middle_planes(mesh, Some(surface)));
        }
        for (_, slice) in &mut self.slices {
            add_section(mesh, surface, slice);
        }
    }

    /// Whether a frame is due.
    fn is_due(&self, step: u64) -> bool {
        self.last != Some(step) && step.is_multiple_of(self.spacing)
    }

    /// Takes a frame.
    fn take(&mut self, flow: &dyn Flow<D>, units: &FieldUnits) -> Result<(), Error> {
        let (mesh, step) = (flow.mesh()?, flow.steps());
        let blocks = self.slabs(mesh);
        flow.update(blocks.as_deref(), &mut self.state)?;
        self.state.snapshot.step = step;
        let scene = scene_of(mesh, &self.state, units);
        for (plane, slice) in &mut self.slices {
            add_frame(scene, plane, slice);
        }
        self.last = Some(step);
        if self
            .slices
            .first()
            .is_some_and(|(_, slice)| slice.times.len() > FRAMES)
        {
            self.spacing *= 2;
            self.slices.iter_mut().for_each(|(_, slice)| halve(slice));
        }
        Ok(())
    }

    /// The root blocks that the planes cut, with all of their descendants; none for all blocks.
    fn slabs(&self, mesh: &Mesh<D>) -> Option<Vec<u32>> {
        let layer = |(plane, _): &(Plane, PageSlice)| {
            let (axis, at) = plane.normal?;
            let block = (at - mesh.frame.origin[axis]) / (4.0 * mesh.frame.dx);
            let last = mesh.frame.root_cells[axis] as i32 / 4 - 1;
            Some((axis, (block as i32).clamp(0, last)))
        };
        let layers: Vec<(usize, i32)> = self.slices.iter().map(layer).collect::<Option<_>>()?;
        let forest = &mesh.forest;
        let is_cut = |&b: &u32| {
            let coord = forest.coord[b as usize];
            layers.iter().any(|&(axis, layer)| coord[axis] == layer)
        };
        let mut blocks: Vec<u32> = forest.levels[0].iter().copied().filter(is_cut).collect();
        let mut next = 0;
        while let Some(&block) = blocks.get(next) {
            let first = forest.first_child[block as usize];
            if first != NONE {
                blocks.extend(first..first + dims::children(D) as u32);
            }
            next += 1;
        }
        Some(blocks)
    }
}

impl<const D: usize> FieldWriter<D> {
    /// Adds the fields of a page.
    pub(crate) fn set_paged(&mut self, paged: PagedFields<D>) {
        self.paged = Some(paged);
    }

    /// Takes a frame of the page if one is due, or `now` if there is none of this step; returns whether it did.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub(crate) fn take_frame(&mut self, flow: &dyn Flow<D>, now: bool) -> Result<bool, Error> {
        let Some(paged) = &mut self.paged else {
            return Ok(false);
        };
        let step = flow.steps();
        let is_due = paged.is_due(step) || now && paged.last != Some(step);
        if is_due {
            paged.take(flow, &self.units)?;
        }
        Ok(is_due)
    }

    /// The slices so far, with the blocks of the mesh as it is now.
    ///
    /// # Errors
    /// A device that fails.
    pub(crate) fn paged_slices(&self, flow: &dyn Flow<D>) -> Result<Vec<PageSlice>, Error> {
        let mesh = flow.mesh()?;
        let slices = self.paged.iter().flat_map(|paged| &paged.slices);
        let with_blocks = slices.map(|(_, slice)| PageSlice {
            blocks: blocks_in(mesh, slice),
            ..slice.clone()
        });
        Ok(with_blocks.collect())
    }

    /// The body with the values on it now; none in 2D, and for flows without one.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    pub(crate) fn paged_body(&mut self, flow: &dyn Flow<D>) -> Result<Option<PageSurface>, Error> {
        if D != 3 || self.paged.is_none() {
            return Ok(None);
        }
        self.want_body(true);
        let shown = flow.show_body(self, false);
        self.want_body(false);
        shown?;
        let Some(paged) = &mut self.paged else {
            return Ok(None);
        };
        let Some(body) = paged.body.take() else {
            return Ok(None);
        };
        let mesh = flow.mesh()?;
        flow.update(None, &mut paged.state)?;
        Ok(body.paged(scene_of(mesh, &paged.state, &self.units), &mesh.patches))
    }

    fn want_body(&mut self, wants: bool) {
        if let Some(paged) = &mut self.paged {
            paged.wants_body = wants;
        }
    }
}

fn scene_of<'a, const D: usize>(
    mesh: &'a Mesh<D>,
    state: &'a FlowState<D>,
    units: &'a FieldUnits,
) -> Scene<'a, D> {
    Scene {
        mesh,
        snapshot: &state.snapshot,
        pressure: state.pressure.as_deref(),
        scalars: &state.scalars,
        particles: state.particles.as_ref(),
        units,
        average: None,
    }
}

/// Planes by their normal axis and coordinate, with their slices.
fn slices_of<const D: usize>(
    mesh: &Mesh<D>,
    normals: impl IntoIterator<Item = Option<(usize, f64)>>,
) -> Vec<(Plane, PageSlice)> {
    let axes = [NormalAxis::X, NormalAxis::Y, NormalAxis::Z];
    let slice = |normal: Option<(usize, f64)>| {
        let plane = Plane::new(
            mesh,
            normal.map(|(axis, _)| axes[axis]),
            normal.map(|(_, at)| at),
        );
        Some((plane.ok()?, empty_slice(mesh, normal)))
    };
    normals.into_iter().filter_map(slice).collect()
}

/// Adds the values now to a slice.
fn add_frame<const D: usize>(scene: Scene<'_, D>, plane: &Plane, slice: &mut PageSlice) {
    let axis = plane.normal.map_or(2, |(axis, _)| axis);
    let mut quantities = vec![Quantity::Speed, Quantity::Pressure, Quantity::Vorticity];
    let scalars = scene.units.scalars.iter().take(SCALARS);
    quantities.extend(scalars.map(|(name, _)| Quantity::Scalar(*name)));
    if slice.fields.is_empty() {
        let frame = &scene.mesh.frame;
        let finest = scene.mesh.forest.finest();
        let most = plane
            .axes
            .map(|a| frame.root_cells[a] as usize)
            .into_iter()
            .max();
        let mut up = 0;
        while (most.unwrap_or(1) << finest) >> up > ACROSS {
            up += 1;
        }
        slice.size = plane
            .axes
            .map(|a| ((frame.root_cells[a] as usize) << finest).div_ceil(1 << up));
        slice.time_unit = scene.units.time.name.clone();
        slice.fields = quantities
            .iter()
            .map(|&quantity| {
                let (name, unit) = title_of(scene, quantity, axis);
                PageSliceField {
                    name,
                    unit: unit.name.clone(),
                    frames: Vec::new(),
                    colours: match quantity {
                        Quantity::Pressure | Quantity::Vorticity => PageColours::Diverging,
                        _ => PageColours::Sequential,
                    },
                    range: None,
                }
            })
            .collect();
    }
    let finest = scene.mesh.forest.finest();
    let fine = plane
        .axes
        .map(|a| (scene.mesh.frame.root_cells[a] as usize) << finest);
    let [nx, ny] = slice.size;
    let middle = |i: usize, n: usize, k: usize| ((2 * i + 1) * fine[k] / (2 * n)) as i64;
    let cells: Vec<_> = (0..nx * ny)
        .into_par_iter()
        .map(|i| {
            let at = [middle(i % nx, nx, 0), middle(i / nx, ny, 1)];
            let leaf = plane.leaf(scene.mesh, at)?;
            let solid = scene.mesh.classes.solid[leaf.block as usize] >> leaf.cell & 1;
            (solid == 0).then_some(leaf)
        })
        .collect();
    for (field, &quantity) in slice.fields.iter_mut().zip(&quantities) {
        let value = |leaf| scene.shown(quantity, axis, leaf) as f32;
        let cells = cells.par_iter();
        let values: Vec<f32> = cells.map(|c| c.map_or(f32::NAN, value)).collect();
        field.frames.push(match slice.is_closed {
            true => filled(&values, nx),
            false => values,
        });
    }
    slice.times.push(scene.time());
}

/// Gives values that are missing the mean of those around them, if there are any.
fn filled(values: &[f32], nx: usize) -> Vec<f32> {
    let ny = values.len() / nx.max(1);
    let fill = |(i, &value): (usize, &f32)| {
        if !value.is_nan() {
            return value;
        }
        let (x, y) = (i % nx, i / nx);
        let rows = y.saturating_sub(1)..(y + 2).min(ny);
        let around = rows.flat_map(|y| {
            let columns = x.saturating_sub(1)..(x + 2).min(nx);
            columns.map(move |x| values[y * nx + x])
        });
        let (sum, count) = around
            .filter(|v| v.is_finite())
            .fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
        sum / count
    };
    values.par_iter().enumerate().map(fill).collect()
}

/// Drops every second frame, counted from the last one.
fn halve(slice: &mut PageSlice) {
    let last = slice.times.len().saturating_sub(1);
    let kept: Vec<bool> = (0..=last).map(|i| (last - i).is_multiple_of(2)).collect();
    let mut flags = kept.iter();
    slice.times.retain(|_| flags.next().is_some_and(|&k| k));
    for field in &mut slice.fields {
        let mut flags = kept.iter();
        field.frames.retain(|_| flags.next().is_some_and(|&k| k));
    }
}
