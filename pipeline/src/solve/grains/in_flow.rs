//! `[[particles]]` in a flow of any kind: from tables to a bed in the flow's box.

use super::{
    case::{ContactTable, MaterialTable},
    materials::MaterialTables,
    resolve::{SHARE, fastest, overlap, place},
    walls::{CaseWalls, WallSurface},
};
use crate::solve::particles::{BedOf, ParticlesTable, explained};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_grains::{Bed, GrainBox, GrainParams, Materials, StepLimit};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tables of the spheres of a case.
pub(in crate::solve) struct BedTables<'a> {
    pub(in crate::solve) materials: &'a BTreeMap<String, MaterialTable>,
    pub(in crate::solve) contacts: &'a [ContactTable],
    pub(in crate::solve) particles: &'a [ParticlesTable],
    pub(in crate::solve) contact_step: Option<f64>,
    pub(in crate::solve) max_overlap: Option<f64>,
}

/// The spheres of a flow, and what they are made from.
pub(in crate::solve) struct BedInFlow {
    pub(in crate::solve) bed: Bed,
    pub(in crate::solve) walls: CaseWalls,
    /// Names of materials, by index.
    pub(in crate::solve) materials: Vec<String>,
    /// The ends of the tables of spheres.
    pub(in crate::solve) ends: Vec<usize>,
    /// The limit of the step of contacts, and the speed that it is for, m/s.
    pub(in crate::solve) limit: StepLimit,
    pub(in crate::solve) speed: f64,
}

impl<'a> BedTables<'a> {
    fn materials(&self) -> MaterialTables<'a> {
        MaterialTables {
            materials: self.materials,
            contacts: self.contacts,
        }
    }

    /// Names of the materials, and these.
    ///
    /// # Errors
    /// As [`MaterialTables::resolve`].
    pub(in crate::solve) fn names(&self) -> Result<(Vec<String>, Materials), Error> {
        let tables = self.materials();
        let names = tables.names();
        let materials = tables.resolve(&names)?;
        Ok((names, materials))
    }

    /// The bed in a box with walls, in which spheres fall with an acceleration, m/s², in a stream of a speed, m/s.
    ///
    /// # Errors
    /// Keys that are missing or make no sense, spheres where they cannot be.
    pub(in crate::solve) fn bed(
        &self,
        (names, materials): (Vec<String>, Materials),
        domain: GrainBox,
        surfaces: Vec<WallSurface>,
        (weight, stream): ([f64; 3], f64),
    ) -> Result<BedInFlow, Error> {
        let mut walls = CaseWalls::new(surfaces, &names)?;
        let tables = self.materials();
        let (grains, ends) = place(self.particles, &tables, &domain, &walls, BedOf::Flow)?;
        let speed = fastest(&grains, &domain, weight) + stream;
        let limit = StepLimit::of(&materials, &grains, speed)
            .ok_or_else(|| Error::input("there are no spheres"))?;
        let dt = match self.contact_step {
            Some(dt) => positive("[numerics] contact_step", dt)?,
            None => SHARE * limit.limit,
        };
        let mut params = GrainParams::new(materials, domain, dt);
        if let Some(most) = self.max_overlap {
            params.max_overlap = overlap(most)?;
        }
        let bed = Bed::start(params, walls.all.take(), &grains);
        Ok(BedInFlow {
            bed: bed.map_err(|error| explained(error, &ends, BedOf::Flow))?,
            walls,
            materials: names,
            ends,
            limit,
            speed,
        })
    }
}

impl BedInFlow {
    /// The forecast of spheres in finest cells of a width: keys, and lines of text. `dt` is the step of the flow; none for spheres
    /// that stay.
    pub(in crate::solve) fn forecast(&self, h: f64, dt: Option<f64>) -> (Value, String) {
        let (bed, limit) = (&self.bed, &self.limit);
        let radii = bed.grains().into_iter().map(|grain| grain.radius);
        let [least, most] = radii.fold([f64::INFINITY, 0.0], |[l, m], r| [l.min(r), m.max(r)]);
        let contact = bed.params().dt;
        let substeps = dt.map_or(0.0, |dt| (dt / contact - 1e-9).ceil().max(1.0));
        let facets: usize = self.walls.each.iter().map(|(_, wall)| wall.facets()).sum();
        let mut text = format!(
            "{} sphere{}, {:.1} to {:.1} of the finest cells wide, of {}; walls of {facets} facets\n",
            bed.len(),
            if bed.len() == 1 { "" } else { "s" },
            2.0 * least / h,
            2.0 * most / h,
            self.materials.join(", "),
        );
        text += &match dt {
            None => "they stay where they are\n".to_owned(),
            Some(dt) => format!(
                "steps of the flow are {dt:.4e} s at the start, which they allow; each has {substeps} of contacts, of {contact:.4e} s at most; \
                 the {} limit is {:.4e} s, up to {:.3} m/s\n",
                limit.rule, limit.limit, self.speed
            ),
        };
        let json = json!({
            "spheres": bed.len(),
            "facets": facets,
            "cells_a_diameter": [2.0 * least / h, 2.0 * most / h],
            "contact_dt": contact,
            "contact_steps": substeps,
            "limit": { "rule": limit.rule, "dt": limit.limit, "speed": self.speed },
        });
        (json, text)
    }
}
