// Fractions beyond faces of the box that have a contact angle: `contact.rs`, which has the order of operations.

#pragma once

#include "params.cuh"
#include "tile.cuh"

// Cells of a tile's layer.
constexpr int LAYER = TILE / WIDE;

// Coordinates in a layer, along the axes that are not across it.
struct InLayer {
    int v[D - 1];

    __device__ static InLayer of(int k) {
        InLayer at;
        for (int a = 0; a < D - 1; a++) {
            at.v[a] = k % WIDE;
            k /= WIDE;
        }
        return at;
    }

    __device__ int index() const {
        int k = 0;
        for (int a = D - 2; a >= 0; a--) {
            k = WIDE * k + v[a];
        }
        return k;
    }

    // The place in the tile, of a layer across an axis.
    __device__ int in_tile(int axis, int layer) const {
        int at = layer * tile_step(axis);
        for (int a = 0; a < D - 1; a++) {
            at += v[a] * tile_step(a + (a >= axis));
        }
        return at;
    }
};

// The direction along the wall that points out of the liquid, by the nearest cells that show one; false where none do.
__device__ inline bool away(const double* layer, InLayer at, double (&out)[D - 1]) {
    for (int reach = 0; reach <= MARGIN; reach++) {
        const int wide = 2 * reach + 1, count = D == 2 ? wide : wide * wide;
        double sum[D - 1] = {};
        for (int k = 0; k < count; k++) {
            InLayer near;
            // Where differences have both neighbours.
            bool is_inner = true;
            for (int a = 0, rest = k; a < D - 1; a++, rest /= wide) {
                near.v[a] = at.v[a] + rest % wide - reach;
                is_inner = is_inner && near.v[a] >= 1 && near.v[a] <= WIDE - 2;
            }
            if (!is_inner) {
                continue;
            }
            for (int a = 0; a < D - 1; a++) {
                const int own = near.index(), step = a == 0 ? 1 : WIDE;
                sum[a] += layer[own - step] - layer[own + step];
            }
        }
        double square = sum[0] * sum[0];
        for (int a = 1; a < D - 1; a++) {
            square += sum[a] * sum[a];
        }
        const double size = sqrt(square);
        if (size > 1e-6) {
            for (int a = 0; a < D - 1; a++) {
                out[a] = sum[a] / size;
            }
            return true;
        }
    }
    return false;
}

// A fraction between cells of the wall's layer, linear along each axis; at the ends of the tile that of the last cell.
__device__ inline double between(const double* layer, const double (&at)[D - 1]) {
    double part[D - 1];
    InLayer low;
    for (int a = 0; a < D - 1; a++) {
        const double x = clamped(at[a], 0.0, static_cast<double>(WIDE - 1));
        // An integer's bound as well, for NaN.
        low.v[a] = max(static_cast<int>(fmin(floor(x), static_cast<double>(WIDE - 2))), 0);
        part[a] = x - static_cast<double>(low.v[a]);
    }
    double sum = -0.0;
    for (int corner = 0; corner < 1 << (D - 1); corner++) {
        InLayer to = low;
        double weight = 1.0;
        for (int a = 0; a < D - 1; a++) {
            const int upper = corner >> a & 1;
            to.v[a] += upper;
            weight *= upper ? part[a] : 1.0 - part[a];
        }
        sum += weight * layer[to.index()];
    }
    return sum;
}

// All threads of a thread block fill what a tile has beyond a side, and wait for one another. `layer` is shared memory.
__device__ inline void fill_beyond(double* tile, double* layer, int side, double slope) {
    const int axis = side >> 1, out = side & 1 ? 1 : -1;
    const int wall = side & 1 ? MARGIN + 3 : MARGIN;
    for (int k = threadIdx.x; k < LAYER; k += blockDim.x) {
        layer[k] = tile[InLayer::of(k).in_tile(axis, wall)];
    }
    __syncthreads();
    bool is_same = true;
    for (int k = threadIdx.x; k < LAYER; k += blockDim.x) {
        is_same = is_same && layer[k] == layer[0];
    }
    // No interface is at this wall here.
    if (__syncthreads_and(is_same)) {
        return;
    }
    for (int k = threadIdx.x; k < LAYER; k += blockDim.x) {
        const InLayer at = InLayer::of(k);
        double direction[D - 1];
        if (!away(layer, at, direction)) {
            continue;
        }
        for (int t = 1; t <= MARGIN; t++) {
            double moved[D - 1];
            for (int a = 0; a < D - 1; a++) {
                moved[a] = static_cast<double>(at.v[a]) - static_cast<double>(t) * slope * direction[a];
            }
            tile[at.in_tile(axis, wall + out * t)] = between(layer, moved);
        }
    }
    __syncthreads();
}

// A tile of fractions, with what contact angles put beyond faces of the box. All threads wait for one another.
__device__ inline void fill_fractions(const Mesh& mesh, const Params& params, const double* alpha, uint32_t block,
                                      double* tile, double* layer) {
    fill_tile(mesh, alpha, block, tile);
    for (int side = 0; side < SIDES; side++) {
        const double slope = params.slopes[side];
        if (slope != 0.0 && mesh.blocks.beside[block * static_cast<uint64_t>(SIDES) + side] == OUTSIDE) {
            fill_beyond(tile, layer, side, slope);
        }
    }
}
