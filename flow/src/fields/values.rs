//! Values of cells in output units.

use super::FieldName;
use super::kinds::{Average, CellField, Quantity};
use super::units::{FieldUnit, FieldUnits};
use crate::particles::ParticleState;
use cutlink_amr::{CellRef, FREE, dims};
use cutlink_solver::Snapshot;
use cutlink_solver::fields::{
    derive, gradient, q_criterion, scalar_at, velocity_at, vorticity, vorticity_components,
};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// An array of a file.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) components: usize,
    pub(super) values: Vec<f32>,
}

/// A snapshot of a flow, with the output units.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a, const D: usize> {
    pub(super) mesh: &'a Mesh<D>,
    pub(super) snapshot: &'a Snapshot<D>,
    /// The pressure of a flow in which it does not follow from the density; averages have none.
    pub(super) pressure: Option<&'a [f32]>,
    /// The scalars of [`FieldUnits::scalars`], in their order; averages have none.
    pub(super) scalars: &'a [Vec<f32>],
    /// The spheres of a flow that has them; averages have none.
    pub(super) particles: Option<&'a ParticleState>,
    pub(super) units: &'a FieldUnits,
    /// The kind of average, if the snapshot is one.
    pub(super) average: Option<Average>,
}

impl<const D: usize> Scene<'_, D> {
    /// The name of an array: `velocity`, `velocity_mean`, `velocity_rms`.
    fn name(&self, field: CellField) -> String {
        let of = match self.average {
            None => "",
            Some(Average::Mean) => "_mean",
            Some(Average::Rms) => "_rms",
        };
        format!("{}{of}", name(&field))
    }

    pub(super) fn time(&self) -> f64 {
        self.snapshot.step as f64 * self.units.time.factor
    }

    /// The arrays of all cells, by block id and cell.
    pub(super) fn everywhere(&self, fields: &[CellField]) -> Vec<Column> {
        let cells = dims::cells(D);
        let at = |i: usize| {
            let (block, cell) = ((i / cells) as u32, (i % cells) as u32);
            (self.mesh.forest.level[block as usize] != FREE).then_some(CellRef { block, cell })
        };
        let count = self.mesh.forest.capacity() * cells;
        // One gradient per cell is enough for both.
        let curled = |f: &CellField| matches!(f, CellField::Vorticity | CellField::Q);
        let mut derived = fields
            .iter()
            .any(curled)
            .then(|| derive(self.mesh, self.snapshot));
        let scaled = |mut values: Vec<f32>, field, components| {
            let factor = unit_of(field, self.units).factor;
            values
                .par_iter_mut()
                .for_each(|v| *v = (f64::from(*v) * factor) as f32);
            Column {
                name: self.name(field),
                components,
                values,
            }
        };
        let column = |&field: &CellField| match (field, &mut derived) {
            (CellField::Vorticity, Some(derived)) => {
                let values = std::mem::take(&mut derived.vorticity);
                scaled(values, field, vorticity_components(D))
            }
            (CellField::Q, Some(derived)) => scaled(std::mem::take(&mut derived.q), field, 1),
            _ => self.column(field, count, at),
        };
        fields.iter().map(column).collect()
    }

    /// The arrays of some cells, in their order.
    pub(super) fn of(&self, cells: &[CellRef], fields: &[CellField]) -> Vec<Column> {
        let column = |&f: &CellField| self.column(f, cells.len(), |i| Some(cells[i]));
        fields.iter().map(column).collect()
    }

    fn column(
        &self,
        field: CellField,
        count: usize,
        at: impl Fn(usize) -> Option<CellRef> + Sync,
    ) -> Column {
        let components = match field {
            CellField::Velocity => 3,
            CellField::Vorticity => vorticity_components(D),
            _ => 1,
        };
        let mut values = vec![0f32; count * components];
        values
            .par_chunks_exact_mut(components)
            .enumerate()
            .with_min_len(64)
            .for_each(|(i, to)| {
                if let Some(at) = at(i) {
                    self.put(field, at, to);
                }
            });
        Column {
            name: self.name(field),
            components,
            values,
        }
    }

    fn put(&self, field: CellField, at: CellRef, to: &mut [f32]) {
        match field {
            CellField::Velocity => {
                for (to, from) in to.iter_mut().zip(self.velocity(at)) {
                    *to = from as f32;
                }
            }
            CellField::Density => to[0] = self.density(at) as f32,
            CellField::Pressure => to[0] = self.pressure_at(at) as f32,
            CellField::Vorticity => {
                let curl = vorticity(&gradient(self.mesh, &self.snapshot.velocity, at));
                for (to, from) in to.iter_mut().zip(&curl[3 - vorticity_components(D)..]) {
                    *to = (from * self.units.vorticity.factor) as f32;
                }
            }
            CellField::Q => to[0] = self.q(at) as f32,
            CellField::Scalar(name) => to[0] = self.scalar(name, at) as f32,
        }
    }

    /// A scalar that the flow has besides; not a number where it has none of this name.
    fn scalar(&self, name: FieldName, at: CellRef) -> f64 {
        let found = self.units.scalars.iter().zip(self.scalars);
        let mut found = found.filter(|((own, _), _)| *own == name);
        found.next().map_or(f64::NAN, |((_, unit), values)| {
            let i = at.block as usize * dims::cells(D) + at.cell as usize;
            f64::from(values[i]) * unit.factor
        })
    }

    fn velocity(&self, at: CellRef) -> [f64; D] {
        let i = at.block as usize * dims::cells(D) + at.cell as usize;
        let factor = self.units.velocity.factor;
        std::array::from_fn(|a| f64::from(self.snapshot.velocity[a][i]) * factor)
    }

    fn raw_density(&self, at: CellRef) -> f64 {
        f64::from(self.snapshot.density[at.block as usize * dims::cells(D) + at.cell as usize])
    }

    fn density(&self, at: CellRef) -> f64 {
        self.raw_density(at) * self.units.density.factor
    }

    fn pressure_at(&self, at: CellRef) -> f64 {
        match self.pressure {
            None => self.pressure(self.raw_density(at)),
            Some(of) => {
                let i = at.block as usize * dims::cells(D) + at.cell as usize;
                f64::from(of[i]) * self.units.pressure.factor
            }
        }
    }

    /// The velocity and the pressure at a point, interpolated; in root cells from the lower corner of the box.
    pub(super) fn probe(&self, point: [f64; D]) -> Option<([f64; D], f64)> {
        let (density, velocity) = velocity_at(self.mesh, self.snapshot, point)?;
        let pressure = match self.pressure {
            None => self.pressure(density),
            Some(of) => scalar_at(self.mesh, of, point)? * self.units.pressure.factor,
        };
        Some((velocity.map(|u| u * self.units.velocity.factor), pressure))
    }

    /// The pressure of a lattice density; the squared speed of sound is 1/3.
    pub(super) fn pressure(&self, density: f64) -> f64 {
        (density - 1.0) / 3.0 * self.units.pressure.factor
    }

    fn q(&self, at: CellRef) -> f64 {
        let slope = gradient(self.mesh, &self.snapshot.velocity, at);
        q_criterion(&slope) * self.units.q.factor
    }

    /// The value of a cell in a picture; `axis` is the normal of the picture.
    pub(super) fn shown(&self, quantity: Quantity, axis: usize, at: CellRef) -> f64 {
        let component = |a: usize| self.velocity(at).get(a).copied().unwrap_or(0.0);
        match quantity {
            Quantity::Speed => self.velocity(at).iter().map(|u| u * u).sum::<f64>().sqrt(),
            Quantity::VelocityX => component(0),
            Quantity::VelocityY => component(1),
            Quantity::VelocityZ => component(2),
            Quantity::Pressure => self.pressure_at(at),
            Quantity::Density => self.density(at),
            Quantity::Vorticity => {
                let slope = gradient(self.mesh, &self.snapshot.velocity, at);
                vorticity(&slope)[axis] * self.units.vorticity.factor
            }
            Quantity::Q => self.q(at),
            Quantity::Scalar(name) => self.scalar(name, at),
        }
    }
}

impl<const D: usize> Scene<'_, D> {
    /// The value of a cell in three dimensions: of the vorticity, its magnitude.
    pub(super) fn in_volume(&self, quantity: Quantity, at: CellRef) -> f64 {
        match quantity {
            Quantity::Vorticity => {
                let curl = vorticity(&gradient(self.mesh, &self.snapshot.velocity, at));
                let size = curl.iter().map(|w| w * w).sum::<f64>().sqrt();
                size * self.units.vorticity.factor
            }
            _ => self.shown(quantity, 2, at),
        }
    }
}

fn name(field: &CellField) -> &str {
    match field {
        CellField::Velocity => "velocity",
        CellField::Density => "density",
        CellField::Pressure => "pressure",
        CellField::Vorticity => "vorticity",
        CellField::Q => "q",
        CellField::Scalar(name) => name.as_str(),
    }
}

/// The unit of an array.
pub(super) fn unit_of(field: CellField, units: &FieldUnits) -> &FieldUnit {
    match field {
        CellField::Velocity => &units.velocity,
        CellField::Density => &units.density,
        CellField::Pressure => &units.pressure,
        CellField::Vorticity => &units.vorticity,
        CellField::Q => &units.q,
        CellField::Scalar(name) => units.scalar(name).unwrap_or(&units.density),
    }
}

/// The name of the quantity of a picture, and its unit.
pub(super) fn title_of<const D: usize>(
    scene: Scene<'_, D>,
    quantity: Quantity,
    axis: usize,
) -> (String, &FieldUnit) {
    let units = scene.units;
    let letter = ["x", "y", "z"][axis];
    let (name, unit) = match quantity {
        Quantity::Speed => ("speed".into(), &units.velocity),
        Quantity::VelocityX => ("velocity x".into(), &units.velocity),
        Quantity::VelocityY => ("velocity y".into(), &units.velocity),
        Quantity::VelocityZ => ("velocity z".into(), &units.velocity),
        Quantity::Pressure => ("pressure".into(), &units.pressure),
        Quantity::Density => ("density".into(), &units.density),
        Quantity::Vorticity => (format!("vorticity {letter}"), &units.vorticity),
        Quantity::Q => ("Q".into(), &units.q),
        Quantity::Scalar(name) => (
            name.to_string(),
            units.scalar(name).unwrap_or(&units.density),
        ),
    };
    match scene.average {
        None => (name, unit),
        Some(Average::Mean) => (format!("mean {name}"), unit),
        Some(Average::Rms) => (format!("rms of {name}"), unit),
    }
}
