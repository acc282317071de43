// Counts, index arithmetic and neighbours of blocks in D dimensions: `dims.rs` and `neighbors.rs`.

#pragma once

#include "forest_constants.cuh"
#include "kernel.cuh"

constexpr int DIRECTIONS = D == 2 ? 9 : 27;
constexpr int CENTER = DIRECTIONS / 2;
constexpr int CHILDREN = 1 << D;
// Cells of a block, and places of a family.
constexpr int CELLS = 1 << 2 * D;
constexpr uint64_t FULL = D == 2 ? 0xffffull : ~0ull;

// Root blocks on each axis, whether the axis is periodic, and the product: `Forest::grid`.
struct Root {
    uint32_t n[D];
    uint32_t periodic[D];

    __device__ uint32_t count() const {
        uint32_t product = 1;
        for (int a = 0; a < D; a++) {
            product *= n[a];
        }
        return product;
    }
};

// Component a of the step of a direction.
__host__ __device__ constexpr int step(int direction, int a) {
    return (a == 0 ? direction : a == 1 ? direction / 3 : direction / 9) % 3 - 1;
}

// Place of a neighbour in its family, seen from that of step (-1, -1, -1).
__host__ __device__ constexpr int place_of(int direction) {
    return direction % 3 + 4 * (direction / 3 % 3) + 16 * (direction / 9);
}

__device__ inline int corner_of(int child) {
    return (child & 1) + 4 * (child >> 1 & 1) + 16 * (child >> 2);
}

// The neighbour of a block in a direction: `Forest::neighbor`.
__device__ inline uint32_t neighbor(Root root, const uint32_t* families, uint32_t id, int direction) {
    const uint32_t roots = root.count();
    if (id >= roots) {
        const uint32_t after = id - roots;
        const size_t family = static_cast<size_t>(after >> D) * CELLS;
        return families[family + corner_of(after & (CHILDREN - 1)) + place_of(direction)];
    }
    uint32_t rest = id, stride = 1, to = id;
    for (int a = 0; a < D; a++) {
        const int from = static_cast<int>(rest % root.n[a]), count = static_cast<int>(root.n[a]);
        int at = from + step(direction, a);
        if (at < 0 || at >= count) {
            if (!root.periodic[a]) {
                return OUTSIDE;
            }
            at += at < 0 ? count : -count;
        }
        to += stride * static_cast<uint32_t>(at - from);
        rest /= root.n[a];
        stride *= root.n[a];
    }
    return to;
}

// The block of the next coarser level that covers the place beside a block at `at`: `Forest::coarser_neighbor`.
__device__ inline uint32_t coarser_neighbor(Root root, const uint32_t* families, Ints at, uint32_t parent,
                                            int direction) {
    int up = 0;
    for (int a = D - 1; a >= 0; a--) {
        // -1, 0 or 1: where the neighbour's parent lies from this one's.
        up = up * 3 + ((at.v[a] & 1) + step(direction, a) + 2) / 2;
    }
    return neighbor(root, families, parent, up);
}
