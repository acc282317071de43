// Curvature of cells at the interface of the finest level: `curvature.rs`.

#include "contact.cuh"
#include "fit.cuh"
#include "normal.cuh"

// One thread block a block: what is in it. Zeroes the counts of cells that have a curvature by heights, and by a fit.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    kinds(const double* alpha, uint8_t* kinds, uint32_t* counts) {
    if (blockIdx.x == 0 && threadIdx.x < 2) {
        counts[threadIdx.x] = 0;
    }
    const bool has_cell = threadIdx.x < CELLS;
    const double c = has_cell ? alpha[static_cast<uint64_t>(blockIdx.x) * CELLS + threadIdx.x] : 0.0;
    const bool is_liquid = __syncthreads_and(!has_cell || c >= 1.0 - TRACE);
    const bool is_gas = __syncthreads_and(!has_cell || c <= TRACE);
    if (threadIdx.x == 0) {
        kinds[blockIdx.x] = is_liquid ? LIQUID : is_gas ? GAS : BOTH;
    }
}

__device__ inline bool is_interface(const double* tile, int at) {
    const double c = tile[at];
    bool is = is_trace(c);
    for (int a = 0; a < D; a++) {
        const int step = tile_step(a);
        is = is || (tile[at - step] > 0.5) != (c > 0.5) || (tile[at + step] > 0.5) != (c > 0.5);
    }
    return is;
}

// Whether a block or one beside it has an interface, or both have another fluid.
__device__ inline bool is_near_interface(const Mesh& mesh, const uint8_t* kinds, uint32_t block) {
    const uint8_t own = kinds[block];
    bool is = own == BOTH;
    for (int side = 0; side < SIDES; side++) {
        const uint32_t other = mesh.blocks.beside[block * static_cast<uint64_t>(SIDES) + side];
        is = is || (other != OUTSIDE && kinds[other & ~COARSER] != own);
    }
    return is;
}

// One thread block a block of the finest level, one thread a cell: curvature by heights, and positions for the fits.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    by_heights(Mesh mesh, Params params, const double* alpha, const uint8_t* kinds, Found found, uint32_t* counts) {
    __shared__ double tile[TILE], layer[LAYER];
    const uint32_t block = mesh.first_finest + blockIdx.x;
    const int cell = threadIdx.x;
    const bool has_cell = cell < CELLS, has_some = is_near_interface(mesh, kinds, block);
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * CELLS + cell;
    if (cell == 0) {
        found.has[blockIdx.x] = has_some;
    }
    if (!has_some) {
        if (has_cell) {
            found.curvature[i] = nan("");
        }
        return;
    }
    fill_fractions(mesh, params, alpha, block, tile, layer);
    const int at = in_tile(has_cell ? cell : 0);
    double value = nan("");
    uint8_t direction = NO_DIRECTION;
    Vector n = {}, position;
    for (int a = 0; a < D; a++) {
        position.v[a] = nan("");
    }
    if (has_cell && is_interface(tile, at)) {
        n = normal(tile, at);
        position = positions(tile, at, n);
        value = curvature(tile, at, coarse(tile, at), direction);
    }
    if (has_cell) {
        found.normals.set(i, n);
        found.positions.set(i, position);
        found.curvature[i] = value / mesh.width(block);
        found.directions[i] = direction;
    }
    const int count = __syncthreads_count(!isnan(value));
    if (cell == 0 && count > 0) {
        atomicAdd(counts, static_cast<uint32_t>(count));
    }
}

// One thread block a block of the finest level, one warp a cell without heights: the curvature of its column, else a fit.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    by_fits(Mesh mesh, Params params, Found found, uint32_t* counts) {
    __shared__ Fit fits[TILE_THREADS / WARP];
    const uint32_t block = mesh.first_finest + blockIdx.x;
    if (!found.has[blockIdx.x]) {
        return;
    }
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * CELLS;
    constexpr int PARTS = TILE_THREADS / WARP;
    // Each warp finds all cells without heights, and fits those whose turn is its own.
    uint32_t missing[PARTS];
    for (int part = 0; part < PARTS; part++) {
        const int cell = part * WARP + lane;
        const bool is_missing = cell < CELLS && isnan(found.curvature[first + cell]) &&
                                sum_of_sizes(found.normals.get(first + cell)) != 0.0;
        missing[part] = __ballot_sync(ALL, is_missing);
    }
    __syncthreads();
    const bool is_right = params.is_right();
    int turn = 0, of_columns = 0, of_fits = 0;
    for (int part = 0; part < PARTS; part++) {
        for (uint32_t left = missing[part]; left != 0; left &= left - 1, turn++) {
            if (turn % PARTS != warp) {
                continue;
            }
            const int cell = part * WARP + __ffs(static_cast<int>(left)) - 1;
            const Vector n = found.normals.get(first + cell);
            // Of cells with a direction, which no thread writes here.
            const double beside = of_column(mesh, found, {block, cell}, n);
            if (!isnan(beside)) {
                of_columns++;
                if (lane == 0) {
                    found.curvature[first + cell] = beside;
                }
                continue;
            }
            const int points = gather(mesh, found, is_right, {block, cell}, n, fits[warp]);
            const double value = fitted(fits[warp], points, n);
            if (!isnan(value)) {
                of_fits++;
                if (lane == 0) {
                    found.curvature[first + cell] = clamped(value, -1.0, 1.0) / mesh.width(block);
                }
            }
            __syncwarp();
        }
    }
    if (lane == 0 && of_columns > 0) {
        atomicAdd(counts, static_cast<uint32_t>(of_columns));
    }
    if (lane == 0 && of_fits > 0) {
        atomicAdd(counts + 1, static_cast<uint32_t>(of_fits));
    }
}
