// Values to what is stored of them and back: one thread a value.

#include "kernel.cuh"
#include "storage.cuh"

extern "C" __global__ void narrow_all(uint32_t count, const float* values, __half* to) {
    const uint32_t i = thread_index();
    if (i < count) {
        to[i] = narrow<__half>(values[i]);
    }
}

extern "C" __global__ void widen_all(uint32_t count, const __half* stored, float* to) {
    const uint32_t i = thread_index();
    if (i < count) {
        to[i] = widen(stored[i]);
    }
}
