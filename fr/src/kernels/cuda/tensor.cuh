// Values at the points of a face from those at others: `tensor` of `mortar.rs`.

#pragma once

#include "elements.cuh"

// A value at a point of a face, of those in `from`, by a matrix for each axis of the face. `rows` is scratch for all points;
// the group waits once, and may write `from` after it.
template <int Q, int N, typename T>
__device__ __forceinline__ void tensor(unsigned group, const T* lower, const T* upper, const T* from, T* rows, int point,
                                       T (&to)[N]) {
    using S = Shape<Q>;
    const int b = point / Q;
#pragma unroll
    for (int v = 0; v < N; v++) {
        const T* line = from + v * S::FACE + b * Q;
        T sum = lower[0] * line[0];
#pragma unroll
        for (int j = 1; j < Q; j++) {
            sum = mul_add(lower[j], line[j], sum);
        }
        to[v] = sum;
        rows[v * S::FACE + point] = sum;
    }
    __syncwarp(group);
    if constexpr (D == 3) {
#pragma unroll
        for (int v = 0; v < N; v++) {
            const T* column = rows + v * S::FACE + point % Q;
            T sum = upper[0] * column[0];
#pragma unroll
            for (int j = 1; j < Q; j++) {
                sum = mul_add(upper[j], column[j * Q], sum);
            }
            to[v] = sum;
        }
    }
}
