// Vectors of conjugate gradients, and sums: `host/vectors.rs`.

#include "operator.cuh"
#include "sums.cuh"

// Places of products: `scalar` of `cg.rs`.
constexpr int RZ = 0, BEFORE = 1, PQ = 2;

constexpr uint32_t NO_REGION = 0xffffffff;

// Closed regions: `RegionAddresses` of `vectors.rs`.
struct Regions {
    const uint32_t* of;
    const double* volume;
    const uint32_t* share_block;
    const uint32_t* share_region;
    const uint32_t* first_share;
};

// A cell's volume, in cells of the finest level.
__device__ double size_of(const Blocks& blocks, uint32_t block, uint32_t finest) {
    return static_cast<double>(1ull << D * (finest - blocks.level[block]));
}

// One thread a cell, here and below.
extern "C" __global__ void start(Operator op, uint32_t cells, const double* b, const double* x, double* r, double* to,
                                 double* scalars) {
    const uint32_t index = thread_index();
    if (index == 0) {
        // The first direction is the first correction.
        scalars[BEFORE] = __longlong_as_double(0x7ff0000000000000ll);
    }
    if (index < cells && op.blocks.is_leaf(index / CELLS)) {
        const bool known = op.inverse[index] > 0.0;
        r[index] = known ? b[index] : 0.0;
        to[index] = known ? x[index] : 0.0;
    }
}

extern "C" __global__ void subtract(Blocks blocks, uint32_t cells, const double* q, double* r) {
    const uint32_t index = thread_index();
    if (index < cells && blocks.is_leaf(index / CELLS)) {
        r[index] -= q[index];
    }
}

extern "C" __global__ void over_diagonal(Operator op, uint32_t cells, const double* r, double* z) {
    const uint32_t index = thread_index();
    if (index < cells && op.blocks.is_leaf(index / CELLS)) {
        z[index] = op.inverse[index] * r[index];
    }
}

extern "C" __global__ void turn(Blocks blocks, uint32_t cells, const double* scalars, const double* z, double* p) {
    const uint32_t index = thread_index();
    if (index < cells && blocks.is_leaf(index / CELLS)) {
        const double beta = scalars[RZ] / scalars[BEFORE];
        p[index] = z[index] + beta * p[index];
    }
}

extern "C" __global__ void advance(Blocks blocks, uint32_t cells, double* scalars, const double* p, const double* q,
                                   double* x, double* r) {
    const uint32_t index = thread_index();
    if (index == 0) {
        scalars[BEFORE] = scalars[RZ];
    }
    if (index < cells && blocks.is_leaf(index / CELLS)) {
        const double alpha = scalars[RZ] / scalars[PQ];
        x[index] += alpha * p[index];
        r[index] -= alpha * q[index];
    }
}

// Sums of blocks; 0 of refined ones.
extern "C" __global__ void block_products(Blocks blocks, uint32_t cells, const double* a, const double* b,
                                          double* sums) {
    const uint32_t index = thread_index(), block = index / CELLS;
    const bool counts = index < cells && blocks.is_leaf(block);
    const double sum = block_sum(counts ? a[index] * b[index] : 0.0);
    if (index < cells && index % CELLS == 0) {
        sums[block] = counts ? sum : 0.0;
    }
}

// One thread block.
extern "C" __global__ void total(const double* sums, uint32_t count, double* to) {
    const double sum = ordered_sum(sums, count);
    if (threadIdx.x == 0) {
        *to = sum;
    }
}

// Sums of what blocks have in regions. One thread a cell of a share.
extern "C" __global__ void share_sums(Blocks blocks, Regions regions, uint32_t shares, uint32_t finest,
                                      const double* values, uint32_t integrated, double* sums) {
    const uint32_t index = thread_index(), share = index / CELLS;
    double term = 0.0;
    if (share < shares) {
        const uint32_t block = regions.share_block[share];
        const uint64_t own = block * static_cast<uint64_t>(CELLS) + index % CELLS;
        if (regions.of[own] == regions.share_region[share]) {
            term = values[own] * (integrated ? 1.0 : size_of(blocks, block, finest));
        }
    }
    const double sum = block_sum(term);
    if (share < shares && index % CELLS == 0) {
        sums[share] = sum;
    }
}

// One thread block a region.
extern "C" __global__ void region_sums(Regions regions, const double* of_shares, double* sums) {
    const uint32_t region = blockIdx.x, from = regions.first_share[region];
    const double sum = ordered_sum(of_shares + from, regions.first_share[region + 1] - from);
    if (threadIdx.x == 0) {
        sums[region] = sum;
    }
}

extern "C" __global__ void remove_means(Blocks blocks, Regions regions, uint32_t cells, uint32_t finest,
                                        const double* sums, uint32_t integrated, double* values) {
    const uint32_t index = thread_index();
    if (index < cells && regions.of[index] != NO_REGION) {
        const uint32_t region = regions.of[index];
        const double mean = sums[region] / regions.volume[region];
        values[index] -= mean * (integrated ? size_of(blocks, index / CELLS, finest) : 1.0);
    }
}
