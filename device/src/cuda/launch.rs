//! Launching kernels: the one function that does it.

use super::{
    CudaBuf,
    context::{Cuda, check, text_of},
};
use crate::{DeviceError, Item, lock};
use bytemuck::Pod;
use cudarc::driver::sys;
use std::{collections::HashMap, ffi::CString, ptr, sync::Arc};

/// Kernels compiled from one source.
#[derive(Debug)]
pub struct Module {
    /// The source's stem.
    pub name: &'static str,
    /// Machine code and PTX, as nvcc packs them.
    pub image: &'static [u8],
}

/// The two modules of a source in this crate's `kernels/cuda`, for 2D and 3D.
#[macro_export]
macro_rules! cuda_modules {
    ($stem:literal) => {
        [
            $crate::cuda::Module {
                name: $stem,
                image: include_bytes!(concat!(env!("OUT_DIR"), "/", $stem, "_2.fatbin")),
            },
            $crate::cuda::Module {
                name: $stem,
                image: include_bytes!(concat!(env!("OUT_DIR"), "/", $stem, "_3.fatbin")),
            },
        ]
    };
}

/// How many threads run a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchGrid {
    /// Thread blocks.
    pub blocks: u32,
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
}

impl LaunchGrid {
    /// One thread per item, in blocks of `threads` threads.
    pub fn over(items: usize, threads: u32) -> Self {
        Self::blocks(items.div_ceil(threads as usize), threads)
    }

    /// A given number of thread blocks.
    pub fn blocks(blocks: usize, threads: u32) -> Self {
        Self {
            blocks: u32::try_from(blocks).expect("a grid should fit the device"),
            threads,
            shared: 0,
        }
    }

    /// Threads per list, by the mean length of `lists` lists with `entries` entries in total; at most `most`.
    pub fn threads_for(entries: usize, lists: usize, most: u32) -> u32 {
        let threads = match entries / lists.max(1) {
            0..=48 => 32,
            49..=96 => 64,
            97..=192 => 128,
            193..=768 => 256,
            _ => 1024,
        };
        threads.min(most)
    }

    /// With dynamic shared memory.
    #[must_use]
    pub fn shared(mut self, bytes: u32) -> Self {
        self.shared = bytes;
        self
    }
}

/// A module in the device's memory.
pub(super) struct Loaded {
    module: sys::CUmodule,
    kernels: HashMap<&'static str, Arc<Kernel>>,
}

impl Loaded {
    /// # Safety
    /// The context must be current, and nothing may use the kernels any more.
    pub(super) unsafe fn unload(self) {
        // SAFETY: loaded once; the rest is the caller's promise. A failure leaves it to the end of the process.
        unsafe { sys::cuModuleUnload(self.module) };
    }
}

struct Kernel {
    function: sys::CUfunction,
    /// Sizes of the parameters.
    params: Vec<usize>,
}

// SAFETY: handles of the driver, used under a lock and with the context current.
unsafe impl Send for Loaded {}
// SAFETY: as above; a function's handle is only read.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// Largest number of parameters of a kernel.
const MOST: usize = 40;
/// Room for their values, in units of 16 bytes, to which each is aligned.
const ROOM: usize = 96;

/// A kernel and its arguments so far, which it borrows. Memory is freed in stream order, so a buffer may be dropped
/// once the kernel is launched.
#[derive(Debug)]
pub struct Launch<'a> {
    on: &'a Cuda,
    module: &'static Module,
    kernel: &'static str,
    values: [u128; ROOM],
    /// By parameter: where its value begins, and its bytes.
    firsts: [usize; MOST],
    sizes: [usize; MOST],
    count: usize,
    used: usize,
}

impl Cuda {
    /// A launch of a kernel, of the module for dimension `d`.
    pub fn launch<'a>(
        &'a self,
        modules: &'static [Module; 2],
        d: usize,
        kernel: &'static str,
    ) -> Launch<'a> {
        Launch {
            on: self,
            module: &modules[d - 2],
            kernel,
            values: [0; ROOM],
            firsts: [0; MOST],
            sizes: [0; MOST],
            count: 0,
            used: 0,
        }
    }

    fn kernel(
        &self,
        module: &'static Module,
        name: &'static str,
    ) -> Result<Arc<Kernel>, DeviceError> {
        let mut all = lock(&self.0.loaded);
        let key = module.image.as_ptr().addr();
        let loaded = match all.entry(key) {
            std::collections::hash_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                let none = || DeviceError::WrongArchitecture {
                    device: self.name().to_owned(),
                };
                // Built with `CUTLINK_CUDA_ARCH=none`.
                if module.image.is_empty() {
                    return Err(none());
                }
                let mut handle = ptr::null_mut();
                // SAFETY: an image of nvcc, static; the handle is written.
                let code =
                    unsafe { sys::cuModuleLoadData(&raw mut handle, module.image.as_ptr().cast()) };
                if code == sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU {
                    return Err(none());
                }
                check("load kernels", code)?;
                free.insert(Loaded {
                    module: handle,
                    kernels: HashMap::new(),
                })
            }
        };
        if let Some(kernel) = loaded.kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let symbol = CString::new(name).expect("a kernel's name should have no zero");
        let mut function = ptr::null_mut();
        // SAFETY: a loaded module; the handle is written.
        check("find a kernel", unsafe {
            sys::cuModuleGetFunction(&raw mut function, loaded.module, symbol.as_ptr())
        })?;
        let mut params = Vec::new();
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a function of a loaded module; beyond the last parameter is an error.
        while unsafe {
            sys::cuFuncGetParamInfo(function, params.len(), &raw mut offset, &raw mut size)
        } == sys::CUresult::CUDA_SUCCESS
        {
            params.push(size);
        }
        self.raise_shared_limit(function)?;
        let kernel = Arc::new(Kernel { function, params });
        loaded.kernels.insert(name, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Lets thread blocks of a function have all the shared memory that the device has for one; 48 KiB without being
    /// asked (CUDA C++ Programming Guide, "Shared Memory").
    fn raise_shared_limit(&self, function: sys::CUfunction) -> Result<(), DeviceError> {
        use sys::{CUdevice_attribute as OfDevice, CUfunction_attribute as OfFunction};
        let (mut most, mut own) = (0, 0);
        // SAFETY: the device is open, the function is of this context; two numbers are written.
        unsafe {
            check(
                "ask for the device's shared memory",
                sys::cuDeviceGetAttribute(
                    &raw mut most,
                    OfDevice::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                    self.0.device,
                ),
            )?;
            check(
                "ask for a kernel's shared memory",
                sys::cuFuncGetAttribute(
                    &raw mut own,
                    OfFunction::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                    function,
                ),
            )?;
            check(
                "raise a kernel's limit of shared memory",
                sys::cuFuncSetAttribute(
                    function,
                    OfFunction::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    most - own,
                ),
            )
        }
    }
}

impl<'a> Launch<'a> {
    /// A value; all together at most 1,536 bytes.
    #[must_use]
    pub fn val<T: Pod>(mut self, value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value);
        let to: &mut [u8] = bytemuck::cast_slice_mut(&mut self.values[self.used..]);
        to[..bytes.len()].copy_from_slice(bytes);
        self.firsts[self.count] = self.used;
        self.sizes[self.count] = bytes.len();
        self.used += bytes.len().div_ceil(size_of::<u128>());
        self.count += 1;
        self
    }

    /// A buffer that the kernel reads.
    #[must_use]
    pub fn buf<T: Item>(self, buf: &'a CudaBuf<T>) -> Self {
        self.val(buf.address(0))
    }

    /// A buffer that the kernel reads from element `first` on.
    #[must_use]
    pub fn buf_at<T: Item>(self, buf: &'a CudaBuf<T>, first: usize) -> Self {
        self.val(buf.address(first))
    }

    /// A buffer that the kernel writes.
    #[must_use]
    pub fn out<T: Item>(self, buf: &'a mut CudaBuf<T>) -> Self {
        self.val(buf.address(0))
    }

    /// A buffer that the kernel writes from element `first` on.
    #[must_use]
    pub fn out_at<T: Item>(self, buf: &'a mut CudaBuf<T>, first: usize) -> Self {
        self.val(buf.address(first))
    }

    /// Launches the kernel on the stream. An empty grid launches nothing.
    ///
    /// # Safety
    /// The kernel must stay within the buffers it is given, for these arguments and this grid.
    /// (Number and sizes of the arguments are checked against the kernel's parameters.)
    pub unsafe fn run(mut self, grid: LaunchGrid) -> Result<(), DeviceError> {
        if grid.blocks == 0 {
            return Ok(());
        }
        let on = self.on;
        on.bind()?;
        let kernel = on.kernel(self.module, self.kernel)?;
        assert_eq!(
            kernel.params,
            self.sizes[..self.count],
            "arguments of {}::{} should have its parameters' sizes",
            self.module.name,
            self.kernel
        );
        let mut at: [*mut std::ffi::c_void; MOST] = [ptr::null_mut(); MOST];
        for (at, &first) in at.iter_mut().zip(&self.firsts[..self.count]) {
            *at = (&raw mut self.values[first]).cast();
        }
        // SAFETY: a function of this context; as many arguments as it has parameters, of their
        // sizes; what it does with them is the caller's promise.
        let mut code = unsafe {
            sys::cuLaunchKernel(
                kernel.function,
                grid.blocks,
                1,
                1,
                grid.threads,
                1,
                1,
                grid.shared,
                on.stream(),
                at.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        on.count_launch();
        if on.0.checked && code == sys::CUresult::CUDA_SUCCESS {
            // SAFETY: the stream lives as long as the device.
            code = unsafe { sys::cuStreamSynchronize(on.stream()) };
        }
        if code == sys::CUresult::CUDA_SUCCESS {
            return Ok(());
        }
        Err(DeviceError::Launch {
            kernel: self.kernel,
            blocks: grid.blocks,
            threads: grid.threads,
            reason: text_of(code),
        })
    }
}
