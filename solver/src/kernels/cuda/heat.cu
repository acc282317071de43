// Temperatures: a step of a level, one thread block a slot and one thread a cell; what levels share, one thread a coarse cell.

#include "level.cuh"

// Cells of a block and those around it, 6 an edge.
constexpr int RING = D == 3 ? 216 : 36;

// `HeatFace`.
struct HeatFace {
    double weight, value;
    uint32_t cell, side, kind, patch;
};
static_assert(sizeof(HeatFace) == 32, "two f64 and four u32");

__device__ constexpr int ring_step(int a) {
    return a == 0 ? 1 : a == 1 ? 6 : 36;
}

// Values of a block and of the cells around it.
struct Ring {
    double t[RING], j[D][RING];
    bool there[RING];

    // What passes upwards through the lower face of a cell along an axis, in temperatures of the cell. Not inlined, so that both
    // cells of a face have the same bits.
    __device__ __noinline__ double flux(int at, int axis, double diffusivity) const {
        const int below = at - ring_step(axis);
        const double low = t[below], high = t[at];
        const double u = 0.5 * (j[axis][below] + j[axis][at]);
        double across = 0.0;
        for (int b = 0; b < D; b++) {
            const int s = ring_step(b);
            if (b != axis && there[below - s] && there[below + s] && there[at - s] && there[at + s]) {
                const double v = 0.5 * (j[b][below] + j[b][at]);
                across += v * (0.25 * ((t[below + s] - t[below - s]) + (t[at + s] - t[at - s])));
            }
        }
        return u * (0.5 * (low + high) - 0.5 * across) - (diffusivity + 0.5 * (u * u)) * (high - low);
    }
};

// Numbers of a level.
struct HeatNumbers {
    double diffusivity;
    uint32_t slots, special;
};

// Tables of a level: `HeatLevel`.
struct HeatLevel {
    const uint32_t* neighbors;
    const uint64_t *stepped, *there, *open;
    const uint32_t* start;
    const HeatFace* faces;
    const double* momentum;
    HeatNumbers of;
};

__device__ inline void load(const HeatLevel& heat, uint32_t slot, const double* from, Ring& ring) {
    for (int n = threadIdx.x; n < RING; n += THREADS) {
        int rest = n, toward = 0, cell = 0;
        for (int a = 0, weight = 1; a < D; a++, weight *= 3) {
            const int x = rest % 6 - 1;
            rest /= 6;
            toward += weight * ((x >> 2) + 1);
            cell |= (x & 3) << 2 * a;
        }
        const uint32_t next = heat.neighbors[static_cast<size_t>(slot) * DIRECTIONS + toward];
        const bool is_slot = next < heat.of.slots;
        const uint32_t of = is_slot ? next : slot;
        ring.there[n] = is_slot && (heat.there[of] >> cell & 1);
        ring.t[n] = from[static_cast<size_t>(of) * CELLS + cell];
        for (int a = 0; a < D; a++) {
            ring.j[a][n] = heat.momentum[(static_cast<size_t>(of) * D + a) * CELLS + cell];
        }
    }
}

// What comes through the faces of a cell; returns its temperature after the step.
__device__ inline double at_faces(const HeatLevel& heat, const Ring& ring, uint32_t slot, int cell, int at, double now,
                                  double* given) {
    const uint32_t n = min(slot, heat.of.special);
    const uint32_t first = heat.start[n], end = slot < heat.of.special ? heat.start[n + 1] : first;
    double gain = 0.0, held = 0.0, draw = 0.0;
    bool has_any = false;
    for (uint32_t i = first; i < end; i++) {
        const HeatFace& face = heat.faces[i];
        if (face.cell != cell) {
            continue;
        }
        has_any = true;
        const int axis = face.side / 2;
        const bool is_upper = face.side % 2 == 1;
        const double inward = is_upper ? -ring.j[axis][at] : ring.j[axis][at];
        double comes;
        if (face.kind == HEAT_HELD) {
            const double rate = heat.of.diffusivity * face.weight;
            held += rate;
            draw += rate * face.value;
            continue;
        } else if (face.kind == HEAT_FLUX) {
            comes = face.value;
        } else if (face.kind == HEAT_OPEN_HELD && inward > 0.0) {
            const double rate = 2.0 * heat.of.diffusivity;
            comes = inward * face.value + rate * (face.value - ring.t[at]);
        } else if (face.kind == HEAT_SHARED) {
            given[i] += is_upper ? -ring.flux(at + ring_step(axis), axis, heat.of.diffusivity)
                                 : ring.flux(at, axis, heat.of.diffusivity);
            continue;
        } else {
            comes = inward * ring.t[at];
        }
        gain += comes;
        given[i] += comes;
    }
    if (!has_any) {
        return now;
    }
    now = (now + gain + draw) / (1.0 + held);
    for (uint32_t i = first; i < end; i++) {
        const HeatFace& face = heat.faces[i];
        if (face.cell == cell && face.kind == HEAT_HELD) {
            given[i] += heat.of.diffusivity * face.weight * (face.value - now);
        }
    }
    return now;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    carry(HeatNumbers of, const uint32_t* neighbors, const uint64_t* stepped, const uint64_t* there,
          const uint64_t* open_sides, const uint32_t* start, const HeatFace* faces, const double* momentum,
          const double* from, double* to, double* given) {
    const HeatLevel heat{neighbors, stepped, there, open_sides, start, faces, momentum, of};
    __shared__ Ring ring;
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    load(heat, slot, from, ring);
    __syncthreads();
    if (cell >= CELLS) {
        return;
    }
    int at = 0;
    for (int a = 0; a < D; a++) {
        at += (cell_coord(cell, a) + 1) * ring_step(a);
    }
    double now = ring.t[at];
    if ((heat.stepped[slot] & heat.there[slot]) >> cell & 1) {
        const uint64_t* open = heat.open + static_cast<size_t>(slot) * (2 * D);
        double gain = 0.0;
        for (int a = 0; a < D; a++) {
            const double low = open[2 * a] >> cell & 1 ? ring.flux(at, a, heat.of.diffusivity) : 0.0;
            const double high =
                open[2 * a + 1] >> cell & 1 ? ring.flux(at + ring_step(a), a, heat.of.diffusivity) : 0.0;
            gain += low - high;
        }
        now = at_faces(heat, ring, slot, cell, at, now + gain, given);
    }
    to[static_cast<size_t>(slot) * CELLS + cell] = now;
}

// Means of finer cells.
extern "C" __global__ void __launch_bounds__(THREADS)
    means(const uint32_t* means, uint32_t count, const double* fine, double* coarse) {
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count) {
        return;
    }
    const uint32_t* of = means + static_cast<size_t>(n) * (1 + CHILDREN);
    double sum = 0.0;
    uint32_t many = 0;
    for (int child = 0; child < CHILDREN; child++) {
        if (of[1 + child] != NONE) {
            sum += fine[of[1 + child]];
            many++;
        }
    }
    coarse[of[0]] = sum / static_cast<double>(many);
}

// What has passed to coarse cells.
extern "C" __global__ void __launch_bounds__(THREADS)
    owed(const uint32_t* owed, const uint32_t* start, const uint32_t* faces, uint32_t count, double* given,
         double* coarse) {
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count) {
        return;
    }
    double passed = 0.0;
    for (uint32_t i = start[n]; i < start[n + 1]; i++) {
        passed += given[faces[i]];
        given[faces[i]] = 0.0;
    }
    coarse[owed[n]] -= 1.0 / CHILDREN * passed;
}

// The value of a child: the cell's, its slopes, and its mixed derivatives.
__device__ inline double of_child(const double* t, const uint32_t* around, int child) {
    constexpr int MIDDLE = DIRECTIONS / 2;
    constexpr int STRIDE[3] = {1, 3, 9};
    double value = t[MIDDLE];
    for (int a = 0; a < D; a++) {
        const double sign = child >> a & 1 ? 1.0 : -1.0;
        const int low = MIDDLE - STRIDE[a], high = MIDDLE + STRIDE[a];
        const bool has_low = around[low] != NONE, has_high = around[high] != NONE;
        double slope = 0.0;
        if (has_low && has_high) {
            slope = 0.125 * (t[high] - t[low]);
        } else if (has_high) {
            slope = 0.25 * (t[high] - t[MIDDLE]);
        } else if (has_low) {
            slope = 0.25 * (t[MIDDLE] - t[low]);
        }
        value += sign * slope;
        for (int b = 0; b < a; b++) {
            const double other = child >> b & 1 ? 1.0 : -1.0;
            const int s = STRIDE[b];
            if (around[low - s] != NONE && around[low + s] != NONE && around[high - s] != NONE
                && around[high + s] != NONE) {
                const double mixed = (t[high + s] - t[high - s]) - (t[low + s] - t[low - s]);
                value += sign * other * (0.015625 * mixed);
            }
        }
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    prolong(const uint32_t* ghosts, uint32_t count, const double* coarse, double* fine) {
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count) {
        return;
    }
    const uint32_t* around = ghosts + static_cast<size_t>(n) * (DIRECTIONS + CHILDREN);
    double t[DIRECTIONS];
    for (int i = 0; i < DIRECTIONS; i++) {
        t[i] = around[i] != NONE ? coarse[around[i]] : 0.0;
    }
    for (int child = 0; child < CHILDREN; child++) {
        const uint32_t place = around[DIRECTIONS + child];
        if (place != NONE) {
            fine[place] = of_child(t, around, child);
        }
    }
}
