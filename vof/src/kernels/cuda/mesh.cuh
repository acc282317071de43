// What kernels read of a flow's mesh: `mesh.rs` of this folder, and of the crate.

#pragma once

#include "blocks.cuh"
#include "vof_constants.cuh"

// Tables of the mesh: `MeshAddresses` of `mesh.rs`.
struct Mesh {
    Blocks blocks;
    // By block and direction: the block there, of the same level or coarser; OUTSIDE beyond the box.
    const uint32_t* around;
    // By block: bits of solid cells.
    const uint64_t* solid;
    // Lower corner of the box and width of a cell of the root level, m.
    double origin[D];
    double root_width;
    // All blocks; the first one of the finest level; that level.
    uint32_t count;
    uint32_t first_finest;
    uint32_t finest;
    uint32_t pad;

    __device__ bool is_solid(uint32_t block, int cell) const { return solid[block] >> cell & 1; }

    __device__ double width(uint32_t block) const {
        // Over 2^level, which is exact.
        return root_width * __longlong_as_double((1023ll - blocks.level[block]) << 52);
    }

    // The area of a block's faces, m^(D-1).
    __device__ double area(uint32_t block) const {
        const double h = width(block);
        return D == 3 ? h * h : h;
    }

    // The centre of a cell along an axis, m.
    __device__ double centre(uint32_t block, int cell, int axis) const {
        const int at = 4 * blocks.coord[block * static_cast<uint64_t>(D) + axis] + cell_coord(cell, axis);
        return origin[axis] + (static_cast<double>(at) + 0.5) * width(block);
    }

    // The cell at coordinates of -4 to 7 relative to a block: coarser where there is no finer one, mirrored beyond the
    // box.
    __device__ Cell cell_at(uint32_t block, Ints to) const {
        const uint32_t* const beyond = around + block * static_cast<uint64_t>(DIRECTIONS);
        uint32_t other = beyond[direction(to)];
        if (other == OUTSIDE) {
            for (int a = 0; a < D; a++) {
                if (is_beyond(block, to.v[a], a)) {
                    to.v[a] = to.v[a] < 0 ? -1 - to.v[a] : 7 - to.v[a];
                }
            }
            other = beyond[direction(to)];
        }
        const bool same = blocks.level[other] == blocks.level[block];
        int cell = 0;
        for (int a = 0; a < D; a++) {
            const int c = same ? to.v[a] : (4 * blocks.coord[block * static_cast<uint64_t>(D) + a] + to.v[a]) >> 1;
            cell |= (c & 3) << 2 * a;
        }
        return {other, cell};
    }

    // Whether such coordinates are in the box.
    __device__ bool is_inside(uint32_t block, Ints to) const {
        for (int a = 0; a < D; a++) {
            if (is_beyond(block, to.v[a], a)) {
                return false;
            }
        }
        return true;
    }

private:
    // The direction of the block that has such coordinates.
    __device__ static int direction(Ints to) {
        int direction = 0;
        for (int a = D - 1; a >= 0; a--) {
            direction = 3 * direction + (to.v[a] < 0 ? 0 : to.v[a] > 3 ? 2 : 1);
        }
        return direction;
    }

    __device__ bool is_beyond(uint32_t block, int to, int axis) const {
        const int side = 2 * axis + (to > 3);
        return (to < 0 || to > 3) && blocks.beside[block * static_cast<uint64_t>(SIDES) + side] == OUTSIDE;
    }
};
static_assert(sizeof(Mesh) == 40 + 16 + 8 * D + 8 + 16, "as Rust has it");
