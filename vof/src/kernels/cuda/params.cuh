// What a flow is set up with: `params.rs` and `turning.rs`, which have the order of operations.

#pragma once

#include "blocks.cuh"
#include "vector.cuh"

enum class BoxKind : uint32_t { SLIP, NO_SLIP, INFLOW, PRESSURE };

// What is at a side of the box.
struct BoxFace {
    // Of inflow, m/s.
    double velocity[D];
    // Pressure, Pa.
    double value;
    // The liquid's part of what flows in.
    double liquid;
    BoxKind kind;
    uint32_t pad;

    __device__ bool is_wall() const { return kind == BoxKind::SLIP || kind == BoxKind::NO_SLIP; }
};

// `DeviceParams` of `params.rs` of this folder.
struct Params {
    // Of the liquid, and of the gas.
    double density[2];
    double viscosity[2];
    double surface_tension;
    double gravity[D];
    // How the box turns.
    double center[D];
    double spin[3];
    double rate[3];
    double fixed_curvature;
    // Cotangents of the contact angles by side; 0 of right ones.
    double slopes[SIDES];
    BoxFace faces[SIDES];
    uint32_t turns;
    uint32_t has_fixed_curvature;

    // Density of a mixture, by the volume fraction of the liquid.
    __device__ double rho(double c) const { return density[1] + (density[0] - density[1]) * clamped(c, 0.0, 1.0); }

    // One over the viscosity of a mixture.
    __device__ double fluidity(double c) const {
        c = clamped(c, 0.0, 1.0);
        return c / viscosity[0] + (1.0 - c) / viscosity[1];
    }

    // Viscosity of a mixture: the harmonic mean.
    __device__ double mu(double c) const { return 1.0 / fluidity(c); }

    __device__ const BoxFace& face(int side) const { return faces[side]; }

    // Whether all contact angles are right ones.
    __device__ bool is_right() const {
        bool is = true;
        for (int side = 0; side < SIDES; side++) {
            is = is && slopes[side] == 0.0;
        }
        return is;
    }

    // The potential of weight and of centrifugal forces, m²/s².
    __device__ double head(Vector at) const {
        double weight = -0.0;
        for (int a = 0; a < D; a++) {
            weight += gravity[a] * at.v[a];
        }
        double turned = 0.0;
        if (turns) {
            const double speed = length(cross({{spin[0], spin[1], spin[2]}}, arm(at)));
            turned = 0.5 * (speed * speed);
        }
        return weight + turned;
    }

    // Euler's acceleration along an axis, m/s²; 0 where the box does not turn.
    __device__ double turned(Vector at, int axis) const {
        return turns ? -cross({{rate[0], rate[1], rate[2]}}, arm(at)).v[axis] : 0.0;
    }

private:
    __device__ Vector3 arm(Vector at) const {
        for (int a = 0; a < D; a++) {
            at.v[a] -= center[a];
        }
        return in_3d(at);
    }
};
static_assert(sizeof(Params) == 8 * (5 + 2 * D + 7 + SIDES + SIDES * (D + 3) + 1), "as Rust has it");
