// The tables of a level and the neighbourhood of a cell: `tables.rs`, `cell.rs`.

#pragma once

#include "forest.cuh"
#include "lattices.cuh"
#include "solver_constants.cuh"
#include "storage.cuh"

// A condition of a face or patch: `Rule`.
struct Rule {
    double velocity[3], omega[3], density, relaxation;
    uint32_t kind, scheme, profile, projects;

    __device__ bool moves() const {
        bool moves = false;
        for (int a = 0; a < 3; a++) {
            moves = moves || velocity[a] != 0 || omega[a] != 0;
        }
        return moves;
    }
};
static_assert(sizeof(Rule) == 80, "eight f64 and four u32");

// Transferred moments of a cell: `exchanged`.
constexpr int PAIRS = D * (D + 1) / 2;
constexpr int EXCHANGED = 1 + D + PAIRS;

struct At {
    uint32_t slot;
    int x[D];

    __device__ At(uint32_t slot, int cell) : slot(slot) {
        for (int a = 0; a < D; a++) {
            x[a] = cell_coord(cell, a);
        }
    }

    __device__ int cell() const {
        int cell = 0;
        for (int a = 0; a < D; a++) {
            cell |= x[a] << 2 * a;
        }
        return cell;
    }
};

__host__ __device__ constexpr int opposite(int q) {
    return q == 0 ? 0 : ((q - 1) ^ 1) + 1;
}

// The direction of velocity q, as in the masks of cut links.
template <class L>
__host__ __device__ constexpr int direction_of(int q) {
    int direction = 0;
    for (int a = D - 1; a >= 0; a--) {
        direction = 3 * direction + L::c(q, a) + 1;
    }
    return direction;
}

// Cut links of a cell: directions, and the place of the first one.
struct Links {
    uint32_t mask;
    uint64_t first;

    __device__ bool cut(int direction) const {
        return mask >> direction & 1;
    }

    __device__ uint64_t place(int direction) const {
        return first + __popc(mask & ((1u << direction) - 1));
    }
};

// `DeviceLevel` in `mod.rs`; kernels take it as `GivenLevel`.
struct Level {
    const Ints* coord;
    const uint32_t* neighbors;
    const uint64_t* solid;
    const uint64_t* boundary;
    const uint32_t* cell_start;
    const uint64_t* cells;
    const float* q;
    const uint16_t* patch;
    const Rule* rules;
    const double* profile;
    const uint32_t *profile_face, *profile_link;
    uint32_t slots, special;
    int index;
    // Cells of the box along each axis.
    struct {
        int v[3];
    } extent;

    __device__ bool is_solid(const At& at) const {
        return solid[at.slot] >> at.cell() & 1;
    }

    // The cell a step away: a slot of this level, or NONE or OUTSIDE.
    __device__ At next(const At& at, const int (&step)[D]) const {
        At to = at;
        int toward = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = at.x[a] + step[a];
            toward = 3 * toward + (x >> 2) + 1;
            to.x[a] = x & 3;
        }
        to.slot = neighbors[static_cast<size_t>(at.slot) * DIRECTIONS + toward];
        return to;
    }

    // Whether the cell a step away is fluid; `to` is that cell.
    __device__ bool fluid(const At& at, const int (&step)[D], At& to) const {
        to = next(at, step);
        return to.slot < slots && !is_solid(to);
    }

    __device__ Links links(const At& at) const {
        if (at.slot >= special) {
            return {0, 0};
        }
        const uint64_t mask = boundary[at.slot];
        const int cell = at.cell();
        if (!(mask >> cell & 1)) {
            return {0, 0};
        }
        const uint64_t entry = cells[cell_start[at.slot] + __popcll(mask & ((1ull << cell) - 1))];
        return {static_cast<uint32_t>(entry & ((1u << DIRECTION_BITS) - 1)), entry >> DIRECTION_BITS};
    }

    // The cut point of a link along velocity k, in root cells from the lower corner.
    template <class L>
    __device__ void cut(const At& at, int k, double share, double (&x)[3]) const {
        const double dx = 1.0 / static_cast<double>(1u << index);
        for (int a = 0; a < 3; a++) {
            x[a] = a < D ? dx * (4 * coord[at.slot].v[a] + at.x[a] + 0.5 + share * L::c(k, a)) : 0.0;
        }
    }

    // Where the profile's values of a link along velocity k are; in a face those beside the middle of a cell, for k 0.
    template <class L>
    __device__ size_t profiled(const At& at, int k, const Rule& rule) const {
        if (rule.profile == BY_LINK) {
            return static_cast<size_t>(D) * profile_link[links(at).place(direction_of<L>(k))];
        }
        const int face = static_cast<int>(rule.profile - BY_FACE);
        int cell = 0, toward = 0, cells = 1, directions = 1;
        for (int a = 0; a < D; a++) {
            if (a != face / 2) {
                cell += cells * at.x[a];
                toward += directions * (L::c(k, a) + 1);
                cells *= 4;
                directions *= 3;
            }
        }
        const size_t first = profile_face[static_cast<size_t>(at.slot) * (2 * D) + face];
        return D * (first + cell * directions + toward);
    }

    // The density of an open boundary where a link along velocity k crosses it; of a face with ghost cells, k is 0.
    template <class L>
    __device__ double density_at(const At& at, int k, const Rule& rule) const {
        return rule.profile == 0 ? rule.density : 1.0 + rule.density * profile[profiled<L>(at, k, rule)];
    }

    // The velocity of a wall where it cuts a link.
    template <class L>
    __device__ void velocity_at(const At& at, int k, double share, const Rule& rule, double (&u)[3]) const {
        for (int a = 0; a < 3; a++) {
            u[a] = rule.velocity[a];
        }
        if (rule.profile != 0) {
            const double* values = profile + profiled<L>(at, k, rule);
            for (int a = 0; a < D; a++) {
                u[a] *= values[a];
            }
        }
        const double(&o)[3] = rule.omega;
        if (o[0] != 0 || o[1] != 0 || o[2] != 0) {
            double x[3];
            cut<L>(at, k, share, x);
            u[0] += o[1] * x[2] - o[2] * x[1];
            u[1] += o[2] * x[0] - o[0] * x[2];
            u[2] += o[0] * x[1] - o[1] * x[0];
        }
    }
};

// A parameter that is read where it is: for functions that are not inlined, each thread would copy others to local memory.
#define GivenLevel const __grid_constant__ Level

// Calls F(lattice, its name, storage, its name) for each that this dimension has.
#define EACH_STORAGE(F, L, l) F(L, l, float, f32) F(L, l, double, f64) F(L, l, __half, f16)
#if CUTLINK_D == 2
#define EACH_LATTICE(F) EACH_STORAGE(F, D2Q9, d2q9)
#else
#define EACH_LATTICE(F) EACH_STORAGE(F, D3Q19, d3q19) EACH_STORAGE(F, D3Q27, d3q27)
#endif
