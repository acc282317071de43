// Parallel primitives on one stream, by CUB. Each is a pair of functions: the size of its scratch memory, and the
// run. All are stable and give the same result every time.

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

namespace {

struct Widen {
    __host__ __device__ uint64_t operator()(uint32_t v) const { return v; }
};

// Keeps the low half of every sum, and all of the last one.
struct Narrow {
    uint32_t* out;
    uint64_t* total;
    int64_t last;
    __host__ __device__ void operator()(int64_t i, uint64_t sum) const {
        out[i] = static_cast<uint32_t>(sum);
        if (i == last) {
            *total = sum;
        }
    }
};

struct Sums {
    uint64_t a, b, c;
};
static_assert(sizeof(Sums) == 24, "three words, as Rust has them");

struct AddSums {
    __host__ __device__ Sums operator()(Sums x, Sums y) const { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
};

struct Add {
    __host__ __device__ uint64_t operator()(uint64_t x, uint64_t y) const { return x + y; }
};

cudaError_t scan(void* scratch, size_t* bytes, const uint32_t* in, uint32_t* out, uint64_t* total, int64_t n,
                 cudaStream_t stream) {
    auto from = thrust::make_transform_iterator(in, Widen{});
    auto to = thrust::make_tabulate_output_iterator(Narrow{out, total, n - 1});
    return cub::DeviceScan::ExclusiveScan(scratch, *bytes, from, to, Add{}, uint64_t{0}, n, stream);
}

cudaError_t scan_sums(void* scratch, size_t* bytes, Sums* values, int64_t n, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveScan(scratch, *bytes, values, values, AddSums{}, Sums{0, 0, 0}, n, stream);
}

cudaError_t select_items(void* scratch, size_t* bytes, const uint32_t* items, const uint8_t* flags, uint32_t* out,
                         uint64_t* count, int64_t n, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(scratch, *bytes, items, flags, out, count, n, stream);
}

cudaError_t select_places(void* scratch, size_t* bytes, const uint8_t* flags, uint32_t* out, uint64_t* count, int64_t n,
                          cudaStream_t stream) {
    auto places = thrust::make_counting_iterator(uint32_t{0});
    return cub::DeviceSelect::Flagged(scratch, *bytes, places, flags, out, count, n, stream);
}

template <typename Key>
cudaError_t sort(void* scratch, size_t* bytes, const Key* keys, Key* sorted, const uint32_t* values, uint32_t* out,
                 int64_t n, int bits, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(scratch, *bytes, keys, sorted, values, out, n, 0, bits, stream);
}

cudaError_t sort_keys(void* scratch, size_t* bytes, const uint64_t* keys, uint64_t* sorted, int64_t n, int first,
                      int end, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortKeys(scratch, *bytes, keys, sorted, n, first, end, stream);
}

cudaError_t unique(void* scratch, size_t* bytes, const uint64_t* keys, uint64_t* out, uint64_t* count, int64_t n,
                   cudaStream_t stream) {
    return cub::DeviceSelect::Unique(scratch, *bytes, keys, out, count, n, stream);
}

}  // namespace

extern "C" {

cudaError_t cutlink_scan_scratch(size_t* bytes, int64_t n) {
    return scan(nullptr, bytes, nullptr, nullptr, nullptr, n, nullptr);
}

// Exclusive sums of n numbers; the sum before the last one goes to `total` too, all 64 bits of it.
cudaError_t cutlink_scan(void* scratch, size_t bytes, uint32_t* values, uint64_t* total, int64_t n,
                         cudaStream_t stream) {
    return scan(scratch, &bytes, values, values, total, n, stream);
}

cudaError_t cutlink_scan_sums_scratch(size_t* bytes, int64_t n) {
    return scan_sums(nullptr, bytes, nullptr, n, nullptr);
}

cudaError_t cutlink_scan_sums(void* scratch, size_t bytes, Sums* values, int64_t n, cudaStream_t stream) {
    return scan_sums(scratch, &bytes, values, n, stream);
}

cudaError_t cutlink_select_scratch(size_t* bytes, int64_t n) {
    return select_items(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, n, nullptr);
}

// The items, or their places where there are none, whose flag is not 0, and their number.
cudaError_t cutlink_select(void* scratch, size_t bytes, const uint32_t* items, const uint8_t* flags, uint32_t* out,
                           uint64_t* count, int64_t n, cudaStream_t stream) {
    if (items == nullptr) {
        return select_places(scratch, &bytes, flags, out, count, n, stream);
    }
    return select_items(scratch, &bytes, items, flags, out, count, n, stream);
}

cudaError_t cutlink_select_places_scratch(size_t* bytes, int64_t n) {
    return select_places(nullptr, bytes, nullptr, nullptr, nullptr, n, nullptr);
}

cudaError_t cutlink_sort32_scratch(size_t* bytes, int64_t n) {
    return sort<uint32_t>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, n, 32, nullptr);
}

// Pairs in the order of the lowest `bits` bits of their keys.
cudaError_t cutlink_sort32(void* scratch, size_t bytes, const uint32_t* keys, uint32_t* sorted, const uint32_t* values,
                           uint32_t* out, int64_t n, int bits, cudaStream_t stream) {
    return sort(scratch, &bytes, keys, sorted, values, out, n, bits, stream);
}

cudaError_t cutlink_sort64_scratch(size_t* bytes, int64_t n) {
    return sort<uint64_t>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, n, 64, nullptr);
}

cudaError_t cutlink_sort64(void* scratch, size_t bytes, const uint64_t* keys, uint64_t* sorted, const uint32_t* values,
                           uint32_t* out, int64_t n, int bits, cudaStream_t stream) {
    return sort(scratch, &bytes, keys, sorted, values, out, n, bits, stream);
}

cudaError_t cutlink_sort_keys_scratch(size_t* bytes, int64_t n) {
    return sort_keys(nullptr, bytes, nullptr, nullptr, n, 0, 64, nullptr);
}

// Keys in the order of their bits from `first` to before `end`.
cudaError_t cutlink_sort_keys(void* scratch, size_t bytes, const uint64_t* keys, uint64_t* sorted, int64_t n, int first,
                              int end, cudaStream_t stream) {
    return sort_keys(scratch, &bytes, keys, sorted, n, first, end, stream);
}

cudaError_t cutlink_unique_scratch(size_t* bytes, int64_t n) {
    return unique(nullptr, bytes, nullptr, nullptr, nullptr, n, nullptr);
}

// The first of each run of equal keys, and the number of runs.
cudaError_t cutlink_unique(void* scratch, size_t bytes, const uint64_t* keys, uint64_t* out, uint64_t* count, int64_t n,
                           cudaStream_t stream) {
    return unique(scratch, &bytes, keys, out, count, n, stream);
}

const char* cutlink_error_text(cudaError_t code) {
    return cudaGetErrorString(code);
}

}  // extern "C"
