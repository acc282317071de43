// Cut links: for each facet in a block's list and each pair of opposite directions, the lines of cell
// centres that meet the facet, and on each the two neighbouring centres on either side of it. The
// crossing is recorded for the end, or both, that is a fluid cell of the block; the other end may lie
// one cell outside.
//
// One thread block a block of cells, one thread a facet and direction; the nearest cut of each link
// is a minimum in shared memory. A block's links then go to the next free place of a staging area,
// whichever that is, and a second kernel puts them in order.

#include "local.cuh"

constexpr int PAIRS = DIRECTIONS / 2;
constexpr int SLOTS = CELLS * DIRECTIONS;

// Where a block lies.
struct Place {
    uint64_t fluid;
    // First and last cell of the box, seen from the block's first cell.
    int low[D], high[D];
    // Whether all cells around the block are in the box.
    bool inner;
};

// What is recorded of a cut: the bits of q, which are ordered as q is; above them nothing, below them
// the patch.
struct Plain {
    using Slot = uint32_t;
    static constexpr Slot EMPTY = ~0u;
    __device__ static Slot pack(float q, uint32_t) { return __float_as_uint(q); }
    __device__ static float q(Slot slot) { return __uint_as_float(slot); }
    __device__ static uint16_t patch(Slot) { return 0; }
};

struct Patched {
    using Slot = unsigned long long;
    static constexpr Slot EMPTY = ~0ull;
    __device__ static Slot pack(float q, uint32_t patch) { return static_cast<Slot>(__float_as_uint(q)) << 32 | patch; }
    __device__ static float q(Slot slot) { return __uint_as_float(static_cast<uint32_t>(slot >> 32)); }
    __device__ static uint16_t patch(Slot slot) { return static_cast<uint16_t>(slot); }
};

__device__ inline double to_f64(double v) {
    return v;
}

// The nearest f64 of 128 bits, ties to even.
__device__ inline double to_f64(Wide v) {
    const bool negative = v < 0;
    unsigned __int128 size = negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
    const uint64_t high = static_cast<uint64_t>(size >> 64);
    int shift = 0;
    if (high != 0) {
        // 64 bits are kept, and one of them tells whether any was lost: rounding sees the same.
        shift = 64 - __clzll(static_cast<long long>(high));
        const bool lost = (size & ((static_cast<unsigned __int128>(1) << shift) - 1)) != 0;
        size = size >> shift | static_cast<unsigned __int128>(lost);
    }
    const double rounded = ldexp(__ull2double_rn(static_cast<uint64_t>(size)), shift);
    return negative ? -rounded : rounded;
}

// The coordinate of a point on an axis that is not known before the run, without an address.
__device__ inline int pick(const int32_t (&v)[D], int a) {
    if constexpr (D == 2) {
        return a == 0 ? v[0] : v[1];
    } else {
        return a == 0 ? v[0] : a == 1 ? v[1] : v[D - 1];
    }
}

template <typename I>
__device__ inline I pick_wide(const I (&v)[D], int a) {
    if constexpr (D == 2) {
        return a == 0 ? v[0] : v[1];
    } else {
        return a == 0 ? v[0] : a == 1 ? v[1] : v[D - 1];
    }
}

// A direction, seen with its own axis last: u and v are the axes behind it, in turn.
struct Ray {
    int direction, axis, axis_u, axis_v;
    int du, dv;

    __device__ explicit Ray(int direction) : direction(direction) {
        int d[D];
        axis = 0;
        for (int a = 0; a < D; a++) {
            d[a] = direction / power(3, a) % 3 - 1;
            axis = d[a] != 0 ? a : axis;
        }
        axis_u = axis + 1 == D ? 0 : axis + 1;
        axis_v = D == 2 ? axis : axis_u + 1 == D ? 0 : axis_u + 1;
        du = pick(d, axis_u);
        dv = D == 2 ? 0 : pick(d, axis_v);
    }
};

template <typename Kind>
struct Cuts {
    typename Kind::Slot* nearest;
    const Place& place;
    uint32_t patch;

    // A line's crossing with a plane: `value` is that of its cell 0, growing by `rise` from cell to
    // cell, negative before the plane.
    template <typename V>
    __device__ void line(const Ray& ray, int at_u, int at_v, V value, V rise, V bias) const {
        V beyond = value;
        int first = 0;
        for (int i = 0; i < 4; i++) {
            if (beyond < 0) {
                first++;
                beyond += rise;
            }
        }
        const int head[3] = {at_u + first * ray.du, at_v + first * ray.dv, first};
        const int tail[3] = {head[0] - ray.du, head[1] - ray.dv, first - 1};
        const int head_cell = fluid_cell(ray, head), tail_cell = fluid_cell(ray, tail);
        if ((head_cell & tail_cell) < 0 || !(place.inner || (in_box(ray, head) && in_box(ray, tail)))) {
            return;
        }
        if (tail_cell >= 0) {
            record(tail_cell, ray.direction, to_f64(rise - value_of(beyond, bias)) / to_f64(rise));
        }
        if (head_cell >= 0) {
            record(head_cell, DIRECTIONS - 1 - ray.direction, to_f64(value_of(beyond, bias)) / to_f64(rise));
        }
    }

    template <typename V>
    __device__ static V value_of(V beyond, V bias) {
        return beyond + bias;
    }

    // The number of a cell, if it is a fluid cell of the block, else -1.
    __device__ int fluid_cell(const Ray& ray, const int (&at)[3]) const {
        int cell = at[0] << 2 * ray.axis_u | at[2] << 2 * ray.axis;
        int bits = at[0] | at[2];
        if constexpr (D == 3) {
            cell |= at[1] << 2 * ray.axis_v;
            bits |= at[1];
        }
        return (bits & ~3) == 0 && place.fluid >> cell & 1 ? cell : -1;
    }

    __device__ bool in_box(const Ray& ray, const int (&at)[3]) const {
        bool in = at[0] >= pick(place.low, ray.axis_u) && at[0] <= pick(place.high, ray.axis_u);
        if constexpr (D == 3) {
            in &= at[1] >= pick(place.low, ray.axis_v) && at[1] <= pick(place.high, ray.axis_v);
        }
        return in && at[2] >= pick(place.low, ray.axis) && at[2] <= pick(place.high, ray.axis);
    }

    __device__ void record(int cell, int direction, double q) const {
        // A centre on the surface is at the smallest distance there is.
        const float least = 1.17549435e-38f;
        const float rounded = fmaxf(__double2float_rn(q), least);
        atomicMin(&nearest[cell * DIRECTIONS + direction], Kind::pack(rounded, patch));
    }

    // The cuts of one facet with the lines along one direction; I holds edge functions, V values of
    // the plane, N normals and values before they are V.
    template <typename I, typename N, typename V>
    __device__ void along(const Local& local, const Ray& ray, int spacing, int shift) const {
        const Facet& f = local.facet;
        I u[D], v[D];
        I low_u, high_u, low_v = 0, high_v = 0;
        for (int k = 0; k < D; k++) {
            const I own = pick(f.v[k].v, ray.axis);
            u[k] = pick(f.v[k].v, ray.axis_u) - ray.du * own;
            v[k] = D == 2 ? 0 : pick(f.v[k].v, ray.axis_v) - ray.dv * own;
            low_u = k == 0 || u[k] < low_u ? u[k] : low_u;
            high_u = k == 0 || u[k] > high_u ? u[k] : high_u;
            low_v = k == 0 || v[k] < low_v ? v[k] : low_v;
            high_v = k == 0 || v[k] > high_v ? v[k] : high_v;
        }
        // Lines that meet the facet's bounds, and the block or a cell beside it.
        const int from_u = max(static_cast<int>((low_u + (spacing - 1)) >> shift), -3 * max(ray.du, 0));
        const int to_u = min(static_cast<int>(high_u >> shift), 3 - 3 * min(ray.du, 0));
        const int from_v = max(static_cast<int>((low_v + (spacing - 1)) >> shift), -3 * max(ray.dv, 0));
        const int to_v = D == 2 ? 0 : min(static_cast<int>(high_v >> shift), 3 - 3 * min(ray.dv, 0));
        if (from_u > to_u || from_v > to_v) {
            return;
        }
        N normal[D];
        normal_of(f, normal);
        const N nu = pick_wide(normal, ray.axis_u), nv = D == 2 ? 0 : pick_wide(normal, ray.axis_v);
        const N n = pick_wide(normal, ray.axis);
        const N ahead = n + nu * ray.du + nv * ray.dv;
        if (ahead == 0) {
            return;
        }
        const bool forward = ahead > 0;
        const bool tie = first_sign(normal) > 0;
        V value = 0;
        for (int a = 0; a < D; a++) {
            value -= static_cast<V>(normal[a]) * static_cast<V>(f.v[0].v[a]);
        }
        value = forward ? value : -value;
        const V bias = tie != forward ? 1 : 0;
        value -= bias;
        const V step_u = static_cast<V>(forward ? nu : -nu) * static_cast<V>(spacing);
        const V step_v = static_cast<V>(forward ? nv : -nv) * static_cast<V>(spacing);
        const V rise = static_cast<V>(forward ? ahead : -ahead) * static_cast<V>(spacing);
        const V last = -4 * rise;
        I edge[D], by_u[D], by_v[D];
        edges(f, ray, u, v, from_u, from_v, spacing, edge, by_u, by_v);
        value += static_cast<V>(from_u) * step_u + static_cast<V>(from_v) * step_v;
        for (int at_v = from_v; at_v <= to_v; at_v++) {
            I here[D];
            for (int k = 0; k < D; k++) {
                here[k] = edge[k];
                edge[k] += by_v[k];
            }
            V now = value;
            value += step_v;
            for (int at_u = from_u; at_u <= to_u; at_u++) {
                I both = here[0] & here[1] & here[D - 1], any = here[0] | here[1] | here[D - 1];
                if ((both < 0 || any >= 0) && now < rise && now >= last) {
                    line(ray, at_u, at_v, now, rise, bias);
                }
                for (int k = 0; k < D; k++) {
                    here[k] += by_u[k];
                }
                now += step_u;
            }
        }
    }

    // Edge functions at the first line, ties broken, and what steps add to them.
    template <typename I>
    __device__ static void edges(const Facet& f, const Ray& ray, const I (&u)[D], const I (&v)[D], int from_u,
                                 int from_v, int spacing, I (&edge)[D], I (&by_u)[D], I (&by_v)[D]) {
        const I pu = static_cast<I>(from_u) * spacing, pv = static_cast<I>(from_v) * spacing;
        if constexpr (D == 2) {
            const I s = ray.axis_u == 1 ? 1 : -1;
            // First coefficients of d x (end - p), of the second end, and of the opposite for the first.
            const int d0 = ray.axis == 0 ? 1 : ray.du, d1 = ray.axis == 1 ? 1 : ray.du;
            const int sign = d1 != 0 ? d1 : -d0;
            edge[0] = s * (u[1] - pu) - (sign < 0);
            edge[1] = -s * (u[0] - pu) - (-sign < 0);
            by_u[0] = -s * spacing;
            by_u[1] = s * spacing;
            by_v[0] = by_v[1] = 0;
        } else {
            for (int k = 0; k < D; k++) {
                const int l = (k + 1) % D;
                const I eu = u[l] - u[k], ev = v[l] - v[k];
                // The coefficients d x e, in the order of the axes: of e, its shear along d does not count.
                const I wu = -ev, wv = eu, w = ray.du * ev - ray.dv * eu;
                const I first = ray.axis == 2 ? wu : ray.axis == 1 ? wv : w;
                const I second = ray.axis == 2 ? wv : ray.axis == 1 ? w : wu;
                const I third = ray.axis == 2 ? w : ray.axis == 1 ? wu : wv;
                const I sign = first != 0 ? first : second != 0 ? second : third;
                edge[k] = eu * (pv - v[k]) - ev * (pu - u[k]) - (sign < 0);
                by_u[k] = -ev * spacing;
                by_v[k] = eu * spacing;
            }
        }
    }
};

// Where a block's links are in the staging area: its first link and its first cell.
struct At {
    uint64_t link, cell;
};
struct Sums {
    uint64_t links, cells, rows;
};
static_assert(sizeof(At) == 16 && sizeof(Sums) == 24, "as the wrapper has them");

struct Staging {
    float* q;
    uint16_t* patch;
    uint64_t* cells;
    uint64_t links_room, cells_room;
};

// Finds a place in the staging area for the links in shared memory, and writes them there.
template <typename Kind>
__device__ static void store(const typename Kind::Slot* nearest, uint64_t* boundary, const Staging& staging,
                             unsigned long long* used, At* at, Sums* sums) {
    __shared__ uint32_t directions[CELLS];
    __shared__ uint32_t offsets[CELLS];
    __shared__ uint64_t starts[2];
    __shared__ uint64_t mask;
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        uint32_t bits = 0;
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            bits |= static_cast<uint32_t>(nearest[cell * DIRECTIONS + direction] != Kind::EMPTY) << direction;
        }
        directions[cell] = bits;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int lane = threadIdx.x;
        uint32_t links = 0;
        uint64_t cells = 0;
        for (int base = 0; base < CELLS; base += 32) {
            const int cell = base + lane;
            const uint32_t own = cell < CELLS ? __popc(directions[cell]) : 0;
            uint32_t sum = own;
            for (int step = 1; step < 32; step *= 2) {
                const uint32_t below = __shfl_up_sync(~0u, sum, step);
                sum += lane >= step ? below : 0;
            }
            if (cell < CELLS) {
                offsets[cell] = links + sum - own;
            }
            links += __shfl_sync(~0u, sum, 31);
            cells |= static_cast<uint64_t>(__ballot_sync(~0u, own != 0)) << base;
        }
        if (lane == 0) {
            const uint32_t count = __popcll(cells);
            *boundary = cells;
            *sums = Sums{links, count, count != 0};
            mask = cells;
            starts[0] = links == 0 ? 0 : atomicAdd(&used[0], links);
            starts[1] = links == 0 ? 0 : atomicAdd(&used[1], count);
            *at = At{starts[0], starts[1]};
            if (starts[0] + links > staging.links_room || starts[1] + count > staging.cells_room) {
                // What fits nowhere is counted, for a second try.
                mask = 0;
            }
        }
    }
    __syncthreads();
    if (mask == 0) {
        return;
    }
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        if (mask >> cell & 1) {
            const uint64_t place = starts[1] + __popcll(mask & ((1ull << cell) - 1));
            staging.cells[place] = directions[cell] | static_cast<uint64_t>(offsets[cell]) << 27;
        }
    }
    for (int slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
        const typename Kind::Slot cut = nearest[slot];
        if (cut != Kind::EMPTY) {
            const int cell = slot / DIRECTIONS, direction = slot % DIRECTIONS;
            const uint64_t place = starts[0] + offsets[cell] + __popc(directions[cell] & ((1u << direction) - 1));
            staging.q[place] = Kind::q(cut);
            if constexpr (sizeof(cut) == 8) {
                staging.patch[place] = Kind::patch(cut);
            }
        }
    }
}

template <typename Kind>
__device__ static void cut(const Facet* corners, const uint16_t* patch, uint32_t walls, const uint32_t* rows,
                           const uint32_t* starts, const uint32_t* facets, uint32_t first, int spacing, Ints blocks,
                           const Ints* coord, const uint64_t* solid, uint64_t* boundary, const Staging& staging,
                           unsigned long long* used, At* at, Sums* sums) {
    __shared__ typename Kind::Slot nearest[SLOTS];
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first + row;
    for (int slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
        nearest[slot] = Kind::EMPTY;
    }
    __syncthreads();
    const Ints block = coord[id];
    Place place;
    place.fluid = ~solid[id] & FULL;
    place.inner = true;
    for (int a = 0; a < D; a++) {
        place.low[a] = -4 * block.v[a];
        place.high[a] = 4 * (blocks.v[a] - block.v[a]) - 1;
        place.inner &= place.low[a] < 0 && place.high[a] > 3;
    }
    if (place.fluid != 0) {
        const int shift = __ffs(spacing) - 1;
        const Ints center = first_center(block, spacing);
        const uint32_t begin = starts[row], items = (starts[row + 1] - begin) * PAIRS;
        for (uint32_t item = threadIdx.x; item < items; item += blockDim.x) {
            const uint32_t f = facets[begin + item / PAIRS];
            if (f >= walls) {
                continue;
            }
            const Ray ray(DIRECTIONS / 2 + 1 + item % PAIRS);
            const Local local(corners[f], center, spacing, shift);
            if (pick(local.low, ray.axis) > 4 || pick(local.high, ray.axis) < -1) {
                continue;
            }
            const Cuts<Kind> cuts{nearest, place, sizeof(typename Kind::Slot) == 8 ? patch[f] : 0u};
            if (local.is_small(spacing)) {
                cuts.template along<int32_t, int32_t, double>(local, ray, spacing, shift);
            } else {
                cuts.template along<int64_t, int64_t, Wide>(local, ray, spacing, shift);
            }
        }
    }
    __syncthreads();
    store<Kind>(nearest, &boundary[id], staging, used, &at[blockIdx.x], &sums[blockIdx.x]);
}

extern "C" __global__ void cut_plain(const Facet* corners, const uint16_t* patch, uint32_t walls, const uint32_t* rows,
                                     const uint32_t* starts, const uint32_t* facets, uint32_t first, int spacing,
                                     Ints blocks, const Ints* coord, const uint64_t* solid, uint64_t* boundary,
                                     float* q, uint16_t* staged_patch, uint64_t* cells, uint64_t links_room,
                                     uint64_t cells_room, unsigned long long* used, At* at, Sums* sums) {
    const Staging staging{q, staged_patch, cells, links_room, cells_room};
    cut<Plain>(corners, patch, walls, rows, starts, facets, first, spacing, blocks, coord, solid, boundary, staging,
               used, at, sums);
}

extern "C" __global__ void cut_patched(const Facet* corners, const uint16_t* patch, uint32_t walls,
                                       const uint32_t* rows, const uint32_t* starts, const uint32_t* facets,
                                       uint32_t first, int spacing, Ints blocks, const Ints* coord,
                                       const uint64_t* solid, uint64_t* boundary, float* q, uint16_t* staged_patch,
                                       uint64_t* cells, uint64_t links_room, uint64_t cells_room,
                                       unsigned long long* used, At* at, Sums* sums) {
    const Staging staging{q, staged_patch, cells, links_room, cells_room};
    cut<Patched>(corners, patch, walls, rows, starts, facets, first, spacing, blocks, coord, solid, boundary, staging,
                 used, at, sums);
}

// Leaves among the blocks that have facets.
extern "C" __global__ void flag_leaves(const uint32_t* rows, uint32_t count, uint32_t first,
                                       const uint32_t* first_child, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = first_child[first + rows[i]] == NONE;
    }
}

// What the table holds already.
struct Base {
    uint64_t links, cells, rows;
};

// Rows of the table, in the order of the blocks: one warp a block that has facets.
extern "C" __global__ void gather(const uint32_t* rows, uint32_t count, uint32_t first, const float* staged_q,
                                  const uint16_t* staged_patch, const uint64_t* staged_cells, const At* at,
                                  const Sums* sums, Base base, uint32_t patched, uint32_t* blocks, uint32_t* row_of,
                                  uint32_t* cell_start, uint64_t* cells, float* q, uint16_t* patch) {
    const uint32_t i = thread_index() / 32, lane = threadIdx.x & 31;
    if (i >= count) {
        return;
    }
    const Sums from = sums[i], to = sums[i + 1];
    if (to.rows == from.rows) {
        return;
    }
    const At place = at[i];
    const uint64_t link = base.links + from.links, cell = base.cells + from.cells;
    if (lane == 0) {
        const uint64_t row = base.rows + from.rows;
        const uint32_t id = first + rows[i];
        blocks[row] = id;
        row_of[id] = static_cast<uint32_t>(row);
        cell_start[row + 1] = static_cast<uint32_t>(base.cells + to.cells);
    }
    for (uint64_t k = lane; k < to.cells - from.cells; k += 32) {
        cells[cell + k] = staged_cells[place.cell + k] + (link << 27);
    }
    for (uint64_t k = lane; k < to.links - from.links; k += 32) {
        q[link + k] = staged_q[place.link + k];
        if (patched) {
            patch[link + k] = staged_patch[place.link + k];
        }
    }
}
