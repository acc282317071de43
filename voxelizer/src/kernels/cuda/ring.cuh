// Tests the lines of small facets in full warps. A facet has lines along some of the directions, up to 49 along each,
// and few of them meet it, so one lane per facet would leave most lanes idle. Three queues in shared memory are each
// emptied by 32 lanes at a time:
//
//   facets of the list --> (facet, direction) pairs --> set-up of their lines, a ring --> lines that meet their facet
//                          `run`                        `set_up`                         `test`; emptied by `cross`

#pragma once

#include "cuts.cuh"
#include "warp_queue.cuh"

// Entries of the ring: it is emptied from BATCH on, and 32 may come at a time. Half of it (and a ring of
// 48, for more warps) made large facets slower by a tenth.
constexpr int BATCH = 32;
constexpr int RING = 64;

struct Ring {
    // The plane's value and what a step along u adds to it; along v, and along the line; one over that.
    double2 plane[RING], growth[RING];
    double inverse[RING];
    // Edge functions, and what steps add to them. Then the bits of the shape: extent u (3), from u + 3 (4), from v + 3
    // (4), bias (1), the ray's (11), whether it goes with the normal (1); 4096 / extent u, rounded up, and the number
    // of lines (6 bits); the patch.
    longlong2 edge[RING];
    int64_t last_edge[RING];
    uint32_t shape[RING];
    int4 by_u[RING], by_v[RING];
    // Facet of the list and, in the lowest 4 bits, direction.
    uint32_t pairs[WARP_QUEUE];
    // Entry (6 bits), and how far from the first line along u and v (3 bits each).
    uint16_t lines[WARP_QUEUE];
};

// Ranges of cell indices that a facet reaches on some sheared axis.
struct Reach {
    int low, high;

    __device__ Reach(const Facet& f, int axis, int other, int shear, int spacing, int shift) {
        int least = 0, most = 0;
        for (int k = 0; k < D; k++) {
            const int c = f.v[k].v[axis] - shear * f.v[k].v[other];
            least = k == 0 ? c : min(least, c);
            most = k == 0 ? c : max(most, c);
        }
        low = (least + (spacing - 1)) >> shift;
        high = most >> shift;
    }

    // Whether lines of this shear that come near the block meet the range.
    __device__ bool meets(int shear) const { return max(low, -3 * max(shear, 0)) <= min(high, 3 - 3 * min(shear, 0)); }
};

// The directions along which lines near the block may meet a facet, a bit each. All of DIRECTION's
// parts are constants.
template <int PAIR>
__device__ inline uint32_t near_directions(const Local& local, int spacing, int shift) {
    if constexpr (PAIR == PAIRS) {
        return 0;
    } else {
        constexpr int direction = DIRECTIONS / 2 + 1 + PAIR;
        constexpr int axis = D == 3 && step(direction, D - 1) != 0 ? D - 1 : step(direction, 1) != 0 ? 1 : 0;
        bool near = local.low[axis] <= 4 && local.high[axis] >= -1;
        for (int a = 0; a < D; a++) {
            if (a != axis) {
                near &= Reach(local.facet, a, axis, step(direction, a), spacing, shift).meets(step(direction, a));
            }
        }
        return static_cast<uint32_t>(near) << PAIR | near_directions<PAIR + 1>(local, spacing, shift);
    }
}

template <typename Kind>
struct Gang {
    Ring& ring;
    typename Kind::Slot* nearest;
    uint32_t* directions;
    const Place& place;
    // The block's list, its facets, and what their places are seen from.
    const Facet* corners;
    const uint16_t* patch;
    const uint32_t* list;
    Ints center;
    int spacing, shift, lane;
    // Queued pairs; first entry of the ring, and number of its entries.
    int queued = 0, head = 0, filled = 0;

    // Processes the facets `from` to `to - 1` of the list, and returns whether it skipped any because they are not
    // small.
    __device__ bool run(uint32_t length, uint32_t from, uint32_t to, bool all_small) {
        bool left = false;
        const auto run = [&](int pairs) { set_up(pairs); };
        for (uint32_t base = 0; base < length; base += 32) {
            const uint32_t e = base + lane;
            const uint32_t f = e < length ? list[e] : ~0u;
            uint32_t near = 0;
            if (f >= from && f < to) {
                const Local local(corners[f], center, spacing, shift);
                const bool small = all_small || local.is_small(spacing);
                left |= !small;
                near = small ? near_directions<0>(local, spacing, shift) : 0;
            }
            uint32_t any = __reduce_or_sync(~0u, near);
            while (any != 0) {
                const int pair = __ffs(static_cast<int>(any)) - 1;
                any &= any - 1;
                push<uint32_t>(ring.pairs, queued, near >> pair & 1, e << 4 | pair, run);
            }
        }
        set_up(queued);
        if (filled > 0) {
            test(filled);
        }
        return left;
    }

    // An index of the ring; at most one turn too large.
    __device__ static int wrap(int i) { return i >= RING ? i - RING : i; }

    // Puts the lines of the first `pairs` pairs into the ring.
    __device__ void set_up(int pairs) {
        bool has = false;
        Setup<int32_t, int64_t, double> setup;
        uint32_t shape = 0, of = 0;
        if (lane < pairs) {
            const uint32_t pair = ring.pairs[lane], f = list[pair >> 4];
            const Ray ray(DIRECTIONS / 2 + 1 + (pair & 15));
            has = setup.start(Turned(&corners[f], center, ray), ray, spacing, shift);
            shape = ray.bits() << 12;
            of = sizeof(typename Kind::Slot) == 8 ? patch[f] : 0u;
        }
        const uint32_t votes = __ballot_sync(~0u, has);
        if (has) {
            const int i = wrap(wrap(head + filled) + __popc(votes & ((1u << lane) - 1)));
            shape |= setup.extent_u | (setup.from_u + 3) << 3 | (setup.from_v + 3) << 7 | (setup.bias != 0) << 11 |
                     (setup.forward ? 1u : 0u) << 23;
            // 4096 over 1 to 7, rounded up.
            const uint64_t shares = setup.extent_u < 4 ? 0x0556'0800'1000'0000ull : 0x024a'02ab'0334'0400ull;
            const int share = static_cast<int>(shares >> 16 * (setup.extent_u & 3)) & 0xffff;
            const int count = setup.extent_u * setup.extent_v;
            ring.edge[i] = make_longlong2(setup.edge[0], setup.edge[1]);
            ring.last_edge[i] = setup.edge[D - 1];
            ring.shape[i] = shape;
            ring.by_u[i] = make_int4(setup.by_u[0], setup.by_u[1], setup.by_u[D - 1], share << 6 | count);
            ring.by_v[i] = make_int4(setup.by_v[0], setup.by_v[1], setup.by_v[D - 1], static_cast<int>(of));
            ring.plane[i] = make_double2(setup.value, setup.step_u);
            ring.growth[i] = make_double2(setup.step_v, setup.rise);
            ring.inverse[i] = __drcp_rn(setup.rise);
        }
        filled += __popc(votes);
        __syncwarp();
        if (filled >= BATCH) {
            test(min(filled, 32));
        }
    }

    // Tests the lines of the first `entries` entries, one line per lane.
    __device__ void test(int entries) {
        const int own = lane < entries ? ring.by_u[wrap(head + lane)].w & 63 : 0;
        int end = own;
        for (int step = 1; step < 32; step *= 2) {
            const int below = __shfl_up_sync(~0u, end, step);
            end += lane >= step ? below : 0;
        }
        const int start = end - own, total = __shfl_sync(~0u, end, 31);
        int begun = 0, met = 0;
        const auto run = [&](int lines) { cross(lines); };
        for (int base = 0; base < total; base += 32) {
            // Entries whose lines begin among these 32.
            const bool begins = own != 0 && start >= base && start < base + 32;
            const uint32_t marks = __reduce_or_sync(~0u, begins ? 1u << (start - base) : 0u);
            const int entry = begun + __popc(marks & (~0u >> (31 - lane))) - 1;
            begun += __popc(marks);
            const int at = base + lane - __shfl_sync(~0u, start, entry);
            const int i = wrap(head + entry);
            const longlong2 edge = ring.edge[i];
            const int4 by_u = ring.by_u[i], by_v = ring.by_v[i];
            const int v = at * (by_u.w >> 6) >> 12;
            const int u = at - v * static_cast<int>(ring.shape[i] & 7);
            const int64_t x = edge.x + static_cast<int64_t>(u) * by_u.x + static_cast<int64_t>(v) * by_v.x;
            const int64_t y = edge.y + static_cast<int64_t>(u) * by_u.y + static_cast<int64_t>(v) * by_v.y;
            const int64_t z = ring.last_edge[i] + static_cast<int64_t>(u) * by_u.z + static_cast<int64_t>(v) * by_v.z;
            const bool hit = base + lane < total && ((x & y & z) < 0 || (x | y | z) >= 0);
            push<uint16_t>(ring.lines, met, hit, static_cast<uint16_t>(i | u << 6 | v << 9), run);
        }
        cross(met);
        head = wrap(head + entries);
        filled -= entries;
        __syncwarp();
    }

    // Records the crossings of the first `lines` lines that are near enough.
    __device__ void cross(int lines) const {
        if (lane >= lines) {
            return;
        }
        const int line = ring.lines[lane], i = line & 63, u = line >> 6 & 7, v = line >> 9 & 7;
        const double2 plane = ring.plane[i], growth = ring.growth[i];
        const double rise = growth.y;
        // All of these are integers below 2^53: fused or not, nothing is rounded.
        const double value =
            __fma_rn(static_cast<double>(v), growth.x, __fma_rn(static_cast<double>(u), plane.y, plane.x));
        if (value < rise && value >= -4 * rise) {
            const uint32_t shape = ring.shape[i];
            const Ray ray = Ray::of_bits(shape >> 12 & 0x7ff);
            const double inverse = ring.inverse[i];
            // The quotient as division rounds it, from the rounded inverse (Markstein 1990).
            const auto over_rise = [&](double of) {
                const double near = of * inverse;
                return __fma_rn(__fma_rn(-near, rise, of), inverse, near);
            };
            const int at_u = static_cast<int>(shape >> 3 & 15) - 3 + u;
            const int at_v = static_cast<int>(shape >> 7 & 15) - 3 + v;
            const Cuts<Kind> cuts{nearest, directions, place, static_cast<uint32_t>(ring.by_v[i].w)};
            cuts.line(ray, at_u, at_v, value, rise, static_cast<double>(shape >> 11 & 1),
                      (shape >> 23 & 1) != 0 ? 1 : -1, over_rise);
        }
    }
};
