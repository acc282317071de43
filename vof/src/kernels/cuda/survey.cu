// What the host decides on after a step: `survey.rs`.

#include "cells.cuh"
#include "components.cuh"
#include "interface.cuh"

// Numbers that are not negative are ordered as their bits, and NaN is above all of them.
__device__ inline unsigned long long key(double x) {
    return static_cast<unsigned long long>(__double_as_longlong(fabs(x)));
}

__device__ inline void keep_largest(unsigned long long* to, unsigned long long key) {
    for (int other = 16; other > 0; other /= 2) {
        const unsigned long long there = __shfl_down_sync(~0u, key, other);
        key = there > key ? there : key;
    }
    if (threadIdx.x % 32 == 0 && key > 0) {
        atomicMax(to, key);
    }
}

// Whether the values of a cell are not finite, or its fraction is not in 0 to 1.
__device__ inline bool is_bad(const double* alpha, const Components& velocity, const double* pressure, uint64_t own) {
    const double c = alpha[own];
    bool is_sound = c >= -BOUND && c <= 1.0 + BOUND && isfinite(pressure[own]);
    for (int a = 0; a < D; a++) {
        is_sound = is_sound && isfinite(velocity.of[a][own]);
    }
    return !is_sound;
}

// Whether a cell that the mesh could refine, or one beside it, corners included, has another fluid than the first cell of
// its block.
__device__ inline bool is_at_edge(const Mesh& mesh, const double* alpha, Cell cell, uint32_t levels) {
    if (mesh.blocks.level[cell.block] + 1u >= levels) {
        return false;
    }
    const uint8_t own = kind_of(alpha[cell.block * static_cast<uint64_t>(CELLS)]);
    bool is = own == BOTH;
    for (int k = 0; k < DIRECTIONS; k++) {
        Ints to;
        for (int a = 0; a < D; a++) {
            to.v[a] = cell_coord(cell.cell, a) + step(k, a);
        }
        is = is || kind_of(alpha[mesh.cell_at(cell.block, to).index()]) != own;
    }
    return is;
}

// Of leaves, keys of the largest velocity through a face over the width of its cells, and of the largest divergence; 1
// where a cell is bad, and
// where the interface is near a cell that the mesh could refine up to so many levels.
extern "C" __global__ void survey(const __grid_constant__ Mesh mesh, const double* alpha,
                                  const __grid_constant__ Components velocity, const double* pressure,
                                  const double* flux, uint32_t levels, unsigned long long* out) {
    const Cell cell = own_cell();
    unsigned long long fastest = 0, divergence = 0, bad = 0, edge = 0;
    if (is_of_leaf(mesh, cell)) {
        const double h = mesh.width(cell.block);
        double sum = 0.0;
        for (int axis = 0; axis < D; axis++) {
            for (int side = 2 * axis; side <= 2 * axis + 1; side++) {
                const unsigned long long own = key(flux[face_index(cell, side)] / h);
                fastest = own > fastest ? own : fastest;
            }
            const double along = rise(flux, cell, axis);
            sum = axis == 0 ? along : sum + along;
        }
        divergence = key(sum / h);
        bad = is_bad(alpha, velocity, pressure, cell.index());
        edge = is_at_edge(mesh, alpha, cell, levels);
    }
    keep_largest(out, fastest);
    keep_largest(out + 1, divergence);
    keep_largest(out + 2, bad);
    keep_largest(out + 3, edge);
}
