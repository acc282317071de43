// Small facets' lines, tested in full warps. A facet and direction has from none to 49 lines, and of these
// some meet the facet: lanes that each went over their own would mostly wait. So what lines need is
// put into a ring in shared memory; 32 entries of it are spread over the lanes line by line, and lines that meet
// their facet are queued for the lanes again.

#pragma once

#include "cuts.cuh"

constexpr int RING = 64;

struct Ring {
    double value[RING], step_u[RING], step_v[RING], rise[RING];
    int edge[D][RING], by_u[D][RING], by_v[D][RING];
    // Bits from the lowest: extent u (3), from u + 3 (4), from v + 3 (4), direction (5), bias (1) and
    // 4096 / extent u, rounded up (13).
    uint32_t shape[RING];
    uint32_t patch[RING];
    uint8_t lines[RING];
    // Entry (6 bits), and how far from the first line along u and v (3 bits each).
    uint16_t queue[RING];
};

template <typename Kind>
struct Gang {
    Ring& ring;
    typename Kind::Slot* nearest;
    uint32_t* directions;
    const Place& place;
    int lane;
    // First entry of the ring, and entries in it.
    int head = 0, filled = 0;

    __device__ Gang(Ring& ring, typename Kind::Slot* nearest, uint32_t* directions, const Place& place, int lane)
        : ring(ring), nearest(nearest), directions(directions), place(place), lane(lane) {}

    // Takes the setups of those lanes that have one.
    __device__ void add(bool has, const Setup<int32_t, double>& setup, const Ray& ray, uint32_t patch) {
        const uint32_t votes = __ballot_sync(~0u, has);
        if (votes == 0) {
            return;
        }
        if (has) {
            const int i = (head + filled + __popc(votes & ((1u << lane) - 1))) % RING;
            for (int k = 0; k < D; k++) {
                ring.edge[k][i] = setup.edge[k];
                ring.by_u[k][i] = setup.by_u[k];
                ring.by_v[k][i] = setup.by_v[k];
            }
            ring.value[i] = setup.value;
            ring.step_u[i] = setup.step_u;
            ring.step_v[i] = setup.step_v;
            ring.rise[i] = setup.rise;
            const uint32_t share = (4096 + setup.extent_u - 1) / setup.extent_u;
            ring.shape[i] = setup.extent_u | (setup.from_u + 3) << 3 | (setup.from_v + 3) << 7 | ray.direction << 11 |
                            (setup.bias != 0) << 16 | share << 17;
            ring.patch[i] = patch;
            ring.lines[i] = static_cast<uint8_t>(setup.extent_u * setup.extent_v);
        }
        filled += __popc(votes);
        __syncwarp();
        if (filled >= 32) {
            test(32);
        }
    }

    // Goes over what is left.
    __device__ void finish() {
        if (filled > 0) {
            test(filled);
        }
    }

    // Tests the lines of the first so many entries, a line a lane.
    __device__ void test(int entries) {
        const int own = lane < entries ? ring.lines[(head + lane) % RING] : 0;
        int end = own;
        for (int step = 1; step < 32; step *= 2) {
            const int below = __shfl_up_sync(~0u, end, step);
            end += lane >= step ? below : 0;
        }
        const int start = end - own, total = __shfl_sync(~0u, end, 31);
        int begun = 0, queued = 0;
        for (int base = 0; base < total; base += 32) {
            // Entries whose lines begin among these 32.
            const bool begins = own != 0 && start >= base && start < base + 32;
            const uint32_t marks = __reduce_or_sync(~0u, begins ? 1u << (start - base) : 0u);
            const int entry = begun + __popc(marks & (~0u >> (31 - lane))) - 1;
            begun += __popc(marks);
            const int at = base + lane - __shfl_sync(~0u, start, entry);
            const int i = (head + entry) % RING;
            const uint32_t shape = ring.shape[i];
            const int v = at * static_cast<int>(shape >> 17) >> 12;
            const int u = at - v * static_cast<int>(shape & 7);
            int both = -1, any = 0;
            for (int k = 0; k < D; k++) {
                const int edge = ring.edge[k][i] + u * ring.by_u[k][i] + v * ring.by_v[k][i];
                both &= edge;
                any |= edge;
            }
            const bool hit = base + lane < total && (both < 0 || any >= 0);
            const uint32_t hits = __ballot_sync(~0u, hit);
            if (hit) {
                ring.queue[queued + __popc(hits & ((1u << lane) - 1))] = static_cast<uint16_t>(i | u << 6 | v << 9);
            }
            queued += __popc(hits);
            __syncwarp();
            if (queued >= 32) {
                cross(32);
                queued -= 32;
                const uint16_t rest = ring.queue[32 + lane];
                __syncwarp();
                ring.queue[lane] = rest;
                __syncwarp();
            }
        }
        cross(queued);
        head = (head + entries) % RING;
        filled -= entries;
        __syncwarp();
    }

    // Records the crossings of so many queued lines, those near enough.
    __device__ void cross(int lines) const {
        if (lane >= lines) {
            return;
        }
        const int line = ring.queue[lane], i = line & (RING - 1), u = line >> 6 & 7, v = line >> 9 & 7;
        const double rise = ring.rise[i];
        const double value =
            ring.value[i] + static_cast<double>(u) * ring.step_u[i] + static_cast<double>(v) * ring.step_v[i];
        if (value < rise && value >= -4 * rise) {
            const uint32_t shape = ring.shape[i];
            const Ray ray(shape >> 11 & 31);
            const int from_u = static_cast<int>(shape >> 3 & 15) - 3, from_v = static_cast<int>(shape >> 7 & 15) - 3;
            const Cuts<Kind> cuts{nearest, directions, place, ring.patch[i]};
            cuts.line(ray, from_u + u, from_v + v, value, rise, static_cast<double>(shape >> 16 & 1));
        }
    }
};
