// Included by all kernels: the dimension they are compiled for, index arithmetic, and the thread index.

#pragma once

#include <cstdint>

constexpr int D = CUTLINK_D;
static_assert(D == 2 || D == 3, "2D or 3D");

struct Ints {
    int32_t v[D];
};

// Coordinate a of the i-th cell of a block of 4 cells an axis.
__host__ __device__ constexpr int cell_coord(int i, int a) {
    return i >> 2 * a & 3;
}

// The quotient rounded down, q above 0.
__device__ inline int floor_div(int p, int q) {
    const int quotient = p / q;
    return quotient - (p % q < 0);
}

__device__ inline uint32_t thread_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}
