"""pyvista: `voxelize_binary_mask` onto an n³ grid, or `select_interior_points` of its centres."""

import json
import sys
import time

import numpy as np
import pyvista as pv

path, n, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
clock = [time.perf_counter()]
surface = pv.read(path)
clock.append(time.perf_counter())
grid = pv.ImageData(dimensions=(n, n, n), spacing=(1 / n,) * 3, origin=(0.5 / n,) * 3)
if how == "mask":
    mask = surface.voxelize_binary_mask(reference_volume=grid)["mask"]
else:
    select = grid.select_interior_points
    mask = select(surface, method="cell_locator" if how == "cell_locator" else "signed_distance")["selected_points"]
clock.append(time.perf_counter())
inside = int(np.count_nonzero(np.asarray(mask)))
print(json.dumps({"read": clock[1] - clock[0], "work": clock[2] - clock[1], "inside": inside}))
