// Facet lists: of the root boxes from all facets, of children from their parents' lists.

#include "exact.cuh"
#include "warp_queue.cuh"

struct Boxes {
    uint32_t n[D];
};

// The root boxes whose grown intervals a facet's bounds touch.
struct Range {
    int from[D], to[D];

    __device__ Range(const Facet& f, const Boxes& boxes, int edge) {
        const int grown = edge / 8;
        for (int a = 0; a < D; a++) {
            from[a] = max(floor_div(f.low(a) - grown + edge - 1, edge) - 1, 0);
            to[a] = min(floor_div(f.high(a) + grown, edge), static_cast<int>(boxes.n[a]) - 1);
        }
    }

    __device__ uint64_t count() const {
        uint64_t product = 1;
        for (int a = 0; a < D; a++) {
            product *= from[a] > to[a] ? 0 : static_cast<uint64_t>(to[a] - from[a] + 1);
        }
        return product;
    }

    // Coordinates of the i-th box of the range.
    __device__ Ints at(uint64_t i) const {
        Ints box;
        for (int a = 0; a < D; a++) {
            const uint64_t extent = to[a] - from[a] + 1;
            box.v[a] = from[a] + static_cast<int>(i % extent);
            i /= extent;
        }
        return box;
    }
};

__device__ static bool meets_box(const Facet& f, const Ints& box, int edge) {
    Ints center;
    for (int a = 0; a < D; a++) {
        center.v[a] = box.v[a] * edge + edge / 2;
    }
    return overlaps(f, center, edge / 2 + edge / 8);
}

__device__ static uint32_t number(const Ints& box, const Boxes& boxes) {
    uint32_t id = 0;
    for (int a = D - 1; a >= 0; a--) {
        id = id * boxes.n[a] + static_cast<uint32_t>(box.v[a]);
    }
    return id;
}

// Facets with more boxes than this in their range get a whole thread block.
constexpr uint64_t FEW = 64;

// Boxes that each facet meets, counted; large facets are listed instead. The count behind the last
// facet's is 0.
extern "C" __global__ void count_root(const Facet* corners, uint32_t facets, Boxes boxes, int edge, uint32_t* counts,
                                      uint32_t* large, uint32_t* large_count) {
    const uint32_t f = thread_index();
    if (f > facets) {
        return;
    }
    uint32_t count = 0;
    if (f < facets) {
        const Facet facet = corners[f];
        const Range range(facet, boxes, edge);
        const uint64_t candidates = range.count();
        if (candidates > FEW) {
            large[atomicAdd(large_count, 1u)] = f;
            return;
        }
        for (uint64_t i = 0; i < candidates; i++) {
            count += meets_box(facet, range.at(i), edge);
        }
    }
    counts[f] = count;
}

// The counts of large facets.
extern "C" __global__ void count_large(const Facet* corners, Boxes boxes, int edge, const uint32_t* large,
                                       const uint32_t* large_count, uint32_t* counts) {
    __shared__ uint32_t sum;
    for (uint32_t k = blockIdx.x; k < *large_count; k += gridDim.x) {
        if (threadIdx.x == 0) {
            sum = 0;
        }
        __syncthreads();
        const Facet facet = corners[large[k]];
        const Range range(facet, boxes, edge);
        uint32_t own = 0;
        for (uint64_t i = threadIdx.x; i < range.count(); i += blockDim.x) {
            own += meets_box(facet, range.at(i), edge);
        }
        atomicAdd(&sum, own);
        __syncthreads();
        if (threadIdx.x == 0) {
            counts[large[k]] = sum;
        }
        __syncthreads();
    }
}

// Pairs of a box and a facet, facet by facet.
extern "C" __global__ void emit_root(const Facet* corners, uint32_t facets, Boxes boxes, int edge,
                                     const uint32_t* starts, uint32_t* keys, uint32_t* values) {
    const uint32_t f = thread_index();
    if (f >= facets) {
        return;
    }
    const Facet facet = corners[f];
    const Range range(facet, boxes, edge);
    const uint64_t candidates = range.count();
    if (candidates > FEW) {
        return;
    }
    uint32_t at = starts[f];
    for (uint64_t i = 0; i < candidates; i++) {
        const Ints box = range.at(i);
        if (meets_box(facet, box, edge)) {
            keys[at] = number(box, boxes);
            values[at] = f;
            at++;
        }
    }
}

// The pairs of large facets, in any order of the boxes: they are sorted later.
extern "C" __global__ void emit_large(const Facet* corners, Boxes boxes, int edge, const uint32_t* large,
                                      const uint32_t* large_count, const uint32_t* starts, uint32_t* keys,
                                      uint32_t* values) {
    __shared__ uint32_t next;
    for (uint32_t k = blockIdx.x; k < *large_count; k += gridDim.x) {
        const uint32_t f = large[k];
        if (threadIdx.x == 0) {
            next = starts[f];
        }
        __syncthreads();
        const Facet facet = corners[f];
        const Range range(facet, boxes, edge);
        for (uint64_t i = threadIdx.x; i < range.count(); i += blockDim.x) {
            const Ints box = range.at(i);
            if (meets_box(facet, box, edge)) {
                const uint32_t at = atomicAdd(&next, 1u);
                keys[at] = number(box, boxes);
                values[at] = f;
            }
        }
        __syncthreads();
    }
}

// Where each box's pairs begin among sorted keys, and whether it has any.
extern "C" __global__ void starts_root(const uint32_t* keys, uint32_t pairs, uint32_t boxes, uint32_t* starts,
                                       uint8_t* flags) {
    const uint32_t box = thread_index();
    if (box > boxes) {
        return;
    }
    uint32_t low = 0, high = pairs;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < box) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    starts[box] = low;
    if (box < boxes) {
        flags[box] = low < pairs && keys[low] == box;
    }
}

constexpr int CHILDREN = 1 << D;

// Whether a facet of a parent's list meets a child: `f` is seen from the parent's lower corner.
__device__ static bool meets_child(const Facet& f, int child, int edge) {
    Ints center;
    for (int a = 0; a < D; a++) {
        center.v[a] = (child >> a & 1) * edge + edge / 2;
    }
    return overlaps(f, center, edge / 2 + edge / 8);
}

// Whether a first child and its siblings are among the boxes `first` to `first + count`: not for a leaf, whose
// first child is ~0.
__device__ static bool is_group(uint32_t child, uint32_t first, uint32_t count) {
    return static_cast<uint64_t>(child - first) + CHILDREN <= count;
}

// Which children each facet of a parent's list meets, one bit each in `masks`, zero before; and how many
// facets each child has: `parts` thread blocks per parent with facets. Bounds decide most pairs; the others
// are queued, so that all lanes of a warp have one to test.
extern "C" __global__ void split(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                                 const uint32_t* facets, uint32_t first_parent, const Ints* coord,
                                 const uint32_t* first_child, uint32_t first, uint32_t count, int edge, uint32_t parts,
                                 uint32_t* masks, uint32_t* counts) {
    constexpr uint32_t LOWER[3] = {0x55, 0x33, 0x0f};
    // Entries, 8 times, and children; of each warp.
    __shared__ uint32_t queues[8][WARP_QUEUE];
    __shared__ uint32_t sums[CHILDREN];
    const uint32_t row = rows[blockIdx.x / parts];
    const uint32_t id = first_parent + row;
    const uint32_t child_id = first_child[id];
    if (!is_group(child_id, first, count)) {
        return;
    }
    if (threadIdx.x < CHILDREN) {
        sums[threadIdx.x] = 0;
    }
    __syncthreads();
    const int grown = edge / 8, lane = threadIdx.x & 31;
    Ints corner;
    for (int a = 0; a < D; a++) {
        corner.v[a] = coord[id].v[a] * 2 * edge;
    }
    uint32_t* queue = queues[threadIdx.x / 32];
    const uint32_t begin = starts[row], end = starts[row + 1];
    int queued = 0;
    const auto test = [&](int pairs) {
        if (lane < pairs) {
            const uint32_t e = queue[lane] / CHILDREN, child = queue[lane] % CHILDREN;
            if (meets_child(corners[facets[begin + e]].relative_to(corner), child, edge)) {
                atomicOr(&masks[(begin + e) / 4], 1u << ((begin + e) % 4 * 8 + child));
                atomicAdd(&sums[child], 1u);
            }
        }
        __syncwarp();
    };
    // The loop is uniform over the warp.
    for (uint32_t base = (blockIdx.x % parts) * blockDim.x + (threadIdx.x & ~31u); base < end - begin;
         base += parts * blockDim.x) {
        const uint32_t e = base + lane;
        uint32_t touched = 0, contained = 0;
        if (e < end - begin) {
            const Facet facet = corners[facets[begin + e]].relative_to(corner);
            touched = contained = (1u << CHILDREN) - 1;
            for (int a = 0; a < D; a++) {
                const int low = facet.low(a), high = facet.high(a);
                const bool from_lower = low >= -grown, to_lower = high <= edge + grown;
                const bool from_upper = low >= edge - grown, to_upper = high <= 2 * edge + grown;
                const uint32_t lower = LOWER[a], upper = ~LOWER[a];
                touched &= (low <= edge + grown && high >= -grown ? lower : 0) |
                           (low <= 2 * edge + grown && high >= edge - grown ? upper : 0);
                contained &= (from_lower && to_lower ? lower : 0) | (from_upper && to_upper ? upper : 0);
            }
            if (contained != 0) {
                atomicOr(&masks[(begin + e) / 4], contained << ((begin + e) % 4 * 8));
            }
            touched &= ~contained;
        }
        for (int child = 0; child < CHILDREN; child++) {
            const uint32_t votes = __ballot_sync(~0u, contained >> child & 1);
            if (votes != 0 && lane == 0) {
                atomicAdd(&sums[child], static_cast<uint32_t>(__popc(votes)));
            }
        }
        uint32_t any = __reduce_or_sync(~0u, touched);
        while (any != 0) {
            const int child = __ffs(static_cast<int>(any)) - 1;
            any &= any - 1;
            push<uint32_t>(queue, queued, touched >> child & 1, e * CHILDREN + child, test);
        }
    }
    test(queued);
    __syncthreads();
    if (threadIdx.x < CHILDREN) {
        atomicAdd(&counts[child_id - first + threadIdx.x], sums[threadIdx.x]);
    }
}

// Which boxes have facets.
extern "C" __global__ void flag_rows(const uint32_t* starts, uint32_t count, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = starts[i + 1] > starts[i];
    }
}

// The children's lists, in the order of the parent's: one thread block per parent with facets, each warp
// with a section of its list.
extern "C" __global__ void fill(const uint32_t* rows, const uint32_t* parent_starts, const uint32_t* parent_facets,
                                const uint8_t* masks, uint32_t first_parent, const uint32_t* first_child,
                                uint32_t first, uint32_t count, const uint32_t* starts, uint32_t* facets) {
    __shared__ uint32_t counts[32][CHILDREN];
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, warps = blockDim.x / 32;
    const uint32_t row = rows[blockIdx.x];
    const uint32_t child_id = first_child[first_parent + row];
    if (!is_group(child_id, first, count)) {
        return;
    }
    const uint32_t end = parent_starts[row + 1];
    const uint32_t stretch = ((end - parent_starts[row] + warps - 1) / warps + 31) / 32 * 32;
    const uint32_t from = min(parent_starts[row] + warp * stretch, end), to = min(from + stretch, end);
    uint32_t next[CHILDREN];
    for (int child = 0; child < CHILDREN; child++) {
        next[child] = starts[child_id - first + child];
    }
    if (warps > 1) {
        uint32_t own[CHILDREN] = {};
        for (uint32_t base = from; base < to; base += 32) {
            const uint32_t mask = base + lane < to ? masks[base + lane] : 0;
            for (int child = 0; child < CHILDREN; child++) {
                own[child] += __popc(__ballot_sync(~0u, mask >> child & 1));
            }
        }
        for (int child = 0; child < CHILDREN; child++) {
            if (lane == child) {
                counts[warp][child] = own[child];
            }
        }
        __syncthreads();
        for (int before = 0; before < warp; before++) {
            for (int child = 0; child < CHILDREN; child++) {
                next[child] += counts[before][child];
            }
        }
    }
    const uint32_t below = (1u << lane) - 1;
    for (uint32_t base = from; base < to; base += 32) {
        const uint32_t e = base + lane;
        const uint32_t mask = e < to ? masks[e] : 0;
        const uint32_t f = e < to ? parent_facets[e] : 0;
        for (int child = 0; child < CHILDREN; child++) {
            const uint32_t votes = __ballot_sync(~0u, mask >> child & 1);
            if (mask >> child & 1) {
                facets[next[child] + __popc(votes & below)] = f;
            }
            next[child] += __popc(votes);
        }
    }
}
