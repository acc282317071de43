// Hanging faces: common fluxes at the points of the fine sides, and what they are on the coarse side: `mortar.rs`.

#include "riemann.cuh"
#include "tensor.cuh"

template <typename T>
__device__ void along(int axis, T gamma, const T (&low)[V], const T (&high)[V], T (&out)[V]) {
    if (axis == 0) {
        rusanov<0>(gamma, low, high, out);
    } else if (axis == 1) {
        rusanov<1>(gamma, low, high, out);
    } else {
        rusanov<D - 1>(gamma, low, high, out);
    }
}

// A group has a hanging face.
template <bool VISCOUS, typename T, int Q>
__device__ void mortars(const uint32_t* slots, const uint32_t* hanging, uint32_t count, const T* traces, const T* viscous,
                        T gamma, Matrices<T, Q> matrices, T* out) {
    using S = Shape<Q>;
    constexpr int ONE = S::template padded<T>(4 * S::TRACE + (VISCOUS ? 2 * S::GRADIENT_TRACE : 0));
    __shared__ T memory[S::PER_BLOCK][ONE];
    const Place<Q> place(count);
    const unsigned group = __ballot_sync(~0u, place.is_on);
    if (!place.is_on) {
        return;
    }
    T* coarse = memory[place.group];
    T* rows = coarse + S::TRACE;
    T* fluxes = rows + S::TRACE;
    T* flux_rows = fluxes + S::TRACE;
    T* coarse_viscous = flux_rows + S::TRACE;
    T* viscous_rows = coarse_viscous + S::GRADIENT_TRACE;
    const uint32_t slot = place.item, at = slots[slot];
    const int point = place.point, face = static_cast<int>(at % FACES), i = point % Q, b = point / Q;
    const T* own = traces + static_cast<size_t>(at) * S::TRACE;
    T* to = out + static_cast<size_t>(slot) * (SLOT_TRACES * S::TRACE);
#pragma unroll
    for (int v = 0; v < V; v++) {
        coarse[v * S::FACE + point] = own[v * S::FACE + point];
    }
    const size_t of_viscous = static_cast<size_t>(D) * S::GRADIENT_TRACE;
    const T* along_axis = viscous + face / 2 * S::GRADIENT_TRACE + point;
    if (VISCOUS) {
#pragma unroll
        for (int v = 0; v < G; v++) {
            coarse_viscous[v * S::FACE + point] = along_axis[at / FACES * of_viscous + v * S::FACE];
        }
    }
    __syncwarp(group);
    T whole[V];
#pragma unroll 1
    for (int part = 0; part < PARTS; part++) {
        const uint32_t other = hanging[slot * PARTS + part];
        const T* beyond = traces + (static_cast<size_t>(other) * FACES + (face ^ 1)) * S::TRACE;
        const int first = part & 1, second = part >> 1;
        T fine[V], here[V], flux[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            fine[v] = beyond[v * S::FACE + point];
        }
        tensor<Q>(group, matrices.half(first, i), matrices.half(second, b), coarse, rows, point, here);
        if (face % 2 == 1) {
            along(face / 2, gamma, here, fine, flux);
        } else {
            along(face / 2, gamma, fine, here, flux);
        }
        if (VISCOUS) {
            // The trace of the upper side. All groups of a warp take this path, so that they wait together.
            T above[G];
            tensor<Q>(group, matrices.half(first, i), matrices.half(second, b), coarse_viscous, viscous_rows, point, above);
#pragma unroll
            for (int v = 0; v < G; v++) {
                if (face % 2 == 1) {
                    above[v] = along_axis[other * of_viscous + v * S::FACE];
                }
                flux[1 + v] -= above[v];
            }
        }
#pragma unroll
        for (int v = 0; v < V; v++) {
            to[part * S::TRACE + v * S::FACE + point] = flux[v];
            fluxes[v * S::FACE + point] = flux[v];
        }
        __syncwarp(group);
        tensor<Q>(group, matrices.projection(first, i), matrices.projection(second, b), fluxes, flux_rows, point, flux);
#pragma unroll
        for (int v = 0; v < V; v++) {
            whole[v] = part > 0 ? whole[v] + flux[v] : flux[v];
        }
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        to[PARTS * S::TRACE + v * S::FACE + point] = whole[v];
    }
}

#define MORTAR(NAME, VISCOUS, T, Q)                                                                                           \
    extern "C" __global__ __launch_bounds__(THREADS) void NAME##_##T##_##Q(                                                   \
        const uint32_t* slots, const uint32_t* hanging, uint32_t count, const T* traces, const T* viscous, T gamma,           \
        const T* matrices, T* out) {                                                                                          \
        mortars<VISCOUS, T, Q>(slots, hanging, count, traces, viscous, gamma, Matrices<T, Q>{matrices}, out);                 \
    }

#define MORTARS(T, Q)                                                                                                         \
    MORTAR(mortars, false, T, Q)                                                                                              \
    MORTAR(mortars_viscous, true, T, Q)

MORTARS(float, 2)
MORTARS(float, 3)
MORTARS(float, 4)
MORTARS(float, 5)
MORTARS(double, 2)
MORTARS(double, 3)
MORTARS(double, 4)
MORTARS(double, 5)
