//! Writes `sphere.html` into the current folder, or to the path that is given: potential flow about a sphere, whose values
//! are known at every point (Lamb, 1932, article 96).

use cutlink_report::{
    PageBlock, PageCheck, PageChecks, PageColours, PageField, PageFigure, PageGrade, PagePlace,
    PagePlot, PageSlice, PageSliceField, PageSurface, PageTable, PageText, PageVerdict, PlotGroup,
    PlotSeries, ReportPage,
};
use std::f64::consts::PI;

/// Rows of the sphere from pole to pole.
const ROWS: u32 = 96;

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1);
    std::fs::write(name.unwrap_or("sphere.html".into()), page().html())
}

fn page() -> ReportPage {
    ReportPage {
        title: "Potential flow about a sphere".into(),
        subtitle: "radius 1 m, 1 m/s along x".into(),
        unit: "m".into(),
        verdict: Some(PageVerdict {
            grade: PageGrade::Warn,
            title: "An example.".into(),
            text: "C_D is zero, as d'Alembert found.".into(),
        }),
        figures: vec![PageFigure {
            name: "drag C_D".into(),
            value: "0".into(),
            unit: String::new(),
            note: "in a potential flow".into(),
        }],
        domain: Some([[-3.0; 3], [3.0; 3]]),
        surface: Some(sphere()),
        slices: vec![slice()],
        plots: vec![history()],
        tables: vec![PageTable {
            title: "Coefficients by part".into(),
            head: ["part", "C_D", "C_L"].map(str::to_owned).into(),
            rows: [
                ["front", "-0.5", "0"],
                ["rear", "0.5", "0"],
                ["all", "0", "0"],
            ]
            .map(|row| row.map(str::to_owned).into())
            .into(),
            has_sum: true,
            note: "C_D: of the pressure.".into(),
        }],
        checks: vec![PageChecks {
            title: "Is the surface right?".into(),
            rows: vec![PageCheck {
                grade: PageGrade::Bad,
                title: "1 hole".into(),
                note: "at the north pole".into(),
                places: vec![PagePlace {
                    at: [0.0, 0.0, 1.0],
                    size: 0.1,
                    normal: [0.0, 0.0, 1.0],
                }],
            }],
        }],
        texts: vec![PageText {
            title: "The case".into(),
            text: "u = 1".into(),
        }],
        foot: "Written by an example of cutlink.".into(),
        ..ReportPage::default()
    }
}

fn sphere() -> PageSurface {
    let around = 2 * ROWS;
    let mut points = Vec::new();
    for i in 0..=ROWS {
        for j in 0..around {
            let (t, p) = (
                PI * f64::from(i) / f64::from(ROWS),
                PI * f64::from(j) / f64::from(ROWS),
            );
            points.push([t.sin() * p.cos(), t.sin() * p.sin(), t.cos()]);
        }
    }
    let mut triangles = Vec::new();
    let mut patch = Vec::new();
    for i in 1..ROWS {
        for j in 0..around {
            let at = |i: u32, j: u32| i * around + j % around;
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            patch.extend([u16::from(j > around / 4 && j < 3 * around / 4); 2]);
        }
    }
    // 1 - 9/4 sin² of the angle from the axis.
    let pressure = points
        .iter()
        .map(|p| 0.5 * (1.0 - 2.25 * (1.0 - p[0] * p[0])));
    let pressure = PageField {
        name: "pressure".into(),
        unit: "Pa".into(),
        values: pressure.map(|p| p as f32).collect(),
        colours: PageColours::Diverging,
        range: None,
    };
    PageSurface {
        points,
        triangles,
        patch,
        patches: vec!["rear".into(), "front".into()],
        fields: vec![pressure],
    }
}

fn slice() -> PageSlice {
    let size = [180, 180];
    let speed = |time: f64| -> Vec<f32> {
        let at = |i: usize| {
            let x = -3.0 + 6.0 * ((i % size[0]) as f64 + 0.5) / size[0] as f64;
            let y = -3.0 + 6.0 * ((i / size[0]) as f64 + 0.5) / size[1] as f64;
            let r = x.hypot(y);
            if r < 1.0 {
                return f32::NAN;
            }
            let (cos, sin) = (x / r, y / r);
            let along = (1.0 - r.powi(-3)) * cos;
            let across = (1.0 + 0.5 * r.powi(-3)) * sin;
            (time * along.hypot(across)) as f32
        };
        (0..size[0] * size[1]).map(at).collect()
    };
    let times: Vec<f64> = (1..=8).map(|i| f64::from(i) / 8.0).collect();
    let blocks = (0..8).flat_map(|y| {
        (0..8).flat_map(move |x| {
            let is_fine = (2..6).contains(&x) && (2..6).contains(&y);
            let count = if is_fine { 2 } else { 1 };
            (0..count * count).map(move |k| PageBlock {
                at: [x * count + k % count, y * count + k / count],
                level: u8::from(is_fine),
            })
        })
    });
    let circle = (0..128).map(|i| {
        [i, i + 1].map(|k| {
            let angle = 2.0 * PI * f64::from(k % 128) / 128.0;
            [angle.cos(), angle.sin()]
        })
    });
    PageSlice {
        name: "y = 0".into(),
        axes: [0, 2],
        normal: Some((1, 0.0)),
        bounds: [[-3.0; 2], [3.0; 2]],
        blocks: blocks.collect(),
        block_edge: 0.75,
        size,
        fields: vec![PageSliceField {
            name: "speed".into(),
            unit: "m/s".into(),
            frames: times.iter().map(|&t| speed(t)).collect(),
            colours: PageColours::Sequential,
            range: None,
        }],
        times,
        time_unit: "s".into(),
        outline: circle.collect(),
        is_closed: true,
    }
}

fn history() -> PagePlot {
    let x: Vec<f64> = (0..600).map(|i| f64::from(i) / 100.0).collect();
    let wave = |by: f64| {
        x.iter()
            .map(|t| by * (6.0 * t).sin() + (-t).exp())
            .collect()
    };
    let group = |name: &str, by: f64| PlotGroup {
        name: name.into(),
        series: vec![PlotSeries {
            name: "all".into(),
            values: wave(by),
        }],
    };
    PagePlot {
        title: "Forces".into(),
        label: "t in s".into(),
        groups: vec![group("drag C_D", 0.1), group("lift C_L", 0.3)],
        window: Some([3.0, 6.0]),
        x,
    }
}
