//! Bodies of any shape: each is voxelized on its own, twice as fine as the points of elements need, and its solid cells say
//! which points it holds.

use super::case::{FluxCase, GasBodyTable};
use cutlink_amr::{Forest, dims};
use cutlink_common::{Error, device::Opened};
use cutlink_fr::{BodyGeometry, EmbeddedBodies};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{
    mesh::{
        build::{AnyPlaced, Builder, Placed},
        resolve::resolve,
    },
    options::{MeshOptions, Numbers, Root},
};
use cutlink_voxelizer::Mesh;
use std::{any::Any, sync::Arc};

/// Levels of cells below those of elements, of which a body's cells are. Cells are a quarter of a block, so an element of
/// order 3 has two cells a point along each axis.
const FINER: usize = 1;

/// The bodies of a case that have a shape.
#[derive(Debug)]
pub(super) struct Shaped<const D: usize> {
    pub(super) embedded: EmbeddedBodies<D>,
    /// The corners of the box around the first of them.
    pub(super) bounds: [[f64; D]; 2],
    /// What the user should know of them.
    pub(super) notes: Vec<String>,
}

/// Solid cells of bodies.
#[derive(Debug)]
struct SolidCells<const D: usize> {
    bodies: Vec<Solid<D>>,
    lower: [f64; D],
    /// The edge of root blocks, which are the coarsest elements.
    edge: f64,
}

#[derive(Debug)]
struct Solid<const D: usize> {
    forest: Forest<D>,
    cells: Vec<u64>,
    /// By block, whether a cell in it is solid.
    has_solid: Vec<bool>,
}

impl<const D: usize> Solid<D> {
    fn new(mesh: Mesh<D>) -> Self {
        let (forest, cells) = (mesh.forest, mesh.classes.solid);
        let mut has_solid = vec![false; forest.capacity()];
        for ids in forest.levels.iter().rev() {
            for &id in ids {
                let first = forest.first_child[id as usize] as usize;
                has_solid[id as usize] = match forest.is_leaf(id) {
                    true => cells[id as usize] != 0,
                    false => (0..dims::children(D)).any(|child| has_solid[first + child]),
                };
            }
        }
        Self {
            forest,
            cells,
            has_solid,
        }
    }

    /// The block of a level, or the leaf that it is in; and its level. `None` outside of the box.
    fn block(&self, level: u32, coord: [i32; D]) -> Option<(u32, u32)> {
        let (mut id, root) = (0, self.forest.root);
        for a in (0..D).rev() {
            let at = u32::try_from(coord[a] >> level)
                .ok()
                .filter(|&at| at < root[a])?;
            id = id * root[a] + at;
        }
        for depth in 1..=level {
            if self.forest.is_leaf(id) {
                return Some((id, depth - 1));
            }
            let at = coord.map(|c| c >> (level - depth));
            let child: u32 = (0..D).map(|a| (at[a] as u32 & 1) << a).sum();
            id = self.forest.first_child[id as usize] + child;
        }
        Some((id, level))
    }
}

impl<const D: usize> BodyGeometry<D> for SolidCells<D> {
    fn body_at(&self, point: [f64; D]) -> Option<usize> {
        let is_in = |body: &Solid<D>| {
            let finest = body.forest.finest() as u32;
            let scale = f64::from(1u32 << finest) / self.edge;
            let blocks = std::array::from_fn(|a| (point[a] - self.lower[a]) * scale);
            let coord = blocks.map(|x: f64| x.floor() as i32);
            let Some((id, level)) = body.block(finest, coord) else {
                return false;
            };
            let share = 1.0 / f64::from(1u32 << (finest - level));
            let cell = blocks.map(|x| ((x * share).fract() * f64::from(dims::EDGE)) as i32);
            body.cells[id as usize] >> dims::ravel::<D>(cell, dims::EDGE as usize) & 1 == 1
        };
        self.bodies.iter().position(is_in)
    }

    fn is_near(&self, level: u32, coord: [i32; D]) -> bool {
        let is_near = |body: &Solid<D>| match body.block(level, coord) {
            Some((id, _)) => body.has_solid[id as usize],
            None => false,
        };
        self.bodies.iter().any(is_near)
    }

    fn least_level(&self, level: u32, coord: [i32; D]) -> u32 {
        let least = |body: &Solid<D>| match body.block(level, coord) {
            Some((id, found)) => found + u32::from(!body.forest.is_leaf(id)),
            None => 0,
        };
        self.bodies.iter().map(least).max().unwrap_or(0)
    }
}

impl GasBodyTable {
    /// Whether it has a shape of its own, and is no box of elements.
    pub(super) fn is_shaped(&self) -> bool {
        self.file.is_some() || self.shape.is_some()
    }
}

impl FluxCase {
    /// The bodies that have a shape, in a box with so many levels of elements; `None` where there are none.
    ///
    /// # Errors
    /// A file that cannot be read, a surface that is open or not in the box; memory that is short.
    pub(super) fn shaped<const D: usize>(&self, levels: u32) -> Result<Option<Shaped<D>>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let (mut bodies, mut temperatures, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for body in self.bodies.iter().filter(|body| body.is_shaped()) {
            let what = format!("[[body]] \"{}\"", body.name);
            let built = self.solid_cells::<D>(body, levels as usize);
            let (solid, bounds, said) = built.map_err(|error| error.about(&what))?;
            notes.extend(said.into_iter().map(|note| format!("{what}: {note}")));
            first.get_or_insert(bounds);
            bodies.push(solid);
            temperatures.push(body.temperature);
        }
        let Some(bounds) = first else {
            return Ok(None);
        };
        let numbers = &self.domain.bounds;
        let edge = (numbers[D] - numbers[0]) / f64::from(self.domain.elements[0]);
        let geometry = SolidCells {
            bodies,
            lower: std::array::from_fn(|a| numbers[a]),
            edge,
        };
        Ok(Some(Shaped {
            embedded: EmbeddedBodies {
                geometry: Arc::new(geometry),
                temperatures,
                relaxation: self.numerics.relaxation,
            },
            bounds,
            notes,
        }))
    }

    /// The solid cells of a body, the box around it, and notes.
    #[expect(
        clippy::type_complexity,
        reason = "three things that have no name together"
    )]
    fn solid_cells<const D: usize>(
        &self,
        body: &GasBodyTable,
        levels: usize,
    ) -> Result<(Solid<D>, [[f64; D]; 2], Vec<String>), Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let blocks = dims::EDGE as u32;
        let options = MeshOptions {
            file: body.file.clone().map(|file| vec![file]),
            shape: body.shape.clone(),
            unit: body.unit,
            scale: body.scale.clone(),
            rotate: body.rotate.clone(),
            translate: body.translate.clone(),
            domain: Some(Numbers::Many(self.domain.bounds.clone())),
            root: Some(Root::Cells(
                self.domain.elements.iter().map(|n| blocks * n).collect(),
            )),
            levels: Some(levels + FINER),
            wall_distance: Some(0.0),
            robust: body.robust,
            ..MeshOptions::default()
        };
        let job = resolve(&options)?;
        let mut observer = ();
        let mut builder = Builder::new(&job, &Opened::Cpu, &mut observer);
        let placed: Box<dyn Any> = match builder.place()? {
            AnyPlaced::D2(placed) => Box::new(placed),
            AnyPlaced::D3(placed) => Box::new(placed),
        };
        let Ok(placed) = placed.downcast::<Placed<D>>() else {
            let other = if D == 2 {
                "3D, the box is 2D"
            } else {
                "2D, the box is 3D"
            };
            return Err(Error::input(format!("the surface is {other}")));
        };
        let bounds = placed.placed.bounds().unwrap_or([[0.0; D]; 2]);
        let prepared = builder.prepare(*placed)?;
        let mesh = builder.build(&prepared)?;
        Ok((Solid::new(mesh), bounds, builder.notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::example;
    use cutlink_flow::RunOptions;
    use std::{fs, path::Path};

    /// The example with a circle of diameter 1 in place of its square.
    fn circle(folder: &Path, steps: u64, change: impl Fn(String) -> String) -> FluxCase {
        let text = example::text("square-cylinder").expect("an example");
        let text = text.replace("folder = \"square\"", &format!("folder = {folder:?}"));
        let text = text.replace("box = [-0.5, -0.5, 0.5, 0.5] ", "shape = \"circle:r=0.5\" ");
        let text = text.replace("seconds = 90", &format!("steps = {steps}"));
        let text = text.replace("[output]", "[output]\nforces_every = 8");
        FluxCase::from_toml(&change(text)).expect("a case")
    }

    fn same(text: String) -> String {
        text
    }

    fn ball<const D: usize>(shape: &str, levels: u32) -> SolidCells<D>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let mut case = FluxCase::default();
        case.domain.bounds = [[-2.0; D], [4.0; D]].concat();
        case.domain.elements = vec![3; D];
        let body = GasBodyTable {
            shape: Some(shape.into()),
            ..GasBodyTable::default()
        };
        let (solid, bounds, _) = case
            .solid_cells::<D>(&body, levels as usize)
            .expect("a body");
        assert!(
            bounds[0].iter().all(|x| (x + 0.7).abs() < 1e-2),
            "{bounds:?}"
        );
        SolidCells {
            bodies: vec![solid],
            lower: [-2.0; D],
            edge: 2.0,
        }
    }

    fn is_that_ball<const D: usize>(of: &SolidCells<D>, levels: u32) {
        let cell = 2.0 / f64::from(4u32 << levels);
        let mut inside = 0;
        for i in 0..20_000_u32 {
            // A low-discrepancy sequence in the box (Roberts 2018).
            let at = |a: usize| f64::from(i) * [0.819_172_513, 0.671_043_606, 0.549_700_477][a];
            let x: [f64; D] = std::array::from_fn(|a| -2.0 + 6.0 * at(a).fract());
            let distance = x.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.7;
            let found = of.body_at(x).is_some();
            if distance.abs() > cell {
                assert_eq!(found, distance < 0.0, "{x:?}");
            }
            inside += u32::from(found);
            for level in 0..levels {
                let size = 2.0 / f64::from(1u32 << level);
                let coord = x.map(|x| ((x + 2.0) / size).floor() as i32);
                assert!(of.is_near(level, coord) || !found, "{x:?}, level {level}");
                // At the surface, elements of all levels but the finest are too coarse.
                let is_cut = distance.abs() < 1e-3 * size;
                assert!(!is_cut || of.least_level(level, coord) > level, "{x:?}");
            }
        }
        assert!(inside > 0, "a point inside");
        assert_eq!(of.body_at([-2.5; D]), None);
        assert_eq!(of.body_at([4.5; D]), None);
    }

    #[test]
    fn solid_cells_are_those_of_the_shape() {
        is_that_ball(&ball::<2>("circle:r=0.7", 4), 4);
        is_that_ball(&ball::<3>("sphere:r=0.7", 3), 3);
    }

    #[test]
    fn a_flow_around_a_circle_is_resumed_with_the_same_forces() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let options = RunOptions::default();
        let whole = circle(folders[0].path(), 64, same);
        let summary = whole.run_with(&options, &mut ()).expect("a run").json;
        circle(folders[1].path(), 32, same)
            .run_with(&options, &mut ())
            .expect("a run");
        let resume = RunOptions {
            resume: true,
            threads: 1,
            ..RunOptions::default()
        };
        circle(folders[1].path(), 64, same)
            .run_with(&resume, &mut ())
            .expect("a run");
        for name in ["forces.csv", "integrals.csv", "step_000000000064.ckpt"] {
            let [one, two] = folders
                .each_ref()
                .map(|folder| fs::read(folder.path().join(name)).expect(name));
            assert!(one == two, "{name}");
        }
        let drag = summary["patches"]["square"]["C_D"]["mean"].as_f64();
        assert!(drag > Some(0.5), "{summary}");
        let text = fs::read_to_string(folders[0].path().join("case.toml")).expect("a case");
        assert!(text.contains("shape = \"circle:r=0.5\""), "{text}");
        // The diameter, of which coefficients are made by default.
        let length: toml::Table = text.parse().expect("TOML");
        let length = length["reference"]["length"].as_float().expect("a length");
        assert!((length - 1.0).abs() < 1e-3, "{length}");
    }

    #[test]
    fn bodies_that_make_no_sense_are_refused_with_their_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let shape = "shape = \"circle:r=0.5\"";
        let cases = [
            (
                format!("{shape}\nbox = [-0.5, -0.5, 0.5, 0.5]"),
                "more than once",
            ),
            (format!("{shape}\nfile = \"a.stl\""), "more than once"),
            (format!("{shape}\ntype = \"free-slip\""), "only boxes"),
            (
                format!("{shape}\ntemperature = -1"),
                "\"square\" temperature",
            ),
            ("shape = \"sphere:r=0.5\"".into(), "a box in 3D needs 6"),
            ("shape = \"circle:r=60\"".into(), "fill the box"),
            ("shape = \"circle:r=0.001\"".into(), "holds no point"),
            (
                "file = \"there-is-no-such-file.stl\"".into(),
                "there-is-no-such-file",
            ),
            (
                "box = [-0.5, -0.5, 0.5, 0.5]\nscale = 2".into(),
                "place a file",
            ),
            (
                format!("{shape}\n[[body]]\nname = \"square\"\n{shape}"),
                "name of other",
            ),
        ];
        for (bad, words) in cases {
            let case = circle(folder.path(), 10, |text| text.replace(shape, &bad));
            let failure = case.plan(&RunOptions::default(), &mut ()).expect_err(&bad);
            let whole = format!("{failure} {:?}", failure.hint);
            assert!(whole.contains(words), "{bad}: {whole}");
        }
        let inviscid = |text: String| {
            let text = text.replace("dynamic_viscosity = 0.01", "");
            text.replace("prandtl = 0.71", "")
        };
        let failure = circle(folder.path(), 10, inviscid).plan(&RunOptions::default(), &mut ());
        let failure = failure.expect_err("no viscosity").to_string();
        assert!(failure.contains("no viscosity"), "{failure}");
        let idle = |text: String| {
            let text = text.replace("order = 3", "order = 3\nrelaxation = 0.1");
            text.replace(shape, "box = [-0.5, -0.5, 0.5, 0.5]")
        };
        let failure = circle(folder.path(), 10, idle).plan(&RunOptions::default(), &mut ());
        let failure = failure.expect_err("no use").to_string();
        assert!(failure.contains("relaxation"), "{failure}");
    }
}
