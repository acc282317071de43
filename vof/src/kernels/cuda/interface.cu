// Ghosts in solid cells, planes of mixed cells, and their mean normals: `interface.rs`.

#include "contact.cuh"
#include "interface.cuh"
#include "near.cuh"
#include "normal.cuh"

// A solid cell near a wall, and the cells beside it whose fractions it takes the mean of: `DeviceGhost` of `mesh.rs`.
struct GhostCell {
    uint32_t cell;
    uint32_t beside[6];
    uint32_t count;
};

// One thread a ghost of a layer.
extern "C" __global__ void ghosts(const GhostCell* ghosts, uint32_t count, double* alpha) {
    const uint32_t n = thread_index();
    if (n >= count) {
        return;
    }
    const GhostCell ghost = ghosts[n];
    double sum = -0.0;
    for (int k = 0; k < 6; k++) {
        if (k < static_cast<int>(ghost.count)) {
            sum += alpha[ghost.beside[k]];
        }
    }
    alpha[ghost.cell] = sum / static_cast<double>(ghost.count);
}

// One thread a cell of coarser levels: the first cell of leaves there that has both fluids.
extern "C" __global__ void check_level(Mesh mesh, const double* alpha, uint32_t* first) {
    const uint32_t n = thread_index();
    const uint32_t block = n / CELLS;
    if (block < mesh.first_finest && mesh.blocks.is_leaf(block) && is_trace(alpha[n])) {
        atomicMin(first, n);
    }
}

// One thread block a block of the finest level, one thread a cell: planes of mixed cells.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    planes(Mesh mesh, Params params, const double* alpha, Planes planes) {
    __shared__ double tile[TILE], layer[LAYER];
    const uint32_t block = mesh.first_finest + blockIdx.x;
    const int cell = threadIdx.x;
    const Cell own = {block, cell};
    const bool has_some = __syncthreads_or(cell < CELLS && is_mixed(alpha[own.index()]));
    if (cell == 0) {
        planes.has[blockIdx.x] = has_some;
    }
    if (!has_some) {
        return;
    }
    fill_fractions(mesh, params, alpha, block, tile, layer);
    if (cell >= CELLS) {
        return;
    }
    const int at = in_tile(cell);
    const uint64_t i = planes.index(own);
    if (!is_mixed(tile[at])) {
        planes.normals.set(i, {});
        planes.constants[i] = 0.0;
        return;
    }
    const Vector n = normal(tile, at);
    planes.normals.set(i, n);
    planes.constants[i] = constant(n, tile[at]);
}

// One thread a cell of the finest level: normals that count, none elsewhere.
extern "C" __global__ void inner_normals(Mesh mesh, const double* alpha, Planes planes, Vectors inner) {
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Cell own = {mesh.first_finest + static_cast<uint32_t>(i / CELLS), static_cast<int>(i % CELLS)};
    if (i >= inner.cells || !planes.has_some(own.block)) {
        return;
    }
    const bool counts = is_mixed(alpha[own.index()]) && !mesh.is_solid(own.block, own.cell) && !sees_wall(mesh, own);
    inner.set(i, counts ? planes.normals.get(i) : Vector{});
}

// One thread a cell of the finest level: turns planes to the mean of the normals around that are not opposite to their
// own, of 5^D cells, of more where there are none.
extern "C" __global__ void smooth(Mesh mesh, const double* alpha, Vectors inner, Planes planes) {
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Cell own = {mesh.first_finest + static_cast<uint32_t>(i / CELLS), static_cast<int>(i % CELLS)};
    if (i >= inner.cells || !planes.has_some(own.block)) {
        return;
    }
    const double c = alpha[own.index()];
    if (!is_mixed(c)) {
        return;
    }
    const Vector n = planes.normals.get(i);
    for (int reach = 2; reach <= MARGIN; reach++) {
        Vector sum = {};
        for (int k = 0; k < near_count(reach); k++) {
            const Near near = near_cell(mesh, own, reach, k);
            if (!near.is_inside || !planes.has_some(near.cell.block)) {
                continue;
            }
            const Vector m = inner.get(planes.index(near.cell));
            if (dot(m, n) > 0.0) {
                for (int a = 0; a < D; a++) {
                    sum.v[a] += m.v[a];
                }
            }
        }
        const double size = sum_of_sizes(sum);
        if (size > 0.0) {
            const Vector mean = over(sum, size);
            planes.normals.set(i, mean);
            planes.constants[i] = constant(mean, c);
            return;
        }
    }
}
