// Numbers at some places, out of a buffer and into it: one thread a number.

#include "kernel.cuh"

#define ENTRIES(T, bytes)                                                                                              \
    extern "C" __global__ void gather_##bytes(uint64_t count, const uint64_t* places, const T* from, T* to) {          \
        const uint64_t i = thread_index();                                                                             \
        if (i < count) {                                                                                               \
            to[i] = from[places[i]];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void scatter_##bytes(uint64_t count, const uint64_t* places, const T* from, T* to) {         \
        const uint64_t i = thread_index();                                                                             \
        if (i < count) {                                                                                               \
            to[places[i]] = from[i];                                                                                   \
        }                                                                                                              \
    }
ENTRIES(uint16_t, 2)
ENTRIES(uint32_t, 4)
ENTRIES(uint64_t, 8)
