//! Compiles the parallel primitives for CUDA, if asked for.

#[cfg(feature = "cuda")]
#[path = "nvcc.rs"]
mod nvcc;

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    const SOURCE: &str = "src/cuda/primitives.cu";
    println!("cargo:rerun-if-changed={SOURCE}");
    let nvcc = nvcc::find()?;
    let out = std::env::var("OUT_DIR").map_err(|e| e.to_string())?;
    let run = std::process::Command::new(&nvcc)
        .args(["--lib", "-std=c++17", "-O3", "-Xcompiler", "-fPIC"])
        .args(nvcc::architectures())
        .args(["-o", &format!("{out}/libcutlink_primitives.a"), SOURCE])
        .output()
        .map_err(|e| format!("{}: {e}", nvcc.display()))?;
    if !run.status.success() {
        let text = String::from_utf8_lossy(&run.stderr);
        return Err(format!("nvcc failed on {SOURCE}:\n{text}"));
    }
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=cutlink_primitives");
    let home = nvcc
        .parent()
        .and_then(std::path::Path::parent)
        .ok_or("nvcc should lie in a bin folder")?;
    let folders = [
        "lib64",
        "lib",
        "targets/x86_64-linux/lib",
        "targets/sbsa-linux/lib",
    ];
    let holds = |folder: &std::path::PathBuf| folder.join("libcudart_static.a").is_file();
    let folder = folders
        .map(|folder| home.join(folder))
        .into_iter()
        .find(holds);
    let folder =
        folder.ok_or_else(|| format!("no libcudart_static.a beside {}", nvcc.display()))?;
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=cudart_static");
    for system in ["stdc++", "dl", "rt", "pthread"] {
        println!("cargo:rustc-link-lib={system}");
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
