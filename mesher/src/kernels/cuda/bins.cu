// Facet lists: of the root boxes from all facets, of children from their parents' lists.

#include "exact.cuh"

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

    __device__ static int floor_div(int p, int q) {
        const int quotient = p / q;
        return quotient - (p % q < 0);
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

// A facet with more boxes than this in its range is left to a whole thread block.
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

// The pairs of large facets, in any order of the boxes: the sort puts that right.
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

// Which children each facet of a parent's list meets, one bit each, and how many facets each child
// has: one thread block a parent that has facets.
extern "C" __global__ void split(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                                 const uint32_t* facets, uint32_t first_parent, const Ints* coord,
                                 const uint32_t* first_child, uint32_t first, int edge, uint8_t* masks,
                                 uint32_t* counts) {
    constexpr int CHILDREN = 1 << D;
    constexpr uint32_t LOWER[3] = {0x55, 0x33, 0x0f};
    __shared__ uint32_t sums[CHILDREN];
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first_parent + row;
    const uint32_t child_id = first_child[id];
    if (child_id == ~0u) {
        return;
    }
    if (threadIdx.x < CHILDREN) {
        sums[threadIdx.x] = 0;
    }
    __syncthreads();
    const int grown = edge / 8;
    Ints corner;
    for (int a = 0; a < D; a++) {
        corner.v[a] = coord[id].v[a] * 2 * edge;
    }
    const uint32_t end = starts[row + 1];
    // All threads of a warp go round together, for the votes.
    for (uint32_t base = starts[row] + (threadIdx.x & ~31u); base < end; base += blockDim.x) {
        const uint32_t e = base + (threadIdx.x & 31);
        uint32_t mask = 0;
        if (e < end) {
            const Facet facet = corners[facets[e]].relative_to(corner);
            uint32_t touched = (1u << CHILDREN) - 1;
            for (int a = 0; a < D; a++) {
                const int low = facet.low(a), high = facet.high(a);
                const bool lower = low <= edge + grown && high >= -grown;
                const bool upper = low <= 2 * edge + grown && high >= edge - grown;
                touched &= (lower ? LOWER[a] : 0) | (upper ? ~LOWER[a] : 0);
            }
            while (touched != 0) {
                const int child = __ffs(static_cast<int>(touched)) - 1;
                touched &= touched - 1;
                Ints center;
                for (int a = 0; a < D; a++) {
                    center.v[a] = (child >> a & 1) * edge + edge / 2;
                }
                mask |= static_cast<uint32_t>(overlaps(facet, center, edge / 2 + grown)) << child;
            }
            masks[e] = static_cast<uint8_t>(mask);
        }
        for (int child = 0; child < CHILDREN; child++) {
            const uint32_t votes = __ballot_sync(~0u, mask >> child & 1);
            if ((threadIdx.x & 31) == 0) {
                atomicAdd(&sums[child], static_cast<uint32_t>(__popc(votes)));
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < CHILDREN) {
        counts[child_id - first + threadIdx.x] = sums[threadIdx.x];
    }
}

// Which boxes have facets.
extern "C" __global__ void flag_rows(const uint32_t* starts, uint32_t count, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = starts[i + 1] > starts[i];
    }
}

// The children's lists, in the order of the parent's: one warp a parent that has facets.
extern "C" __global__ void fill(const uint32_t* rows, uint32_t row_count, const uint32_t* parent_starts,
                                const uint32_t* parent_facets, const uint8_t* masks, uint32_t first_parent,
                                const uint32_t* first_child, uint32_t first, const uint32_t* starts, uint32_t* facets) {
    constexpr int CHILDREN = 1 << D;
    const uint32_t warp = thread_index() / 32, lane = threadIdx.x & 31;
    if (warp >= row_count) {
        return;
    }
    const uint32_t row = rows[warp];
    const uint32_t child_id = first_child[first_parent + row];
    if (child_id == ~0u) {
        return;
    }
    uint32_t next[CHILDREN];
    for (int child = 0; child < CHILDREN; child++) {
        next[child] = starts[child_id - first + child];
    }
    const uint32_t before = (1u << lane) - 1;
    const uint32_t end = parent_starts[row + 1];
    for (uint32_t base = parent_starts[row]; base < end; base += 32) {
        const uint32_t e = base + lane;
        const uint32_t mask = e < end ? masks[e] : 0;
        const uint32_t f = e < end ? parent_facets[e] : 0;
        for (int child = 0; child < CHILDREN; child++) {
            const uint32_t votes = __ballot_sync(~0u, mask >> child & 1);
            if (mask >> child & 1) {
                facets[next[child] + __popc(votes & before)] = f;
            }
            next[child] += __popc(votes);
        }
    }
}
