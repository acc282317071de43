// What is known of the interface: `interface.rs`, which has the order of operations.

#pragma once

#include "mesh.cuh"
#include "plane.cuh"

__device__ inline bool is_mixed(double c) {
    return c > PURE && c < 1.0 - PURE;
}

__device__ inline bool is_trace(double c) {
    return c > TRACE && c < 1.0 - TRACE;
}

// What is in a cell or a block: `Kind`.
constexpr uint8_t GAS = 0, LIQUID = 1, BOTH = 2;

__device__ inline uint8_t kind_of(double c) {
    return c >= 1.0 - TRACE ? LIQUID : c <= TRACE ? GAS : BOTH;
}

// Vectors of the cells of the finest level, one component after another.
struct Vectors {
    double* of;
    uint64_t cells;

    __device__ Vector get(uint64_t i) const {
        Vector x;
        for (int a = 0; a < D; a++) {
            x.v[a] = of[a * cells + i];
        }
        return x;
    }

    __device__ void set(uint64_t i, Vector x) const {
        for (int a = 0; a < D; a++) {
            of[a * cells + i] = x.v[a];
        }
    }
};

// Planes of the mixed cells of the finest level: `Planes` of `interface.rs` of this folder.
struct Planes {
    Vectors normals;
    double* constants;
    // By block of the finest level: whether it has planes. Those of other blocks have not been written.
    uint8_t* has;
    uint64_t first;

    __device__ bool has_some(uint32_t block) const { return block >= first && has[block - first]; }

    // The number of a cell of the finest level.
    __device__ uint64_t index(Cell cell) const { return cell.index() - first * CELLS; }

    // The part that is liquid of what leaves a cell in a step through a side: `courant` is its width in cells.
    __device__ double leaving(double c, Cell cell, int side, double courant) const {
        if (!is_mixed(c)) {
            return c > 0.5 ? 1.0 : 0.0;
        }
        if (!has_some(cell.block)) {
            return c;
        }
        const uint64_t i = index(cell);
        const bool is_upper = side & 1;
        return slab(normals.get(i), constants[i], side >> 1, is_upper ? 1.0 - courant : 0.0, is_upper ? 1.0 : courant);
    }
};
