// Where what crosses a face comes from: `from` of `sweep.rs`.

#pragma once

#include "mesh.cuh"

// The cell that what crosses a face comes from, of block OUTSIDE from outside; the side that it leaves by, and how wide it is
// in this cell.
struct From {
    Cell cell;
    int leaves;
    double courant;
};

__device__ inline From from_where(const Mesh& mesh, int axis, double dt, Cell own, int side, double q) {
    const bool is_own = (q > 0.0) == (side % 2 == 1);
    const Cell cell = is_own ? own : mesh.blocks.next(own.block, own.cell, side);
    const double width = cell.block == OUTSIDE ? 1.0 : mesh.width(cell.block);
    return {cell, 2 * axis + (q > 0.0), fabs(q) * dt / width};
}
