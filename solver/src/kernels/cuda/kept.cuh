// What regularized collision leaves of a cell, 9 values, and where it is stored: `kept.rs`.

#pragma once

#include "regularized.cuh"

// Where the kept values begin in a buffer, behind the populations of the first `populated` slots.
template <class L, class T>
__device__ __forceinline__ T* kept_of(T* buffer, uint32_t populated) {
    return buffer + static_cast<size_t>(populated) * (L::Q * CELLS);
}

#if CUTLINK_D == 3
// KEPT values of a cell: density less 1, velocity, and stress xx, xy, xz, yy, yz; zz makes up for the trace, of which
// nothing is left. Words of a cell side by side, so that those of a halo share sectors of memory: four, four and one.
__device__ __forceinline__ Fluid<float> load_kept(const float* kept, uint32_t slot, int cell) {
    const float* at = kept + static_cast<size_t>(slot) * (KEPT * CELLS);
    const float4 a = reinterpret_cast<const float4*>(at)[cell];
    const float4 b = reinterpret_cast<const float4*>(at + 4 * CELLS)[cell];
    const float c = at[8 * CELLS + cell];
    return {a.x, {a.y, a.z, a.w}, {b.x, b.y, b.z, b.w, c, -b.x - b.w}};
}

// The stress is what is left of it.
__device__ __forceinline__ void store_kept(float* kept, uint32_t slot, int cell, const Fluid<float>& fluid) {
    float* at = kept + static_cast<size_t>(slot) * (KEPT * CELLS);
    reinterpret_cast<float4*>(at)[cell] = make_float4(fluid.rho, fluid.u[0], fluid.u[1], fluid.u[2]);
    reinterpret_cast<float4*>(at + 4 * CELLS)[cell] =
        make_float4(fluid.stress[0], fluid.stress[1], fluid.stress[2], fluid.stress[3]);
    at[8 * CELLS + cell] = fluid.stress[4];
}
#endif
