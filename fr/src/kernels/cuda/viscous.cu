// Viscous fluxes by the local discontinuous Galerkin method: `viscous.rs`, which has the order of operations.

#include "columns.cuh"
#include "linear.cuh"
#include "tensor.cuh"
#include "walls.cuh"

// Velocity by axis, then p / ρ.
template <typename T>
__device__ __forceinline__ void variables(T gamma, const T (&u)[V], T (&out)[G]) {
    const T inverse = T(1) / u[0];
    T square = u[1] * u[1];
    out[0] = u[1] * inverse;
#pragma unroll
    for (int a = 1; a < D; a++) {
        out[a] = u[1 + a] * inverse;
        square = mul_add(u[1 + a], u[1 + a], square);
    }
    const T kinetic = T(0.5) * (square * inverse);
    out[D] = (gamma - T(1)) * (u[1 + D] - kinetic) * inverse;
}

// What the kernel of viscous rates reads and writes. `slopes` are 2 / h of root elements, `conductivity` is over the gas
// constant.
template <typename T>
struct Viscous {
    const uint32_t* __restrict__ codes;
    const uint64_t* __restrict__ keys;
    uint32_t count;
    const T* __restrict__ traces;
    const T* __restrict__ states;
    const T* __restrict__ u;
    T* __restrict__ new_traces;
    T* __restrict__ rates;
    T gamma, viscosity, conductivity;
    Walls<T> walls;
    T* __restrict__ at_walls;
};

// The common velocity and p / ρ at a point of a leaf's face: of the side of lower coordinates, or what a wall holds.
template <bool WALLS, typename T, int Q>
__device__ __forceinline__ void common(const Viscous<T>& task, uint32_t leaf, int face, int point, T (&out)[G]) {
    using S = Shape<Q>;
    const uint32_t code = task.codes[leaf * FACES + face], kind = code >> FACE_ID_BITS, id = code & FACE_ID;
    if (kind == 0 || kind == FACE_OUTSIDE) {
        const bool is_own = kind == FACE_OUTSIDE || face % 2 == 1;
        const size_t trace = is_own ? static_cast<size_t>(leaf) * FACES + face : static_cast<size_t>(id) * FACES + face + 1;
        T u[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            u[v] = task.traces[trace * S::TRACE + v * S::FACE + point];
        }
        variables(task.gamma, u, out);
        if (WALLS && kind == FACE_OUTSIDE && id != 0) {
            const Wall<T> wall = task.walls.at(id - 1);
#pragma unroll
            for (int v = 0; v < G; v++) {
                const bool is_held = v < D ? wall.holds(v, face / 2) : wall.kind == ISOTHERMAL;
                out[v] = is_held ? wall.state[v] : out[v];
            }
        }
        return;
    }
    uint32_t slot = id, part = PARTS;
    if (kind >= FACE_COARSER) {
        slot = task.codes[id * FACES + (face ^ 1)] & FACE_ID;
        part = kind - FACE_COARSER;
    }
    const T* from = task.states + (static_cast<size_t>(slot) * SLOT_TRACES + part) * S::GRADIENT_TRACE + point;
#pragma unroll
    for (int v = 0; v < G; v++) {
        out[v] = from[v * S::FACE];
    }
}

// The same at both faces of an axis that is not the last, for the group.
template <bool WALLS, typename T, int Q>
__device__ __forceinline__ void meet_across(const Viscous<T>& task, uint32_t leaf, int axis, int point, T* shared) {
    using S = Shape<Q>;
#pragma unroll
    for (int face = 2 * axis; face < 2 * axis + 2; face++) {
        T values[G];
        common<WALLS, T, Q>(task, leaf, face, point, values);
#pragma unroll
        for (int v = 0; v < G; v++) {
            shared[face * S::GRADIENT_TRACE + v * S::FACE + point] = values[v];
        }
    }
}

// The viscous flux along an axis at a point, of the gradients by axis and variable.
template <typename T>
__device__ __forceinline__ void flux_along(int axis, T viscosity, T conductivity, const T (&gradients)[D][G],
                                           const T (&own)[G], T (&flux)[G]) {
    T divergence = gradients[0][0];
#pragma unroll
    for (int b = 1; b < D; b++) {
        divergence += gradients[b][b];
    }
    T energy = conductivity * gradients[axis][D];
#pragma unroll
    for (int v = 0; v < D; v++) {
        const T other = gradients[axis][v] + gradients[v][axis];
        const T strain = v == axis ? mul_add(T(-2.0 / 3.0), divergence, other) : other;
        flux[v] = viscosity * strain;
        energy = mul_add(flux[v], own[v], energy);
    }
    flux[D] = energy;
}

// A thread has a column, as in `advance.cu`. Velocity and p / ρ of the group are in shared memory, then the fluxes.
template <bool WALLS, typename T, int Q>
__device__ __forceinline__ void rates(const Viscous<T>& task, const ByAxis<T>& root, const Matrices<T, Q>& matrices,
                                      const Known<T, Q>& known) {
    using S = Shape<Q>;
    constexpr int CROSS = D - 1;
    constexpr int MEETING = 2 * CROSS * S::GRADIENT_TRACE;
    constexpr int ONE = S::template padded<T>(S::RATES + MEETING + CROSS * S::RATES);
    __shared__ T memory[S::PER_BLOCK][ONE];
    const Place<Q> place(task.count);
    const bool is_on = place.is_on && !(WALLS && task.codes[static_cast<size_t>(place.item) * FACES] == REMOVED);
    const unsigned group = __ballot_sync(~0u, is_on);
    if (!is_on) {
        return;
    }
    T* const values = memory[place.group];
    T* const meeting = values + S::RATES;
    T* const fluxes = meeting + MEETING;
    const uint32_t leaf = place.item;
    const int point = place.point, x = point % Q, y = point / Q;

    T own[Q][G];
#pragma unroll
    for (int k = 0; k < Q; k++) {
        T u[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            u[v] = task.u[static_cast<size_t>(leaf) * S::ELEMENT + v * S::NODES + k * S::FACE + point];
        }
        variables(task.gamma, u, own[k]);
#pragma unroll
        for (int v = 0; v < G; v++) {
            values[v * S::NODES + place_of<Q>(point, k)] = own[k][v];
        }
    }
    meet_across<WALLS, T, Q>(task, leaf, 0, point, meeting);
    if (D == 3) {
        meet_across<WALLS, T, Q>(task, leaf, CROSS - 1, point, meeting);
    }
    T ends[2][G];
    common<WALLS, T, Q>(task, leaf, 2 * CROSS, point, ends[0]);
    common<WALLS, T, Q>(task, leaf, 2 * CROSS + 1, point, ends[1]);
    __syncwarp(group);

    const T scale = static_cast<T>(1u << level_of(task.keys[leaf]));
    const Row<T, Q> row_x(matrices, x), row_y(matrices, D == 3 ? y : x);
    T along[Q][G];
#pragma unroll
    for (int k = 0; k < Q; k++) {
        T gradients[D][G];
#pragma unroll
        for (int v = 0; v < G; v++) {
#pragma unroll
            for (int a = 0; a < CROSS; a++) {
                const Row<T, Q>& row = a == 0 ? row_x : row_y;
                const int f = D == 2 ? k : (a == 0 ? y : x) + Q * k;
                const T* ends_here = meeting + 2 * a * S::GRADIENT_TRACE + v * S::FACE + f;
                T sum = row.correction[0] * ends_here[0];
                sum = mul_add(row.correction[1], ends_here[S::GRADIENT_TRACE], sum);
#pragma unroll
                for (int j = 0; j < Q; j++) {
                    const int there = D == 2 ? j : a == 0 ? y * Q + j : j * Q + x;
                    sum = mul_add(row.divergence[j], values[v * S::NODES + place_of<Q>(there, k)], sum);
                }
                gradients[a][v] = mul_add(root.v[a] * scale, sum, T(0));
            }
            T sum = known.correction(0, k) * ends[0][v];
            sum = mul_add(known.correction(1, k), ends[1][v], sum);
#pragma unroll
            for (int j = 0; j < Q; j++) {
                sum = mul_add(known.divergence(k, j), own[j][v], sum);
            }
            gradients[CROSS][v] = mul_add(root.v[CROSS] * scale, sum, T(0));
        }
#pragma unroll
        for (int a = 0; a < CROSS; a++) {
            T flux[G];
            flux_along(a, task.viscosity, task.conductivity, gradients, own[k], flux);
#pragma unroll
            for (int v = 0; v < G; v++) {
                fluxes[a * S::RATES + v * S::NODES + place_of<Q>(point, k)] = flux[v];
            }
        }
        flux_along(CROSS, task.viscosity, task.conductivity, gradients, own[k], along[k]);
    }
    __syncwarp(group);

    T* const trace = task.new_traces + static_cast<size_t>(leaf) * (D * S::GRADIENT_TRACE) + point;
    T* const rate = task.rates + static_cast<size_t>(leaf) * S::RATES + point;
#pragma unroll
    for (int v = 0; v < G; v++) {
#pragma unroll
        for (int k = 0; k < Q; k++) {
            T value = T(0);
#pragma unroll
            for (int a = 0; a < CROSS; a++) {
                const Row<T, Q>& row = a == 0 ? row_x : row_y;
                const T* line = fluxes + a * S::RATES + v * S::NODES;
                T sum = T(0);
#pragma unroll
                for (int j = 0; j < Q; j++) {
                    const T there = line[place_of<Q>(D == 2 ? j : a == 0 ? y * Q + j : j * Q + x, k)];
                    sum = j == 0 ? row.divergence[0] * there : mul_add(row.divergence[j], there, sum);
                }
                value = mul_add(root.v[a] * scale, sum, value);
            }
            T sum = known.divergence(k, 0) * along[0][v];
#pragma unroll
            for (int j = 1; j < Q; j++) {
                sum = mul_add(known.divergence(k, j), along[j][v], sum);
            }
            rate[v * S::NODES + k * S::FACE] = mul_add(root.v[CROSS] * scale, sum, value);
        }
#pragma unroll
        for (int a = 0; a < D; a++) {
            T sum = T(0);
#pragma unroll
            for (int j = 0; j < Q; j++) {
                const T there = a == CROSS
                                    ? along[j][v]
                                    : fluxes[a * S::RATES + v * S::NODES +
                                             place_of<Q>(on_line<Q>(a, point, j), height_of<Q>(point))];
                sum = j == 0 ? known.edge(0, 0) * there : mul_add(known.edge(0, j), there, sum);
            }
            trace[a * S::GRADIENT_TRACE + v * S::FACE] = sum;
        }
    }
    if (WALLS) {
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll 1
            for (int upper = 0; upper < 2; upper++) {
                const uint32_t code = task.codes[static_cast<size_t>(leaf) * FACES + 2 * a + upper], id = code & FACE_ID;
                if (code >> FACE_ID_BITS != FACE_OUTSIDE || id == 0) {
                    continue;
                }
                T* const out = task.at_walls + static_cast<size_t>(id - 1) * S::GRADIENT_TRACE + point;
                T sums[G];
#pragma unroll
                for (int j = 0; j < Q; j++) {
                    // Of a point of the line: stresses, and the conducted heat in place of the energy.
                    T there[G];
                    const int at = a == CROSS ? 0 : place_of<Q>(on_line<Q>(a, point, j), height_of<Q>(point));
#pragma unroll
                    for (int v = 0; v < G; v++) {
                        there[v] = a == CROSS ? along[j][v] : fluxes[a * S::RATES + v * S::NODES + at];
                    }
#pragma unroll
                    for (int v = 0; v < D; v++) {
                        const T velocity = a == CROSS ? own[j][v] : values[v * S::NODES + at];
                        there[D] = mul_add(-there[v], velocity, there[D]);
                    }
                    const T edge = matrices.edge(upper)[j];
#pragma unroll
                    for (int v = 0; v < G; v++) {
                        sums[v] = j == 0 ? edge * there[v] : mul_add(edge, there[v], sums[v]);
                    }
                }
#pragma unroll
                for (int v = 0; v < G; v++) {
                    out[v * S::FACE] = sums[v];
                }
            }
        }
    }
}

// A group has a hanging face: common velocities and p / ρ at the points of its sub-faces, and projected to the coarse side.
template <typename T, int Q>
__device__ void common_states(const uint32_t* slots, const uint32_t* hanging, uint32_t count, const T* traces, T gamma,
                              Matrices<T, Q> matrices, T* out) {
    using S = Shape<Q>;
    constexpr int ONE = S::template padded<T>(2 * S::TRACE + 2 * S::GRADIENT_TRACE);
    __shared__ T memory[S::PER_BLOCK][ONE];
    const Place<Q> place(count);
    const unsigned group = __ballot_sync(~0u, place.is_on);
    if (!place.is_on) {
        return;
    }
    T* coarse = memory[place.group];
    T* rows = coarse + S::TRACE;
    T* common = rows + S::TRACE;
    T* common_rows = common + S::GRADIENT_TRACE;
    const uint32_t slot = place.item, at = slots[slot];
    const int point = place.point, face = static_cast<int>(at % FACES), i = point % Q, b = point / Q;
    T* to = out + static_cast<size_t>(slot) * (SLOT_TRACES * S::GRADIENT_TRACE) + point;
#pragma unroll
    for (int v = 0; v < V; v++) {
        coarse[v * S::FACE + point] = traces[static_cast<size_t>(at) * S::TRACE + v * S::FACE + point];
    }
    __syncwarp(group);
    T whole[G];
#pragma unroll 1
    for (int part = 0; part < PARTS; part++) {
        const uint32_t other = hanging[slot * PARTS + part];
        const T* beyond = traces + (static_cast<size_t>(other) * FACES + (face ^ 1)) * S::TRACE + point;
        const int first = part & 1, second = part >> 1;
        // The trace of the lower side. All groups of a warp take this path, so that they wait together.
        T low[V], values[G];
        tensor<Q>(group, matrices.half(first, i), matrices.half(second, b), coarse, rows, point, low);
#pragma unroll
        for (int v = 0; v < V; v++) {
            if (face % 2 == 0) {
                low[v] = beyond[v * S::FACE];
            }
        }
        variables(gamma, low, values);
#pragma unroll
        for (int v = 0; v < G; v++) {
            to[part * S::GRADIENT_TRACE + v * S::FACE] = values[v];
            common[v * S::FACE + point] = values[v];
        }
        __syncwarp(group);
        tensor<Q>(group, matrices.projection(first, i), matrices.projection(second, b), common, common_rows, point, values);
#pragma unroll
        for (int v = 0; v < G; v++) {
            whole[v] = part > 0 ? whole[v] + values[v] : values[v];
        }
    }
#pragma unroll
    for (int v = 0; v < G; v++) {
        to[PARTS * S::GRADIENT_TRACE + v * S::FACE] = whole[v];
    }
}

#define RATES(NAME, WALLS, T, Q)                                                                                              \
    extern "C" __global__ __launch_bounds__(THREADS) void NAME##_##T##_##Q(                                                   \
        const uint32_t* codes, const uint64_t* keys, uint32_t count, const T* traces, const T* states, const T* u,            \
        T* new_traces, T* out, T gamma, T viscosity, T conductivity, const ByAxis<T> slopes, const T* matrices,                \
        const uint32_t* wall_kinds, const T* wall_states, T* at_walls, const __grid_constant__ Sixteen<T> a,                  \
        const __grid_constant__ Sixteen<T> b, const __grid_constant__ Sixteen<T> c) {                                         \
        const Viscous<T> task{codes, keys, count, traces, states, u, new_traces, out, gamma, viscosity, conductivity,         \
                              {wall_kinds, wall_states}, at_walls};                                                           \
        rates<WALLS, T, Q>(task, slopes, Matrices<T, Q>{matrices}, Known<T, Q>{a, b, c});                                     \
    }

#define VISCOUS(T, Q)                                                                                                         \
    RATES(viscous_rates, false, T, Q)                                                                                         \
    RATES(viscous_rates_walls, true, T, Q)                                                                                    \
    extern "C" __global__ __launch_bounds__(THREADS) void common_states_##T##_##Q(                                            \
        const uint32_t* slots, const uint32_t* hanging, uint32_t count, const T* traces, T gamma, const T* matrices, T* out) { \
        common_states<T, Q>(slots, hanging, count, traces, gamma, Matrices<T, Q>{matrices}, out);                             \
    }

VISCOUS(float, 2)
VISCOUS(float, 3)
VISCOUS(float, 4)
VISCOUS(float, 5)
VISCOUS(double, 2)
VISCOUS(double, 3)
VISCOUS(double, 4)
VISCOUS(double, 5)
