//! What the laws of the error see of a flow: its drive, and the lengths of its mesh.

use super::{
    Drive, Laws, SphereLaws,
    bodies::{Sway, reach},
    drive::{along, inlet, is_lid, narrows, openings, pull, wall_of, width},
    geometry::{Bed, Geometry},
};
use crate::solve::resolve::Resolved;
use cutlink_device::larger_or_nan;
use cutlink_flow::Until;
use cutlink_solver::{FaceCondition, MOST_CONDUCTION, is_driven_by_walls};
use cutlink_voxelizer::Mesh;

/// Hydraulic diameter and length of a bed, and how many times the drop is that of a duct of these: Kozeny's 5 μ U (S / V)² / ε³.
fn duct_of(bed: &Bed, of: &Geometry, dx: f64) -> Option<([f64; 2], f64)> {
    let extents = of.extents.as_ref()?.iter().copied();
    let length = extents.fold(0.0, larger_or_nan);
    Some(([bed.pore * dx, length * dx], 80.0 / 48.0 / bed.void))
}

/// Cells across a body and across the gap beside it, or of grains and pores.
fn body(of: &Geometry, bed: Option<&Bed>, cells: f64) -> Option<[f64; 2]> {
    let extents = of.extents.as_ref()?;
    let smallest = extents.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    let gap = extents
        .iter()
        .zip(&of.edges)
        .map(|(body, edge)| edge - body);
    let gap = gap.fold(2.0 * smallest, f64::min);
    let of = bed.map_or([smallest, gap], |bed| [bed.grain, bed.pore]);
    Some(of.map(|x| (x * cells).max(1.0)))
}

/// See [`Laws::spheres`].
fn spheres<const D: usize>(resolved: &Resolved<D>, mesh: &Mesh<D>) -> Option<SphereLaws> {
    let finest = f64::from(1u32 << (mesh.forest.levels.len() - 1));
    let viscosity = resolved.params.viscosity * finest;
    let known = None;
    (!resolved.case.particles.is_empty()).then_some(SphereLaws { viscosity, known })
}

impl Laws {
    /// Takes the diameter of the smallest sphere, m, and the share of the volume around spheres that is in others.
    pub(crate) fn take_spheres(&mut self, diameter: f64, share: f64) {
        if let Some(of) = &mut self.spheres {
            // ν Δt / Δx² is known, and c = Δx / Δt is that of all levels.
            let dx = self.physics.viscosity * self.physics.lattice_velocity
                / (of.viscosity * self.physics.velocity);
            of.known = Some([diameter / dx, share]);
        }
    }

    /// Of a flow on a mesh. Cost: a pass over the blocks and one over the links.
    pub(crate) fn of<const D: usize>(resolved: &Resolved<D>, mesh: &Mesh<D>) -> Self {
        let (params, physics, units) = (&resolved.params, resolved.physics, &resolved.units);
        let of = Geometry::of(mesh, params);
        let (dx, velocity) = (units.length, units.velocity());
        let finest = dx / 2f64.powi(of.level.unwrap_or(0) as i32);
        let cells = dx / finest;
        let (mean, has_inlet) = inlet(resolved, &of);
        let narrows = narrows(resolved, &of);
        let pressures = openings(resolved);
        let head = pressures * velocity * velocity / 3.0;
        let pull = pull(resolved) * velocity / units.time;
        let moves = !resolved.case.motion.is_empty();
        let stirs = moves || !resolved.case.particles.is_empty();
        let drive = if has_inlet {
            Drive::Inlet
        } else if head > 0.0 {
            Drive::Pressure
        } else if pull > 0.0 {
            Drive::Force
        } else if stirs || is_driven_by_walls(&params.faces, &params.patches) {
            Drive::Walls
        } else {
            Drive::Nothing
        };
        let has_body = of.body > 0.0 && !of.is_inside;
        let is_confined = of.faces > 0.0 || of.is_inside || (has_body && drive == Drive::Force);
        let bed = of.bed.filter(|_| has_body && drive.passes());
        let surface = of.faces + of.body;
        let hydraulic = (is_confined && surface > 0.0).then(|| {
            let length = match of.open > 0.0 {
                true => of.volume / of.open,
                false => along(resolved, &of),
            };
            [4.0 * of.volume / surface * dx, length * dx]
        });
        let of_bed = bed.and_then(|bed| duct_of(&bed, &of, dx));
        let hydraulic = of_bed.map(|(of, _)| of).or(hydraulic);
        let width = width::<D>(&of, is_confined);
        // What moving walls drive is recirculating, and its error another one.
        let is_array = has_body && of.faces == 0.0;
        let passage = width.filter(|_| drive.passes() && !is_array);
        let is_periodic = params.faces.contains(&[FaceCondition::Periodic; 2]);
        let is_cavity = drive == Drive::Walls && is_lid(&params.faces);
        let shortest = of.edges.iter().copied().min_by(f64::total_cmp);
        let is_parallel = match drive {
            Drive::Force => true,
            Drive::Walls => is_periodic && !has_body && !is_cavity && !stirs,
            _ => false,
        };
        let extent = of.extents.as_ref().filter(|_| has_body).map(|extents| {
            let extents = extents.iter().map(|&x| (x * cells).max(1.0));
            extents.product::<f64>().powf(1.0 / D as f64)
        });
        let steps = match resolved.until {
            Until::Steps(steps) => steps,
            Until::Settled { most, .. } => most,
        } as f64;
        let sway = Sway::of(&resolved.case.motion, &physics, steps * units.time);
        let across = extent.map(|cells_across| cells_across / cells).or(width);
        Self {
            drive,
            dimensions: D,
            physics,
            collision: params.collision,
            les: params.les,
            wall: wall_of(&params.patches),
            precision: params.precision,
            root: dx,
            finest,
            passage: passage.map(|n| n * cells * narrows.width),
            offset: (of.body > 0.0).then_some(of.offset),
            cavity: shortest.filter(|_| is_cavity).map(|n| n * cells),
            edge: shortest.filter(|_| surface == 0.0),
            width: width.filter(|_| is_parallel).map(|n| n * dx),
            body: body(&of, bed.as_ref(), cells).filter(|_| has_body),
            bed: bed.map(|bed| bed.void),
            extent,
            hydraulic,
            mean: mean * velocity,
            fastest: resolved.fastest.max(sway.fastest),
            throat: narrows.throat * velocity,
            resistance: of_bed.map_or(narrows.resistance, |(_, factor)| factor),
            narrowing: narrows.width,
            pull,
            along: along(resolved, &of) * dx,
            head,
            sway,
            reach: reach(params, &of.edges, across).map(|cells| cells * dx),
            conduction: params.heat.as_ref().map(|heat| {
                let finest = heat.diffusivity * f64::from(1u32 << (mesh.forest.levels.len() - 1));
                finest * (2 * D) as f64 / MOST_CONDUCTION
            }),
            spheres: spheres(resolved, mesh),
            moves,
            is_unsteady: resolved.is_unsteady,
            steps,
            piloted: None,
        }
    }
}
