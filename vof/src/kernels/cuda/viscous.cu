// Viscosity: `viscous.rs`, which has the order of operations.

#include "face.cuh"

// A component of the velocity, and of all others.
struct Velocity {
    const double* of[D];
};

// One thread an axis and cell.
extern "C" __global__ void viscosity(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                     const double* alpha, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind != FaceKind::INNER) {
            return 0.0;
        }
        const double a = params.mu(alpha[face.cells[0].index()]), b = params.mu(alpha[face.cells[1].index()]);
        return 2.0 * a * b / (a + b) * mesh.area(block) / (0.5 * (face.widths[0] + face.widths[1]));
    });
}

// The viscosity of a face of a leaf, by its conductance.
__device__ inline double mu_at(const Mesh& mesh, const double* conductance, Cell at, int side) {
    const double t = conductance[at.block * static_cast<uint64_t>(PER_BLOCK) + face_of(side, at.cell)];
    const double h = mesh.width(at.block);
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    const double apart = other.block == OUTSIDE ? h : 0.5 * (h + mesh.width(other.block));
    return t * apart / mesh.area(at.block);
}

// From a cell to the next one beyond a side, per length.
__device__ inline double rise(const Mesh& mesh, const double* u, Cell at, int side) {
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    if (other.block == OUTSIDE) {
        return 0.0;
    }
    const double difference = u[other.index()] - u[at.index()];
    const double apart = 0.5 * (mesh.width(at.block) + mesh.width(other.block));
    return side & 1 ? difference / apart : -difference / apart;
}

// One thread an axis and cell.
extern "C" __global__ void stress(const __grid_constant__ Mesh mesh, const __grid_constant__ Velocity u,
                                  const double* conductance, uint32_t component, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Cell at = {block, cell};
        const double own = mu_at(mesh, conductance, at, side);
        const int axis = side >> 1;
        const Cell other = mesh.blocks.next(block, cell, side);
        if (other.block == OUTSIDE || own == 0.0) {
            return 0.0;
        }
        if (axis == static_cast<int>(component)) {
            return own * rise(mesh, u.of[axis], at, side);
        }
        double sum = 0.0;
        int count = 0;
        const Cell both[2] = {at, other};
        for (int i = 0; i < 2; i++) {
            for (int upper = 0; upper < 2; upper++) {
                const int beside = 2 * static_cast<int>(component) + upper;
                const double mu = mu_at(mesh, conductance, both[i], beside);
                if (mu > 0.0) {
                    sum += fmin(own, mu) * rise(mesh, u.of[axis], both[i], beside);
                    count++;
                }
            }
        }
        return sum / static_cast<double>(count > 1 ? count : 1);
    });
}

// One thread a cell, here and below.
extern "C" __global__ void force(const __grid_constant__ Mesh mesh, const double* stress, double* out) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    if (block >= mesh.count || !mesh.blocks.is_leaf(block)) {
        return;
    }
    double sum = -0.0;
    for (int axis = 0; axis < D; axis++) {
        const double* const face = stress + block * static_cast<uint64_t>(PER_BLOCK) + lower_face(axis, own % CELLS);
        sum += face[stride(axis)] - face[0];
    }
    out[own] = sum * mesh.area(block);
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
                                  uint32_t component, double dt, const double* alpha, const double* u,
                                  const double* force, double* diagonal, double* b) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    if (block >= mesh.count || !mesh.blocks.is_leaf(block)) {
        return;
    }
    const Cell at = {block, static_cast<int>(own % CELLS)};
    if (mesh.is_solid(block, at.cell)) {
        diagonal[own] = 1.0;
        b[own] = 0.0;
        return;
    }
    const double h = mesh.width(block);
    const double t = 2.0 * params.mu(alpha[own]) * (D == 3 ? h : 1.0);
    double friction = 0.0, walls = 0.0;
    for (int side = 0; side < SIDES; side++) {
        double value;
        if (held(mesh, params, at, static_cast<int>(component), side, value)) {
            friction += t;
            walls += t * value;
        }
    }
    const double inertia = params.rho(alpha[own]) * (D == 3 ? h * h * h : h * h) / dt;
    diagonal[own] = inertia + friction;
    b[own] = inertia * u[own] + walls + force[own];
}
