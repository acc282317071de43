//! A canvas as a backend of plotters: its lines antialiased by distance, its text in the font of all pictures.

use super::canvas::{Canvas, Rgb};
use super::text::{Turn, text_height, text_width};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;

/// Units of plotters' whole coordinates in a pixel.
pub(super) const FINE: usize = 16;

/// A canvas with coordinates in units of 1 / [`FINE`] pixel.
pub(super) struct Plotter<'a> {
    canvas: &'a mut Canvas,
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl<'a> Plotter<'a> {
    pub(super) fn new(canvas: &'a mut Canvas) -> Self {
        Self { canvas }
    }

    fn segments(&mut self, segments: Vec<[[f64; 2]; 2]>, style: &impl BackendStyle) {
        let [width, height] = self.canvas.size;
        let colour = style.color();
        if colour.alpha > 0.0 {
            let thick = f64::from(style.stroke_width()) / FINE as f64;
            let frame = [0, 0, width, height];
            self.canvas.segments(frame, segments, thick, rgb(colour));
        }
    }
}

fn rgb(colour: BackendColor) -> Rgb {
    let (r, g, b) = colour.rgb;
    [r, g, b]
}

/// A coordinate in pixels.
fn pixels(x: i32) -> f64 {
    f64::from(x) / FINE as f64
}

/// The pixel at a coordinate.
fn pixel(x: i32) -> usize {
    pixels(x).round().max(0.0) as usize
}

impl DrawingBackend for Plotter<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let [width, height] = self.canvas.size.map(|n| (n * FINE) as u32);
        (width, height)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Drawn {
        let share = colour.alpha / (FINE * FINE) as f64;
        self.canvas.tint([pixel(x), pixel(y)], rgb(colour), share);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        // Lines along an axis lie on whole pixels.
        let place = |at: BackendCoord| {
            let snapped = |x: i32, along: bool| if along { pixels(x).round() } else { pixels(x) };
            [snapped(at.0, from.0 == to.0), snapped(at.1, from.1 == to.1)]
        };
        self.segments(vec![[place(from), place(to)]], style);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let (left, right) = (pixel(from.0.min(to.0)), pixel(from.0.max(to.0)));
        let (top, bottom) = (pixel(from.1.min(to.1)), pixel(from.1.max(to.1)));
        let rect = [left, top, right.max(left + 1), bottom.max(top + 1)];
        let colour = rgb(style.color());
        match fill {
            true => self.canvas.fill(rect, colour),
            false => self.canvas.outline(rect, 1, colour),
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let places: Vec<_> = path
            .into_iter()
            .map(|(x, y)| [pixels(x), pixels(y)])
            .collect();
        let segments = places.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        self.segments(segments, style);
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        words: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Drawn {
        let size = style.size() as f32 / FINE as f32;
        let (wide, high) = (text_width(words, size) as i64, text_height(size) as i64);
        let anchor = style.anchor();
        let left = match anchor.h_pos {
            HPos::Left => 0,
            HPos::Center => wide / 2,
            HPos::Right => wide,
        };
        let above = match anchor.v_pos {
            VPos::Top => 0,
            VPos::Center => high / 2,
            VPos::Bottom => high,
        };
        let at = [x, y].map(|x| pixels(x).round() as i64);
        let (at, turn) = match style.transform() {
            FontTransform::None => ([at[0] - left, at[1] - above], Turn::None),
            FontTransform::Rotate270 => ([at[0] - above, at[1] + left], Turn::Left),
            FontTransform::Rotate90 | FontTransform::Rotate180 => {
                unreachable!("plots have no text downwards or upside down")
            }
        };
        self.canvas
            .text_turned(at, size, words, rgb(style.color()), turn);
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        words: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size() as f32 / FINE as f32;
        let fine = |pixels: usize| (pixels * FINE) as u32;
        Ok((fine(text_width(words, size)), fine(text_height(size))))
    }
}
