// Slices: values, cells, the section of the surface, time.

function openSlices() {
  const state = { plane: 0, field: 0, frame: Infinity, cells: false, smooth: true, view: null };
  const loaded = [];
  const canvas = make("canvas", { tabIndex: 0, role: "img", ariaLabel: "A slice. Arrow keys move it, plus and minus zoom, 0 shows all." });
  const tip = make("div", { className: "tip", hidden: true });
  const stage = make("div", { className: "stage", id: "slice" }, canvas, tip);
  const time = make("input", { type: "range", min: 0, step: 1, ariaLabel: "time", id: "frame" });
  const clock = make("output", { id: "clock" });
  const raster = make("canvas");
  let area = null;
  let painted = "";

  const slice = () => page.slices[state.plane];
  const field = () => slice().fields[state.field];
  const load = (i) => {
    loaded[i] ??= {
      values: page.slices[i].fields.map((f) => decode(f.values)),
      at: decode(page.slices[i].blocks.at),
      level: decode(page.slices[i].blocks.level),
      outline: decode(page.slices[i].outline),
    };
    return loaded[i];
  };
  const value = (k, x, y) => {
    const [nx, ny] = slice().size;
    return load(state.plane).values[k][(state.frame * ny + y) * nx + x];
  };

  // One pixel a value.
  function paintRaster() {
    const [nx, ny] = slice().size;
    const now = [state.plane, state.field, state.frame].join();
    if (painted === now) return;
    painted = now;
    [raster.width, raster.height] = [nx, ny];
    const context = raster.getContext("2d");
    const image = context.createImageData(nx, ny);
    for (let y = 0; y < ny; y++) {
      for (let x = 0; x < nx; x++) image.data.set([...colourOf(field(), value(state.field, x, y)), 255], 4 * ((ny - 1 - y) * nx + x));
    }
    context.putImageData(image, 0, 0);
  }

  const home = () => {
    const [low, high] = slice().bounds;
    return [low[0], high[0], low[1], high[1]];
  };

  function draw() {
    const { axes, bounds, fields, is_closed } = slice();
    const [x0, x1, y0, y1] = (state.view ??= home());
    const room = stage.clientWidth;
    const isNarrow = room < 600;
    const [left, right, top, bottom] = [isNarrow ? 44 : 62, 14, 10, 40];
    const width = Math.min(room - left - right, (500 * (x1 - x0)) / (y1 - y0));
    const height = (width * (y1 - y0)) / (x1 - x0);
    const [context] = fit(canvas, height + top + bottom);
    const [ox, oy] = [left + (room - left - right - width) / 2, top];
    const X = (x) => ox + ((x - x0) / (x1 - x0)) * width;
    const Y = (y) => oy + ((y1 - y) / (y1 - y0)) * height;
    area = { ox, oy, width, height };
    context.save();
    context.beginPath();
    context.rect(ox, oy, width, height);
    context.clip();
    if (fields.length) {
      paintRaster();
      context.imageSmoothingEnabled = state.smooth;
      const [low, high] = bounds;
      context.drawImage(raster, X(low[0]), Y(high[1]), X(high[0]) - X(low[0]), Y(low[1]) - Y(high[1]));
    }
    if (state.cells || !fields.length) drawCells(context, X, Y, width / (x1 - x0));
    drawBody(context, X, Y, is_closed);
    drawOutline(context, X, Y);
    context.restore();
    drawAxes(context, X, Y, axes, isNarrow);
    legend.replaceChildren(...(fields.length ? [colourBar(field())] : levelKeys()));
    clock.textContent = fields.length ? `t = ${digits(slice().times[state.frame], 4)} ${slice().time_unit}` : "";
  }

  // Triangles from one point to every segment: by the even-odd rule, their sum is what closed loops enclose.
  function drawBody(context, X, Y, isClosed) {
    if (!isClosed) return;
    const ends = load(state.plane).outline;
    const pivot = [X(ends[0]), Y(ends[1])];
    context.beginPath();
    for (let i = 0; i < ends.length; i += 4) {
      context.moveTo(...pivot);
      context.lineTo(X(ends[i]), Y(ends[i + 1]));
      context.lineTo(X(ends[i + 2]), Y(ends[i + 3]));
      context.closePath();
    }
    context.fillStyle = style("--body");
    context.fill("evenodd");
  }

  function drawOutline(context, X, Y) {
    const ends = load(state.plane).outline;
    context.beginPath();
    for (let i = 0; i < ends.length; i += 4) {
      context.moveTo(X(ends[i]), Y(ends[i + 1]));
      context.lineTo(X(ends[i + 2]), Y(ends[i + 3]));
    }
    context.strokeStyle = "#14181d";
    context.lineWidth = 1.2;
    context.stroke();
  }

  // Cells that are 3 pixels wide, else their blocks; without values, blocks have the colours of their levels.
  function drawCells(context, X, Y, scale) {
    const { at, level } = load(state.plane);
    const { bounds, block_edge, fields } = slice();
    const [low, high] = bounds;
    const view = state.view;
    context.lineWidth = 0.6;
    for (const isFill of fields.length ? [false] : [true, false]) {
      context.strokeStyle = fields.length ? "rgba(20,24,29,.45)" : style("--mute");
      context.beginPath();
      for (let i = 0; i < level.length; i++) {
        const edge = block_edge / 2 ** level[i];
        const [x, y] = [low[0] + at[2 * i] * edge, low[1] + at[2 * i + 1] * edge];
        if (x > view[1] || x + edge < view[0] || y > view[3] || y + edge < view[2]) continue;
        if (isFill) {
          context.fillStyle = css(categories[level[i] % 8].map((c) => c * 0.35 + 0.65 * 255));
          context.fillRect(X(x), Y(y + edge), edge * scale, edge * scale);
          continue;
        }
        const parts = (edge / 4) * scale >= 3 ? 4 : 1;
        for (let k = 0; k <= parts; k++) {
          const [u, v] = [Math.min(x + (k * edge) / parts, high[0]), Math.min(y + (k * edge) / parts, high[1])];
          context.moveTo(X(u), Y(y));
          context.lineTo(X(u), Y(y + edge));
          context.moveTo(X(x), Y(v));
          context.lineTo(X(x + edge), Y(v));
        }
      }
      if (!isFill) context.stroke();
    }
  }

  const levelKeys = () => {
    const present = [...new Set(load(state.plane).level)].sort((a, b) => a - b);
    const names = present.map((l) => swatch(categories[l % 8].map((c) => Math.round(c * 0.35 + 0.65 * 255)), `level ${l}`));
    return [make("div", { className: "bar" }, ...names)];
  };

  function drawAxes(context, X, Y, axes, isNarrow) {
    const [x0, x1, y0, y1] = state.view;
    const { ox, oy, width, height } = area;
    context.strokeStyle = context.fillStyle = style("--mute");
    context.lineWidth = 1;
    context.strokeRect(ox + 0.5, oy + 0.5, width - 1, height - 1);
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [v, text] of ticks(x0, x1, isNarrow ? 3 : Math.max(2, width / 110))) {
      context.fillRect(X(v), oy + height, 1, 4);
      context.fillText(text, X(v), oy + height + 7);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [v, text] of ticks(y0, y1, Math.max(2, height / 70))) {
      context.fillRect(ox - 4, Y(v), 4, 1);
      context.fillText(text, ox - 7, Y(v));
    }
    context.fillText(axes.map((a) => "xyz"[a]).join(", ") + (page.unit ? ` in ${page.unit}` : ""), ox + width, oy + height + 32);
  }

  function setFrame(frame) {
    state.frame = clamp(frame, 0, slice().times.length - 1);
    time.value = state.frame;
    draw();
    spaceView?.draw();
    keep("slice", { plane: state.plane, field: state.field });
  }

  function choosePlane(i) {
    state.plane = i;
    state.view = null;
    state.field = Math.min(state.field, Math.max(0, slice().fields.length - 1));
    time.max = Math.max(0, slice().times.length - 1);
    timeline.hidden = slice().times.length < 2;
    showFields();
    setFrame(Math.min(state.frame, slice().times.length - 1));
  }

  function showFields() {
    const names = slice().fields.map((f) => f.name);
    const choose = (i) => {
      state.field = i;
      setFrame(state.frame);
    };
    quantities.replaceChildren(...(names.length > 1 ? [choice("quantity", names, state.field, choose)] : []));
    smooth.hidden = names.length === 0;
    cells.hidden = names.length === 0;
  }

  const place = (x, y) => {
    const [x0, x1, y0, y1] = state.view;
    return [x0 + ((x - area.ox) / area.width) * (x1 - x0), y1 - ((y - area.oy) / area.height) * (y1 - y0)];
  };

  function probe(px, py) {
    const at = place(px, py);
    const [low, high] = slice().bounds;
    const share = [0, 1].map((k) => (at[k] - low[k]) / (high[k] - low[k]));
    const [u, v] = [px - area.ox, py - area.oy];
    if (u < 0 || v < 0 || u > area.width || v > area.height || share.some((s) => s < 0 || s >= 1)) return tell(tip, px, py, []);
    const lines = [`${slice().axes.map((a, k) => `${"xyz"[a]} ${digits(at[k], 4)}`).join(", ")} ${page.unit}`];
    const [x, y] = slice().size.map((n, k) => Math.floor(share[k] * n));
    slice().fields.forEach((f, k) => lines.push(`${f.name} ${digits(value(k, x, y))} ${f.unit === "1" ? "" : f.unit}`));
    const level = levelAt(at);
    if (level !== null) lines.push(`level ${level}`);
    tell(tip, px, py, lines);
  }

  function levelAt(at) {
    const { at: corner, level } = load(state.plane);
    const [low] = slice().bounds;
    let found = null;
    for (let i = 0; i < level.length; i++) {
      const edge = slice().block_edge / 2 ** level[i];
      if ([0, 1].every((k) => Math.floor((at[k] - low[k]) / edge) === corner[2 * i + k])) found = level[i];
    }
    return found;
  }

  function zoom(by, [x, y]) {
    const [x0, x1, y0, y1] = state.view;
    const whole = home();
    if ((x1 - x0) * by >= whole[1] - whole[0]) state.view = whole;
    else state.view = [x + (x0 - x) * by, x + (x1 - x) * by, y + (y0 - y) * by, y + (y1 - y) * by];
    pan(0, 0);
  }

  // Stays within the slice.
  function pan(dx, dy) {
    const whole = home();
    const v = state.view;
    const x = clamp(dx, whole[0] - v[0], whole[1] - v[1]);
    const y = clamp(dy, whole[2] - v[2], whole[3] - v[3]);
    state.view = [v[0] + x, v[1] + x, v[2] + y, v[3] + y];
    draw();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
    drag = place(e.offsetX, e.offsetY);
  });
  canvas.addEventListener("pointerup", () => (drag = null));
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => tell(tip, 0, 0, []));
  canvas.addEventListener("pointermove", (e) => {
    if (!area) return;
    if (!drag) return probe(e.offsetX, e.offsetY);
    const now = place(e.offsetX, e.offsetY);
    pan(drag[0] - now[0], drag[1] - now[1]);
  });
  canvas.addEventListener("dblclick", () => ((state.view = home()), draw()));
  canvas.addEventListener("wheel", (e) => {
    if (document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(e.deltaY * 0.0015), place(e.offsetX, e.offsetY));
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const [x0, x1, y0, y1] = state.view;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const middle = [(x0 + x1) / 2, (y0 + y1) / 2];
    if (arrows[e.key]) pan(...arrows[e.key].map((d) => (d * (x1 - x0)) / 10));
    else if (e.key === "+" || e.key === "=") zoom(0.8, middle);
    else if (e.key === "-") zoom(1.25, middle);
    else if (e.key === "0") (state.view = home()), draw();
    else return;
    e.preventDefault();
  });

  time.oninput = () => setFrame(Number(time.value));
  let timer = 0;
  const play = command("play", () => {
    if (timer) clearInterval(timer);
    timer = timer ? 0 : setInterval(() => setFrame((state.frame + 1) % slice().times.length), 160);
    play.textContent = timer ? "pause" : "play";
  });
  const timeline = make("div", { className: "timeline" }, play, time, clock);
  const quantities = make("span");
  const legend = make("span", { className: "legend" });
  const smooth = toggle("smooth", true, (on) => ((state.smooth = on), draw()));
  const cells = toggle("cells of the mesh", false, (on) => ((state.cells = on), draw()));
  Object.assign(state, kept("slice"));
  if (!page.slices[state.plane]?.fields[state.field]) [state.plane, state.field] = [0, 0];
  const names = page.slices.map((s) => s.name);
  const planes = names.length > 1 ? choice("plane", names, state.plane, choosePlane) : make("span", {}, names[0]);
  section("Slices", make("div", { className: "options" }, planes, quantities), stage, timeline, make("div", { className: "options" }, cells, smooth, legend));

  // The plane in space: a picture, and the edges of cells.
  const inSpace = () => {
    const { normal, axes, bounds, fields } = slice();
    if (!normal) return null;
    const point = (u, v) => {
      const p = [0, 0, 0];
      [p[axes[0]], p[axes[1]], p[normal[0]]] = [u, v, normal[1]];
      return p;
    };
    const [low, high] = bounds;
    const corners = [point(low[0], low[1]), point(high[0], low[1]), point(low[0], high[1]), point(high[0], high[1])];
    if (fields.length) paintRaster();
    const picture = fields.length ? { canvas: raster, corners: new Float32Array(corners.flat()), version: painted } : null;
    const own = load(state.plane);
    own.lines ??= cellEdges(own, slice(), point);
    return { picture, lines: own.lines };
  };

  choosePlane(state.plane);
  drawings.push(draw);
  return { inSpace, state };
}

// The edges of all blocks, as ends of segments.
function cellEdges({ at, level }, { bounds, block_edge }, point) {
  const ends = [];
  for (let i = 0; i < level.length; i++) {
    const edge = block_edge / 2 ** level[i];
    const [x, y] = [bounds[0][0] + at[2 * i] * edge, bounds[0][1] + at[2 * i + 1] * edge];
    for (let k = 0; k <= 4; k++) {
      const by = (k * edge) / 4;
      ends.push(...point(x + by, y), ...point(x + by, y + edge), ...point(x, y + by), ...point(x + edge, y + by));
    }
  }
  return new Float32Array(ends);
}
