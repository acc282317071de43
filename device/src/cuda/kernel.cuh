// What all kernels share: the dimension they are compiled for, and the number of a thread.

#pragma once

#include <cstdint>

constexpr int D = CUTLINK_D;
static_assert(D == 2 || D == 3, "the plane or space");

struct Ints {
    int32_t v[D];
};

__host__ __device__ constexpr int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

// Coordinate a of the i-th item of a cube of `edge` items an axis.
__host__ __device__ constexpr int unravel(int i, int edge, int a) {
    return i / power(edge, a) % edge;
}

__device__ inline uint32_t thread_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}
