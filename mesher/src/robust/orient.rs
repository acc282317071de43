//! One orientation for each piece of a surface.

use super::uses;
use crate::{
    exact::{Exact, Facet},
    snap::Snapped,
};
use cutlink_device::UnionFind;

/// Facets connected over edges of two uses.
struct Piece<const D: usize> {
    facets: Vec<u32>,
    /// Area (2D: length) of the facets that agree with the first one, and of the others.
    areas: [f64; 2],
    /// Whether every edge of the piece has two uses.
    closed: bool,
    bounds: [[i32; D]; 2],
}

/// Reverses facets; returns how many.
pub(super) fn orient<const D: usize>(surface: &mut Snapped<D>) -> usize
where
    Facet<D>: Exact<D>,
{
    let mut turned = vec![false; surface.facets.len()];
    let pieces = agree(surface, &mut turned);
    turn_out(surface, &pieces, &mut turned);
    let mut count = 0;
    for (facet, turn) in surface.facets.iter_mut().zip(turned) {
        if turn {
            facet.swap(0, 1);
            count += 1;
        }
    }
    count
}

/// Makes the facets of each piece agree with the larger part of its area.
fn agree<const D: usize>(surface: &Snapped<D>, turned: &mut [bool]) -> Vec<Piece<D>>
where
    Facet<D>: Exact<D>,
{
    let uses = uses(&surface.facets);
    let mut sets = UnionFind::new(surface.facets.len());
    // For each facet, its neighbours and whether they contradict it.
    let mut beside = Vec::new();
    let mut open = vec![false; surface.facets.len()];
    for run in uses.chunk_by(|a, b| a.0 == b.0) {
        match *run {
            [(_, p, f), (_, q, g)] => {
                sets.join(f, g);
                beside.extend([(f, g, p == q), (g, f, p == q)]);
            }
            _ => run.iter().for_each(|&(_, _, f)| open[f as usize] = true),
        }
    }
    beside.sort_unstable();
    let mut pieces: Vec<Piece<D>> = Vec::new();
    let mut piece_of = vec![u32::MAX; surface.facets.len()];
    for first in 0..surface.facets.len() as u32 {
        if piece_of[first as usize] != u32::MAX {
            continue;
        }
        let id = pieces.len() as u32;
        piece_of[first as usize] = id;
        let mut facets = vec![first];
        let mut next = 0;
        while let Some(&f) = facets.get(next) {
            next += 1;
            let from = beside.partition_point(|b| b.0 < f);
            for &(_, g, contradicts) in beside[from..].iter().take_while(|b| b.0 == f) {
                if piece_of[g as usize] == u32::MAX {
                    piece_of[g as usize] = id;
                    turned[g as usize] = turned[f as usize] ^ contradicts;
                    facets.push(g);
                }
            }
        }
        pieces.push(measure(surface, facets, turned, &open));
    }
    for piece in &pieces {
        if piece.areas[1] > piece.areas[0] {
            for &f in &piece.facets {
                turned[f as usize] ^= true;
            }
        }
    }
    pieces
}

fn corners<const D: usize>(surface: &Snapped<D>, f: u32) -> Facet<D> {
    Facet(surface.facets[f as usize].map(|v| surface.vertices[v as usize]))
}

fn measure<const D: usize>(
    surface: &Snapped<D>,
    facets: Vec<u32>,
    turned: &[bool],
    open: &[bool],
) -> Piece<D>
where
    Facet<D>: Exact<D>,
{
    let mut areas = [0.0; 2];
    let mut bounds = corners(surface, facets[0]).bounds();
    for &f in &facets {
        let facet = corners(surface, f);
        let normal = facet.normal().map(|c| c as f64);
        let square: f64 = normal.iter().map(|c| c * c).sum();
        areas[usize::from(turned[f as usize])] += square.sqrt();
        let [low, high] = facet.bounds();
        for a in 0..D {
            bounds[0][a] = bounds[0][a].min(low[a]);
            bounds[1][a] = bounds[1][a].max(high[a]);
        }
    }
    Piece {
        closed: facets.iter().all(|&f| !open[f as usize]),
        facets,
        areas,
        bounds,
    }
}

/// Turns the closed pieces that are inside out and in no other's box: those may be cavities.
fn turn_out<const D: usize>(surface: &Snapped<D>, pieces: &[Piece<D>], turned: &mut [bool])
where
    Facet<D>: Exact<D>,
{
    let within = |inner: &Piece<D>, outer: &Piece<D>| {
        (0..D).all(|a| {
            outer.bounds[0][a] <= inner.bounds[0][a] && inner.bounds[1][a] <= outer.bounds[1][a]
        })
    };
    for (i, piece) in pieces.iter().enumerate() {
        if !piece.closed || volume(surface, piece, turned) >= 0 {
            continue;
        }
        let nested = pieces
            .iter()
            .enumerate()
            .any(|(j, other)| j != i && within(piece, other));
        if !nested {
            for &f in &piece.facets {
                turned[f as usize] ^= true;
            }
        }
    }
}

/// D! times the volume, exact.
fn volume<const D: usize>(surface: &Snapped<D>, piece: &Piece<D>, turned: &[bool]) -> i128
where
    Facet<D>: Exact<D>,
{
    let origin = piece.bounds[0];
    let of_facet = |&f: &u32| {
        let facet = corners(surface, f).relative_to(origin);
        let normal = facet.normal();
        let cone: i128 = (0..D)
            .map(|a| i128::from(normal[a]) * i128::from(facet.0[0][a]))
            .sum();
        if turned[f as usize] { -cone } else { cone }
    };
    piece.facets.iter().map(of_facet).sum()
}
