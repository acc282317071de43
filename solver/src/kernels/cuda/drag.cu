// Friction of modelled walls, one thread a cell that it acts on: `drag.rs`, `wall_model.rs`.

#include "modeled.cuh"

// Velocity over friction velocity at a distance y from the wall in viscous lengths, and its derivative (Reichardt 1951).
__device__ inline double law(double y, double& slope) {
    const double slow = exp(-y / BUFFER), fast = exp(-y / DECAY);
    slope = 1.0 / (1.0 + KAPPA * y) + LOG / BUFFER * (slow - fast + y / DECAY * fast);
    return log1p(KAPPA * y) / KAPPA + LOG * (1.0 - slow - y / BUFFER * fast);
}

__device__ inline double friction_velocity(double velocity, double distance, double viscosity) {
    double friction = sqrt(velocity * viscosity / distance);
    for (int n = 0; n < NEWTON_STEPS; n++) {
        const double y = friction * distance / viscosity;
        double slope;
        const double value = law(y, slope);
        friction -= (friction * value - velocity) / (value + y * slope);
    }
    return friction;
}

// The force on a cell.
template <class L, class S>
__device__ void of_cell(const View<L, S>& view, const DraggedCell& dragged, double viscosity, double* force) {
    double along[D], here[D], more[D];
    tangential(view, At(dragged.sample_slot, dragged.sample_cell), dragged.wall.own, dragged.normal, along);
    const double speed = length(along);
    for (int a = 0; a < D; a++) {
        force[a] = 0;
    }
    if (speed == 0) {
        return;
    }
    const double friction = friction_velocity(speed, dragged.height, viscosity);
    const double by_law = friction * friction / speed;
    // Links exchange the viscous stress of the velocity extrapolated to the wall.
    extrapolated(view, dragged.wall, here, more);
    const double by_links = viscosity / dragged.wall.distance;
    Real<S> u[D];
    const double density = 1.0 + view.template velocity_of<1>(At(dragged.slot, dragged.cell), u);
    const double mass = density * dragged.area;
    for (int a = 0; a < D; a++) {
        force[a] = -mass * (by_law * along[a] + by_links * more[a]);
    }
}

// Adds the force on a cell to its populations and transferred moments.
template <class L, class S>
__device__ void push(const DraggedCell& dragged, const double* force, uint32_t exchanging, S* populations,
                     Real<S>* moments) {
    const int cell = dragged.cell;
    S* f = populations + static_cast<size_t>(dragged.slot) * (L::Q * CELLS) + cell;
#pragma unroll
    for (int q = 1; q < L::Q; q++) {
        double along = 0;
        for (int a = 0; a < D; a++) {
            along += L::c(q, a) * force[a];
        }
        f[q * CELLS] = narrow_change<S>(widen(f[q * CELLS]) + Real<S>(3.0 * L::w(q) * along), 64 * q + cell);
    }
    if (dragged.slot >= exchanging) {
        return;
    }
    Real<S>* row = moments + static_cast<size_t>(dragged.slot) * (EXCHANGED * CELLS) + cell;
    for (int a = 0; a < D; a++) {
        row[(1 + a) * CELLS] += Real<S>(force[a]);
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        friction_##l##_##s(GivenLevel level, const DraggedCell* dragged, uint32_t count, double viscosity,             \
                           const S* from, double* drag) {                                                              \
        const uint32_t n = blockIdx.x * THREADS + threadIdx.x;                                                         \
        if (n < count) {                                                                                               \
            const View<L, S> view{level, from, nullptr};                                                               \
            of_cell(view, dragged[n], viscosity, drag + static_cast<size_t>(n) * D);                                   \
        }                                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        drag_##l##_##s(const DraggedCell* dragged, uint32_t count, const double* drag, uint32_t exchanging,            \
                       S* populations, Real<S>* moments) {                                                             \
        const uint32_t n = blockIdx.x * THREADS + threadIdx.x;                                                         \
        if (n < count) {                                                                                               \
            push<L, S>(dragged[n], drag + static_cast<size_t>(n) * D, exchanging, populations, moments);               \
        }                                                                                                              \
    }
EACH_LATTICE(ENTRIES)
