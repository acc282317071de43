//! Surfaces: values at points, points of one patch, fewer triangles, compact order.

use crate::{PageField, PageSurface};
use std::collections::HashMap;

/// Drops triangles without valid points, gives every point one patch, and takes values of triangles to their points by
/// means over the area, within a patch.
pub(crate) fn at_points(given: &PageSurface) -> PageSurface {
    let count = given.points.len();
    let is_finite = |p: [f64; 3]| p.iter().all(|x| x.is_finite());
    let is_valid = |t: &[u32; 3]| {
        let mut points = t.iter().map(|&v| given.points.get(v as usize));
        points.all(|p| p.is_some_and(|&p| is_finite(p)))
    };
    let patch_of = |f: usize| given.patch.get(f).copied().unwrap_or(0);
    // The points of a patch, by the point that they were.
    let mut own: HashMap<(u32, u16), u32> = HashMap::new();
    let mut from = Vec::new();
    let (mut triangles, mut patch, mut areas, mut kept) = (vec![], vec![], vec![], vec![]);
    for (f, t) in given.triangles.iter().enumerate() {
        if !is_valid(t) {
            continue;
        }
        triangles.push(t.map(|v| {
            *own.entry((v, patch_of(f))).or_insert_with(|| {
                from.push(v);
                patch.push(patch_of(f));
                from.len() as u32 - 1
            })
        }));
        areas.push(area(t.map(|v| given.points[v as usize])));
        kept.push(f);
    }
    let to_points = |field: &PageField| {
        let values = if field.values.len() == count {
            from.iter().map(|&v| field.values[v as usize]).collect()
        } else if field.values.len() == given.triangles.len() {
            let weights = kept.iter().map(|&f| field.values[f]).zip(&areas);
            means(from.len(), &triangles, weights)
        } else {
            vec![f32::NAN; from.len()]
        };
        PageField {
            values,
            ..field.clone()
        }
    };
    PageSurface {
        points: from.iter().map(|&v| given.points[v as usize]).collect(),
        fields: given.fields.iter().map(to_points).collect(),
        triangles,
        patch,
        patches: given.patches.clone(),
    }
}

/// Means over the triangles at each point, by their areas.
fn means<'a>(
    points: usize,
    triangles: &[[u32; 3]],
    values: impl Iterator<Item = (f32, &'a f64)>,
) -> Vec<f32> {
    let mut sums = vec![[0.0; 2]; points];
    for (t, (value, &area)) in triangles.iter().zip(values) {
        if value.is_finite() {
            for &v in t {
                sums[v as usize][0] += area * f64::from(value);
                sums[v as usize][1] += area;
            }
        }
    }
    // 0 / 0 where there is none.
    sums.iter().map(|[sum, by]| (sum / by) as f32).collect()
}

/// Twice the area; never zero, so that slivers still have values.
fn area([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let edge = |p: [f64; 3]| -> [f64; 3] { std::array::from_fn(|k| p[k] - a[k]) };
    let (u, v) = (edge(b), edge(c));
    let component = |k: usize| u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    let squares: f64 = (0..3).map(|k| component(k).powi(2)).sum();
    squares.sqrt().max(f64::MIN_POSITIVE)
}

/// The lower corner and the longest edge of the box of some points.
fn cube(points: &[[f64; 3]]) -> ([f64; 3], f64) {
    let along = |k: usize| crate::pack::extent(points.iter().map(|p| p[k])).unwrap_or([0.0; 2]);
    let extents = [along(0), along(1), along(2)];
    let edge = extents.iter().map(|[low, high]| high - low);
    let edge = edge.fold(f64::MIN_POSITIVE, f64::max);
    (extents.map(|[low, _]| low), edge)
}

/// At most so many triangles, by merging the points of a patch in each cell of a uniform grid (Rossignac and Borrel,
/// 1993): to their mean, with the means of their values. The grid is the finest that gives so few.
pub(crate) fn decimate(surface: &PageSurface, most: usize) -> PageSurface {
    if surface.triangles.len() <= most {
        return surface.clone();
    }
    let (low, edge) = cube(&surface.points);
    let key = |v: usize, across: u64| {
        let cell = |k: usize| {
            let share = (surface.points[v][k] - low[k]) / edge;
            ((share * across as f64) as u64).min(across - 1)
        };
        let patch = u64::from(surface.patch[v]) << 48;
        patch | cell(2) << 32 | cell(1) << 16 | cell(0)
    };
    let keys = |across: u64| -> Vec<u64> {
        let all = 0..surface.points.len();
        all.map(|v| key(v, across)).collect()
    };
    let is_left = |keys: &[u64], t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| keys[v as usize]);
        a != b && b != c && c != a
    };
    let left = |keys: &[u64]| {
        let all = surface.triangles.iter();
        all.filter(|t| is_left(keys, t)).count()
    };
    let (mut few, mut many) = (1_u64, 1 << 12);
    while many - few > 1 {
        let across = few.midpoint(many);
        match left(&keys(across)) <= most {
            true => few = across,
            false => many = across,
        }
    }
    let keys = keys(few);
    let mut clusters: HashMap<u64, u32> = HashMap::new();
    let mut of = Vec::with_capacity(keys.len());
    for &key in &keys {
        let next = clusters.len() as u32;
        of.push(*clusters.entry(key).or_insert(next));
    }
    let count = clusters.len();
    let mut points = vec![[0.0; 3]; count];
    let mut members = vec![0.0; count];
    let mut patch = vec![0; count];
    for (v, &c) in of.iter().enumerate() {
        let c = c as usize;
        (0..3).for_each(|k| points[c][k] += surface.points[v][k]);
        members[c] += 1.0;
        patch[c] = surface.patch[v];
    }
    for (point, n) in points.iter_mut().zip(&members) {
        point.iter_mut().for_each(|x| *x /= n);
    }
    let merged = |field: &PageField| {
        let mut sums = vec![[0.0; 2]; count];
        for (&c, &value) in of.iter().zip(&field.values) {
            if value.is_finite() {
                sums[c as usize][0] += f64::from(value);
                sums[c as usize][1] += 1.0;
            }
        }
        PageField {
            values: sums.iter().map(|[sum, by]| (sum / by) as f32).collect(),
            ..field.clone()
        }
    };
    let triangles = surface.triangles.iter();
    PageSurface {
        triangles: triangles
            .filter(|t| is_left(&keys, t))
            .map(|t| t.map(|v| of[v as usize]))
            .collect(),
        fields: surface.fields.iter().map(merged).collect(),
        patches: surface.patches.clone(),
        points,
        patch,
    }
}

/// Triangles along a Morton curve, points in the order of their first use; points without a triangle are left out.
pub(crate) fn in_order(surface: &PageSurface) -> PageSurface {
    let (low, edge) = cube(&surface.points);
    let code = |t: &[u32; 3]| {
        let corners = t.map(|v| surface.points[v as usize]);
        let along = |k: usize| {
            let middle = corners.iter().map(|p| p[k] - low[k]).sum::<f64>() / 3.0;
            ((middle / edge * 1023.0) as u32).min(1023)
        };
        let cells = [along(0), along(1), along(2)];
        let bits = (0..30).rev().map(|i| cells[i % 3] >> (i / 3) & 1);
        bits.fold(0, |code, bit| code << 1 | bit)
    };
    let mut order: Vec<(u32, u32)> = surface.triangles.iter().map(code).zip(0..).collect();
    order.sort_unstable();
    let mut new = vec![u32::MAX; surface.points.len()];
    let mut from = Vec::new();
    let mut triangles = Vec::with_capacity(order.len());
    for (_, f) in order {
        triangles.push(surface.triangles[f as usize].map(|v| {
            let at = &mut new[v as usize];
            if *at == u32::MAX {
                *at = from.len() as u32;
                from.push(v as usize);
            }
            *at
        }));
    }
    let reorder = |field: &PageField| PageField {
        values: from.iter().map(|&v| field.values[v]).collect(),
        ..field.clone()
    };
    PageSurface {
        points: from.iter().map(|&v| surface.points[v]).collect(),
        patch: from.iter().map(|&v| surface.patch[v]).collect(),
        fields: surface.fields.iter().map(reorder).collect(),
        patches: surface.patches.clone(),
        triangles,
    }
}
