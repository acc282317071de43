// The projection: `project.rs`, which has the order of operations.

#include "face.cuh"
#include "sums.cuh"
#include "vector.cuh"

// An array for each axis.
struct Arrays {
    double* of[D];
};

// Whether a face that is open is one of given pressure.
__device__ inline bool is_pressure(const Params& params, FaceKind kind, int side) {
    return kind == FaceKind::OPENING && params.face(side).kind == BoxKind::PRESSURE;
}

__device__ inline double distance(const Face& face) {
    return 0.5 * (face.widths[0] + face.widths[1]);
}

// One thread a face, where these are written.
extern "C" __global__ void to_faces(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                    const double* alpha, const __grid_constant__ Arrays velocity,
                                    const double* acceleration, double dt, double* flux) {
    fill_faces(mesh, flux, [&](uint32_t block, int cell, int side) {
        const double* const u = velocity.of[side >> 1];
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind == FaceKind::CLOSED) {
            return 0.0;
        }
        if (face.kind == FaceKind::OPENING) {
            const BoxFace& open = params.face(side);
            return open.kind == BoxKind::INFLOW ? open.velocity[side >> 1] : u[Cell{block, cell}.index()];
        }
        const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
        const double ma = face.widths[0] * params.rho(alpha[a]);
        const double mb = face.widths[1] * params.rho(alpha[b]);
        const double pull = acceleration[block * static_cast<uint64_t>(PER_BLOCK) + face_of(side, cell)];
        return (ma * u[a] + mb * u[b]) / (ma + mb) + dt * pull;
    });
}

extern "C" __global__ void conductance(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                       const double* alpha, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind == FaceKind::INNER) {
            const double a = params.rho(alpha[face.cells[0].index()]), b = params.rho(alpha[face.cells[1].index()]);
            return 2.0 * mesh.area(block) / ((a + b) * distance(face));
        }
        if (is_pressure(params, face.kind, side)) {
            return mesh.area(block) / (params.rho(alpha[Cell{block, cell}.index()]) * (0.5 * mesh.width(block)));
        }
        return 0.0;
    });
}

// One thread a cell of leaves, here and below.
extern "C" __global__ void right_side(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                      const double* flux, const double* conductance, double dt, double* b) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    if (block >= mesh.count || !mesh.blocks.is_leaf(block)) {
        return;
    }
    const int cell = static_cast<int>(own % CELLS);
    const uint64_t first = block * static_cast<uint64_t>(PER_BLOCK);
    double sum = 0.0;
    for (int axis = 0; axis < D; axis++) {
        const double* const face = flux + first + lower_face(axis, cell);
        sum += face[stride(axis)] - face[0];
    }
    double value = -sum * mesh.area(block) / dt;
    for (int side = 0; side < SIDES; side++) {
        if (is_pressure(params, face_at(mesh, params, block, cell, side).kind, side)) {
            value += conductance[first + face_of(side, cell)] * params.face(side).value;
        }
    }
    b[own] = value;
}

// Sums of blocks: of the right side, of its sizes, of squares of fluxes; 0 of refined ones. Each has `mesh.count`
// values.
extern "C" __global__ void block_sizes(const __grid_constant__ Mesh mesh, const double* flux, const double* b,
                                       double dt, double* sums) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    const int cell = static_cast<int>(own % CELLS);
    const bool counts = block < mesh.count && mesh.blocks.is_leaf(block);
    double terms[3] = {0.0, 0.0, 0.0};
    if (counts) {
        const double scale = mesh.area(block) / dt;
        for (int axis = 0; axis < D; axis++) {
            for (int upper = 0; upper <= static_cast<int>(is_at(2 * axis + 1, cell)); upper++) {
                const double q =
                    flux[block * static_cast<uint64_t>(PER_BLOCK) + face_of(2 * axis + upper, cell)] * scale;
                terms[2] += q * q;
            }
        }
        terms[0] = b[own];
        terms[1] = fabs(b[own]);
    }
    for (int k = 0; k < 3; k++) {
        const double sum = block_sum(terms[k]);
        if (block < mesh.count && cell == 0) {
            sums[k * static_cast<uint64_t>(mesh.count) + block] = sum;
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
                                const double* alpha, const double* pressure, const double* before, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        double pull = 0.0;
        if (face.kind == FaceKind::INNER) {
            const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
            const double ra = params.rho(alpha[a]), rb = params.rho(alpha[b]);
            pull = -2.0 * (pressure[b] - pressure[a]) / ((ra + rb) * distance(face));
        } else if (is_pressure(params, face.kind, side)) {
            const uint64_t own = Cell{block, cell}.index();
            const double value = params.face(side).value;
            const double rise = side & 1 ? value - pressure[own] : pressure[own] - value;
            pull = -rise / (params.rho(alpha[own]) * (0.5 * mesh.width(block)));
        }
        return pull + before[block * static_cast<uint64_t>(PER_BLOCK) + face_of(side, cell)];
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
                                    const __grid_constant__ Arrays velocity, const __grid_constant__ Arrays pulls) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    if (block >= mesh.count) {
        return;
    }
    const int cell = static_cast<int>(own % CELLS);
    const bool moves = mesh.blocks.is_leaf(block) && !mesh.is_solid(block, cell);
    for (int axis = 0; axis < D; axis++) {
        double pull = 0.0;
        if (moves) {
            const double* const face = acceleration + block * static_cast<uint64_t>(PER_BLOCK) + lower_face(axis, cell);
            pull = 0.5 * (face[0] + face[stride(axis)]);
        }
        pulls.of[axis][own] = pull;
        velocity.of[axis][own] += dt * pull;
    }
}
