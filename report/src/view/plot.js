// Histories: zoom, values under the pointer, a window of averages.

const curveColours = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"];

// Mean and rms fluctuation of the samples from one x to another, those that are numbers.
function average(x, values, [from, to]) {
  let [count, sum, squares] = [0, 0, 0];
  const each = (visit) => {
    for (let i = 0; i < x.length; i++) if (x[i] >= from && x[i] <= to && !Number.isNaN(values[i])) visit(values[i]);
  };
  each((v) => ((count += 1), (sum += v)));
  const mean = sum / count;
  each((v) => (squares += (v - mean) ** 2));
  return [mean, Math.sqrt(squares / count)];
}

function openPlot(plot) {
  const x = decode(plot.x);
  const [first, last] = [x[0], x[x.length - 1]];
  const groups = plot.groups.map((group) => ({
    name: group.name,
    series: group.series.map((s) => ({ name: s.name, values: decode(s.values), isOn: group.series.length < 4 || s.name === "all" })),
  }));
  for (const group of groups) if (!group.series.some((s) => s.isOn)) group.series[0].isOn = true;
  const span = plot.window ?? [(first + last) / 2, last];
  const state = { group: 0, window: [...span], view: [first, last] };
  const canvas = make("canvas", { tabIndex: 0, role: "img", ariaLabel: `${plot.title}. Arrow keys move the start of the averaging window, with shift its end; plus and minus zoom.` });
  const tip = make("div", { className: "tip", hidden: true });
  const stage = make("div", { className: "stage plot" }, canvas, tip);
  const keys = make("span");
  const averages = make("output");
  const height = 320;
  const top = 12;
  const bottom = 40;
  let area = null;

  const shown = () => groups[state.group].series.filter((s) => s.isOn);
  const colour = (s) => style(curveColours[groups[state.group].series.indexOf(s) % curveColours.length]);

  function range() {
    let [low, high] = [Infinity, -Infinity];
    // The transient of the start, a twentieth, does not stretch the axis.
    const from = state.view[0] <= first ? first + (last - first) / 20 : state.view[0];
    for (const { values } of shown()) {
      for (let i = 0; i < x.length; i++) {
        if (x[i] < from || x[i] > state.view[1] || Number.isNaN(values[i])) continue;
        low = Math.min(low, values[i]);
        high = Math.max(high, values[i]);
      }
    }
    if (low > high) return [-1, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.1;
    return [low - room, high + room];
  }

  function draw() {
    const [context, width] = fit(canvas, height);
    const [left, right] = [width < 600 ? 52 : 64, 14];
    const [low, high] = range();
    const wide = width - left - right;
    const X = (v) => left + ((v - state.view[0]) / (state.view[1] - state.view[0])) * wide;
    const Y = (v) => height - bottom - ((v - low) / (high - low)) * (height - bottom - top);
    const inverse = (px) => state.view[0] + ((px - left) / wide) * (state.view[1] - state.view[0]);
    area = { X, inverse };
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [v, text] of ticks(low, high, 6)) {
      context.fillStyle = style("--line");
      context.fillRect(left, Y(v), wide, 1);
      context.fillStyle = style("--mute");
      context.fillText(text, left - 8, Y(v));
    }
    context.fillText(plot.label, width - right, height - 9);
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [v, text] of ticks(...state.view, width < 600 ? 3 : 8)) {
      context.fillRect(X(v), height - bottom, 1, 4);
      context.fillText(text, X(v), height - bottom + 7);
    }
    context.save();
    context.beginPath();
    context.rect(left, top, wide, height - bottom - top);
    context.clip();
    const [from, to] = state.window.map(X);
    context.fillStyle = style("--accent");
    context.globalAlpha = 0.1;
    context.fillRect(from, top, to - from, height);
    context.globalAlpha = 1;
    for (const edge of [from, to]) {
      context.fillRect(edge - 1, top, 2, height);
      context.fillRect(edge - 4, top + 4, 8, 18);
    }
    for (const s of shown()) {
      context.strokeStyle = colour(s);
      context.lineWidth = 1.6;
      context.beginPath();
      let isDown = false;
      for (let i = 0; i < x.length; i++) {
        const isNumber = !Number.isNaN(s.values[i]);
        if (isNumber) isDown ? context.lineTo(X(x[i]), Y(s.values[i])) : context.moveTo(X(x[i]), Y(s.values[i]));
        isDown = isNumber;
      }
      context.stroke();
      const [mean] = average(x, s.values, state.window);
      context.setLineDash([5, 4]);
      context.beginPath();
      context.moveTo(from, Y(mean));
      context.lineTo(to, Y(mean));
      context.stroke();
      context.setLineDash([]);
    }
    context.restore();
    const say = (s) => {
      const [mean, rms] = average(x, s.values, state.window);
      return `${s.name} ${digits(mean, 4)}, rms ${digits(rms, 2)}`;
    };
    averages.textContent = `mean from ${digits(state.window[0], 4)} to ${digits(state.window[1], 4)}: ${shown().map(say).join(" · ")}`;
  }

  function showKeys() {
    const buttons = groups[state.group].series.map((s) => {
      const button = make("button", { type: "button", className: "key" }, swatch([0, 0, 0], s.name));
      button.querySelector("i").style.background = `var(${curveColours[groups[state.group].series.indexOf(s) % curveColours.length]})`;
      button.setAttribute("aria-pressed", s.isOn);
      button.onclick = () => {
        s.isOn = !s.isOn;
        button.setAttribute("aria-pressed", s.isOn);
        draw();
      };
      return button;
    });
    keys.replaceChildren(...buttons);
  }

  function zoom(by, at) {
    const [from, to] = state.view;
    const least = (last - first) / 1000;
    if ((to - from) * by < least) return;
    state.view = [Math.max(first, at + (from - at) * by), Math.min(last, at + (to - at) * by)];
    draw();
  }

  function setEdge(edge, value) {
    const gap = (last - first) / 1000;
    const [low, high] = edge === 0 ? [first, state.window[1] - gap] : [state.window[0] + gap, last];
    state.window[edge] = clamp(value, low, high);
    draw();
  }

  const edgeAt = (px) => state.window.findIndex((v) => Math.abs(area.X(v) - px) < 10);
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
    drag = { edge: edgeAt(e.offsetX), at: area.inverse(e.offsetX) };
  });
  canvas.addEventListener("pointerup", () => (drag = null));
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => tell(tip, 0, 0, []));
  canvas.addEventListener("pointermove", (e) => {
    const at = area.inverse(e.offsetX);
    if (drag && drag.edge >= 0) return setEdge(drag.edge, at);
    if (drag) {
      const by = clamp(drag.at - at, first - state.view[0], last - state.view[1]);
      state.view = state.view.map((v) => v + by);
      return draw();
    }
    canvas.style.cursor = edgeAt(e.offsetX) >= 0 ? "ew-resize" : "crosshair";
    let nearest = 0;
    for (let i = 1; i < x.length; i++) if (Math.abs(x[i] - at) < Math.abs(x[nearest] - at)) nearest = i;
    tell(tip, e.offsetX, e.offsetY, [`${plot.label}: ${digits(x[nearest], 4)}`, ...shown().map((s) => `${s.name} ${digits(s.values[nearest], 4)}`)]);
  });
  canvas.addEventListener("wheel", (e) => {
    if (document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(e.deltaY * 0.0015), area.inverse(e.offsetX));
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const edge = e.shiftKey ? 1 : 0;
    const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[e.key];
    if (by) setEdge(edge, state.window[edge] + by * (last - first));
    else if (e.key === "+" || e.key === "=") zoom(0.8, (state.view[0] + state.view[1]) / 2);
    else if (e.key === "-") zoom(1.25, (state.view[0] + state.view[1]) / 2);
    else return;
    e.preventDefault();
  });
  const reset = () => {
    state.view = [first, last];
    state.window = [...span];
    draw();
  };
  canvas.addEventListener("dblclick", reset);
  const choose = (i) => {
    state.group = i;
    showKeys();
    draw();
  };
  const names = groups.map((g) => g.name);
  const which = names.length > 1 ? choice("quantity", names, 0, choose) : make("span", {}, lowered(names[0]));
  section(plot.title, make("div", { className: "options" }, which, command("reset", reset)), stage, make("div", { className: "options" }, keys, averages));
  showKeys();
  drawings.push(draw);
  draw();
  return state;
}
