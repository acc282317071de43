// A level whose blocks are classified.

#pragma once

#include "fill.cuh"
#include "windings.cuh"

// The level's arrays, the seeds of its winding numbers, and the results; kernels take it by value.
struct Level {
    const Facet* corners;
    Times times;
    const uint32_t* rows;
    const uint32_t* starts;
    const uint32_t* facets;
    const Ints* coord;
    const uint32_t* parent;
    Seeds seeds;
    // Where the surface has gaps, what is known of the parents: below certain ones, caps do not count. None for a
    // closed one.
    const uint8_t* above;
    int32_t* anchors;
    uint64_t* solid;
    uint32_t first;
    int spacing;
    // Largest extent of small facets.
    int small;
    uint32_t fill, keep;
    uint32_t walls;

    // Facets of a block's list that count.
    __device__ uint32_t length(uint32_t row) const {
        const uint32_t begin = starts[row], length = starts[row + 1] - begin;
        const bool is_certain = above != nullptr && above[parent[first + row] - seeds.first_parent] == CERTAIN;
        return is_certain ? walls_in(facets + begin, length, walls) : length;
    }

    // Keeps the number of a cell that is the first one of a child, if numbers are kept.
    __device__ void keep_number(uint32_t row, int cell, int32_t winding) const {
        bool even = keep;
        int child = 0;
        for (int a = D - 1; a >= 0; a--) {
            even &= (cell >> 2 * a & 1) == 0;
            child = child * 2 + (cell >> (2 * a + 1) & 1);
        }
        if (even) {
            anchors[static_cast<size_t>(row) * CHILDREN + child] = winding;
        }
    }

    // Mask and anchors of a block from its crossings, by one warp.
    __device__ void finish(uint32_t row, const Ints& at, const int32_t* sums, int lane) const {
        const uint32_t id = first + row;
        const int32_t start = seeds.of(row, at, parent[id]) + sums[0];
        uint64_t mask = 0;
        for (int base = 0; base < CELLS; base += 32) {
            const int cell = base + lane;
            const int32_t winding = cell < CELLS ? winding_at(cell, start, sums) : 0;
            const uint32_t votes = __ballot_sync(~0u, cell < CELLS && is_solid(winding, fill));
            mask |= static_cast<uint64_t>(votes) << base;
            if (cell < CELLS) {
                keep_number(row, cell, winding);
            }
        }
        if (lane == 0) {
            solid[id] = mask;
        }
    }
};
