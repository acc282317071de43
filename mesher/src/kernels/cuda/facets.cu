// Facets in Morton order: keys, then corners and patches in sorted order.

#include "exact.cuh"

struct Corners {
    uint32_t v[D];
};

__device__ static Facet facet_of(const Ints* vertices, const Corners& c) {
    Facet f;
    for (int k = 0; k < D; k++) {
        f.v[k] = vertices[c.v[k]];
    }
    return f;
}

// Morton number of the lowest corner of each wall, and its own number.
extern "C" __global__ void keys(const Ints* vertices, const Corners* facets, uint32_t walls, uint64_t* keys,
                                uint32_t* numbers) {
    constexpr int BITS = D == 2 ? 30 : 21;
    const uint32_t f = thread_index();
    if (f >= walls) {
        return;
    }
    const Facet facet = facet_of(vertices, facets[f]);
    uint64_t key = 0;
    for (int a = 0; a < D; a++) {
        // Within ±2^28, so that 2^29 makes it positive and below 2^30.
        const uint64_t c = static_cast<uint64_t>(facet.low(a) + (1 << 29)) >> (30 - BITS);
        for (int bit = 0; bit < BITS; bit++) {
            key |= (c >> bit & 1) << (bit * D + a);
        }
    }
    keys[f] = key;
    numbers[f] = f;
}

// Corners, patches and multiplicities: walls in the order of `order`, caps in their own; and the largest extent.
extern "C" __global__ void gather(const Ints* vertices, const Corners* facets, const uint32_t* order, uint32_t walls,
                                  uint32_t count, const uint16_t* patch_in, uint32_t patched, const int32_t* times_in,
                                  uint32_t repeated, Facet* corners, uint16_t* patch, int32_t* times,
                                  int32_t* extent) {
    const uint32_t i = thread_index();
    int most = 0;
    if (i < count) {
        const uint32_t f = i < walls ? order[i] : i;
        const Facet facet = facet_of(vertices, facets[f]);
        corners[i] = facet;
        if (patched) {
            patch[i] = patch_in[f];
        }
        if (repeated) {
            times[i] = times_in[f];
        }
        for (int a = 0; a < D; a++) {
            most = max(most, facet.high(a) - facet.low(a));
        }
    }
    most = __reduce_max_sync(~0u, most);
    if ((threadIdx.x & 31) == 0) {
        atomicMax(extent, most);
    }
}
