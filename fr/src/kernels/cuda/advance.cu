// A stage of all elements, the traces of a state, and its fastest wave: `advance.rs`, which has the order of operations.
//
// A thread has a column of points along the last axis in registers. Along the others it meets the points of its group in
// shared memory, three times a stage: fluxes and common fluxes, room for the new state, the new state for its traces.

#include "columns.cuh"
#include "linear.cuh"
#include "riemann.cuh"

// Everything that a stage reads. `rates` are 2 / h of root elements times the time of the stage.
template <typename T>
struct Stage {
    const uint32_t* __restrict__ codes;
    const uint64_t* __restrict__ keys;
    uint32_t count;
    const T* __restrict__ traces;
    const T* __restrict__ mortars;
    const T* __restrict__ far_field;
    const T* __restrict__ viscous_traces;
    const T* __restrict__ viscous_rates;
    const T* __restrict__ walls;
    const T* from;
    const T* __restrict__ start;
    T* to;
    T* __restrict__ new_traces;
    T gamma, keep, time;
};

// What lies beyond a face, at a point: another trace with the viscous flux of a viscous flow, or a common flux that is there
// already.
template <typename T>
struct Beyond {
    const T* from;
    const T* viscous;
    bool is_flux;
};

template <bool VISCOUS, int Q, typename T>
__device__ __forceinline__ Beyond<T> beyond(const Stage<T>& stage, uint32_t leaf, int face) {
    using S = Shape<Q>;
    const uint32_t code = stage.codes[leaf * FACES + face], kind = code >> FACE_ID_BITS, id = code & FACE_ID;
    if (kind == 0) {
        const T* viscous = nullptr;
        if (VISCOUS) {
            const uint32_t above = face % 2 == 1 ? id : leaf;
            viscous = stage.viscous_traces + (static_cast<size_t>(above) * D + face / 2) * S::GRADIENT_TRACE;
        }
        return {stage.traces + (static_cast<size_t>(id) * FACES + (face ^ 1)) * S::TRACE, viscous, false};
    }
    if (kind == FACE_OUTSIDE) {
        if (id != 0) {
            return {stage.walls + static_cast<size_t>(id - 1) * S::WALL, nullptr, true};
        }
        return {stage.far_field, nullptr, false};
    }
    uint32_t slot = id, part = PARTS;
    if (kind >= FACE_COARSER) {
        slot = stage.codes[id * FACES + (face ^ 1)] & FACE_ID;
        part = kind - FACE_COARSER;
    }
    return {stage.mortars + (static_cast<size_t>(slot) * SLOT_TRACES + part) * S::TRACE, nullptr, true};
}

// The common flux at a point of a face.
template <bool VISCOUS, int A, int Q, typename T>
__device__ __forceinline__ void common(T gamma, int upper, const Beyond<T>& other, int point, const T (&own)[V],
                                       T (&flux)[V]) {
    T there[V];
#pragma unroll
    for (int v = 0; v < V; v++) {
        there[v] = other.from[v * Shape<Q>::FACE + point];
    }
    if (other.is_flux) {
#pragma unroll
        for (int v = 0; v < V; v++) {
            flux[v] = there[v];
        }
    } else if (upper) {
        rusanov<A>(gamma, own, there, flux);
    } else {
        rusanov<A>(gamma, there, own, flux);
    }
    if (VISCOUS && other.viscous != nullptr) {
#pragma unroll
        for (int v = 0; v < G; v++) {
            flux[1 + v] -= other.viscous[v * Shape<Q>::FACE + point];
        }
    }
}

// Common fluxes along axis A, which is not the last, for the group.
template <bool VISCOUS, int A, int Q, typename T>
__device__ __forceinline__ void meet_across(const Stage<T>& stage, uint32_t leaf, int point, T* shared) {
    using S = Shape<Q>;
#pragma unroll
    for (int upper = 0; upper < 2; upper++) {
        const int face = 2 * A + upper;
        const T* trace = stage.traces + (static_cast<size_t>(leaf) * FACES + face) * S::TRACE;
        const Beyond<T> other = beyond<VISCOUS, Q>(stage, leaf, face);
        T own[V], flux[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            own[v] = trace[v * S::FACE + point];
        }
        common<VISCOUS, A, Q>(stage.gamma, upper, other, point, own, flux);
#pragma unroll
        for (int v = 0; v < V; v++) {
            shared[face * S::TRACE + v * S::FACE + point] = flux[v];
        }
    }
}

template <bool VISCOUS, typename T, int Q>
__device__ __forceinline__ void advance(const Stage<T>& stage, const ByAxis<T>& rates, const Matrices<T, Q>& matrices,
                                        const Known<T, Q>& known) {
    using S = Shape<Q>;
    constexpr int CROSS = D - 1;
    constexpr int FLUXES = CROSS * S::ELEMENT;
    constexpr int ONE = S::template padded<T>(FLUXES + 2 * CROSS * S::TRACE);
    __shared__ T memory[S::PER_BLOCK][ONE];
    const Place<Q> place(stage.count);
    // A removed element stays as it is.
    const bool is_removed = place.is_on && stage.codes[static_cast<size_t>(place.item) * FACES] == REMOVED;
    const unsigned group = __ballot_sync(~0u, place.is_on && !is_removed);
    if (is_removed && stage.to != stage.from) {
        for (int i = place.point; i < S::ELEMENT; i += S::FACE) {
            const size_t at = static_cast<size_t>(place.item) * S::ELEMENT + i;
            stage.to[at] = stage.from[at];
        }
    }
    if (!place.is_on || is_removed) {
        return;
    }
    T* const fluxes = memory[place.group];
    T* const meeting = fluxes + FLUXES;
    const uint32_t leaf = place.item;
    const int point = place.point;
    const size_t base = static_cast<size_t>(leaf) * S::ELEMENT + point;

    T u[V][Q];
#pragma unroll
    for (int v = 0; v < V; v++) {
#pragma unroll
        for (int k = 0; k < Q; k++) {
            u[v][k] = stage.from[base + v * S::NODES + k * S::FACE];
        }
    }

    meet_across<VISCOUS, 0, Q>(stage, leaf, point, meeting);
    if (D == 3) {
        meet_across<VISCOUS, CROSS - 1, Q>(stage, leaf, point, meeting);
    }
    // Along the last axis a point of a face is this thread's alone.
    T ends[2][V];
#pragma unroll
    for (int upper = 0; upper < 2; upper++) {
        const Beyond<T> other = beyond<VISCOUS, Q>(stage, leaf, 2 * CROSS + upper);
        T own[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            own[v] = known.edge(upper, 0) * u[v][0];
#pragma unroll
            for (int j = 1; j < Q; j++) {
                own[v] = mul_add(known.edge(upper, j), u[v][j], own[v]);
            }
        }
        common<VISCOUS, CROSS, Q>(stage.gamma, upper, other, point, own, ends[upper]);
    }

    T pressure[Q], up[Q];
#pragma unroll
    for (int k = 0; k < Q; k++) {
        const T inverse = T(1) / u[0][k];
        T square = u[1][k] * u[1][k];
#pragma unroll
        for (int a = 1; a < D; a++) {
            square = mul_add(u[1 + a][k], u[1 + a][k], square);
        }
        const T kinetic = T(0.5) * (square * inverse);
        pressure[k] = (stage.gamma - T(1)) * (u[1 + D][k] - kinetic);
        up[k] = u[D][k] * inverse;
        const int at = place_of<Q>(point, k);
#pragma unroll
        for (int a = 0; a < CROSS; a++) {
            const T velocity = u[1 + a][k] * inverse;
            T* to = fluxes + a * S::ELEMENT + at;
            to[0] = u[1 + a][k];
#pragma unroll
            for (int v = 1; v <= D; v++) {
                const T flux = u[v][k] * velocity;
                to[v * S::NODES] = v == 1 + a ? flux + pressure[k] : flux;
            }
            to[(1 + D) * S::NODES] = (u[1 + D][k] + pressure[k]) * velocity;
        }
    }
    __syncwarp(group);

    const int x = point % Q, y = point / Q;
    const T scale = static_cast<T>(1u << level_of(stage.keys[leaf]));
    const Row<T, Q> row_x(matrices, x), row_y(matrices, D == 3 ? y : x);
    const bool has_start = stage.keep != T(0);
    T next[V][Q];
#pragma unroll
    for (int v = 0; v < V; v++) {
        T along[Q];
#pragma unroll
        for (int k = 0; k < Q; k++) {
            const T flux = u[v][k] * up[k];
            along[k] = v == 0 ? u[D][k] : v == D ? flux + pressure[k] : v == 1 + D ? (u[v][k] + pressure[k]) * up[k] : flux;
        }
#pragma unroll
        for (int k = 0; k < Q; k++) {
            const size_t at = base + v * S::NODES + k * S::FACE;
            T value = u[v][k];
            if (has_start) {
                value = mul_add(stage.keep, stage.start[at] - value, value);
            }
            if (VISCOUS && v > 0) {
                const size_t rate = static_cast<size_t>(leaf) * S::RATES + (v - 1) * S::NODES + k * S::FACE + point;
                value = mul_add(stage.time, stage.viscous_rates[rate], value);
            }
#pragma unroll
            for (int a = 0; a < CROSS; a++) {
                const Row<T, Q>& row = a == 0 ? row_x : row_y;
                const T* line = fluxes + a * S::ELEMENT + v * S::NODES;
                const int f = D == 2 ? k : (a == 0 ? y : x) + Q * k;
                const T* ends_here = meeting + 2 * a * S::TRACE + v * S::FACE + f;
                T sum = row.correction[0] * ends_here[0];
                sum = mul_add(row.correction[1], ends_here[S::TRACE], sum);
#pragma unroll
                for (int j = 0; j < Q; j++) {
                    const int there = D == 2 ? j : a == 0 ? y * Q + j : j * Q + x;
                    sum = mul_add(row.divergence[j], line[place_of<Q>(there, k)], sum);
                }
                value = mul_add(-(rates.v[a] * scale), sum, value);
            }
            T sum = known.correction(0, k) * ends[0][v];
            sum = mul_add(known.correction(1, k), ends[1][v], sum);
#pragma unroll
            for (int j = 0; j < Q; j++) {
                sum = mul_add(known.divergence(k, j), along[j], sum);
            }
            value = mul_add(-(rates.v[CROSS] * scale), sum, value);
            stage.to[at] = value;
            next[v][k] = value;
        }
    }
    __syncwarp(group);

    T* const new_traces = stage.new_traces + static_cast<size_t>(leaf) * (FACES * S::TRACE) + point;
#pragma unroll
    for (int v = 0; v < V; v++) {
#pragma unroll
        for (int k = 0; k < Q; k++) {
            fluxes[v * S::NODES + place_of<Q>(point, k)] = next[v][k];
        }
#pragma unroll
        for (int upper = 0; upper < 2; upper++) {
            T sum = known.edge(upper, 0) * next[v][0];
#pragma unroll
            for (int j = 1; j < Q; j++) {
                sum = mul_add(known.edge(upper, j), next[v][j], sum);
            }
            new_traces[(2 * CROSS + upper) * S::TRACE + v * S::FACE] = sum;
        }
    }
    __syncwarp(group);
#pragma unroll
    for (int v = 0; v < V; v++) {
#pragma unroll
        for (int a = 0; a < CROSS; a++) {
            T line[Q];
#pragma unroll
            for (int j = 0; j < Q; j++) {
                line[j] = fluxes[v * S::NODES + place_of<Q>(on_line<Q>(a, point, j), height_of<Q>(point))];
            }
#pragma unroll
            for (int upper = 0; upper < 2; upper++) {
                T sum = known.edge(upper, 0) * line[0];
#pragma unroll
                for (int j = 1; j < Q; j++) {
                    sum = mul_add(known.edge(upper, j), line[j], sum);
                }
                new_traces[(2 * a + upper) * S::TRACE + v * S::FACE] = sum;
            }
        }
    }
}

// One thread a number of the traces.
template <typename T, int Q>
__device__ void traces(const T* u, uint64_t count, const T* matrices, T* out) {
    constexpr uint64_t ONE = FACES * Shape<Q>::TRACE;
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) {
        out[n] = trace_of<T, Q>(u + n / ONE * Shape<Q>::ELEMENT, static_cast<int>(n % ONE), matrices);
    }
}

// One thread a point: the largest of Σ (|v_a| + c) / h_a + diffusion / ρ 4^level, infinite where a state is no flow, but
// for removed elements. Numbers that are not negative are
// ordered as their bits.
template <typename T, int Q>
__device__ void wave_rate(const T* u, const uint64_t* keys, const uint32_t* codes, uint64_t count, double gamma, ByAxis<double> edges,
                          double diffusion, unsigned long long* largest) {
    using S = Shape<Q>;
    const uint64_t n = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned long long bits = 0;
    if (n < count && codes[n / S::NODES * FACES] != REMOVED) {
        const uint64_t leaf = n / S::NODES;
        const T* of = u + leaf * S::ELEMENT + n % S::NODES;
        const double density = of[0];
        double velocity[D], square = 0;
        for (int a = 0; a < D; a++) {
            velocity[a] = static_cast<double>(of[(1 + a) * S::NODES]) / density;
            square += velocity[a] * velocity[a];
        }
        const double kinetic = 0.5 * square * density;
        const double pressure = (gamma - 1.0) * (static_cast<double>(of[(1 + D) * S::NODES]) - kinetic);
        const double sound = root_of(gamma * pressure / density);
        double rate = 0;
        for (int a = 0; a < D; a++) {
            rate += (magnitude(velocity[a]) + sound) / edges.v[a];
        }
        const double scale = static_cast<double>(1u << level_of(keys[leaf]));
        rate = rate * scale + diffusion / density * (scale * scale);
        const bool is_flow = isfinite(rate) && density > 0;
        bits = static_cast<unsigned long long>(__double_as_longlong(is_flow ? rate : INFINITY));
    }
    for (int step = 16; step > 0; step /= 2) {
        const unsigned long long other = __shfl_down_sync(~0u, bits, step);
        bits = other > bits ? other : bits;
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(largest, bits);
    }
}

#define ADVANCE(NAME, VISCOUS, T, Q)                                                                                         \
    extern "C" __global__ __launch_bounds__(THREADS) void NAME##_##T##_##Q(                                                  \
        const uint32_t* codes, const uint64_t* keys, uint32_t count, const T* old_traces, const T* mortars,                  \
        const T* far_field, const T* viscous_traces, const T* viscous_rates, const T* walls, const T* from, const T* start,  \
        T* to, T* new_traces, T gamma, T keep, T time, const ByAxis<T> rates, const T* matrices,                              \
        const __grid_constant__ Sixteen<T> a, const __grid_constant__ Sixteen<T> b,                                          \
        const __grid_constant__ Sixteen<T> c) {                                                                              \
        const Stage<T> stage{codes, keys, count, old_traces, mortars,    far_field, viscous_traces, viscous_rates,             \
                             walls, from, start, to,         new_traces, gamma,     keep,           time};                   \
        advance<VISCOUS, T, Q>(stage, rates, Matrices<T, Q>{matrices}, Known<T, Q>{a, b, c});                                \
    }

#define STAGES(T, Q)                                                                                                         \
    ADVANCE(advance, false, T, Q)                                                                                            \
    ADVANCE(advance_viscous, true, T, Q)                                                                                     \
    extern "C" __global__ void traces_##T##_##Q(const T* u, uint64_t count, const T* matrices, T* out) {                     \
        traces<T, Q>(u, count, matrices, out);                                                                               \
    }                                                                                                                        \
    extern "C" __global__ void wave_rate_##T##_##Q(const T* u, const uint64_t* keys, const uint32_t* codes, uint64_t count,  \
                                                   double gamma, ByAxis<double> edges, double diffusion,                     \
                                                   unsigned long long* largest) {                                            \
        wave_rate<T, Q>(u, keys, codes, count, gamma, edges, diffusion, largest);                                            \
    }

STAGES(float, 2)
STAGES(float, 3)
STAGES(float, 4)
STAGES(float, 5)
STAGES(double, 2)
STAGES(double, 3)
STAGES(double, 4)
STAGES(double, 5)
