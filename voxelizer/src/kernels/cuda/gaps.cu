// Classes of cells near the gaps of a surface: |W - g| against a half, and the blocks whose links
// may go through a gap. See the twin of `classify` for the rule.

#include "caps.cuh"
#include "level.cuh"

constexpr int REFERENCE = D == 2 ? REFERENCE_2D : REFERENCE_3D;

// The caps, seen from a block.
struct Gaps {
    Caps caps;
    int spacing;
    // Centre of the first cell.
    Ints first;
    double middle[D];
    double diagonal;

    __device__ Gaps(const Caps& caps, const Ints& coord, int spacing)
        : caps(caps), spacing(spacing), first(first_center(coord, spacing)) {
        for (int a = 0; a < D; a++) {
            middle[a] = static_cast<double>(first.v[a] + spacing / 2 * 3);
        }
        diagonal = static_cast<double>(spacing) * sqrt(static_cast<double>(D));
    }

    __device__ Ints center(int cell) const {
        Ints p;
        for (int a = 0; a < D; a++) {
            p.v[a] = first.v[a] + (cell >> 2 * a & 3) * spacing;
        }
        return p;
    }

    // Whether |g| is below a half in all of the block.
    __device__ bool are_negligible() const { return caps.bound(middle, 2.0 * diagonal, HALF) < HALF; }

    // Whether W - g without the crossings of walls is rounded to one number in all of the block, by its value at the
    // cell of reference, of which `crossed` is W, and its gradient.
    __device__ bool is_steady(int32_t crossed, int32_t& nearest) const {
        const double most = 2.5 * diagonal;
        const double change = most * caps.gradient(middle, 2.0 * diagonal, 0.5 / most);
        if (change >= 0.5) {
            return false;
        }
        const CapAngle g = caps.angle(center(REFERENCE), NEAR);
        const double value = static_cast<double>(crossed) - g.value;
        const double rounded = floor(value + 0.5);
        nearest = static_cast<int32_t>(rounded);
        return fabs(value - rounded) + change + g.error + ROUNDING < 0.5;
    }

    // A bound on the second derivatives of W - g, or a negative number near the rim.
    __device__ double curvature() const {
        const double square = square_of_length();
        const double enough = 0.5 / (static_cast<double>(D) * square / 8.0);
        const double most = caps.curvature(middle, 2.0 * diagonal, enough);
        return most >= enough ? -1.0 : most;
    }

    // Of the length between corner cells.
    __device__ double square_of_length() const {
        return static_cast<double>(3 * spacing) * static_cast<double>(3 * spacing);
    }
};

// W - g without the crossings of walls, linear along each axis between the corner cells.
struct Interpolation {
    double corners[CHILDREN];
    double own_errors[CHILDREN];
    // Bounds on what it is off in the cells, and in all of the block.
    double errors[2];

    __device__ void bound(const Gaps& gaps, double curvature) {
        double error = 0.0;
        for (int corner = 0; corner < CHILDREN; corner++) {
            error = larger_of(error, own_errors[corner]);
        }
        const double remainder = gaps.square_of_length() / 8.0 * curvature;
        errors[0] = errors[1] = error + ROUNDING;
        for (int a = 0; a < D; a++) {
            errors[0] += remainder;
            errors[1] = errors[1] * BEYOND + remainder;
        }
    }

    __device__ double at(int cell) const {
        double t[D];
        for (int a = 0; a < D; a++) {
            t[a] = static_cast<double>(cell >> 2 * a & 3) / 3.0;
        }
        return between(corners, t);
    }

    // Whether it is rounded to one number in all of the block.
    __device__ bool is_steady(int32_t& nearest) const {
        const double rounded = floor(corners[0] + 0.5);
        nearest = static_cast<int32_t>(rounded);
        bool steady = true;
        for (int corner = 0; corner < CHILDREN; corner++) {
            double t[D];
            for (int a = 0; a < D; a++) {
                t[a] = (corner >> a & 1) == 0 ? -1.0 / 6.0 : 7.0 / 6.0;
            }
            steady = steady && fabs(between(corners, t) - rounded) + errors[1] < 0.5;
        }
        return steady;
    }
};

// Blocks where g may matter, and whose parents leave that open: one thread each.
extern "C" __global__ void flag_near(uint32_t first, uint32_t count, int spacing, const Ints* coord,
                                     const uint32_t* parent, uint32_t from_parent, uint32_t first_parent,
                                     const uint8_t* above, const Caps caps, uint8_t* flags) {
    const uint32_t row = thread_index();
    if (row < count) {
        const bool open = !from_parent || above[parent[first + row] - first_parent] != CERTAIN;
        flags[row] = open && !Gaps(caps, coord[first + row], spacing).are_negligible();
    }
}

// Whether a block is of the root, or its parent uncertain.
__device__ static bool is_below_uncertain(const Level& level, uint32_t id) {
    const Seeds& seeds = level.seeds;
    return !seeds.from_parent || level.above[level.parent[id] - seeds.first_parent] == UNCERTAIN;
}

// The cell in a corner of a block.
__device__ static int corner_cell(int corner) {
    int cell = 0;
    for (int a = 0; a < D; a++) {
        cell |= 3 * (corner >> a & 1) << 2 * a;
    }
    return cell;
}

// Solid cells and marks of the blocks near a gap, and anchors of those that are certain: one thread block each, one
// thread per cell. `above` has the marks of the parents.
extern "C" __global__ void classify_near(const Level level, const Caps caps, uint32_t inside_is_solid,
                                         uint8_t* uncertain) {
    __shared__ int32_t sums[CELLS], of_walls[CELLS], nearest;
    __shared__ uint32_t masks[2], near_half;
    __shared__ uint32_t waiting[2 * WARP_QUEUE];
    // Whether one number decides, `nearest`; whether the interpolation may be used; whether not too many caps are near.
    __shared__ uint32_t steady, known, viewed;
    // What all cells see of the caps.
    __shared__ CapView<MOST_NEAR> view;
    __shared__ double curvature;
    __shared__ Interpolation smooth;
    const uint32_t row = level.rows[blockIdx.x];
    const uint32_t id = level.first + row;
    const Ints at = level.coord[id];
    const Gaps gaps(caps, at, level.spacing);
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = of_walls[cell] = 0;
    }
    if (threadIdx.x == 0) {
        masks[0] = masks[1] = near_half = known = 0;
    }
    __syncthreads();
    const uint32_t begin = level.starts[row], length = level.starts[row + 1] - begin;
    const uint32_t* const list = level.facets + begin;
    const auto add = [&](uint32_t count, int32_t* to) {
        add_crossings<false>(level.corners, level.times, list, count, gaps.first, level.spacing, level.small,
                             level.seeds.from_parent, 0, 1, to, waiting);
    };
    add(length, sums);
    add(walls_in(list, length, level.walls), of_walls);
    __syncthreads();
    const int32_t seed = level.seeds.of(row, at, level.parent[id]);
    const auto all_at = [&](int cell) { return winding_at(cell, seed + sums[0], sums); };
    const auto walls_at = [&](int cell) { return winding_at(cell, seed + of_walls[0], of_walls); };
    // Through caps W - g changes continuously: it jumps by the crossings of walls alone.
    const auto without_walls = [&](int cell) { return all_at(cell) - walls_at(cell); };
    if (threadIdx.x == 0) {
        steady = gaps.is_steady(without_walls(REFERENCE), nearest);
        if (!steady) {
            curvature = gaps.curvature();
            known = curvature >= 0.0;
        }
    }
    __syncthreads();
    if (!steady && threadIdx.x < CHILDREN) {
        const bool few = gaps.caps.look(gaps.first, 3 * gaps.spacing, FAR, threadIdx.x, view);
        if (threadIdx.x == 0) {
            viewed = few;
        }
    }
    __syncthreads();
    if (known) {
        if (threadIdx.x < CHILDREN) {
            const int cell = corner_cell(threadIdx.x);
            const CapAngle g =
                viewed ? CapAngle{gaps.caps.in_corner(view, gaps.first, 3 * gaps.spacing, threadIdx.x), view.errors[0]}
                       : gaps.caps.angle(gaps.center(cell), FINE);
            smooth.corners[threadIdx.x] = static_cast<double>(without_walls(cell)) - g.value;
            smooth.own_errors[threadIdx.x] = g.error;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            smooth.bound(gaps, curvature);
            steady = smooth.is_steady(nearest);
        }
    }
    __syncthreads();
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        bool inside;
        if (steady) {
            const int32_t number = nearest + walls_at(cell);
            inside = number != 0;
            level.keep_number(row, cell, number);
        } else {
            double size = known ? fabs(static_cast<double>(walls_at(cell)) + smooth.at(cell)) : 0.0;
            if (known && fabs(size - HALF) > smooth.errors[0]) {
                inside = size >= HALF;
            } else {
                const Ints p = gaps.center(cell);
                const CapAngle g =
                    viewed ? gaps.caps.seen(view, gaps.first, 3 * gaps.spacing, p) : gaps.caps.angle(p, NEAR);
                size = fabs(static_cast<double>(all_at(cell)) - g.value);
                inside = gaps.caps.is_inside(p, all_at(cell), HALF, g);
            }
            if (fabs(size - 0.5) < BAND) {
                atomicOr(&near_half, 1u);
            }
        }
        if (inside == (inside_is_solid != 0)) {
            atomicOr(&masks[cell / 32], 1u << (cell & 31));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint64_t mask = masks[0] | static_cast<uint64_t>(masks[1]) << 32;
        const bool is_open = near_half || (mask != 0 && mask != FULL);
        level.solid[id] = mask;
        uncertain[row] = steady ? CERTAIN : is_open && is_below_uncertain(level, id) ? UNCERTAIN : UNPROVEN;
    }
}

// Leaves that may have links: with a wall in their list, or with both fluid and solid cells in
// themselves and around them on their level.
extern "C" __global__ void flag_linked(uint32_t first, uint32_t count, const uint32_t* starts, const uint32_t* facets,
                                       uint32_t walls, const uint32_t* first_child, Root root, const uint32_t* families,
                                       const uint64_t* solid, uint8_t* flags) {
    const uint32_t row = thread_index();
    if (row >= count) {
        return;
    }
    const uint32_t id = first + row;
    bool linked = false;
    if (first_child[id] == NONE) {
        // Walls come before caps.
        const uint32_t begin = starts[row];
        const uint64_t mask = solid[id];
        linked = (begin < starts[row + 1] && facets[begin] < walls) || (mask != 0 && mask != FULL);
        for (int direction = 0; direction < DIRECTIONS && !linked; direction++) {
            const uint32_t n = neighbor(root, families, id, direction);
            linked = n < OUTSIDE && solid[n] != mask;
        }
    }
    flags[row] = linked;
}
