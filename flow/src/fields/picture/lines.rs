//! Lines over a picture: contour lines of the quantity, and streamlines or arrows of the in-plane velocity.
//!
//! All of them are drawn from values at the pixels, interpolated between cells, and end at the body. Coordinates are in
//! pixels of the frame: whole numbers are centres, the second one points down.

use super::shades::{Shade, View, shades};
use super::spec::PictureSpec;
use crate::fields::kinds::Quantity;
use crate::fields::values::Scene;
use cutlink_pictures::cut::Segment;
use cutlink_pictures::scale::ticks;
use rayon::prelude::*;

/// Distance between streamlines, and between arrows, as a share of the width of the frame.
const APART: f64 = 1.0 / 42.0;
/// A streamline ends where another one is closer than this share of the distance.
const CLOSEST: f64 = 0.5;
/// Streamlines shorter than so many distances are left out.
const SHORTEST: f64 = 2.0;
/// Longest streamline, in widths of the frame.
const LONGEST: f64 = 4.0;
/// Speed, as a share of the largest one, below which a streamline ends.
const SLOWEST: f64 = 1e-5;
/// Length of a step along a streamline, in pixels.
const STEP: f64 = 1.0;
/// Length of the two sides of a head, in pixels, and their angle with the shaft.
const HEAD: f64 = 5.0;
const HEAD_ANGLE: f64 = 0.5;

/// Contour lines at the numbers of the colour bar. Each square of four pixels has straight pieces between its sides (marching
/// squares; Wyvill, McPheeters & Wyvill 1986); its mean value decides between two ways.
pub(super) fn contours(shades: &[Shade], width: usize, range: [f64; 2]) -> Vec<Segment> {
    let levels = ticks(range).0;
    let rows: Vec<&[Shade]> = shades.chunks_exact(width).collect();
    let value = |s: &Shade| s.value.filter(|_| !s.solid).map(f64::from);
    let of_row = |y: usize| {
        let levels = &levels;
        let pair = [rows[y], rows[y + 1]];
        (0..width - 1).flat_map(move |x| {
            // Around the square, from its upper left corner.
            let corners = [
                value(&pair[0][x]),
                value(&pair[0][x + 1]),
                value(&pair[1][x + 1]),
                value(&pair[1][x]),
            ];
            let at = [x as f64, y as f64];
            let corners = match corners {
                [Some(a), Some(b), Some(c), Some(d)] => Some([a, b, c, d]),
                _ => None,
            };
            corners.into_iter().flat_map(move |corners| {
                let pieces = levels.iter().flat_map(move |&level| pieces(corners, level));
                pieces.map(move |piece| piece.map(|[i, j]| [at[0] + i, at[1] + j]))
            })
        })
    };
    let last = rows.len().saturating_sub(1);
    (0..last).into_par_iter().flat_map_iter(of_row).collect()
}

/// The pieces of a contour line in the unit square, whose corners are (0, 0), (1, 0), (1, 1), (0, 1).
fn pieces(corners: [f64; 4], level: f64) -> impl Iterator<Item = Segment> {
    const PLACES: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let above = corners.map(|c| c >= level);
    // Where the line crosses the sides, each from a corner to the next.
    let mut cuts = [[0.0; 2]; 4];
    let mut count = 0;
    for i in 0..4 {
        let j = (i + 1) % 4;
        if above[i] != above[j] {
            let share = (level - corners[i]) / (corners[j] - corners[i]);
            cuts[count] = [0, 1].map(|a| PLACES[i][a] + share * (PLACES[j][a] - PLACES[i][a]));
            count += 1;
        }
    }
    let [a, b, c, d] = cuts;
    let joined = (corners.iter().sum::<f64>() / 4.0 >= level) == above[0];
    let pieces = match (count, joined) {
        (2, _) => [Some([a, b]), None],
        // Corners 1 and 3 are cut off, or corners 0 and 2.
        (4, true) => [Some([a, b]), Some([c, d])],
        (4, false) => [Some([d, a]), Some([b, c])],
        _ => [None, None],
    };
    pieces.into_iter().flatten()
}

/// The in-plane velocity at the pixels of a frame.
pub(super) struct Wind {
    size: [usize; 2],
    /// Right and down; NaN in the body.
    along: [Vec<f32>; 2],
    /// The largest speed, apart from the largest hundredth.
    fastest: f64,
}

impl Wind {
    pub(super) fn new<const D: usize>(
        scene: Scene<'_, D>,
        spec: &PictureSpec,
        view: &View,
    ) -> Self {
        let component = |i: usize| {
            const OF: [Quantity; 3] = [
                Quantity::VelocityX,
                Quantity::VelocityY,
                Quantity::VelocityZ,
            ];
            let spec = PictureSpec {
                quantity: OF[spec.plane.axes[i]],
                smooth: true,
                grid: false,
                ..spec.clone()
            };
            let sign = [1.0, -1.0][i];
            let value = |s: Shade| s.value.filter(|_| !s.solid).map_or(f32::NAN, |v| sign * v);
            shades(scene, &spec, view).into_iter().map(value).collect()
        };
        Self::of(view.pixels, [0, 1].map(component))
    }

    fn of(size: [usize; 2], along: [Vec<f32>; 2]) -> Self {
        let speeds = along[0].iter().zip(&along[1]).map(|(u, v)| u.hypot(*v));
        let mut speeds: Vec<f32> = speeds.filter(|v| v.is_finite()).collect();
        let most = speeds.len().saturating_sub(1) * 99 / 100;
        let fastest = match speeds.is_empty() {
            true => 0.0,
            false => f64::from(*speeds.select_nth_unstable_by(most, f32::total_cmp).1),
        };
        Self {
            size,
            along,
            fastest,
        }
    }

    /// The distance between lines, in pixels.
    fn apart(&self) -> f64 {
        (self.size[0] as f64 * APART).max(4.0)
    }

    /// The velocity at a point, bilinear between pixels; `None` outside and at the body.
    fn at(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let [width, height] = self.size;
        if !(x >= 0.0 && y >= 0.0 && x < (width - 1) as f64 && y < (height - 1) as f64) {
            return None;
        }
        let (i, j) = (x as usize, y as usize);
        let (s, t) = (x - i as f64, y - j as f64);
        let first = j * width + i;
        let mixed = |v: &[f32]| {
            let [a, b, c, d] =
                [first, first + 1, first + width, first + width + 1].map(|k| f64::from(v[k]));
            let (upper, lower) = (a + s * (b - a), c + s * (d - c));
            upper + t * (lower - upper)
        };
        let found = [mixed(&self.along[0]), mixed(&self.along[1])];
        found.iter().all(|v| v.is_finite()).then_some(found)
    }

    /// The direction at a point where the flow is not too slow.
    fn direction(&self, at: [f64; 2]) -> Option<[f64; 2]> {
        let [u, v] = self.at(at)?;
        let speed = u.hypot(v);
        (speed > SLOWEST * self.fastest).then(|| [u / speed, v / speed])
    }

    /// Arrows on a square grid, as long as the velocity; the longest ones nearly touch.
    pub(super) fn arrows(&self) -> Vec<Segment> {
        let apart = self.apart();
        let mut found = Vec::new();
        for middle in self.grid() {
            let Some([u, v]) = self.at(middle) else {
                continue;
            };
            let scale = 0.9 * apart / self.fastest.max(f64::MIN_POSITIVE);
            let speed = u.hypot(v);
            let long = (speed * scale).min(1.4 * apart);
            if long < 2.0 {
                continue;
            }
            let half = [u, v].map(|c| c / speed * long / 2.0);
            let tip = [middle[0] + half[0], middle[1] + half[1]];
            let tail = [middle[0] - half[0], middle[1] - half[1]];
            if self.at(tip).is_none() || self.at(tail).is_none() {
                continue;
            }
            found.push([tail, tip]);
            found.extend(head(tip, [u / speed, v / speed], HEAD.min(0.4 * long)));
        }
        found
    }

    /// Points of a square grid.
    fn grid(&self) -> impl Iterator<Item = [f64; 2]> {
        let apart = self.apart();
        let counts = self.size.map(|n| (n as f64 / apart) as usize);
        let at = move |i: usize| (i as f64 + 0.5) * apart;
        (0..counts[1]).flat_map(move |j| (0..counts[0]).map(move |i| [at(i), at(j)]))
    }

    /// Streamlines, evenly apart (Jobard & Lefer 1997): new ones start beside those that are there, and last where none is
    /// near. Each has a head in its middle.
    pub(super) fn streamlines(&self) -> Vec<Segment> {
        let apart = self.apart();
        let mut taken = Taken::new(self.size, apart);
        let mut found = Vec::new();
        let middle = self.size.map(|n| n as f64 / 2.0);
        for start in std::iter::once(middle).chain(self.grid()) {
            let mut waiting = vec![start];
            while let Some(seed) = waiting.pop() {
                if !taken.is_free(seed, 0.95 * apart) {
                    continue;
                }
                let line = self.line(seed, &taken);
                if (line.len() as f64) * STEP < SHORTEST * apart {
                    continue;
                }
                line.iter().for_each(|&at| taken.add(at));
                for &at in line.iter().step_by((apart / STEP) as usize) {
                    if let Some([u, v]) = self.direction(at) {
                        for side in [apart, -apart] {
                            waiting.push([at[0] - side * v, at[1] + side * u]);
                        }
                    }
                }
                let half = line[line.len() / 2];
                if let Some(along) = self.direction(half) {
                    found.extend(head(half, along, HEAD));
                }
                found.extend(line.windows(2).map(|pair| [pair[0], pair[1]]));
            }
        }
        found
    }

    /// The streamline through a point, against the flow and with it.
    fn line(&self, seed: [f64; 2], taken: &Taken) -> Vec<[f64; 2]> {
        let (ahead, is_closed) = self.half(seed, 1.0, taken);
        if is_closed {
            return ahead;
        }
        let (mut line, _) = self.half(seed, -1.0, taken);
        line.reverse();
        line.pop();
        line.extend(ahead);
        line
    }

    /// One half of a streamline from its seed, by the midpoint rule, and whether it came back to itself. It ends close to
    /// another one, or to itself after a turn.
    fn half(&self, seed: [f64; 2], sign: f64, taken: &Taken) -> (Vec<[f64; 2]>, bool) {
        let closest = CLOSEST * self.apart();
        let most = (LONGEST * self.size[0] as f64 / STEP) as usize;
        let behind = (2.0 * self.apart() / STEP) as usize;
        let mut own = Taken::new(self.size, self.apart());
        let mut line = vec![seed];
        let moved = |at: [f64; 2], along: [f64; 2], by: f64| {
            [at[0] + sign * by * along[0], at[1] + sign * by * along[1]]
        };
        while line.len() < most {
            let at = line[line.len() - 1];
            let Some(first) = self.direction(at) else {
                break;
            };
            let Some(along) = self.direction(moved(at, first, STEP / 2.0)) else {
                break;
            };
            let next = moved(at, along, STEP);
            if self.at(next).is_none() || !taken.is_free(next, closest) {
                break;
            }
            if line.len() > behind {
                own.add(line[line.len() - behind]);
                if !own.is_free(next, closest) {
                    line.push(next);
                    return (line, true);
                }
            }
            line.push(next);
        }
        (line, false)
    }
}

/// The two sides of a head whose tip points along a direction.
fn head(tip: [f64; 2], [u, v]: [f64; 2], long: f64) -> [Segment; 2] {
    [HEAD_ANGLE, -HEAD_ANGLE].map(|angle| {
        let (sin, cos) = angle.sin_cos();
        let back = [u * cos - v * sin, u * sin + v * cos];
        [[tip[0] - long * back[0], tip[1] - long * back[1]], tip]
    })
}

/// Points of lines, in squares as wide as the distance between lines.
struct Taken {
    edge: f64,
    columns: usize,
    squares: Vec<Vec<[f64; 2]>>,
}

impl Taken {
    fn new(size: [usize; 2], edge: f64) -> Self {
        let [columns, rows] = size.map(|n| (n as f64 / edge) as usize + 1);
        Self {
            edge,
            columns,
            squares: vec![Vec::new(); columns * rows],
        }
    }

    fn add(&mut self, at: [f64; 2]) {
        let [i, j] = at.map(|x| (x / self.edge) as usize);
        if let Some(square) = self.squares.get_mut(j * self.columns + i) {
            square.push(at);
        }
    }

    /// Whether no point is closer than a distance, which is at most the edge of a square.
    fn is_free(&self, at: [f64; 2], off: f64) -> bool {
        let [i, j] = at.map(|x| (x / self.edge).max(0.0) as usize);
        let near = |p: &[f64; 2]| (p[0] - at[0]).hypot(p[1] - at[1]) < off;
        (j.saturating_sub(1)..=j + 1).all(|j| {
            (i.saturating_sub(1)..=(i + 1).min(self.columns - 1)).all(|i| {
                let square = self.squares.get(j * self.columns + i);
                !square.is_some_and(|points| points.iter().any(near))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;

    fn shade(value: Option<f32>) -> Shade {
        Shade {
            value,
            solid: value.is_none(),
            line: super::super::shades::Line::None,
        }
    }

    /// A wind over a square of 200 pixels, by pixel.
    fn wind(of: impl Fn(f64, f64) -> [f64; 2]) -> Wind {
        let at = |i: usize| of((i % 200) as f64, (i / 200) as f64);
        let along = [0, 1].map(|a| (0..40_000).map(|i| at(i)[a] as f32).collect());
        Wind::of([200, 200], along)
    }

    #[test]
    fn contours_of_a_distance_are_circles_of_their_length() {
        let distance = |i: usize| ((i % 200) as f64 - 99.5).hypot((i / 200) as f64 - 99.5);
        let shades: Vec<Shade> = (0..40_000)
            .map(|i| shade(Some(distance(i) as f32)))
            .collect();
        // At 0, 10, ..., 80: the numbers of a colour bar from 0 to 80.
        let found = contours(&shades, 200, [0.0, 80.0]);
        let of = |radius: f64| {
            let on = |p: &[f64; 2]| ((p[0] - 99.5).hypot(p[1] - 99.5) - radius).abs() < 0.2;
            let own = found.iter().filter(|[p, q]| on(p) && on(q));
            own.map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1]))
                .sum::<f64>()
        };
        let mut all = 0.0;
        for radius in [10.0, 20.0, 40.0, 80.0] {
            let exact = std::f64::consts::TAU * radius;
            assert!(
                (of(radius) / exact - 1.0).abs() < 0.01,
                "{} for {exact}",
                of(radius)
            );
            all += of(radius);
        }
        let drawn: f64 = found
            .iter()
            .map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1]))
            .sum();
        assert!(drawn > 1.5 * all, "and those between");
        // None in the body.
        let half: Vec<Shade> = (0..40_000)
            .map(|i| shade((i % 200 < 100).then(|| distance(i) as f32)))
            .collect();
        let found = contours(&half, 200, [0.0, 80.0]);
        assert!(
            !found.is_empty() && found.iter().flatten().all(|p| p[0] < 99.5),
            "in the fluid"
        );
    }

    #[test]
    fn a_saddle_is_cut_as_its_mean_says() {
        let of = |corners| pieces(corners, 0.0).collect::<Vec<_>>();
        for (low, high) in [(-1.0, 2.0), (-2.0, 1.0)] {
            let found = of([high, low, high, low]);
            assert_eq!(found.len(), 2, "two pieces");
            // Around the corners that the mean does not have: (1, 0) and (0, 1) if it is high.
            let middle = |[p, q]: Segment| [(p[0] + q[0]) / 2.0, (p[1] + q[1]) / 2.0];
            for piece in found {
                let [x, y] = middle(piece);
                assert_eq!((x - 0.5) * (y - 0.5) < 0.0, low + high > 0.0, "{piece:?}");
            }
        }
    }

    #[test]
    fn streamlines_of_a_vortex_are_circles_that_keep_their_distance() {
        let wind = wind(|x, y| [-(y - 99.5), x - 99.5]);
        let lines = wind.streamlines();
        assert!(lines.len() > 1000, "{} pieces", lines.len());
        let radius = |p: [f64; 2]| (p[0] - 99.5).hypot(p[1] - 99.5);
        // All revolutions are drawn once.
        let drawn: f64 = lines
            .iter()
            .map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1]))
            .sum();
        let most = 40_000.0 / (CLOSEST * wind.apart());
        assert!(drawn < most, "{drawn} pixels of lines");
        let sides = lines
            .iter()
            .filter(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1]) < 1.5 * STEP)
            // A circle is many steps.
            .filter(|[p, _]| radius(*p) > 8.0);
        let off = worst(sides.map(|[p, q]| (radius(*p) - radius(*q)).abs()));
        assert!(off < 0.05, "{off} pixels across the flow in a step");
        // Along a ray from the middle, lines are at least half their distance apart.
        let mut radii: Vec<f64> = (lines.iter())
            .filter(|[p, q]| (p[1] - 99.5) * (q[1] - 99.5) <= 0.0 && p[0] > 100.0)
            .map(|[p, _]| radius(*p))
            .collect();
        radii.sort_by(f64::total_cmp);
        radii.dedup_by(|a, b| (*a - *b).abs() < 1.0);
        assert!(radii.len() > 5, "{radii:?}");
        let least = 0.8 * CLOSEST * wind.apart();
        let is_apart = radii.windows(2).all(|r| r[1] - r[0] > least);
        assert!(is_apart, "less than {least} apart: {radii:?}");
    }

    #[test]
    fn lines_end_at_the_body_and_arrows_are_as_long_as_the_velocity() {
        let solid = |x: f64, y: f64| (x - 100.0).hypot(y - 100.0) < 30.0;
        let wind = wind(|x, y| match solid(x, y) {
            true => [f64::NAN; 2],
            false => [if y < 100.0 { 2.0 } else { 1.0 }, 0.0],
        });
        // Sides of heads may reach into it.
        let deep = |at: [f64; 2]| (at[0] - 100.0).hypot(at[1] - 100.0) < 30.0 - HEAD;
        let lines = [wind.streamlines(), wind.arrows()].concat();
        for at in lines.into_iter().flatten() {
            assert!(!deep(at), "{at:?} is in the body");
        }
        let arrows = wind.arrows();
        let long = |upper: bool| {
            let own = arrows
                .iter()
                .filter(|[p, q]| p[1] == q[1] && (p[1] < 99.0) == upper);
            worst(own.map(|[p, q]| q[0] - p[0]))
        };
        assert!(
            (long(true) / long(false) - 2.0).abs() < 1e-6,
            "{}",
            long(false)
        );
    }
}
