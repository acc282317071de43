//! Compiles CUDA C++ for the build scripts of cutlink's crates.
//!
//! | what | result, in `OUT_DIR` |
//! |---|---|
//! | [`KernelBuild::compile`] | each `.cu` file of a folder as two fat binaries, for 2D and 3D (`CUTLINK_D` 2 and 3): `STEM_2.fatbin`, `STEM_3.fatbin` |
//! | [`static_library`] | one `.cu` file of host code as a static library that is linked, with the static CUDA runtime |
//! | [`KernelBuild::constants`] | a header of constants whose one source is Rust |
//! | [`export_headers`], [`KernelBuild::export`] | no file: paths of folders of headers, for the build scripts of crates that depend on this one |
//!
//! nvcc is `NVCC`, or of `CUDA_HOME` or `CUDA_PATH`, or on the `PATH`. Machine code is made for sm_80 and sm_90, and
//! PTX of the last one, from which a driver makes code for newer devices; `CUTLINK_CUDA_ARCH` (as `90`) asks for one
//! architecture alone, for shorter builds. `CUTLINK_CUDA_ARCH=ptx` asks for no machine code, which takes most of the time: a driver
//! makes it when a kernel is loaded, on the newest of these architectures and later ones. `CUTLINK_CUDA_ARCH=none` compiles nothing, for
//! lints and documentation: programs do not link so, and libraries refuse to run a kernel. Kernels are optimised where the Rust code is.
//! Warnings of nvcc are errors.
//!
//! Headers cross crates by cargo's metadata and not by relative paths, so that each crate also builds from its
//! package: a crate that has `links = "cutlink_NAME"` in its manifest exports them, and the build scripts of its direct
//! dependents name it in [`KernelBuild::headers_of`].

#![expect(
    clippy::print_stdout,
    reason = "a build script talks to cargo on its standard output"
)]

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Architectures of the machine code.
const TARGETS: [&str; 2] = ["80", NEWEST];
const NEWEST: &str = "90";

const HOW: &str = "the feature `cuda` needs nvcc of CUDA 13.0 or newer. Set NVCC to it, or CUDA_HOME to the toolkit's \
    folder, or put it on the PATH. Without an installed toolkit, `tools/cuda-wheels.sh` fetches NVIDIA's packages \
    from the Python package index into target/cuda and prints the line that sets NVCC.";

/// A folder of kernels and how to compile them.
#[derive(Debug)]
pub struct KernelBuild {
    folder: PathBuf,
    /// Folders of headers: of this crate, and of others.
    own: Vec<PathBuf>,
    foreign: Vec<PathBuf>,
    flags: Vec<&'static str>,
}

/// A constant that Rust and CUDA share.
#[derive(Debug, Clone, Copy)]
pub enum Constant {
    /// `int`: sizes of loops and of thread blocks.
    Int(i32),
    /// `uint8_t`.
    U8(u8),
    /// `uint32_t`.
    U32(u32),
    /// `size_t`.
    Size(usize),
    /// `double`, with the same bits.
    F64(f64),
}

impl fmt::Display for Constant {
    /// The declaration, up to the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int(_) => "constexpr int",
            Self::U8(_) => "constexpr uint8_t",
            Self::U32(_) => "constexpr uint32_t",
            Self::Size(_) => "constexpr size_t",
            Self::F64(_) => "constexpr double",
        })
    }
}

impl Constant {
    fn value(self) -> String {
        match self {
            Self::Int(value) => value.to_string(),
            Self::U8(value) => value.to_string(),
            Self::U32(value) => format!("{value}u"),
            Self::Size(value) => value.to_string(),
            // The shortest decimal that gives back the same bits.
            Self::F64(value) => format!("{value:?}"),
        }
    }
}

impl KernelBuild {
    /// The kernels of a folder of the crate that is built; headers are looked for there too.
    ///
    /// # Errors
    /// Where cargo does not say where the crate is.
    pub fn of(folder: &str) -> Result<Self, String> {
        let folder = in_crate(folder)?;
        Ok(Self {
            own: vec![folder.clone()],
            foreign: Vec::new(),
            flags: Vec::new(),
            folder,
        })
    }

    /// Adds the headers that a direct dependency with `links = "cutlink_NAME"` exports.
    ///
    /// # Errors
    /// Where the dependency exports none.
    pub fn headers_of(mut self, name: &str) -> Result<Self, String> {
        let key = format!("DEP_CUTLINK_{}_INCLUDE", name.to_uppercase());
        let folders = env::var_os(&key).ok_or_else(|| {
            format!("{key} is not set: the crate should depend on cutlink-{name} with the feature `cuda`")
        })?;
        self.foreign.extend(env::split_paths(&folders));
        Ok(self)
    }

    /// Adds a folder of generated headers.
    #[must_use]
    pub fn headers_in(mut self, folder: &Path) -> Self {
        self.own.push(folder.into());
        self
    }

    /// Writes the header `NAME.cuh` of constants, whose values stand in `source`, a file of the crate.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn constants(
        mut self,
        name: &str,
        source: &str,
        values: &[(&str, Constant)],
    ) -> Result<Self, String> {
        let mut text = format!(
            "// Written by the build script: `{source}`.\n\n#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n"
        );
        for (name, constant) in values {
            text += &format!("{constant} {name} = {};\n", constant.value());
        }
        println!("cargo::rerun-if-changed={source}");
        let out = out_dir()?;
        let header = out.join(format!("{name}.cuh"));
        fs::write(&header, text).map_err(|e| format!("{}: {e}", header.display()))?;
        if !self.own.contains(&out) {
            self.own.push(out);
        }
        Ok(self)
    }

    /// Tells the build scripts of direct dependents where the headers of this crate are, generated ones too. The
    /// crate's manifest has to have a key `links`.
    ///
    /// # Errors
    /// Where a path has a character that separates paths.
    pub fn export(self) -> Result<Self, String> {
        export(&self.own)?;
        Ok(self)
    }

    /// Rounds products and sums one by one, as on the CPU: for kernels whose results are the CPU's bit for bit.
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.flags.push("-fmad=false");
        self
    }

    /// Compiles each `.cu` file of the folder twice, on all processors. Half a minute on two of them for all
    /// kernels of cutlink.
    ///
    /// # Errors
    /// Where nvcc is not found or refuses a file; the text holds its messages.
    pub fn compile(&self) -> Result<(), String> {
        let nvcc = find()?;
        let out = out_dir()?;
        // Generated headers are written anew whenever the script runs.
        let folders = self.own.iter().chain(&self.foreign);
        for folder in folders.filter(|folder| **folder != out) {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
        let folder = &self.folder;
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut sources: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        sources.retain(|path| path.extension().is_some_and(|ext| ext == "cu"));
        sources.sort();
        let jobs: Vec<(PathBuf, u32)> = sources
            .into_iter()
            .flat_map(|source| [(source.clone(), 2), (source, 3)])
            .collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((source, d)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.fat_binary(&nvcc, source, *d, &out)?;
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let ended = running.into_iter().map(|run| run.join().expect("no panic"));
            // All end before the first error is returned.
            let ended: Vec<Result<(), String>> = ended.collect();
            ended.into_iter().collect()
        })
    }

    fn fat_binary(&self, nvcc: &Path, source: &Path, d: u32, out: &Path) -> Result<(), String> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let binary = out.join(format!("{stem}_{d}.fatbin"));
        let Some(architectures) = architectures() else {
            return fs::write(&binary, []).map_err(|e| format!("{}: {e}", binary.display()));
        };
        let mut command = Command::new(nvcc);
        command
            .args(["-fatbin", "-std=c++17"])
            .args(optimisation())
            .args(["-Werror=all-warnings", &format!("-DCUTLINK_D={d}")])
            .args(architectures)
            .args(&self.flags);
        for include in self.own.iter().chain(&self.foreign) {
            command.arg("-I").arg(include);
        }
        run(command.arg("-o").arg(binary).arg(source), source)
    }
}

/// As [`KernelBuild::export`], for a crate without kernels: the headers in `folder` of the crate.
///
/// # Errors
/// As [`KernelBuild::export`].
pub fn export_headers(folder: &str) -> Result<(), String> {
    export(&[in_crate(folder)?])
}

fn export(folders: &[PathBuf]) -> Result<(), String> {
    let paths = env::join_paths(folders).map_err(|e| format!("{folders:?}: {e}"))?;
    println!("cargo::metadata=INCLUDE={}", paths.display());
    Ok(())
}

/// A path of the crate that is built.
fn in_crate(folder: &str) -> Result<PathBuf, String> {
    let root = env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    Ok(PathBuf::from(root).join(folder))
}

/// Compiles one `.cu` file of host code into the static library `name`, and has it linked, together with the toolkit's
/// static runtime and the system's libraries that this needs.
///
/// # Errors
/// Where nvcc or the static runtime beside it is not found, or nvcc refuses the file.
pub fn static_library(name: &str, source: &str) -> Result<(), String> {
    println!("cargo::rerun-if-changed={source}");
    let nvcc = find()?;
    let Some(architectures) = architectures() else {
        return Ok(());
    };
    let out = out_dir()?;
    let mut command = Command::new(&nvcc);
    command
        .args(["--lib", "-std=c++17", "-O3", "-Xcompiler", "-fPIC"])
        .args(architectures)
        .arg("-o")
        .arg(out.join(format!("lib{name}.a")))
        .arg(source);
    run(&mut command, Path::new(source))?;
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static={name}");
    let home = nvcc
        .parent()
        .and_then(Path::parent)
        .ok_or("nvcc should lie in a bin folder")?;
    let folders = [
        "lib64",
        "lib",
        "targets/x86_64-linux/lib",
        "targets/sbsa-linux/lib",
    ];
    let holds = |folder: &PathBuf| folder.join("libcudart_static.a").is_file();
    let folder = folders
        .map(|folder| home.join(folder))
        .into_iter()
        .find(holds)
        .ok_or_else(|| format!("no libcudart_static.a beside {}", nvcc.display()))?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for system in ["stdc++", "dl", "rt", "pthread"] {
        println!("cargo::rustc-link-lib={system}");
    }
    Ok(())
}

/// The compiler, or how to get one.
fn find() -> Result<PathBuf, String> {
    for name in [
        "NVCC",
        "CUDA_HOME",
        "CUDA_PATH",
        "PATH",
        "CUTLINK_CUDA_ARCH",
    ] {
        println!("cargo::rerun-if-env-changed={name}");
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

/// The flags of nvcc that select architectures; none where no kernels are requested.
fn architectures() -> Option<Vec<String>> {
    let asked = env::var("CUTLINK_CUDA_ARCH").ok();
    let targets: Vec<&str> = match asked.as_deref() {
        Some("none") => return None,
        Some("ptx") => Vec::new(),
        Some(one) => vec![one],
        None => TARGETS.to_vec(),
    };
    let code = |arch: &&str| format!("-gencode=arch=compute_{arch},code=sm_{arch}");
    let newest = targets.last().unwrap_or(&NEWEST);
    let ptx = format!("-gencode=arch=compute_{newest},code=compute_{newest}");
    Some(targets.iter().map(code).chain([ptx]).collect())
}

/// The flags of nvcc for the profile's level of optimisation: the slowest kernels compile in a third of the time at level 0.
fn optimisation() -> &'static [&'static str] {
    match env::var("OPT_LEVEL").as_deref() {
        Ok("0") => &["-Xcicc", "-O0", "-Xptxas", "-O0"],
        _ => &["-O3", "-lineinfo"],
    }
}

fn out_dir() -> Result<PathBuf, String> {
    Ok(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?.into())
}

fn run(command: &mut Command, source: &Path) -> Result<(), String> {
    let nvcc = command.get_program().to_owned();
    let run = command
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
