// Viscosity: `viscous.rs`, which has the order of operations.

#include "cells.cuh"
#include "components.cuh"
#include "face.cuh"
#include "grain_cells.cuh"

// One thread a face.
extern "C" __global__ void viscosity(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                     const __grid_constant__ Grains grains, const double* alpha, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind != FaceKind::INNER) {
            return 0.0;
        }
        const uint64_t cells[2] = {face.cells[0].index(), face.cells[1].index()};
        double a = params.fluidity(alpha[cells[0]]);
        double b = params.fluidity(alpha[cells[1]]);
        if (grains.are_there()) {
            // Grains do not give way; within a grain hardly anything is handed on.
            const double ca = grains.clear[cells[0]], cb = grains.clear[cells[1]];
            const bool is_within = fmax(ca, cb) < LEAST_CLEAR;
            a *= is_within ? WITHIN : fmax(ca, LEAST_CLEAR);
            b *= is_within ? WITHIN : fmax(cb, LEAST_CLEAR);
        }
        return 2.0 * mesh.area(block) / ((a + b) * (0.5 * (face.widths[0] + face.widths[1])));
    });
}

// Lengths of a block, which most of what is beside its cells has too.
struct Lengths {
    double h, over_h, over_area;

    __device__ Lengths(const Mesh& mesh, uint32_t block)
        : h(mesh.width(block)), over_h(1.0 / h), over_area(1.0 / mesh.area(block)) {}
};

// The viscosity of a face of a leaf, by its conductance.
__device__ inline double mu_at(const Mesh& mesh, const double* conductance, Cell at, const Lengths& of, int side) {
    const double t = conductance[face_index(at, side)];
    if (!is_at(side, at.cell)) {
        return t * (of.h * of.over_area);
    }
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    const double apart = other.block == OUTSIDE ? of.h : 0.5 * (of.h + mesh.width(other.block));
    return t * (apart * of.over_area);
}

// From a cell to the next one beyond a side, per length.
__device__ inline double steepness(const Mesh& mesh, const double* u, Cell at, const Lengths& of, int side) {
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    if (other.block == OUTSIDE) {
        return 0.0;
    }
    const double difference = u[other.index()] - u[at.index()];
    const double beyond = mesh.width(other.block);
    const double over = beyond == of.h ? of.over_h : 1.0 / (0.5 * (of.h + beyond));
    return side & 1 ? difference * over : -difference * over;
}

// One thread a face.
extern "C" __global__ void stress(const __grid_constant__ Mesh mesh, const __grid_constant__ Components u,
                                  const double* conductance, uint32_t component, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Cell at = {block, cell};
        const int axis = side >> 1;
        const Cell other = mesh.blocks.next(block, cell, side);
        const Lengths lengths(mesh, block);
        const double own = mu_at(mesh, conductance, at, lengths, side);
        if (other.block == OUTSIDE || own == 0.0) {
            return 0.0;
        }
        if (axis == static_cast<int>(component)) {
            return own * steepness(mesh, u.of[axis], at, lengths, side);
        }
        const Lengths beyond = other.block == block ? lengths : Lengths(mesh, other.block);
        double sum = 0.0;
        int count = 0;
        for (int i = 0; i < 4; i++) {
            const int beside = 2 * static_cast<int>(component) + (i & 1);
            const Cell from = i < 2 ? at : other;
            const Lengths& of = i < 2 ? lengths : beyond;
            const double mu = mu_at(mesh, conductance, from, of, beside);
            if (mu > 0.0) {
                sum += fmin(own, mu) * steepness(mesh, u.of[axis], from, of, beside);
                count++;
            }
        }
        return sum / static_cast<double>(count > 1 ? count : 1);
    });
}

// One thread a cell, here and below.
extern "C" __global__ void force(const __grid_constant__ Mesh mesh, const double* stress, double* out) {
    const Cell own = own_cell();
    if (!is_of_leaf(mesh, own)) {
        return;
    }
    double sum = -0.0;
    for (int axis = 0; axis < D; axis++) {
        sum += rise(stress, own, axis);
    }
    out[own.index()] = sum * mesh.area(own.block);
}

extern "C" __global__ void kick(uint64_t cells, const double* pull, double dt, double* u) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (own < cells) {
        u[own] += dt * pull[own];
    }
}

// Whether a side of a cell holds a velocity component, and at which value.
__device__ inline bool held(const Mesh& mesh, const Params& params, Cell at, int component, int side, double& value) {
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    value = 0.0;
    if (other.block != OUTSIDE) {
        return mesh.is_solid(other.block, other.cell);
    }
    const BoxFace& face = params.face(side);
    switch (face.kind) {
        case BoxKind::SLIP:
            return component == side >> 1;
        case BoxKind::NO_SLIP:
            return true;
        case BoxKind::INFLOW:
            value = face.velocity[component];
            return true;
        default:
            return false;
    }
}

extern "C" __global__ void equation(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                    const __grid_constant__ Grains grains, uint32_t component, double dt,
                                    const double* alpha, const double* u, const double* force, double* diagonal, double* b) {
    const Cell at = own_cell();
    if (!is_of_leaf(mesh, at)) {
        return;
    }
    const uint64_t own = at.index();
    if (mesh.is_solid(at.block, at.cell)) {
        diagonal[own] = 1.0;
        b[own] = 0.0;
        return;
    }
    const double h = mesh.width(at.block);
    const double t = 2.0 * params.mu(alpha[own]) * (D == 3 ? h : 1.0);
    double friction = 0.0, walls = 0.0;
    for (int side = 0; side < SIDES; side++) {
        double value;
        if (held(mesh, params, at, static_cast<int>(component), side, value)) {
            friction += t;
            walls += t * value;
        }
    }
    // Of the fluid alone; cells of grains are held afterwards.
    const double clear = grains.fluid_part(own);
    const double inertia = clear * params.rho(alpha[own]) * (D == 3 ? h * h * h : h * h) / dt;
    diagonal[own] = inertia + friction;
    b[own] = inertia * u[own] + walls + force[own];
}
