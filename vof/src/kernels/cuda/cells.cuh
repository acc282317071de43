// Kernels that have a thread for each cell of all blocks.

#pragma once

#include "mesh.cuh"

// The thread's cell; of block `count` or above where there is none.
__device__ inline Cell own_cell() {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    return {static_cast<uint32_t>(n / CELLS), static_cast<int>(n % CELLS)};
}

__device__ inline bool is_of_leaf(const Mesh& mesh, Cell cell) {
    return cell.block < mesh.count && mesh.blocks.is_leaf(cell.block);
}

// The place of a cell's face on one of its sides.
__device__ inline uint64_t face_index(Cell cell, int side) {
    return cell.block * static_cast<uint64_t>(PER_BLOCK) + face_of(side, cell.cell);
}

// The difference of values of faces over a cell along an axis.
__device__ inline double rise(const double* values, Cell cell, int axis) {
    const uint64_t face = face_index(cell, 2 * axis);
    return values[face + stride(axis)] - values[face];
}
