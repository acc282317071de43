//! One HTML page that shows a surface, slices of a flow, histories and tables in any browser, from one file, without a
//! network.
//!
//! In: a [`ReportPage`] of plain data. Out: the text of the page, the same bytes for the same data. The crate knows no
//! solver and no file format.
//!
//! ```text
//! ReportPage ─► budget   decimates until the page fits              (budget.rs, surface.rs, slice.rs)
//!            ─► pack     quantised arrays ─► one deflate stream     (pack.rs)
//!            ─► html     template + style + viewer + header + data  (html.rs, view/)
//! ```
//!
//! **Safety.** A content-security policy in the page forbids every request and every script but the viewer, by its hash.
//! Names are data in JSON, which the viewer adds as text; nothing that a file says becomes markup.
//!
//! **Accuracy.** Positions are stored to 1/131068 of the surface's box, values to 1/4094 of their range, or to 1/131068
//! where most values cover a small part of it; histories in single precision. What is not a number stays so, and is drawn
//! as missing. Everything that was decimated is said at the foot of the page.
//!
//! Frames and units: lengths in one unit, [`ReportPage::unit`]; right-handed axes x, y, z.

mod budget;
mod data;
mod html;
mod pack;
mod slice;
mod surface;

pub use data::{
    PageBlock, PageCheck, PageChecks, PageColours, PageField, PageFigure, PageGrade, PagePlace,
    PagePlot, PageSlice, PageSliceField, PageSurface, PageTable, PageText, PageVerdict, PlotGroup,
    PlotSeries, ReportPage,
};

/// The largest size of a page, bytes.
pub const LIMIT: usize = 5_000_000;
