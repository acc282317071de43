// The fluxes through walls: `walls.rs`, which has the order of operations.

#include "columns.cuh"
#include "linear.cuh"
#include "walls.cuh"

// One thread a point of a face with a wall.
template <typename T, int Q>
__device__ void walls(const uint32_t* faces, const Walls<T>& all, uint32_t count, const uint64_t* keys, const T* traces,
                      const T* viscous, bool is_viscous, T gamma, T viscosity, T conductivity, T penalty, const ByAxis<T>& slopes, T* out) {
    using S = Shape<Q>;
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count * S::FACE) {
        return;
    }
    const uint32_t slot = n / S::FACE, at = faces[slot];
    const int point = static_cast<int>(n % S::FACE), face = static_cast<int>(at % FACES), axis = face / 2;
    const Wall<T> wall = all.at(slot);
    T u[V];
#pragma unroll
    for (int v = 0; v < V; v++) {
        u[v] = traces[static_cast<size_t>(at) * S::TRACE + v * S::FACE + point];
    }
    const T inverse = T(1) / u[0];
    T square = u[1] * u[1];
#pragma unroll
    for (int a = 1; a < D; a++) {
        square = mul_add(u[1 + a], u[1 + a], square);
    }
    const T kinetic = T(0.5) * (square * inverse);
    const T pressure = (gamma - T(1)) * (u[1 + D] - kinetic);
    const T sound = root_of(gamma * pressure * inverse);
    T normal = u[1] * inverse;
#pragma unroll
    for (int a = 1; a < D; a++) {
        normal = a == axis ? u[1 + a] * inverse : normal;
    }
    const T into = face % 2 == 1 ? normal : -normal;
    const T speed = magnitude(into) + sound;
    const T on_wall = mul_add(u[0] * into, into + speed, pressure);
    T* const to = out + static_cast<size_t>(slot) * S::WALL + point;
    const T* const own = viscous + static_cast<size_t>(slot) * S::GRADIENT_TRACE + point;
    const T scale = static_cast<T>(1u << level_of(keys[at / FACES]));
    const T over = penalty * (slopes.v[axis] * scale), pull = face % 2 == 1 ? over : -over;
    T energy = T(0);
    to[0] = T(0);
#pragma unroll
    for (int v = 0; v < D; v++) {
        T value = v == axis ? on_wall : T(0);
        if (is_viscous) {
            T stress = T(0);
            if (wall.holds(v, axis)) {
                stress = mul_add(-(viscosity * pull), u[1 + v] * inverse - wall.state[v], own[v * S::FACE]);
            }
            energy = mul_add(stress, wall.state[v], energy);
            value -= stress;
        }
        to[(1 + v) * S::FACE] = value;
    }
    if (is_viscous && wall.kind == ISOTHERMAL) {
        energy += mul_add(-(conductivity * pull), pressure * inverse - wall.state[D], own[D * S::FACE]);
    }
    to[(1 + D) * S::FACE] = -energy;
    to[(2 + D) * S::FACE] = on_wall;
}

#define WALLS(T, Q)                                                                                                           \
    extern "C" __global__ void walls_##T##_##Q(const uint32_t* faces, const uint32_t* kinds, const T* states, uint32_t count,  \
                                               const uint64_t* keys, const T* traces, const T* viscous, uint32_t is_viscous,  \
                                               T gamma, T viscosity, T conductivity, T penalty, const ByAxis<T> slopes, T* out) {                   \
        walls<T, Q>(faces, Walls<T>{kinds, states}, count, keys, traces, viscous, is_viscous != 0, gamma, viscosity,          \
                    conductivity, penalty, slopes, out);                                                                                             \
    }

WALLS(float, 2)
WALLS(float, 3)
WALLS(float, 4)
WALLS(float, 5)
WALLS(double, 2)
WALLS(double, 3)
WALLS(double, 4)
WALLS(double, 5)
