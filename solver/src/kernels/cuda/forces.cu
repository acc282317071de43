// Momentum and mass exchange: one thread block a slot with cut links, whose sums are taken in a fixed tree; friction of modelled
// walls alike, one a slot that it acts on; then one a value of a patch, which adds these up exactly.

#include "balance.cuh"
#include "collide.cuh"
#include "exact.cuh"
#include "modeled.cuh"

struct Center {
    double v[3];
};

// Adds a force at a point, and its torque.
__device__ inline void add(const Center& center, double (&x)[3], const double (&force)[3], double (&sums)[SUMS]) {
    for (int a = 0; a < 3; a++) {
        x[a] -= center.v[a];
        sums[a] += force[a];
    }
    sums[3] += x[1] * force[2] - x[2] * force[1];
    sums[4] += x[2] * force[0] - x[0] * force[2];
    sums[5] += x[0] * force[1] - x[1] * force[0];
}

// Modelled walls: cells with links to them, and the profile's places of these.
struct Walls {
    const ModeledCell* cells;
    uint32_t first, count;
};

// Adds what one cut link along velocity k gives its wall, seen from the wall itself, which slip has no part in.
template <class L, class S>
__device__ void add_link(const View<L, S>& view, const At& at, int k, uint64_t link, const Links& links,
                         const Walls& walls, const Center& center, double scale, double (&sums)[SUMS]) {
    const Level& level = view.level;
    const Real<S> back = view.returned(at, k, link, links), out = view.f(at, k);
    const double share = level.q[link];
    double x[3], u[3], force[3] = {};
    level.template cut<L>(at, k, share, x);
    const Rule& rule = level.rules[2 * D + level.patch[link]];
    level.template velocity_at<L>(at, k, share, rule, u);
    const uint32_t place = walls.count > 0 ? level.profile_link[link] - walls.first : 0;
    if (place < walls.count) {
        for (int a = 0; a < 3; a++) {
            u[a] = walls.cells[place].own[a];
        }
    }
    const double push = scale * static_cast<double>(out + back), slip = scale * static_cast<double>(out - back);
    for (int a = 0; a < D; a++) {
        force[a] = push * L::c(k, a) - slip * u[a];
    }
    add(center, x, force, sums);
    sums[6] += scale
        * (conserves(rule, KEEPS_TURNING) ? displaced<L>(level, at, k, rule) : static_cast<double>(back - out));
}

// The sums of each slot with cut links, by patch. Links of ghost cells are the coarser level's.
template <class L, class S>
__device__ void by_slot(const Level& level, const uint32_t* linked, const uint64_t* ghost, uint32_t patches,
                        const Walls& walls, const Center& center, double scale, const S* from, double* parts) {
    __shared__ double scratch[THREADS];
    const uint32_t slot = linked[blockIdx.x];
    const int cell = threadIdx.x;
    const View<L, S> view{level, from, nullptr};
    const At at(slot, cell & (CELLS - 1));
    const bool counts = cell < CELLS && !(ghost[slot] >> (cell & (CELLS - 1)) & 1);
    const Links links = counts ? level.links(at) : Links{0, 0};
    for (uint32_t patch = 0; patch < patches; patch++) {
        double sums[SUMS] = {};
#pragma unroll 1
        for (int k = 1; k < L::Q; k++) {
            const int direction = direction_of<L>(k);
            if (links.cut(direction) && level.patch[links.place(direction)] == patch) {
                add_link(view, at, k, links.place(direction), links, walls, center, scale, sums);
            }
        }
        bool any = false;
        for (int n = 0; n < SUMS; n++) {
            any = any || sums[n] != 0;
        }
        const bool none = !__syncthreads_or(any);
        for (int n = 0; n < SUMS; n++) {
            const double sum = none ? 0 : sum_of<THREADS>(sums[n], scratch);
            if (threadIdx.x == 0) {
                parts[(static_cast<size_t>(blockIdx.x) * patches + patch) * SUMS + n] = sum;
            }
        }
    }
}

#define BY_SLOT(L, l, S, s)                                                                                            \
    extern "C" __global__ void by_slot_##l##_##s(GivenLevel level, const uint32_t* linked, const uint64_t* ghost,      \
                                                 uint32_t patches, const ModeledCell* modeled, uint32_t first,         \
                                                 uint32_t count, Center center, double scale, const S* from,           \
                                                 double* parts) {                                                      \
        by_slot<L, S>(level, linked, ghost, patches, {modeled, first, count}, center, scale, from, parts);             \
    }
EACH_LATTICE(BY_SLOT)

// Friction of modelled walls on the cells of each slot that it acts on, by patch, at the wall. Rows of `parts` are those behind the
// slots with cut links.
extern "C" __global__ void by_group(const Ints* coord, const DraggedCell* dragged, const uint32_t* starts,
                                    const double* drag, int index, uint32_t patches, Center center, double scale,
                                    double* parts) {
    __shared__ double scratch[THREADS];
    const uint32_t n = starts[blockIdx.x] + threadIdx.x;
    const bool counts = n < starts[blockIdx.x + 1];
    for (uint32_t patch = 0; patch < patches; patch++) {
        double sums[SUMS] = {};
        if (counts && dragged[n].patch == patch) {
            const DraggedCell& cell = dragged[n];
            const At at(cell.slot, cell.cell);
            const double dx = 1.0 / static_cast<double>(1u << index);
            double foot[3] = {}, force[3] = {};
            for (int a = 0; a < D; a++) {
                foot[a] = dx * (4 * coord[at.slot].v[a] + at.x[a] + 0.5)
                    - dx * static_cast<double>(cell.distance) * static_cast<double>(cell.normal[a]);
                force[a] = -scale * drag[static_cast<size_t>(n) * D + a];
            }
            add(center, foot, force, sums);
        }
        for (int value = 0; value < SUMS; value++) {
            const double sum = sum_of<THREADS>(sums[value], scratch);
            if (threadIdx.x == 0) {
                parts[(static_cast<size_t>(blockIdx.x) * patches + patch) * SUMS + value] = sum;
            }
        }
    }
}

// Adds up the slots' values, one thread block for each of `values`; sets or adds to `sums`.
extern "C" __global__ void total(const double* parts, uint32_t slots, uint32_t values, uint32_t fresh, ExactSum* sums) {
    __shared__ ExactSum scratch[ADDERS];
    ExactSum sum{0, 0};
    for (uint32_t slot = threadIdx.x; slot < slots; slot += ADDERS) {
        sum = sum + ExactSum::of(parts[static_cast<size_t>(slot) * values + blockIdx.x]);
    }
    sum = sum_of<ADDERS>(sum, scratch);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = fresh ? sum : sums[blockIdx.x] + sum;
    }
}
