// Fields from one mesh to another that was adapted from it: `transfer.rs`, which has the order of operations.

#include "cells.cuh"
#include "heat.cuh"
#include "interface.cuh"
#include "normal.cuh"
#include "tile.cuh"
#include "velocity.cuh"

enum class From : uint32_t { NOWHERE, SAME, COARSENED, REFINED };

// Where the values of a new mesh's leaf come from: `Source` of `transfer.rs`.
struct Source {
    From what;
    uint32_t block;
    // The first child that is gone, or the number of the child.
    uint32_t other;
};

// The coarse cell that a cell of a child lies in, and which of its parts.
struct Over {
    int up, part;
};

__device__ inline Over over(uint32_t child, int cell) {
    int part = 0;
    for (int a = 0; a < D; a++) {
        part |= (cell_coord(cell, a) & 1) << a;
    }
    return {cell_above(static_cast<int>(child), cell), part};
}

// The k-th fine cell in a cell of a block whose first child is given.
__device__ inline uint64_t under(uint32_t first, int cell, int k) {
    const Below below = cell_below(cell, k);
    return Cell{first + below.child, below.cell}.index();
}

// Whether a part of a cell is its upper one along an axis, as a factor.
__device__ inline double sign(int part, int axis) {
    return part >> axis & 1 ? 1.0 : -1.0;
}

// The mean of the fine cells in a cell.
__device__ inline double mean_under(const double* values, uint32_t first, int cell) {
    double sum = -0.0;
    for (int k = 0; k < CHILDREN; k++) {
        sum += values[under(first, cell, k)];
    }
    return sum / static_cast<double>(CHILDREN);
}

// The fraction of a part of a mixed cell, by its plane.
__device__ inline double clipped(const double* tile, int at, double whole, int wanted) {
    constexpr double COUNT = static_cast<double>(CHILDREN);
    const Vector n = normal(tile, at);
    const double own = constant(n, whole);
    double parts[CHILDREN];
    double sum = -0.0;
    for (int k = 0; k < CHILDREN; k++) {
        Vector low;
        for (int a = 0; a < D; a++) {
            low.v[a] = 0.5 * static_cast<double>(k >> a & 1);
        }
        parts[k] = part(n, own, low, 0.5);
        sum += parts[k];
    }
    const double lacks = whole - sum / COUNT;
    const auto room = [](double c) { return c * (1.0 - c); };
    double all = -0.0, value = 0.0;
    for (int k = 0; k < CHILDREN; k++) {
        all += room(parts[k]);
        value = k == wanted ? parts[k] : value;
    }
    const double share = all > 1e-6 ? room(value) / all : 1.0 / COUNT;
    return value + lacks * COUNT * share;
}

// One thread block a new block.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    move_fractions(const __grid_constant__ Mesh old, const Source* sources, const double* alpha, double* to) {
    __shared__ double tile[TILE];
    const Source source = sources[blockIdx.x];
    const Cell own = {blockIdx.x, static_cast<int>(threadIdx.x)};
    const bool has_cell = own.cell < CELLS;
    if (source.what != From::REFINED) {
        if (has_cell && source.what != From::NOWHERE) {
            to[own.index()] = source.what == From::SAME ? alpha[Cell{source.block, own.cell}.index()]
                                                        : mean_under(alpha, source.other, own.cell);
        }
        return;
    }
    const Over at = over(source.other, own.cell);
    const double whole = has_cell ? alpha[Cell{source.block, at.up}.index()] : 0.0;
    const bool is_cut = has_cell && is_mixed(whole);
    if (__syncthreads_or(is_cut)) {
        fill_tile(old, alpha, source.block, tile);
    }
    if (has_cell) {
        to[own.index()] = is_cut ? clipped(tile, in_tile(at.up), whole, at.part) : whole;
    }
}

// One thread a new cell, here and below.
extern "C" __global__ void move_velocity(const __grid_constant__ Mesh old, const __grid_constant__ Params params,
                                         const Source* sources, uint64_t cells, const double* alpha, const double* u,
                                         int component, double* to) {
    const Cell own = own_cell();
    if (own.index() >= cells) {
        return;
    }
    const Source source = sources[own.block];
    if (source.what == From::SAME) {
        to[own.index()] = u[Cell{source.block, own.cell}.index()];
    } else if (source.what == From::COARSENED) {
        double mass = -0.0, momentum = -0.0;
        for (int k = 0; k < CHILDREN; k++) {
            const uint64_t i = under(source.other, own.cell, k);
            const double rho = params.rho(alpha[i]);
            mass += rho;
            momentum += rho * u[i];
        }
        to[own.index()] = momentum / mass;
    } else if (source.what == From::REFINED) {
        const Over over_it = over(source.other, own.cell);
        const Cell at = {source.block, over_it.up};
        if (old.is_solid(at.block, at.cell)) {
            to[own.index()] = 0.0;
            return;
        }
        double offset = -0.0;
        for (int axis = 0; axis < D; axis++) {
            offset += 0.25 * sign(over_it.part, axis) * slope(old, params, u, component, at, axis);
        }
        to[own.index()] = u[at.index()] + offset;
    }
}

// Values of different weights in a refined cell: shifted together, so that their mean is the coarse cell's.
template <typename Weight>
__device__ void keep(const Source* sources, uint64_t cells, const double* was, const double* u, const double* alpha,
                     double* to, Weight weight) {
    const Cell own = own_cell();
    if (own.index() >= cells || sources[own.block].what != From::REFINED) {
        return;
    }
    const Source source = sources[own.block];
    const Over at = over(source.other, own.cell);
    const uint64_t coarse = Cell{source.block, at.up}.index();
    if (at.part != 0 || !is_mixed(was[coarse])) {
        return;
    }
    const auto of = [&](int p) {
        int cell = own.cell;
        for (int a = 0; a < D; a++) {
            cell += (p >> a & 1) << 2 * a;
        }
        return Cell{own.block, cell}.index();
    };
    double found = -0.0, mass = -0.0;
    for (int p = 0; p < CHILDREN; p++) {
        const double rho = weight(alpha[of(p)]);
        found += rho * to[of(p)];
        mass += rho;
    }
    const double wanted = mass * u[coarse];
    const double shift = (wanted - found) / mass;
    for (int p = 0; p < CHILDREN; p++) {
        to[of(p)] += shift;
    }
}

extern "C" __global__ void keep_momentum(const __grid_constant__ Params params, const Source* sources, uint64_t cells,
                                         const double* was, const double* u, const double* alpha, double* to) {
    keep(sources, cells, was, u, alpha, to, [&](double c) { return params.rho(c); });
}

extern "C" __global__ void keep_heat(const __grid_constant__ Heat heat, const Source* sources, uint64_t cells,
                                     const double* was, const double* u, const double* alpha, double* to) {
    keep(sources, cells, was, u, alpha, to, [&](double c) { return heat.capacity(c); });
}

extern "C" __global__ void move_temperature(const __grid_constant__ Mesh old, const __grid_constant__ Heat heat,
                                            const Source* sources, uint64_t cells, const double* alpha,
                                            const double* temperature, double* to) {
    const Cell own = own_cell();
    if (own.index() >= cells) {
        return;
    }
    const Source source = sources[own.block];
    if (source.what == From::SAME) {
        to[own.index()] = temperature[Cell{source.block, own.cell}.index()];
    } else if (source.what == From::COARSENED) {
        double all = -0.0, sum = -0.0;
        for (int k = 0; k < CHILDREN; k++) {
            const Below below = cell_below(own.cell, k);
            const Cell fine = {source.other + static_cast<uint32_t>(below.child), below.cell};
            const double weight = old.is_solid(fine.block, fine.cell) ? 0.0 : heat.capacity(alpha[fine.index()]);
            all += weight;
            sum += weight * temperature[fine.index()];
        }
        to[own.index()] = all > 0.0 ? sum / all : temperature[under(source.other, own.cell, 0)];
    } else if (source.what == From::REFINED) {
        const Over over_it = over(source.other, own.cell);
        const Cell at = {source.block, over_it.up};
        if (old.is_solid(at.block, at.cell)) {
            to[own.index()] = temperature[at.index()];
            return;
        }
        double offset = -0.0;
        for (int axis = 0; axis < D; axis++) {
            const double slope = temperature_slope(old, heat, alpha, temperature, at, axis);
            offset += 0.25 * sign(over_it.part, axis) * slope;
        }
        to[own.index()] = temperature[at.index()] + offset;
    }
}

extern "C" __global__ void move_starts(const Source* sources, uint64_t cells, const double* from, double* to) {
    const Cell own = own_cell();
    if (own.index() >= cells) {
        return;
    }
    const Source source = sources[own.block];
    if (source.what == From::SAME) {
        to[own.index()] = from[Cell{source.block, own.cell}.index()];
    } else if (source.what == From::COARSENED) {
        to[own.index()] = mean_under(from, source.other, own.cell);
    } else if (source.what == From::REFINED) {
        to[own.index()] = from[Cell{source.block, over(source.other, own.cell).up}.index()];
    }
}

// Velocities through the faces of the parts of a leaf's cell.
struct Parts {
    double of[CHILDREN][SIDES];
};

// The slope of a velocity along a face from the differences to the next faces, of which there is one at least.
__device__ inline double along_face(bool has_low, double low, bool has_high, double high) {
    if (!has_low || !has_high) {
        return has_low ? low : high;
    }
    if (low * high > 0.0) {
        const double mean = 0.5 * (low + high);
        return copysign(1.0, mean) * fmin(fmin(fabs(mean), 2.0 * fabs(low)), 2.0 * fabs(high));
    }
    return 0.0;
}

// The velocity through a part of a coarse face.
__device__ inline double outer(const Mesh& old, const double* flux, Cell at, int side, int part) {
    const int axis = side >> 1;
    if (is_at(side, at.cell) && old.blocks.is_finer(at.block, side)) {
        // The number of the part among those of the face.
        const int low = part & ((1 << axis) - 1);
        const int number = low | part >> (axis + 1) << axis;
        const uint32_t other = old.blocks.beside[at.block * static_cast<uint64_t>(SIDES) + side];
        return flux[face_index(old.blocks.finer(other, side, at.cell, number), side ^ 1)];
    }
    const double own = flux[face_index(at, side)];
    double value = own;
    for (int t = 0; t < D; t++) {
        if (t == axis) {
            continue;
        }
        const int c = cell_coord(at.cell, t), step = stride(t);
        const bool has_low = c > 0, has_high = c < 3;
        const double low = has_low ? own - flux[face_index({at.block, at.cell - step}, side)] : 0.0;
        const double high = has_high ? flux[face_index({at.block, at.cell + step}, side)] - own : 0.0;
        value += 0.25 * sign(part, t) * along_face(has_low, low, has_high, high);
    }
    return value;
}

__device__ inline void hadamard(double (&of)[CHILDREN]) {
    for (int axis = 0; axis < D; axis++) {
        for (int part = 0; part < CHILDREN; part++) {
            if (!(part >> axis & 1)) {
                const int other = part | 1 << axis;
                const double a = of[part], b = of[other];
                of[part] = a + b;
                of[other] = a - b;
            }
        }
    }
}

// The potential over the parts of a cell whose differences give all parts the same divergence.
__device__ inline void potential(const Parts& parts, double (&of)[CHILDREN]) {
    for (int part = 0; part < CHILDREN; part++) {
        double sum = -0.0;
        for (int a = 0; a < D; a++) {
            sum += parts.of[part][2 * a + 1] - parts.of[part][2 * a];
        }
        of[part] = -sum;
    }
    hadamard(of);
    of[0] = 0.0;
    for (int s = 1; s < CHILDREN; s++) {
        of[s] /= -2.0 * static_cast<double>(__popc(s)) * static_cast<double>(CHILDREN);
    }
    hadamard(of);
}

__device__ inline Parts parts_of(const Mesh& old, const double* flux, Cell at) {
    Parts parts;
    for (int side = 0; side < SIDES; side++) {
        for (int part = 0; part < CHILDREN; part++) {
            if ((part >> (side >> 1) & 1) == (side & 1)) {
                parts.of[part][side] = outer(old, flux, at, side, part);
            }
        }
    }
    for (int axis = 0; axis < D; axis++) {
        for (int part = 0; part < CHILDREN; part++) {
            if (!(part >> axis & 1)) {
                const int other = part | 1 << axis;
                const double mean = 0.5 * (parts.of[part][2 * axis] + parts.of[other][2 * axis + 1]);
                parts.of[part][2 * axis + 1] = mean;
                parts.of[other][2 * axis] = mean;
            }
        }
    }
    double of[CHILDREN];
    potential(parts, of);
    for (int axis = 0; axis < D; axis++) {
        for (int part = 0; part < CHILDREN; part++) {
            if (!(part >> axis & 1)) {
                const int other = part | 1 << axis;
                parts.of[part][2 * axis + 1] += of[other] - of[part];
                parts.of[other][2 * axis] = parts.of[part][2 * axis + 1];
            }
        }
    }
    return parts;
}

// One thread a face of the new blocks.
extern "C" __global__ void move_faces(const __grid_constant__ Mesh old, const Source* sources, uint64_t faces,
                                      const double* flux, double* to) {
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n >= faces) {
        return;
    }
    const Source source = sources[n / PER_BLOCK];
    const int face = static_cast<int>(n % PER_BLOCK);
    if (source.what == From::SAME || source.what == From::COARSENED) {
        to[n] = flux[source.block * static_cast<uint64_t>(PER_BLOCK) + face];
    } else if (source.what == From::REFINED) {
        const FacePlace place = face_place(face);
        const Over at = over(source.other, place.cell);
        const Parts parts = parts_of(old, flux, {source.block, at.up});
        double value = 0.0;
        for (int part = 0; part < CHILDREN; part++) {
            for (int side = 0; side < SIDES; side++) {
                value = part == at.part && side == place.side() ? parts.of[part][side] : value;
            }
        }
        to[n] = value;
    }
}
