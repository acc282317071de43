// What a look at the interface sees of blocks: `adapt.rs`.

#include "components.cuh"
#include "interface.cuh"
#include "tile.cuh"
#include "velocity.cuh"

// The square of the vorticity times the width of a cell.
__device__ inline double square_of_turn(const Mesh& mesh, const Params& params, const Components& velocity, Cell at) {
    const auto rise = [&](int k, int axis) {
        const double high = beyond(mesh, params, velocity.of[k], k, at, 2 * axis + 1);
        return 0.5 * (high - beyond(mesh, params, velocity.of[k], k, at, 2 * axis));
    };
    double square = 0.0;
    for (int a = 0; a < D; a++) {
        for (int b = a + 1; b < D; b++) {
            const double turn = rise(b, a) - rise(a, b);
            square += turn * turn;
        }
    }
    return square;
}

// One thread block a block: its fluids, and the largest square of a cell, as bits, where velocities are given.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    seen(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params, const double* alpha,
         const __grid_constant__ Components velocity, uint32_t levels, uint32_t margin, uint8_t* fluids,
         unsigned long long* squares) {
    __shared__ unsigned long long largest;
    const uint32_t block = blockIdx.x, level = mesh.blocks.level[block];
    const Cell cell = {block, static_cast<int>(threadIdx.x)};
    const bool has_cell = cell.cell < CELLS;
    const double c = has_cell ? alpha[cell.index()] : 0.0;
    const bool is_liquid = __syncthreads_and(!has_cell || c >= 1.0 - TRACE);
    const bool is_gas = __syncthreads_and(!has_cell || c <= TRACE);
    const uint8_t own = is_liquid ? LIQUID : is_gas ? GAS : BOTH;
    bool is_near = false;
    if (level + 1 < levels) {
        is_near = own == BOTH;
        const uint32_t finer = min(levels - 1 - level, 31u);
        const int reach = static_cast<int>((margin + (1u << finer) - 1) >> finer), wide = 4 + 2 * reach;
        const int count = D == 2 ? wide * wide : wide * wide * wide;
        for (int i = threadIdx.x; i < count && !is_near; i += blockDim.x) {
            Ints to;
            for (int a = 0, rest = i; a < D; a++, rest /= wide) {
                to.v[a] = rest % wide - reach;
            }
            is_near = kind_of(alpha[mesh.cell_at(block, to).index()]) != own;
        }
    }
    is_near = __syncthreads_or(is_near);
    if (threadIdx.x == 0) {
        fluids[block] = static_cast<uint8_t>(own | (is_near ? NEAR : 0));
        largest = 0;
    }
    if (!velocity.is_there()) {
        return;
    }
    __syncthreads();
    if (has_cell && level + 1 < levels && !is_near) {
        const double square = square_of_turn(mesh, params, velocity, cell);
        // Not of NaN; numbers that are not negative are ordered as their bits.
        if (square > 0.0) {
            atomicMax(&largest, static_cast<unsigned long long>(__double_as_longlong(square)));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        squares[block] = largest;
    }
}
