// Winding numbers at the first cell of every root block: each facet adds its crossing to the first
// block beyond it on every ray along x that meets it, then prefix sums along x.

#include "exact.cuh"
#include "forest.cuh"

// Rays of one facet through the first cells of the blocks, as rows and layers of blocks.
struct Rays {
    int from[D], to[D];

    __device__ Rays(const Facet& f, const Root& root, int edge, int half) {
        for (int a = 1; a < D; a++) {
            from[a] = max(floor_div(f.low(a) - half + edge - 1, edge), 0);
            to[a] = min(floor_div(f.high(a) - half, edge), static_cast<int>(root.n[a]) - 1);
        }
    }

    __device__ uint64_t count() const {
        uint64_t product = 1;
        for (int a = 1; a < D; a++) {
            product *= from[a] > to[a] ? 0 : static_cast<uint64_t>(to[a] - from[a] + 1);
        }
        return product;
    }
};

// Facets with more rays than this get a whole thread block.
constexpr uint64_t FEW = 32;

__device__ static void add_crossing(const Facet& facet, const Plane<int64_t, Wide>& plane, const Lines<int64_t>& lines,
                                    int sign, int by, const Rays& rays, uint64_t i, const Root& root, int edge, int half,
                                    int32_t* sums) {
    int at[D];
    for (int a = 1; a < D; a++) {
        const uint64_t extent = rays.to[a] - rays.from[a] + 1;
        at[a] = rays.from[a] + static_cast<int>(i % extent);
        i /= extent;
    }
    const auto center = [&](int a) { return at[a] * edge + half; };
    if (!lines.meets(center(1), D == 2 ? 0 : center(D - 1))) {
        return;
    }
    // The blocks beyond the crossing are a suffix of the row: bisect for its start.
    int before = -1, beyond = static_cast<int>(root.n[0]);
    while (beyond - before > 1) {
        at[0] = before + (beyond - before) / 2;
        Ints p;
        for (int a = 0; a < D; a++) {
            p.v[a] = center(a);
        }
        if (plane.is_outer(p) == (sign > 0)) {
            beyond = at[0];
        } else {
            before = at[0];
        }
    }
    if (beyond < static_cast<int>(root.n[0])) {
        size_t id = 0;
        at[0] = beyond;
        for (int a = D - 1; a >= 0; a--) {
            id = id * root.n[a] + at[a];
        }
        atomicSub(&sums[id], by);
    }
}

// Adds the crossings of facets with few rays, lists the others.
extern "C" __global__ void cross(const Facet* corners, const int32_t* times, uint32_t repeated, uint32_t facets, Root root, int spacing, int32_t* sums,
                                 uint32_t* large, uint32_t* large_count) {
    const uint32_t f = thread_index();
    if (f >= facets) {
        return;
    }
    const int edge = 4 * spacing, half = spacing / 2;
    const Facet facet = corners[f];
    const Rays rays(facet, root, edge, half);
    const uint64_t count = rays.count();
    if (count > FEW) {
        large[atomicAdd(large_count, 1u)] = f;
        return;
    }
    if (count == 0) {
        return;
    }
    const Plane<int64_t, Wide> plane(facet);
    const int sign = plane.normal[0] == 0 ? 0 : plane.normal[0] > 0 ? 1 : -1;
    if (sign == 0) {
        return;
    }
    const int along_x[3] = {1, 0, 0};
    int d[D];
    for (int a = 0; a < D; a++) {
        d[a] = along_x[a];
    }
    const Lines<int64_t> lines(facet, d, 0);
    const int by = repeated ? sign * times[f] : sign;
    for (uint64_t i = 0; i < count; i++) {
        add_crossing(facet, plane, lines, sign, by, rays, i, root, edge, half, sums);
    }
}

// Adds the crossings of the listed facets, one thread block each.
extern "C" __global__ void cross_large(const Facet* corners, const int32_t* times, uint32_t repeated, Root root, int spacing, const uint32_t* large,
                                       const uint32_t* large_count, int32_t* sums) {
    const int edge = 4 * spacing, half = spacing / 2;
    for (uint32_t k = blockIdx.x; k < *large_count; k += gridDim.x) {
        const Facet facet = corners[large[k]];
        const Plane<int64_t, Wide> plane(facet);
        const int sign = plane.normal[0] == 0 ? 0 : plane.normal[0] > 0 ? 1 : -1;
        if (sign == 0) {
            continue;
        }
        int d[D] = {1, 0};
        const Lines<int64_t> lines(facet, d, 0);
        const int by = repeated ? sign * times[large[k]] : sign;
        const Rays rays(facet, root, edge, half);
        for (uint64_t i = threadIdx.x; i < rays.count(); i += blockDim.x) {
            add_crossing(facet, plane, lines, sign, by, rays, i, root, edge, half, sums);
        }
    }
}

// Prefix sums along x, one thread per row.
extern "C" __global__ void sum_rows(uint32_t rows, uint32_t length, int32_t* sums) {
    const uint32_t row = thread_index();
    if (row >= rows) {
        return;
    }
    int32_t sum = 0;
    for (size_t i = static_cast<size_t>(row) * length; i < static_cast<size_t>(row + 1) * length; i++) {
        sum += sums[i];
        sums[i] = sum;
    }
}
