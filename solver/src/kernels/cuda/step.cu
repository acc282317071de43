// Streaming (pull) and collision of a level: one thread a cell.

#include "balance.cuh"
#include "closure.cuh"
#include "cumulant.cuh"
#include "faces.cuh"
#include "kbc.cuh"
#include "kept.cuh"
#include "trt.cuh"

// Threads of a block of `faced`.
constexpr int FACED = D == 2 ? FACED_2D : FACED_3D;
// Thread blocks on a multiprocessor: of 70 registers a thread, 64 do without spilling.
template <class L, class S>
constexpr int FACED_AT_ONCE = sizeof(Real<S>) == 4 && L::Q == 19 ? 16 : 1;

// Collides a cell whose stress is known if it is needed; with EDDY there is an eddy viscosity. Returns the rate of even parts.
template <class L, class O, bool EDDY, class T>
__device__ __forceinline__ T collide(const Relaxation<T>& relax, Fluid<T>& fluid, T (&f)[L::Q]) {
    if (EDDY) {
        const Relaxation<T> rates = rates_of(relax, tau_of_stress(relax, fluid));
        O::template relax<L>(rates, fluid, f);
        return rates.even;
    }
    O::template relax<L>(relax, fluid, f);
    return relax.even;
}

// Stores what the collision of a cell with this rate has left, where KEEPS: slots that keep it read it of the cells beside
// them.
template <bool KEEPS, class T>
__device__ __forceinline__ void keep(T even, const Fluid<T>& fluid, uint32_t slot, int cell, T* kept) {
#if CUTLINK_D == 3
    if constexpr (KEEPS) {
        Fluid<T> left = fluid;
#pragma unroll
        for (int n = 0; n < PAIRS; n++) {
            left.stress[n] *= T(1) - even;
        }
        store_kept(kept, slot, cell, left);
    }
#endif
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
        out[q * CELLS] = narrow_for<S>(relax, f[q], q, at.cell());
    }
}

// Slots at one face of the box, with nothing but fluid of their level in them and around them: one thread block each. First the
// moments that ghost cells take, then the populations that enter, shared by all threads; of openings those along the normal come
// last, which take the others into account. Then the step.
template <class L, class S, class O, bool EDDY, bool KEEPS>
__device__ __forceinline__ void step_faced(const Level& level, const uint32_t* faced,
                                           const Relaxation<Real<S>>& relax, const S* __restrict__ from,
                                           S* __restrict__ to, Real<S>* __restrict__ kept) {
    using T = Real<S>;
    constexpr int SIDE = CELLS / 4, CENTER = DIRECTIONS / 2;
    __shared__ Layer<T> layer;
    __shared__ uint32_t around[DIRECTIONS];
    __shared__ T entered[L::Q * SIDE];
    __shared__ uint8_t entering[L::Q];
    const uint32_t slot = faced[blockIdx.x];
    const int own = threadIdx.x;
    for (int i = own; i < DIRECTIONS; i += FACED) {
        around[i] = level.neighbors[static_cast<size_t>(slot) * DIRECTIONS + i];
    }
    __syncthreads();
    int axis = 0, outward = 1;
#pragma unroll
    for (int a = 0, stride = 1; a < D; a++, stride *= 3) {
        const bool below = around[CENTER - stride] == OUTSIDE, above = around[CENTER + stride] == OUTSIDE;
        axis = below || above ? a : axis;
        outward = below ? -1 : outward;
    }
    const Rule& rule = level.rules[2 * axis + (outward > 0)];
    // A cell of the layer at the face, or beside it where there are 6 of them along each other axis, from -1 on.
    const auto in_layer = [&](int n, int width, int first, int (&x)[D]) {
        for (int a = 0; a < D; a++) {
            x[a] = outward > 0 ? 3 : 0;
            if (a != axis) {
                x[a] = n % width + first;
                n /= width;
            }
        }
    };
    if (own == 0) {
        layer.axis = axis;
    }
    const View<L, S, Layer<T>> view{level, from, &layer};
    const bool takes = rule.kind == WALL ? rule.moves() : rule.kind != SLIP;
    for (int i = own; takes && i < Layer<T>::PLACES; i += FACED) {
        int x[D];
        in_layer(i, 6, -1, x);
        T u[D];
        layer.values[i] = view.template velocity_of<L::Q>(level.next(At(slot, 0), x), u);
        for (int a = 0; a < D; a++) {
            layer.values[(1 + a) * Layer<T>::PLACES + i] = u[a];
        }
    }
    if (own < 32) {
        const bool enters = own < L::Q && L::c(own < L::Q ? own : 0, axis) == -outward;
        const uint32_t all = __ballot_sync(~0u, enters);
        if (enters) {
            entering[__popc(all & ((1u << own) - 1))] = static_cast<uint8_t>(own);
        }
    }
    __syncthreads();
    constexpr int ENTERING = L::Q == 9 ? 3 : L::Q == 19 ? 5 : 9;
#pragma unroll 1
    for (int i = own; i < ENTERING * SIDE; i += FACED) {
        const int q = entering[i / SIDE];
        At at(slot, 0);
        in_layer(i % SIDE, 4, 0, at.x);
        entered[q * SIDE + i % SIDE] = one_face<L>(view, rule, axis, outward, at, q);
    }
    __syncthreads();
    if (own < SIDE && (rule.kind == OUTFLOW || rule.kind == PRESSURE)) {
        At at(slot, 0);
        in_layer(own, 4, 0, at.x);
        int normal[D];
        for (int a = 0; a < D; a++) {
            normal[a] = a == axis ? -outward : 0;
        }
        const int here[D] = {}, straight = velocity_with<L>(normal);
        T others = T(0);
#pragma unroll 1
        for (int n = 0; n < ENTERING; n++) {
            others += entering[n] == straight ? T(0) : entered[entering[n] * SIDE + own];
        }
        entered[straight * SIDE + own] =
            Entry<L, S, Layer<T>>{view, rule, axis, outward, straight, at, at, here}.balanced(others);
    }
    __syncthreads();
    if (own >= CELLS) {
        return;
    }
    const At at(slot, own);
    int place = 0;
    for (int a = D - 1; a >= 0; a--) {
        place = a == axis ? place : 4 * place + at.x[a];
    }
    T f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        int toward, cell;
        source<L>(at.x, q, toward, cell);
        const uint32_t next = around[toward];
        if (next == OUTSIDE) {
            f[q] = widen(narrow_for<S>(relax, entered[q * SIDE + place], q, own));
        } else {
            f[q] = widen(from[static_cast<size_t>(next) * (L::Q * CELLS) + q * CELLS + cell]);
        }
    }
    Fluid<T> fluid = fluid_of<L>(f, relax);
    if (O::READS_STRESS || EDDY) {
        add_stress<L>(f, fluid);
    }
    const T even = collide<L, O, EDDY>(relax, fluid, f);
    keep<KEEPS>(even, fluid, slot, own, kept);
    S* out = to + static_cast<size_t>(slot) * (L::Q * CELLS) + own;
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        out[q * CELLS] = narrow_for<S>(relax, f[q], q, own);
    }
}

// Collides a cell of a slot that may exchange with another level, and writes it. Slots below `exchanging` write transferred moments.
template <class L, class S, class O, bool EDDY, bool KEEPS>
__device__ __forceinline__ void finish(uint32_t slot, int own, uint32_t exchanging, const Relaxation<Real<S>>& relax,
                                       Real<S> (&f)[L::Q], S* to, Real<S>* __restrict__ moments,
                                       Real<S>* __restrict__ kept) {
    using T = Real<S>;
    Fluid<T> fluid = fluid_of<L>(f, relax);
    if (O::READS_STRESS || EDDY || slot < exchanging) {
        add_stress<L>(f, fluid);
    }
    if (slot < exchanging) {
        // The stress as the level's own viscosity would have it: a rate of strain in other units, which is continuous
        // where levels meet.
        const T share = EDDY ? relax.tau / tau_of_stress(relax, fluid) : T(1);
        T* row = moments + static_cast<size_t>(slot) * (EXCHANGED * CELLS) + own;
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
    const T even = collide<L, O, EDDY>(slot < exchanging ? relax.between_levels() : relax, fluid, f);
    keep<KEEPS>(even, fluid, slot, own, kept);
    S* out = to + static_cast<size_t>(slot) * (L::Q * CELLS) + own;
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        out[q * CELLS] = narrow_for<S>(relax, f[q], q, own);
    }
}

// Listed slots with fluid of their level around them, or another level.
template <class L, class S, class O, bool EDDY, bool KEEPS>
__device__ __forceinline__ void step_open(const uint32_t* neighbors, uint32_t slots, const uint32_t* list,
                                          uint32_t count, const uint64_t* stepped, uint32_t exchanging,
                                          const Relaxation<Real<S>>& relax, const S* __restrict__ from,
                                          S* __restrict__ to, Real<S>* __restrict__ moments,
                                          Real<S>* __restrict__ kept) {
    constexpr int GROUP = OPEN / CELLS;
    __shared__ uint32_t around[GROUP * DIRECTIONS];
    const uint32_t begin = blockIdx.x * GROUP;
    const uint32_t here = min(static_cast<uint32_t>(GROUP), count - begin);
    for (uint32_t i = threadIdx.x; i < here * DIRECTIONS; i += OPEN) {
        const size_t row = list[begin + i / DIRECTIONS];
        around[i] = neighbors[row * DIRECTIONS + i % DIRECTIONS];
    }
    const uint32_t place = threadIdx.x / CELLS;
    const int own = threadIdx.x % CELLS;
    const uint32_t slot = list[begin + min(place, here - 1)];
    const bool steps = place < here && (stepped[slot] >> own & 1);
    __syncthreads();
    if (!steps) {
        return;
    }
    const At at(slot, own);
    Real<S> f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        int toward, cell;
        source<L>(at.x, q, toward, cell);
        uint32_t next = around[place * DIRECTIONS + toward];
        if (next >= slots) {
            // The level ends here: these are the outer ghost cells, whose values are not used.
            next = slot;
            cell = own;
        }
        f[q] = widen(from[(static_cast<size_t>(next) * L::Q + q) * CELLS + cell]);
    }
    finish<L, S, O, EDDY, KEEPS>(slot, own, exchanging, relax, f, to, moments, kept);
}

// As `pull`; without AT_FACE only a cut link can be in the way.
template <class L, bool AT_FACE, class S>
__device__ __forceinline__ Real<S> pull_at(const View<L, S>& view, const At& at, int q, const Links& links) {
    if constexpr (AT_FACE) {
        return pull(view, at, q, links);
    }
    const int back = opposite(q);
    return view.returned(at, back, links.place(direction_of<L>(back)), links);
}

// A slot with cut links, edges of the box, or solid cells in it or around it: a thread block each. First the populations that
// walls reflect and faces let in, queued, so that all threads share them; so are the cells whose moments ghost cells take, once
// for all populations that need them. Then the step. Cells that are not stepped keep what `to` has. AT_FACE: the slots touch
// faces of the box; without it, everything that faces need is left out, which is most registers and half of the shared memory.
template <class L, class S, class O, bool EDDY, bool AT_FACE, bool KEEPS>
__device__ __forceinline__ void step_walled(const Level& level, const uint32_t* walled, const uint64_t* stepped,
                                            uint32_t exchanging, const Relaxation<Real<S>>& relax,
                                            const S* __restrict__ from, S* to,
                                            Real<S>* __restrict__ moments_of_cells, Real<S>* __restrict__ kept) {
    using T = Real<S>;
    __shared__ Moments<T> moments;
    __shared__ uint32_t around[DIRECTIONS];
    __shared__ uint64_t solids[DIRECTIONS];
    __shared__ Links links[CELLS];
    __shared__ uint16_t queue[CELLS * L::Q];
    __shared__ uint8_t inner[HALO];
    __shared__ uint32_t length, inners;
    const uint32_t slot = walled[blockIdx.x];
    const int own = threadIdx.x;
    if (own == 0) {
        length = inners = 0;
    }
    for (int i = own; i < DIRECTIONS; i += BOUNDED) {
        const uint32_t next = level.neighbors[static_cast<size_t>(slot) * DIRECTIONS + i];
        around[i] = next;
        solids[i] = next < level.slots ? level.solid[next] : 0;
    }
    for (int i = own; AT_FACE && i < sizeof(moments.known) / sizeof(moments.known[0]); i += BOUNDED) {
        moments.known[i] = 0;
    }
    const bool steps = own < CELLS && (stepped[slot] >> (own & (CELLS - 1)) & 1);
    const At at(slot, own & (CELLS - 1));
    const Links cut = steps ? level.links(at) : Links{0, 0};
    if (own < CELLS) {
        links[own] = cut;
    }
    __syncthreads();
    uint32_t back = 0;
    if (steps) {
#pragma unroll
        for (int q = 1; q < L::Q; q++) {
            int toward, cell;
            source<L>(at.x, q, toward, cell);
            const bool is_outside = AT_FACE && around[toward] == OUTSIDE;
            const bool is_reflected = is_outside || cut.cut(direction_of<L>(opposite(q)));
            back |= static_cast<uint32_t>(is_reflected) << q;
        }
        const Faces faces = AT_FACE ? Faces(level, at) : Faces();
        if (AT_FACE && faces.take_moments != 0) {
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
        for (uint32_t rest = back; rest != 0; rest &= rest - 1) {
            queue[place++] = static_cast<uint16_t>(own << 5 | (__ffs(rest) - 1));
        }
    }
    __syncthreads();
    const View<L, S> view{level, from, AT_FACE ? &moments : nullptr};
    for (uint32_t i = own; AT_FACE && i < inners; i += BOUNDED) {
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
    for (uint32_t i = own; i < length; i += BOUNDED) {
        const int q = queue[i] & 31, cell = queue[i] >> 5;
        // Where the collision reads it and puts the cell's new value: shared memory would be taken from the first-level cache.
        to[(static_cast<size_t>(slot) * L::Q + q) * CELLS + cell] =
            narrow_for<S>(relax, pull_at<L, AT_FACE>(view, At(slot, cell), q, links[cell]), q, cell);
    }
    __syncthreads();
    if (!steps) {
        return;
    }
    // Before the populations are read, which need the registers.
    T gain = T(0);
    if (relax.conserves != KEEPS_NONE && back != 0 && (cut.mask != 0 || (AT_FACE && ends_beside(level, at) > 1))) {
        const auto arrived = [&](int q) { return widen(to[(static_cast<size_t>(slot) * L::Q + q) * CELLS + own]); };
        gain = T(surplus(view, at, cut, back, relax.conserves, arrived));
    }
    T f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        if (back >> q & 1) {
            f[q] = widen(to[(static_cast<size_t>(slot) * L::Q + q) * CELLS + own]);
            continue;
        }
        int toward, cell, population = q;
        source<L>(at.x, q, toward, cell);
        uint32_t next = around[toward];
        if (next >= level.slots) {
            // As in `step_open`.
            next = slot;
            cell = own;
        } else if (solids[toward] >> cell & 1) {
            next = slot;
            cell = own;
            population = opposite(q);
        }
        f[q] = widen(from[(static_cast<size_t>(next) * L::Q + population) * CELLS + cell]);
    }
    f[0] -= gain;
    finish<L, S, O, EDDY, KEEPS>(slot, own, exchanging, relax, f, to, moments_of_cells, kept);
}

#define SPECIAL(L, l, S, s, NAME, O, EDDY, KEEPS)                                                                      \
    extern "C" __global__ void __launch_bounds__(FACED, FACED_AT_ONCE<L, S>)                                           \
        faced_##NAME##_##l##_##s(GivenLevel level, const uint32_t* faced, Relaxation<Real<S>> relax,                   \
                                 const S* __restrict__ from, S* __restrict__ to, Real<S>* __restrict__ kept) {         \
        step_faced<L, S, O, EDDY, KEEPS>(level, faced, relax, from, to, kept);                                         \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(OPEN)                                                                 \
        open_##NAME##_##l##_##s(const uint32_t* neighbors, uint32_t slots, const uint32_t* list, uint32_t count,       \
                                const uint64_t* stepped, uint32_t exchanging, Relaxation<Real<S>> relax,               \
                                const S* __restrict__ from, S* __restrict__ to, Real<S>* __restrict__ moments,         \
                                Real<S>* __restrict__ kept) {                                                          \
        step_open<L, S, O, EDDY, KEEPS>(neighbors, slots, list, count, stepped, exchanging, relax, from, to, moments,  \
                                        kept);                                                                         \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BOUNDED)                                                              \
        bounded_##NAME##_##l##_##s(GivenLevel level, const uint32_t* bounded, const uint64_t* stepped,                 \
                                   uint32_t exchanging, Relaxation<Real<S>> relax, const S* __restrict__ from,         \
                                   S* to, Real<S>* __restrict__ moments, Real<S>* __restrict__ kept) {                 \
        step_walled<L, S, O, EDDY, true, KEEPS>(level, bounded, stepped, exchanging, relax, from, to, moments, kept);  \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BOUNDED)                                                              \
        cut_##NAME##_##l##_##s(GivenLevel level, const uint32_t* cut, const uint64_t* stepped, uint32_t exchanging,    \
                               Relaxation<Real<S>> relax, const S* __restrict__ from, S* to,                           \
                               Real<S>* __restrict__ moments, Real<S>* __restrict__ kept) {                            \
        step_walled<L, S, O, EDDY, false, KEEPS>(level, cut, stepped, exchanging, relax, from, to, moments, kept);     \
    }
#define ENTRY(L, l, S, s, NAME, O, EDDY)                                                                               \
    extern "C" __global__ void __launch_bounds__(PLAIN)                                                                \
        plain_##NAME##_##l##_##s(const uint32_t* neighbors, uint32_t first, uint32_t slots, Relaxation<Real<S>> relax, \
                                 const S* __restrict__ from, S* __restrict__ to) {                                     \
        step_plain<L, S, O, EDDY>(neighbors, first, slots, relax, from, to);                                           \
    }                                                                                                                  \
    SPECIAL(L, l, S, s, NAME, O, EDDY, false)
#define OPERATOR(L, l, S, s, NAME, O) ENTRY(L, l, S, s, NAME, O, false) ENTRY(L, l, S, s, NAME##_eddy, O, true)
#define EACH(L, l, S, s) OPERATOR(L, l, S, s, trt, Trt) OPERATOR(L, l, S, s, regularized, Regularized)
EACH_LATTICE(EACH)
#if CUTLINK_D == 2
#define MORE(S, s) OPERATOR(D2Q9, d2q9, S, s, kbc, Kbc)
#else
#define MORE(S, s) OPERATOR(D3Q27, d3q27, S, s, cumulant, Cumulant) OPERATOR(D3Q27, d3q27, S, s, kbc, Kbc)
// Beside slots that keep 9 values a cell (`tiles.cu`).
SPECIAL(D3Q19, d3q19, float, f32, regularized_kept, Regularized, false, true)
SPECIAL(D3Q19, d3q19, float, f32, regularized_kept_eddy, Regularized, true, true)
SPECIAL(D3Q27, d3q27, float, f32, regularized_kept, Regularized, false, true)
SPECIAL(D3Q27, d3q27, float, f32, regularized_kept_eddy, Regularized, true, true)
#endif
MORE(__half, f16)
MORE(float, f32)
MORE(double, f64)
