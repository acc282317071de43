"""vtkPolyDataToImageStencil: which cell centres of an n³ grid of the unit box are inside."""

import json
import sys
import time

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkImagingStencil import vtkImageStencilToImage, vtkPolyDataToImageStencil
from vtkmodules.vtkIOGeometry import vtkSTLReader
from vtkmodules.vtkIOPLY import vtkPLYReader

path, n = sys.argv[1], int(sys.argv[2])
clock = [time.perf_counter()]
reader = vtkPLYReader() if path.endswith(".ply") else vtkSTLReader()
reader.SetFileName(path)
reader.Update()
clock.append(time.perf_counter())

stencil = vtkPolyDataToImageStencil()
stencil.SetInputConnection(reader.GetOutputPort())
stencil.SetOutputOrigin(*[0.5 / n] * 3)
stencil.SetOutputSpacing(*[1 / n] * 3)
stencil.SetOutputWholeExtent(0, n - 1, 0, n - 1, 0, n - 1)
image = vtkImageStencilToImage()
image.SetInputConnection(stencil.GetOutputPort())
image.SetOutputScalarTypeToUnsignedChar()
image.SetInsideValue(1)
image.SetOutsideValue(0)
image.Update()
clock.append(time.perf_counter())

mask = vtk_to_numpy(image.GetOutput().GetPointData().GetScalars())
print(json.dumps({"read": clock[1] - clock[0], "work": clock[2] - clock[1], "inside": int(np.count_nonzero(mask))}))
if sys.argv[3:]:
    np.save(sys.argv[3], mask.reshape(n, n, n).astype(bool))
