//! The text of a page: template, style, viewer, header, data.

use crate::pack::{self, Coding, Packed, Packer};
use crate::{
    PageChecks, PageColours, PageFigure, PageSlice, PageSurface, PageTable, PageText, PageVerdict,
    ReportPage, budget,
};
use flate2::{Compression, write::DeflateEncoder};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Write;

const TEMPLATE: &str = include_str!("view/page.html");
const STYLE: &str = include_str!("view/style.css");
const VIEWER: &str = concat!(
    include_str!("view/base.js"),
    include_str!("view/mesh.js"),
    include_str!("view/draw.js"),
    include_str!("view/space.js"),
    include_str!("view/slice.js"),
    include_str!("view/plot.js"),
    include_str!("view/main.js"),
);

/// A page, and the bytes of its largest parts before compression.
pub(crate) struct Built {
    pub(crate) text: String,
    pub(crate) slices: usize,
    pub(crate) body: usize,
}

#[derive(Serialize)]
struct Header<'a> {
    title: &'a str,
    subtitle: &'a str,
    unit: &'a str,
    verdict: &'a Option<PageVerdict>,
    figures: &'a [PageFigure],
    domain: Option<[[f64; 3]; 2]>,
    surface: Option<Surface<'a>>,
    marks: Packed,
    slices: Vec<Slice<'a>>,
    plots: Vec<Plot<'a>>,
    tables: &'a [PageTable],
    checks: &'a [PageChecks],
    texts: &'a [PageText],
    foot: String,
}

#[derive(Serialize)]
struct Surface<'a> {
    points: Packed,
    triangles: Packed,
    patch: Packed,
    patches: &'a [String],
    fields: Vec<Field<'a>>,
}

#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    unit: &'a str,
    colours: PageColours,
    range: Option<[f64; 2]>,
    values: Packed,
}

#[derive(Serialize)]
struct Slice<'a> {
    name: &'a str,
    axes: [usize; 2],
    normal: Option<(usize, f64)>,
    bounds: [[f64; 2]; 2],
    blocks: Blocks,
    block_edge: f64,
    size: [usize; 2],
    fields: Vec<Field<'a>>,
    times: &'a [f64],
    time_unit: &'a str,
    outline: Packed,
    is_closed: bool,
}

#[derive(Serialize)]
struct Blocks {
    at: Packed,
    level: Packed,
}

#[derive(Serialize)]
struct Plot<'a> {
    title: &'a str,
    label: &'a str,
    x: Packed,
    groups: Vec<Group<'a>>,
    window: Option<[f64; 2]>,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    series: Vec<Series<'a>>,
}

#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    values: Packed,
}

/// The text of a page that is prepared; `note` goes to its foot.
pub(crate) fn build(page: &ReportPage, note: &str) -> Built {
    let mut packer = Packer::default();
    let body = page.surface.as_ref().map_or(0, budget::bytes_of);
    let surface = page.surface.as_ref().map(|s| surface(&mut packer, s));
    let before = packer.bytes.len();
    let slices: Vec<Slice<'_>> = page.slices.iter().map(|s| slice(&mut packer, s)).collect();
    let of_slices = packer.bytes.len() - before;
    let plots = page.plots.iter().map(|plot| Plot {
        title: &plot.title,
        label: &plot.label,
        x: packer.floats(plot.x.iter().copied()),
        groups: plot
            .groups
            .iter()
            .map(|group| Group {
                name: &group.name,
                series: group
                    .series
                    .iter()
                    .map(|series| Series {
                        name: &series.name,
                        values: packer.floats(series.values.iter().copied()),
                    })
                    .collect(),
            })
            .collect(),
        window: plot.window.filter(|w| w.iter().all(|x| x.is_finite())),
    });
    let plots = plots.collect();
    let header = Header {
        title: &page.title,
        subtitle: &page.subtitle,
        unit: &page.unit,
        verdict: &page.verdict,
        figures: &page.figures,
        domain: page
            .domain
            .filter(|d| d.concat().iter().all(|x| x.is_finite())),
        surface,
        marks: packer.floats(page.marks.iter().flatten().copied()),
        slices,
        plots,
        tables: &page.tables,
        checks: &page.checks,
        texts: &page.texts,
        foot: [page.foot.as_str(), note].join(" ").trim().to_owned(),
    };
    let header = serde_json::to_string(&header).expect("structs of numbers and text are JSON");
    Built {
        text: fill(&page.title, &header, &pack::base64(&deflate(&packer.bytes))),
        slices: of_slices,
        body,
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    done.expect("memory takes all bytes")
}

/// Fills the places of the template, each once.
fn fill(title: &str, header: &str, data: &str) -> String {
    let hash = |text: &str| pack::base64(&Sha256::digest(text.as_bytes()));
    // A JSON string has the same meaning with this escape; the browser sees no tag.
    let header = header.replace('<', "\\u003c");
    let places = [
        ("%SCRIPT_HASH%", hash(VIEWER)),
        ("%STYLE_HASH%", hash(STYLE)),
        ("%TITLE%", escape(title)),
        ("%STYLE%", STYLE.to_owned()),
        ("%HEADER%", header),
        ("%DATA%", data.to_owned()),
        ("%SCRIPT%", VIEWER.to_owned()),
    ];
    let mut text = String::with_capacity(data.len() + TEMPLATE.len() + (1 << 17));
    let mut rest = TEMPLATE;
    for (place, with) in &places {
        let (before, after) = rest.split_once(place).expect("the template has all places");
        text.extend([before, with]);
        rest = after;
    }
    text + rest
}

/// Text in markup.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

fn surface<'a>(packer: &mut Packer, surface: &'a PageSurface) -> Surface<'a> {
    let along = |k: usize| pack::extent(surface.points.iter().map(|p| p[k])).unwrap_or([0.0; 2]);
    let extents = [along(0), along(1), along(2)];
    let coding = Coding {
        stride: 3,
        low: extents.map(|e| e[0]).to_vec(),
        high: extents.map(|e| e[1]).to_vec(),
        most: pack::FINEST,
    };
    let point = |i: usize| surface.points[i / 3][i % 3];
    let points = packer.numbers(3 * surface.points.len(), point, coding);
    let triangles = packer.indices(surface.triangles.iter().flatten().copied());
    // The viewer repeats colours long before there are so many patches.
    let patch: Vec<u8> = surface.patch.iter().map(|&p| p.min(255) as u8).collect();
    let fields = surface.fields.iter().map(|field| {
        let values = &field.values;
        Field {
            name: &field.name,
            unit: &field.unit,
            colours: field.colours,
            range: field.range,
            values: numbers(packer, values, field.range, 1),
        }
    });
    Surface {
        fields: fields.collect(),
        points,
        triangles,
        patch: packer.bytes(&patch),
        patches: &surface.patches,
    }
}

/// Values, coded within their own range; what is shown decides how finely.
fn numbers(packer: &mut Packer, values: &[f32], shown: Option<[f64; 2]>, stride: usize) -> Packed {
    let all = values.iter().map(|&v| f64::from(v));
    let range = pack::extent(all).unwrap_or([0.0, 1.0]);
    let coding = pack::coding(range, shown.unwrap_or(range), stride);
    packer.numbers(values.len(), |i| f64::from(values[i]), coding)
}

fn slice<'a>(packer: &mut Packer, slice: &'a PageSlice) -> Slice<'a> {
    let places: Vec<f64> = slice
        .blocks
        .iter()
        .flat_map(|b| b.at.map(f64::from))
        .collect();
    let level: Vec<u8> = slice.blocks.iter().map(|b| b.level).collect();
    let ends = slice.outline.iter().flatten().flatten().copied();
    let fields = slice.fields.iter().map(|field| {
        let values = field.frames.concat();
        Field {
            name: &field.name,
            unit: &field.unit,
            colours: field.colours,
            range: field.range,
            values: numbers(packer, &values, field.range, slice.size[0] * slice.size[1]),
        }
    });
    Slice {
        name: &slice.name,
        axes: slice.axes,
        normal: slice.normal,
        bounds: slice.bounds,
        fields: fields.collect(),
        blocks: Blocks {
            at: packer.floats(places.into_iter()),
            level: packer.bytes(&level),
        },
        block_edge: slice.block_edge,
        size: slice.size,
        times: &slice.times,
        time_unit: &slice.time_unit,
        outline: packer.floats(ends),
        is_closed: slice.is_closed,
    }
}
