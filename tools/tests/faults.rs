//! Faults of the machine: a kill at any moment, a full disk, a read-only folder, too little memory. No user data is
//! lost, no partial file has a user's file name, and the exit code and the message give the reason.

#![cfg(target_os = "linux")]

mod kit;

use kit::{Folder, Ran, solid, stl};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

const MESH: &str = "mesh --shape sphere --root 32 --levels 4 --force --threads 2";

/// The two outputs of a run under their names.
fn outputs(folder: &Folder) -> [Vec<u8>; 2] {
    [folder.read("sphere.cutlink"), folder.read("sphere.png")]
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let folder = Folder::new();
    let begin = Instant::now();
    folder.run(MESH).ok();
    let whole = begin.elapsed();
    let new = outputs(&folder);
    folder
        .run("mesh --shape sphere --root 16 --levels 2 --force")
        .ok();
    let old = outputs(&folder);
    assert!(old[0] != new[0] && old[1] != new[1], "they differ");

    const KILLS: u32 = 60;
    let (mut killed, mut left_over) = (0, 0);
    for kill in 0..KILLS {
        for (name, bytes) in ["sphere.cutlink", "sphere.png"].iter().zip(&old) {
            fs::write(folder.path(name), bytes).expect("a writable folder");
        }
        let mut run = Command::new(env!("CARGO_BIN_EXE_cutlink"))
            .args(MESH.split_whitespace())
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("cutlink should start");
        // Golden-section steps: spread over the whole run in any number of them.
        let share = (f64::from(kill) * 0.618_033_988_75).fract();
        std::thread::sleep(whole.mul_f64(1.1 * share));
        run.kill().expect("it is ours to kill");
        killed += u32::from(!run.wait().expect("a child").success());

        for ((name, found), (old, new)) in ["mesh", "picture"]
            .iter()
            .zip(outputs(&folder))
            .zip(old.iter().zip(&new))
        {
            assert!(found == *old || found == *new, "kill {kill}: half a {name}");
        }
        for name in folder.files() {
            if name.starts_with(".cutlink-") {
                left_over += 1;
                fs::remove_file(folder.path(&name)).expect("it is ours to remove");
            } else {
                assert!(name.starts_with("sphere."), "kill {kill} left {name}");
            }
        }
    }
    assert!(
        killed > KILLS / 2,
        "only {killed} of {KILLS} runs were killed"
    );
    assert!(
        left_over > 0,
        "no kill met a file being written: it shows nothing"
    );
    folder.run(MESH).ok();
    assert_eq!(outputs(&folder), new, "the next run is as good as any");
}

#[test]
#[cfg_attr(
    not(has_small_disks),
    ignore = "needs leave to mount a tmpfs (unshare)"
)]
fn a_full_disk_keeps_what_is_on_it() {
    full_disk(MESH);
    // Of as many threads, files in memory are mapped.
    full_disk(&MESH.replace("--threads 2", "--threads 5"));
}

fn full_disk(mesh: &str) {
    let folder = Folder::new();
    fs::create_dir(folder.path("disk")).expect("a folder");
    // All in one shell, whose end unmounts the disk.
    let line = format!(
        "exec unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=64k tmpfs disk
         echo mine > disk/sphere.cutlink
         $CUTLINK {mesh} --output disk/sphere; code=$?
         ls -A disk; cat disk/sphere.cutlink; exit $code'"
    );
    let ran = folder.shell(&line);
    let words = ["cannot write disk/sphere.cutlink", "No space left", "hint"];
    let ran = ran.failed(1, &words);
    let kept = "sphere.cutlink\nmine\n";
    assert!(ran.stdout.ends_with(kept), "lost or left: {}", ran.stdout);
}

#[test]
fn a_limit_on_file_size_keeps_what_is_there_for_every_output() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let vtk = "inspect sphere.cutlink --force --vtk";
    for (command, target) in [
        (format!("{MESH} --output new"), "new.cutlink"),
        (format!("{vtk} a.htg"), "a.htg"),
        (format!("{vtk} a.vtu"), "a.vtu"),
        (
            "inspect sphere.cutlink --force --solid-stl s.stl".into(),
            "s.stl",
        ),
    ] {
        folder.write(target, "mine");
        let before = folder.files();
        // In blocks of 512 bytes.
        let line = format!("ulimit -f 16; exec $CUTLINK {command}");
        let cannot = format!("cannot write {target}");
        folder.shell(&line).failed(1, &[&cannot, "hint"]);
        assert_eq!(folder.read(target), b"mine", "{target}");
        assert_eq!(folder.files(), before, "{target}: nothing left behind");
    }
}

#[test]
fn read_only_folders_are_refused_before_the_work() {
    let folder = Folder::new();
    folder.write("file", "mine");
    // Not even root can write there.
    for target in ["file/out", "/proc/out", "missing/out"] {
        let ran = folder.run(&format!("{MESH} --output {target}"));
        let ran = ran.failed(2, &[target, "not writable", "hint"]);
        assert_eq!(ran.stdout, "", "{target}: nothing was done");
    }
    assert_eq!(folder.files(), ["file"], "nothing was written");
    let line = "exec $CUTLINK mesh --shape sphere --root 8 --levels 2 > /dev/full";
    folder.shell(line).failed(1, &["cannot write to stdout"]);
}

/// A run under a limit of address space, in KiB: a mesh, or the reason why not.
fn within(folder: &Folder, limit: u64, args: &str) -> Ran {
    let line = format!("ulimit -c 0; ulimit -v {limit}; exec $CUTLINK {args}");
    folder.shell(&line)
}

#[test]
fn too_little_memory_ends_with_4_wherever_it_runs_out() {
    let folder = Folder::new();
    folder.write("text.stl", &stl(&solid("sphere")));
    fs::write(folder.path("binary.stl"), binary(&solid("sphere"), 8)).expect("a file");
    // Below that the program cannot be loaded.
    let least = (8..200).map(|mib| mib << 10).find(|&limit| {
        let ran = within(&folder, limit, "--version");
        ran.code == 0
    });
    let least = least.expect("200 MiB should be enough to start");

    let job = "--root 32 --levels 4 --force --json --no-picture --output out.cutlink --threads 2";
    for source in ["--shape sphere", "text.stl", "binary.stl --fill evenodd"] {
        folder.run(&format!("mesh {source} {job}")).ok();
        let new = folder.read("out.cutlink");
        let mut ends = [0; 2];
        let steps = (0..16).map(|i| least + (i << 9));
        let more = (24..400).step_by(32).map(|mib| mib << 10);
        for limit in steps.chain(more.filter(|&limit| limit >= least)) {
            folder.write("out.cutlink", "mine");
            let ran = within(&folder, limit, &format!("mesh {source} {job}"));
            let at = format!("{source} in {limit} KiB: {}", ran.stderr);
            let error = &ran.json()["error"];
            if ran.code == 0 {
                ends[0] += 1;
                assert!(folder.read("out.cutlink") == new, "{at}");
            } else {
                ends[1] += 1;
                assert_eq!(
                    (ran.code, error["exit_code"].as_i64()),
                    (4, Some(4)),
                    "{at}"
                );
                let words = format!("{} {}", error["message"], error["hint"]);
                assert!(words.contains(" bytes"), "how much was wanted: {at}");
                assert_eq!(folder.read("out.cutlink"), b"mine", "{at}");
            }
            let hidden = folder.files().into_iter().find(|f| f.starts_with('.'));
            assert_eq!(hidden, None, "{at}");
        }
        assert!(ends[0] > 3 && ends[1] > 10, "both ways to end: {ends:?}");
    }
}

/// A binary STL of copies of a surface: with an even number of them, every edge is paired.
fn binary(surface: &cutlink_mesher::Surface<3>, copies: u32) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((surface.facets.len() as u32 * copies).to_le_bytes());
    for _ in 0..copies {
        for f in 0..surface.facets.len() {
            bytes.extend([0; 12]);
            for x in surface.corners(f).as_flattened() {
                bytes.extend((*x as f32).to_le_bytes());
            }
            bytes.extend([0; 2]);
        }
    }
    bytes
}

#[test]
fn too_many_threads_are_an_error() {
    let folder = Folder::new();
    let ran = within(&folder, 1 << 20, "mesh --shape sphere --threads 4000");
    ran.failed(4, &["4000 threads", "bytes", "--threads"]);
    assert!(folder.files().is_empty(), "nothing was written");
}
