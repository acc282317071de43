//! Statistics of forces as a reader sees them: the table of the console, and the plot.

use super::{Shedding, Statistics};
use crate::{
    history::{ForcePart, NAMES},
    parts::WallParts,
};
use cutlink_pictures::{
    canvas::Canvas,
    plot::{Panel, Plot},
    scale::number,
};
use std::fmt::Write as _;

impl<const D: usize> Statistics<'_, D> {
    /// The means of each patch and group: forces, some `torques` by their number, and what of the drag is pressure and
    /// friction at the end.
    pub fn table(&self, parts: Option<&WallParts<D>>, torques: &[usize]) -> String {
        let mut text = String::new();
        if self.is_empty() {
            return text;
        }
        let shown: Vec<usize> = (0..D).chain(torques.iter().copied()).collect();
        let mut rows = vec![vec!["part".to_owned()]];
        rows[0].extend(shown.iter().map(|&c| NAMES[c].to_owned()));
        if parts.is_some() {
            rows[0].extend(["pressure", "friction", "y+ max"].map(String::from));
        }
        for (part, means) in self.history.parts.iter().zip(&self.means) {
            let mut row = vec![part.name.clone()];
            row.extend(shown.iter().map(|&c| means[c].to_text()));
            if let Some([pressure, friction, y_plus]) = parts.and_then(|of| of.of(&part.name)) {
                row.extend([format!("{pressure:.5}"), format!("{friction:.5}")]);
                row.push(format!("{y_plus:.2}"));
            }
            rows.push(row);
        }
        let width = |n: usize| {
            let column = rows.iter().filter_map(|row| row.get(n));
            column.map(|word| word.chars().count()).max().unwrap_or(0)
        };
        for row in &rows {
            let words = row.iter().enumerate();
            let words: Vec<String> = words
                .map(|(n, word)| format!("{word:0$}", width(n)))
                .collect();
            let _ = writeln!(text, "{}", words.join("  ").trim_end());
        }
        text += "coefficients are means over the second half of the run ± their standard error";
        text += match parts {
            Some(_) => "; pressure and friction are parts of C_D at the end\n",
            None => "\n",
        };
        if let Some(Shedding {
            fit,
            spectrum,
            cycles,
            ..
        }) = self.shedding
        {
            let _ = writeln!(
                text,
                "St {:.5} ± {:.1e} (sine fit), {:.5} ± {:.1e} (spectrum), {cycles:.1} cycles",
                fit.value, fit.error, spectrum.value, spectrum.error
            );
        }
        text
    }

    /// C_D, C_L and in 3D C_S over time; none with fewer than two samples.
    pub fn plot(&self) -> Option<Canvas> {
        let history = self.history;
        let at = |&step: &u64| step as f64 * history.time;
        let times: Vec<f64> = history.steps.iter().map(at).collect();
        let panel = |n: usize| {
            let mean = &self.total[n];
            let mut note = format!("mean {}", mean.to_text());
            if let (1, Some(shedding)) = (n, self.shedding) {
                let _ = write!(
                    note,
                    ", amplitude {}, St {:.4}",
                    number(shedding.amplitude.value, 4),
                    shedding.fit.value
                );
            }
            if mean.is_known && !mean.is_stationary {
                note += ", not stationary";
            }
            let of = |part: &ForcePart| part.values[n].clone();
            Panel {
                title: NAMES[n].into(),
                note,
                mean: Some(mean.value),
                error: mean.error,
                curves: history.parts.iter().map(of).collect(),
            }
        };
        let names: Vec<String> = history.parts.iter().map(|part| part.name.clone()).collect();
        let plot = Plot {
            times: &times,
            time_title: "time in s",
            mean_from: times.get(times.len() / 2).copied(),
            names: &names,
            panels: (0..D).map(panel).collect(),
        };
        plot.draw()
    }
}
