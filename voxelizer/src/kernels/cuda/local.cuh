// A facet seen from a block: corners relative to the centre of the block's first cell, and the range
// of cell centres that its bounds reach.

#pragma once

#include "exact.cuh"
#include "forest.cuh"

struct Local {
    Facet facet;
    // First cell whose centre is not below the bounds, last one whose is not above them.
    int low[D], high[D];

    __device__ Local(const Facet& absolute, const Ints& first_center, int spacing, int shift)
        : facet(absolute.relative_to(first_center)) {
        for (int a = 0; a < D; a++) {
            low[a] = (facet.low(a) + (spacing - 1)) >> shift;
            high[a] = facet.high(a) >> shift;
        }
    }

    // Whether 64 bits hold everything: differences within 2^20, normals within 2^41.
    __device__ bool is_narrow(int spacing) const { return spacing <= (1 << 16) && facet.reach() <= (1 << 19); }

    // Whether 32 bits hold the facet's sheared coordinates and their steps, and 53 its plane's values for
    // points a few cells away. With an extent E a normal is within E^2 on each axis, and values are
    // within 3 E^2 (E + 15 spacings): below 2^53 for E to 2^17 with spacings to 2^10, and E to
    // 2^16 with spacings to 2^12.
    __device__ bool is_small(int spacing) const {
        return facet.reach() <= (spacing <= 1 << 10 ? 1 << 16 : spacing <= 1 << 12 ? 1 << 15 : 0);
    }
};

// Centre of the first cell of a block.
__device__ inline Ints first_center(const Ints& coord, int spacing) {
    Ints center;
    for (int a = 0; a < D; a++) {
        center.v[a] = 4 * coord.v[a] * spacing + spacing / 2;
    }
    return center;
}
