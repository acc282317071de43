#!/usr/bin/env python3
"""Renders a case of OpenFOAM: the body, and the cells below a plane, coloured by velocity.

    openfoam.py CASE OUT.png Z

Needs pyvista. The picture of docs/openfoam.md is made with it, of the snapped mesh and its flow.
"""

import sys
from pathlib import Path

import numpy as np
import pyvista as pv
from PIL import Image

case, target, z = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
marker = case / "case.foam"
marker.touch()
reader = pv.OpenFOAMReader(marker)
reader.set_active_time_value(reader.time_values[-1])
mesh = reader.read()
cells, body = mesh["internalMesh"], mesh["boundary"]["body"]
below = cells.extract_cells(np.flatnonzero(cells.cell_centers().points[:, 2] < z)).extract_surface(algorithm="dataset_surface")
center = below.cell_centers().points
top = below.extract_cells(np.flatnonzero((abs(center[:, 2] - z) < 0.05) & (center[:, 0] > -0.2) & (center[:, 0] < 1.42)))
top.cell_data["velocity [m/s]"] = np.linalg.norm(top.cell_data["U"], axis=1)
plotter = pv.Plotter(off_screen=True, window_size=(1200, 700))
plotter.set_background("white")
bar = {"color": "black", "position_x": 0.3, "position_y": 0.01, "height": 0.09, "width": 0.4, "fmt": "%.1f", "n_labels": 4}
plotter.add_mesh(
    top,
    scalars="velocity [m/s]",
    cmap="viridis",
    clim=(0, 1.2),
    show_edges=True,
    edge_color="#303030",
    line_width=0.4,
    lighting=False,
    scalar_bar_args=bar,
)
plotter.add_mesh(body, color="#d8cbb8", show_edges=True, edge_color="#5a4a3a", line_width=0.5)
plotter.camera_position = [(0.5, -0.95, 2.75), (0.61, 0.42, 0.45), (0, 1, 0)]
plotter.camera.zoom(1.3)
plotter.screenshot(target)
Image.open(target).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)
