//! `--device cuda`: the same mesh as on the CPU, or a clear error.

#![cfg(feature = "cuda")]

mod kit;

use kit::Folder;
use serde_json::Value;

const SMALL: &str = "mesh --root 16 --levels 3 --no-picture --force --json";

#[test]
fn without_a_device_cuda_is_an_error_and_auto_gives_the_reason() {
    let folder = Folder::new();
    // With a driver, no device is visible.
    let why = if cfg!(has_cuda) {
        "no CUDA device"
    } else {
        "no NVIDIA driver"
    };
    for device in ["cuda", "cuda:1"] {
        for command in ["mesh", "estimate", "bench mesh"] {
            let ran = folder.run(&format!("{command} --shape sphere --device {device}"));
            ran.failed(2, &[why, "--device cpu"]);
        }
    }
    let json = folder.run(&format!("{SMALL} --shape sphere")).ok().json();
    let device = &json["device"];
    assert_eq!(device["name"], "cpu", "{device}");
    let reason = device["reason"].as_str().expect("text");
    assert!(reason.starts_with("no "), "{reason}");
    assert_eq!(device["model"], Value::Null, "{device}");
}

#[test]
#[cfg_attr(not(has_cuda), ignore = "needs an NVIDIA GPU")]
fn the_mesh_of_a_device_is_that_of_the_cpu() {
    let folder = Folder::new();
    for surface in [
        "--shape torus",
        "--shape naca:2412 --flow inside",
        "--shape cone --fill evenodd",
    ] {
        let run = |device: &str| {
            let args = format!("{SMALL} {surface} --device {device} --output {device}");
            folder.run_with_gpus(&args).ok().json()
        };
        let (cpu, cuda) = (run("cpu"), run("cuda"));
        for key in ["checksum", "blocks", "cells", "links", "thin", "levels"] {
            assert_eq!(cpu[key], cuda[key], "{surface}: {key}");
        }
        assert_eq!(cuda["device"]["name"], "cuda:0");
        assert!(cuda["device"]["model"].is_string(), "{}", cuda["device"]);
        assert!(cuda["device"]["peak_bytes"].as_u64() > Some(1 << 10));
        assert!(
            folder.read("cpu.cutlink") == folder.read("cuda.cutlink"),
            "{surface}: files"
        );
    }
    let auto = folder
        .run_with_gpus(&format!("{SMALL} --shape sphere"))
        .ok()
        .json();
    assert_eq!(auto["device"]["name"], "cuda:0", "{}", auto["device"]);
}

#[test]
#[cfg_attr(not(has_cuda), ignore = "needs an NVIDIA GPU")]
fn what_a_device_cannot_do_is_an_error() {
    let folder = Folder::new();
    let beyond = folder.run_with_gpus("mesh --shape sphere --device cuda:99");
    beyond.failed(2, &["cuda:", "99", "--device cpu"]);
    let large = "mesh --shape sphere --deviation 0.001 --levels 13 --device cuda";
    folder
        .run_with_gpus(large)
        .failed(4, &["not enough memory on the device", "--device cpu"]);
    assert!(folder.files().is_empty(), "nothing was written");
}

#[test]
#[cfg_attr(not(has_cuda), ignore = "needs an NVIDIA GPU")]
fn a_device_is_measured_by_its_own_clock_and_its_launches() {
    let folder = Folder::new();
    let run = |device: &str| {
        let args = format!("bench mesh --case torus --levels 3 --runs 3 --json --device {device}");
        folder.run_with_gpus(&args).ok().json()
    };
    let (cpu, cuda) = (run("cpu"), run("cuda"));
    let [on_cpu, on_cuda] = [&cpu["cases"][0], &cuda["cases"][0]];
    assert_eq!(on_cpu["checksum"], on_cuda["checksum"]);
    assert_eq!(on_cpu["stages"][1]["bytes"], on_cuda["stages"][1]["bytes"]);
    let stages = on_cuda["stages"].as_array().expect("stages");
    for stage in stages.iter().skip(1) {
        assert!(stage["launches"].as_u64() > Some(0), "{stage}");
    }
    let copy = |json: &Value| json["copy"]["bytes_per_second"].as_f64().expect("a rate");
    assert!(
        copy(&cuda) > copy(&cpu),
        "{} and {}",
        copy(&cuda),
        copy(&cpu)
    );
}
