//! Tells the tests what is there: the scans, as `mesher` does, small disks to fill, an NVIDIA GPU.

use std::path::Path;
use std::process::{Command, Stdio};

#[path = "../mesher/build.rs"]
mod scans;

fn main() -> Result<(), String> {
    println!("cargo:rustc-check-cfg=cfg(has_small_disks)");
    println!("cargo:rerun-if-changed=build.rs");
    if can_mount() {
        println!("cargo:rustc-cfg=has_small_disks");
    }
    // The driver's: there with a device, gone without.
    const GPU: &str = "/dev/nvidiactl";
    println!("cargo:rustc-check-cfg=cfg(has_gpu)");
    if Path::new(GPU).exists() {
        println!("cargo:rustc-cfg=has_gpu");
    }
    scans::main()
}

/// Whether a file system in memory can be mounted where nobody else sees it.
fn can_mount() -> bool {
    let try_it = "mount -t tmpfs -o size=64k tmpfs /tmp";
    Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", try_it])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
