"""A mesh and a flow with nothing but the wheel and numpy."""

import sys

import cutlink
import numpy as np

missing = [name for name in ("pyvista", "trimesh", "pandas", "xarray", "matplotlib") if name in sys.modules]
assert not missing, f"imported: {missing}"
mesh = cutlink.mesh("sphere:r=0.5", domain=[-1, -1, -1, 1, 1, 1], root=32, levels=2)
mesh.check()
cells = mesh.cells()
volume = (cells.size**3)[cells.cell_class == 2].sum()
assert abs(volume / (4 / 3 * np.pi * 0.5**3) - 1) < 0.01, volume

# A periodic array of cylinders in fluid at rest that is accelerated: what the fluid does not take up, the walls do.
array = cutlink.mesh("circle:r=0.25", domain=[-1, -1, 1, 1], root=32, levels=1, periodic="xy")
flow = cutlink.Flow(array, viscosity=0.05, acceleration=[1e-5, 0.0], precision="f64")
flow.advance(200)
flow.check()
kinds = array.cells()
fluid = kinds.cell_class != 2
fields = flow.fields()
density = fields.density[kinds.block, kinds.cell][fluid].astype(float)
momentum = (density * fields.velocity[0][kinds.block, kinds.cell][fluid]).sum()
taken = flow.forces().forces[:, 0, 0].sum()
given = 200 * 1e-5 * density.sum()
assert abs((momentum + taken) / given - 1) < 0.01, (momentum, taken, given)
assert taken > 0.01 * given
print(
    f"cutlink {cutlink.__version__}: volume {volume:.4f}, momentum {(momentum + taken) / given:.4f} of what was given"
)
