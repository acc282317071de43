// Cells around a cell: `FlowMesh::near`.

#pragma once

#include "mesh.cuh"

// A cell near another one.
struct Near {
    // From the other cell.
    Ints step;
    Cell cell;
    // Else the cell is beyond the box, and `cell` is its mirror image.
    bool is_inside;
};

// Cells up to `reach` away along each axis.
__device__ constexpr int near_count(int reach) {
    const int wide = 2 * reach + 1;
    return D == 2 ? wide * wide : wide * wide * wide;
}

// The step to the k-th of them.
__device__ inline Ints near_step(int reach, int k) {
    const int wide = 2 * reach + 1;
    Ints step;
    for (int a = 0; a < D; a++) {
        step.v[a] = k % wide - reach;
        k /= wide;
    }
    return step;
}

// The cell some steps away, at most 4 along each axis.
__device__ inline Near near_at(const Mesh& mesh, Cell of, Ints step) {
    Ints to;
    for (int a = 0; a < D; a++) {
        to.v[a] = cell_coord(of.cell, a) + step.v[a];
    }
    return {step, mesh.cell_at(of.block, to), mesh.is_inside(of.block, to)};
}

// The k-th of the cells around, `reach` at most 4.
__device__ inline Near near_cell(const Mesh& mesh, Cell of, int reach, int k) {
    return near_at(mesh, of, near_step(reach, k));
}

// Whether one of the cells around a cell, corners included, is solid or beyond the box.
__device__ inline bool sees_wall(const Mesh& mesh, Cell of) {
    for (int k = 0; k < DIRECTIONS; k++) {
        const Near near = near_cell(mesh, of, 1, k);
        if (!near.is_inside || mesh.is_solid(near.cell.block, near.cell.cell)) {
            return true;
        }
    }
    return false;
}
