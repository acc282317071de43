// Cells in and beside grains: one thread block a slot that grains reach into, one thread a cell: `cpu/hold.rs`.

#include "faces.cuh"
#include "macroscopic.cuh"

// `HeldSphere` and `HoldNumbers` of `kernels/hold.rs`.
struct HeldSphere {
    double center[3], radius, velocity[3], spin[3];
};
static_assert(sizeof(HeldSphere) == 80, "ten f64");
struct HoldNumbers {
    double viscosity, inset, period[3];
};
static_assert(sizeof(HoldNumbers) == 40, "five f64");

// How a grain draws a cell.
struct Draw {
    // How strongly, a step; infinite in the grain, and 0 if it does not.
    double rate;
    // The velocity of the grain there, and the way from the centre to the cell.
    double velocity[3], arm[3];

    __device__ Draw(const HeldSphere& sphere, const HoldNumbers& numbers, const double (&at)[3]) : rate(0) {
        for (int a = 0; a < 3; a++) {
            arm[a] = at[a] - sphere.center[a];
            if (numbers.period[a] > 0) {
                arm[a] -= numbers.period[a] * round(arm[a] / numbers.period[a]);
            }
        }
        const double square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
        const double r = sphere.radius - numbers.inset;
        if (square < r * r) {
            rate = INFINITY;
        } else if (square < (r + 1) * (r + 1)) {
            for (int a = 0; a < 3; a++) {
                // The square of half the chord along the axis through the cell, and whether the next cell is on it.
                const double x = fabs(arm[a]), chord = r * r - (square - x * x);
                if ((x - 1) * (x - 1) < chord) {
                    rate += numbers.viscosity * (1 / fmax(x - sqrt(chord), 1e-9) - 1);
                }
            }
        }
        const double *u = sphere.velocity, *w = sphere.spin;
        velocity[0] = u[0] + w[1] * arm[2] - w[2] * arm[1];
        velocity[1] = u[1] + w[2] * arm[0] - w[0] * arm[2];
        velocity[2] = u[2] + w[0] * arm[1] - w[1] * arm[0];
    }
};

// Adds up a number of all threads, in the same order every time; the first thread has the sum.
__device__ inline double sum_of_block(double x) {
    __shared__ double of_warp[2];
    for (int step = 16; step > 0; step /= 2) {
        x += __shfl_down_sync(0xffffffff, x, step);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = x;
    }
    __syncthreads();
    return of_warp[0] + of_warp[1];
}

template <class L, class S>
__device__ void hold_cells(const Ints* coord, const uint64_t* stepped, const uint32_t* slots, const uint32_t* starts,
                     const uint32_t* grains, const HeldSphere* spheres, const HoldNumbers& numbers,
                     const Vector<Real<S>>& half_step, S* populations, double* given) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    const uint32_t slot = slots[blockIdx.x], first = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    const bool is_there = cell < CELLS && (stepped[slot] >> cell & 1);
    double at[3] = {0, 0, 0};
    if (is_there) {
        for (int a = 0; a < D; a++) {
            at[a] = static_cast<double>(4 * coord[slot].v[a] + cell_coord(cell, a)) + 0.5;
        }
    }
    double total = 0, push[3] = {0, 0, 0};
    uint32_t holder = end;
    for (uint32_t k = first; is_there && k < end && holder == end; k++) {
        const Draw of(spheres[grains[k]], numbers, at);
        if (isinf(of.rate)) {
            holder = k;
        }
        total += of.rate;
        for (int a = 0; a < 3; a++) {
            push[a] = holder == k ? of.velocity[a] : push[a] + of.rate * of.velocity[a];
        }
    }
    const bool is_drawn = total > 0;
    T own[D], to[D], rho = T(0);
    double density = 0, drawn[3] = {0, 0, 0};
    if (is_drawn) {
        rho = sums<L>(populations, slot, cell, own);
        density = static_cast<double>(T(1) + rho);
        for (int a = 0; a < D; a++) {
            own[a] = own[a] / (T(1) + rho) - half_step.v[a];
            drawn[a] = holder < end ? push[a] : (static_cast<double>(own[a]) + push[a]) / (1 + total);
            to[a] = T(drawn[a]);
        }
    }
    for (uint32_t k = first; k < end; k++) {
        double gives[6] = {0, 0, 0, 0, 0, 0};
        if (is_drawn && (holder == end || holder == k)) {
            const Draw of(spheres[grains[k]], numbers, at);
            for (int a = 0; a < D; a++) {
                const double by = of.rate == 0 ? 0 : of.rate * (of.velocity[a] - drawn[a]);
                gives[a] = density * (holder == k ? drawn[a] - static_cast<double>(own[a]) : by);
            }
            gives[3] = of.arm[1] * gives[2] - of.arm[2] * gives[1];
            gives[4] = of.arm[2] * gives[0] - of.arm[0] * gives[2];
            gives[5] = of.arm[0] * gives[1] - of.arm[1] * gives[0];
        }
        for (int n = 0; n < 6; n++) {
            const double sum = sum_of_block(gives[n]);
            if (threadIdx.x == 0) {
                given[6 * static_cast<size_t>(k) + n] = sum;
            }
        }
    }
    if (!is_drawn) {
        return;
    }
    S* f = populations + static_cast<size_t>(slot) * (L::Q * CELLS) + cell;
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        const T change = equilibrium<L>(q, rho, to) - equilibrium<L>(q, rho, own);
        f[q * CELLS] = narrow_change<S>(widen(f[q * CELLS]) + change, 64 * q + cell);
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64) hold_cells_##l##_##s(                                                   \
        const Ints* coord, const uint64_t* stepped, const uint32_t* slots, const uint32_t* starts,                     \
        const uint32_t* grains, const HeldSphere* spheres, HoldNumbers numbers, Vector<Real<S>> half_step,             \
        S* populations, double* given) {                                                                               \
        hold_cells<L, S>(coord, stepped, slots, starts, grains, spheres, numbers, half_step, populations, given);            \
    }
EACH_LATTICE(ENTRIES)

extern "C" __global__ void __launch_bounds__(THREADS)
    sum_given(uint32_t count, const uint32_t* firsts, const uint32_t* pairs, const double* given, double* sums) {
    const uint32_t grain = blockIdx.x * THREADS + threadIdx.x;
    if (grain >= count) {
        return;
    }
    double sum[6] = {0, 0, 0, 0, 0, 0};
    for (uint32_t k = firsts[grain]; k < firsts[grain + 1]; k++) {
        for (int n = 0; n < 6; n++) {
            sum[n] += given[6 * static_cast<size_t>(pairs[k]) + n];
        }
    }
    for (int n = 0; n < 6; n++) {
        sums[6 * static_cast<size_t>(grain) + n] = sum[n];
    }
}
