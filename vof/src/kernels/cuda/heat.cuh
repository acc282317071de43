// Numbers of heat, and slopes of the temperature: `heat.rs` and `heat_params.rs`, which have the order of operations.

#pragma once

#include "interface.cuh"
#include "mesh.cuh"
#include "velocity.cuh"

// `DeviceHeat` of `heat.rs` of this folder.
struct Heat {
    // Of the liquid, and of the gas: by volume, J/(m³ K); W/(m K); kg/(m³ K).
    double capacities[2];
    double conductivity[2];
    double expansion[2];
    double reference;
    // By side: 1 where a temperature is held, and that.
    double held[SIDES][2];

    __device__ double capacity(double c) const { return capacities[1] + (capacities[0] - capacities[1]) * c; }

    // One over the conductivity of a mixture.
    __device__ double resistivity(double c) const {
        c = clamped(c, 0.0, 1.0);
        return c / conductivity[0] + (1.0 - c) / conductivity[1];
    }

    // What a mixture's weight has more of density than at the reference temperature.
    __device__ double excess(double c, double temperature) const {
        const double lost = expansion[1] + (expansion[0] - expansion[1]) * clamped(c, 0.0, 1.0);
        return lost * (reference - temperature);
    }
};
static_assert(sizeof(Heat) == 8 * (7 + 2 * SIDES), "as Rust has it");

// A temperature beyond a side of a cell; at faces of the box that hold one as a mirror gives that.
__device__ inline double temperature_beyond(const Mesh& mesh, const Heat& heat, const double* temperature, Cell at,
                                            int side) {
    const double own = temperature[at.index()];
    const Cell other = mesh.blocks.next(at.block, at.cell, side);
    if (other.block != OUTSIDE) {
        return mesh.is_solid(other.block, other.cell) ? own : temperature[other.index()];
    }
    return heat.held[side][0] == 1.0 ? 2.0 * heat.held[side][1] - own : own;
}

// The slope of the temperature over a cell along an axis; none at the interface.
__device__ inline double temperature_slope(const Mesh& mesh, const Heat& heat, const double* alpha,
                                           const double* temperature, Cell at, int axis) {
    const double own = temperature[at.index()];
    if (is_mixed(alpha[at.index()])) {
        return 0.0;
    }
    const double low = own - temperature_beyond(mesh, heat, temperature, at, 2 * axis);
    const double high = temperature_beyond(mesh, heat, temperature, at, 2 * axis + 1) - own;
    return limited(low, high);
}
