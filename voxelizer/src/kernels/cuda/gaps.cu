// Classes of cells near the gaps of a surface: |W - g| against a half, and the blocks whose links
// may go through a gap. See the twin of `classify` for the rule.

#include "caps.cuh"
#include "voxelizer_constants.cuh"
#include "windings.cuh"

// A bound on g above which it may matter.
constexpr double ENOUGH = 0.5 - BAND;
// In place of g where no one value decides for all cells of a block; g itself is far below.
constexpr double UNSTEADY = 1e300;

// The middle of a block.
__device__ inline Ints middle(const Ints& coord, int spacing) {
    Ints center = first_center(coord, spacing);
    for (int a = 0; a < D; a++) {
        center.v[a] += spacing / 2 * 3;
    }
    return center;
}

struct Point {
    double v[D];

    __device__ explicit Point(const Ints& p) {
        for (int a = 0; a < D; a++) {
            v[a] = static_cast<double>(p.v[a]);
        }
    }
};

// Blocks where g may matter: one thread each. `reach` is that of the cells' centres from the middle.
extern "C" __global__ void flag_near(uint32_t first, uint32_t count, int spacing, double reach, const Ints* coord,
                                     const CapNode* nodes, uint32_t node_count, const Facet* cap_facets,
                                     uint8_t* flags) {
    const uint32_t row = thread_index();
    if (row < count) {
        const Point center(middle(coord[first + row], spacing));
        const double most = Caps{nodes, node_count, cap_facets}.bound(center.v, reach, ENOUGH);
        flags[row] = !(most < ENOUGH);
    }
}

// The value of g that decides for all cells of a block near a gap: one thread each.
extern "C" __global__ void steady(const uint32_t* rows, uint32_t count, uint32_t first, int spacing, double reach,
                                  const Ints* coord, const CapNode* nodes, uint32_t node_count, const Facet* cap_facets,
                                  double* values) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const Caps caps{nodes, node_count, cap_facets};
    const Ints center = middle(coord[first + rows[i]], spacing);
    const double change = caps.variation(Point(center).v, reach, ENOUGH);
    double value = UNSTEADY;
    if (change < ENOUGH) {
        const double g = caps.angle(center);
        const double from_half = fabs(g - floor(g) - 0.5);
        value = from_half > BAND + change ? g : UNSTEADY;
    }
    values[i] = value;
}

// Solid cells of the blocks near a gap, and which of these are uncertain: one thread block each, one
// thread per cell. `above` flags uncertain parents.
extern "C" __global__ void classify_near(const Facet* corners, const uint32_t* rows, const double* values,
                                         const uint32_t* starts, const uint32_t* facets, uint32_t first, int spacing,
                                         int small, const Ints* coord, const uint32_t* parent, const int32_t* seeds,
                                         uint32_t from_parent, uint32_t first_parent, const uint8_t* above,
                                         const CapNode* nodes, uint32_t node_count, const Facet* cap_facets,
                                         uint32_t inside_is_solid, uint64_t* solid, uint8_t* uncertain) {
    __shared__ int32_t sums[CELLS];
    __shared__ uint32_t masks[2];
    __shared__ uint32_t near_half;
    __shared__ uint32_t waiting[2 * WARP_QUEUE];
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first + row;
    const Ints at = coord[id], center = first_center(at, spacing);
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = 0;
    }
    if (threadIdx.x == 0) {
        masks[0] = masks[1] = near_half = 0;
    }
    __syncthreads();
    const uint32_t begin = starts[row];
    add_crossings<false>(corners, facets + begin, starts[row + 1] - begin, center, spacing, small, from_parent, 0, 1,
                         sums, waiting);
    __syncthreads();
    const int32_t start = Seeds{seeds, from_parent, first_parent}.of(row, at, parent[id]) + sums[0];
    const bool is_steady = values[blockIdx.x] != UNSTEADY;
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        double g = values[blockIdx.x];
        if (!is_steady) {
            Ints p;
            for (int a = 0; a < D; a++) {
                p.v[a] = center.v[a] + (cell >> 2 * a & 3) * spacing;
            }
            g = Caps{nodes, node_count, cap_facets}.angle(p);
        }
        const double size = fabs(static_cast<double>(winding_at(cell, start, sums)) - g);
        if ((size >= HALF) == (inside_is_solid != 0)) {
            atomicOr(&masks[cell / 32], 1u << (cell & 31));
        }
        if (!is_steady && fabs(size - 0.5) < BAND) {
            atomicOr(&near_half, 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint64_t mask = masks[0] | static_cast<uint64_t>(masks[1]) << 32;
        // Where one g decides for all cells, only walls can separate classes.
        const bool mixed = !is_steady && mask != 0 && mask != FULL;
        const bool may_be = !from_parent || above[parent[id] - first_parent] != 0;
        solid[id] = mask;
        uncertain[row] = may_be && (near_half || mixed);
    }
}

// Leaves that may have links: with a wall in their list, or with both fluid and solid cells in
// themselves and around them on their level.
extern "C" __global__ void flag_linked(uint32_t first, uint32_t count, const uint32_t* starts, const uint32_t* facets,
                                       uint32_t walls, const uint32_t* first_child, Root root, const uint32_t* families,
                                       const uint64_t* solid, uint8_t* flags) {
    const uint32_t row = thread_index();
    if (row >= count) {
        return;
    }
    const uint32_t id = first + row;
    bool linked = false;
    if (first_child[id] == NONE) {
        // Walls come before caps.
        const uint32_t begin = starts[row];
        const uint64_t mask = solid[id];
        linked = (begin < starts[row + 1] && facets[begin] < walls) || (mask != 0 && mask != FULL);
        for (int direction = 0; direction < DIRECTIONS && !linked; direction++) {
            const uint32_t n = neighbor(root, families, id, direction);
            linked = n < OUTSIDE && solid[n] != mask;
        }
    }
    flags[row] = linked;
}
