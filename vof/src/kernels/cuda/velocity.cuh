// Values of cells beside one another, across levels and at faces of the box: `velocity.rs`. `Blocks::next` is its
// `next`.

#pragma once

#include "mesh.cuh"
#include "params.cuh"

// A velocity component beyond a side of a cell; at faces of the box as a mirror gives the boundary's value; of solid
// cells as at a wall at rest.
__device__ inline double beyond(const Mesh& mesh, const Params& params, const double* u, int component, Cell at,
                                int side) {
    const double own = u[at.index()];
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    if (other.block != OUTSIDE) {
        return mesh.is_solid(other.block, other.cell) ? -own : u[other.index()];
    }
    const BoxFace& face = params.face(side);
    switch (face.kind) {
        case BoxKind::SLIP:
            return component == side >> 1 ? -own : own;
        case BoxKind::NO_SLIP:
            return -own;
        case BoxKind::INFLOW:
            return 2.0 * face.velocity[component] - own;
        default:
            return own;
    }
}

// A slope by the differences to the cells on both sides, limited.
__device__ inline double limited(double low, double high) {
    if (low * high <= 0.0) {
        return 0.0;
    }
    const double mean = 0.5 * (low + high);
    return copysign(1.0, mean) * fmin(fmin(fabs(mean), 2.0 * fabs(low)), 2.0 * fabs(high));
}

// The slope of a velocity component over a cell along an axis, limited.
__device__ inline double slope(const Mesh& mesh, const Params& params, const double* u, int component, Cell at,
                               int axis) {
    const double own = u[at.index()];
    const double low = own - beyond(mesh, params, u, component, at, 2 * axis);
    const double high = beyond(mesh, params, u, component, at, 2 * axis + 1) - own;
    return limited(low, high);
}
