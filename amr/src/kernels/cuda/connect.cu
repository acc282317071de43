// Neighbour ids of a level, pulled through the parents (J25 §3.3, last step). One thread a place of
// a family; the first of them look up where the parent's neighbours have their children.

#include "forest.cuh"

constexpr int THREADS = 256;
constexpr int FAMILIES = THREADS / CELLS;

extern "C" __global__ void __launch_bounds__(THREADS)
    connect(const uint32_t* ids, uint32_t count, Root root, const uint32_t* parent, const uint32_t* first_child,
            uint32_t* families) {
    __shared__ uint32_t firsts[FAMILIES][DIRECTIONS];
    const int family = threadIdx.x / CELLS, place = threadIdx.x % CELLS;
    const uint32_t group = blockIdx.x * FAMILIES + family;
    const bool live = group < count;
    const uint32_t id = live ? ids[static_cast<size_t>(group) * CHILDREN] : 0;
    if (live && place < DIRECTIONS) {
        const uint32_t n = neighbor(root, families, parent[id], place);
        // No block there, or beyond the box: the same holds of its children.
        firsts[family][place] = n >= OUTSIDE ? n : first_child[n];
    }
    __syncthreads();
    if (!live) {
        return;
    }
    int up = 0, child = 0;
    for (int a = D - 1; a >= 0; a--) {
        // Places are one step before the siblings to one step behind them.
        const int at = unravel(place, 4, a) + 1;
        up = up * 3 + at / 2;
        child = child * 2 + (at & 1);
    }
    const uint32_t first = firsts[family][up];
    families[static_cast<size_t>(id - root.count()) * CHILDREN + place] = first >= OUTSIDE ? first : first + child;
}
