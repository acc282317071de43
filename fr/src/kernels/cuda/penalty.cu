// What bodies that cut elements take from the gas inside of them, and the traces of these elements: `penalty.rs`, which has
// the order of operations.

#include "columns.cuh"
#include "elements.cuh"

// One thread a point of an element with points in bodies.
template <typename T, int Q>
__device__ void penalize(const uint32_t* elements, const uint8_t* bodies, uint64_t count, const T* energies, T lost, T* u,
                         T* losses) {
    using S = Shape<Q>;
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n >= count || bodies[n] == 0) {
        return;
    }
    const uint64_t slot = n / S::NODES;
    T* const own = u + elements[slot] * static_cast<uint64_t>(S::ELEMENT) + n % S::NODES;
    T* const loss = losses + slot * S::RATES + n % S::NODES;
    T before = 0, after = 0;
    for (int a = 0; a < D; a++) {
        const T momentum = own[(1 + a) * S::NODES];
        const T gone = lost * momentum;
        const T rest = momentum - gone;
        loss[a * S::NODES] = gone;
        own[(1 + a) * S::NODES] = rest;
        before = mul_add(momentum, momentum, before);
        after = mul_add(rest, rest, after);
    }
    const T density = own[0], total = own[(1 + D) * S::NODES];
    before = T(0.5) * before / density;
    after = T(0.5) * after / density;
    T gone = before - after;
    const T energy = energies[bodies[n] - 1];
    if (energy != T(0)) {
        const T inner = total - before;
        gone = mul_add(lost, inner - energy * density, gone);
    }
    loss[D * S::NODES] = gone;
    own[(1 + D) * S::NODES] = total - gone;
}

// One thread a number of the traces of these elements.
template <typename T, int Q>
__device__ void traces_at(const uint32_t* elements, uint64_t count, const T* u, const T* matrices, T* out) {
    using S = Shape<Q>;
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) {
        constexpr uint64_t ONE = FACES * S::TRACE;
        const uint64_t leaf = elements[n / ONE];
        out[leaf * ONE + n % ONE] = trace_of<T, Q>(u + leaf * S::ELEMENT, static_cast<int>(n % ONE), matrices);
    }
}

#define PENALTY(T, Q)                                                                                                        \
    extern "C" __global__ void penalize_##T##_##Q(const uint32_t* elements, const uint8_t* bodies, uint64_t count,           \
                                                  const T* energies, T lost, T* u, T* losses) {                              \
        penalize<T, Q>(elements, bodies, count, energies, lost, u, losses);                                                  \
    }                                                                                                                        \
    extern "C" __global__ void traces_at_##T##_##Q(const uint32_t* elements, uint64_t count, const T* u, const T* matrices,  \
                                                   T* out) {                                                                 \
        traces_at<T, Q>(elements, count, u, matrices, out);                                                                  \
    }

PENALTY(float, 2)
PENALTY(float, 3)
PENALTY(float, 4)
PENALTY(float, 5)
PENALTY(double, 2)
PENALTY(double, 3)
PENALTY(double, 4)
PENALTY(double, 5)
