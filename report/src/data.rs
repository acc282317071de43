//! What a page shows, as plain data.

use serde::Serialize;

/// A page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportPage {
    /// The heading.
    pub title: String,
    /// A line below it.
    pub subtitle: String,
    /// The unit of lengths; empty where a file has none.
    pub unit: String,
    /// The first sentence.
    pub verdict: Option<PageVerdict>,
    /// Key figures.
    pub figures: Vec<PageFigure>,
    /// The lower and the upper corner of the domain.
    pub domain: Option<[[f64; 3]; 2]>,
    /// The body.
    pub surface: Option<PageSurface>,
    /// Ends of line segments drawn in red, two by two: rims of holes, say.
    pub marks: Vec<[f64; 3]>,
    /// Slices.
    pub slices: Vec<PageSlice>,
    /// Histories.
    pub plots: Vec<PagePlot>,
    /// Tables of text.
    pub tables: Vec<PageTable>,
    /// Lists of checks, such as the verdict's and those of the surface's health.
    pub checks: Vec<PageChecks>,
    /// Long texts, such as a case.
    pub texts: Vec<PageText>,
    /// What the foot of the page says, such as the version of the program.
    pub foot: String,
}

/// How good something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageGrade {
    /// As it should be.
    #[default]
    Ok,
    /// To be looked at.
    Warn,
    /// Wrong.
    Bad,
}

/// The first sentence of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageVerdict {
    /// Its grade.
    pub grade: PageGrade,
    /// A few words.
    pub title: String,
    /// What it rests on, and what to do.
    pub text: String,
}

/// A key figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageFigure {
    /// What it is.
    pub name: String,
    /// The number, printed.
    pub value: String,
    /// Its unit or error.
    pub unit: String,
    /// A remark.
    pub note: String,
}

/// The colours of a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageColours {
    /// From dark to light, for sizes.
    #[default]
    Sequential,
    /// Blue, white, red, for values about a middle.
    Diverging,
    /// One colour a number, for levels.
    Steps,
}

/// A triangulated surface.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageSurface {
    /// Points.
    pub points: Vec<[f64; 3]>,
    /// Corners by index, counter-clockwise from outside. Triangles with a point that does not exist are left out.
    pub triangles: Vec<[u32; 3]>,
    /// The patch of each triangle, an index of `patches`; empty where there is one.
    pub patch: Vec<u16>,
    /// Names of the patches.
    pub patches: Vec<String>,
    /// Values; the first one is shown at first.
    pub fields: Vec<PageField>,
}

/// Values on a surface.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageField {
    /// The name.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// One value a point, or one a triangle: whichever count fits. Others count as missing.
    pub values: Vec<f32>,
    /// The colours.
    pub colours: PageColours,
    /// Values at the ends of the colour bar. None: those that cover 99.8 % of the values.
    pub range: Option<[f64; 2]>,
}

/// A slice of a mesh and of a flow on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageSlice {
    /// The name, such as `y = 0`.
    pub name: String,
    /// The axes of the picture, to the right and upwards: 0, 1, 2 for x, y, z.
    pub axes: [usize; 2],
    /// The normal axis and its coordinate; none in 2D.
    pub normal: Option<(usize, f64)>,
    /// The lower and the upper corner in these axes.
    pub bounds: [[f64; 2]; 2],
    /// Blocks of the mesh that the plane cuts.
    pub blocks: Vec<PageBlock>,
    /// The edge of a block of level 0; blocks have 4 × 4 cells.
    pub block_edge: f64,
    /// Number of values to the right and upwards; zeros where there is a mesh only.
    pub size: [usize; 2],
    /// Values.
    pub fields: Vec<PageSliceField>,
    /// The time of each frame, oldest first.
    pub times: Vec<f64>,
    /// Their unit.
    pub time_unit: String,
    /// The section of the surface: segments.
    pub outline: Vec<[[f64; 2]; 2]>,
    /// Whether the section consists of closed loops, which are filled.
    pub is_closed: bool,
}

/// A square of cells in a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PageBlock {
    /// The lower corner, in edges of blocks of its level from the lower corner of the slice.
    pub at: [u32; 2],
    /// The level; each one halves the edge.
    pub level: u8,
}

/// Values on the grid of a slice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageSliceField {
    /// The name.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// A frame a time, each with the values of rows from the lower edge upwards; NaN in the body.
    pub frames: Vec<Vec<f32>>,
    /// The colours.
    pub colours: PageColours,
    /// Values at the ends of the colour bar. None: those that cover 99.8 % of the values.
    pub range: Option<[f64; 2]>,
}

/// Curves over time, in groups that share an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PagePlot {
    /// The heading.
    pub title: String,
    /// Times, or whatever is to the right.
    pub x: Vec<f64>,
    /// Its name and unit, such as `t in s`.
    pub label: String,
    /// Groups of which one is shown.
    pub groups: Vec<PlotGroup>,
    /// The window of averages at first.
    pub window: Option<[f64; 2]>,
}

/// Curves that share an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlotGroup {
    /// The name.
    pub name: String,
    /// The curves.
    pub series: Vec<PlotSeries>,
}

/// A curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlotSeries {
    /// The name.
    pub name: String,
    /// A value per x.
    pub values: Vec<f64>,
}

/// A table of text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageTable {
    /// The heading.
    pub title: String,
    /// Names of the columns; empty for a table of keys and values.
    pub head: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
    /// Whether the last row is a sum.
    pub has_sum: bool,
    /// A sentence below.
    pub note: String,
}

/// A list of checks.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageChecks {
    /// The heading.
    pub title: String,
    /// The checks.
    pub rows: Vec<PageCheck>,
}

/// A check.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageCheck {
    /// Its grade.
    pub grade: PageGrade,
    /// What was found.
    pub title: String,
    /// Details.
    pub note: String,
    /// Where, each with a button that flies there.
    pub places: Vec<PagePlace>,
}

/// A place on the surface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PagePlace {
    /// The point.
    pub at: [f64; 3],
    /// The size of what is there.
    pub size: f64,
    /// The direction to look from; zero for any.
    pub normal: [f64; 3],
}

/// A long text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PageText {
    /// The heading.
    pub title: String,
    /// The text.
    pub text: String,
}
