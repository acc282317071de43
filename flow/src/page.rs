//! `report.html` of a run: frames of slices as it goes, and the page at its end, where it breaks off, and from time to time.
//!
//! The page says what `summary.json`, the histories and the outputs say, in units of outputs; it is made from them alone, so
//! that it is the same for every physics.

use super::{
    Flow, RunSetting, Until,
    steps::{CHUNK, Run},
};
use crate::{
    fields::{FieldWriter, PagedFields},
    history::NAMES,
};
use cutlink_common::{Error, ErrorKind, output};
use cutlink_pictures::scale::significant;
use cutlink_report::{
    PageCheck, PageChecks, PageFigure, PageGrade, PagePlot, PageTable, PageText, PageVerdict,
    PlotGroup, PlotSeries, ReportPage,
};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// Wall time between two pages of a running flow, and at least so many times that of the last one.
const INTERVAL: Duration = Duration::from_secs(30);
const SHARE: u32 = 20;
/// Frames of a run whose length is known.
const FRAMES: u64 = 24;
/// Largest table that is plotted, bytes.
const LARGEST: u64 = 64 << 20;

/// When the page of a running flow was last written.
#[derive(Debug)]
pub(super) struct PageClock {
    last: Instant,
    took: Duration,
    /// Whether the page of the end is written.
    has_ended: bool,
}

impl Default for PageClock {
    fn default() -> Self {
        Self {
            last: Instant::now(),
            took: Duration::ZERO,
            has_ended: false,
        }
    }
}

/// How a run stands.
pub(super) enum Standing<'a> {
    /// It goes on.
    Running,
    /// It has ended, with this summary.
    Ended(&'a Value),
    /// It has broken off.
    Failed(&'a Error),
}

/// Begins the fields of the page, if there is to be one.
pub(super) fn begin_page<const D: usize>(
    fields: &mut FieldWriter<D>,
    flow: &dyn Flow<D>,
    setting: &RunSetting<D>,
) -> Result<(), Error> {
    if !setting.report {
        return Ok(());
    }
    let chunks = match setting.until {
        Until::Steps(steps) => steps.div_ceil(FRAMES).div_ceil(CHUNK),
        Until::Settled { .. } => 1,
    };
    let spacing = CHUNK * chunks.max(1);
    fields.set_paged(PagedFields::new(flow.mesh()?, &setting.specs, spacing));
    Ok(())
}

/// Frames that a run of so many steps takes, about.
pub(super) fn frames(steps: u64) -> u64 {
    (steps / CHUNK + 1).min(FRAMES)
}

impl<const D: usize> Run<'_, D> {
    /// Writes the page of a run that has broken off, so that it shows where; whether that works or not, the error of the run
    /// stays what it is.
    pub(super) fn break_off(&mut self, flow: &mut dyn Flow<D>, error: &Error) {
        let shows = matches!(error.kind, ErrorKind::Diverged | ErrorKind::Stopped);
        if shows
            && !self.page_clock.has_ended
            && let Err(error) = self.write_page(flow, &Standing::Failed(error))
        {
            self.observer.note(&error.to_string());
        }
    }

    /// Takes a frame if one is due, and writes the page from time to time. A page that cannot be written is a note.
    pub(super) fn look_at_page(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let began = Instant::now();
        let has_new = self.fields.take_frame(flow, false)?;
        let wait = INTERVAL.max(SHARE * self.page_clock.took);
        if has_new
            && self.page_clock.last.elapsed() >= wait
            && let Err(error) = self.write_page(flow, &Standing::Running)
        {
            self.observer.note(&format!("the run continues: {error}"));
        }
        self.aside += began.elapsed();
        Ok(())
    }

    /// Writes the page.
    pub(super) fn write_page(
        &mut self,
        flow: &mut dyn Flow<D>,
        standing: &Standing<'_>,
    ) -> Result<(), Error> {
        if !self.setting.report {
            return Ok(());
        }
        let began = Instant::now();
        if !matches!(standing, Standing::Running) {
            self.fields.take_frame(flow, true)?;
        }
        let body = self.fields.paged_body(flow)?;
        let slices = self.fields.paged_slices(flow)?;
        let page = ReportPage {
            surface: body,
            slices,
            ..self.words(flow, standing)?
        };
        let path = self.setting.folder.join("report.html");
        output::write_text(&path, true, &page.html())?;
        self.page_clock = PageClock {
            last: Instant::now(),
            took: began.elapsed(),
            has_ended: matches!(standing, Standing::Ended(_)),
        };
        Ok(())
    }

    /// All of a page but the fields.
    fn words(&self, flow: &mut dyn Flow<D>, standing: &Standing<'_>) -> Result<ReportPage, Error> {
        let null = Value::Null;
        let summary = match standing {
            Standing::Ended(summary) => *summary,
            _ => &null,
        };
        let folder = &self.setting.folder;
        let title = folder.file_name().unwrap_or(folder.as_os_str());
        let (steps, time) = (flow.steps(), flow.time());
        let name = self.setting.step_name;
        let frame = flow.mesh()?.frame;
        let corner = |x: [f64; D]| std::array::from_fn(|a| x.get(a).copied().unwrap_or(0.0));
        let mut plots: Vec<PagePlot> = self.forces_plot().into_iter().collect();
        for table in flow.tables() {
            plots.extend(plot_of(&folder.join(table.file())));
        }
        let mut tables: Vec<PageTable> = coefficients(summary).into_iter().collect();
        tables.push(levels(flow)?);
        tables.push(self.about(flow, summary));
        Ok(ReportPage {
            title: title.to_string_lossy().into_owned(),
            subtitle: format!("{D}D flow, {} s in {steps} {name}s", short(time)),
            unit: "m".into(),
            verdict: Some(verdict_of(standing)),
            figures: self.figures(flow, summary)?,
            domain: (D == 3).then(|| [corner(frame.origin), corner(frame.upper())]),
            plots,
            tables,
            checks: checks(summary).into_iter().collect(),
            texts: vec![PageText {
                title: "The case, with all defaults".into(),
                text: self.setting.case.clone(),
            }],
            foot: format!(
                "Written by cutlink {}. One file that loads nothing.",
                env!("CARGO_PKG_VERSION")
            ),
            ..ReportPage::default()
        })
    }

    /// The coefficients of forces over time.
    fn forces_plot(&self) -> Option<PagePlot> {
        let history = &self.setting.history;
        if !self.setting.has_forces || history.steps.len() < 2 {
            return None;
        }
        let words = ["drag C_D", "lift C_L", "side C_S", "C_Mx", "C_My", "C_Mz"];
        let group = |c: usize| {
            let parts = history.parts.iter().map(|part| PlotSeries {
                name: part.name.clone(),
                values: part.values[c].clone(),
            });
            let mut series: Vec<PlotSeries> = parts.collect();
            if series.len() != 1 {
                series.push(PlotSeries {
                    name: "all".into(),
                    values: history.total[c].clone(),
                });
            }
            PlotGroup {
                name: words[c].into(),
                series,
            }
        };
        let is_flat = |c: &usize| history.total[*c].iter().all(|&v| v == 0.0 || v.is_nan());
        let shown = (0..6).filter(|c| *c < 2 || !is_flat(c));
        let x: Vec<f64> = history
            .steps
            .iter()
            .map(|&step| step as f64 * history.time)
            .collect();
        let last = *x.last()?;
        Some(PagePlot {
            title: "Forces".into(),
            label: "t in s".into(),
            groups: shown.map(group).collect(),
            // The window of all statistics.
            window: Some([0.5 * (x[0] + last), last]),
            x,
        })
    }

    fn figures(&self, flow: &dyn Flow<D>, summary: &Value) -> Result<Vec<PageFigure>, Error> {
        let figure = |name: &str, value: String, unit: String, note: &str| PageFigure {
            name: name.into(),
            value,
            unit,
            note: note.into(),
        };
        let mut figures = Vec::new();
        let all = summary["patches"].as_object();
        let last = all.and_then(|parts| match parts.len() {
            1 => parts.values().next(),
            _ => parts.get("all"),
        });
        for (name, words) in [
            ("C_D", "drag C_D"),
            ("C_L", "lift C_L"),
            ("C_S", "side C_S"),
        ] {
            let of = last.map(|part| &part[name]);
            let value = of.and_then(|of| Some((of["mean"].as_f64()?, of["error"].as_f64())));
            if let Some((mean, error)) = value.filter(|_| D == 3 || name != "C_S") {
                let error = error.map_or(String::new(), |e| format!("± {}", short(e)));
                let note = "mean of the second half, 95 %";
                figures.push(figure(words, short(mean), error, note));
            }
        }
        if let Some(reynolds) = summary["reynolds"].as_f64() {
            figures.push(figure(
                "Reynolds number",
                short(reynolds),
                String::new(),
                "",
            ));
        }
        let mesh = flow.mesh()?;
        let cells: u64 = cells_by_level(mesh).iter().sum();
        let note = format!("{} levels", mesh.forest.finest() + 1);
        figures.push(figure("cells", counted(cells), String::new(), &note));
        let seconds = self.began.elapsed().as_secs_f64();
        let speed = self.speed_text();
        figures.push(figure(
            "wall time",
            short(seconds.round()),
            "s".into(),
            &speed,
        ));
        Ok(figures)
    }

    /// How the run was done.
    fn about(&self, flow: &dyn Flow<D>, summary: &Value) -> PageTable {
        let mut rows = vec![
            ["steps".to_owned(), flow.steps().to_string()],
            [
                "time of the flow".into(),
                format!("{} s", short(flow.time())),
            ],
            ["speed, without outputs".into(), self.speed_text()],
        ];
        let device = &summary["device"];
        if let Some(name) = device["model"].as_str().or(device["name"].as_str()) {
            rows.push(["device".into(), name.into()]);
        }
        for key in ["reynolds", "mach"] {
            if let Some(value) = summary[key].as_f64() {
                rows.push([key.into(), short(value)]);
            }
        }
        PageTable {
            title: "Run".into(),
            rows: rows.into_iter().map(Vec::from).collect(),
            ..PageTable::default()
        }
    }
}

/// Four significant digits.
fn short(x: f64) -> String {
    significant(x, 4)
}

fn grade(name: Option<&str>) -> PageGrade {
    match name {
        Some("ok") => PageGrade::Ok,
        Some("wrong") => PageGrade::Bad,
        _ => PageGrade::Warn,
    }
}

fn verdict_of(standing: &Standing<'_>) -> PageVerdict {
    let summary = match standing {
        Standing::Running => {
            return PageVerdict {
                grade: PageGrade::Warn,
                title: "The run goes on.".into(),
                text: "What is here is up to the last page; its verdict comes at the end.".into(),
            };
        }
        Standing::Failed(error) => {
            return PageVerdict {
                grade: match error.kind {
                    ErrorKind::Stopped => PageGrade::Warn,
                    _ => PageGrade::Bad,
                },
                title: "The run broke off.".into(),
                text: error.to_string(),
            };
        }
        Standing::Ended(summary) => summary,
    };
    if let Some(what) = summary["diverging"].as_str() {
        return PageVerdict {
            grade: PageGrade::Bad,
            title: "The flow diverged:".into(),
            text: what.into(),
        };
    }
    let verdict = &summary["verdict"];
    let name = verdict["grade"].as_str();
    let checks = verdict["checks"].as_array().into_iter().flatten();
    let counts = |check: &&Value| check["accepted"] != true && check["grade"] != "ok";
    let open: Vec<String> = checks.filter(counts).map(sentence).collect();
    PageVerdict {
        grade: grade(name),
        title: match name {
            Some("ok") => "The result can be used.".into(),
            Some("wrong") => "The result should not be used:".into(),
            _ => "The result is doubtful:".into(),
        },
        text: match (name, open.is_empty()) {
            (Some("ok"), _) => "All checks are ok, or accepted by the case.".into(),
            (_, true) => "see the checks below".into(),
            _ => open.join("; "),
        },
    }
}

/// A check and its remedy.
fn sentence(check: &Value) -> String {
    let text = |key: &str| check[key].as_str().unwrap_or_default();
    let remedy = text("remedy");
    match remedy.is_empty() {
        true => format!("{} ({})", text("check"), text("what")),
        false => format!("{} ({}): {remedy}", text("check"), text("what")),
    }
}

/// The checks of the verdict.
fn checks(summary: &Value) -> Option<PageChecks> {
    let checks = summary["verdict"]["checks"].as_array()?;
    let row = |check: &Value| {
        let text = |key: &str| check[key].as_str().unwrap_or_default();
        let accepted = match check["accepted"] == true {
            true => ", accepted by the case",
            false => "",
        };
        let value = check["value"].as_f64().map_or("–".into(), short);
        let remedy = text("remedy");
        PageCheck {
            grade: grade(check["grade"].as_str()),
            title: format!("{}: {value}{accepted}", text("check")),
            note: match remedy.is_empty() {
                true => text("what").to_owned(),
                false => format!("{}. {remedy}", text("what")),
            },
            places: Vec::new(),
        }
    };
    Some(PageChecks {
        title: "Is the flow right?".into(),
        rows: checks.iter().map(row).collect(),
    })
}

/// Mean coefficients of each part, and the shares of pressure and friction where they are known.
fn coefficients(summary: &Value) -> Option<PageTable> {
    let patches = summary["patches"].as_object().filter(|p| !p.is_empty())?;
    let shown: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| {
            let size = |part: &Value| part[name]["mean"].as_f64().unwrap_or(0.0).abs();
            ["C_D", "C_L"].contains(name) || patches.values().any(|part| size(part) > 1e-9)
        })
        .collect();
    let has_parts = summary["parts"].is_object();
    let mut head = vec!["part".to_owned()];
    head.extend(shown.iter().map(|&name| name.to_owned()));
    if has_parts {
        head.extend(["pressure C_D", "friction C_D", "largest y⁺"].map(str::to_owned));
    }
    let number = |value: &Value| value.as_f64().map_or("–".to_owned(), short);
    let row = |(name, part): (&String, &Value)| {
        let mean = |c: &&str| match part[*c]["error"].as_f64() {
            Some(error) => format!("{} ± {}", number(&part[*c]["mean"]), short(error)),
            None => number(&part[*c]["mean"]),
        };
        let mut cells = vec![name.clone()];
        cells.extend(shown.iter().map(mean));
        if has_parts {
            let own = &summary["parts"][name];
            let drag = &own["C_D"];
            cells.extend([&drag["pressure"], &drag["friction"], &own["y_plus"]["max"]].map(number));
        }
        cells
    };
    let (sum, parts): (Vec<_>, Vec<_>) = patches.iter().partition(|(name, _)| *name == "all");
    Some(PageTable {
        title: "Coefficients by part".into(),
        head,
        has_sum: !sum.is_empty(),
        rows: parts.into_iter().chain(sum).map(row).collect(),
        note: "Means of the second half with the error of the mean, 95 %. Pressure and friction: integrals over the surface at the end.".into(),
    })
}

/// Leaf cells by level.
fn cells_by_level<const D: usize>(mesh: &cutlink_voxelizer::Mesh<D>) -> Vec<u64> {
    let forest = &mesh.forest;
    let leaves = |blocks: &Vec<u32>| {
        let is_leaf = |&&b: &&u32| forest.first_child[b as usize] == cutlink_amr::NONE;
        blocks.iter().filter(is_leaf).count() as u64
    };
    let cells = 4u64.pow(D as u32);
    forest
        .levels
        .iter()
        .map(|blocks| cells * leaves(blocks))
        .collect()
}

fn levels<const D: usize>(flow: &dyn Flow<D>) -> Result<PageTable, Error> {
    let mesh = flow.mesh()?;
    let cells = cells_by_level(mesh);
    let total: u64 = cells.iter().sum();
    let row = |(level, &count): (usize, &u64)| {
        let share = 100.0 * count as f64 / total.max(1) as f64;
        vec![
            level.to_string(),
            short(mesh.frame.dx_at(level)),
            counted(count),
            format!("{share:.1} %"),
        ]
    };
    let mut rows: Vec<Vec<String>> = cells.iter().enumerate().map(row).collect();
    rows.push(vec![
        "all".into(),
        String::new(),
        counted(total),
        String::new(),
    ]);
    Ok(PageTable {
        title: "Mesh".into(),
        head: ["level", "cell in m", "cells", "share"]
            .map(str::to_owned)
            .into(),
        rows,
        has_sum: true,
        note: "Leaf cells, those of the body included.".into(),
    })
}

/// A number of things, with a space every three digits.
fn counted(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// The columns of a table behind step and time, each a group of its own; none where there is nothing to plot.
fn plot_of(path: &Path) -> Option<PagePlot> {
    let size = fs::metadata(path).ok()?.len();
    let text = fs::read_to_string(path).ok().filter(|_| size <= LARGEST)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| {
            line.split(',')
                .map(|n| n.parse().unwrap_or(f64::NAN))
                .collect()
        })
        .filter(|row: &Vec<f64>| row.len() == names.len())
        .collect();
    if rows.len() < 2 || names.len() < 3 {
        return None;
    }
    let column = |k: usize| rows.iter().map(|row| row[k]).collect();
    let group = |k: usize| PlotGroup {
        name: names[k].into(),
        series: vec![PlotSeries {
            name: names[k].into(),
            values: column(k),
        }],
    };
    let x: Vec<f64> = column(1);
    Some(PagePlot {
        title: path.file_stem()?.to_string_lossy().into_owned(),
        label: "t in s".into(),
        groups: (2..names.len()).map(group).collect(),
        window: Some([0.5 * (x[0] + x[x.len() - 1]), x[x.len() - 1]]),
        x,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_says_what_the_summary_says() {
        let summary = json!({
            "patches": {
                "all": { "C_D": { "mean": 1.5, "error": 0.25 }, "C_L": { "mean": 0.0 } },
                "wing": { "C_D": { "mean": 0.5, "error": 0.125 }, "C_L": { "mean": 0.0 } },
            },
            "parts": { "wing": { "C_D": { "pressure": 0.375, "friction": 0.125 }, "y_plus": { "max": 7.0 } } },
            "verdict": { "grade": "doubtful", "checks": [
                { "check": "Mach", "value": 0.25, "grade": "doubtful", "what": "largest Mach number", "remedy": "halve it" },
                { "check": "sound", "value": 9.0, "grade": "wrong", "accepted": true, "what": "s", "remedy": null },
            ] },
        });
        let table = coefficients(&summary).expect("a table");
        assert_eq!(
            table.rows[0],
            ["wing", "0.5 ± 0.125", "0", "0.375", "0.125", "7"]
        );
        assert_eq!(table.rows[1][..2], ["all", "1.5 ± 0.25"], "the sum is last");
        assert!(table.has_sum && table.rows[1].len() == table.head.len());
        let verdict = verdict_of(&Standing::Ended(&summary));
        assert_eq!(verdict.grade, PageGrade::Warn);
        assert_eq!(
            verdict.text, "Mach (largest Mach number): halve it",
            "without what is accepted"
        );
        let rows = checks(&summary).expect("checks").rows;
        assert_eq!(rows[1].grade, PageGrade::Bad);
        assert_eq!(rows[1].title, "sound: 9, accepted by the case");
        let diverged = json!({ "diverging": "the drag grows" });
        assert_eq!(
            verdict_of(&Standing::Ended(&diverged)).grade,
            PageGrade::Bad
        );
        assert_eq!(coefficients(&diverged), None, "no forces");
        assert_eq!(counted(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(123), "123");
    }

    #[test]
    fn tables_are_plotted_by_column() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("energy.csv");
        fs::write(
            &path,
            "step,time (s),a,b\n0,0,1,2\n8,0.5,,4\n16,1,5,6\n24,1.5",
        )
        .expect("a file");
        let plot = plot_of(&path).expect("a plot");
        assert_eq!(
            plot.x,
            [0.0, 0.5, 1.0],
            "without a line that is not complete"
        );
        assert_eq!(plot.title, "energy");
        assert_eq!(plot.groups[1].series[0].values, [2.0, 4.0, 6.0]);
        assert!(
            plot.groups[0].series[0].values[1].is_nan(),
            "a cell without a number"
        );
        fs::write(&path, "step,time (s),a\n0,0,1\n").expect("a file");
        assert_eq!(plot_of(&path), None, "one line is no curve");
        assert_eq!(plot_of(folder.path()), None);
    }
}
