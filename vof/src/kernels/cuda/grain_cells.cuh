// Cells of grains, and what they make of the mesh's cells: `grain_cells.rs`, of this folder and of the crate.

#pragma once

#include "cells.cuh"
#include "params.cuh"

// `GrainAddresses` of `grain_cells.rs`.
struct Grains {
    // By grain: where its cells begin, and at last their number; kg/m³.
    const uint32_t* first;
    const double* density;
    // By place among the cells of all grains: number in arrays of the mesh, grain, place of the same cell of a later
    // grain or NONE, part that is in the grain, three numbers from the grain's centre to the cell's.
    const uint32_t* cell;
    const uint32_t* grain;
    const uint32_t* after;
    const double* part;
    const double* arm;
    // By cell of the mesh: its place among the cells of the first grain in it, or NONE; the part that is fluid, mass of
    // grains over the volume. None where there are no grains.
    const uint32_t* place;
    const double* clear;
    const double* mass;
    // The volume of a cell, m³; an acceleration of all faces, m/s².
    double volume;
    double drive[3];
    // Grains, and their cells.
    uint32_t count;
    uint32_t cells;

    __device__ bool are_there() const { return clear != nullptr; }

    __device__ bool is_held(uint32_t at) const { return part[at] > 1.0 - LEAST_CLEAR; }

    // Whether a place is that of the first grain in its cell: each cell once.
    __device__ bool is_first(uint32_t at) const { return place[cell[at]] == at; }

    // The part that is fluid, of a cell of the mesh.
    __device__ double fluid_part(uint64_t own) const { return are_there() ? clear[own] : 1.0; }

    // The density of a cell of the mesh: of its fluid and of grains.
    __device__ double rho(const Params& params, const double* alpha, uint64_t own) const {
        const double fluid = params.rho(alpha[own]);
        return are_there() ? clear[own] * fluid + mass[own] : fluid;
    }
};
static_assert(sizeof(Grains) == 10 * 8 + 4 * 8 + 2 * 4, "as Rust has it");
