// Numbers at some places, out of a buffer and into it: one thread a number. Ranks whose GPUs reach each other's memory write
// what they send there, and count messages by flags: each rank has one for each other rank, which that rank's GPU writes.
//
// Room for what is received is there twice, for messages of even and of odd number. A rank writes message n + 2 after it has
// received message n + 1, which others send after they have read message n. So no message is overwritten before it is read.

#include "kernel.cuh"

struct Group {
    // Messages sent and received, blocks done of the kernels that send and receive.
    uint64_t* state;
    // By rank: messages that it has sent here.
    const uint64_t* flags;
    // By rank: where messages of this one are counted there.
    uint64_t* const* told;
    // Not 0 once a rank has failed: then nobody waits any more.
    const volatile uint32_t* aborted;
    uint32_t rank, ranks;
};

enum { SENT, RECEIVED, DONE_SENDING, DONE_RECEIVING };

// Where a share of the numbers goes.
struct Target {
    uint64_t first, end;
    void* to;
    // Elements between the rooms of even and odd messages.
    uint64_t stride;
};

// Whether this block is the last one of the grid that gets here; all that others have written is visible to it then.
__device__ inline bool is_last_block(uint64_t* done) {
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        // Of one thread: it holds for what the others have written before the barrier, and is slow.
        __threadfence_system();
        is_last = atomicAdd(reinterpret_cast<unsigned long long*>(done), 1ull) == gridDim.x - 1;
        __threadfence_system();
    }
    __syncthreads();
    return is_last;
}

template <class T>
__device__ void send(uint64_t count, const uint64_t* places, uint64_t shares, const Target* targets, const T* from, Group group,
                     uint32_t is_last_level) {
    const uint64_t message = *static_cast<volatile uint64_t*>(group.state + SENT) + 1;
    const uint64_t threads = gridDim.x * static_cast<uint64_t>(blockDim.x);
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count; i += threads) {
        uint64_t share = 0;
        while (share + 1 < shares && i >= targets[share].end) {
            ++share;
        }
        const Target target = targets[share];
        static_cast<T*>(target.to)[(message & 1) * target.stride + i - target.first] = from[places[i]];
    }
    if (!is_last_level || !is_last_block(group.state + DONE_SENDING)) {
        return;
    }
    if (threadIdx.x == 0) {
        group.state[DONE_SENDING] = 0;
        group.state[SENT] = message;
    }
    __threadfence_system();
    if (threadIdx.x < group.ranks && threadIdx.x != group.rank) {
        asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(group.told[threadIdx.x]), "l"(message) : "memory");
    }
}

template <class T>
__device__ void receive(uint64_t count, const uint64_t* places, const T* numbers, T* to, Group group, uint32_t is_first_level,
                        uint32_t is_last_level) {
    const uint64_t message = *static_cast<volatile uint64_t*>(group.state + RECEIVED) + 1;
    if (is_first_level && threadIdx.x < group.ranks && threadIdx.x != group.rank) {
        uint64_t sent = 0;
        for (uint32_t tries = 1; sent < message; ++tries) {
            asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(sent) : "l"(group.flags + threadIdx.x) : "memory");
            // In host memory, which is slow to read: every 1024 tries.
            if (tries % 1024 == 0 && *group.aborted != 0) {
                break;
            }
        }
    }
    __syncthreads();
    const uint64_t threads = gridDim.x * static_cast<uint64_t>(blockDim.x);
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count; i += threads) {
        // Past the first-level cache, which does not know of what other GPUs write.
        to[places[i]] = __ldcg(numbers + (message & 1) * count + i);
    }
    if (is_last_level && is_last_block(group.state + DONE_RECEIVING) && threadIdx.x == 0) {
        group.state[DONE_RECEIVING] = 0;
        group.state[RECEIVED] = message;
    }
}

#define ENTRIES(T, bytes)                                                                                              \
    extern "C" __global__ void gather_##bytes(uint64_t count, uint64_t first, const uint64_t* places, const T* from,   \
                                              T* to) {                                                                 \
        const uint64_t i = thread_index();                                                                             \
        if (i < count) {                                                                                               \
            to[i] = from[places[first + i]];                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void scatter_##bytes(uint64_t count, uint64_t first, const uint64_t* places, const T* from,  \
                                               T* to) {                                                                \
        const uint64_t i = thread_index();                                                                             \
        if (i < count) {                                                                                               \
            to[places[first + i]] = from[i];                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void send_##bytes(uint64_t count, const uint64_t* places, uint64_t shares, const Target* targets, \
                                            const T* from, Group group, uint32_t is_last_level) {                      \
        send<T>(count, places, shares, targets, from, group, is_last_level);                                           \
    }                                                                                                                  \
    extern "C" __global__ void receive_##bytes(uint64_t count, const uint64_t* places, const T* numbers, T* to, Group group, \
                                               uint32_t is_first_level, uint32_t is_last_level) {                      \
        receive<T>(count, places, numbers, to, group, is_first_level, is_last_level);                                  \
    }
ENTRIES(uint16_t, 2)
ENTRIES(uint32_t, 4)
ENTRIES(uint64_t, 8)
