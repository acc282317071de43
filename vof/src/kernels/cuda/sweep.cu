// A sweep along one axis: `sweep.rs`, which has the order of operations. One thread a cell of all blocks.

#include "cells.cuh"
#include "components.cuh"
#include "interface.cuh"
#include "near.cuh"
#include "params.cuh"
#include "sums.cuh"
#include "sweep.cuh"
#include "velocity.cuh"

__device__ inline double mixing(double c) {
    return fmax(c * (1.0 - c), 0.0);
}

// What crosses faces along an axis in a step of length `dt`.
struct Crossing {
    const Mesh& mesh;
    const Params& params;
    const Planes& planes;
    const double* alpha;
    const Components& velocity;
    double dt;
    int axis;

    // The liquid's part of what crosses a face.
    __device__ double part(const From& from, int side) const {
        if (from.cell.block != OUTSIDE) {
            return planes.leaving(alpha[from.cell.index()], from.cell, from.leaves, from.courant);
        }
        const BoxFace& face = params.face(side);
        return face.is_wall() ? 0.0 : face.liquid;
    }

    // A component of the velocity in the middle of what crosses a face, with a density. It differs from the cell's by so much at most
    // that what stays is not beyond the velocities of the cells around: where liquid leaves little gas, the slope could give it any.
    __device__ double carried(const From& from, int k, Cell own, int side, double density) const {
        const double* const u = velocity.of[k];
        if (from.cell.block != OUTSIDE) {
            const double along = slope(mesh, params, u, k, from.cell, axis);
            const double half = from.leaves % 2 == 1 ? 0.5 : -0.5;
            const double ahead = half * (1.0 - from.courant) * along;
            const double behind = beyond(mesh, params, u, k, from.cell, from.leaves ^ 1);
            const double here = u[from.cell.index()], goes = from.courant * density;
            const double stays = fmax(params.rho(alpha[from.cell.index()]) - goes, 0.0);
            const double room = fabs(here - behind);
            if (fabs(ahead) <= room * stays / goes) {
                return here + ahead;
            }
            const double most = farthest(u, from.cell, here, -ahead, room) * stays / goes;
            return here + (fabs(ahead) <= most ? ahead : copysign(most, ahead));
        }
        const BoxFace& face = params.face(side);
        return face.kind == BoxKind::INFLOW ? face.velocity[k] : u[own.index()];
    }

    // How far the values around a cell, corners included, are from its own in the direction of a number: at least so far.
    __device__ double farthest(const double* u, Cell of, double own, double toward, double least) const {
        double far = least;
        for (int k = 0; k < DIRECTIONS; k++) {
            const Near near = near_cell(mesh, of, 1, k);
            if (near.is_inside && !mesh.is_solid(near.cell.block, near.cell.cell)) {
                const double away = u[near.cell.index()] - own;
                far = fmax(far, toward < 0.0 ? -away : away);
            }
        }
        return far;
    }

    __device__ void cross(Cell own, int side, const double* flux, double* liquid, const Outputs& momentum) const {
        const uint64_t face = face_index(own, side);
        const double q = flux[face];
        const bool is_still = q == 0.0;
        const From there = from_where(mesh, axis, dt, own, side, q);
        const double l = q * (is_still ? 0.0 : part(there, side));
        liquid[face] = l;
        if (!velocity.is_there()) {
            return;
        }
        const double mass = params.density[0] * l + params.density[1] * (q - l);
        for (int k = 0; k < D; k++) {
            momentum.of[k][face] = is_still ? 0.0 : mass * carried(there, k, own, side, mass / q);
        }
    }
};

// Liquid and momentum through the faces along the axis, of leaves; liquid alone where there is no velocity.
extern "C" __global__ void fluxes(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                  const __grid_constant__ Planes planes, const double* alpha,
                                  const __grid_constant__ Components velocity, const double* flux, double dt, int axis,
                                  double* liquid, const __grid_constant__ Outputs momentum) {
    const Cell own = own_cell();
    if (!is_of_leaf(mesh, own)) {
        return;
    }
    const Crossing crossing = {mesh, params, planes, alpha, velocity, dt, axis};
    crossing.cross(own, 2 * axis, flux, liquid, momentum);
    if (is_at(2 * axis + 1, own.cell)) {
        crossing.cross(own, 2 * axis + 1, flux, liquid, momentum);
    }
}

extern "C" __global__ void mark_full(const double* alpha, uint64_t count, uint8_t* full) {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) {
        full[n] = alpha[n] > 0.5;
    }
}

// What crossed is added to volume, and to momentum where there is a velocity.
extern "C" __global__ void update(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                  const double* flux, double dt, int axis, const double* liquid, const uint8_t* full,
                                  const __grid_constant__ Components momentum,
                                  const __grid_constant__ Components before, double* alpha,
                                  const __grid_constant__ Outputs velocity) {
    const Cell cell = own_cell();
    if (!is_of_leaf(mesh, cell)) {
        return;
    }
    const uint64_t own = cell.index(), face = face_index(cell, 2 * axis);
    const int step = stride(axis);
    const double ratio = dt / mesh.width(cell.block);
    const auto gain = [&](const double* values) { return ratio * (values[face] - values[face + step]); };
    const double all = gain(flux), old = alpha[own];
    const bool is_full = full[own] == 1;
    const double now = old + (gain(liquid) - (is_full ? all : 0.0));
    alpha[own] = now;
    for (int k = 0; k < D && velocity.is_there(); k++) {
        const double held = params.density[is_full ? 0 : 1] * before.of[k][own];
        const double change = gain(momentum.of[k]) - held * all;
        velocity.of[k][own] = (params.rho(old) * velocity.of[k][own] + change) / params.rho(now);
    }
}

// By block, what the divergence added to the liquid's volume, and the room for it.
extern "C" __global__ __launch_bounds__(THREADS) void added_and_room(const __grid_constant__ Mesh mesh,
                                                                     const double* alpha, const double* flux,
                                                                     const uint8_t* full, double dt, double* added,
                                                                     double* room) {
    const Cell cell = own_cell();
    const bool is_leaf = is_of_leaf(mesh, cell);
    double outflow = 0.0, mixed = 0.0;
    if (is_leaf) {
        mixed = mixing(alpha[cell.index()]);
        for (int axis = 0; axis < D && full[cell.index()] == 1; axis++) {
            const double along = rise(flux, cell, axis);
            outflow = axis == 0 ? along : outflow + along;
        }
    }
    const double outflows = block_sum(outflow), all = block_sum(mixed);
    if (cell.block < mesh.count && cell.cell == 0) {
        const double h = mesh.width(cell.block), volume = D == 2 ? h * h : h * h * h;
        added[cell.block] = is_leaf ? dt / h * outflows * volume : 0.0;
        room[cell.block] = is_leaf ? all * volume : 0.0;
    }
}

// One thread block: the part of the room that was added.
extern "C" __global__ __launch_bounds__(LANES) void share(const double* added, const double* room, uint32_t count,
                                                          double* out) {
    const double sum = ordered_sum(added, count), all = ordered_sum(room, count);
    if (threadIdx.x == 0) {
        *out = all <= 0.0 || fabs(sum) > 1e-3 * all ? 0.0 : sum / all;
    }
}

// A part of their room is taken from cells.
extern "C" __global__ void keep_volume(const __grid_constant__ Mesh mesh, const double* share, double* alpha) {
    const Cell cell = own_cell();
    const double part = *share;
    if (part != 0.0 && is_of_leaf(mesh, cell)) {
        const double c = alpha[cell.index()];
        alpha[cell.index()] = c - part * mixing(c);
    }
}
