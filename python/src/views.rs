//! Arrays of a mesh as numpy arrays, without a copy.

use crate::mesh::{NativeMesh, of_mesh};
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// A read-only array over `data`, which `owner` holds; the array keeps `owner` alive.
#[expect(unsafe_code, reason = "a view without a copy")]
pub(crate) fn rows<'py, C, T>(
    owner: &Bound<'py, C>,
    pick: impl FnOnce(&C) -> &[T],
) -> Bound<'py, PyAny>
where
    C: PyClass<Frozen = True> + Sync,
    T: Element,
{
    let view = ArrayView1::from(pick(owner.get()));
    // SAFETY: the closure picks from the object itself, so the data is the object's (or static). The object is frozen
    // and its mesh is never changed, so the data is neither moved nor freed while the object lives. The array holds a
    // reference to the object.
    let array = unsafe { PyArray1::borrow_from_array(&view, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    array.into_any()
}

/// The coordinates of the blocks, (n, D), likewise.
pub(crate) fn coordinates<'py>(owner: &Bound<'py, NativeMesh>) -> PyResult<Bound<'py, PyAny>> {
    let flat = rows(
        owner,
        |this| of_mesh!(&*this.mesh, mesh => mesh.forest.coord.as_flattened()),
    );
    let columns = of_mesh!(&*owner.get().mesh, mesh => mesh.frame.origin.len());
    // A view of a read-only array is read-only.
    flat.call_method1("reshape", (-1, columns))
}
