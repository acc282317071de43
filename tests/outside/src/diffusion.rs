//! A solver of its own: the temperature in a plate that is hot on one side and cold on the other, by an explicit scheme. It
//! implements `cutlink::flow::Flow`, and the library's run loop does the rest: tables, pictures, checkpoints, a summary.

use cutlink::{
    Error, ErrorKind, Mesh, RunOptions, RunSummary,
    fields::{FieldName, FieldUnit, FieldUnits},
    flow::{
        self, Flow, FlowState, Lines, RunSetting, Seen, StepWork, Table,
        tables::{OutputTable, RunTable},
    },
    mesh::build::bare,
    options::Root,
};
use cutlink_amr::CellRef;
use std::io::{Read, Write};

/// Cells of a block in 2D.
const CELLS: usize = 16;

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Case {
    physics: Plate,
    run: RunTable,
    output: OutputTable,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Plate {
    /// m²/s.
    diffusivity: f64,
    /// Cells along the edge of the unit square.
    cells: u32,
}

/// Temperatures of all cells, by row and column.
struct Diffusion {
    mesh: Mesh<2>,
    values: Vec<f64>,
    n: usize,
    dt: f64,
    /// Diffusivity times the length of a step over the area of a cell.
    number: f64,
    steps: u64,
    /// `integrals.csv`: the mean temperature.
    means: Lines,
}

impl Flow<2> for Diffusion {
    fn steps(&self) -> u64 {
        self.steps
    }

    fn time(&self) -> f64 {
        self.steps as f64 * self.dt
    }

    fn advance(&mut self, steps: u64) -> Result<(), Error> {
        for _ in 0..steps {
            let (n, old) = (self.n, self.values.clone());
            for (at, value) in self.values.iter_mut().enumerate() {
                let (x, y) = (at % n, at / n);
                // The walls are half a cell away: 1 on the left, 0 on the right; no heat passes the others.
                let left = if x > 0 { old[at - 1] } else { 2.0 - old[at] };
                let right = if x + 1 < n { old[at + 1] } else { -old[at] };
                let below = if y > 0 { old[at - n] } else { old[at] };
                let above = if y + 1 < n { old[at + n] } else { old[at] };
                *value += self.number * (left + right + below + above - 4.0 * old[at]);
            }
            self.steps += 1;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        match self.values.iter().all(|t| t.is_finite()) {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Diverged,
                "a temperature is not finite",
            )),
        }
    }

    fn mesh(&self) -> Result<&Mesh<2>, Error> {
        Ok(&self.mesh)
    }

    fn update(&self, _: Option<&[u32]>, to: &mut FlowState<2>) -> Result<(), Error> {
        let count = self.mesh.forest.capacity() * CELLS;
        to.snapshot.step = self.steps;
        to.snapshot.density.resize(count, 1.0);
        to.snapshot
            .velocity
            .iter_mut()
            .for_each(|of| of.resize(count, 0.0));
        let temperature = |i: usize| {
            let (block, cell) = ((i / CELLS) as u32, (i % CELLS) as u32);
            let [x, y] = self.mesh.forest.cell_coord(CellRef { block, cell });
            self.values[y as usize * self.n + x as usize] as f32
        };
        to.scalars = vec![(0..count).map(temperature).collect()];
        Ok(())
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        let words = self.values.iter().map(|t| t.to_bits()).chain([self.steps]);
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        out.write_all(&bytes)
            .map_err(|e| Error::new(ErrorKind::Runtime, "cannot save").because(&e))
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let mut bytes = vec![0; 8 * (self.values.len() + 1)];
        from.read_exact(&mut bytes)
            .map_err(|e| Error::input("a checkpoint is cut").because(&e))?;
        let mut words = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        let values = self.values.iter_mut().zip(&mut words);
        values.for_each(|(value, word)| *value = f64::from_bits(word));
        self.steps = words.next().unwrap_or_default();
        Ok(())
    }

    fn work(&self) -> StepWork {
        StepWork::cells(self.values.len())
    }

    fn tables(&mut self) -> Vec<&mut dyn Table> {
        vec![&mut self.means]
    }

    fn look(&mut self, seen: &Seen<'_, 2>, _: &mut FlowState<2>) -> Result<(), Error> {
        let mean = self.values.iter().sum::<f64>() / self.values.len() as f64;
        self.means.add(seen.step, vec![mean]);
        Ok(())
    }
}

/// Runs a case in TOML.
pub(crate) fn run(text: &str, options: &RunOptions) -> Result<RunSummary, Error> {
    let case: Case = cutlink::config::parse("plate", text)?;
    let Plate { diffusivity, cells } = case.physics;
    let mesh = bare::<2>(&[0.0, 0.0, 1.0, 1.0], &Root::Cells(vec![cells, cells]))?;
    let (n, number) = (cells as usize, 0.2);
    let dt = number / (diffusivity * f64::from(cells).powi(2));
    let name = FieldName::new("temperature").expect("a name");
    let units = FieldUnits {
        scalars: vec![(name, FieldUnit::new(1.0, "K"))],
        ..FieldUnits::si(dt, dt, 1.0)
    };
    let setting = RunSetting::new(text, &case.run, &case.output, &mesh, units)?;
    let means = Lines::new("integrals.csv", &["mean temperature"], dt);
    let values = vec![0.0; n * n];
    let mut plate = Diffusion {
        mesh,
        values,
        n,
        dt,
        number,
        steps: 0,
        means,
    };
    flow::run(&mut plate, setting, options, &mut ())
}
