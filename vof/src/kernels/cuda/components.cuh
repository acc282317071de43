// Arrays of a vector's components by cell, or by face.

#pragma once

#include "kernel.cuh"

struct Components {
    const double* of[D];

    // None of a vector that is not there.
    __device__ bool is_there() const { return of[0] != nullptr; }
};

struct Outputs {
    double* of[D];

    __device__ bool is_there() const { return of[0] != nullptr; }
};
