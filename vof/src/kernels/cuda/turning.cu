// A box that turns: `turning.rs`.

#include "components.cuh"
#include "vector.cuh"

// Turns velocities by Rodrigues' formula. One thread a cell.
extern "C" __global__ void turn(uint64_t cells, Vector3 axis, double sin, double cos, Outputs velocity) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (own >= cells) {
        return;
    }
    Vector at;
    for (int a = 0; a < D; a++) {
        at.v[a] = velocity.of[a][own];
    }
    const Vector3 u = in_3d(at), across = cross(axis, u);
    const double along = axis.v[0] * u.v[0] + axis.v[1] * u.v[1] + axis.v[2] * u.v[2];
    for (int a = 0; a < D; a++) {
        velocity.of[a][own] = cos * u.v[a] + sin * across.v[a] + (1.0 - cos) * along * axis.v[a];
    }
}
