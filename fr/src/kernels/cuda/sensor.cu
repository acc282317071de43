// The decay of modes, and marks by it: `sensor.rs`, which has the order of operations. All numbers are doubles.

#include "elements.cuh"
#include "linear.cuh"

// The polynomial of the highest degree at the points, what takes values to its coefficient, and the weight of each point of
// an element: `Modes` of `sensor.rs`.
template <int Q>
struct Modes {
    const double* all;

    __device__ double value(int i) const {
        return all[i];
    }
    __device__ double coefficient(int j) const {
        return all[Q + j];
    }
    __device__ double weight(int node) const {
        return all[2 * Q + node];
    }
};

// The coefficient of the highest mode on a line of points that are `stride` apart.
template <int Q>
__device__ __forceinline__ double coefficient(Modes<Q> modes, const double* line, int stride) {
    double sum = line[0] * modes.coefficient(0);
#pragma unroll
    for (int j = 1; j < Q; j++) {
        sum = sum + line[j * stride] * modes.coefficient(j);
    }
    return sum;
}

// A group has an element, then another one as many elements on as there are groups.
template <typename T, int Q>
__device__ void decays(const T* u, uint32_t count, double momentum, Modes<Q> modes, double* out,
                       unsigned long long* largest) {
    using S = Shape<Q>;
    __shared__ double memory[S::PER_BLOCK][S::template padded<double>(S::NODES)];
    const Place<Q> place(count);
    if (!place.is_on) {
        return;
    }
    const unsigned group = (S::FACE == 32 ? ~0u : (1u << S::FACE) - 1) << threadIdx.x % 32 / S::FACE * S::FACE;
    double* values = memory[place.group];
    const int point = place.point, a = point % Q, b = point / Q;
    double most[D] = {};
    for (uint32_t item = place.item; item < count; item += gridDim.x * S::PER_BLOCK) {
#pragma unroll
        for (int i = 0; i < D; i++) {
            const T* own = u + static_cast<size_t>(item) * S::ELEMENT + (1 + i) * S::NODES;
            double whole[Q], low[Q];
#pragma unroll
            for (int k = 0; k < Q; k++) {
                whole[k] = static_cast<double>(own[k * S::FACE + point]) + momentum;
                low[k] = whole[k];
                values[k * S::FACE + point] = whole[k];
            }
            __syncwarp(group);
#pragma unroll
            for (int k = 0; k < Q; k++) {
                const int line = k * S::FACE + (D == 3 ? b * Q : 0);
                low[k] = low[k] - coefficient<Q>(modes, values + line, 1) * modes.value(a);
            }
            __syncwarp(group);
            if constexpr (D == 3) {
#pragma unroll
                for (int k = 0; k < Q; k++) {
                    values[k * S::FACE + point] = low[k];
                }
                __syncwarp(group);
#pragma unroll
                for (int k = 0; k < Q; k++) {
                    low[k] = low[k] - coefficient<Q>(modes, values + k * S::FACE + a, Q) * modes.value(b);
                }
                __syncwarp(group);
            }
            const double last = coefficient<Q>(modes, low, 1);
            double high = 0, all = 0;
#pragma unroll
            for (int k = 0; k < Q; k++) {
                const double rest = whole[k] - (low[k] - last * modes.value(k));
                const double weight = modes.weight(k * S::FACE + point);
                const double of_high = weight * rest * rest, of_all = weight * whole[k] * whole[k];
                high = k > 0 ? high + of_high : of_high;
                all = k > 0 ? all + of_all : of_all;
            }
            values[point] = high;
            values[S::FACE + point] = all;
            __syncwarp(group);
            if (point == 0) {
                for (int other = 1; other < S::FACE; other++) {
                    high = high + values[other];
                    all = all + values[S::FACE + other];
                }
                high = root_of(high);
                const double decay = high == 0 ? 0 : high / root_of(all);
                out[static_cast<size_t>(item) * D + i] = decay;
                most[i] = decay > most[i] ? decay : most[i];
            }
            __syncwarp(group);
        }
    }
    if (point == 0) {
        for (int i = 0; i < D; i++) {
            atomicMax(largest + i, static_cast<unsigned long long>(__double_as_longlong(most[i])));
        }
    }
}

#define DECAYS(T, Q)                                                                                                      \
    extern "C" __global__ __launch_bounds__(THREADS) void decays_##T##_##Q(                                               \
        const T* u, uint32_t count, double momentum, const double* modes, double* out, unsigned long long* largest) {     \
        decays<T, Q>(u, count, momentum, Modes<Q>{modes}, out, largest);                                                  \
    }

DECAYS(float, 2)
DECAYS(float, 3)
DECAYS(float, 4)
DECAYS(float, 5)
DECAYS(double, 2)
DECAYS(double, 3)
DECAYS(double, 4)
DECAYS(double, 5)

// Thresholds of marks: `Thresholds` of `cuda/adapt.rs`.
struct Thresholds {
    double refine_above, coarsen_below, floor;
    uint32_t coarsest, finest;
};

// The mark of each leaf, by its decays and the largest of all.
extern "C" __global__ void marks(const double* decays, const unsigned long long* largest, const uint64_t* keys, uint32_t count,
                                 Thresholds by, uint8_t* out) {
    const uint32_t leaf = blockIdx.x * blockDim.x + threadIdx.x;
    if (leaf >= count) {
        return;
    }
    double above = 0;
    bool is_below = true;
    for (int i = 0; i < D; i++) {
        const double most = __longlong_as_double(static_cast<long long>(largest[i]));
        const double share = most > by.floor ? decays[static_cast<size_t>(leaf) * D + i] / most : 0;
        above = fmax(above, share);
        is_below = is_below && share < by.coarsen_below;
    }
    const uint32_t level = level_of(keys[leaf]);
    const bool is_above = above > by.refine_above;
    if (level < by.coarsest || (is_above && level < by.finest)) {
        out[leaf] = REFINE;
    } else if (level > by.finest || (is_below && !is_above && level > by.coarsest)) {
        out[leaf] = COARSEN;
    } else {
        out[leaf] = KEEP;
    }
}
