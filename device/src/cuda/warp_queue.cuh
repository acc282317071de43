// A queue in shared memory between two loops of a warp: lanes push items, few at a time, and full warps work on them.

#pragma once

#include <cstdint>

// Entries of a queue: fewer than 32 that wait, and 32 that come.
constexpr int WARP_QUEUE = 64;

// Appends the items of the lanes with `has`, in the order of the lanes, behind the first `queued` entries. As soon as
// 32 wait, calls `run(32)`, which reads the first 32, and moves the rest to the front. After the last push, whoever
// pushes calls `run(queued)`.
//
// By all lanes of a warp together, `queued` the same in all of them. The queue is the warp's own, of WARP_QUEUE
// entries, and `run` does not write to it. Items are read after a __syncwarp, and overwritten after another one.
template <typename Item, typename Run>
__device__ __forceinline__ void push(Item* queue, int& queued, bool has, Item item, const Run& run) {
    const int lane = threadIdx.x & 31;
    const uint32_t votes = __ballot_sync(~0u, has);
    if (has) {
        queue[queued + __popc(votes & ((1u << lane) - 1))] = item;
    }
    queued += __popc(votes);
    __syncwarp();
    if (queued >= 32) {
        run(32);
        queued -= 32;
        const Item rest = queue[32 + lane];
        __syncwarp();
        queue[lane] = rest;
        __syncwarp();
    }
}
