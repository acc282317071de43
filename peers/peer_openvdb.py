"""OpenVDB: a level set from the triangles; inside is below 0. `sparse` is the level set,
`work` that and a dense mask of one byte a cell, made in slabs."""

import json
import sys
import time

import numpy as np
import pyopenvdb as vdb

from surface import indexed

path, n = sys.argv[1], int(sys.argv[2])
clock = [time.perf_counter()]
points, triangles = indexed(path)
# Integer coordinates of OpenVDB are cell centres here.
points = (points - 0.5 / n).astype(np.float32)
triangles = np.ascontiguousarray(triangles, np.uint32)
clock.append(time.perf_counter())
transform = vdb.createLinearTransform(voxelSize=1 / n)
grid = vdb.FloatGrid.createLevelSetFromPolygons(
    points, triangles=triangles, transform=transform, halfWidth=1.5
)
clock.append(time.perf_counter())
thick = 32
mask = np.empty((n, n, n), np.uint8)
slab = np.empty((thick, n, n), np.float32)
for k in range(0, n, thick):
    grid.copyToArray(slab, ijk=(k, 0, 0))
    np.less(slab, 0, out=mask[k : k + thick].view(bool))
clock.append(time.perf_counter())
print(
    json.dumps(
        {
            "read": clock[1] - clock[0],
            "work": clock[3] - clock[1],
            "sparse": clock[2] - clock[1],
            "grid_bytes": grid.memUsage(),
            "inside": int(np.count_nonzero(mask)),
        }
    )
)
if sys.argv[3:]:
    np.save(sys.argv[3], mask.transpose(2, 1, 0).astype(bool))
