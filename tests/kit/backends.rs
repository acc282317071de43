//! One list of tests for every backend, and what every backend has to keep.
//!
//! A test is a function `fn name<K: AnyKernels>(kernels: &K)`; [`backend_test!`](crate::backend_test)
//! makes `name::cpu` and `name::cuda` of it. The latter shows as ignored where it cannot run, and fails
//! where it is requested all the same: it never passes without a device.

pub use crate::threads::on_one_thread;

use crate::arrays;
use cutlink_device::Host;
use cutlink_mesher::{
    exact::{Exact, Facet},
    snap::Snapped,
};
use cutlink_voxelizer::{
    EmbedParams, Frame, Mesh, MeshCounts, embed, kernels::MeshKernels, thin, validate,
};
use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngSeed, TestCaseResult, TestRunner},
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

#[cfg(feature = "cuda")]
use cutlink_device::cuda::Cuda;

/// A backend with the kernels for 2D and 3D.
pub trait AnyKernels: MeshKernels<2> + MeshKernels<3> {}
impl<K: MeshKernels<2> + MeshKernels<3>> AnyKernels for K {}

/// Makes `name::cpu` and `name::cuda` of each function of the list. Those with `if has_scans` need
/// `../shared/meshes`; those with `if slow_tests` take more than some seconds. The calling crate's build script decides
/// `has_scans`, `has_cuda` and `slow_tests`.
///
/// A list that begins with `on_one_thread:` runs on the CPU with one thread a test. Tests run side by side: small steps of one
/// would wait for the threads behind steps of another, up to ten times as long. One that begins with `on_gpu:` has the GPU alone:
/// tests that compare it with the host.
#[macro_export]
macro_rules! backend_test {
    (@ $name:ident $threads:ident cpu $(#[$on_cpu:meta])* cuda $(#[$on_cuda:meta])*) => {
        mod $name {
            #[test]
            $(#[$on_cpu])*
            fn cpu() {
                $crate::backends::$threads(|| super::$name($crate::backends::cpu()));
            }

            #[test]
            #[cfg_attr(not(feature = "cuda"), ignore = "built without the feature cuda")]
            $(#[$on_cuda])*
            fn cuda() {
                super::$name($crate::backends::cuda());
            }
        }
    };
    (@ $name:ident $threads:ident) => {
        $crate::backend_test!(@ $name $threads
            cpu
            cuda
            #[cfg_attr(all(feature = "cuda", not(has_cuda)), ignore = "no CUDA device where this was built")]
        );
    };
    (@ $name:ident $threads:ident slow_tests) => {
        $crate::backend_test!(@ $name $threads
            cpu
            #[cfg_attr(not(slow_tests), ignore = "slow: runs with CUTLINK_SLOW_TESTS=1")]
            cuda
            #[cfg_attr(all(feature = "cuda", not(has_cuda)), ignore = "no CUDA device where this was built")]
        );
    };
    (@ $name:ident $threads:ident has_scans) => {
        $crate::backend_test!(@ $name $threads
            cpu
            #[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
            cuda
            #[cfg_attr(all(feature = "cuda", not(has_scans)), ignore = "needs ../shared/meshes")]
            #[cfg_attr(
                all(feature = "cuda", has_scans, not(has_cuda)),
                ignore = "no CUDA device where this was built"
            )]
        );
    };
    (on_gpu: $($name:ident),+ $(,)?) => {
        $(mod $name {
            #[test]
            #[cfg_attr(not(feature = "cuda"), ignore = "built without the feature cuda")]
            #[cfg_attr(all(feature = "cuda", not(has_cuda)), ignore = "no CUDA device where this was built")]
            fn cuda() {
                super::$name($crate::backends::cuda());
            }
        })+
    };
    (on_one_thread: $($name:ident $(if $what:ident)?),+ $(,)?) => {
        $($crate::backend_test!(@ $name on_one_thread $($what)?);)+
    };
    ($($name:ident $(if $what:ident)?),+ $(,)?) => {
        $($crate::backend_test!(@ $name on_all_threads $($what)?);)+
    };
}

/// Runs a test with the threads of the process.
pub fn on_all_threads(test: impl FnOnce()) {
    test();
}

/// The CPU.
pub fn cpu() -> &'static Host {
    &Host
}

/// The first GPU, one for all tests of a process. Its new buffers hold a pattern that is no result, so
/// that an element which no kernel writes shows; with `CUTLINK_TEST_UNCHECKED` set they hold nothing, for tools that
/// look for such reads themselves. Such a device records steps, so tests on it have to run one by one (`--test-threads 1`):
/// what other threads launch meanwhile would be recorded too.
///
/// # Panics
/// Where there is none.
#[cfg(feature = "cuda")]
pub fn cuda() -> &'static Cuda {
    static DEVICE: OnceLock<Cuda> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let device = match std::env::var_os("CUTLINK_TEST_UNCHECKED") {
            Some(_) => Cuda::new(0),
            None => Cuda::checked(0),
        };
        device.unwrap_or_else(|error| panic!("no CUDA device to test on: {error}"))
    })
}

/// Stands in for the GPU where its kernels were not built.
///
/// # Panics
/// Always: a test that ran on nothing must not pass.
#[cfg(not(feature = "cuda"))]
pub fn cuda() -> &'static Host {
    panic!("built without the feature cuda: nothing ran on a GPU")
}

/// One thread of the host, for the run that others are compared with.
fn one_thread() -> &'static ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        pool.expect("a thread should start")
    })
}

/// Runs a test on so many random cases, the same every time.
///
/// # Panics
/// With the smallest case found on which it fails.
pub fn random_cases<S: Strategy>(
    count: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) {
    let mut runner = TestRunner::new(Config {
        cases: count,
        rng_seed: RngSeed::Fixed(43),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    });
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}

/// Embeds on a backend, validates, and compares every array bit for bit with a run on one thread of the host.
/// The mesh, or what is wrong with it.
pub fn conform<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Result<Mesh<D>, String>
where
    Facet<D>: Exact<D>,
{
    let launches = kernels.launches();
    let there =
        embed(kernels, surface, frame, params, &mut ()).map_err(|e| format!("embed: {e}"))?;
    let mesh = there
        .download(kernels)
        .map_err(|e| format!("download: {e}"))?;
    let reference = one_thread().install(|| embed(&Host, surface, frame, params, &mut ()));
    let reference = reference.map_err(|e| format!("the host: {e}"))?;
    if launches.is_some() && kernels.launches() <= launches {
        return Err("nothing was launched on the device".into());
    }
    arrays::same_mesh(&mesh, &reference).map_err(|d| format!("not the host's: {d}"))?;
    validate(&mesh).map_err(|v| format!("validate: {v}"))?;
    if mesh.checksum() != reference.checksum() {
        return Err("the arrays are the same, the checksums are not".into());
    }
    same_counts(kernels, &there, &reference)?;
    Ok(mesh)
}

/// What a report says of a mesh on a backend and of its copy on the host is the same, counted there and here.
///
/// # Errors
/// What is not.
pub fn same_counts<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    there: &Mesh<D, K>,
    here: &Mesh<D>,
) -> Result<(), String> {
    let counts = there.counts(kernels).map_err(|e| format!("counts: {e}"))?;
    let expected = MeshCounts {
        levels: here.level_counts(),
        thin: thin(here),
        checksum: here.checksum(),
    };
    match counts == expected {
        true => Ok(()),
        false => Err(format!("counts {counts:?}, not the host's {expected:?}")),
    }
}
