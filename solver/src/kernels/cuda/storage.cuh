// How populations are stored: `storage.rs`, `f16.rs`.

#pragma once

#include <cuda_fp16.h>

#include "solver_constants.cuh"

// The type of arithmetic: `Storage::Real`.
template <class S>
struct Arithmetic {
    using Type = S;
};
template <>
struct Arithmetic<__half> {
    using Type = float;
};
template <class S>
using Real = typename Arithmetic<S>::Type;

// The value of a stored population: `Storage::load`.
template <class S>
__device__ __forceinline__ Real<S> widen(S stored) {
    return stored;
}
template <>
__device__ __forceinline__ float widen<__half>(__half stored) {
    return __half2float(stored) * static_cast<float>(1.0 / F16_SCALE);
}

// A population as it is stored, rounded to nearest even: `Storage::store`.
template <class S>
__device__ __forceinline__ S narrow(Real<S> value) {
    return value;
}
template <>
__device__ __forceinline__ __half narrow<__half>(float value) {
    return __float2half_rn(value * static_cast<float>(F16_SCALE));
}

// A stored value after a change that may be smaller than half a step: `Storage::store_change`.
template <class S>
__device__ __forceinline__ S narrow_change(Real<S> value, int) {
    return narrow<S>(value);
}
template <>
__device__ __forceinline__ __half narrow_change<__half>(float value, int place) {
    constexpr uint32_t EXPONENT = 0xffu << 23, LEAST = (127u - 29u) << 23;
    const uint32_t exponent = max(__float_as_uint(value) & EXPONENT, LEAST);
    const float step = __uint_as_float(exponent - (10u << 23));
    const uint32_t turn = static_cast<uint32_t>(place) * 0x9e3779b9u >> 24;
    const float threshold = static_cast<float>(2 * turn + 1) * (1.0f / 512.0f) - 0.5f;
    return narrow<__half>(value + threshold * step);
}

// A value rounded up or down by chance: `Storage::store_dithered`.
template <class S>
__device__ __forceinline__ S narrow_dithered(Real<S> value, uint32_t) {
    return narrow<S>(value);
}
template <>
__device__ __forceinline__ __half narrow_dithered<__half>(float value, uint32_t place) {
    constexpr uint32_t LOST = 13;
    const uint32_t bits = __float_as_uint(value * static_cast<float>(F16_SCALE));
    const uint32_t hash = (bits ^ place * 0x9e3779b9u) * 0x85ebca6bu;
    const uint32_t raised = bits + (hash >> (32 - LOST));
    return __float2half_rn(__uint_as_float(raised & ~((1u << LOST) - 1)));
}
