// Modelled walls as cells see them: `wall_model.rs`, `slip.rs`.

#pragma once

#include "walls.cuh"

// A cell with links to modelled walls: `ModeledCell`.
struct ModeledCell {
    uint32_t slot, cell, near_slot, near_cell;
    float normal[3], inward, own[3], distance;
};
static_assert(sizeof(ModeledCell) == 48, "four u32 and eight f32");

// A cell that friction acts on: `DraggedCell`.
struct DraggedCell {
    uint32_t slot, cell, sample_slot, sample_cell;
    float normal[3], height;
    ModeledCell wall;
    float area, distance;
    uint32_t patch;
};
static_assert(sizeof(DraggedCell) == 92, "nine u32 and fourteen f32");

__device__ inline double length(const double (&v)[D]) {
    double sum = 0;
    for (int a = 0; a < D; a++) {
        sum += v[a] * v[a];
    }
    return sqrt(sum);
}

// The velocity of a cell along a wall, seen from it.
template <class L, class S>
__device__ void tangential(const View<L, S>& view, const At& at, const float (&own)[3], const float (&normal)[3],
                           double (&seen)[D]) {
    Real<S> u[D];
    view.template velocity_of<1>(at, u);
    double across = 0;
    for (int a = 0; a < D; a++) {
        seen[a] = static_cast<double>(u[a]) - own[a];
        across += seen[a] * normal[a];
    }
    for (int a = 0; a < D; a++) {
        seen[a] -= across * normal[a];
    }
}

// The velocity of a cell along the wall, seen from it, and by how much that at the wall is slower, extrapolated.
template <class L, class S>
__device__ void extrapolated(const View<L, S>& view, const ModeledCell& modeled, double (&here)[D], double (&more)[D]) {
    tangential(view, At(modeled.slot, modeled.cell), modeled.own, modeled.normal, here);
    tangential(view, At(modeled.near_slot, modeled.near_cell), modeled.own, modeled.normal, more);
    for (int a = 0; a < D; a++) {
        more[a] = modeled.inward * (here[a] - more[a]);
    }
    // Faster than the cell, the stream at the wall would feed on itself.
    double forward = 0;
    for (int a = 0; a < D; a++) {
        forward += more[a] * here[a];
    }
    const double most = SLACK * length(here), found = length(more);
    const double share = forward <= 0 ? (found > most ? most / found : 1.0) : 0.0;
    for (int a = 0; a < D; a++) {
        more[a] *= share;
    }
}
