// The state of an adapted tree: `transfer.rs`, which has the order of operations.

#include "elements.cuh"

// Values of one unknown in a column of points, from those of an element with a matrix for each axis. `rows` is scratch for
// all points of the group.
template <typename T, int Q>
__device__ __forceinline__ void tensor(unsigned group, const T* along_x, const T* along_y, const T* along_z, const T* from,
                                       T* rows, int point, T (&to)[Q]) {
    using S = Shape<Q>;
    const int a = point % Q, b = point / Q;
    T column[Q];
#pragma unroll
    for (int k = 0; k < Q; k++) {
        const T* line = from + k * S::FACE + (D == 3 ? b * Q : 0);
        T sum = along_x[a * Q] * line[0];
#pragma unroll
        for (int j = 1; j < Q; j++) {
            sum = mul_add(along_x[a * Q + j], line[j], sum);
        }
        column[k] = sum;
    }
    if constexpr (D == 3) {
#pragma unroll
        for (int k = 0; k < Q; k++) {
            rows[k * S::FACE + point] = column[k];
        }
        __syncwarp(group);
#pragma unroll
        for (int k = 0; k < Q; k++) {
            const T* line = rows + k * S::FACE + a;
            T sum = along_y[b * Q] * line[0];
#pragma unroll
            for (int j = 1; j < Q; j++) {
                sum = mul_add(along_y[b * Q + j], line[j * Q], sum);
            }
            column[k] = sum;
        }
        __syncwarp(group);
    }
    const T* last = D == 3 ? along_z : along_y;
#pragma unroll
    for (int k = 0; k < Q; k++) {
        T sum = last[k * Q] * column[0];
#pragma unroll
        for (int j = 1; j < Q; j++) {
            sum = mul_add(last[k * Q + j], column[j], sum);
        }
        to[k] = sum;
    }
}

// The last of the old leaves whose place or part of it a new leaf has. `first` has an entry more than there are old leaves.
__device__ inline uint32_t origin(const uint32_t* first, uint32_t old, uint32_t leaf) {
    uint32_t low = 0, high = old;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (first[middle] <= leaf) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// A group has a new element.
template <typename T, int Q>
__device__ void transfer(const uint8_t* marks, const uint32_t* first, uint32_t old, uint32_t count, const T* from,
                         Matrices<T, Q> matrices, T* to) {
    using S = Shape<Q>;
    constexpr int CHILDREN = 1 << D;
    __shared__ T memory[S::PER_BLOCK][S::template padded<T>(S::NODES)];
    const Place<Q> place(count);
    const unsigned group = __ballot_sync(~0u, place.is_on) &
                           ((1u << S::FACE) - 1) << threadIdx.x % 32 / S::FACE * S::FACE;
    if (!place.is_on) {
        return;
    }
    T* rows = memory[place.group];
    const int point = place.point;
    const uint32_t leaf = place.item, source = origin(first, old, leaf);
    const uint8_t mark = marks[source];
    T* own = to + static_cast<size_t>(leaf) * S::ELEMENT;
#pragma unroll 1
    for (int v = 0; v < V; v++) {
        const T* there = from + static_cast<size_t>(source) * S::ELEMENT + v * S::NODES;
        T column[Q];
        if (mark == REFINE) {
            const int child = static_cast<int>(leaf - first[source]);
            tensor<T, Q>(group, matrices.half(child & 1, 0), matrices.half(child >> 1 & 1, 0), matrices.half(child >> 2, 0),
                         there, rows, point, column);
        } else if (mark == COARSEN) {
#pragma unroll
            for (int k = 0; k < Q; k++) {
                column[k] = 0;
            }
            const T* child_state = there - static_cast<size_t>(CHILDREN - 1) * S::ELEMENT;
#pragma unroll 1
            for (int child = 0; child < CHILDREN; child++) {
                T part[Q];
                tensor<T, Q>(group, matrices.projection(child & 1, 0), matrices.projection(child >> 1 & 1, 0),
                             matrices.projection(child >> 2, 0), child_state + static_cast<size_t>(child) * S::ELEMENT, rows,
                             point, part);
#pragma unroll
                for (int k = 0; k < Q; k++) {
                    column[k] = column[k] + part[k];
                }
            }
        } else {
#pragma unroll
            for (int k = 0; k < Q; k++) {
                column[k] = there[k * S::FACE + point];
            }
        }
#pragma unroll
        for (int k = 0; k < Q; k++) {
            own[v * S::NODES + k * S::FACE + point] = column[k];
        }
    }
}

#define TRANSFER(T, Q)                                                                                                     \
    extern "C" __global__ __launch_bounds__(THREADS) void transfer_##T##_##Q(                                              \
        const uint8_t* marks, const uint32_t* first, uint32_t old, uint32_t count, const T* from, const T* matrices, T* to) { \
        transfer<T, Q>(marks, first, old, count, from, Matrices<T, Q>{matrices}, to);                                      \
    }

TRANSFER(float, 2)
TRANSFER(float, 3)
TRANSFER(float, 4)
TRANSFER(float, 5)
TRANSFER(double, 2)
TRANSFER(double, 3)
TRANSFER(double, 4)
TRANSFER(double, 5)
