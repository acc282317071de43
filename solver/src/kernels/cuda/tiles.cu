// A step of the slots whose cells keep 9 values each, in tiles of 2^3 blocks: one thread block a tile, one thread a
// cell (decision 059).

#include "closure.cuh"
#include "kept.cuh"

#if CUTLINK_D == 3
constexpr int EDGE = TILE_EDGE;
constexpr int TILE = EDGE * EDGE * EDGE;
// Populations of a velocity in shared memory: with a row before and behind each plane, so that nothing is tested along
// y but for what comes from beside the tile along x. (Along all axes memory would have room for fewer threads.) What
// leaves the tile along y is put into such rows, which no thread reads.
constexpr int ROWS = EDGE + 2;
constexpr int PLACES = EDGE * ROWS * EDGE;
constexpr int AROUND = TILE_AROUND;

// Thread blocks on a multiprocessor.
constexpr int AT_ONCE = 3;

// The place among the blocks around a tile of the one that holds a cell, from -1 to EDGE along each axis.
__device__ __forceinline__ int place_of(const int (&x)[3]) {
    return (x[0] >> 2) + 1 + 4 * ((x[1] >> 2) + 1) + 16 * ((x[2] >> 2) + 1);
}

__device__ __forceinline__ int cell_of(const int (&x)[3]) {
    return (x[2] & 3) << 4 | (x[1] & 3) << 2 | (x[0] & 3);
}

// A tile: its blocks and those around them, what is kept of their cells, and the populations that move, where they
// arrive.
template <class L>
struct Tile {
    const uint32_t* around;
    const float* kept;
    float* arriving;

    static __device__ __forceinline__ int index(const int (&x)[3]) {
        return (x[2] * ROWS + x[1] + 1) * EDGE + x[0];
    }

    // Sends what a cell holds to where it arrives in the tile: all of it, or from a layer beside the tile what enters
    // along AXIS with velocity TOWARD. What stays is returned.
    template <int AXIS, int TOWARD>
    __device__ __forceinline__ float send(const Relaxation<float>& relax, const int (&x)[3]) const {
        const uint32_t slot = around[place_of(x)];
        // No cell that is stepped reads these.
        if (slot == NONE) {
            return 0.0f;
        }
        const Fluid<float> fluid = load_kept(kept, slot & ~STEPPED, cell_of(x));
        float f[L::Q];
        Regularized::expand<L>(relax, 1.0f, fluid, f);
#pragma unroll
        for (int q = 1; q < L::Q; q++) {
            if (AXIS < 3 && L::c(q, AXIS % 3) != TOWARD) {
                continue;
            }
            int to[3];
            bool inside = true;
#pragma unroll
            for (int a = 0; a < 3; a++) {
                to[a] = x[a] + L::c(q, a);
                // Along y the rows before and behind a plane are places too.
                const int rim = a == 1 ? 1 : 0;
                const bool is_sure = a == 1 ? AXIS > 0 || L::c(q, 1) == 0 : L::c(q, a) == 0 ? a < AXIS : a == AXIS;
                inside = inside && (is_sure || (to[a] >= -rim && to[a] < EDGE + rim));
            }
            if (inside) {
                arriving[(q - 1) * PLACES + index(to)] = f[q];
            }
        }
        return f[0];
    }

    // Cell i of the layer before or behind the tile along an axis. Cells at edges and corners are in the layer of the
    // first axis.
    template <int AXIS, int TOWARD>
    __device__ __forceinline__ void enter(const Relaxation<float>& relax, int i) const {
        constexpr int WIDTH = AXIS == 0 ? EDGE + 2 : EDGE, HEIGHT = AXIS == 2 ? EDGE : EDGE + 2;
        if (i >= WIDTH * HEIGHT) {
            return;
        }
        const int along = i % WIDTH, above = i / WIDTH, beside = TOWARD > 0 ? -1 : EDGE;
        const int x[3] = {AXIS == 0 ? beside : along, AXIS == 0 ? along - 1 : AXIS == 1 ? beside : above,
                          AXIS == 2 ? beside : above - 1};
        send<AXIS, TOWARD>(relax, x);
    }
};

// With EDDY there is an eddy viscosity: how much collision has left of a stress does not matter to those who read it.
template <class L, bool EDDY>
__device__ __forceinline__ void step_tile(const uint32_t* tiles, uint32_t populated,
                                          const Relaxation<float>& relax, const float* __restrict__ from,
                                          float* __restrict__ to) {
    extern __shared__ float arriving[];
    __shared__ uint32_t around[AROUND];
    if (threadIdx.x < AROUND) {
        around[threadIdx.x] = tiles[static_cast<size_t>(blockIdx.x) * AROUND + threadIdx.x];
    }
    __syncthreads();
    const Tile<L> tile{around, kept_of<L>(from, populated), arriving};
    // A warp has a plane of two blocks: rows of 8 cells in shared memory, 16 cells side by side in that of the device.
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int x[3] = {(lane & 3) + (lane >> 4) * 4, (lane >> 2 & 3) + (warp & 1) * 4, warp >> 1};
    float f[L::Q];
    f[0] = tile.template send<3, 0>(relax, x);
    // Pieces of layers of a warp each, the last warps first, for they had the upper planes.
    constexpr int X = ((EDGE + 2) * (EDGE + 2) + 31) / 32, Y = (EDGE * (EDGE + 2) + 31) / 32, Z = EDGE * EDGE / 32;
    constexpr int WARPS = TILE / 32;
#pragma unroll 1
    for (int piece = WARPS - 1 - warp; piece < 2 * (X + Y + Z); piece += WARPS) {
        if (piece < X) {
            tile.template enter<0, 1>(relax, piece * 32 + lane);
        } else if (piece < 2 * X) {
            tile.template enter<0, -1>(relax, (piece - X) * 32 + lane);
        } else if (piece < 2 * X + Y) {
            tile.template enter<1, 1>(relax, (piece - 2 * X) * 32 + lane);
        } else if (piece < 2 * (X + Y)) {
            tile.template enter<1, -1>(relax, (piece - 2 * X - Y) * 32 + lane);
        } else if (piece < 2 * (X + Y) + Z) {
            tile.template enter<2, 1>(relax, (piece - 2 * (X + Y)) * 32 + lane);
        } else {
            tile.template enter<2, -1>(relax, (piece - 2 * (X + Y) - Z) * 32 + lane);
        }
    }
    __syncthreads();
    uint32_t slot = around[place_of(x)];
    if (slot == NONE || !(slot & STEPPED)) {
        return;
    }
    slot &= ~STEPPED;
#pragma unroll
    for (int q = 1; q < L::Q; q++) {
        f[q] = arriving[(q - 1) * PLACES + Tile<L>::index(x)];
    }
    Fluid<float> fluid = fluid_of<L>(f, relax);
    add_stress<L>(f, fluid);
    const float even = EDDY ? rates_of(relax, tau_of_stress(relax, fluid)).even : relax.even;
    without_trace(fluid, 1.0f);
#pragma unroll
    for (int n = 0; n < PAIRS; n++) {
        fluid.stress[n] *= 1.0f - even;
    }
    const int cell = cell_of(x);
    store_kept(kept_of<L>(to, populated), slot, cell, fluid);
    // Special slots beside this one read its populations.
    if (slot < populated) {
        Regularized::expand<L>(relax, 1.0f, fluid, f);
        float* out = to + static_cast<size_t>(slot) * (L::Q * CELLS) + cell;
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            out[q * CELLS] = f[q];
        }
    }
}

// Without acceleration, which would cost registers.
__device__ __forceinline__ Relaxation<float> at_rest(Relaxation<float> relax) {
    relax.acceleration[0] = relax.acceleration[1] = relax.acceleration[2] = 0.0f;
    return relax;
}

#define ENTRY(L, l, NAME, EDDY, RELAX)                                                                                 \
    extern "C" __global__ void __launch_bounds__(TILE, AT_ONCE)                                                        \
        NAME##_##l##_f32(const uint32_t* tiles, uint32_t populated, Relaxation<float> relax,                           \
                         const float* __restrict__ from, float* __restrict__ to) {                                     \
        step_tile<L, EDDY>(tiles, populated, RELAX, from, to);                                                         \
    }
#define ENTRIES(L, l)                                                                                                  \
    ENTRY(L, l, tile, false, at_rest(relax))                                                                           \
    ENTRY(L, l, tile_pushed, false, relax)                                                                             \
    ENTRY(L, l, tile_eddy, true, at_rest(relax))
ENTRIES(D3Q19, d3q19)
ENTRIES(D3Q27, d3q27)
#endif
