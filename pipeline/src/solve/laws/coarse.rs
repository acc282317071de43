//! Laws of what is coarse: errors that fall with the cells alone, whatever the time step. They are bounds, so that a flow is doubtful at most.

use super::{BARS, Drive, Laws, SphereLaws, percent, two_digits};
use cutlink_flow::verdict::Check;
use cutlink_solver::{Collision, Les, WallScheme};

/// Reynolds numbers below which a flow along walls, and one around a body, is taken to be laminar.
const LAMINAR: [f64; 2] = [2000.0, 200.0];

/// Error over the inverse square of the cells across pores, 4 V / S: of the resistance of a bed.
const OF_PORES: f64 = 1.0;

/// The same of the force on a body that moves through fluid at rest.
const OF_BODIES: f64 = 2.5;

/// The share of the densest packing of spheres.
const DENSEST: f64 = 0.74;

/// Error of the drag over the inverse square of the cells between spheres: cubic arrays whose share is 0.34 are 19, 7 and 5 % too
/// permeable with 2.8, 4.2 and 5.6 such cells.
const OF_GAPS: f64 = 1.5;

/// An error, and of what.
type Coarse = Option<(f64, String)>;

impl Laws {
    /// The largest error of what is coarse, beside that of the walls.
    pub(super) fn coarseness(&self) -> Option<Check> {
        let all = [
            self.coarse_passage(),
            self.coarse_body(),
            self.coarse_spheres(),
            self.coarse_cavity(),
            self.coarse_vessel(),
            self.steps_of_walls(),
        ];
        let largest = all.into_iter().flatten();
        let (value, what) = largest.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Check {
            name: "resolution",
            value,
            bars: [BARS[0], f64::INFINITY],
            what: format!("{what}, hence an error of up to {}", percent(value)),
            remedy: (value > BARS[0]).then(|| "more cells across it".into()),
        })
    }

    fn coarse_passage(&self) -> Coarse {
        let passage = self.passage?;
        let is_open = matches!(self.drive, Drive::Inlet | Drive::Pressure);
        let is_cumulant = matches!(self.collision, Collision::Cumulant { .. });
        let (factor, where_it_is) = match (is_open, is_cumulant && self.dimensions == 3) {
            (true, _) => (3.0, "between openings"),
            (false, _) if self.offset.is_some() => (3.0, "between cut links"),
            (false, true) => (2.0, "with collision = \"cumulant\""),
            (false, false) => return None,
        };
        let cells = two_digits(passage);
        let what = format!("{cells} cells across the narrowest passage {where_it_is}");
        Some((factor / (passage * passage), what))
    }

    /// Spheres that move with the flow: what is left of their place (decision 073), what a viscosity beyond that of a step does to it, their
    /// boundary layers, and the gaps between them, as far as they are from the densest packing.
    fn coarse_spheres(&self) -> Coarse {
        let SphereLaws { viscosity, known } = self.spheres?;
        let [cells, share] = known?;
        let re = self.physics.lattice_velocity * cells / viscosity;
        let layers = re.min(LAMINAR[1] / 2.0).sqrt() / (2.0 * cells * cells);
        let gap = cells * ((DENSEST / share).cbrt() - 1.0).max(0.02);
        let between = OF_GAPS / (gap * gap);
        let value =
            3.8 / cells.powi(3) + 1.3 * viscosity * viscosity / cells + layers + between.min(1.0);
        let what = format!(
            "{} of the finest cells across the smallest sphere and some {} between spheres, with a viscosity of {} cells squared a step",
            two_digits(cells),
            two_digits(gap),
            two_digits(viscosity)
        );
        Some((value, what))
    }

    /// A body in a stream, by the geometric mean of its extents: slender ones have boundary layers as long as their chords. Or bodies
    /// that a force drives fluid past. What is turbulent is not measured: there the law stays that of a
    /// Reynolds number of 100.
    fn coarse_body(&self) -> Coarse {
        let ([_, gap], across) = self.body.zip(self.extent)?;
        if self.bed.is_some() {
            let what = format!("{} cells across the pores of the bed", two_digits(gap));
            return Some((OF_PORES / (gap * gap), what));
        }
        match self.drive {
            Drive::Inlet => {
                let fastest = self.mean.max(self.fastest);
                let re = fastest * across * self.finest / self.physics.viscosity;
                let value = 0.5 * re.min(100.0).sqrt() / (across * across);
                Some((
                    value,
                    format!("{} cells across the body", two_digits(across)),
                ))
            }
            Drive::Force => {
                let what = format!("{} cells across the gap beside the body", two_digits(gap));
                Some((2.5 / (gap * gap), what))
            }
            _ => None,
        }
    }

    /// A cavity below a lid.
    fn coarse_cavity(&self) -> Coarse {
        let cells = self.cavity?;
        let re = self.fastest * cells * self.finest / self.physics.viscosity;
        let factor = match self.collision {
            Collision::Kbc => 0.03,
            _ => 0.12,
        };
        let what = format!("{} cells across the cavity", two_digits(cells));
        Some((factor * re / (cells * cells), what))
    }

    /// Fluid that walls by cut links drive, or bodies that move.
    fn coarse_vessel(&self) -> Coarse {
        self.offset.filter(|_| self.drive == Drive::Walls)?;
        if let Some([body, gap]) = self.body.filter(|_| self.moves) {
            let cells = body.min(gap);
            let what = format!(
                "{} cells across the body that moves or the gap beside it",
                two_digits(cells)
            );
            return Some((OF_BODIES / (cells * cells), what));
        }
        let cells = self.narrowest()?;
        let what = format!(
            "{} cells between walls that turn the fluid",
            two_digits(cells)
        );
        Some((6.0 / (cells * cells), what))
    }

    /// Walls that are moved to halfway, in steps.
    fn steps_of_walls(&self) -> Coarse {
        let offset = self
            .offset
            .filter(|_| self.wall == WallScheme::BounceBack)?;
        let cells = self.narrowest()?;
        let what = format!(
            "wall = \"bounce-back\" moves walls by {} cells in the mean, of {} cells across",
            two_digits(offset),
            two_digits(cells)
        );
        Some((4.0 * offset / cells, what))
    }

    /// What the eddy viscosity of Smagorinsky adds to a laminar flow: (C Δx)² |S| / ν, with the shear 6 U / H of a parabola, U √Re / D of a
    /// boundary layer, and √2 · 2 π U / λ of vortices.
    pub(super) fn eddies(&self) -> Option<Check> {
        let Les::Smagorinsky { constant } = self.les else {
            return None;
        };
        let speed = self.mean.max(self.fastest).max(self.physics.velocity);
        let reynolds = |cells: f64| speed * cells * self.finest / self.physics.viscosity;
        let edge = self.edge.filter(|_| self.drive == Drive::Nothing);
        let (cells, shear, most) = match (self.passage.or(self.cavity), self.body, edge) {
            (Some(cells), ..) => (cells, 6.0, LAMINAR[0]),
            (None, Some([body, _]), _) => (body, reynolds(body).sqrt(), LAMINAR[1]),
            (None, None, Some(edge)) => (edge, 9.0, LAMINAR[0]),
            (None, None, None) => return None,
        };
        let re = reynolds(cells);
        let value = constant * constant * shear * re / (cells * cells);
        (re < most).then(|| Check {
            name: "eddy viscosity",
            value,
            bars: [BARS[0], f64::INFINITY],
            what: format!(
                "les = \"smagorinsky\" adds up to {} to the viscosity of a laminar flow",
                percent(value)
            ),
            remedy: (value > BARS[0]).then(|| "les = \"none\", or more cells".into()),
        })
    }

    /// Cells across the narrowest of passages, bodies and gaps, of what is known.
    fn narrowest(&self) -> Option<f64> {
        let width = self.hydraulic.map(|[diameter, _]| match self.dimensions {
            // Between two lines, 4 V / S is twice their distance.
            2 => 0.5 * diameter / self.finest,
            _ => diameter / self.finest,
        });
        let [body, gap] = self.body.map_or([None; 2], |of| of.map(Some));
        let widths = [self.passage, width, body, gap].into_iter().flatten();
        widths.min_by(f64::total_cmp)
    }
}
