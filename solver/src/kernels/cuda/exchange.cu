// Values between levels: one thread a cell.

#include "exchange.cuh"

template <class T>
__device__ void add(const T* moments, const At& at, T weight, Values<T>& to) {
    const T* row = moments + static_cast<size_t>(at.slot) * (EXCHANGED * CELLS) + at.cell();
#pragma unroll
    for (int n = 0; n < EXCHANGED; n++) {
        to[n] += weight * row[n * CELLS];
    }
}

template <class T>
__device__ void load(Tile<T>& tile, const uint32_t* neighbors, const uint64_t* solid, uint32_t exchanging,
                     uint32_t overlap, int child, const T* moments) {
    if (threadIdx.x == 0) {
        tile.there = tile.fluid = 0;
    }
    __syncthreads();
    const int cell = threadIdx.x;
    bool there = false, fluid = false;
    if (cell < CELLS) {
        int toward = 0, inner = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = 2 * (child >> a & 1) + cell_coord(cell, a) - 1;
            toward = 3 * toward + (x >> 2) + 1;
            inner |= (x & 3) << 2 * a;
        }
        const uint32_t slot = neighbors[static_cast<size_t>(overlap) * DIRECTIONS + toward];
        there = slot < exchanging;
        if (there) {
            fluid = !(solid[slot] >> inner & 1);
            const T* row = moments + static_cast<size_t>(slot) * (EXCHANGED * CELLS) + inner;
#pragma unroll
            for (int n = 0; n < EXCHANGED; n++) {
                tile.values[n][cell] = row[n * CELLS];
            }
        }
    }
    const uint32_t some[2] = {__ballot_sync(~0u, there), __ballot_sync(~0u, fluid)};
    if (threadIdx.x % 32 == 0) {
        const int shift = threadIdx.x & 32;
        atomicOr(reinterpret_cast<unsigned long long*>(&tile.there), static_cast<unsigned long long>(some[0]) << shift);
        atomicOr(reinterpret_cast<unsigned long long*>(&tile.fluid), static_cast<unsigned long long>(some[1]) << shift);
    }
    __syncthreads();
}

template <class L, class O, class S>
__device__ void interpolate_slot(const uint32_t* neighbors, const uint64_t* solid, uint32_t exchanging,
                                 const uint32_t* overlaps, const uint64_t* ghost, const uint64_t* stepped, bool cubic,
                                 const Arrival<Real<S>>& arrival, const Real<S>* moments, S* to) {
    __shared__ Tile<Real<S>> tile;
    const uint32_t slot = blockIdx.x;
    const uint64_t targets = ghost[slot] & stepped[slot];
    if (targets == 0) {
        return;
    }
    load(tile, neighbors, solid, exchanging, overlaps[slot / CHILDREN], slot % CHILDREN, moments);
    if (threadIdx.x < CELLS && (targets >> threadIdx.x & 1)) {
        interpolate<L, O>(tile, cubic, arrival, to + static_cast<size_t>(slot) * (L::Q * CELLS));
    }
}

// Cells of an overlap block that are not stepped, from their children.
template <class L, class O, class S>
__device__ void average(const uint32_t* overlaps, const uint64_t* stepped, const uint64_t* solid,
                        const uint64_t* fine_solid, const Arrival<Real<S>>& arrival, const Real<S>* fine_moments,
                        S* to, Real<S>* moments) {
    using T = Real<S>;
    const uint32_t slot = overlaps[blockIdx.x];
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
    const uint64_t walls = fine_solid[first.slot];
    const auto corner = [&](int n) {
        At at = first;
        for (int a = 0; a < D; a++) {
            at.x[a] += n >> a & 1;
        }
        return at;
    };
    int count = 0;
    if (walls == 0) {
        // Without a test, so that many loads are under way.
#pragma unroll
        for (int n = 0; n < CHILDREN; n++) {
            add(fine_moments, corner(n), T(1), values);
        }
        count = CHILDREN;
    } else {
#pragma unroll 1
        for (int n = 0; n < CHILDREN; n++) {
            const At at = corner(n);
            if (!(walls >> at.cell() & 1)) {
                add(fine_moments, at, T(1), values);
                count++;
            }
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
    populations<L, O>(values, arrival, to + static_cast<size_t>(slot) * (L::Q * CELLS) + cell);
}

#define ENTRIES(L, l, S, s, O, o)                                                                                      \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        interpolate##o##_##l##_##s(const uint32_t* neighbors, const uint64_t* solid, uint32_t exchanging,              \
                                   const uint32_t* overlaps, const uint64_t* ghost, const uint64_t* stepped,           \
                                   uint32_t cubic, Arrival<Real<S>> arrival, const Real<S>* moments, S* to) {          \
        interpolate_slot<L, O, S>(neighbors, solid, exchanging, overlaps, ghost, stepped, cubic != 0, arrival,         \
                                  moments, to);                                                                        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        average##o##_##l##_##s(const uint32_t* overlaps, const uint64_t* stepped, const uint64_t* solid,               \
                               const uint64_t* fine_solid, Arrival<Real<S>> arrival, const Real<S>* fine_moments,      \
                               S* to, Real<S>* moments) {                                                              \
        average<L, O, S>(overlaps, stepped, solid, fine_solid, arrival, fine_moments, to, moments);                    \
    }
EACH_ARRIVAL(ENTRIES)
