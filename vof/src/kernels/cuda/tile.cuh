// A block's values and those of four cells around, in memory that the threads of a thread block share:
// `FlowMesh::tile`.

#pragma once

#include "mesh.cuh"

constexpr int WIDE = 4 + 2 * MARGIN;
constexpr int TILE = D == 2 ? WIDE * WIDE : WIDE * WIDE * WIDE;

constexpr int TILE_THREADS = D == 2 ? TILE_THREADS_2D : TILE_THREADS_3D;

// Step of a tile along an axis.
__device__ constexpr int tile_step(int axis) {
    return axis == 0 ? 1 : axis == 1 ? WIDE : WIDE * WIDE;
}

// The place in a tile of one of the block's cells.
__device__ inline int in_tile(int cell) {
    int at = 0;
    for (int a = 0; a < D; a++) {
        at += (cell_coord(cell, a) + MARGIN) * tile_step(a);
    }
    return at;
}

// A place in a tile, some cells away.
__device__ inline int shifted(int at, Ints to) {
    for (int a = 0; a < D; a++) {
        at += to.v[a] * tile_step(a);
    }
    return at;
}

// All threads of a thread block fill a tile, and wait for one another.
__device__ inline void fill_tile(const Mesh& mesh, const double* values, uint32_t block, double* tile) {
    const uint32_t* const around = mesh.around + block * static_cast<uint64_t>(DIRECTIONS);
    for (int i = threadIdx.x; i < DIRECTIONS * CELLS; i += blockDim.x) {
        const int direction = i / CELLS, cell = i % CELLS;
        const uint32_t other = around[direction];
        Ints to;
        int at = 0;
        for (int a = 0; a < D; a++) {
            to.v[a] = 4 * step(direction, a) + cell_coord(cell, a);
            at += (to.v[a] + MARGIN) * tile_step(a);
        }
        const bool is_plain = other != OUTSIDE && mesh.blocks.level[other] == mesh.blocks.level[block];
        const Cell from = is_plain ? Cell{other, cell} : mesh.cell_at(block, to);
        tile[at] = values[from.index()];
    }
    __syncthreads();
}
