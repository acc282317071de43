#!/usr/bin/env python3
"""Renders the voxel surfaces that `cutlink inspect --solid-stl` writes.

    voxels.py IN.stl OUT.png AZIMUTH ELEVATION UP      degrees; UP is y or z

Needs pyvista. The pictures of docs/pictures.md are made with it.
"""

import sys

import numpy as np
import pyvista as pv

source, target, azimuth, elevation, up = sys.argv[1:]
mesh = pv.read(source)
plotter = pv.Plotter(off_screen=True, window_size=(1000, 760), lighting="none")
plotter.set_background("white")
plotter.add_mesh(mesh, color="#aebdcc", smooth_shading=False, ambient=0.3, diffuse=0.75)
turn, rise = np.radians(float(azimuth)), np.radians(float(elevation))
flat = (np.cos(rise) * np.cos(turn), np.cos(rise) * np.sin(turn), np.sin(rise))
view = np.array(flat if up == "z" else (flat[1], flat[2], flat[0]))
center = np.array(mesh.center)
top = np.array((0.0, 0.0, 1.0) if up == "z" else (0.0, 1.0, 0.0))
side = np.cross(top, view)
for direction, intensity in [(view + 0.6 * top + 0.8 * side, 0.9), (view - 0.7 * side, 0.35)]:
    plotter.add_light(pv.Light(position=tuple(center + mesh.length * direction), focal_point=tuple(center), intensity=intensity))
plotter.camera_position = [tuple(center + 1.6 * mesh.length * view), tuple(center), tuple(top)]
plotter.camera.zoom(1.15)
plotter.screenshot(target)
