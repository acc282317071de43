// Cut links: for each facet in a block's list and each pair of opposite directions, the lines of cell
// centres that meet the facet, and on each the two neighbouring centres on either side of it. The
// crossing is recorded for the end, or both, that is a fluid cell of the block; the other end may lie
// one cell outside.
//
// One warp per block of cells; the nearest cut of each link is a minimum in shared memory. A
// block's links then go to the next free place of a staging area, and a second kernel puts them in order.

#include "bridge.cuh"
#include "pass.cuh"
#include "ring.cuh"

// Where a block's links are in the staging area: its first link and its first cell.
struct At {
    uint64_t link, cell;
};
struct Sums {
    uint64_t links, cells, rows;
};
static_assert(sizeof(At) == 16 && sizeof(Sums) == 24, "as the wrapper has them");

struct Staging {
    float* q;
    uint16_t* patch;
    uint64_t* cells;
    uint64_t links_room, cells_room;

    template <typename Kind>
    __device__ void put(uint64_t link, typename Kind::Slot cut) const {
        q[link] = Kind::q(cut);
        if constexpr (sizeof(cut) == 8) {
            patch[link] = Kind::patch(cut);
        }
    }
};

// A facet that is not small, by one lane for all lines along a direction.
template <typename Kind>
__device__ static void large(const Facet* facet, const Ints& center, const Ray& ray, int spacing, int shift,
                             const Cuts<Kind>& cuts) {
    const Local local(*facet, center, spacing, shift);
    if (local.is_small(spacing)) {
        return;
    }
    const Turned turned(facet, center, ray);
    if (local.is_narrow(spacing)) {
        Setup<int64_t, int64_t, int64_t> setup;
        if (setup.start(turned, ray, spacing, shift)) {
            cuts.all(ray, setup);
        }
    } else {
        Setup<int64_t, int64_t, Wide> setup;
        if (setup.start(turned, ray, spacing, shift)) {
            cuts.all(ray, setup);
        }
    }
}

// Finds a place in the staging area for the links in shared memory, and writes them there; `packed` is
// shared memory for so many links.
template <typename Kind>
__device__ static void store(const typename Kind::Slot* nearest, const uint32_t* directions,
                             typename Kind::Slot* packed, uint32_t room, int lane, uint64_t* boundary,
                             const Staging& staging, unsigned long long* used, At* at, Sums* sums) {
    constexpr int HALVES = (CELLS + 31) / 32;
    uint32_t bits[HALVES], first[HALVES];
    uint32_t links = 0;
    uint64_t mask = 0;
    for (int half = 0; half < HALVES; half++) {
        const int cell = half * 32 + lane;
        bits[half] = cell < CELLS ? directions[cell] : 0;
        const uint32_t own = __popc(bits[half]);
        uint32_t sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const uint32_t below = __shfl_up_sync(~0u, sum, step);
            sum += lane >= step ? below : 0;
        }
        first[half] = links + sum - own;
        links += __shfl_sync(~0u, sum, 31);
        mask |= static_cast<uint64_t>(__ballot_sync(~0u, own != 0)) << 32 * half;
    }
    const uint32_t cells = __popcll(mask);
    unsigned long long link = 0, cell = 0;
    if (lane == 0) {
        *boundary = mask;
        *sums = Sums{links, cells, cells != 0};
        link = links == 0 ? 0 : atomicAdd(&used[0], links);
        cell = links == 0 ? 0 : atomicAdd(&used[1], cells);
        *at = At{link, cell};
    }
    link = __shfl_sync(~0u, link, 0);
    cell = __shfl_sync(~0u, cell, 0);
    // Links beyond the capacity are counted, for a second try.
    if (links == 0 || link + links > staging.links_room || cell + cells > staging.cells_room) {
        return;
    }
    const bool in_shared = links <= room;
    for (int half = 0; half < HALVES; half++) {
        const int c = half * 32 + lane;
        if (bits[half] != 0) {
            const uint64_t before = mask & ((1ull << c) - 1);
            staging.cells[cell + __popcll(before)] = bits[half] | static_cast<uint64_t>(first[half]) << DIRECTION_BITS;
        }
        uint32_t place = first[half];
        for (uint32_t rest = bits[half]; rest != 0; rest &= rest - 1) {
            const typename Kind::Slot cut = nearest[c * DIRECTIONS + __ffs(static_cast<int>(rest)) - 1];
            if (in_shared) {
                packed[place] = cut;
            } else {
                staging.put<Kind>(link + place, cut);
            }
            place++;
        }
    }
    __syncwarp();
    if (in_shared) {
        for (uint32_t k = lane; k < links; k += 32) {
            staging.put<Kind>(link + k, packed[k]);
        }
    }
}

// The patch of links through gaps, or none; the neighbouring blocks; the periodic images of the surface, and the
// first image by direction; null pointers where there are none.
struct Around {
    uint32_t gap;
    Root root;
    const uint32_t* families;
    Lists images;
    const uint32_t* first_image;
};

// What links that pass facets need: how often facets count, the level's winding numbers and marks, which numbers are
// solid, and where the links that are not cut are counted.
struct Pass {
    Times times;
    const int32_t* numbers;
    const uint8_t* marks;
    uint32_t has_marks, fill;
    unsigned long long* passed;
};

// The facets `from` to `to - 1` of a block's list.
template <typename Kind, bool SMALL_FACETS>
__device__ static void cut_facets(const Lists& lists, uint32_t row, uint32_t from, uint32_t to, const Ints& center,
                                  int spacing, const Place& place, typename Kind::Slot* nearest, uint32_t* directions,
                                  Ring& ring, int lane) {
    const int shift = __ffs(spacing) - 1;
    const uint32_t begin = lists.starts[row], length = lists.starts[row + 1] - begin;
    Gang<Kind> gang{ring,
                    nearest,
                    directions,
                    place,
                    lists.corners,
                    lists.patch,
                    lists.facets + begin,
                    center,
                    spacing,
                    shift,
                    lane};
    const bool left = gang.run(length, from, to, SMALL_FACETS);
    if (!SMALL_FACETS && __any_sync(~0u, left)) {
        for (uint32_t item = lane; item < length * PAIRS; item += 32) {
            const uint32_t f = lists.facets[begin + item / PAIRS];
            if (f >= from && f < to) {
                const uint32_t patch = sizeof(typename Kind::Slot) == 8 ? lists.patch[f] : 0u;
                const Cuts<Kind> cuts{nearest, directions, place, patch};
                large(&lists.corners[f], center, Ray(DIRECTIONS / 2 + 1 + item % PAIRS), spacing, shift, cuts);
            }
        }
    }
    __syncwarp();
}

template <typename Kind, bool SMALL_FACETS>
__device__ static void cut(const Lists& lists, uint32_t walls, const uint32_t* rows, uint32_t first, int spacing,
                           Ints blocks, const Ints* coord, const uint64_t* solid, uint64_t* boundary,
                           const Staging& staging, unsigned long long* used, At* at, Sums* sums, const Around& around,
                           const Pass& rule) {
    using Slot = typename Kind::Slot;
    __shared__ alignas(16) Slot nearest[SLOTS];
    __shared__ uint32_t directions[Kind::PASSES ? 2 * CELLS : CELLS];
    // The ring, and after it the links in order.
    __shared__ alignas(16) unsigned char work[sizeof(Ring)];
    __shared__ uint32_t on_face[SLOTS / 4], any_on_face;
    const int lane = threadIdx.x;
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first + row;
    constexpr int QUADS = SLOTS * sizeof(Slot) / sizeof(uint4);
    static_assert(QUADS * sizeof(uint4) == SLOTS * sizeof(Slot), "all of it");
    for (int quad = lane; quad < QUADS; quad += 32) {
        reinterpret_cast<uint4*>(nearest)[quad] = make_uint4(~0u, ~0u, ~0u, ~0u);
    }
    const auto start_over = [&]() {
        for (int cell = lane; cell < (Kind::PASSES ? 2 * CELLS : CELLS); cell += 32) {
            directions[cell] = 0;
        }
        __syncwarp();
    };
    start_over();
    const Ints block = coord[id];
    Place place{~solid[id] & FULL, {}, {}, true, 0, CENTER, on_face, &any_on_face, false};
    bool at_periodic = false;
    for (int a = 0; a < D; a++) {
        place.low[a] = -4 * block.v[a];
        place.high[a] = 4 * (blocks.v[a] - block.v[a]) - 1;
        const bool inner = place.low[a] < 0 && place.high[a] > 3;
        place.inner &= inner;
        place.periodic |= around.root.periodic[a] << a;
        at_periodic |= !inner && around.root.periodic[a];
    }
    if (at_periodic) {
        for (int word = lane; word < SLOTS / 4; word += 32) {
            on_face[word] = 0;
        }
        if (lane == 0) {
            any_on_face = 0;
        }
        __syncwarp();
    }
    if (place.fluid != 0) {
        const Ints center = first_center(block, spacing);
        Ring& ring = *reinterpret_cast<Ring*>(work);
        const bool has_images = at_periodic && around.first_image != nullptr &&
                                around.images.starts[row] != around.images.starts[row + 1];
        // The surface, then its images, which lie in the order of their directions.
        for (int list = -1; list < (has_images ? DIRECTIONS : 0); list++) {
            const uint32_t from = list < 0 ? 0 : around.first_image[list];
            const uint32_t to = list < 0 ? walls : around.first_image[list + 1];
            if (list < 0 || from != to) {
                place.beyond = list < 0 ? CENTER : list;
                cut_facets<Kind, SMALL_FACETS>(list < 0 ? lists : around.images, row, from, to, center, spacing, place,
                                               nearest, directions, ring, lane);
            }
            // Crossings on faces: a second pass, for those that do not cancel.
            const bool is_last = list == (has_images ? DIRECTIONS : 0) - 1;
            if (is_last && at_periodic && !place.settled && any_on_face != 0) {
                place.settled = true;
                list = -2;
                if constexpr (Kind::PASSES) {
                    start_over();
                }
            }
        }
        if constexpr (Kind::PASSES) {
            __syncwarp();
            const Passed all{lists,          around.images,  around.first_image, walls,         row,
                             first,          rule.times,     rule.numbers,       rule.marks,    rule.has_marks,
                             rule.fill,      solid,          around.root,        around.families, center,
                             spacing};
            const uint32_t passed = pass<Kind>(nearest, directions, place, all, id, lane);
            if (passed != 0) {
                atomicAdd(rule.passed, static_cast<unsigned long long>(passed));
            }
        }
        // Caps have a patch of their own.
        if constexpr (sizeof(Slot) == 8) {
            __syncwarp();
            if (around.gap != NONE) {
                bridge<Kind>(nearest, directions, place.fluid, solid, around.root, around.families, id, around.gap,
                             lane);
            }
        }
    }
    __syncwarp();
    store<Kind>(nearest, directions, reinterpret_cast<Slot*>(work), sizeof(Ring) / sizeof(Slot), lane, &boundary[id],
                staging, used, &at[blockIdx.x], &sums[blockIdx.x]);
}

// Eight kernels of the same arguments; `...` are the launch bounds.
#define CUT_ENTRY(NAME, KIND, SMALL_FACETS, ...)                                                                       \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                                          \
        NAME(const Facet* corners, const uint16_t* patch, const uint32_t* starts, const uint32_t* facets,              \
             uint32_t walls, const uint32_t* rows, uint32_t first, int spacing, Ints blocks, const Ints* coord,        \
             const uint64_t* solid, uint64_t* boundary, float* q, uint16_t* staged_patch, uint64_t* cells,             \
             uint64_t links_room, uint64_t cells_room, unsigned long long* used, At* at, Sums* sums, uint32_t gap,     \
             Root root, const uint32_t* families, const Facet* image_corners, const uint16_t* image_patch,             \
             const uint32_t* image_starts, const uint32_t* image_facets, const uint32_t* first_image,                  \
             Times times, const int32_t* numbers, const uint8_t* marks,                    \
             uint32_t has_marks, uint32_t fill) {                                                                      \
        const Staging staging{q, staged_patch, cells, links_room, cells_room};                                         \
        const Lists images{image_corners, image_patch, image_starts, image_facets};                                    \
        cut<KIND, SMALL_FACETS>(Lists{corners, patch, starts, facets}, walls, rows, first, spacing, blocks, coord,     \
                                solid, boundary, staging, used, at, sums,                                              \
                                Around{gap, root, families, images, first_image},                                      \
                                Pass{times, numbers, marks, has_marks, fill, &used[2]});              \
    }

CUT_ENTRY(cut_small_plain, Plain, true, 32, 17)
CUT_ENTRY(cut_small_patched, Patched, true, 32)
CUT_ENTRY(cut_any_plain, Plain, false, 32)
CUT_ENTRY(cut_any_patched, Patched, false, 32)
CUT_ENTRY(pass_small_plain, Passing<Plain>, true, 32, 17)
CUT_ENTRY(pass_small_patched, Passing<Patched>, true, 32)
CUT_ENTRY(pass_any_plain, Passing<Plain>, false, 32)
CUT_ENTRY(pass_any_patched, Passing<Patched>, false, 32)

// Leaves among the blocks that have facets.
extern "C" __global__ void flag_leaves(const uint32_t* rows, uint32_t count, uint32_t first,
                                       const uint32_t* first_child, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = first_child[first + rows[i]] == NONE;
    }
}

// Blocks whose images have to be looked at, as well as those that are flagged already.
extern "C" __global__ void flag_images(uint32_t first, uint32_t count, const uint32_t* starts,
                                       const uint32_t* image_starts, const uint32_t* first_child, uint8_t* flags) {
    const uint32_t row = thread_index();
    if (row < count) {
        const bool listed = starts[row] != starts[row + 1] || image_starts[row] != image_starts[row + 1];
        flags[row] |= listed && first_child[first + row] == NONE;
    }
}

// Numbers of entries already in the table.
struct Base {
    uint64_t links, cells, rows;
};

// Rows of the table, in the order of the blocks: one warp per block with facets.
extern "C" __global__ void gather(const uint32_t* rows, uint32_t count, uint32_t first, const float* staged_q,
                                  const uint16_t* staged_patch, const uint64_t* staged_cells, const At* at,
                                  const Sums* sums, Base base, uint32_t patched, uint32_t* blocks, uint32_t* row_of,
                                  uint32_t* cell_start, uint64_t* cells, float* q, uint16_t* patch) {
    const uint32_t i = thread_index() / 32, lane = threadIdx.x & 31;
    if (i >= count) {
        return;
    }
    const Sums from = sums[i], to = sums[i + 1];
    if (to.rows == from.rows) {
        return;
    }
    const At place = at[i];
    const uint64_t link = base.links + from.links, cell = base.cells + from.cells;
    if (lane == 0) {
        const uint64_t row = base.rows + from.rows;
        const uint32_t id = first + rows[i];
        blocks[row] = id;
        row_of[id] = static_cast<uint32_t>(row);
        cell_start[row + 1] = static_cast<uint32_t>(base.cells + to.cells);
    }
    for (uint64_t k = lane; k < to.cells - from.cells; k += 32) {
        cells[cell + k] = staged_cells[place.cell + k] + (link << DIRECTION_BITS);
    }
    for (uint64_t k = lane; k < to.links - from.links; k += 32) {
        q[link + k] = staged_q[place.link + k];
        if (patched) {
            patch[link + k] = staged_patch[place.link + k];
        }
    }
}
