//! Sets the cfgs of the tests for what this machine has: scans, mountable small disks, OpenFOAM, an NVIDIA GPU. Does nothing outside
//! a checkout of the workspace.
//!
//! Scans are searched for as in `tests/build.rs`, which explains why only existing paths are watched.

use std::path::Path;
use std::process::{Command, Stdio};

fn main() -> Result<(), String> {
    println!("cargo:rustc-check-cfg=cfg(has_scans, has_small_disks, has_cuda, has_openfoam)");
    println!("cargo:rerun-if-changed=build.rs");
    if !Path::new("../tests/build.rs").exists() {
        return Ok(());
    }
    if can_mount() {
        println!("cargo:rustc-cfg=has_small_disks");
    }
    println!("cargo:rerun-if-env-changed=WM_PROJECT_DIR");
    if has_openfoam() {
        println!("cargo:rustc-cfg=has_openfoam");
    }
    // Created by the driver; present only with a device.
    const GPU: &str = "/dev/nvidia0";
    if Path::new(GPU).exists() {
        println!("cargo:rerun-if-changed={GPU}");
        println!("cargo:rustc-cfg=has_cuda");
    }
    const SCANS: &str = "../../shared/meshes";
    println!("cargo:rerun-if-env-changed=CI");
    if Path::new(SCANS).is_dir() {
        println!("cargo:rerun-if-changed={SCANS}");
        println!("cargo:rustc-cfg=has_scans");
    } else if std::env::var_os("CI").is_some() {
        return Err(format!(
            "CI is set but {SCANS} is missing: tests on scans would not run"
        ));
    }
    Ok(())
}

/// Whether a private tmpfs can be mounted.
fn can_mount() -> bool {
    let try_it = "mount -t tmpfs -o size=64k tmpfs /tmp";
    Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", try_it])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether OpenFOAM's `checkMesh` is on the path, in an environment where it runs: as its `etc/bashrc` sets it.
fn has_openfoam() -> bool {
    let is_set = std::env::var_os("WM_PROJECT_DIR").is_some();
    let found = Command::new("checkMesh")
        .arg("-help")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    is_set && found.is_ok_and(|status| status.success())
}
