// Marks by layers around the surface (J26 §3.4.3), by regions and spots, and the cells at level boundaries.

#include "exact.cuh"
#include "forest.cuh"
#include "voxelizer_constants.cuh"

// Blocks with a wall of a named patch in their list, or any wall, get `tag`. One thread per block
// with facets.
extern "C" __global__ void sources(const uint32_t* rows, uint32_t count, const uint32_t* starts, const uint32_t* facets,
                                   uint32_t walls, const uint16_t* patch, uint32_t patched, const uint8_t* named,
                                   uint32_t all, uint8_t tag, uint8_t* reached) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t row = rows[i];
    for (uint32_t e = starts[row]; e < starts[row + 1]; e++) {
        const uint32_t f = facets[e];
        if (f < walls && (all || named[patched ? patch[f] : 0])) {
            reached[row] = tag;
            return;
        }
    }
}

// Uncertain blocks are sources too.
extern "C" __global__ void uncertain_sources(const uint8_t* uncertain, uint32_t count, uint8_t tag, uint8_t* reached) {
    const uint32_t row = thread_index();
    if (row < count && uncertain[row] == UNCERTAIN) {
        reached[row] = tag;
    }
}

// Whether a block is inside: all solid, and no surface in it.
__device__ inline bool is_inside(uint32_t row, uint32_t first, const uint64_t* solid, const uint32_t* starts,
                                 const uint8_t* uncertain, uint32_t any_uncertain) {
    const bool at_gap = any_uncertain && uncertain[row] == UNCERTAIN;
    return solid[first + row] == FULL && starts[row + 1] == starts[row] && !at_gap;
}

// One further layer: blocks not reached yet (inside blocks only, if `only_inside`) get the tag `to`
// where a neighbour has `from`. A new tag of a neighbour may be visible already, and is neither.
// Root blocks, one thread each.
extern "C" __global__ void spread_roots(uint32_t count, Root root, uint8_t from, uint8_t to, uint32_t only_inside,
                                        const uint64_t* solid, const uint32_t* starts, const uint8_t* uncertain,
                                        uint32_t any_uncertain, uint8_t* reached, uint32_t* grown) {
    const uint32_t row = thread_index();
    if (row >= count || reached[row] != 0) {
        return;
    }
    int at[D];
    uint32_t rest = row;
    for (int a = 0; a < D; a++) {
        at[a] = static_cast<int>(rest % root.n[a]);
        rest /= root.n[a];
    }
    bool beside = false;
#pragma unroll
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        uint32_t stride = 1, to_row = row;
        bool in = true;
        for (int a = 0; a < D; a++) {
            const int count = static_cast<int>(root.n[a]);
            int c = at[a] + step(direction, a);
            const bool beyond = c < 0 || c >= count;
            in &= !beyond || root.periodic[a];
            c += !beyond ? 0 : c < 0 ? count : -count;
            to_row += stride * static_cast<uint32_t>(c - at[a]);
            stride *= root.n[a];
        }
        beside |= in && reached[in ? to_row : row] == from;
    }
    if (beside && (!only_inside || is_inside(row, 0, solid, starts, uncertain, any_uncertain))) {
        reached[row] = to;
        *grown = 1;
    }
}

// Which places of a family are a block's neighbours, for the first of its blocks.
__host__ __device__ constexpr uint64_t neighborhood() {
    uint64_t mask = 0;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        mask |= 1ull << place_of(direction);
    }
    return mask;
}

// Blocks of finer levels, one warp per family; ids have no gaps.
extern "C" __global__ void spread(uint32_t first, uint32_t groups, uint32_t roots, const uint32_t* families,
                                  uint8_t from, uint8_t to, uint32_t only_inside, const uint64_t* solid,
                                  const uint32_t* starts, const uint8_t* uncertain, uint32_t any_uncertain,
                                  uint8_t* reached, uint32_t* grown) {
    const uint32_t group = thread_index() / 32;
    const int lane = threadIdx.x & 31;
    if (group >= groups) {
        return;
    }
    const uint32_t* places = families + static_cast<size_t>(first - roots + group * CHILDREN) * CHILDREN;
    uint64_t tagged = 0;
    for (int half = 0; half < (CELLS + 31) / 32; half++) {
        const int place = half * 32 + lane;
        const uint32_t n = place < CELLS ? places[place] : NONE;
        const uint32_t votes = __ballot_sync(~0u, n < OUTSIDE && reached[n - first] == from);
        tagged |= static_cast<uint64_t>(votes) << 32 * half;
    }
    if (lane >= CHILDREN || tagged == 0) {
        return;
    }
    constexpr uint64_t around = neighborhood();
    const uint32_t row = group * CHILDREN + lane;
    if ((tagged >> corner_of(lane) & around) != 0 && reached[row] == 0 &&
        (!only_inside || is_inside(row, first, solid, starts, uncertain, any_uncertain))) {
        reached[row] = to;
        *grown = 1;
    }
}

// The union of two sets of blocks.
extern "C" __global__ void join(uint32_t count, const uint8_t* reached, uint8_t* wanted) {
    const uint32_t row = thread_index();
    if (row < count && reached[row]) {
        wanted[row] = 1;
    }
}

// A region in units of blocks: `Place`, as numbers.
struct Place {
    uint64_t kind;
    double a[3];
    double b[3];
};
static_assert(sizeof(Place) == REGION_BYTES, "as `PlaceNumbers` of refine.rs");

struct Extent {
    double length, radius, reach;
};

__device__ inline double larger(double x, double y) {
    return x > y ? x : y;
}

__device__ inline bool wants(const Place& place, const Extent& extent, const Ints& coord) {
    double center[D];
    for (int a = 0; a < D; a++) {
        center[a] = static_cast<double>(coord.v[a]) + 0.5;
    }
    if (place.kind == REGION_BOX) {
        for (int a = 0; a < D; a++) {
            if (!(center[a] + extent.reach >= place.a[a] && center[a] - extent.reach <= place.b[a])) {
                return false;
            }
        }
        return true;
    }
    if (place.kind == REGION_BALL) {
        double square = 0.0;
        for (int a = 0; a < D; a++) {
            const double away = larger(fabs(center[a] - place.a[a]) - extent.reach, 0.0);
            square += away * away;
        }
        return square <= extent.radius * extent.radius;
    }
    double arm[D], along = 0.0, square = 0.0;
    for (int a = 0; a < D; a++) {
        arm[a] = center[a] - place.a[a];
        along += arm[a] * place.b[a];
    }
    for (int a = 0; a < D; a++) {
        const double off = arm[a] - along * place.b[a];
        square += off * off;
    }
    const double out = larger(sqrt(square) - extent.radius, 0.0);
    const double beyond = larger(larger(-along, along - extent.length), 0.0);
    const double reach = extent.reach * sqrt(static_cast<double>(D));
    return out * out + beyond * beyond <= reach * reach;
}

// Blocks that meet a region.
extern "C" __global__ void place(uint32_t first, uint32_t count, const Ints* coord, Place place, Extent extent,
                                 uint8_t* wanted) {
    const uint32_t row = thread_index();
    if (row < count && wants(place, extent, coord[first + row])) {
        wanted[row] = 1;
    }
}

// Blocks whose keys are in an ascending list: `holds` of spots.rs.
extern "C" __global__ void spots(uint32_t first, uint32_t count, const Ints* coord, const uint64_t* keys, uint32_t length,
                                 uint8_t* wanted) {
    const uint32_t row = thread_index();
    if (row >= count) {
        return;
    }
    uint64_t key = 0;
    for (int a = 0; a < D; a++) {
        key |= static_cast<uint64_t>(coord[first + row].v[a]) << (KEY_BITS * a);
    }
    uint32_t low = 0, high = length;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < length && keys[low] == key) {
        wanted[row] = 1;
    }
}

// Wanted blocks that are not inside get the first tag.
extern "C" __global__ void outside(uint32_t first, uint32_t count, const uint64_t* solid, const uint32_t* starts,
                                   const uint8_t* uncertain, uint32_t any_uncertain, const uint8_t* wanted, uint8_t tag,
                                   uint8_t* reached) {
    const uint32_t row = thread_index();
    if (row < count) {
        const bool in = is_inside(row, first, solid, starts, uncertain, any_uncertain);
        reached[row] = wanted[row] && !in ? tag : 0;
    }
}

// Marks of the level's blocks.
extern "C" __global__ void marks(uint32_t first, uint32_t count, const uint8_t* reached, uint8_t* marks) {
    const uint32_t row = thread_index();
    if (row < count) {
        marks[first + row] = reached[row] ? REFINE : KEEP;
    }
}

// Places on each axis.
struct Places {
    uint32_t n[D];
};

// Withdraws marks at places that are not wanted. One thread per block of the level.
extern "C" __global__ void restrict_marks(uint32_t first, uint32_t count, const Ints* coord, Places places,
                                          uint32_t shift, const uint8_t* wanted, uint8_t* marks) {
    const uint32_t row = thread_index();
    if (row >= count) {
        return;
    }
    const Ints at = coord[first + row];
    size_t place = 0;
    for (int a = D - 1; a >= 0; a--) {
        place = place * places.n[a] + static_cast<uint32_t>(at.v[a] >> shift);
    }
    if (!wanted[place]) {
        marks[first + row] = KEEP;
    }
}

// The cells of a block within two cells of its neighbour in a direction.
__host__ __device__ constexpr uint64_t near_side(int direction) {
    uint64_t mask = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        bool near = true;
        for (int a = 0; a < D; a++) {
            const int s = step(direction, a), c = cell_coord(cell, a);
            near = near && !(s < 0 && c >= 2) && !(s > 0 && c < 2);
        }
        mask |= static_cast<uint64_t>(near) << cell;
    }
    return mask;
}

template <int DIRECTION>
__device__ inline uint64_t near_missing(uint64_t missing, int corner) {
    uint64_t mask = 0;
    if constexpr (DIRECTION < DIRECTIONS) {
        constexpr uint64_t near = near_side(DIRECTION);
        mask = missing >> (corner + place_of(DIRECTION)) & 1 ? near : 0;
        mask |= near_missing<DIRECTION + 1>(missing, corner);
    }
    return mask;
}

// Ghost and interface masks: one warp a family, whose places say for all of its blocks where the
// level ends; the warps behind them take the root blocks, which have a neighbour on every side, or a wall.
extern "C" __global__ void interfaces(uint32_t roots, uint32_t groups, const uint32_t* families, uint64_t* ghost,
                                      uint64_t* interface) {
    const uint32_t group = thread_index() / 32;
    const int lane = threadIdx.x & 31;
    if (group >= groups) {
        const uint32_t id = (group - groups) * 32 + lane;
        if (id < roots) {
            ghost[id] = interface[id] = 0;
        }
        return;
    }
    const uint32_t* places = families + static_cast<size_t>(group) * CELLS;
    uint64_t missing = 0;
    for (int half = 0; half < (CELLS + 31) / 32; half++) {
        const int place = half * 32 + lane;
        const uint32_t votes = __ballot_sync(~0u, place < CELLS && places[place] == NONE);
        missing |= static_cast<uint64_t>(votes) << 32 * half;
    }
    if (lane < CHILDREN) {
        const size_t id = roots + static_cast<size_t>(group) * CHILDREN + lane;
        const uint64_t mask = missing == 0 ? 0 : near_missing<0>(missing, corner_of(lane));
        ghost[id] = mask;
        interface[id] = mask ? FULL & ~mask : 0;
    }
}
