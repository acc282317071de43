// Values between levels: one thread a cell.

#include "collide.cuh"

// Density less 1, momentum and non-equilibrium stress of a cell.
template <class T>
using Values = T[EXCHANGED];

// How a level makes populations of values that come from another one: `Arrival`.
template <class T>
struct Arrival {
    T scale, keep, half_step[3];
    uint32_t regularized, pad;

    // From before collision there to before collision here.
    __device__ void rescale(Values<T>& values) const {
#pragma unroll
        for (int n = 1 + D; n < EXCHANGED; n++) {
            values[n] *= scale;
        }
    }
};

// Populations after collision, of values before it that are this level's.
template <class L, class T>
__device__ void populations(const Values<T>& values, const Arrival<T>& arrival, T* to) {
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
    const Orders<T> orders(fluid, arrival.keep);
    const T base = even_base(fluid, orders);
    to[0] = T(L::w(0)) * base;
#pragma unroll
    for (int p = 1; p < L::Q; p += 2) {
        const T even = even_part<L>(p, base, orders);
        T odd = T(3) * density * (dot<L>(p, fluid.u) + dot<L>(p, arrival.half_step));
        if (arrival.regularized) {
            odd += cubic_part<L>(p, orders);
        }
        to[p * CELLS] = T(L::w(p)) * (even + odd);
        to[(p + 1) * CELLS] = T(L::w(p)) * (even - odd);
    }
}

template <class T>
__device__ void add(const T* moments, const At& at, T weight, Values<T>& to) {
    const T* row = moments + static_cast<size_t>(at.slot) * (EXCHANGED * CELLS) + at.cell();
#pragma unroll
    for (int n = 0; n < EXCHANGED; n++) {
        to[n] += weight * row[n * CELLS];
    }
}

// Weights of the cells at -2..2 for the half of the middle one that lies up, by what there is (bit n: the cell
// at n - 2), so that the mean of both halves is the cell's value: a parabola, else a line.
template <class T>
__device__ void weights(bool cubic, uint32_t there, T (&to)[5]) {
    const bool before2 = there & 1, before = there >> 1 & 1, after = there >> 3 & 1, after2 = there >> 4 & 1;
    const auto set = [&](double a, double b, double c, double d, double e) {
        to[0] = T(a), to[1] = T(b), to[2] = T(c), to[3] = T(d), to[4] = T(e);
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
    } else {
        set(0, 0, 1, 0, 0);
    }
}

// A level's exchanged values.
template <class T>
struct Source {
    const uint32_t* neighbors;
    const uint64_t* solid;
    uint32_t exchanging;
    const T* moments;

    // Whether there is a cell so many steps away that exchanges; `to` is that cell.
    __device__ bool at(const At& from, const int (&step)[D], At& to) const {
        int toward = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = from.x[a] + step[a];
            toward = 3 * toward + (x >> 2) + 1;
            to.x[a] = x & 3;
        }
        to.slot = neighbors[static_cast<size_t>(from.slot) * DIRECTIONS + toward];
        return to.slot < exchanging;
    }

    __device__ bool is_fluid(const At& at) const {
        return !(solid[at.slot] >> at.cell() & 1);
    }

    // The product of `weights` on each axis, for the child of `middle` to the given side; false where a cell
    // of it is missing or solid.
    __device__ bool product(const At& middle, const int (&side)[D], bool cubic, Values<T>& values) const {
        T axes[D][5];
        At cell = middle;
        for (int a = 0; a < D; a++) {
            uint32_t there = 0;
            for (int n = 0; n < 5; n++) {
                int step[D] = {};
                step[a] = (n - 2) * side[a];
                there |= static_cast<uint32_t>(at(middle, step, cell)) << n;
            }
            weights(cubic, there, axes[a]);
        }
        for (int n = 0; n < EXCHANGED; n++) {
            values[n] = T(0);
        }
#pragma unroll 1
        for (int corner = 0; corner < (D == 2 ? 25 : 125); corner++) {
            int step[D], rest = corner;
            T weight = T(1);
            for (int a = 0; a < D; a++) {
                weight *= axes[a][rest % 5];
                step[a] = (rest % 5 - 2) * side[a];
                rest /= 5;
            }
            if (weight == T(0)) {
                continue;
            }
            if (!at(middle, step, cell) || !is_fluid(cell)) {
                return false;
            }
            add(moments, cell, weight, values);
        }
        return true;
    }

    // The same by what is fluid of the nearest cells, where there are solid ones about.
    __device__ void near_solid(const At& middle, const int (&side)[D], Values<T>& values) const {
        T sum = T(0);
        for (int n = 0; n < EXCHANGED; n++) {
            values[n] = T(0);
        }
#pragma unroll 1
        for (int corner = 0; corner < CHILDREN; corner++) {
            int step[D];
            T weight = T(1);
            for (int a = 0; a < D; a++) {
                step[a] = (corner >> a & 1) * side[a];
                weight *= corner >> a & 1 ? T(0.25) : T(0.75);
            }
            At cell = middle;
            if (at(middle, step, cell) && is_fluid(cell)) {
                add(moments, cell, weight, values);
                sum += weight;
            }
        }
        if (sum > T(0)) {
            for (int n = 0; n < EXCHANGED; n++) {
                values[n] /= sum;
            }
        }
    }
};

// Ghost cells of a fine block, a child of a shell.
template <class L, class T>
__device__ void interpolate(const Source<T>& source, const uint32_t* shells, const uint64_t* ghost,
                            const uint64_t* stepped, bool cubic, const Arrival<T>& arrival, T* to) {
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    if (cell >= CELLS || !((ghost[slot] & stepped[slot]) >> cell & 1)) {
        return;
    }
    const int child = slot % CHILDREN;
    At middle(shells[slot / CHILDREN], 0);
    int side[D];
    for (int a = 0; a < D; a++) {
        const int x = cell_coord(cell, a);
        middle.x[a] = 2 * (child >> a & 1) + (x >> 1);
        side[a] = 2 * (x & 1) - 1;
    }
    Values<T> values;
    if (!source.product(middle, side, cubic, values) && !(cubic && source.product(middle, side, false, values))) {
        source.near_solid(middle, side, values);
    }
    arrival.rescale(values);
    populations<L>(values, arrival, to + static_cast<size_t>(slot) * (L::Q * CELLS) + cell);
}

// Cells of a shell that are not stepped, from their children.
template <class L, class T>
__device__ void average(const uint32_t* shells, const uint64_t* stepped, const uint64_t* solid,
                        const uint64_t* fine_solid, const Arrival<T>& arrival, const T* fine_moments, T* to,
                        T* moments) {
    const uint32_t slot = shells[blockIdx.x];
    const int cell = threadIdx.x;
    if (cell >= CELLS || ((stepped[slot] | solid[slot]) >> cell & 1)) {
        return;
    }
    int child = 0;
    At first(0, 0);
    for (int a = 0; a < D; a++) {
        const int x = cell_coord(cell, a);
        child |= (x >> 1) << a;
        first.x[a] = 2 * (x & 1);
    }
    first.slot = blockIdx.x * CHILDREN + child;
    Values<T> values;
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] = T(0);
    }
    int count = 0;
#pragma unroll 1
    for (int corner = 0; corner < CHILDREN; corner++) {
        At at = first;
        for (int a = 0; a < D; a++) {
            at.x[a] += corner >> a & 1;
        }
        if (!(fine_solid[at.slot] >> at.cell() & 1)) {
            add(fine_moments, at, T(1), values);
            count++;
        }
    }
    if (count == 0) {
        return;
    }
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] *= T(1.0 / count);
    }
    arrival.rescale(values);
    T* row = moments + static_cast<size_t>(slot) * (EXCHANGED * CELLS) + cell;
    for (int n = 0; n < EXCHANGED; n++) {
        row[n * CELLS] = values[n];
    }
    populations<L>(values, arrival, to + static_cast<size_t>(slot) * (L::Q * CELLS) + cell);
}

#define ENTRIES(L, l, T, t)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        interpolate_##l##_##t(const uint32_t* neighbors, const uint64_t* solid, uint32_t exchanging,                   \
                              const uint32_t* shells, const uint64_t* ghost, const uint64_t* stepped, uint32_t cubic,  \
                              Arrival<T> arrival, const T* moments, T* to) {                                           \
        interpolate<L, T>({neighbors, solid, exchanging, moments}, shells, ghost, stepped, cubic != 0, arrival, to);   \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        average_##l##_##t(const uint32_t* shells, const uint64_t* stepped, const uint64_t* solid,                      \
                          const uint64_t* fine_solid, Arrival<T> arrival, const T* fine_moments, T* to, T* moments) {  \
        average<L, T>(shells, stepped, solid, fine_solid, arrival, fine_moments, to, moments);                         \
    }
EACH_LATTICE(ENTRIES)
