//! Compiles CUDA C++ for build scripts: every `.cu` of a folder of kernels becomes two binaries,
//! one for the plane and one for space (`CUTLINK_D` 2 and 3), in `OUT_DIR`.
//!
//! nvcc is `NVCC`, or of `CUDA_HOME` or `CUDA_PATH`, or on the `PATH`. Machine code is made for
//! the architectures of [`TARGETS`] and the last one's PTX, from which a driver makes it for newer ones;
//! `CUTLINK_CUDA_ARCH` (as `90`) asks for one architecture alone, for shorter builds.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const TARGETS: [&str; 2] = ["80", "90"];

const HOW: &str = "the feature `cuda` needs nvcc of CUDA 13.0 or newer. Set NVCC to it, or CUDA_HOME to the toolkit's \
    folder, or put it on the PATH. Without an installed toolkit, `tools/cuda-wheels.sh` fetches NVIDIA's packages \
    from the Python package index into target/cuda and prints the line that sets NVCC.";

/// The compiler, or how to get one.
pub(crate) fn find() -> Result<PathBuf, String> {
    for name in [
        "NVCC",
        "CUDA_HOME",
        "CUDA_PATH",
        "PATH",
        "CUTLINK_CUDA_ARCH",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Some(path) = env::var_os("NVCC").map(PathBuf::from) {
        return match path.is_file() {
            true => Ok(path),
            false => Err(format!(
                "NVCC is {}, which is no file: {HOW}",
                path.display()
            )),
        };
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os);
    let folders = homes.map(|home| PathBuf::from(home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = folders.chain(env::split_paths(&path)).collect();
    let found = folders
        .iter()
        .map(|folder| folder.join("nvcc"))
        .find(|nvcc| nvcc.is_file());
    found.ok_or_else(|| format!("no nvcc found: {HOW}"))
}

/// What nvcc is told about architectures.
pub(crate) fn architectures() -> Vec<String> {
    let asked = env::var("CUTLINK_CUDA_ARCH").ok();
    let targets: Vec<&str> = match &asked {
        Some(one) => vec![one],
        None => TARGETS.to_vec(),
    };
    let code = |arch: &&str| format!("-gencode=arch=compute_{arch},code=sm_{arch}");
    let newest = targets.last().expect("there should be a target");
    let ptx = format!("-gencode=arch=compute_{newest},code=compute_{newest}");
    targets.iter().map(code).chain([ptx]).collect()
}

/// Products and sums are rounded one by one, as on the CPU: for kernels whose results are the
/// CPU's bit for bit.
#[allow(dead_code, reason = "not every script asks for it")]
pub(crate) const EXACT: &[&str] = &["-fmad=false"];

/// Compiles the kernels of `folder`, with `includes` to look for headers in and further `flags`.
/// All paths are relative to the crate.
#[allow(dead_code, reason = "the script of this crate compiles no kernels")]
pub(crate) fn compile(folder: &str, includes: &[&str], flags: &[&str]) -> Result<(), String> {
    let nvcc = find()?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for include in includes.iter().chain([&folder]) {
        println!("cargo:rerun-if-changed={include}");
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("{folder}: {e}"))?;
    let mut sources: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    sources.retain(|path| path.extension().is_some_and(|ext| ext == "cu"));
    sources.sort();
    let jobs: Vec<(PathBuf, u32)> = sources
        .into_iter()
        .flat_map(|source| [(source.clone(), 2), (source, 3)])
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for batch in jobs.chunks(threads) {
        let compile = |(source, d): &(PathBuf, u32)| {
            let mut args: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
            args.extend(includes.iter().map(|include| format!("-I{include}")));
            one(&nvcc, source, *d, &args, &out)
        };
        let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let running: Vec<_> = batch
                .iter()
                .map(|job| scope.spawn(move || compile(job)))
                .collect();
            running
                .into_iter()
                .map(|run| run.join().expect("no panic"))
                .collect()
        });
        results.into_iter().collect::<Result<Vec<()>, String>>()?;
    }
    Ok(())
}

fn one(nvcc: &Path, source: &Path, d: u32, args: &[String], out: &Path) -> Result<(), String> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let to = out.join(format!("{stem}_{d}.fatbin"));
    let run = Command::new(nvcc)
        .args([
            "-fatbin",
            "-std=c++17",
            "-O3",
            "-lineinfo",
            "-Werror=all-warnings",
        ])
        .arg(format!("-DCUTLINK_D={d}"))
        .args(architectures())
        .args(args)
        .arg("-o")
        .arg(&to)
        .arg(source)
        .output()
        .map_err(|e| format!("{}: {e}: {HOW}", nvcc.display()))?;
    if run.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&run.stderr);
    let note = String::from_utf8_lossy(&run.stdout);
    Err(format!(
        "nvcc failed on {}:\n{note}{text}",
        source.display()
    ))
}
