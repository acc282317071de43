// The projection: `project.rs`, which has the order of operations.

#include "cells.cuh"
#include "components.cuh"
#include "face.cuh"
#include "grain_cells.cuh"
#include "sums.cuh"

__device__ inline double distance(const Face& face) {
    return 0.5 * (face.widths[0] + face.widths[1]);
}

// One thread a face, where these are written.
extern "C" __global__ void to_faces(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                    const __grid_constant__ Grains grains, const double* alpha, const __grid_constant__ Components velocity,
                                    const double* acceleration, double dt, double* flux) {
    fill_faces(mesh, flux, [&](uint32_t block, int cell, int side) {
        const double* const u = velocity.of[side >> 1];
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind == FaceKind::CLOSED) {
            return 0.0;
        }
        const double pull = acceleration[face_index({block, cell}, side)];
        if (face.kind == FaceKind::OPENING) {
            const BoxFace& open = params.face(side);
            return open.kind == BoxKind::INFLOW ? open.velocity[side >> 1] : u[Cell{block, cell}.index()] + dt * pull;
        }
        const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
        const double ma = face.widths[0] * grains.rho(params, alpha, a);
        const double mb = face.widths[1] * grains.rho(params, alpha, b);
        return (ma * u[a] + mb * u[b]) / (ma + mb) + dt * pull;
    });
}

extern "C" __global__ void conductance(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                       const __grid_constant__ Grains grains, const double* alpha, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind == FaceKind::INNER) {
            const double a = grains.rho(params, alpha, face.cells[0].index());
            const double b = grains.rho(params, alpha, face.cells[1].index());
            return 2.0 * mesh.area(block) / ((a + b) * distance(face));
        }
        if (is_pressure(params, face.kind, side)) {
            return mesh.area(block) / (grains.rho(params, alpha, Cell{block, cell}.index()) * (0.5 * mesh.width(block)));
        }
        return 0.0;
    });
}

// One thread a cell of leaves, here and below.
extern "C" __global__ void right_side(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                      const double* flux, const double* conductance, double dt, double* b) {
    const Cell own = own_cell();
    if (!is_of_leaf(mesh, own)) {
        return;
    }
    double sum = 0.0;
    for (int axis = 0; axis < D; axis++) {
        sum += rise(flux, own, axis);
    }
    double value = -sum * mesh.area(own.block) / dt;
    for (int side = 0; side < SIDES; side++) {
        if (is_pressure(params, face_at(mesh, params, own.block, own.cell, side).kind, side)) {
            value += conductance[face_index(own, side)] * params.face(side).value;
        }
    }
    b[own.index()] = value;
}

// Sums of blocks: of the right side, of its sizes, of squares of fluxes; 0 of refined ones. Each has `mesh.count`
// values.
extern "C" __global__ void block_sizes(const __grid_constant__ Mesh mesh, const double* flux, const double* b,
                                       double dt, double* sums) {
    const Cell own = own_cell();
    double terms[3] = {0.0, 0.0, 0.0};
    if (is_of_leaf(mesh, own)) {
        const double scale = mesh.area(own.block) / dt;
        for (int axis = 0; axis < D; axis++) {
            for (int side = 2 * axis; side <= 2 * axis + is_at(2 * axis + 1, own.cell); side++) {
                const double q = flux[face_index(own, side)] * scale;
                terms[2] += q * q;
            }
        }
        terms[0] = b[own.index()];
        terms[1] = fabs(terms[0]);
    }
    for (int k = 0; k < 3; k++) {
        const double sum = block_sum(terms[k]);
        if (own.block < mesh.count && own.cell == 0) {
            sums[k * static_cast<uint64_t>(mesh.count) + own.block] = sum;
        }
    }
}

// One thread block a sum.
extern "C" __global__ void sizes(const double* sums, uint32_t count, double* out) {
    const double sum = ordered_sum(sums + blockIdx.x * static_cast<uint64_t>(count), count);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

// One thread a face.
extern "C" __global__ void pull(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                const __grid_constant__ Grains grains, const double* alpha, const double* pressure, const double* before, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        double pull = 0.0;
        if (face.kind == FaceKind::INNER) {
            const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
            const double ra = grains.rho(params, alpha, a), rb = grains.rho(params, alpha, b);
            pull = -2.0 * (pressure[b] - pressure[a]) / ((ra + rb) * distance(face));
        } else if (is_pressure(params, face.kind, side)) {
            const uint64_t own = Cell{block, cell}.index();
            const double value = params.face(side).value;
            const double rise = side & 1 ? value - pressure[own] : pressure[own] - value;
            pull = -rise / (grains.rho(params, alpha, own) * (0.5 * mesh.width(block)));
        }
        return pull + before[face_index({block, cell}, side)];
    });
}

// One thread a face.
extern "C" __global__ void correct(const __grid_constant__ Mesh mesh, const double* after, const double* before,
                                   double dt, double* flux) {
    const uint64_t face = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(face / PER_BLOCK);
    if (block < mesh.count && mesh.blocks.is_leaf(block)) {
        flux[face] += dt * (after[face] - before[face]);
    }
}

// One thread a cell of all blocks.
extern "C" __global__ void to_cells(const __grid_constant__ Mesh mesh, const double* acceleration, double dt,
                                    const __grid_constant__ Outputs velocity, const __grid_constant__ Outputs pulls) {
    const Cell own = own_cell();
    if (own.block >= mesh.count) {
        return;
    }
    const bool moves = mesh.blocks.is_leaf(own.block) && !mesh.is_solid(own.block, own.cell);
    for (int axis = 0; axis < D; axis++) {
        double pull = 0.0;
        if (moves) {
            const double* const face = acceleration + face_index(own, 2 * axis);
            pull = 0.5 * (face[0] + face[stride(axis)]);
        }
        pulls.of[axis][own.index()] = pull;
        velocity.of[axis][own.index()] += dt * pull;
    }
}
