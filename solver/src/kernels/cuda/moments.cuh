// Density and velocity of the cells that ghost cells take them from: `moments.rs`.

#pragma once

#include "level.cuh"

// Cells of a block and of those around it, one deep.
constexpr int HALO = D == 2 ? 36 : 216;

// Density less 1 and velocity of cells of a block and around it, by place in 6^D cells: computed once a cell, though
// each serves several populations.
template <class T>
struct Moments {
    static constexpr int PLACES = HALO;
    T values[PLACES * (1 + D)];
    uint32_t known[(PLACES + 31) / 32];

    // The place of the cell a step away from a cell of the block.
    static __device__ int place(const int (&x)[D], const int (&step)[D]) {
        int place = 0;
        for (int a = D - 1; a >= 0; a--) {
            place = 6 * place + x[a] + step[a] + 1;
        }
        return place;
    }

    __device__ bool has(int place) const {
        return known[place / 32] >> place % 32 & 1;
    }

    // Requests a cell; whether this is its first request.
    __device__ bool add(int place) {
        const uint32_t bit = 1u << place % 32;
        return !(atomicOr(&known[place / 32], bit) & bit);
    }
};

// The same of the cells of a layer at a face of the box, and of those around it: 6 along each other axis. All are known.
template <class T>
struct Layer {
    static constexpr int PLACES = D == 2 ? 6 : 36;
    T values[PLACES * (1 + D)];
    int axis;

    __device__ int place(const int (&x)[D], const int (&step)[D]) const {
        int place = 0;
        for (int a = D - 1; a >= 0; a--) {
            place = a == axis ? place : 6 * place + x[a] + step[a] + 1;
        }
        return place;
    }

    __device__ bool has(int) const {
        return true;
    }
};
