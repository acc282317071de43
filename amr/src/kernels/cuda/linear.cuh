// Keys of blocks, their neighbours, and searches in sorted keys: `linear/key.rs` and `cpu/search.rs`.

#pragma once

#include "forest.cuh"

// Greater than every key.
constexpr uint64_t NO_KEY = ~0ull;

// `KeyGrid` of `linear.rs`: behind the last block per axis, spread to the bits of the axis; a bit for each axis that is
// periodic; the finest level.
struct KeyGrid {
    uint64_t end[D];
    uint32_t periodic;
    uint32_t limit;
};
static_assert(sizeof(KeyGrid) == 8 * D + 8, "as Rust has it");

constexpr uint64_t AXIS_BITS = D == 3 ? 0x1249249249249249ull : 0x5555555555555555ull;

__device__ inline uint64_t morton(uint64_t key) {
    return key >> LEVEL_BITS;
}

__device__ inline uint32_t level_of(uint64_t key) {
    return static_cast<uint32_t>(key) & ((1u << LEVEL_BITS) - 1);
}

__device__ inline uint64_t pack(uint64_t at, uint32_t level) {
    return at << LEVEL_BITS | level;
}

// The bits of a number, each D places from the next.
__device__ inline uint64_t spread(uint32_t number) {
    uint64_t x = number;
    if (D == 3) {
        x = (x | x << 32) & 0x001f00000000ffffull;
        x = (x | x << 16) & 0x001f0000ff0000ffull;
        x = (x | x << 8) & 0x100f00f00f00f00full;
        x = (x | x << 4) & 0x10c30c30c30c30c3ull;
        x = (x | x << 2) & AXIS_BITS;
    } else {
        x = (x | x << 16) & 0x0000ffff0000ffffull;
        x = (x | x << 8) & 0x00ff00ff00ff00ffull;
        x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
        x = (x | x << 2) & 0x3333333333333333ull;
        x = (x | x << 1) & AXIS_BITS;
    }
    return x;
}

// Bits of a Morton number below those that tell the blocks of a level apart.
__device__ inline uint32_t shift_of(const KeyGrid& grid, uint32_t level) {
    return D * (grid.limit - level);
}

// The key of a block in the box.
__device__ inline uint64_t key_of(const KeyGrid& grid, uint32_t level, Ints coord) {
    uint64_t at = 0;
    for (int a = 0; a < D; a++) {
        at |= spread(static_cast<uint32_t>(coord.v[a]) << (grid.limit - level)) << a;
    }
    return pack(at, level);
}

__device__ inline bool is_key(const KeyGrid& grid, uint64_t key) {
    const uint64_t at = morton(key);
    const uint32_t level = level_of(key);
    bool is = level <= grid.limit && (at & ((1ull << shift_of(grid, level)) - 1)) == 0;
    for (int a = 0; a < D; a++) {
        is = is && (at & AXIS_BITS << a) < grid.end[a];
    }
    return is;
}

__device__ inline uint64_t cover(const KeyGrid& grid, uint64_t at, uint32_t level) {
    const uint32_t shift = shift_of(grid, level);
    return at >> shift << shift;
}

__device__ inline int child_number(const KeyGrid& grid, uint64_t at, uint32_t level) {
    return static_cast<int>(at >> shift_of(grid, level)) & (CHILDREN - 1);
}

__device__ inline uint64_t child_of(const KeyGrid& grid, uint64_t at, uint32_t level, int child) {
    return at | static_cast<uint64_t>(child) << shift_of(grid, level + 1);
}

// Moves a block one step along an axis; false where it would leave a box that is not periodic there.
__device__ inline bool beside(const KeyGrid& grid, uint64_t& at, uint32_t level, int axis, bool up) {
    const uint64_t bits = AXIS_BITS << axis;
    const uint64_t own = at & bits, others = at & ~bits, unit = 1ull << (shift_of(grid, level) + axis);
    const bool periodic = grid.periodic >> axis & 1;
    uint64_t to;
    if (up) {
        to = ((own | ~bits) + unit) & bits;
        if (to == grid.end[axis]) {
            if (!periodic) {
                return false;
            }
            to = 0;
        }
    } else if (own == 0) {
        if (!periodic) {
            return false;
        }
        to = (grid.end[axis] - unit) & bits;
    } else {
        to = (own - unit) & bits;
    }
    at = others | to;
    return true;
}

// Moves a block of `level` along those axes whose bit is set in `axes`, to the side that its child `corner` lies on.
__device__ inline bool around_corner(const KeyGrid& grid, uint64_t& at, uint32_t level, int axes, int corner) {
    for (int a = 0; a < D; a++) {
        if ((axes >> a & 1) && !beside(grid, at, level, a, corner >> a & 1)) {
            return false;
        }
    }
    return true;
}

// The first place whose key is not below `key`, or the length.
__device__ inline uint32_t first_not_below(const uint64_t* keys, uint32_t count, uint64_t key) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__device__ inline bool is_among(const uint64_t* keys, uint32_t count, uint64_t key) {
    const uint32_t at = first_not_below(keys, count, key);
    return at < count && keys[at] == key;
}

// The leaf that holds the corner of a block: the block itself, a coarser leaf around it, or the first leaf in it.
__device__ inline uint32_t holder(const uint64_t* keys, uint32_t count, uint64_t at) {
    return first_not_below(keys, count, pack(at + 1, 0)) - 1;
}
