// Fluxes through faces: `cpu/fluxes.rs`.

#include "hex.cuh"
#include "vectors.cuh"

// The share of each face in the face that it was part of, by area; 0 inside split cells. `start` and `lists` are the parts
// of each old face.
extern "C" __global__ void share_fluxes(const uint32_t* from, uint32_t faces, const double* geometry,
                                        const uint32_t* start, const uint32_t* lists, double* shares) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const uint32_t of = from[face];
    if (of == NONE) {
        shares[face] = 0.0;
        return;
    }
    double sum = 0.0;
    for (uint32_t i = start[of]; i < start[of + 1]; i++) {
        sum += norm(load(geometry + 6 * static_cast<size_t>(lists[i]), 1));
    }
    shares[face] = sum > 0.0 ? norm(load(geometry + 6 * static_cast<size_t>(face), 1)) / sum : 0.0;
}

extern "C" __global__ void part_fluxes(const uint32_t* from, uint32_t faces, const double* shares, const double* flux,
                                       double* out) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const uint32_t of = from[face];
    out[face] = of == NONE ? 0.0 : flux[of] * shares[face];
}

__device__ inline void walsh(double (&x)[8]) {
    for (int bit = 1; bit < 8; bit *= 2) {
        for (int i = 0; i < 8; i++) {
            if ((i & bit) == 0) {
                const double a = x[i], b = x[i | bit];
                x[i] = a + b;
                x[i | bit] = a - b;
            }
        }
    }
}

// `hex_potential` of `cpu/fluxes.rs`.
__device__ inline void hex_potential(double (&x)[8]) {
    walsh(x);
    for (int i = 0; i < 8; i++) {
        x[i] = i == 0 ? 0.0 : x[i] / static_cast<double>(16 * __popc(i));
    }
    walsh(x);
}

// `potential` of `cpu/tets.rs`.
__device__ inline void tet_potential(double (&x)[8]) {
    constexpr int RING[4] = {4, 5, 7, 6};
    // Pseudo-inverse of a ring of four, by distance.
    constexpr double INVERSE[4] = {5.0 / 16.0, -1.0 / 16.0, -3.0 / 16.0, -1.0 / 16.0};
    double inner[4];
    for (int i = 0; i < 4; i++) {
        inner[i] = x[RING[i]] + x[i];
    }
    for (int i = 0; i < 4; i++) {
        const double value = INVERSE[i] * inner[0] + INVERSE[(i + 3) & 3] * inner[1] + INVERSE[(i + 2) & 3] * inner[2] +
                             INVERSE[(i + 1) & 3] * inner[3];
        x[RING[i]] = value;
        x[i] = value + x[i];
    }
}

// The potential of the children of each split cell, from the fluxes around it.
extern "C" __global__ void potentials(const uint32_t* first_of, uint32_t old_cells, const uint32_t* owner,
                                      const uint32_t* start, const uint32_t* of_cell, const double* volumes,
                                      const double* flux, uint32_t of_tets, double* potential) {
    const uint32_t old = thread_index();
    if (old >= old_cells || first_of[old + 1] - first_of[old] != 8) {
        return;
    }
    const uint32_t first = first_of[old];
    double out[8], sum = 0.0, volume = 0.0;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t cell = first + i;
        out[i] = 0.0;
        for (uint32_t at = start[cell]; at < start[cell + 1]; at++) {
            const uint32_t face = of_cell[at];
            out[i] += owner[face] == cell ? flux[face] : -flux[face];
        }
        sum += out[i];
        volume += volumes[cell];
    }
    for (uint32_t i = 0; i < 8; i++) {
        out[i] = sum * (volumes[first + i] / volume) - out[i];
    }
    if (of_tets != 0) {
        tet_potential(out);
    } else {
        hex_potential(out);
    }
    for (uint32_t i = 0; i < 8; i++) {
        potential[first + i] = out[i];
    }
}

extern "C" __global__ void inner_fluxes(const uint32_t* from, uint32_t internal, const uint32_t* owner,
                                        const uint32_t* neighbour, const double* potential, double* out) {
    const uint32_t face = thread_index();
    if (face >= internal || from[face] != NONE) {
        return;
    }
    out[face] = potential[owner[face]] - potential[neighbour[face]];
}

// The face of a coarser mesh that each face is part of; NONE inside its cells. Counts those that have none.
extern "C" __global__ void find_targets(const uint32_t* owner, const uint32_t* neighbour, uint32_t faces,
                                        uint32_t internal, const uint32_t* start, const uint32_t* of_cell,
                                        const uint32_t* rims, const uint32_t* holder, const uint32_t* holders,
                                        const uint32_t* to_owner, const uint32_t* to_neighbour, uint32_t to_internal,
                                        const uint32_t* to_start, const uint32_t* to_of_cell, const uint32_t* to_rims,
                                        uint32_t* targets, uint32_t* missing) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const uint32_t a = owner[face], b = face < internal ? neighbour[face] : a;
    targets[face] = NONE;
    if (holders[a] != 1 || holders[b] != 1) {
        atomicAdd(missing, 1u);
        return;
    }
    const uint32_t to_a = holder[a], to_b = holder[b];
    if (face < internal && to_a == to_b) {
        return;
    }
    uint32_t found = NONE, left = 0;
    if (face < internal) {
        // Of several faces, as polyhedra may have, the one at the same place.
        for (uint32_t i = start[a]; i < start[a + 1] && of_cell[i] < face; i++) {
            left += owner[of_cell[i]] == a && neighbour[of_cell[i]] == b;
        }
    }
    for (uint32_t i = to_start[to_a]; i < to_start[to_a + 1]; i++) {
        const uint32_t other = to_of_cell[i];
        if (face >= internal) {
            if (other >= to_internal && to_rims[other - to_internal] == rims[face - internal]) {
                found = other;
                break;
            }
        } else if (other < to_internal && to_owner[other] == to_a && to_neighbour[other] == to_b) {
            found = other;
            if (left-- == 0) {
                break;
            }
        }
    }
    targets[face] = found;
    if (found == NONE) {
        atomicAdd(missing, 1u);
    }
}

extern "C" __global__ void sum_fluxes(const uint32_t* start, uint32_t lists, const uint32_t* entries,
                                      const double* flux, double* out) {
    const uint32_t list = thread_index();
    if (list >= lists) {
        return;
    }
    double sum = 0.0;
    for (uint32_t i = start[list]; i < start[list + 1]; i++) {
        sum += flux[entries[i]];
    }
    out[list] = sum;
}
