// Numbers at some places, out of a buffer and into it. Ranks whose GPUs reach each other's memory write what they send there, and
// count messages by flags: each rank has one for each other rank, which that rank's GPU writes.
//
// Room for what is received is there twice, for messages of even and of odd number. A rank writes message n + 2 after it has
// received message n + 1, which others send after they have read message n. So no message is overwritten before it is read.

#include "kernel.cuh"

struct Group {
    // Messages sent, and blocks done of the kernel that sends.
    uint64_t* state;
    // By rank: messages that it has sent here.
    const uint64_t* flags;
    // By rank: where messages of this one are counted there.
    uint64_t* const* told;
    // Not 0 once a rank has failed: then nobody waits any more.
    const volatile uint32_t* aborted;
    uint32_t rank, ranks;
};

enum { SENT, DONE };

// Where a share of the numbers goes.
struct Target {
    uint64_t first, end;
    void* to;
    // Elements between the rooms of even and odd messages.
    uint64_t stride;
};

// What is sent of a level, or received.
struct LevelPart {
    // Numbers of this level and those before it.
    uint64_t end;
    const uint64_t* places;
    // The level's buffer.
    void* buffer;
    // Received numbers, or targets.
    const void* other;
    uint64_t shares;
};

enum { LEVELS = 16 };

// Levels whose steps end together, in one message.
struct Levels {
    LevelPart of[LEVELS];
    uint32_t count, unused;
};

// Numbers of a thread whose loads do not wait for each other.
enum { BATCH = 4 };

// Calls `work` for batches of a thread's numbers: with how many there are, and by number its level and its place among those of the
// level.
template <class Work>
__device__ void each_batch(const Levels& levels, Work work) {
    const uint64_t threads = gridDim.x * static_cast<uint64_t>(blockDim.x);
    const uint64_t count = levels.of[levels.count - 1].end;
    uint32_t level = 0;
    for (uint64_t first = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; first < count;
         first += BATCH * threads) {
        uint32_t of[BATCH];
        uint64_t at[BATCH];
        uint32_t n = 0;
#pragma unroll
        for (uint32_t b = 0; b < BATCH; ++b) {
            const uint64_t i = first + b * threads;
            if (i >= count) {
                break;
            }
            while (i >= levels.of[level].end) {
                ++level;
            }
            of[b] = level;
            at[b] = i - (level == 0 ? 0 : levels.of[level - 1].end);
            n = b + 1;
        }
        work(n, of, at);
    }
}

// Whether this block is the last one of the grid that gets here; all that others have written is visible to it then.
__device__ inline bool is_last_block(uint64_t* done) {
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        // Of one thread: it holds for what the others have written before the barrier, and is slow.
        __threadfence_system();
        is_last = atomicAdd(reinterpret_cast<unsigned long long*>(done), 1ull) == gridDim.x - 1;
    }
    __syncthreads();
    return is_last;
}

template <class T>
__device__ void send(const Levels& levels, Group group, uint32_t is_last_launch) {
    const uint64_t message = *static_cast<volatile uint64_t*>(group.state + SENT) + 1;
    each_batch(levels, [&](uint32_t n, const uint32_t* of, const uint64_t* at) {
        T values[BATCH];
#pragma unroll
        for (uint32_t b = 0; b < BATCH; ++b) {
            if (b < n) {
                const LevelPart& level = levels.of[of[b]];
                values[b] = static_cast<const T*>(level.buffer)[level.places[at[b]]];
            }
        }
#pragma unroll
        for (uint32_t b = 0; b < BATCH; ++b) {
            if (b < n) {
                const LevelPart& level = levels.of[of[b]];
                const Target* targets = static_cast<const Target*>(level.other);
                uint64_t share = 0;
                while (share + 1 < level.shares && at[b] >= targets[share].end) {
                    ++share;
                }
                const Target target = targets[share];
                static_cast<T*>(target.to)[(message & 1) * target.stride + at[b] - target.first] = values[b];
            }
        }
    });
    if (!is_last_launch || !is_last_block(group.state + DONE)) {
        return;
    }
    if (threadIdx.x == 0) {
        group.state[DONE] = 0;
        group.state[SENT] = message;
    }
    __threadfence_system();
    if (threadIdx.x < group.ranks && threadIdx.x != group.rank) {
        asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(group.told[threadIdx.x]), "l"(message) : "memory");
    }
}

// Behind the kernels that send the message of the same number.
template <class T>
__device__ void receive(const Levels& levels, Group group) {
    const uint64_t message = group.state[SENT];
    if (threadIdx.x < group.ranks && threadIdx.x != group.rank) {
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
    each_batch(levels, [&](uint32_t n, const uint32_t* of, const uint64_t* at) {
        T values[BATCH];
        uint64_t places[BATCH];
#pragma unroll
        for (uint32_t b = 0; b < BATCH; ++b) {
            if (b < n) {
                const LevelPart& level = levels.of[of[b]];
                const uint64_t count = level.end - (of[b] == 0 ? 0 : levels.of[of[b] - 1].end);
                // Past the first-level cache, which does not know of what other GPUs write.
                values[b] = __ldcg(static_cast<const T*>(level.other) + (message & 1) * count + at[b]);
                places[b] = level.places[at[b]];
            }
        }
#pragma unroll
        for (uint32_t b = 0; b < BATCH; ++b) {
            if (b < n) {
                static_cast<T*>(levels.of[of[b]].buffer)[places[b]] = values[b];
            }
        }
    });
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
    extern "C" __global__ void send_##bytes(const __grid_constant__ Levels levels, Group group, uint32_t is_last_launch) { \
        send<T>(levels, group, is_last_launch);                                                                        \
    }                                                                                                                  \
    extern "C" __global__ void receive_##bytes(const __grid_constant__ Levels levels, Group group) {                   \
        receive<T>(levels, group);                                                                                     \
    }
ENTRIES(uint16_t, 2)
ENTRIES(uint32_t, 4)
ENTRIES(uint64_t, 8)
