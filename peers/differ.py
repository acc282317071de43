"""differ.py SURFACE N MESH.cutlink MASK.npy ...: where other masks differ from cutlink's,
and how far those cell centres are from the surface of the file, in cells."""

import json
import sys

import numpy as np
import pyvista as pv
from vtkmodules.vtkFiltersCore import vtkImplicitPolyDataDistance


def solid(path, n):
    """The mask of a forest of one level, [z, y, x]."""
    data = np.memmap(path, np.uint8)
    size = int(data[:8].view("<u8")[0])
    entry = json.loads(bytes(data[8 : 8 + size]))["solid"]
    begin, end = (8 + size + offset for offset in entry["data_offsets"])
    words = data[begin:end]
    blocks = n // 4
    cells = np.unpackbits(words, bitorder="little").reshape(blocks, blocks, blocks, 4, 4, 4)
    return cells.transpose(0, 3, 1, 4, 2, 5).reshape(n, n, n).astype(bool)


def main(surface, n, mesh, *masks):
    n = int(n)
    ours = solid(mesh, n)
    distance = vtkImplicitPolyDataDistance()
    distance.SetInput(pv.read(surface))
    for path in masks:
        theirs = np.load(path)
        z, y, x = (ours != theirs).nonzero()
        d = np.array([distance.EvaluateFunction((a + 0.5) / n, (b + 0.5) / n, (c + 0.5) / n) for a, b, c in zip(x, y, z)])
        right = (d < 0) == ours[z, y, x]
        row = {
            "mask": path,
            "theirs": int(theirs.sum()),
            "ours": int(ours.sum()),
            "differ": len(d),
            "farthest_cells": float(np.abs(d).max() * n) if len(d) else 0.0,
            "median_cells": float(np.median(np.abs(d)) * n) if len(d) else 0.0,
            "farther_than_snapping": int((np.abs(d) * n > 3**0.5 / 512).sum()),
            "signed_distance_agrees_with_ours": int(right.sum()),
        }
        print(json.dumps(row))


main(*sys.argv[1:])
