//! Pages, read back by what the documentation says of their format.

use cutlink_report::{
    LIMIT, PageBlock, PageCheck, PageChecks, PageColours, PageField, PageFigure, PageGrade,
    PagePlace, PagePlot, PageSlice, PageSliceField, PageSurface, PageTable, PageText, PageVerdict,
    PlotGroup, PlotSeries, ReportPage,
};
use serde_json::Value;
use std::{collections::BTreeSet, io::Read};

#[path = "../../tests/kit/worst.rs"]
mod worst;
use worst::worst;

/// The text between two marks, which occur once.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).expect("the first mark");
    rest.split_once(to).expect("the second mark").0
}

fn header(text: &str) -> Value {
    let json = between(text, "id=\"header\">", "</script>");
    serde_json::from_str(json).expect("JSON")
}

fn data(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let coded = between(text, "id=\"data\">", "</script>").as_bytes();
    let mut packed = Vec::new();
    for group in coded.chunks(4) {
        let used = group.iter().filter(|&&c| c != b'=').count();
        let word = group[..used]
            .iter()
            .fold(0, |w: u32, &c| w << 6 | u32::from(digit(c)));
        let word = word << (6 * (4 - used)) << 8;
        packed.extend_from_slice(&word.to_be_bytes()[..used - 1]);
    }
    let mut plain = Vec::new();
    let mut stream = flate2::read::DeflateDecoder::new(&packed[..]);
    stream.read_to_end(&mut plain).expect("a deflate stream");
    plain
}

fn whole(of: &Value, key: &str) -> usize {
    of[key].as_u64().expect("a whole number") as usize
}

/// Elements from their planes of bytes.
fn codes(bytes: &[u8], of: &Value, width: usize) -> Vec<u32> {
    let (at, count) = (whole(of, "at"), whole(of, "count"));
    let plane = |i: usize, p: usize| u32::from(bytes[at + p * count + i]) << (8 * p);
    (0..count)
        .map(|i| (0..width).map(|p| plane(i, p)).sum())
        .collect()
}

fn numbers(bytes: &[u8], of: &Value) -> Vec<f64> {
    assert_eq!(of["kind"], "numbers");
    let coding = &of["coding"];
    let list = |key: &str| -> Vec<f64> {
        let all = coding[key].as_array().expect("an array").iter();
        all.map(|v| v.as_f64().expect("a number")).collect()
    };
    let (low, high, most) = (list("low"), list("high"), whole(coding, "most") as i64);
    let stride = whole(coding, "stride");
    let mut found: Vec<i64> = Vec::new();
    for (i, code) in codes(bytes, of, 2).into_iter().enumerate() {
        let code = i64::from(code);
        let difference = if code % 2 == 0 {
            code / 2
        } else {
            -(code + 1) / 2
        };
        let before = if i >= stride {
            found[i - stride]
        } else {
            found.last().copied().unwrap_or(0)
        };
        found.push((before + difference).rem_euclid(65536));
    }
    let value = |(i, &code): (usize, &i64)| {
        let k = i % low.len();
        match code > most {
            true => f64::NAN,
            false => low[k] + (high[k] - low[k]) * code as f64 / most as f64,
        }
    };
    found.iter().enumerate().map(value).collect()
}

fn floats(bytes: &[u8], of: &Value) -> Vec<f32> {
    assert_eq!(of["kind"], "floats");
    codes(bytes, of, 4)
        .into_iter()
        .map(f32::from_bits)
        .collect()
}

fn indices(bytes: &[u8], of: &Value) -> Vec<usize> {
    assert_eq!(of["kind"], "index");
    let mut next = 0;
    let index = |below: u32| {
        next += usize::from(below == 0);
        next - usize::from(below == 0) - below as usize
    };
    codes(bytes, of, 4).into_iter().map(index).collect()
}

/// A bumpy square of n × n points, two patches, values with gaps, one field by triangle.
fn square(n: u32) -> PageSurface {
    let points = (0..n * n).map(|i| {
        let (x, y) = (f64::from(i % n), f64::from(i / n));
        [10.0 + x, -3.0 + y, (0.7 * x).sin() + (0.3 * y).cos()]
    });
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let at = y * n + x;
            triangles.extend([[at, at + 1, at + n + 1], [at, at + n + 1, at + n]]);
        }
    }
    let left = |t: &[u32; 3]| u16::from(t[0] % n < n / 2);
    let hole = |i: u32| {
        if i.is_multiple_of(7) {
            f32::NAN
        } else {
            (i as f32).sin() * 100.0
        }
    };
    PageSurface {
        points: points.collect(),
        patch: triangles.iter().map(left).collect(),
        patches: vec!["right".into(), "left".into()],
        fields: vec![
            field("pressure", (0..n * n).map(hole).collect()),
            field(
                "level",
                triangles.iter().map(|t| f32::from(left(t))).collect(),
            ),
        ],
        triangles,
    }
}

fn field(name: &str, values: Vec<f32>) -> PageField {
    PageField {
        name: name.into(),
        unit: "Pa".into(),
        values,
        colours: PageColours::Diverging,
        range: None,
    }
}

fn slice(size: [usize; 2], frames: usize) -> PageSlice {
    let value = |t: usize, i: usize| match i % 11 {
        0 => f32::NAN,
        _ => ((t * 31 + i * 17) % 1009) as f32,
    };
    let frame = |t: usize| (0..size[0] * size[1]).map(|i| value(t, i)).collect();
    PageSlice {
        name: "z = 0".into(),
        axes: [0, 1],
        bounds: [[0.0; 2], [2.0, 1.0]],
        blocks: vec![
            PageBlock {
                at: [1, 0],
                level: 1,
            },
            PageBlock {
                at: [0, 0],
                level: 0,
            },
        ],
        block_edge: 1.0,
        size,
        fields: vec![PageSliceField {
            name: "speed".into(),
            frames: (0..frames).map(frame).collect(),
            ..PageSliceField::default()
        }],
        times: (0..frames).map(|t| t as f64).collect(),
        outline: vec![[[0.25, 0.5], [0.75, 0.5]]],
        ..PageSlice::default()
    }
}

/// The first difference between a page and what it was made of, if any.
fn difference(text: &str, of: &PageSurface, n: usize) -> Option<String> {
    let (head, bytes) = (header(text), data(text));
    let surface = &head["surface"];
    let places = numbers(&bytes, &surface["points"]);
    let extent = |k: usize| {
        let along = || of.points.iter().map(|p| p[k]);
        worst(along()) + worst(along().map(|x| -x))
    };
    // The points of a bumpy square have whole numbers in the plane.
    let given = |v: usize| -> Option<usize> {
        let place = &places[3 * v..3 * v + 3];
        let (x, y) = ((place[0] - 10.0).round(), (place[1] + 3.0).round());
        let i = y as usize * n + x as usize;
        let near = |k: usize| (of.points[i][k] - place[k]).abs() <= extent(k) / 131_068.0 * 1.0001;
        (0..3).all(near).then_some(i)
    };
    let index = indices(&bytes, &surface["triangles"]);
    let patch_at = whole(&surface["patch"], "at");
    let mut seen = BTreeSet::new();
    for t in index.chunks(3) {
        let patch = t
            .iter()
            .map(|&v| bytes[patch_at + v])
            .collect::<BTreeSet<u8>>();
        let corners: Option<Vec<usize>> = t.iter().map(|&v| given(v)).collect();
        let Some(mut corners) = corners else {
            return Some("a point is elsewhere".into());
        };
        let least = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
        corners.rotate_left(least);
        seen.insert((corners, patch));
    }
    let expected: BTreeSet<_> = of
        .triangles
        .iter()
        .zip(&of.patch)
        .map(|(t, &p)| {
            let mut corners: Vec<usize> = t.iter().map(|&v| v as usize).collect();
            let least = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
            corners.rotate_left(least);
            (corners, BTreeSet::from([p as u8]))
        })
        .collect();
    if seen != expected {
        return Some("triangles or patches differ".into());
    }
    let values = numbers(&bytes, &surface["fields"][0]["values"]);
    for (v, &value) in values.iter().enumerate() {
        let own = given(v).map(|i| f64::from(of.fields[0].values[i]));
        let Some(own) = own else {
            return Some("a point is elsewhere".into());
        };
        let close = (own - value).abs() <= 200.0 / 4094.0 * 1.0001;
        if !(close || own.is_nan() && value.is_nan()) {
            return Some(format!("{value} instead of {own}"));
        }
    }
    None
}

#[test]
fn a_surface_comes_back_within_the_stated_error() {
    let n = 40;
    let surface = square(n);
    let page = ReportPage {
        surface: Some(surface.clone()),
        ..ReportPage::default()
    };
    let text = page.html();
    assert_eq!(difference(&text, &surface, n as usize), None);
    // By triangle: constant on each patch, so means are too.
    let (head, bytes) = (header(&text), data(&text));
    let level = numbers(&bytes, &head["surface"]["fields"][1]["values"]);
    let at = whole(&head["surface"]["patch"], "at");
    assert!(
        level
            .iter()
            .enumerate()
            .all(|(v, &l)| l == f64::from(bytes[at + v]))
    );
    // The comparison sees a value, a point, a triangle and a patch that differ.
    type Change = fn(&mut PageSurface);
    let changes: [Change; 5] = [
        |s| s.fields[0].values[50] += 1.0,
        |s| s.fields[0].values[50] = f32::NAN,
        |s| s.points[50][2] += 0.01,
        |s| s.triangles[50].swap(0, 1),
        |s| s.patch[50] ^= 1,
    ];
    for change in changes {
        let mut other = surface.clone();
        change(&mut other);
        assert!(difference(&text, &other, n as usize).is_some());
    }
}

#[test]
fn slices_and_histories_come_back() {
    let given = slice([30, 20], 5);
    let page = ReportPage {
        slices: vec![given.clone()],
        plots: vec![PagePlot {
            x: vec![0.0, 0.5, 1.0],
            groups: vec![PlotGroup {
                name: "drag".into(),
                series: vec![PlotSeries {
                    name: "all".into(),
                    values: vec![1.25, f64::NAN],
                }],
            }],
            window: Some([f64::NAN, 1.0]),
            ..PagePlot::default()
        }],
        ..ReportPage::default()
    };
    let text = page.html();
    let (head, bytes) = (header(&text), data(&text));
    let part = &head["slices"][0];
    let values = numbers(&bytes, &part["fields"][0]["values"]);
    let own = given.fields[0].frames.concat();
    assert_eq!(values.len(), own.len());
    for (value, own) in values.iter().zip(&own) {
        let close = (value - f64::from(*own)).abs() <= 1008.0 / 4094.0 * 1.0001;
        assert!(close || value.is_nan() && own.is_nan(), "{value} {own}");
    }
    // Blocks by level.
    assert_eq!(floats(&bytes, &part["blocks"]["at"]), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(floats(&bytes, &part["outline"]), [0.25, 0.5, 0.75, 0.5]);
    let series = floats(
        &bytes,
        &head["plots"][0]["groups"][0]["series"][0]["values"],
    );
    assert_eq!(series[0], 1.25);
    assert!(series.len() == 3 && series[1].is_nan() && series[2].is_nan());
    assert_eq!(
        head["plots"][0]["window"],
        Value::Null,
        "a window of no numbers"
    );
}

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!--\"'&\u{2028}";

#[test]
fn names_stay_text() {
    let name = || HOSTILE.to_owned();
    let named = |mut surface: PageSurface| {
        surface.patches = vec![name(), name()];
        surface.fields[0].name = name();
        surface
    };
    let page = ReportPage {
        title: name(),
        subtitle: name(),
        unit: name(),
        verdict: Some(PageVerdict {
            grade: PageGrade::Bad,
            title: name(),
            text: name(),
        }),
        figures: vec![PageFigure {
            name: name(),
            ..PageFigure::default()
        }],
        surface: Some(named(square(4))),
        tables: vec![PageTable {
            rows: vec![vec![name()]],
            ..PageTable::default()
        }],
        checks: vec![PageChecks {
            title: name(),
            rows: vec![PageCheck {
                title: name(),
                places: vec![PagePlace::default()],
                ..PageCheck::default()
            }],
        }],
        texts: vec![PageText {
            title: name(),
            text: name(),
        }],
        foot: name(),
        ..ReportPage::default()
    };
    let text = page.html();
    assert!(!text.contains("<img"));
    assert_eq!(text.matches("</script").count(), 3, "header, data, viewer");
    assert_eq!(text.matches("<script").count(), 3);
    assert!(!text.contains("<!--"), "no comment begins");
    let head = header(&text);
    for value in [
        &head["title"],
        &head["texts"][0]["text"],
        &head["surface"]["patches"][1],
    ] {
        assert_eq!(value, HOSTILE, "the name itself");
    }
    let policy = between(&text, "Content-Security-Policy\" content=\"", "\">");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
}

#[test]
fn what_makes_no_sense_is_missing() {
    let mut surface = square(5);
    surface.points[0][1] = f64::NAN;
    surface.triangles[3][2] = 1000;
    surface.fields[0].values = vec![f32::INFINITY; 25];
    surface.fields[1].values.pop();
    let mut part = slice([4, 4], 2);
    part.fields[0].frames[1].pop();
    let page = ReportPage {
        surface: Some(surface),
        slices: vec![part],
        domain: Some([[f64::NEG_INFINITY; 3], [1.0; 3]]),
        ..ReportPage::default()
    };
    let text = page.html();
    let (head, bytes) = (header(&text), data(&text));
    assert_eq!(
        indices(&bytes, &head["surface"]["triangles"]).len() / 3,
        32 - 3
    );
    for i in 0..2 {
        let values = numbers(&bytes, &head["surface"]["fields"][i]["values"]);
        assert!(values.iter().all(|v| v.is_nan()), "field {i}");
    }
    assert_eq!(
        head["slices"][0]["fields"],
        Value::Array(vec![]),
        "a frame of another size"
    );
    assert_eq!(head["domain"], Value::Null);
    let empty = ReportPage::default().html();
    assert_eq!(header(&empty)["surface"], Value::Null);
    assert!(data(&empty).is_empty());
}

#[test]
fn large_pages_are_decimated_and_say_so() {
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32;
    let n = 300;
    let mut surface = square(n);
    surface.fields = (0..3)
        .map(|k| field("noise", (0..n * n).map(|i| noise(i + k)).collect()))
        .collect();
    let mut part = slice([500, 300], 30);
    for (k, value) in part.fields[0].frames.iter_mut().flatten().enumerate() {
        *value = noise(k as u32);
    }
    let page = ReportPage {
        surface: Some(surface.clone()),
        slices: vec![part],
        ..ReportPage::default()
    };
    let text = page.html();
    assert!(text.len() <= LIMIT, "{} bytes", text.len());
    assert!(
        text.len() > LIMIT / 5,
        "no more than needed: {} bytes",
        text.len()
    );
    assert_eq!(text, page.html(), "the same bytes");
    let (head, bytes) = (header(&text), data(&text));
    let foot = head["foot"].as_str().expect("text");
    assert!(
        foot.contains("second frame") && foot.contains("means of cells"),
        "{foot}"
    );
    assert_eq!(
        head["slices"][0]["times"].as_array().and_then(|t| t.last()),
        Some(&29.0.into())
    );
    // Merged points stay where the surface is: in its box, and near it by the size of a merged cell.
    let left = indices(&bytes, &head["surface"]["triangles"]).len() / 3;
    assert!(left > 5000 && left <= surface.triangles.len(), "{left}");
    let places = numbers(&bytes, &head["surface"]["points"]);
    let cell = 2.0 * f64::from(n) / (left as f64 / 2.0).sqrt();
    for p in places.chunks(3) {
        let (x, y) = (p[0] - 10.0, p[1] + 3.0);
        assert!((0.0..f64::from(n)).contains(&x) && (0.0..f64::from(n)).contains(&y));
        let height = (0.7 * x).sin() + (0.3 * y).cos();
        assert!((height - p[2]).abs() < cell, "{p:?}");
    }
    let small = ReportPage {
        surface: Some(square(20)),
        ..ReportPage::default()
    };
    assert_eq!(header(&small.html())["foot"], "", "nothing was decimated");
}
