//! `cutlink pack`: a bed of grains in a box or a closed surface.

use crate::cli::Output;
use crate::console::Console;
use clap::{Args, ValueEnum};
use cutlink::mesh::report::{bytes, counted, grouped, short};
use cutlink::options::Numbers;
use cutlink::{Error, ErrorKind, Observer, output, pool};
use cutlink_grains::pack::{
    PackContainer, PackOptions, PackProgress, PackSize, Packed, pack, spheres_surface, write_csv,
    write_ply,
};
use cutlink_mesher::placement::Unit;
use cutlink_mesher::{read, write_stl::write_stl};
use cutlink_voxelizer::vtk::{About, Field, Vtp};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

const PACK_EXAMPLES: &str = "\
Examples:
  cutlink pack --box 0,0,0,0.01,0.01,0.02 --sizes 1mm --count 500 --output bed.csv
  cutlink pack --box 0,0,0,0.5,0.5,1 --unit mm --periodic x,y --sizes 30um:3,40um:4 --output bed.vtp
  cutlink pack tube.stl --unit mm --sizes 3mm --output bed.stl --output bed.csv; cutlink mesh bed.stl

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink pack`.
#[derive(Debug, Args)]
#[command(after_help = PACK_EXAMPLES)]
#[command(group = clap::ArgGroup::new("container").required(true).args(["file", "walls"]))]
pub struct PackArgs {
    /// A closed surface, which is filled: any format that `cutlink mesh` reads
    pub file: Option<PathBuf>,

    /// A box instead of a surface, in the unit of --unit: x0,y0,z0,x1,y1,z1
    #[arg(
        id = "walls",
        long = "box",
        value_name = "BOX",
        allow_hyphen_values = true
    )]
    pub walls: Option<Numbers>,

    /// Unit of the surface or the box: um, mm, cm, m, in, ft, km [default: m]
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<Unit>,

    /// Axes along which the box is periodic: x, y or x,y
    #[arg(
        long,
        value_enum,
        value_name = "AXES",
        value_delimiter = ',',
        conflicts_with = "file"
    )]
    pub periodic: Vec<Across>,

    /// Diameters and shares, such as 1mm or 30um:3,40um:4; units um, mm, cm, m, in, ft, km [default unit: m; default share: 1]
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        required = true,
        help_heading = "Grains"
    )]
    pub sizes: Vec<SizeArg>,

    /// What shares are of
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "number",
        help_heading = "Grains"
    )]
    pub shares: ShareOf,

    /// Number of grains [default: as many as fit]
    #[arg(long, value_name = "N", help_heading = "Grains")]
    pub count: Option<usize>,

    /// Seed of the random places; the same seed gives the same bits
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Grains")]
    pub seed: u64,

    /// Friction between grains, and with walls: 0 for dense beds, 0.5 and more for loose ones
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "MU",
        default_value_t = 0.3,
        help_heading = "Grains"
    )]
    pub friction: f64,

    /// Rolling friction, for grains that are not round
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "MU",
        default_value_t = 0.0,
        help_heading = "Grains"
    )]
    pub rolling: f64,

    /// File to write, by extension: .csv, .ply (points with radius), .stl (all spheres), .vtp; repeatable
    #[arg(
        short,
        long,
        value_name = "PATH",
        required = true,
        help_heading = "Output"
    )]
    pub output: Vec<PathBuf>,

    /// Maximum deviation of the facets of an .stl from the spheres, as a share of the radius; volumes are exact
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "SHARE",
        default_value_t = 0.02,
        help_heading = "Output"
    )]
    pub deviation: f64,

    /// Overwrite existing outputs
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub report: Output,
}

/// An axis across gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Across {
    X,
    Y,
}

/// What the shares of sizes are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShareOf {
    /// The number of grains
    Number,
    /// The volume of all grains
    Volume,
}

/// A diameter with its share, as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeArg(PackSize);

impl FromStr for SizeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (size, share) = text.split_once(':').unwrap_or((text, "1"));
        let split = size.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E');
        let (number, unit) = size.split_at(split.unwrap_or(size.len()));
        let unit = match unit {
            "" => Unit::M,
            unit => unit
                .parse()
                .map_err(|_| format!("'{unit}' is no unit: um, mm, cm, m, in, ft, km"))?,
        };
        let positive = |text: &str| -> Result<f64, String> {
            let value = text.trim().parse::<f64>().ok();
            let value = value.filter(|x| *x > 0.0 && x.is_finite());
            value.ok_or_else(|| format!("'{text}' is no positive number"))
        };
        Ok(Self(PackSize {
            diameter: positive(number)? * unit.metres(),
            share: positive(share)?,
        }))
    }
}

/// The object that `cutlink pack --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PackReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub container: String,
    pub grains: usize,
    pub sizes: Vec<PackedSize>,
    pub seed: u64,
    pub friction: f64,
    pub rolling: f64,
    pub density: PackedDensity,
    pub volume: f64,
    pub height: f64,
    pub overlap: f64,
    pub coordination: f64,
    pub rounds: u32,
    pub steps: u64,
    pub threads: usize,
    pub ms: f64,
    pub outputs: Vec<PackOutput>,
}

/// A size and its grains.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PackedSize {
    pub diameter: f64,
    pub grains: usize,
}

/// Solid fractions.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PackedDensity {
    pub container: f64,
    pub core: Option<f64>,
}

/// A file that was written.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PackOutput {
    pub path: PathBuf,
    pub bytes: u64,
}

/// The formats of a bed.
#[derive(Debug, Clone, Copy)]
enum PackFormat {
    Csv,
    Ply,
    Stl,
    Vtp,
}

/// Runs the command.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &PackArgs) -> Result<(), Error> {
    let console = Console::new(args.report);
    let mut formats = Vec::new();
    for path in &args.output {
        formats.push(format(path)?);
        output::check(path, args.force, args.file.as_deref())?;
    }
    if !(args.deviation > 0.0 && args.deviation <= 0.5) {
        let text = format!(
            "--deviation is {}, not above 0 and at most 0.5",
            args.deviation
        );
        return Err(Error::input(text));
    }
    let mut observer = console.clone();
    let report = pool::install(args.threads, || run(args, &formats, &mut observer))?;
    console.show(&report.text())?;
    console.object(&report)
}

fn format(path: &Path) -> Result<PackFormat, Error> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "csv" => Ok(PackFormat::Csv),
        "ply" => Ok(PackFormat::Ply),
        "stl" => Ok(PackFormat::Stl),
        "vtp" => Ok(PackFormat::Vtp),
        _ => {
            let text = format!("{}: the extension tells no format", path.display());
            Err(Error::input(text).hint("use .csv, .ply, .stl or .vtp"))
        }
    }
}

fn run(
    args: &PackArgs,
    formats: &[PackFormat],
    observer: &mut Console,
) -> Result<PackReport, Error> {
    let start = Instant::now();
    let (container, name) = container(args, observer)?;
    let options = PackOptions {
        sizes: args.sizes.iter().map(|size| size.0).collect(),
        by_volume: args.shares == ShareOf::Volume,
        count: args.count,
        seed: args.seed,
        friction: args.friction,
        rolling: args.rolling,
    };
    if let Some(count) = args.count {
        observer.begin(count as u64);
    }
    let mut before = 0;
    let packed = pack(&container, &options, &mut |progress: PackProgress| {
        let status = format!(
            "round {}, {} grains, energy {:.1e}",
            progress.round, progress.grains, progress.energy
        );
        observer.advance((progress.grains - before) as u64, &status);
        before = progress.grains;
        true
    });
    observer.end();
    let packed = packed?;
    let mut outputs = Vec::new();
    for (path, format) in args.output.iter().zip(formats) {
        outputs.push(PackOutput {
            path: path.clone(),
            bytes: write(path, *format, args, &packed)?,
        });
    }
    let sizes = options.sizes.iter().zip(&packed.counts);
    Ok(PackReport {
        schema: cutlink::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "pack",
        container: name,
        grains: packed.grains.len(),
        sizes: sizes
            .map(|(size, &grains)| PackedSize {
                diameter: size.diameter,
                grains,
            })
            .collect(),
        seed: args.seed,
        friction: args.friction,
        rolling: args.rolling,
        density: PackedDensity {
            container: packed.density.container,
            core: packed.density.core,
        },
        volume: packed.density.volume,
        height: packed.density.height,
        overlap: packed.overlap,
        coordination: packed.coordination,
        rounds: packed.rounds,
        steps: packed.steps,
        threads: rayon::current_num_threads(),
        ms: 1e3 * start.elapsed().as_secs_f64(),
        outputs,
    })
}

/// The container in metres, and its name.
fn container(args: &PackArgs, observer: &mut Console) -> Result<(PackContainer, String), Error> {
    let metres = args.unit.unwrap_or_default().metres();
    if let Some(walls) = &args.walls {
        let given = walls.as_slice();
        let numbers: [f64; 6] = given.try_into().map_err(|_| {
            let text = format!("--box has {} numbers", given.len());
            Error::input(text).hint("give six: x0,y0,z0,x1,y1,z1")
        })?;
        let corner = |from: usize| std::array::from_fn(|a| metres * numbers[from + a]);
        let container = PackContainer::Box {
            lower: corner(0),
            upper: corner(3),
            periodic: [Across::X, Across::Y].map(|axis| args.periodic.contains(&axis)),
        };
        let texts: Vec<String> = given.iter().map(f64::to_string).collect();
        return Ok((container, format!("box {}", texts.join(","))));
    }
    let path = args.file.as_deref().unwrap_or_else(|| Path::new("-"));
    let loaded = read::read_surface(path)?;
    for note in &loaded.report.notes {
        observer.note(note);
    }
    let mut surface = loaded.surface;
    let corners = surface.vertices.iter_mut().flatten();
    corners.for_each(|x| *x *= metres);
    Ok((
        PackContainer::Surface(Box::new(surface)),
        path.display().to_string(),
    ))
}

fn write(path: &Path, format: PackFormat, args: &PackArgs, packed: &Packed) -> Result<u64, Error> {
    let grains = &packed.grains;
    let failed = |error: std::io::Error| output::failed(path, &error);
    match format {
        PackFormat::Csv => {
            let written = output::write(path, args.force, |out| {
                write_csv(out, grains).map_err(failed)
            });
            Ok(written?.1)
        }
        PackFormat::Ply => {
            let written = output::write(path, args.force, |out| {
                write_ply(out, grains).map_err(failed)
            });
            Ok(written?.1)
        }
        PackFormat::Stl => {
            let surface = spheres_surface(grains, args.deviation)?;
            let written = output::write_by_path(path, args.force, |at| {
                write_stl(at, &surface).map_err(failed)
            });
            Ok(written?.1)
        }
        PackFormat::Vtp => {
            let points: Vec<[f64; 3]> = grains.iter().map(|grain| grain.center).collect();
            let vertices: Vec<[u32; 1]> = (0..grains.len() as u32).map(|i| [i]).collect();
            let diameters: Vec<f32> = grains.iter().map(|g| 2.0 * g.radius as f32).collect();
            let fields = [Field {
                name: "diameter",
                components: 1,
                values: &diameters,
            }];
            let about = About {
                time: None,
                notes: &[("diameter", "m")],
            };
            let broken = |error: cutlink_voxelizer::vtk::VtkError| {
                Error::new(ErrorKind::Runtime, format!("{}: {error}", path.display()))
            };
            let file = Vtp::new(&points, &vertices, &fields, &about).map_err(broken)?;
            let written = output::write(path, args.force, |out| file.write(out).map_err(broken));
            Ok(written?.1)
        }
    }
}

impl PackReport {
    fn text(&self) -> String {
        let sizes: Vec<String> = self
            .sizes
            .iter()
            .map(|size| {
                format!(
                    "{} of {} m",
                    grouped(size.grains as u64),
                    short(size.diameter)
                )
            })
            .collect();
        let core = match self.density.core {
            Some(core) => format!("{core:.4} in the core, "),
            None => String::new(),
        };
        let files: Vec<String> = self
            .outputs
            .iter()
            .map(|file| format!("{} ({})", file.path.display(), bytes(file.bytes)))
            .collect();
        format!(
            "container {}\ngrains    {}: {}\ndensity   {core}{:.4} of the container\nheight    {} m\ncontacts  {:.2} a \
             grain, overlaps up to {:.2} % of the radius\neffort    {} rounds, {} steps, {:.1} s on {}\nfiles     {}\n",
            self.container,
            grouped(self.grains as u64),
            sizes.join(", "),
            self.density.container,
            short(self.height),
            self.coordination,
            100.0 * self.overlap,
            self.rounds,
            grouped(self.steps),
            1e-3 * self.ms,
            counted(self.threads as u64, "thread"),
            files.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_shares() {
        let parsed = |text: &str| text.parse::<SizeArg>().map(|size| size.0);
        let close = |text: &str, diameter: f64, share: f64| {
            let size = parsed(text).expect(text);
            assert!(
                (size.diameter / diameter - 1.0).abs() < 1e-15,
                "{text}: {size:?}"
            );
            assert_eq!(size.share, share, "{text}");
        };
        close("1mm", 1e-3, 1.0);
        close("30um:3", 30e-6, 3.0);
        close("2.5e-3:0.5", 2.5e-3, 0.5);
        close("1e2um", 1e-4, 1.0);
        close("0.1in", 0.00254, 1.0);
        for text in [
            "", "mm", "1parsec", "1mm:", "1mm:0", "-1mm", "nan", "1mm:x", "0",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
