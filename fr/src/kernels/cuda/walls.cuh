// Walls as kernels have them: `WallTable` of `walls.rs`.

#pragma once

#include "elements.cuh"

// A wall: its kind, and its velocity and temperature.
template <typename T>
struct Wall {
    uint32_t kind;
    const T* state;

    // Whether the wall holds the velocity `v` of the gas; its normal is along `axis`.
    __device__ __forceinline__ bool holds(int v, int axis) const {
        return kind != SLIP || v == axis;
    }
};

template <typename T>
struct Walls {
    const uint32_t* __restrict__ kinds;
    const T* __restrict__ states;

    __device__ __forceinline__ Wall<T> at(uint32_t slot) const {
        const uint32_t word = kinds[slot];
        return {word & ((1u << KIND_BITS) - 1), states + static_cast<size_t>(word >> KIND_BITS) * (D + 1)};
    }
};
