// Values that pass between levels, and the populations made of them: `exchange.rs`.

#pragma once

#include "closure.cuh"
#include "cumulant.cuh"
#include "kbc.cuh"
#include "regularized.cuh"

// Density less 1, momentum and non-equilibrium stress of a cell.
template <class T>
using Values = T[EXCHANGED];

// How a level makes populations of values that come from another one: `Arrival`.
template <class T>
struct Arrival {
    T scale, keep;
    Relaxation<T> relax;

    // From before collision there to before collision here.
    __device__ void rescale(Values<T>& values) const {
#pragma unroll
        for (int n = 1 + D; n < EXCHANGED; n++) {
            values[n] *= scale;
        }
    }
};

// Populations after collision, of values before it that are this level's.
template <class L, class O, class S>
__device__ void populations(const Values<Real<S>>& values, const Arrival<Real<S>>& arrival, S* to) {
    using T = Real<S>;
    Fluid<T> fluid;
    fluid.rho = values[0];
    const T density = fluid.density();
#pragma unroll
    for (int a = 0; a < D; a++) {
        fluid.u[a] = values[1 + a] / density;
    }
#pragma unroll
    for (int n = 0; n < PAIRS; n++) {
        fluid.stress[n] = values[1 + D + n];
    }
    without_trace(fluid, T(arrival.relax.bulk));
    Relaxation<T> relax = arrival.relax;
    T keep = arrival.keep, f[L::Q];
    if (relax.closure != NO_EDDY) {
        const T tau = tau_of_strain(relax, fluid), share = tau / relax.tau;
#pragma unroll
        for (int n = 0; n < PAIRS; n++) {
            fluid.stress[n] *= share;
        }
        relax = rates_of(relax, tau);
        keep = T(1) - relax.even;
    }
    O::template build<L>(relax, keep, fluid, f);
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        to[q * CELLS] = narrow<S>(f[q]);
    }
}

// Weights along an axis of the four cells around a child's two, for the half of its cell `middle` (1 or 2) that lies to
// the given side, so that the mean of both halves is the cell's value: a parabola, else a line, by what there is.
template <class T>
__device__ void weights(bool cubic, int middle, int side, uint32_t there, T (&to)[4]) {
    // Bit n: the cell n - 2 steps to that side.
    uint32_t along = 0;
    for (int n = 0; n < 5; n++) {
        const int cell = middle + (n - 2) * side;
        along |= static_cast<uint32_t>(cell >= 0 && cell < 4 && (there >> cell & 1)) << n;
    }
    const bool before2 = along & 1, before = along >> 1 & 1, after = along >> 3 & 1, after2 = along >> 4 & 1;
    double line[5] = {0, 0, 1, 0, 0};
    const auto set = [&](double a, double b, double c, double d, double e) {
        line[0] = a, line[1] = b, line[2] = c, line[3] = d, line[4] = e;
    };
    if (cubic && before && after) {
        set(0, -0.125, 1, 0.125, 0);
    } else if (cubic && !before && after && after2) {
        set(0, 0, 0.625, 0.5, -0.125);
    } else if (cubic && before2 && before && !after) {
        set(0.125, -0.5, 1.375, 0, 0);
    } else if (after) {
        set(0, 0, 0.75, 0.25, 0);
    } else if (before) {
        set(0, -0.25, 1.25, 0, 0);
    }
    for (int cell = 0; cell < 4; cell++) {
        const int n = (cell - middle) * side + 2;
        T weight = T(0);
        for (int k = 0; k < 5; k++) {
            weight = k == n ? T(line[k]) : weight;
        }
        to[cell] = weight;
    }
}

// The exchanged values of the coarse cells around a child: its 2^D and those next to them.
template <class T>
struct Tile {
    T values[EXCHANGED][CELLS];
    // Which exchange, and which of these are fluid.
    uint64_t there, fluid;
};

// Adds the cells of a tile with the products of the axes' weights; the sum of those that are fluid,
// and whether all with a weight are.
template <class T>
__device__ bool add_product(const Tile<T>& tile, const T (&axes)[D][4], Values<T>& values, T& sum) {
    bool all = true;
    sum = T(0);
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] = T(0);
    }
#pragma unroll 1
    for (int row = 0; row < CELLS / 4; row++) {
        T above = axes[1][row & 3];
        if (D == 3) {
            above *= axes[D - 1][row >> 2];
        }
        if (above == T(0)) {
            continue;
        }
#pragma unroll
        for (int x = 0; x < 4; x++) {
            const T weight = above * axes[0][x];
            const int cell = 4 * row + x;
            if (weight == T(0)) {
                continue;
            }
            if (!(tile.fluid >> cell & 1)) {
                all = false;
                continue;
            }
            sum += weight;
#pragma unroll
            for (int n = 0; n < EXCHANGED; n++) {
                values[n] += weight * tile.values[n][cell];
            }
        }
    }
    return all;
}

// Parabolas along all axes from cells that are all there and fluid: the sum of `add_product` with its weights and in its order.
template <class T>
__device__ void add_parabolas(const Tile<T>& tile, int cell, Values<T>& values) {
    T axes[3][3];
    int first = 0;
    for (int a = 0; a < D; a++) {
        const int x = cell_coord(cell, a);
        const T side = T(x & 1 ? 0.125 : -0.125);
        axes[a][0] = -side, axes[a][1] = T(1), axes[a][2] = side;
        first |= (x >> 1) << 2 * a;
    }
#pragma unroll
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] = T(0);
    }
#pragma unroll
    for (int z = 0; z < (D == 3 ? 3 : 1); z++) {
#pragma unroll
        for (int y = 0; y < 3; y++) {
            const T above = D == 3 ? axes[1][y] * axes[2][z] : axes[1][y];
#pragma unroll
            for (int x = 0; x < 3; x++) {
                const T weight = above * axes[0][x];
#pragma unroll
                for (int n = 0; n < EXCHANGED; n++) {
                    values[n] += weight * tile.values[n][first + x + 4 * y + 16 * z];
                }
            }
        }
    }
}

// Ghost cells of a fine block, a child of an overlap block. Where not all cells of the polynomial are fluid, the
// linear one; where not all of these are, the weighted mean of those that are.
template <class L, class O, class S>
__device__ void interpolate(const Tile<Real<S>>& tile, bool cubic, const Arrival<Real<S>>& arrival, S* to) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    Values<T> values;
    constexpr uint64_t ALL = ~0ull >> (64 - CELLS);
    if (cubic && (tile.there & tile.fluid) == ALL) {
        add_parabolas(tile, cell, values);
        arrival.rescale(values);
        populations<L, O>(values, arrival, to + cell);
        return;
    }
    T axes[D][4], sum;
    const auto set = [&](bool by_parabola, bool by_line) {
        for (int a = 0; a < D; a++) {
            // The child's cells are the middle ones of the tile.
            const int x = cell_coord(cell, a), middle = 1 + (x >> 1), side = 2 * (x & 1) - 1;
            uint32_t there = 0;
            for (int c = 0; c < 4; c++) {
                int at = 0;
                for (int b = 0; b < D; b++) {
                    at |= (b == a ? c : 1 + (cell_coord(cell, b) >> 1)) << 2 * b;
                }
                there |= static_cast<uint32_t>(tile.there >> at & 1) << c;
            }
            if (by_line) {
                for (int c = 0; c < 4; c++) {
                    axes[a][c] = c == middle ? T(0.75) : c == middle + side ? T(0.25) : T(0);
                }
            } else {
                weights(by_parabola, middle, side, there, axes[a]);
            }
        }
        return add_product(tile, axes, values, sum);
    };
    if (!set(cubic, false) && !(cubic && set(false, false))) {
        set(false, true);
        for (int n = 0; n < EXCHANGED; n++) {
            values[n] = sum > T(0) ? values[n] / sum : T(0);
        }
    }
    arrival.rescale(values);
    populations<L, O>(values, arrival, to + cell);
}

// Calls F(lattice, its name, storage, its name, operator, suffix of entry points) for each way to make populations.
#define EACH_STORED(F, L, l, O, o) F(L, l, float, f32, O, o) F(L, l, double, f64, O, o) F(L, l, __half, f16, O, o)
#if CUTLINK_D == 2
#define EACH_ARRIVAL(F) EACH_STORED(F, D2Q9, d2q9, Regularized, ) EACH_STORED(F, D2Q9, d2q9, Kbc, _kbc)
#else
#define EACH_ARRIVAL(F)                                                                                                \
    EACH_STORED(F, D3Q19, d3q19, Regularized, )                                                                        \
    EACH_STORED(F, D3Q27, d3q27, Regularized, )                                                                        \
    EACH_STORED(F, D3Q27, d3q27, Cumulant, _cumulant)                                                                  \
    EACH_STORED(F, D3Q27, d3q27, Kbc, _kbc)
#endif
