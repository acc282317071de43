//! How much memory of the host a flow takes, counted by the allocator: on several ranks that of their parts, as it is
//! forecast; and to start, save and resume no copy of the populations.

use cutlink_device::{Host, Memory};
use cutlink_solver::{LatticeFlow, LatticeKind, Params, Plan, Precision};
use cutlink_tests::flows::{empty_box, params};
use cutlink_voxelizer::{Mesh, Region, RegionShape};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The system's allocator, with the bytes that are in use and the most of them.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

fn add(bytes: usize) {
    let used = USED.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(used, Relaxed);
}

#[expect(unsafe_code, reason = "an allocator")]
// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What some work returns, with the bytes that are in use afterwards and the most meanwhile beyond those before.
fn counted<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = USED.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = work();
    let beyond = |bytes: &AtomicUsize| bytes.load(Relaxed).saturating_sub(before);
    (done, beyond(&USED), beyond(&MOST))
}

const MIB: usize = 1 << 20;
/// What starting, saving and resuming may take beside the flow, whatever its size.
const BESIDE: usize = 256 * MIB;

/// A box of 4.2 million cells, of which a ball is refined.
fn mesh() -> Mesh<3> {
    let ball = RegionShape::Ball {
        center: [60.0, 64.0, 64.0],
        radius: 10.0,
    };
    let region = Region {
        shape: ball,
        levels: 2,
    };
    empty_box([160; 3], 2, vec![region])
}

fn of(mesh: &Mesh<3>, lattice: LatticeKind, precision: Precision) -> Params<3> {
    Params {
        lattice,
        precision,
        ..params(mesh, 0.05)
    }
}

/// Starts a flow on so many ranks, and tells the memory that it has and that of its start beside it.
fn started<'a>(
    mesh: &'a Mesh<3>,
    params: &Params<3>,
    ranks: usize,
) -> (Box<dyn LatticeFlow<3> + 'a>, usize, usize) {
    let plan = Plan::new(mesh, params.clone()).expect("a plan");
    let backends = vec![Host; ranks];
    let (flow, has, most) = counted(|| plan.start_ranks(&backends).expect("a flow"));
    (flow, has, most - has)
}

#[test]
#[cfg_attr(not(slow_tests), ignore = "slow: runs with CUTLINK_SLOW_TESTS=1")]
fn a_flow_is_started_saved_and_resumed_without_a_copy() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mesh = mesh();
    for (lattice, precision) in [
        (LatticeKind::D3Q19, Precision::F32),
        (LatticeKind::D3Q19, Precision::F64),
    ] {
        let params = of(&mesh, lattice, precision);
        for ranks in [1, 3] {
            let what = format!("{lattice:?} {precision:?} on {ranks}");
            let (mut flow, has, beside) = started(&mesh, &params, ranks);
            // Else a copy would not be seen.
            assert!(has > 2 * BESIDE, "{what}: {has} bytes");
            assert!(beside < BESIDE, "{what}: {beside} bytes to start");
            let (_, left, most) = counted(|| {
                let at = |x: [f64; 3]| (1.0, [1e-3 * (0.05 * x[1]).sin(), 0.0, 0.0]);
                flow.set(&at).expect("a state");
            });
            assert!(left < MIB && most < BESIDE, "{what}: {most} bytes to set");
            flow.advance(1).expect("a step");
            let mut file = tempfile::tempfile().expect("a file");
            let (_, left, most) = counted(|| flow.save(&mut file).expect("saved"));
            assert!(left < MIB && most < BESIDE, "{what}: {most} bytes to save");
            io::Seek::rewind(&mut file).expect("the file's start");
            let (_, left, most) = counted(|| flow.restore(&mut file).expect("restored"));
            assert!(
                left < MIB && most < BESIDE,
                "{what}: {most} bytes to resume"
            );
        }
    }
}

#[test]
#[cfg_attr(not(slow_tests), ignore = "slow: runs with CUTLINK_SLOW_TESTS=1")]
fn ranks_take_the_memory_that_is_forecast() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mesh = mesh();
    let params = of(&mesh, LatticeKind::D3Q19, Precision::F32);
    let (alone, one, _) = started(&mesh, &params, 1);
    drop(alone);
    for ranks in [2, 4] {
        let plan = Plan::new(&mesh, params.clone()).expect("a plan");
        let forecast = plan.ranks(ranks, Memory::Host).expect("a forecast");
        let forecast: u64 = forecast.iter().map(|rank| rank.bytes).sum();
        drop(plan);
        let (_flow, has, _) = started(&mesh, &params, ranks);
        // Of a part, and of the blocks around it.
        assert!((has as f64) < 1.45 * one as f64, "{ranks}: {has} of {one}");
        let off = has as f64 / forecast as f64 - 1.0;
        assert!(
            off.abs() < 0.03,
            "{ranks}: {has} bytes, {forecast} forecast"
        );
    }
}
