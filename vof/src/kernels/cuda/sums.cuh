// Sums in an order that many threads can keep: `sums.rs`.

#pragma once

#include "kernel.cuh"

// Places that a long sum is divided over: the threads of a thread block.
constexpr int LANES = 1024;

// The sum over `COUNT` threads side by side, for all of them: halves are added until one value is left. `shared` has a place
// for each thread of the thread block, all of which come here.
template <int COUNT>
__device__ double tree(double value, double* shared) {
    const int lane = threadIdx.x % COUNT;
    double* const own = shared + threadIdx.x;
    *own = value;
    for (int half = COUNT / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) {
            *own += own[half];
        }
    }
    __syncthreads();
    const double sum = own[-lane];
    // Before the next sum is written.
    __syncthreads();
    return sum;
}

// The sum of many values, by a thread block of LANES threads: each adds its values in their order, then theirs are added.
__device__ inline double ordered(const double* values, uint32_t count, double* shared) {
    double sum = 0.0;
    for (uint32_t i = threadIdx.x; i < count; i += LANES) {
        sum += values[i];
    }
    return tree<LANES>(sum, shared);
}
