// Stages of a step with grains: `penalty.rs`, which has the order of operations.

#include "cells.cuh"
#include "components.cuh"
#include "face.cuh"
#include "grain_cells.cuh"
#include "sums.cuh"

// A rigid motion: velocity of the centre, m/s, and angular velocity, rad/s.
struct Motion {
    double u[3], w[3];

    // The velocity at an arm from the centre.
    __device__ double at(const double* arm, int axis) const {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        return u[axis] + (w[b] * arm[c] - w[c] * arm[b]);
    }
};

// The motion of the grain that has a cell, there.
__device__ inline double motion_at(const Grains& grains, const Motion* motions, uint32_t at, int axis) {
    return motions[grains.grain[at]].at(grains.arm + 3 * static_cast<uint64_t>(at), axis);
}

// The mass of a grain in one of its cells.
__device__ inline double mass_of(const Grains& grains, uint32_t at) {
    return grains.part[at] * grains.density[grains.grain[at]] * grains.volume;
}

// Sums over the cells of a grain of what `of` gives for the place of a cell: a vector, and its moment. One thread block
// of GRAIN_LANES a grain; six numbers of each.
template <typename Of>
__device__ void sum_grain(const Grains& grains, double* out, Of of) {
    __shared__ double shared[GRAIN_LANES / 2];
    const uint32_t own = blockIdx.x;
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (uint32_t at = grains.first[own] + threadIdx.x; at < grains.first[own + 1]; at += GRAIN_LANES) {
        const Vector3 f = of(at);
        const double* const r = grains.arm + 3 * static_cast<uint64_t>(at);
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            sum[a] += f.v[a];
            sum[3 + a] += r[b] * f.v[c] - r[c] * f.v[b];
        }
    }
    for (int k = 0; k < 6; k++) {
        const double all = tree<GRAIN_LANES>(sum[k], shared);
        if (threadIdx.x == 0) {
            out[6 * static_cast<uint64_t>(own) + k] = all;
        }
    }
}

// A factor times the components at a cell of the mesh.
__device__ inline Vector3 scaled(const Components& of, uint64_t cell, double factor) {
    Vector3 out = {{0.0, 0.0, 0.0}};
    for (int a = 0; a < D; a++) {
        out.v[a] = factor * of.of[a][cell];
    }
    return out;
}

// One thread block a grain: here, and all that have `sums`.
extern "C" __global__ void given(const __grid_constant__ Grains grains, const __grid_constant__ Params params,
                                 const Motion* motions, const double* alpha, const __grid_constant__ Components velocity,
                                 double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) {
        Vector3 out = {{0.0, 0.0, 0.0}};
        if (grains.is_held(at)) {
            const uint32_t own = grains.cell[at];
            const double mass = grains.clear[own] * params.rho(alpha[own]) * grains.volume;
            for (int a = 0; a < D; a++) {
                out.v[a] = mass * (motion_at(grains, motions, at, a) - velocity.of[a][own]);
            }
        }
        return out;
    });
}

// One thread a cell of a grain. Where several grains hold a cell, the last one does.
extern "C" __global__ void rigid(const __grid_constant__ Grains grains, const Motion* motions,
                                 const __grid_constant__ Outputs velocity) {
    const uint32_t own = thread_index();
    if (own >= grains.cells || !grains.is_first(own)) {
        return;
    }
    uint32_t last = NONE;
    for (uint32_t at = own; at != NONE; at = grains.after[at]) {
        last = grains.is_held(at) ? at : last;
    }
    if (last != NONE) {
        for (int a = 0; a < D; a++) {
            velocity.of[a][grains.cell[own]] = motion_at(grains, motions, last, a);
        }
    }
}

extern "C" __global__ void interior(const __grid_constant__ Grains grains, const __grid_constant__ Params params,
                                    const double* alpha, const __grid_constant__ Components velocity, double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) {
        const uint32_t own = grains.cell[at];
        return scaled(velocity, own, grains.part[at] * params.rho(alpha[own]) * grains.volume);
    });
}

extern "C" __global__ void around(const __grid_constant__ Grains grains, const double* alpha, double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) {
        const double beside = 1.0 - grains.part[at];
        return Vector3{{beside, beside * clamped(alpha[grains.cell[at]], 0.0, 1.0), 0.0}};
    });
}

extern "C" __global__ void pushed(const __grid_constant__ Grains grains, const __grid_constant__ Components pull,
                                  double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) { return scaled(pull, grains.cell[at], mass_of(grains, at)); });
}

extern "C" __global__ void taken(const __grid_constant__ Grains grains, const Motion* accelerations, double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) {
        const double mass = mass_of(grains, at);
        Vector3 out;
        for (int a = 0; a < 3; a++) {
            out.v[a] = mass * motion_at(grains, accelerations, at, a);
        }
        return out;
    });
}

// How strongly a cell of a grain is held, N s/m.
__device__ inline double hold(const Grains& grains, uint32_t at, const double* conductance, double dt) {
    const Cell own = {grains.cell[at] / CELLS, static_cast<int>(grains.cell[at] % CELLS)};
    double sum = -0.0;
    for (int side = 0; side < SIDES; side++) {
        sum += conductance[face_index(own, side)];
    }
    const double inertia = grains.density[grains.grain[at]] * grains.volume / dt;
    return PENALTY * (sum + inertia);
}

extern "C" __global__ void handed(const __grid_constant__ Grains grains, const Motion* motions, uint32_t component,
                                  double dt, const double* conductance, const double* u, double* sums) {
    sum_grain(grains, sums, [&](uint32_t at) {
        double force = 0.0;
        if (grains.is_held(at)) {
            const double slip = u[grains.cell[at]] - motion_at(grains, motions, at, static_cast<int>(component));
            force = slip * hold(grains, at, conductance, dt);
        }
        Vector3 out;
        for (int a = 0; a < 3; a++) {
            out.v[a] = a == static_cast<int>(component) ? force : 0.0;
        }
        return out;
    });
}

// The part of a cell of the mesh that is in grains is added to a sum, and their rotation times their parts.
__device__ inline double spin(const Grains& grains, const Motion* motions, uint64_t own, Vector3& sum) {
    double part = 0.0;
    sum = {{0.0, 0.0, 0.0}};
    for (uint32_t at = grains.place[own]; at != NONE; at = grains.after[at]) {
        part += grains.part[at];
        for (int a = 0; a < 3; a++) {
            sum.v[a] += grains.part[at] * motions[grains.grain[at]].w[a];
        }
    }
    return part;
}

// One thread a cell of the mesh.
extern "C" __global__ void penalise(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                    const __grid_constant__ Grains grains, const Motion* motions, uint32_t component,
                                    double dt, const double* alpha, const double* conductance, double* diagonal,
                                    double* b) {
    const Cell at = own_cell();
    // Grains are on the finest level.
    if (at.block < mesh.first_finest || !is_of_leaf(mesh, at)) {
        return;
    }
    const uint64_t own = at.index();
    const int along = static_cast<int>(component);
    for (uint32_t of = grains.place[own]; of != NONE; of = grains.after[of]) {
        if (grains.is_held(of)) {
            const double held = hold(grains, of, conductance, dt);
            diagonal[own] += held;
            b[own] += held * motion_at(grains, motions, of, along);
        }
    }
    const double h = mesh.width(at.block);
    for (int side = 0; side < SIDES; side++) {
        const Cell other = mesh.blocks.next(at.block, at.cell, side);
        if (side >> 1 == along || other.block == OUTSIDE) {
            continue;
        }
        Vector3 wa, wb;
        const double pa = spin(grains, motions, own, wa), pb = spin(grains, motions, other.index(), wb);
        const double part = pa + pb;
        const double c = conductance[face_index(at, side)];
        if (part == 0.0 || c == 0.0 || !mesh.blocks.is_leaf(other.block) || mesh.width(other.block) != h) {
            continue;
        }
        double arm[3] = {0.0, 0.0, 0.0};
        arm[side >> 1] = side & 1 ? h : -h;
        Motion rotation;
        for (int a = 0; a < 3; a++) {
            rotation.u[a] = 0.0;
            rotation.w[a] = (wa.v[a] + wb.v[a]) / part;
        }
        const double fluid = params.fluidity(alpha[own]) + params.fluidity(alpha[other.index()]);
        const double plain = 2.0 * (D == 3 ? h : 1.0) / fluid;
        b[own] += (plain - c) * rotation.at(arm, along);
    }
}

// Momentum of grains in a cell over volume and time.
__device__ inline double push(const Grains& grains, const Motion* accelerations, uint64_t own, int axis) {
    double sum = 0.0;
    for (uint32_t at = grains.place[own]; at != NONE; at = grains.after[at]) {
        const double density = grains.part[at] * grains.density[grains.grain[at]];
        sum += density * motion_at(grains, accelerations, at, axis);
    }
    return sum;
}

// One thread a face.
extern "C" __global__ void accelerate(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                      const __grid_constant__ Grains grains, const Motion* accelerations,
                                      const double* alpha, double* out) {
    const uint32_t n = thread_index(), block = n / PER_BLOCK;
    if (block < mesh.first_finest || block >= mesh.count) {
        return;
    }
    const FacePlace place = face_place(static_cast<int>(n % PER_BLOCK));
    const Face face = face_at(mesh, params, block, place.cell, place.side());
    if (face.kind != FaceKind::INNER) {
        return;
    }
    const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
    if (grains.place[a] == NONE && grains.place[b] == NONE) {
        return;
    }
    const double pa = face.widths[0] * push(grains, accelerations, a, place.axis);
    const double pb = face.widths[1] * push(grains, accelerations, b, place.axis);
    const double ma = face.widths[0] * grains.rho(params, alpha, a);
    const double mb = face.widths[1] * grains.rho(params, alpha, b);
    out[n] += (pa + pb) / (ma + mb);
}

// One thread a cell of a grain. `kept` has values by axis and place.
extern "C" __global__ void blend(const __grid_constant__ Grains grains, const __grid_constant__ Params params,
                                 const Motion* motions, const double* alpha, const __grid_constant__ Outputs velocity,
                                 double* kept) {
    const uint32_t own = thread_index();
    if (own >= grains.cells || !grains.is_first(own) || !(grains.clear[grains.cell[own]] > 0.0)) {
        return;
    }
    const uint32_t cell = grains.cell[own];
    for (int axis = 0; axis < D; axis++) {
        double& u = velocity.of[axis][cell];
        kept[axis * static_cast<uint64_t>(grains.cells) + own] = u;
        double momentum = grains.clear[cell] * params.rho(alpha[cell]) * u;
        for (uint32_t at = own; at != NONE; at = grains.after[at]) {
            const double mass = grains.part[at] * grains.density[grains.grain[at]];
            momentum += mass * motion_at(grains, motions, at, axis);
        }
        u = momentum / grains.rho(params, alpha, cell);
    }
}

// One thread a cell of a grain.
extern "C" __global__ void unblend(const __grid_constant__ Grains grains, const double* kept, double dt,
                                   const __grid_constant__ Components pull, const __grid_constant__ Outputs velocity) {
    const uint32_t own = thread_index();
    if (own >= grains.cells || !grains.is_first(own) || !(grains.clear[grains.cell[own]] > 0.0)) {
        return;
    }
    const uint32_t cell = grains.cell[own];
    for (int axis = 0; axis < D; axis++) {
        velocity.of[axis][cell] = kept[axis * static_cast<uint64_t>(grains.cells) + own] + dt * pull.of[axis][cell];
    }
}
