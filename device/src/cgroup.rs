//! What the memory controller of Linux control groups leaves to this process, versions 1 and 2.
//!
//! A limit holds for all groups below it, so every group from the process's own up to the root of the mounted
//! hierarchy counts, and the least is taken. Of a group, what is left is its limit less its usage without inactive page
//! cache, which the kernel drops before it kills (cgroups(7); Documentation/admin-guide/cgroup-v2.rst, "Memory").
//! Groups above a container's mount are not visible, and count through the system's available memory at best.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of a version's files.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// Of `memory.stat`: inactive page cache, those of groups below included.
    inactive: &'static str,
}

const V1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
};

const V2: Files = Files {
    limit: "memory.max",
    usage: "memory.current",
    inactive: "inactive_file",
};

/// Bytes that the control groups of this process leave; `None` where none limits it or can be read.
pub(crate) fn memory_left() -> Option<u64> {
    memory_left_in(Path::new("/"))
}

/// As [`memory_left`], with `/` at `root`.
fn memory_left_in(root: &Path) -> Option<u64> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let own = read("proc/self/cgroup")?;
    let mounts = read("proc/self/mountinfo")?;
    let mut least = None;
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (files, is_its) = if controllers.is_empty() {
            (V2, is_v2 as fn(&str, &str) -> bool)
        } else if controllers.split(',').any(|name| name == "memory") {
            (V1, is_v1_memory as fn(&str, &str) -> bool)
        } else {
            continue;
        };
        let mount = mounts.lines().filter_map(Mount::parse);
        for mount in mount.filter(|mount| is_its(mount.kind, mount.options)) {
            least = min(least, least_upward(root, &mount, Path::new(path), &files));
        }
    }
    least
}

fn is_v2(kind: &str, _: &str) -> bool {
    kind == "cgroup2"
}

fn is_v1_memory(kind: &str, options: &str) -> bool {
    kind == "cgroup" && options.split(',').any(|option| option == "memory")
}

/// A line of `/proc/self/mountinfo` (proc(5)).
struct Mount<'a> {
    /// The group that is mounted.
    group: PathBuf,
    /// Where it is mounted.
    at: PathBuf,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (group, at) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, _, options) = (after.next()?, after.next()?, after.next()?);
        Some(Self {
            group: unescaped(group).into(),
            at: unescaped(at).into(),
            kind,
            options,
        })
    }
}

/// White space and backslashes are written as octal numbers there.
fn unescaped(text: &str) -> String {
    let space = text.replace(r"\040", " ").replace(r"\011", "\t");
    space.replace(r"\012", "\n").replace(r"\134", "\\")
}

/// The least that a group at `path` and those above it leave, up to the one that is mounted.
fn least_upward(root: &Path, mount: &Mount<'_>, path: &Path, files: &Files) -> Option<u64> {
    // A path outside of what is mounted, as of a container that sees its own group as the root: the mount's own.
    let below = path.strip_prefix(&mount.group).unwrap_or(Path::new(""));
    let is_up = |part| part == std::path::Component::ParentDir;
    let below = match below.components().any(is_up) {
        true => Path::new(""),
        false => below,
    };
    let at = root.join(mount.at.strip_prefix("/").unwrap_or(&mount.at));
    let groups = below.ancestors().map(|below| at.join(below));
    groups.map(|group| left_of(&group, files)).fold(None, min)
}

/// What one group leaves; `None` where it has no limit.
fn left_of(group: &Path, files: &Files) -> Option<u64> {
    let read = |name| fs::read_to_string(group.join(name)).ok();
    let number = |name| read(name)?.trim().parse::<u64>().ok();
    // "max" is no number, and no limit; that of version 1 is a number beyond any memory.
    let limit = number(files.limit)?;
    let usage = number(files.usage)?;
    let inactive = read("memory.stat").and_then(|text| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = lines.find(|(name, _)| *name == files.inactive)?;
        value.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(usage.saturating_sub(inactive.unwrap_or(0))))
}

/// The lesser one of those that are there.
fn min(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const V2_MOUNT: &str =
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
    const V1_MOUNT: &str = "35 30 0:31 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory";

    /// A folder that stands for `/`, removed in the end.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, cgroup: &str, mounts: &[&str]) -> Self {
            let folder = format!("cutlink-cgroup-{}-{name}", std::process::id());
            let root = Self(std::env::temp_dir().join(folder));
            root.file("proc/self/cgroup", cgroup);
            root.file("proc/self/mountinfo", &(mounts.join("\n") + "\n"));
            root
        }

        fn file(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            let folder = path.parent().expect("a file should lie in a folder");
            fs::create_dir_all(folder).expect("a folder for the test");
            fs::write(path, text).expect("a file for the test");
        }

        /// A group of version 2.
        fn v2(&self, group: &str, max: &str, current: u64) {
            let at = format!("sys/fs/cgroup/{group}");
            self.file(&format!("{at}/memory.max"), &format!("{max}\n"));
            self.file(&format!("{at}/memory.current"), &format!("{current}\n"));
        }

        /// A group of version 1.
        fn v1(&self, group: &str, limit: u64, usage: u64) {
            let at = format!("sys/fs/cgroup/memory/{group}");
            self.file(&format!("{at}/memory.limit_in_bytes"), &limit.to_string());
            self.file(&format!("{at}/memory.usage_in_bytes"), &usage.to_string());
        }

        fn left(&self) -> Option<u64> {
            memory_left_in(&self.0)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_least_of_nested_groups_counts() {
        let root = Root::new("nested", "0::/slurm/job_7/step_0\n", &[V2_MOUNT]);
        root.v2("slurm/job_7/step_0", "max", 40 * MIB);
        assert_eq!(root.left(), None, "no group has a limit");
        let limit = |mib: u64| (mib * MIB).to_string();
        root.v2("slurm/job_7", &limit(400), 100 * MIB);
        root.v2("slurm", &limit(900), 850 * MIB);
        assert_eq!(root.left(), Some(50 * MIB), "the outer one is nearly full");
        root.v2("slurm", &limit(9000), 850 * MIB);
        assert_eq!(root.left(), Some(300 * MIB), "the job's");
        root.v2("slurm/job_7/step_0", &limit(60), 70 * MIB);
        assert_eq!(root.left(), Some(0), "used beyond its own limit");
    }

    #[test]
    fn the_root_of_a_namespace_and_paths_outside_of_it() {
        for path in ["0::/\n", "0::/../other\n"] {
            let root = Root::new("namespace", path, &[V2_MOUNT]);
            root.v2("", "419430400", 19_430_400);
            assert_eq!(root.left(), Some(400_000_000), "{path}");
        }
    }

    #[test]
    fn version_1_by_its_own_mount() {
        let cgroup = "12:pids:/a\n7:cpu,memory:/docker/c0ffee/job\n0::/elsewhere\n";
        // The group of the container is mounted, and the path is the host's.
        let mount = V1_MOUNT.replacen(" / ", " /docker/c0ffee ", 1);
        let pids = "34 30 0:30 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids";
        let root = Root::new("v1", cgroup, &[pids, &mount]);
        root.v1("job", 0x7fff_ffff_ffff_f000, MIB);
        assert_eq!(root.left(), Some(0x7fff_ffff_ffff_f000 - MIB), "no limit");
        root.v1("", 300 * MIB, 100 * MIB);
        assert_eq!(root.left(), Some(200 * MIB), "the container's");
        root.v1("job", 64 * MIB, 4 * MIB);
        assert_eq!(root.left(), Some(60 * MIB), "the job's");
    }

    #[test]
    fn both_versions_beside_one_another() {
        let unified = V2_MOUNT.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ");
        let root = Root::new("hybrid", "3:memory:/j\n0::/j\n", &[&unified, V1_MOUNT]);
        root.v1("j", 500 * MIB, 0);
        assert_eq!(
            root.left(),
            Some(500 * MIB),
            "version 2 has no memory files"
        );
        root.v2("unified/j", &(80 * MIB).to_string(), 0);
        assert_eq!(root.left(), Some(80 * MIB));
    }

    #[test]
    fn inactive_page_cache_is_free() {
        let root = Root::new("cache", "0::/j\n", &[V2_MOUNT]);
        root.v2("j", &(400 * MIB).to_string(), 390 * MIB);
        let stat = format!(
            "anon 1\nfile 2\ninactive_file {}\nactive_file 9\n",
            300 * MIB
        );
        root.file("sys/fs/cgroup/j/memory.stat", &stat);
        assert_eq!(root.left(), Some(310 * MIB));
        let root = Root::new("cache1", "3:memory:/j\n", &[V1_MOUNT]);
        root.v1("j", 400 * MIB, 390 * MIB);
        let stat = format!("inactive_file 5\ntotal_inactive_file {}\n", 100 * MIB);
        root.file("sys/fs/cgroup/memory/j/memory.stat", &stat);
        assert_eq!(root.left(), Some(110 * MIB));
    }

    #[test]
    fn what_cannot_be_read_limits_nothing() {
        let none = Path::new("/nowhere/at/all");
        assert_eq!(memory_left_in(none), None);
        for cgroup in ["", "0::\n", "garbage\n", "0::/gone (deleted)\n"] {
            let root = Root::new("missing", cgroup, &[V2_MOUNT, "", "no mount at all"]);
            assert_eq!(root.left(), None, "{cgroup:?}: nothing there");
            root.v2("", "12x", 3);
            assert_eq!(root.left(), None, "{cgroup:?}: no number");
        }
        let spaces = V2_MOUNT.replace("/sys/fs/cgroup ", r"/sys/fs/cgroup/a\040b ");
        let root = Root::new("spaces", "0::/j\n", &[&spaces]);
        root.v2("a b/j", "1000", 1);
        assert_eq!(root.left(), Some(999));
    }
}
