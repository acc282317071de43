// Links into the body that no facet cuts: they go through a gap, and are cut halfway.

#pragma once

#include "cuts.cuh"

// By one warp, when it has recorded all cuts of a block; other lanes may read them after the next
// `__syncwarp`. `fluid` are the fluid cells of the block, `directions` those cut so far of each cell.
template <typename Kind>
__device__ inline void bridge(typename Kind::Slot* nearest, uint32_t* directions, uint64_t fluid, const uint64_t* solid,
                              const Root& root, const uint32_t* families, uint32_t id, uint32_t patch, int lane) {
    __shared__ uint64_t around[DIRECTIONS];
    uint64_t mask = 0;
    if (lane < DIRECTIONS) {
        const uint32_t n = neighbor(root, families, id, lane);
        mask = n < OUTSIDE ? solid[n] : 0;
        around[lane] = mask;
    }
    if (!__any_sync(~0u, mask != 0)) {
        return;
    }
    __syncwarp();
    for (int cell = lane; cell < CELLS; cell += 32) {
        if (!(fluid >> cell & 1)) {
            continue;
        }
        uint32_t cut = directions[cell];
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            int toward = 0, to = 0;
            for (int a = D - 1; a >= 0; a--) {
                const int c = (cell >> 2 * a & 3) + step(direction, a);
                toward = toward * 3 + 1 + (c > 3) - (c < 0);
                to |= (c & 3) << 2 * a;
            }
            if (direction != CENTER && !(cut >> direction & 1) && around[toward] >> to & 1) {
                nearest[cell * DIRECTIONS + direction] = Kind::pack(0.5f, patch);
                cut |= 1u << direction;
            }
        }
        directions[cell] = cut;
    }
}
