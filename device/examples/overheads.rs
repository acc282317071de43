//! What the calls of a CUDA device cost the host: for judging how much of a short stage they are.
//! `cargo run --release -p cutlink-device --features cuda --example overheads`

#[cfg(feature = "cuda")]
fn main() -> Result<(), cutlink_device::DeviceError> {
    use cutlink_device::{Backend, cuda::Cuda};
    use std::time::Instant;

    const TIMES: u32 = 2000;
    let cuda = Cuda::new(0)?;
    let time = |what: &str, run: &mut dyn FnMut() -> Result<(), cutlink_device::DeviceError>| {
        for _ in 0..100 {
            run()?;
        }
        cuda.wait()?;
        let begin = Instant::now();
        for _ in 0..TIMES {
            run()?;
        }
        let given = begin.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES);
        cuda.wait()?;
        let done = begin.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES);
        writeln(&format!(
            "{what:<28} {given:7.2} us given {done:7.2} us done"
        ));
        Ok::<(), cutlink_device::DeviceError>(())
    };
    let small = cuda.alloc("a buffer", 1, 0u32)?;
    time("allocate and free 4 KB", &mut || {
        cuda.uninit::<u32>("a buffer", 1024).map(drop)
    })?;
    time("allocate and free 16 MB", &mut || {
        cuda.uninit::<u32>("a buffer", 1 << 22).map(drop)
    })?;
    time("allocate, fill, free 4 KB", &mut || {
        cuda.alloc("a buffer", 1024, 0u32).map(drop)
    })?;
    time("read one element", &mut || small.read(0).map(drop))?;
    time("upload 4 bytes", &mut || cuda.upload(vec![1u32]).map(drop))?;
    time("stamp", &mut || cuda.stamp().map(drop))?;
    let last = cuda.stamp()?;
    cuda.wait()?;
    time("ask for a stamp", &mut || cuda.has_passed(&last).map(drop))?;
    let mut values = cuda.alloc("values", 4096, 1u32)?;
    let mut total = cuda.alloc("a total", 1, 0u64)?;
    time("scan 4096", &mut || cuda.scan(&mut values, &mut total, 0))?;
    let flags = cuda.alloc("flags", 4096, 1u8)?;
    time("select of 4096", &mut || {
        cuda.select("items", None, &flags).map(drop)
    })?;
    let keys = cuda.alloc("keys", 65536, 1u32)?;
    time("sort 65536 pairs by 12 bits", &mut || {
        cuda.sort32(&keys, &keys, 12).map(drop)
    })?;
    Ok(())
}

#[cfg(feature = "cuda")]
#[expect(clippy::print_stdout, reason = "an example")]
fn writeln(line: &str) {
    println!("{line}");
}

#[cfg(not(feature = "cuda"))]
fn main() {}
