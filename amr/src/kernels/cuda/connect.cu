// Neighbour ids of a level, pulled through the parents (J25 §3.3, last step). One warp per family: its lanes
// look up the first children of the parent's neighbours, and exchange them by shuffles.

#include "forest.cuh"

extern "C" __global__ void connect(const uint32_t* ids, uint32_t count, Root root, const uint32_t* parent,
                                   const uint32_t* first_child, uint32_t* families) {
    const uint32_t group = thread_index() / 32;
    const int lane = threadIdx.x & 31;
    if (group >= count) {
        return;
    }
    const uint32_t id = ids[static_cast<size_t>(group) * CHILDREN];
    uint32_t first = NONE;
    if (lane < DIRECTIONS) {
        const uint32_t n = neighbor(root, families, parent[id], lane);
        // No block there, or beyond the box: the same holds of its children.
        first = n >= OUTSIDE ? n : first_child[n];
    }
    uint32_t* places = families + static_cast<size_t>(id - root.count()) * CHILDREN;
    for (int place = lane; place < (CELLS + 31) / 32 * 32; place += 32) {
        int up = 0, child = 0;
        for (int a = D - 1; a >= 0; a--) {
            // Places are one step before the siblings to one step behind them.
            const int at = cell_coord(place, a) + 1;
            up = up * 3 + at / 2;
            child = child * 2 + (at & 1);
        }
        const uint32_t of = __shfl_sync(~0u, first, up);
        if (place < CELLS) {
            places[place] = of >= OUTSIDE ? of : of + child;
        }
    }
}
