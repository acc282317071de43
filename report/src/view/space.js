// The view in 3D: camera, pointer, keys, places.

const FIELD = (30 * Math.PI) / 180;

function boundsOf(points) {
  const low = [Infinity, Infinity, Infinity];
  const high = low.map((x) => -x);
  for (let i = 0; i < points.length; i++) {
    low[i % 3] = Math.min(low[i % 3], points[i]);
    high[i % 3] = Math.max(high[i % 3], points[i]);
  }
  return [low, high];
}

function edgesOf([low, high]) {
  const ends = [];
  for (let corner = 0; corner < 8; corner++) {
    for (let k = 0; k < 3; k++) {
      if ((corner >> k) & 1) continue;
      for (const end of [corner, corner | (1 << k)]) ends.push(...[0, 1, 2].map((a) => ((end >> a) & 1 ? high[a] : low[a])));
    }
  }
  return new Float32Array(ends);
}

function multiply(a, b) {
  const product = new Float32Array(16);
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      for (let k = 0; k < 4; k++) product[4 * i + j] += a[4 * k + j] * b[4 * i + k];
    }
  }
  return product;
}

function openSpace() {
  const surface = page.surface ? loadSurface(page.surface) : null;
  const bounds = surface ? boundsOf(surface.place) : page.domain;
  const size = Math.hypot(...minus(bounds[1], bounds[0])) || 1;
  const middle = bounds[0].map((x, k) => (x + bounds[1][k]) / 2);
  const start = { yaw: -2, pitch: 0.3, distance: 2.1 * size, at: middle, up: 2 };
  const state = { ...start, box: true, marks: true, picture: false, cells: false };
  const canvas = make("canvas", { className: "fill", tabIndex: 0, role: "img", ariaLabel: "The surface in 3D. Arrow keys turn, with shift they move; plus and minus zoom; 0 goes back." });
  const over = make("canvas", { className: "fill over", ariaHidden: "true" });
  const tip = make("div", { className: "tip", hidden: true });
  const bars = make("div", { className: "bars" });
  const hint = make("div", { className: "hint" }, "drag: turn · shift: move · click, then wheel: zoom · double click: centre");
  const view = make("div", { className: "view", id: "space" }, canvas, over, hint, bars, tip);
  const renderer = openGl(canvas) ?? openPlain(canvas);
  const scene = { surface, lines: [], picture: null };
  const places = page.checks.flatMap((list) => list.rows.flatMap((row) => row.places));
  let camera = null;

  function look() {
    const frame = ({ 1: (v) => [v[0], v[2], -v[1]], 2: (v) => v })[state.up];
    const [cy, sy, cp, sp] = [Math.cos(state.yaw), Math.sin(state.yaw), Math.cos(state.pitch), Math.sin(state.pitch)];
    const back = frame([cp * cy, cp * sy, sp]);
    const right = frame([-sy, cy, 0]);
    const up = frame([-sp * cy, -sp * sy, cp]);
    const eye = along(state.at, state.distance, back);
    const rows = [right, up, back];
    const turned = new Float32Array(16);
    rows.forEach((row, j) => row.forEach((x, k) => (turned[4 * k + j] = x)));
    rows.forEach((row, j) => (turned[12 + j] = -dot(row, eye)));
    turned[15] = 1;
    const near = Math.max(state.distance - 12 * size, state.distance / 200);
    const far = state.distance + 60 * size;
    const f = 1 / Math.tan(FIELD / 2);
    const aspect = canvas.width / canvas.height;
    const lens = new Float32Array([f / Math.max(aspect, 1), 0, 0, 0, 0, f / Math.max(aspect, 1) * aspect, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0]);
    camera = { matrix: multiply(lens, turned), view: turned, eye, right, up, back, tangent: Math.max(aspect, 1) / f, aspect };
  }

  const width = () => view.clientWidth;
  const height = () => view.clientHeight;

  // The pixel of a point, and whether it is in front of the eye.
  function project(p) {
    const m = camera.matrix;
    const row = (k) => m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k];
    return [((row(0) / row(3) + 1) * width()) / 2, ((1 - row(1) / row(3)) * height()) / 2, row(3) > 0];
  }

  function ray(x, y) {
    const right = (2 * x / width() - 1) * camera.tangent;
    const up = ((1 - 2 * y / height()) * camera.tangent) / camera.aspect;
    return unit(along(along(camera.back.map((v) => -v), right, camera.right), up, camera.up));
  }

  function overlay() {
    const scale = Math.min(2, devicePixelRatio || 1);
    [over.width, over.height] = [canvas.width, canvas.height];
    const context = over.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    if (state.marks) {
      places.forEach((place, i) => {
        const [x, y, isAhead] = project(place.at);
        if (!isAhead) return;
        context.strokeStyle = context.fillStyle = "#e11d48";
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, 9, 0, 7);
        context.stroke();
        context.fillText(String(i + 1), x, y - 17);
      });
    }
    const origin = [46, height() - 46];
    ["#dc2626", "#16a34a", "#2563eb"].forEach((colour, k) => {
      const tipOf = [origin[0] + 28 * camera.right[k], origin[1] - 28 * camera.up[k]];
      context.strokeStyle = context.fillStyle = colour;
      context.beginPath();
      context.moveTo(...origin);
      context.lineTo(...tipOf);
      context.stroke();
      context.fillText("xyz"[k], origin[0] + 38 * camera.right[k], origin[1] - 38 * camera.up[k]);
    });
    const perPixel = (2 * state.distance * camera.tangent) / width();
    const power = 10 ** Math.floor(Math.log10(110 * perPixel));
    const step = [5, 2, 1].find((k) => k * power <= 110 * perPixel) * power;
    const long = step / perPixel;
    context.strokeStyle = context.fillStyle = style("--ink");
    context.strokeRect(100, height() - 30, long, 0);
    context.fillText(`${digits(step)} ${page.unit}`, 100 + long / 2, height() - 42);
  }

  let asked = false;
  function draw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      drawNow();
    });
  }

  function drawNow() {
    const scale = Math.min(2, devicePixelRatio || 1);
    const pixels = [Math.round(width() * scale), Math.round(height() * scale)];
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    look();
    const ink = getComputedStyle(view).color.match(/\d+/g).slice(0, 3).map(Number);
    scene.lines = [];
    if (state.box && page.domain) scene.lines.push({ points: box, colour: ink.map((c) => (c + 2 * 128) / 3) });
    if (state.marks && marks.length) scene.lines.push({ points: marks, colour: [225, 29, 72] });
    const slice = sliceView?.inSpace();
    scene.picture = state.picture && slice ? slice.picture : null;
    if (state.cells && slice) scene.lines.push({ points: slice.lines, colour: ink });
    renderer.draw(scene, camera);
    overlay();
    keep("space", { yaw: state.yaw, pitch: state.pitch, distance: state.distance, at: state.at, up: state.up });
  }

  const box = page.domain ? edgesOf(page.domain) : null;
  const marks = decode(page.marks);

  function probe(x, y) {
    const found = surface && hit(surface, camera.eye, ray(x, y));
    if (!found) return tell(tip, x, y, []);
    const corners = [0, 1, 2].map((k) => surface.index[3 * found.triangle + k]);
    const lines = page.surface.fields.map((field, i) => {
      const value = corners.reduce((sum, v, k) => sum + found.weights[k] * surface.values[i][v], 0);
      return `${field.name} ${digits(field.colours === "steps" ? Math.round(value) : value)} ${field.unit === "1" ? "" : field.unit}`;
    });
    const name = page.surface.patches[surface.patch[corners[0]]];
    if (name !== undefined) lines.unshift(name);
    const at = along(camera.eye, found.t, ray(x, y));
    lines.push(`${at.map((v) => digits(v)).join(", ")} ${page.unit}`);
    tell(tip, x, y, lines);
  }

  const turn = (dx, dy) => {
    state.yaw -= dx;
    state.pitch = clamp(state.pitch + dy, -1.55, 1.55);
    draw();
  };
  const move = (dx, dy) => {
    const by = (2 * state.distance * camera.tangent) / width();
    state.at = along(along(state.at, -dx * by, camera.right), dy * by, camera.up);
    draw();
  };
  const zoom = (by) => {
    state.distance = clamp(state.distance * by, 1e-4 * size, 40 * size);
    draw();
  };

  // Turns the camera to a state within a third of a second.
  function fly(to) {
    const from = { ...state };
    const target = { ...from, ...to };
    const began = performance.now();
    const time = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 350;
    const step = (now) => {
      const share = time === 0 ? 1 : clamp((now - began) / time, 0, 1);
      const s = share * share * (3 - 2 * share);
      for (const key of ["yaw", "pitch", "distance"]) state[key] = from[key] + s * (target[key] - from[key]);
      state.at = from.at.map((x, k) => x + s * (target.at[k] - x));
      draw();
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function flyTo(place) {
    state.marks = true;
    const to = { at: place.at, distance: Math.max(8 * place.size, 0.15 * size) };
    if (Math.hypot(...place.normal) > 0) {
      const n = state.up === 2 ? place.normal : [place.normal[0], -place.normal[2], place.normal[1]];
      to.pitch = clamp(Math.asin(clamp(n[2] / Math.hypot(...n), -1, 1)), -1.5, 1.5);
      to.yaw = Math.atan2(n[1], n[0]);
    }
    view.scrollIntoView({ block: "center" });
    canvas.focus({ preventScroll: true });
    fly(to);
  }

  const pointers = new Map();
  const here = (e) => [e.clientX - view.getBoundingClientRect().left, e.clientY - view.getBoundingClientRect().top];
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, here(e));
    canvas.focus({ preventScroll: true });
  });
  const lift = (e) => pointers.delete(e.pointerId);
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => tell(tip, 0, 0, []));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("pointermove", (e) => {
    const now = here(e);
    const before = pointers.get(e.pointerId);
    if (!before) return probe(...now);
    tell(tip, 0, 0, []);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
      const distance = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      zoom(distance(before) / distance(now));
      move(dx / 2, dy / 2);
    } else if (e.shiftKey || e.buttons & 2) move(dx, dy);
    else turn(dx / 150, dy / 150);
    pointers.set(e.pointerId, now);
  });
  canvas.addEventListener("dblclick", (e) => {
    const found = surface && hit(surface, camera.eye, ray(...here(e)));
    if (found) fly({ at: along(camera.eye, found.t, ray(...here(e))) });
  });
  // Only after a click, so that the page scrolls.
  canvas.addEventListener("wheel", (e) => {
    if (document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(e.deltaY * 0.0015));
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (arrows[e.key]) (e.shiftKey ? move : turn)(...arrows[e.key].map((x) => x * (e.shiftKey ? 30 : 0.1)));
    else if (e.key === "+" || e.key === "=") zoom(0.85);
    else if (e.key === "-") zoom(1 / 0.85);
    else if (e.key === "0") fly(start);
    else return;
    e.preventDefault();
  });

  // What colours the body: its fields, and its patches.
  const ways = surface ? page.surface.fields.map((field, i) => [field.name, (v) => colourOf(field, surface.values[i][v]), () => [colourBar(field)]]) : [];
  const names = page.surface?.patches ?? [];
  if (surface && (names.length > 1 || ways.length === 0)) {
    const keys = () => [make("div", { className: "bar" }, ...names.slice(0, 12).map((name, i) => swatch(categories[i % 8], name)), names.length > 12 ? `and ${names.length - 12} more` : "")];
    ways.push([names.length > 1 ? "patches" : "surface", (v) => categories[surface.patch[v] % 8], keys]);
  }
  function colour(i) {
    const [, of, legend] = ways[i];
    paint(surface, of);
    bars.replaceChildren(...legend());
    draw();
  }
  const views = [["start", start], ["front", { yaw: Math.PI, pitch: 0 }], ["side", { yaw: -Math.PI / 2, pitch: 0 }], ["top", { yaw: -Math.PI / 2, pitch: 1.55 }]];
  const options = make("div", { className: "options" });
  if (page.domain) options.append(toggle("box", true, (on) => ((state.box = on), draw())));
  if (marks.length || places.length) options.append(toggle("defects", true, (on) => ((state.marks = on), draw())));
  if (page.slices.some((slice) => slice.normal)) {
    if (renderer.hasPictures) options.append(toggle("slice", false, (on) => ((state.picture = on), draw())));
    options.append(toggle("cells of the slice", false, (on) => ((state.cells = on), draw())));
  }
  options.append(...views.map(([name, to]) => command(name, () => fly(name === "start" ? start : { at: middle, distance: start.distance, ...to }))));
  const upwards = command("up: z", () => {
    state.up = 3 - state.up;
    upwards.textContent = `up: ${"xyz"[state.up]}`;
    draw();
  });
  options.append(upwards, command("save PNG", save));

  function save() {
    drawNow();
    const whole = make("canvas", { width: canvas.width, height: canvas.height });
    const context = whole.getContext("2d");
    context.fillStyle = style("--card");
    context.fillRect(0, 0, whole.width, whole.height);
    context.drawImage(canvas, 0, 0);
    context.drawImage(over, 0, 0);
    make("a", { href: whole.toDataURL(), download: `${page.title.replace(/[^\w-]+/g, "-")}.png` }).click();
  }

  const head = ways.length > 1 ? choice("colour", ways.map(([name]) => name), 0, colour) : "";
  section(surface ? "Body" : "Mesh", head, view, options);
  Object.assign(state, kept("space"));
  upwards.textContent = `up: ${"xyz"[state.up]}`;
  drawings.push(draw);
  if (ways.length) colour(0);
  return { draw, flyTo, state };
}
