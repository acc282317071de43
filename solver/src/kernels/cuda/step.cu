// Streaming (pull) and collision of a level: one thread a cell.

#include "closure.cuh"
#include "cumulant.cuh"
#include "faces.cuh"
#include "kbc.cuh"
#include "regularized.cuh"
#include "trt.cuh"

// Threads of a block of `plain` and of `special`: whole slots.
constexpr int PLAIN = 128;
constexpr int SPECIAL = 64;

// Collides a cell whose stress is known if it is needed; with EDDY there is an eddy viscosity.
template <class L, class O, bool EDDY, class T>
__device__ __forceinline__ void collide(const Relaxation<T>& relax, Fluid<T>& fluid, T (&f)[L::Q]) {
    if (EDDY) {
        O::template relax<L>(rates_of(relax, tau_of_stress(relax, fluid)), fluid, f);
    } else {
        O::template relax<L>(relax, fluid, f);
    }
}

// Where a cell's population q comes from: the direction of the block, and the cell there.
template <class L>
__device__ __forceinline__ void source(const int (&x)[D], int q, int& toward, int& cell) {
    toward = cell = 0;
    int stride = 1;
#pragma unroll
    for (int a = 0; a < D; a++) {
        const int from = x[a] - L::c(q, a);
        toward += L::c(q, a) == 0 ? stride : stride * ((from >> 2) + 1);
        cell |= (from & 3) << 2 * a;
        stride *= 3;
    }
}

// Slots from `first` on that have nothing but fluid of their level around them.
template <class L, class S, class O, bool EDDY>
__device__ __forceinline__ void step_plain(const uint32_t* neighbors, uint32_t first, uint32_t slots,
                                           const Relaxation<Real<S>>& relax, const S* __restrict__ from,
                                           S* __restrict__ to) {
    using T = Real<S>;
    constexpr int GROUP = PLAIN / CELLS;
    __shared__ uint32_t around[GROUP * DIRECTIONS];
    const uint32_t begin = first + blockIdx.x * GROUP;
    const uint32_t here = min(static_cast<uint32_t>(GROUP), slots - begin);
    for (uint32_t i = threadIdx.x; i < here * DIRECTIONS; i += PLAIN) {
        around[i] = neighbors[static_cast<size_t>(begin) * DIRECTIONS + i];
    }
    __syncthreads();
    const uint32_t place = threadIdx.x / CELLS;
    if (place >= here) {
        return;
    }
    const At at(begin + place, threadIdx.x % CELLS);
    T f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        int toward, cell;
        source<L>(at.x, q, toward, cell);
        const uint32_t slot = around[place * DIRECTIONS + toward];
        f[q] = widen(from[static_cast<size_t>(slot) * (L::Q * CELLS) + q * CELLS + cell]);
    }
    Fluid<T> fluid = fluid_of<L>(f, relax);
    if (O::READS_STRESS || EDDY) {
        add_stress<L>(f, fluid);
    }
    collide<L, O, EDDY>(relax, fluid, f);
    S* out = to + static_cast<size_t>(at.slot) * (L::Q * CELLS) + threadIdx.x % CELLS;
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        out[q * CELLS] = narrow<S>(f[q]);
    }
}

// Whether a cell's population q is reflected by a cut link or enters through a face, so that `walls` has written it.
template <class L>
__device__ __forceinline__ bool is_reflected(uint32_t from, const Links& links, int q) {
    return from == OUTSIDE || links.cut(direction_of<L>(opposite(q)));
}

// Populations from walls and faces, written to where the collision reads them and puts the cells' new values: for slots
// in `walled`, which have such. They are queued, so that all threads share them; so are the cells whose moments ghost
// cells take, once for all populations that need them.
template <class L, class S>
__device__ __forceinline__ void add_walls(const Level& level, const uint32_t* walled, const uint64_t* stepped,
                                          const S* __restrict__ from, S* __restrict__ to) {
    using T = Real<S>;
    __shared__ Moments<T> moments;
    __shared__ uint16_t queue[CELLS * L::Q];
    __shared__ uint8_t inner[HALO];
    __shared__ uint32_t length, inners;
    const uint32_t slot = walled[blockIdx.x];
    const int own = threadIdx.x;
    if (own == 0) {
        length = inners = 0;
    }
    if (own < sizeof(moments.known) / sizeof(moments.known[0])) {
        moments.known[own] = 0;
    }
    __syncthreads();
    if (own < CELLS && (stepped[slot] >> own & 1)) {
        const At at(slot, own);
        const Links links = level.links(at);
        const Faces faces(level, at);
        uint32_t back = 0;
#pragma unroll
        for (int q = 1; q < L::Q; q++) {
            int toward, cell;
            source<L>(at.x, q, toward, cell);
            const uint32_t block = level.neighbors[static_cast<size_t>(slot) * DIRECTIONS + toward];
            back |= static_cast<uint32_t>(is_reflected<L>(block, links, q)) << q;
        }
        if (faces.take_moments != 0) {
            int step[D] = {};
            const auto add = [&]() {
                const int place = Moments<T>::place(at.x, step);
                if (moments.add(place)) {
                    inner[atomicAdd(&inners, 1)] = static_cast<uint8_t>(place);
                }
            };
            add();
#pragma unroll
            for (int q = 1; q < L::Q; q++) {
                if (faces.beyond_block<L>(at.x, q, step)) {
                    add();
                }
            }
        }
        uint32_t place = back == 0 ? 0 : atomicAdd(&length, __popc(back));
        for (; back != 0; back &= back - 1) {
            queue[place++] = static_cast<uint16_t>(own << 5 | (__ffs(back) - 1));
        }
    }
    __syncthreads();
    const View<L, S> view{level, from, &moments};
    for (uint32_t i = threadIdx.x; i < inners; i += SPECIAL) {
        const int place = inner[i];
        int step[D];
        for (int a = 0, rest = place; a < D; a++, rest /= 6) {
            step[a] = rest % 6 - 1;
        }
        const At near = level.next(At(slot, 0), step);
        if (near.slot >= level.slots) {
            continue;
        }
        T u[D];
        moments.values[place] = view.template velocity_of<L::Q>(near, u);
        for (int a = 0; a < D; a++) {
            moments.values[(1 + a) * HALO + place] = u[a];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < length; i += SPECIAL) {
        const int q = queue[i] & 31, cell = queue[i] >> 5;
        const At at(slot, cell);
        to[(static_cast<size_t>(slot) * L::Q + q) * CELLS + cell] = narrow<S>(pull(view, at, q, level.links(at)));
    }
}

// The special slots, with anything around them; cells that are not stepped keep what `to` has, and slots
// below `exchanging` write transferred moments.
template <class L, class S, class O, bool EDDY>
__device__ __forceinline__ void step_special(const Level& level, const uint64_t* stepped, uint32_t exchanging,
                                             const Relaxation<Real<S>>& relax, const S* __restrict__ from, S* to,
                                             Real<S>* __restrict__ moments) {
    using T = Real<S>;
    constexpr int GROUP = SPECIAL / CELLS;
    __shared__ uint32_t around[GROUP * DIRECTIONS];
    __shared__ uint64_t solids[GROUP * DIRECTIONS];
    const uint32_t begin = blockIdx.x * GROUP;
    const uint32_t here = min(static_cast<uint32_t>(GROUP), level.special - begin);
    for (uint32_t i = threadIdx.x; i < here * DIRECTIONS; i += SPECIAL) {
        const uint32_t slot = level.neighbors[static_cast<size_t>(begin) * DIRECTIONS + i];
        around[i] = slot;
        solids[i] = slot < level.slots ? level.solid[slot] : 0;
    }
    __syncthreads();
    const uint32_t place = threadIdx.x / CELLS;
    const int own = threadIdx.x % CELLS;
    const At at(begin + place, own);
    if (place >= here || !(stepped[at.slot] >> own & 1)) {
        return;
    }
    const Links links = level.links(at);
    S* out = to + static_cast<size_t>(at.slot) * (L::Q * CELLS) + own;
    T f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        int toward, cell;
        source<L>(at.x, q, toward, cell);
        uint32_t slot = around[place * DIRECTIONS + toward];
        const bool back = q > 0 && is_reflected<L>(slot, links, q);
        int population = q;
        if (slot >= level.slots) {
            // The level ends here: these are the outer ghost cells, whose values are not used.
            slot = at.slot;
            cell = own;
        } else if (solids[place * DIRECTIONS + toward] >> cell & 1) {
            slot = at.slot;
            cell = own;
            population = opposite(q);
        }
        const S* source = from + (static_cast<size_t>(slot) * L::Q + population) * CELLS + cell;
        f[q] = widen(back ? out[q * CELLS] : *source);
    }
    Fluid<T> fluid = fluid_of<L>(f, relax);
    if (O::READS_STRESS || EDDY || at.slot < exchanging) {
        add_stress<L>(f, fluid);
    }
    if (at.slot < exchanging) {
        // The stress as the level's own viscosity would have it: a rate of strain in other units, which is continuous
        // where levels meet.
        const T share = EDDY ? relax.tau / tau_of_stress(relax, fluid) : T(1);
        T* row = moments + static_cast<size_t>(at.slot) * (EXCHANGED * CELLS) + own;
        row[0] = fluid.rho;
#pragma unroll
        for (int a = 0; a < D; a++) {
            row[(1 + a) * CELLS] = fluid.density() * fluid.u[a];
        }
#pragma unroll
        for (int n = 0; n < PAIRS; n++) {
            row[(1 + D + n) * CELLS] = EDDY ? share * fluid.stress[n] : fluid.stress[n];
        }
    }
    collide<L, O, EDDY>(at.slot < exchanging ? relax.between_levels() : relax, fluid, f);
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        out[q * CELLS] = narrow<S>(f[q]);
    }
}

#define ENTRY(L, l, S, s, NAME, O, EDDY)                                                                               \
    extern "C" __global__ void __launch_bounds__(PLAIN)                                                                \
        plain_##NAME##_##l##_##s(const uint32_t* neighbors, uint32_t first, uint32_t slots, Relaxation<Real<S>> relax, \
                                 const S* __restrict__ from, S* __restrict__ to) {                                     \
        step_plain<L, S, O, EDDY>(neighbors, first, slots, relax, from, to);                                           \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(SPECIAL)                                                              \
        special_##NAME##_##l##_##s(LEVEL_PARAMETERS, const uint64_t* stepped, uint32_t exchanging,                     \
                                   Relaxation<Real<S>> relax, const S* __restrict__ from, S* to,                       \
                                   Real<S>* __restrict__ moments) {                                                    \
        step_special<L, S, O, EDDY>(LEVEL, stepped, exchanging, relax, from, to, moments);                             \
    }
#define OPERATOR(L, l, S, s, NAME, O) ENTRY(L, l, S, s, NAME, O, false) ENTRY(L, l, S, s, NAME##_eddy, O, true)
#define WALLS(L, l, S, s)                                                                                              \
    extern "C" __global__ void __launch_bounds__(SPECIAL)                                                              \
        walls_##l##_##s(LEVEL_PARAMETERS, const uint32_t* walled, const uint64_t* stepped, const S* __restrict__ from, \
                        S* __restrict__ to) {                                                                          \
        add_walls<L, S>(LEVEL, walled, stepped, from, to);                                                             \
    }
#define EACH(L, l, S, s)                                                                                               \
    OPERATOR(L, l, S, s, trt, Trt) OPERATOR(L, l, S, s, regularized, Regularized) WALLS(L, l, S, s)
EACH_LATTICE(EACH)
#if CUTLINK_D == 2
#define MORE(S, s) OPERATOR(D2Q9, d2q9, S, s, kbc, Kbc)
#else
#define MORE(S, s) OPERATOR(D3Q27, d3q27, S, s, cumulant, Cumulant) OPERATOR(D3Q27, d3q27, S, s, kbc, Kbc)
#endif
MORE(__half, f16)
MORE(float, f32)
MORE(double, f64)
