// Slip velocities of modelled walls, one thread a cell: `slip.rs`, `wall_model.rs`.

#include "walls.cuh"

constexpr int THREADS = 64;

// A cell with links to modelled walls: `ModeledCell`.
struct ModeledCell {
    uint32_t slot, cell, sample_slot, sample_cell, near_slot, near_cell;
    float normal[3], height, own[3];
    uint32_t links;
    float outer, inward;
};
static_assert(sizeof(ModeledCell) == 64, "seven u32 and nine f32");

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

template <class V, class W>
__device__ inline double dot(const V& v, const W& w) {
    double sum = 0;
    for (int a = 0; a < D; a++) {
        sum += static_cast<double>(v[a]) * static_cast<double>(w[a]);
    }
    return sum;
}

// The part of a velocity along the wall, seen from it.
template <class T>
__device__ void tangential(const ModeledCell& modeled, const T (&u)[D], double (&seen)[D]) {
    for (int a = 0; a < D; a++) {
        seen[a] = static_cast<double>(u[a]) - modeled.own[a];
    }
    const double across = dot(seen, modeled.normal);
    for (int a = 0; a < D; a++) {
        seen[a] -= across * modeled.normal[a];
    }
}

template <class L, class S>
__device__ void of_cell(const View<L, S>& view, const ModeledCell& modeled, double viscosity, double* to) {
    using T = Real<S>;
    const Level& level = view.level;
    const At at(modeled.slot, modeled.cell), there(modeled.sample_slot, modeled.sample_cell);
    const At between(modeled.near_slot, modeled.near_cell);
    T u[D], away[D];
    double mine[D], along[D], beside[D];
    const double rho = view.template velocity_of<1>(at, u);
    // The density that the cell would have without the noise of the staircase, by those farther off.
    const double near = view.template velocity_of<1>(between, away);
    tangential(modeled, away, beside);
    const double far = view.template velocity_of<1>(there, away);
    const double smooth = modeled.outer * far + (1.0 - modeled.outer) * near;
    tangential(modeled, u, mine);
    tangential(modeled, away, along);
    const double speed = sqrt(dot(along, along));
    for (int a = 0; a < D; a++) {
        to[a] = modeled.own[a];
    }
    if (speed == 0) {
        return;
    }
    for (int a = 0; a < D; a++) {
        along[a] /= speed;
        to[a] += mine[a];
    }
    const double friction = friction_velocity(speed, modeled.height, viscosity);
    const double stress = (1.0 + rho) * friction * friction, square = dot(to, to);
    double exchanged = 0, change = 0, weight = 0, of_plane = 0;
    const Links links = level.links(at);
#pragma unroll 1
    for (int k = 1; k < L::Q; k++) {
        int c[D];
        view.velocity(k, c);
        const double toward = dot(c, along), w = L::w(k);
        of_plane += 0.5 * w * toward * toward * fabs(dot(c, modeled.normal));
        const int direction = direction_of<L>(k);
        if (!(modeled.links >> direction & 1)) {
            continue;
        }
        const uint64_t link = links.place(direction);
        double share;
        const double value = view.reflected(at, k, link, links, level.rules[2 * D + level.patch[link]], share);
        const double factor = 6.0 * w * (1.0 + rho) * share;
        const double stream = dot(c, to);
        const double sum = static_cast<double>(view.f(at, k)) + value - factor * stream;
        const double even = 2.0 * w * (smooth + (1.0 + smooth) * (4.5 * stream * stream - 1.5 * square));
        exchanged += (sum - even) * toward;
        change += factor * toward * toward;
        weight += w * toward * toward;
    }
    if (change == 0) {
        return;
    }
    const double more = (exchanged - stress * weight / of_plane) / change;
    const double most = fmax(speed, sqrt(dot(mine, mine))), here = dot(mine, along);
    const double expected = fmin(fmax(here + modeled.inward * (here - dot(beside, along)), 0.0), most);
    const double slip = fmin(fmax(here + more, expected - SLACK * most), expected + SLACK * most);
    for (int a = 0; a < D; a++) {
        to[a] += (slip - here) * along[a];
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        slip_##l##_##s(LEVEL_PARAMETERS, const ModeledCell* modeled, uint32_t count, double viscosity, const S* from,  \
                       double* slips) {                                                                                \
        const uint32_t n = blockIdx.x * THREADS + threadIdx.x;                                                         \
        if (n < count) {                                                                                               \
            const Level level = LEVEL;                                                                                 \
            const View<L, S> view{level, from, nullptr};                                                               \
            double to[D];                                                                                              \
            of_cell(view, modeled[n], viscosity, to);                                                                  \
            for (int a = 0; a < D; a++) {                                                                              \
                slips[static_cast<size_t>(n) * D + a] = to[a];                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }
EACH_LATTICE(ENTRIES)
