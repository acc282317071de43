// Which winding numbers are solid.

#pragma once

#include "kernel.cuh"
#include "voxelizer_constants.cuh"

__device__ inline bool is_solid(int32_t winding, uint32_t fill) {
    const bool zero = winding == 0, even = (winding & 1) == 0;
    switch (fill) {
        case FILL_NON_ZERO:
            return !zero;
        case FILL_EVEN_ODD:
            return !even;
        case FILL_ZERO:
            return zero;
        case FILL_EVEN:
            return even;
        default:
            // FILL_SHEETS and FILL_SHELTERED: no winding number is.
            return false;
    }
}
