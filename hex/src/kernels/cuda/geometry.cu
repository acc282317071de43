// Areas and volumes: `face_of` and `cell_of` of `geometry.rs`.

#include "hex.cuh"
#include "vectors.cuh"

__device__ inline Vec face_center(const double* points, const uint32_t* ids, uint32_t count, Vec& area) {
    if (count == 3) {
        const Vec a = load(points, ids[0]), b = load(points, ids[1]), c = load(points, ids[2]);
        area = scale(cross(sub(b, a), sub(c, a)), 0.5);
        return scale(add(add(a, b), c), 1.0 / 3.0);
    }
    Vec sum = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < count; i++) {
        sum = add(sum, load(points, ids[i]));
    }
    const Vec mid = scale(sum, 1.0 / static_cast<double>(count));
    Vec twice = {0.0, 0.0, 0.0}, weighted = {0.0, 0.0, 0.0};
    double weight = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const Vec p = load(points, ids[i]), q = load(points, ids[i + 1 < count ? i + 1 : 0]);
        const Vec thrice = add(add(p, q), mid), part = cross(sub(q, p), sub(mid, p));
        const double length = norm(part);
        twice = add(twice, part);
        weight += length;
        weighted = add(weighted, scale(thrice, length));
    }
    area = scale(twice, 0.5);
    return weight > 0.0 ? scale(weighted, 1.0 / (3.0 * weight)) : mid;
}

// Centre and area vector of each face.
extern "C" __global__ void measure_faces(const double* points, const uint32_t* face_start, const uint32_t* face_points,
                                         uint32_t faces, double* out) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const uint32_t at = face_start[face];
    Vec area;
    const Vec center = face_center(points, face_points + at, face_start[face + 1] - at, area);
    double* own = out + 6 * static_cast<size_t>(face);
    store(own, 0, center);
    store(own, 1, area);
}

// The volume of a cell; `weighted` is the sum of the centres of its pyramids, each by three times its volume.
__device__ inline double cell_volume(const uint32_t* owner, const uint32_t* start, const uint32_t* of_cell,
                                     uint32_t cell, const double* faces, Vec& mid, Vec& weighted) {
    const uint32_t first = start[cell], end = start[cell + 1];
    Vec sum = {0.0, 0.0, 0.0};
    for (uint32_t i = first; i < end; i++) {
        sum = add(sum, load(faces + 6 * static_cast<size_t>(of_cell[i]), 0));
    }
    const uint32_t count = end - first;
    mid = scale(sum, 1.0 / static_cast<double>(count > 0 ? count : 1));
    weighted = {0.0, 0.0, 0.0};
    double volume = 0.0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t face = of_cell[i];
        const double* own = faces + 6 * static_cast<size_t>(face);
        const Vec center = load(own, 0);
        const double sign = owner[face] == cell ? 1.0 : -1.0;
        const double thrice = sign * dot(load(own, 1), sub(center, mid));
        volume += thrice;
        weighted = add(weighted, scale(add(scale(center, 0.75), scale(mid, 0.25)), thrice));
    }
    return volume;
}

extern "C" __global__ void measure_cells(const uint32_t* owner, const uint32_t* start, const uint32_t* of_cell,
                                         uint32_t cells, const double* faces, double* volumes) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    Vec mid, weighted;
    volumes[cell] = cell_volume(owner, start, of_cell, cell, faces, mid, weighted) / 3.0;
}

// Centre of each cell, and how far its points are from it at most.
extern "C" __global__ void center_cells(const double* points, const uint32_t* face_start, const uint32_t* face_points,
                                        const uint32_t* owner, const uint32_t* start, const uint32_t* of_cell,
                                        uint32_t cells, const double* faces, double* out) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    Vec mid, weighted;
    const double volume = cell_volume(owner, start, of_cell, cell, faces, mid, weighted);
    const Vec center = volume > 0.0 ? scale(weighted, 1.0 / volume) : mid;
    double radius = 0.0;
    for (uint32_t i = start[cell]; i < start[cell + 1]; i++) {
        const uint32_t face = of_cell[i];
        for (uint32_t at = face_start[face]; at < face_start[face + 1]; at++) {
            const double away = norm(sub(load(points, face_points[at]), center));
            radius = away > radius ? away : radius;
        }
    }
    double* own = out + 4 * static_cast<size_t>(cell);
    store(own, 0, center);
    own[3] = radius;
}
