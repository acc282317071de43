// Sums in a fixed order: `host/vectors.rs`.

#pragma once

#include "elliptic_constants.cuh"
#include "kernel.cuh"

// The sum of a value of each thread of a block of a power of 2 of threads, in thread 0: the upper half is added to the
// lower one, and so on. `shared` has room for half of them.
template <int THREADS>
__device__ double tree(double value, double* shared) {
    for (int half = THREADS / 2; half > 0; half /= 2) {
        const int t = threadIdx.x;
        if (t >= half && t < 2 * half) {
            shared[t - half] = value;
        }
        __syncthreads();
        if (t < half) {
            value += shared[t];
        }
        __syncthreads();
    }
    return value;
}

// `ordered_sum` of values, by a block of LANES threads; in thread 0.
__device__ inline double ordered_sum(const double* values, uint64_t count) {
    __shared__ double shared[LANES / 2];
    double sum = 0.0;
    for (uint64_t i = threadIdx.x; i < count; i += LANES) {
        sum += values[i];
    }
    return tree<LANES>(sum, shared);
}

// The sum of a value of each cell of a block, by a thread of each of its cells, in the first of them. Threads of a warp
// have blocks one after another.
__device__ inline double block_sum(double value) {
    if constexpr (D == 3) {
        // The upper half is the next warp's: two warps a block.
        __shared__ double upper[32 * 32];
        const int lane = threadIdx.x % 64, group = threadIdx.x / 64;
        if (lane >= 32) {
            upper[group * 32 + lane - 32] = value;
        }
        __syncthreads();
        if (lane < 32) {
            value += upper[group * 32 + lane];
        }
        __syncthreads();
        for (int half = 16; half > 0; half /= 2) {
            value += __shfl_down_sync(~0u, value, half);
        }
    } else {
        for (int half = 8; half > 0; half /= 2) {
            value += __shfl_down_sync(~0u, value, half, 16);
        }
    }
    return value;
}
