// Columns of points along the last axis, which threads have in registers, and lines along the others, which a group has in
// shared memory.

#pragma once

#include "elements.cuh"

// A number for each axis.
template <typename T>
struct ByAxis {
    T v[D];
};

// Where a point of a column, `k` points up, is in an array of all points in shared memory. For 4 x 4 x 4 points, any two
// axes run over different banks: (x, y, z) is at (x + z, y + 2 z) of the field with four elements.
template <int Q>
__device__ __forceinline__ int place_of(int point, int k) {
    if (D == 3 && Q == 4) {
        return k * 16 + (point ^ (((k ^ k >> 1) & 1) << 3 | (k >> 1) << 2 | k));
    }
    return k * Shape<Q>::FACE + point;
}

// The point `j` of the line along `axis`, which is not the last, to point `f` of the axis' faces: its place in the lowest
// face, and how far up it is.
template <int Q>
__device__ __forceinline__ int on_line(int axis, int f, int j) {
    return D == 2 ? j : axis == 0 ? f % Q * Q + j : j * Q + f % Q;
}

template <int Q>
__device__ __forceinline__ int height_of(int f) {
    return D == 2 ? f : f / Q;
}

// A number of an element's traces, from its state.
template <typename T, int Q>
__device__ T trace_of(const T* u, int n, const T* matrices) {
    using S = Shape<Q>;
    const int f = n % S::FACE, v = n / S::FACE % V, face = n / S::TRACE, axis = face / 2;
    const T* edge = Matrices<T, Q>{matrices}.edge(face % 2);
    const T* from = u + v * S::NODES;
    T sum = T(0);
    for (int j = 0; j < Q; j++) {
        const int at = axis == D - 1 ? j * S::FACE + f : height_of<Q>(f) * S::FACE + on_line<Q>(axis, f, j);
        sum = j == 0 ? edge[0] * from[at] : mul_add(edge[j], from[at], sum);
    }
    return sum;
}

// What a thread has of the derivative along an axis that is not the last: its row of the matrix.
template <typename T, int Q>
struct Row {
    T divergence[Q], correction[2];

    __device__ __forceinline__ Row(const Matrices<T, Q>& matrices, int i) {
#pragma unroll
        for (int j = 0; j < Q; j++) {
            divergence[j] = matrices.divergence(i)[j];
        }
        correction[0] = matrices.correction(0)[i];
        correction[1] = matrices.correction(1)[i];
    }
};
