// The surface: corners with normals, rays, vectors.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const along = (a, by, d) => [a[0] + by * d[0], a[1] + by * d[1], a[2] + by * d[2]];
const unit = (a) => {
  const size = Math.hypot(...a) || 1;
  return a.map((x) => x / size);
};

const SHARP = Math.cos((40 * Math.PI) / 180);

// Three corners a triangle. The normal of a corner is the mean over the triangles at its place whose normals are within
// 40 degrees of that of its own, so that edges stay sharp.
function loadSurface({ points, triangles, patch, fields }) {
  const place = decode(points);
  const index = decode(triangles);
  const count = index.length / 3;
  const at = (v) => [place[3 * v], place[3 * v + 1], place[3 * v + 2]];
  // Points at one place, which differ by their patch.
  const first = new Map();
  const merged = Uint32Array.from({ length: place.length / 3 }, (_, v) => {
    const key = at(v).join();
    if (!first.has(key)) first.set(key, first.size);
    return first.get(key);
  });
  const area = new Float32Array(3 * count);
  const length = new Float32Array(count);
  const start = new Uint32Array(first.size + 1);
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => at(index[3 * f + k]));
    const normal = cross(minus(b, a), minus(c, a));
    area.set(normal, 3 * f);
    length[f] = Math.hypot(...normal) || 1;
    for (let k = 0; k < 3; k++) start[merged[index[3 * f + k]] + 1]++;
  }
  for (let v = 0; v < first.size; v++) start[v + 1] += start[v];
  const around = new Uint32Array(3 * count);
  const next = start.slice();
  for (let i = 0; i < 3 * count; i++) around[next[merged[index[i]]]++] = Math.floor(i / 3);
  const corners = new Float32Array(9 * count);
  const normals = new Float32Array(9 * count);
  for (let i = 0; i < 3 * count; i++) {
    const f = Math.floor(i / 3);
    const own = area.subarray(3 * f, 3 * f + 3);
    const sum = [0, 0, 0];
    for (let j = start[merged[index[i]]]; j < start[merged[index[i]] + 1]; j++) {
      const other = area.subarray(3 * around[j], 3 * around[j] + 3);
      if (dot(own, other) >= SHARP * length[f] * length[around[j]]) for (let k = 0; k < 3; k++) sum[k] += other[k];
    }
    corners.set(at(index[i]), 3 * i);
    normals.set(unit(sum), 3 * i);
  }
  const values = fields.map((field) => decode(field.values));
  return { place, index, corners, normals, count, patch: decode(patch), values, colours: new Uint8Array(9 * count) };
}

// Colours of all corners.
function paint(surface, colour) {
  surface.index.forEach((v, i) => surface.colours.set(colour(v), 3 * i));
  surface.version = (surface.version || 0) + 1;
}

// The nearest triangle on a ray (Möller and Trumbore, 1997), and the weights of its corners.
function hit(surface, eye, direction) {
  let best = null;
  const p = surface.corners;
  for (let f = 0; f < surface.count; f++) {
    const o = 9 * f;
    const e = [p[o + 3] - p[o], p[o + 4] - p[o + 1], p[o + 5] - p[o + 2]];
    const g = [p[o + 6] - p[o], p[o + 7] - p[o + 1], p[o + 8] - p[o + 2]];
    const q = cross(direction, g);
    const size = dot(e, q);
    if (size === 0) continue;
    const s = [eye[0] - p[o], eye[1] - p[o + 1], eye[2] - p[o + 2]];
    const u = dot(s, q) / size;
    if (u < 0 || u > 1) continue;
    const r = cross(s, e);
    const v = dot(direction, r) / size;
    if (v < 0 || u + v > 1) continue;
    const t = dot(g, r) / size;
    if (t > 0 && (!best || t < best.t)) best = { t, triangle: f, weights: [1 - u - v, u, v] };
  }
  return best;
}
