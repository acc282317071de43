// Rusanov's flux: `cpu/riemann.rs`, which has the order of operations.

#pragma once

#include "elements.cuh"

// A side of a face at a point: normal velocity, pressure and fastest wave.
template <typename T>
struct Side {
    T normal, pressure, speed;
};

template <int A, typename T>
__device__ __forceinline__ Side<T> side_of(T gamma, const T (&u)[V]) {
    const T inverse = T(1) / u[0];
    const T normal = u[1 + A] * inverse;
    T square = u[1] * u[1];
#pragma unroll
    for (int a = 1; a < D; a++) {
        square = mul_add(u[1 + a], u[1 + a], square);
    }
    const T kinetic = T(0.5) * (square * inverse);
    const T pressure = (gamma - T(1)) * (u[1 + D] - kinetic);
    const T sound = root_of(gamma * pressure * inverse);
    return {normal, pressure, magnitude(normal) + sound};
}

// The common flux at a point of a face along axis A; `low` is the side of lower coordinates.
template <int A, typename T>
__device__ __forceinline__ void rusanov(T gamma, const T (&low)[V], const T (&high)[V], T (&out)[V]) {
    const Side<T> left = side_of<A>(gamma, low), right = side_of<A>(gamma, high);
    const T speed = left.speed > right.speed ? left.speed : right.speed;
#pragma unroll
    for (int v = 0; v < V; v++) {
        T sum = v == 0 ? low[1 + A] + high[1 + A] : mul_add(low[v], left.normal, high[v] * right.normal);
        if (v == 1 + A) {
            sum += left.pressure + right.pressure;
        } else if (v == 1 + D) {
            sum += mul_add(left.pressure, left.normal, right.pressure * right.normal);
        }
        out[v] = T(0.5) * mul_add(-speed, high[v] - low[v], sum);
    }
}
