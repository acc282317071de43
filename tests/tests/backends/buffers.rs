//! What `Backend` promises of buffers, memory and time.

use cutlink_device::{Backend, DeviceError, Item, Memory};
use cutlink_tests::{backend_test, backends::AnyKernels};
use std::fmt::Debug;

backend_test!(
    buffers_keep_what_they_are_given,
    long_copies_arrive_whole_and_after_the_work_before_them,
    memory_that_is_not_there_is_refused,
    time_passes,
    the_peak_holds_what_was_in_use,
);

/// Every element once up and down, filled, grown, shortened and emptied.
fn keeps<B: Backend, T: Item + Debug>(backend: &B, element: impl Fn(u32) -> T) {
    for len in [0u32, 1, 2, 31, 255, 256, 1025, 70_001] {
        let data: Vec<T> = (0..len).map(&element).collect();
        let mut buf = backend.upload(data.clone()).expect("memory");
        assert_eq!(B::len(&buf), data.len(), "length");
        assert!(backend.download(&buf).expect("memory") == data, "{len}");

        let more = data.len() * 3 / 2 + 5;
        let value = element(9);
        let fine = backend.resize("a test", &mut buf, more, value);
        fine.expect("memory");
        let grown = backend.download(&buf).expect("memory");
        assert_eq!(B::len(&buf), more, "grown");
        assert!(grown[..data.len()] == data, "{len}: the old ones stay");
        let is_value = |x: &T| *x == value;
        assert!(grown[data.len()..].iter().all(is_value), "{len}: new ones");

        let fewer = data.len() / 2;
        let fine = backend.resize("a test", &mut buf, fewer, value);
        fine.expect("memory");
        let left = backend.download(&buf).expect("memory");
        assert!(left == data[..fewer], "{len}: shortened");

        let source = backend.upload(data.clone()).expect("memory");
        let mut copy = backend.alloc("a test", data.len(), value).expect("memory");
        backend.copy(&source, &mut copy).expect("a copy");
        assert!(backend.download(&copy).expect("memory") == data, "{len}");

        let filled = backend.alloc("a test", more, value).expect("memory");
        let filled = backend.download(&filled).expect("memory");
        assert!(filled.len() == more && filled.iter().all(is_value), "{len}");
    }
}

fn buffers_keep_what_they_are_given<K: AnyKernels>(kernels: &K) {
    keeps(kernels, |i| i as u8);
    keeps(kernels, |i| (i as u16).wrapping_mul(257));
    keeps(kernels, |i| i.wrapping_mul(2_654_435_761));
    keeps(kernels, |i| i as i32 - 77);
    keeps(kernels, |i| u64::from(i) << 33 | 5);
    keeps(kernels, |i| i as f32 * 0.5 - 3.0);
    keeps(kernels, |i| [i as i32, -5]);
    keeps(kernels, |i| [i as i32, 1 << 30, -1]);
    keeps(kernels, |i| [[i as i32, 2, 3], [4, 5, 6], [7, 8, -9]]);
}

/// Copies of many staging buffers, which several threads empty; also after the device has changed the data.
fn long_copies_arrive_whole_and_after_the_work_before_them<K: AnyKernels>(kernels: &K) {
    const MIB: usize = 1 << 20;
    for items in [2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 7 * MIB + 123, 25 * MIB] {
        let data: Vec<u32> = (0..items as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect();
        let buf = kernels.upload(data.clone()).expect("memory");
        let mut copy = kernels.alloc("a test", items, 1u32).expect("memory");
        for _ in 0..3 {
            kernels.copy(&buf, &mut copy).expect("a copy");
            let back = kernels.download(&copy).expect("memory");
            let wrong = back.iter().zip(&data).position(|(a, b)| a != b);
            assert_eq!((back.len(), wrong), (items, None), "{items} items");
            copy = kernels.alloc("a test", items, 1u32).expect("memory");
        }
    }
}

fn memory_that_is_not_there_is_refused<K: AnyKernels>(kernels: &K) {
    let free = kernels.free_bytes();
    assert!(free > 1 << 24, "{free} bytes free");
    assert_eq!(kernels.reserve("a test", 1 << 10), Ok(()), "there is room");
    let refused = |error: DeviceError| {
        let DeviceError::OutOfMemory { memory, what, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((memory, what), (K::MEMORY, "a test"));
    };
    let reserved = kernels.reserve("a test", u64::MAX);
    refused(reserved.expect_err("more than there is"));
    for len in [1usize << 44, usize::MAX / 8] {
        let buffer = kernels.alloc("a test", len, 7u64);
        refused(buffer.map(|_| ()).expect_err("more than there is"));
        let mut small = kernels.upload(vec![3u64, 4]).expect("memory");
        let grown = kernels.resize("a test", &mut small, len, 7);
        refused(grown.expect_err("more than there is"));
        let left = kernels.download(&small).expect("memory");
        assert_eq!(left, [3, 4], "left as it was");
    }
}

fn time_passes<K: AnyKernels>(kernels: &K) {
    let from = kernels.stamp().expect("a stamp");
    let buffer = kernels.alloc("a test", 1 << 20, 1u32).expect("memory");
    let to = kernels.stamp().expect("a stamp");
    let seconds = kernels.seconds(&from, &to).expect("both have passed");
    assert!((0.0..10.0).contains(&seconds), "{seconds} s");
    assert_eq!(kernels.has_passed(&from), Ok(true), "waited for");
    assert_eq!(kernels.has_passed(&to), Ok(true), "waited for");
    assert_eq!(K::len(&buffer), 1 << 20, "still there");
}

fn the_peak_holds_what_was_in_use<K: AnyKernels>(kernels: &K) {
    let bytes = 48 << 20;
    let buffer = kernels.alloc("a test", bytes, 3u8).expect("memory");
    assert_eq!(K::len(&buffer), bytes, "in use");
    let peak = kernels.peak_bytes();
    let is_unknown = peak == 0 && K::MEMORY == Memory::Host;
    assert!(is_unknown || peak >= bytes as u64, "{peak} bytes");
}
