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

extern "C" __global__ void measure_cells(const uint32_t* owner, const uint32_t* start, const uint32_t* of_cell,
                                         uint32_t cells, const double* faces, double* volumes) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t first = start[cell], end = start[cell + 1];
    Vec sum = {0.0, 0.0, 0.0};
    for (uint32_t i = first; i < end; i++) {
        sum = add(sum, load(faces + 6 * static_cast<size_t>(of_cell[i]), 0));
    }
    const uint32_t count = end - first;
    const Vec mid = scale(sum, 1.0 / static_cast<double>(count > 0 ? count : 1));
    double volume = 0.0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t face = of_cell[i];
        const double* own = faces + 6 * static_cast<size_t>(face);
        const double sign = owner[face] == cell ? 1.0 : -1.0;
        volume += sign * dot(load(own, 1), sub(load(own, 0), mid));
    }
    volumes[cell] = volume / 3.0;
}
