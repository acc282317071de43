// Heat: `heat.rs`, which has the order of operations. One thread a cell of all blocks, but where it is said.

#include "heat.cuh"
#include "cells.cuh"
#include "face.cuh"
#include "sums.cuh"
#include "sweep.cuh"

// A cell, and the number of a side or a body.
struct CellPatch {
    uint32_t cell, patch;

    __device__ Cell at() const { return {cell / CELLS, static_cast<int>(cell % CELLS)}; }
};

// Heat capacity that crosses a face, by the liquid and all that does.
__device__ inline double capacity_of(const Heat& heat, double l, double q) {
    return heat.capacities[0] * l + heat.capacities[1] * (q - l);
}

// Heat through a face along an axis, over the area and the time.
__device__ inline double heat_through(const Mesh& mesh, const Heat& heat, const double* alpha, const double* liquid,
                                      const double* flux, double dt, int axis, const double* temperature, Cell own,
                                      int side) {
    const uint64_t face = face_index(own, side);
    const double q = flux[face];
    if (q == 0.0) {
        return 0.0;
    }
    const From from = from_where(mesh, axis, dt, own, side, q);
    double carried;
    if (from.cell.block != OUTSIDE) {
        const double slope = temperature_slope(mesh, heat, alpha, temperature, from.cell, axis);
        const double ahead = from.leaves % 2 == 1 ? 0.5 : -0.5;
        carried = temperature[from.cell.index()] + ahead * (1.0 - from.courant) * slope;
    } else {
        carried = heat.held[side][0] == 1.0 ? heat.held[side][1] : temperature[own.index()];
    }
    return capacity_of(heat, liquid[face], q) * carried;
}

extern "C" __global__ void heat_fluxes(const __grid_constant__ Mesh mesh, const __grid_constant__ Heat heat,
                                       const double* alpha, const double* liquid, const double* flux, double dt,
                                       int axis, const double* temperature, double* out) {
    const Cell own = own_cell();
    if (!is_of_leaf(mesh, own)) {
        return;
    }
    for (int side = 2 * axis; side <= 2 * axis + is_at(2 * axis + 1, own.cell); side++) {
        out[face_index(own, side)] =
            heat_through(mesh, heat, alpha, liquid, flux, dt, axis, temperature, own, side);
    }
}

// One thread a face of the list.
extern "C" __global__ void heat_crossed(const __grid_constant__ Heat heat, const double* liquid, const double* flux,
                                        const double* crossing, const CellPatch* list, uint64_t count, double* out) {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) {
        const uint64_t face = face_index(list[n].at(), static_cast<int>(list[n].patch));
        out[2 * n] = crossing[face];
        out[2 * n + 1] = capacity_of(heat, liquid[face], flux[face]);
    }
}

extern "C" __global__ void heat_update(const __grid_constant__ Mesh mesh, const __grid_constant__ Heat heat,
                                       const double* alpha, const double* liquid, const double* flux, double dt,
                                       int axis, const double* crossing, const double* before, const uint8_t* full,
                                       double* temperature) {
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
    const double held = heat.capacities[is_full ? 0 : 1] * before[own];
    const double change = gain(crossing) - held * all;
    const double grown = heat.capacity(now) - heat.capacity(old);
    temperature[own] += (change - grown * temperature[own]) / heat.capacity(now);
}

// One thread a face.
extern "C" __global__ void conductivity(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                        const __grid_constant__ Heat heat, const double* alpha, double* out) {
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (face.kind != FaceKind::INNER) {
            return 0.0;
        }
        const double a = heat.resistivity(alpha[face.cells[0].index()]);
        const double b = heat.resistivity(alpha[face.cells[1].index()]);
        return 2.0 * mesh.area(block) / (a * face.widths[0] + b * face.widths[1]);
    });
}

extern "C" __global__ void heat_equation(const __grid_constant__ Mesh mesh, const __grid_constant__ Heat heat,
                                         double dt, const double* alpha, const double* temperature, double* diagonal,
                                         double* b) {
    const Cell at = own_cell();
    if (!is_of_leaf(mesh, at)) {
        return;
    }
    const uint64_t own = at.index();
    const double h = mesh.width(at.block);
    const double inertia = heat.capacity(alpha[own]) * (D == 3 ? h * h * h : h * h) / dt;
    diagonal[own] = inertia;
    b[own] = inertia * temperature[own];
}

// The conductance from a cell's centre to its wall.
__device__ inline double to_wall(const Mesh& mesh, const Heat& heat, const double* alpha, Cell at) {
    const double resistivity = heat.resistivity(alpha[at.index()]);
    return mesh.area(at.block) / (resistivity * (0.5 * mesh.width(at.block)));
}

// One thread a face of the list: the first of a cell has all of them.
extern "C" __global__ void heat_at_walls(const __grid_constant__ Mesh mesh, const __grid_constant__ Heat heat,
                                         const double* alpha, const CellPatch* list, const double* values,
                                         uint64_t count, double* diagonal, double* b) {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n >= count || (n > 0 && list[n - 1].cell == list[n].cell)) {
        return;
    }
    const Cell at = list[n].at();
    const uint64_t own = at.index();
    const double t = to_wall(mesh, heat, alpha, at), area = mesh.area(at.block);
    for (uint64_t i = n; i < count && list[i].cell == list[n].cell; i++) {
        const double* const value = values + 2 * static_cast<uint64_t>(list[i].patch);
        if (value[0] == 1.0) {
            diagonal[own] += t;
            b[own] += t * value[1];
        } else {
            b[own] += area * value[1];
        }
    }
}

// One thread a face of the list.
extern "C" __global__ void wall_heat(const __grid_constant__ Mesh mesh, const __grid_constant__ Heat heat,
                                     const double* alpha, const double* temperature, const CellPatch* list,
                                     const double* values, uint64_t count, double* out) {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n >= count) {
        return;
    }
    const Cell at = list[n].at();
    const double* const value = values + 2 * static_cast<uint64_t>(list[n].patch);
    out[n] = value[0] == 1.0 ? to_wall(mesh, heat, alpha, at) * (value[1] - temperature[at.index()])
                             : mesh.area(at.block) * value[1];
}

// A number whose order as an integer is that of the values.
__device__ inline unsigned long long ordered_key(double x) {
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x));
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// By block, heat and heat capacity; keys of the least and of the largest temperature of all.
extern "C" __global__ __launch_bounds__(THREADS) void heat_sums(const __grid_constant__ Mesh mesh,
                                                                const __grid_constant__ Heat heat, const double* alpha,
                                                                const double* temperature, double* heats,
                                                                double* capacities, unsigned long long* extremes) {
    const Cell cell = own_cell();
    const bool is_leaf = is_of_leaf(mesh, cell);
    double capacity = 0.0, value = 0.0;
    unsigned long long least = ~0ull, most = 0;
    if (is_leaf) {
        value = temperature[cell.index()];
        if (!mesh.is_solid(cell.block, cell.cell)) {
            capacity = heat.capacity(alpha[cell.index()]);
            if (!isnan(value)) {
                least = most = ordered_key(value);
            }
        }
    }
    const double heat_of_block = block_sum(capacity * value), all = block_sum(capacity);
    if (cell.block < mesh.count && cell.cell == 0) {
        const double h = mesh.width(cell.block), volume = D == 2 ? h * h : h * h * h;
        heats[cell.block] = is_leaf ? volume * heat_of_block : 0.0;
        capacities[cell.block] = is_leaf ? volume * all : 0.0;
    }
    for (int other = 16; other > 0; other /= 2) {
        const unsigned long long low = __shfl_down_sync(~0u, least, other);
        const unsigned long long high = __shfl_down_sync(~0u, most, other);
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(extremes, least);
        atomicMax(extremes + 1, most);
    }
}

// One thread block: sums over blocks.
extern "C" __global__ __launch_bounds__(LANES) void heat_totals(const double* heats, const double* capacities,
                                                                uint32_t count, double* out) {
    const double heat = ordered_sum(heats, count), capacity = ordered_sum(capacities, count);
    if (threadIdx.x == 0) {
        out[0] = heat;
        out[1] = capacity;
    }
}

extern "C" __global__ void warm(const __grid_constant__ Mesh mesh, double by, double* temperature) {
    const Cell cell = own_cell();
    if (is_of_leaf(mesh, cell) && !mesh.is_solid(cell.block, cell.cell)) {
        temperature[cell.index()] += by;
    }
}

// One thread a face.
extern "C" __global__ void buoyancy(const __grid_constant__ Mesh mesh, const __grid_constant__ Params params,
                                    const __grid_constant__ Heat heat, const double* alpha, const double* temperature,
                                    double* out) {
    const uint32_t n = thread_index(), block = n / PER_BLOCK;
    if (block >= mesh.count || !mesh.blocks.is_leaf(block)) {
        return;
    }
    const FacePlace place = face_place(static_cast<int>(n % PER_BLOCK));
    const int side = place.side();
    const auto excess = [&](uint64_t cell) { return heat.excess(alpha[cell], temperature[cell]); };
    const Face face = face_at(mesh, params, block, place.cell, side);
    double pull;
    if (face.kind == FaceKind::INNER) {
        const uint64_t a = face.cells[0].index(), b = face.cells[1].index();
        const double all = face.widths[0] * excess(a) + face.widths[1] * excess(b);
        pull = all / (face.widths[0] + face.widths[1]) / (0.5 * (params.rho(alpha[a]) + params.rho(alpha[b])));
    } else if (is_pressure(params, face.kind, side)) {
        const uint64_t own = Cell{block, place.cell}.index();
        pull = excess(own) / params.rho(alpha[own]);
    } else {
        return;
    }
    out[n] += pull * params.gravity[side >> 1];
}
