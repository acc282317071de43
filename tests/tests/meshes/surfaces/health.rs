//! The health report on real files, against facts that other readers and other edge counts
//! measured (`../shared/meshes/broken/FACTS.tsv`, `../shared/meshes/README.md`).
//!
//! Where the words differ:
//! - the facts join equal coordinates of every file; so does this test, whatever the reader
//!   leaves apart;
//! - "winding consistent: NO(k)" counts every unbalanced edge of a file, open ones included;
//! - "degenerate + sliver" draws a line at a tolerance: exact zero area lies between the
//!   first number and the sum;
//! - volumes of open surfaces depend on the reference point and are not compared.

use cutlink_mesher::health::{self, Health};
use cutlink_mesher::read;
use cutlink_mesher::surface::Surface;
use cutlink_tests::scans;
use std::collections::HashMap;

/// One vertex number for each place, and +0 for −0.
fn welded(surface: &Surface<3>) -> Surface<3> {
    let mut numbers = HashMap::new();
    let mut vertices = Vec::new();
    let mut number = |v: u32| {
        let p = surface.vertices[v as usize].map(|x| x + 0.0);
        *numbers.entry(p.map(f64::to_bits)).or_insert_with(|| {
            vertices.push(p);
            vertices.len() as u32 - 1
        })
    };
    let facets = surface.facets.iter().map(|f| f.map(&mut number)).collect();
    Surface::single_patch(vertices, facets, "welded")
}

fn number(text: &str) -> u64 {
    let digits = text.replace(',', "");
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no count: {text}"))
}

/// `yes b0 n16` → (0, 16)
fn open_and_nonmanifold(text: &str) -> (u64, u64) {
    let mut words = text.split(' ').skip(1);
    let mut next = || number(&words.next().expect("a count")[1..]);
    (next(), next())
}

/// What of a line of facts the report contradicts.
fn contradictions(h: &Health<3>, fact: &[&str]) -> Vec<&'static str> {
    let (open, nonmanifold) = open_and_nonmanifold(fact[5]);
    let (degenerate, duplicate) = fact[8].split_once('/').expect("a pair");
    let (degenerate, sliver) = degenerate.split_once('+').expect("a pair");
    let degenerate = number(degenerate)..=number(degenerate) + number(sliver);
    let welded = fact[3].split_once('/').expect("a pair").1;
    let winding = match fact[6].strip_prefix("NO(") {
        Some(rest) => h.unbalanced_edges == number(rest.trim_end_matches(')')),
        None => h.consistent() && h.unbalanced_edges == h.open_edges,
    };
    let volume: f64 = fact[9..]
        .join(" ")
        .split("vol ")
        .nth(1)
        .map_or(f64::NAN, |v| v.trim().parse().expect("a volume"));
    let four_digits = (h.volume - volume).abs() <= 6e-4 * volume.abs();
    [
        ("triangles", h.facets == number(fact[4])),
        ("vertices", h.vertices == number(welded)),
        ("open", h.open_edges == open),
        ("non-manifold", h.nonmanifold_edges == nonmanifold),
        ("closed", h.closed() != fact[5].starts_with("NO")),
        ("winding", winding),
        ("components", h.components == number(fact[7])),
        ("degenerate", degenerate.contains(&h.degenerate_facets)),
        ("duplicate", h.duplicate_facets == number(duplicate)),
        ("volume", !h.closed() || four_digits),
    ]
    .into_iter()
    .filter(|(_, right)| !right)
    .map(|(what, _)| what)
    .collect()
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn small_files_agree_with_the_facts() {
    let folder = scans::folder().join("broken");
    let text = std::fs::read_to_string(folder.join("FACTS.tsv")).expect("the facts");
    let mut compared = 0;
    for line in text.lines().skip(1) {
        let fact: Vec<&str> = line.split('\t').collect();
        // Files that the other readers refused or found empty have no facts.
        if fact.len() < 9 || fact[5] == "-" {
            continue;
        }
        // What the reader refuses is the reader's business.
        let Ok(loaded) = read::read_surface(&folder.join(fact[0])) else {
            continue;
        };
        let h = health::check(&welded(&loaded.surface));
        assert_eq!(contradictions(&h, &fact), [""; 0], "{}: {h}", fact[0]);
        compared += 1;
        // Negative control: a facet less contradicts the facts of every file.
        let mut torn = welded(&loaded.surface);
        torn.facets.pop();
        let h = health::check(&torn);
        assert!(!contradictions(&h, &fact).is_empty(), "{}", fact[0]);
    }
    assert!(compared >= 60, "only {compared} files compared");
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn scans_are_as_their_readme_says() {
    for (file, facets, open, duplicates, closed) in [
        ("bunny_unit.stl", 69_664, Some(0), 0, true),
        ("bunny_open.stl", 69_451, Some(223), 0, false),
        ("bun_zipper.ply", 69_451, Some(223), 0, false),
        ("dragon_unit.ply", 868_632, Some(0), 0, true),
        ("motorBike.stl", 331_653, None, 67_326, false),
        ("DTC-hull.stl", 116_062, Some(0), 0, true),
        ("ahmed_body.stl", 5_658, Some(0), 0, true),
    ] {
        let loaded = read::read_surface(&scans::folder().join(file)).expect(file);
        let h = health::check(&loaded.surface);
        assert_eq!(
            (h.facets, h.duplicate_facets, h.closed()),
            (facets, duplicates, closed),
            "{file}: {h}"
        );
        assert_eq!(open.unwrap_or(h.open_edges), h.open_edges, "{file}: {h}");
        assert_eq!((h.inward, h.consistent()), (false, true), "{file}");
    }
}
