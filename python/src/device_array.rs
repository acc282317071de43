//! Arrays in the memory of a device, for other libraries: the DLPack protocol and the CUDA array interface.

use crate::errors::OrRaise;
use cutlink::Error;
use cutlink_device::{Device, Exported};
use dlpack_rs::ffi::{DLManagedTensor, DLManagedTensorVersioned};
use dlpack_rs::safe::{self, TensorInfo};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

/// Names of capsules that nobody has taken yet.
const TENSOR: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// An array of f32 in the memory of a device, last axis fastest.
#[pyclass(frozen, name = "DeviceArray", module = "cutlink")]
pub(crate) struct DeviceArray {
    values: Arc<Exported<f32>>,
    shape: Vec<usize>,
}

impl DeviceArray {
    pub(crate) fn new(values: Exported<f32>, shape: Vec<usize>) -> Self {
        Self {
            values: Arc::new(values),
            shape,
        }
    }

    /// The device by its numbers in DLPack.
    fn dl_device(&self) -> dlpack_rs::ffi::DLDevice {
        match self.values.device() {
            Device::Cpu => safe::cpu_device(),
            Device::Cuda(ordinal) => safe::cuda_device(ordinal.cast_signed()),
        }
    }

    fn info(&self) -> TensorInfo {
        let shape: Vec<i64> = self.shape.iter().map(|&n| n as i64).collect();
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        TensorInfo {
            data: self.values.address() as *mut c_void,
            device: self.dl_device(),
            dtype: safe::dtype_f32(),
            shape,
            strides: Some(strides),
            byte_offset: 0,
        }
    }
}

/// A tensor that DLPack passes on.
trait Managed {
    /// Frees it.
    ///
    /// # Safety
    /// It is one of `dlpack_rs`, and nobody uses it any more.
    #[expect(unsafe_code, reason = "DLPack passes raw addresses")]
    unsafe fn free(this: *mut Self);
}

impl Managed for DLManagedTensor {
    #[expect(unsafe_code, reason = "DLPack passes raw addresses")]
    unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe { (*this).deleter.map(|deleter| deleter(this)) };
    }
}

impl Managed for DLManagedTensorVersioned {
    #[expect(unsafe_code, reason = "DLPack passes raw addresses")]
    unsafe fn free(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe { (*this).deleter.map(|deleter| deleter(this)) };
    }
}

/// A capsule that frees its tensor unless somebody takes it.
#[expect(unsafe_code, reason = "DLPack passes raw addresses")]
fn capsule<'py, T: Managed>(
    py: Python<'py>,
    tensor: *mut T,
    name: &'static CStr,
    destructor: pyo3::ffi::PyCapsule_Destructor,
) -> PyResult<Bound<'py, PyCapsule>> {
    let pointer = NonNull::new(tensor.cast::<c_void>())
        .ok_or_else(|| PyBufferError::new_err("there is no tensor"))?;
    // SAFETY: the tensor lives until its deleter is called: by the destructor, or by who takes the tensor.
    let made =
        unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, name, Some(destructor)) };
    if made.is_err() {
        // SAFETY: nobody has taken it.
        unsafe { T::free(tensor) };
    }
    made
}

/// Frees the tensor of a capsule that still has the name under which it was made: who takes a tensor changes it.
///
/// # Safety
/// As all destructors of capsules: called by Python, once.
#[expect(unsafe_code, reason = "DLPack passes raw addresses")]
unsafe fn drop_capsule<T: Managed>(capsule: *mut pyo3::ffi::PyObject, name: &CStr) {
    // SAFETY: a capsule, of which the name tells what is in it.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1 {
            T::free(pyo3::ffi::PyCapsule_GetPointer(capsule, name.as_ptr()).cast());
        }
    }
}

#[expect(unsafe_code, reason = "DLPack passes raw addresses")]
unsafe extern "C" fn drop_tensor(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: Python calls it once.
    unsafe { drop_capsule::<DLManagedTensor>(capsule, TENSOR) };
}

#[expect(unsafe_code, reason = "DLPack passes raw addresses")]
unsafe extern "C" fn drop_versioned(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: as above.
    unsafe { drop_capsule::<DLManagedTensorVersioned>(capsule, VERSIONED) };
}

#[pymethods]
impl DeviceArray {
    /// The device that has the array.
    #[getter]
    fn device(&self) -> String {
        match self.values.device() {
            Device::Cpu => "cpu".into(),
            Device::Cuda(ordinal) => format!("cuda:{ordinal}"),
        }
    }

    /// Elements along each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    fn __repr__(&self) -> String {
        format!(
            "<cutlink.DeviceArray: float32, {:?} on {}>",
            self.shape,
            self.device()
        )
    }

    /// A copy in host memory.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values = py
            .detach(|| self.values.to_host())
            .map_err(Error::from)
            .or_raise(py)?;
        Ok(values
            .into_pyarray(py)
            .reshape(self.shape.clone())?
            .into_any())
    }

    /// The CUDA array interface, version 3. All work is done, so no stream is named.
    #[getter(__cuda_array_interface__)]
    fn cuda_array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.values.device() == Device::Cpu {
            return Err(PyAttributeError::new_err("the array is in host memory"));
        }
        let interface = PyDict::new(py);
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("typestr", "<f4")?;
        interface.set_item("data", (self.values.address(), false))?;
        interface.set_item("version", 3)?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", py.None())?;
        Ok(interface)
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        let device = self.dl_device();
        (device.device_type, device.device_id)
    }

    /// A tensor in a capsule. All work is done, so that any stream may use it.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = stream;
        if dl_device.is_some_and(|wanted| wanted != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err(format!(
                "the array is on {}; numpy() copies it to host memory",
                self.device()
            )));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("the array is shared, not copied"));
        }
        let (owner, info) = (Arc::clone(&self.values), self.info());
        if max_version.is_some_and(|(major, _)| major >= 1) {
            let tensor = safe::pack_versioned(owner, info, 0);
            capsule(py, tensor, VERSIONED, drop_versioned)
        } else {
            capsule(py, safe::pack(owner, info), TENSOR, drop_tensor)
        }
    }
}
