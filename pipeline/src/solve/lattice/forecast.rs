//! The forecast of a run before its first step: memory, shares of ranks, the laws of the error, notes.

use super::{pilot, start::Inputs};
use crate::solve::{
    laws::Laws,
    notes,
    resolve::Resolved,
    shares::Shares,
    sheet::{self, Sheet},
    verdict::sound,
};
use cutlink_common::{Error, Observer};
use cutlink_device::Memory;
use cutlink_flow::{RunOptions, RunPlan, fields};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_solver::{CellStorage, Plan, RunningMeans, kernels::FlowKernels};
use serde_json::Value;

/// Bytes of a cell that averages take where cells may become more.
#[derive(Clone, Copy)]
pub(super) struct OfAverages(pub(super) u64);

/// Memory, and how the flow is shared.
pub(super) struct Forecast {
    pub(super) sheet: Sheet,
    pub(super) shares: Vec<Shares>,
    pub(super) averages: OfAverages,
    /// The root step at which the pilot judges.
    pub(super) pilot: Option<u64>,
    /// Of spheres: keys, and lines of text.
    pub(super) spheres: Option<(Value, String)>,
}

impl Forecast {
    pub(super) fn new<const D: usize>(
        plan: &Plan<'_, D>,
        resolved: &Resolved<D>,
        options: &RunOptions,
        ranks: &[usize],
        memory: Memory,
    ) -> Result<Self, Error> {
        let mut sheet = Sheet::new(plan, resolved, options.steps, memory);
        let has_averages = resolved.outputs.averages.is_some();
        // Several ranks have them on the host.
        let is_alone = options.world.is_none() && ranks.first().is_none_or(|&ranks| ranks == 1);
        let on_device = memory == Memory::Device && is_alone;
        if has_averages && on_device {
            sheet.keep_averages_on_device(plan.mesh);
        }
        let shares = shares_of(plan, ranks, memory)?;
        if let [shares] = &shares[..] {
            sheet.flow = match &options.world {
                Some(world) => shares.bytes_of(world.rank()),
                None if options.gpus > 1 => shares.largest(),
                None => shares.bytes(),
            };
        }
        let averages = match (has_averages, memory) {
            (true, Memory::Host) => fields::Averages::<D>::CARRIED,
            (true, Memory::Device) if on_device => RunningMeans::<D>::BYTES,
            _ => 0,
        };
        Ok(Self {
            sheet,
            shares,
            averages: OfAverages(averages),
            pilot: None,
            spheres: None,
        })
    }

    /// Says what the user should know before the flow runs; returns the plan if it is all that is asked for.
    pub(super) fn tell<const D: usize, B: FlowKernels<D>>(
        &self,
        backend: &B,
        of: (&Plan<'_, D>, &Resolved<D>, &Laws),
        inputs: &Inputs<'_, D>,
        is_tried: bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<RunPlan>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let (plan, resolved, laws) = of;
        let planned = match inputs.only_plan || observer.wants_summary() {
            true => Some(self.told(backend, of, inputs, is_tried, observer)?),
            false => None,
        };
        let of_sound = sound::notes(resolved);
        let notes = notes::of(plan);
        let notes = notes.iter().chain(&resolved.notes).chain(&of_sound);
        notes.for_each(|note| observer.note(note));
        // Where the summary is shown, its table has them.
        if planned.is_none() {
            laws.notes().iter().for_each(|note| observer.note(note));
        }
        Ok(planned.filter(|_| inputs.only_plan))
    }

    /// Shows the plan, with the speed of the backend unless the flow itself is tried, and returns it.
    fn told<const D: usize, B: FlowKernels<D>>(
        &self,
        backend: &B,
        (plan, resolved, laws): (&Plan<'_, D>, &Resolved<D>, &Laws),
        inputs: &Inputs<'_, D>,
        is_tried: bool,
        observer: &mut dyn Observer,
    ) -> Result<RunPlan, Error>
    where
        Facet<D>: Exact<D>,
    {
        // Several ranks have populations.
        let storage = match self.shares.is_empty() {
            true => self.sheet.storage,
            false => CellStorage::Populations,
        };
        let calibrated = || sheet::calibrate(backend, &plan.params, storage);
        let speed = (!is_tried).then(calibrated).transpose()?;
        let (device, shares) = (&inputs.device, &self.shares[..]);
        let text = self.sheet.text(plan, resolved, speed, shares, laws);
        let of_pilot = self.pilot.map(pilot::forecast).unwrap_or_default();
        let (keys, of_spheres) = self.spheres.clone().unwrap_or_default();
        let text = format!("device  {}\n{text}{of_spheres}{of_pilot}", device.text());
        observer.summary(&text)?;
        let mut json = self
            .sheet
            .to_json(plan, resolved, device, speed, shares, laws);
        json["pilot"] = self.pilot.into();
        json["particles"] = keys;
        Ok(RunPlan::new(text, json))
    }
}

/// How the flow is shared among each of these numbers of ranks, but for one rank.
fn shares_of<const D: usize>(
    plan: &Plan<'_, D>,
    ranks: &[usize],
    memory: Memory,
) -> Result<Vec<Shares>, Error> {
    let several = ranks.iter().filter(|&&ranks| ranks != 1);
    several
        .map(|&ranks| Shares::new(plan, ranks, memory))
        .collect()
}
