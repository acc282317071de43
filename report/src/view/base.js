"use strict";
// Arrays, numbers, text. Whatever comes from a file becomes a text node, never markup.

const page = JSON.parse(document.getElementById("header").textContent);

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// "C_D" with a lowered letter.
function lowered(text) {
  const parts = String(text).split(/(C_[A-Z][a-z]?)/);
  const nodes = parts.map((part, i) => (i % 2 ? make("span", {}, "C", make("sub", {}, part.slice(2))) : part));
  return make("span", {}, ...nodes);
}

let bytes = new Uint8Array();

async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  bytes = new Uint8Array(await new Response(plain).arrayBuffer());
}

// The array of a description; see pack.rs.
function decode({ kind, at, count, coding }) {
  if (kind === "bytes") return bytes.subarray(at, at + count);
  const width = kind === "numbers" ? 2 : 4;
  const codes = new Uint32Array(count);
  for (let plane = 0; plane < width; plane++) {
    const from = at + plane * count;
    for (let i = 0; i < count; i++) codes[i] |= bytes[from + i] << (8 * plane);
  }
  if (kind === "floats") return new Float32Array(codes.buffer);
  if (kind === "index") {
    for (let i = 0, next = 0; i < count; i++) {
      const below = codes[i];
      codes[i] = next - below;
      if (below === 0) next++;
    }
    return codes;
  }
  const { stride, low, high, most } = coding;
  const steps = low.map((l, k) => (high[k] - l) / most);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const before = i >= stride ? codes[i - stride] : i > 0 ? codes[i - 1] : 0;
    codes[i] = (((codes[i] >>> 1) ^ -(codes[i] & 1)) + before) & 65535;
    const k = i % low.length;
    values[i] = codes[i] > most ? NaN : low[k] + codes[i] * steps[k];
  }
  return values;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// A number with so many digits.
function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 || (size > 0 && size < 1e-3) ? value.toExponential(count - 1) : String(Number(value.toPrecision(count)));
  return text.replaceAll("-", "−");
}

const inUnit = (name, unit) => (unit && unit !== "1" ? `${name} in ${unit}` : name);

// Round numbers between two values, about `count` of them, as [value, text].
function ticks(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    const value = i * step;
    const text = Math.abs(value) >= 1e5 || decimals > 4 ? digits(value, 3) : value.toFixed(decimals).replace("-", "−");
    found.push([value, text]);
  }
  return found;
}

// Colours. Sequential: viridis of matplotlib (van der Walt and Smith, 2015); diverging: RdBu of ColorBrewer (Brewer, 2003).
const hex = (text) => text.match(/../g).map((pair) => parseInt(pair, 16));
const anchors = {
  sequential: "440154 482878 3e4a89 31688e 26838f 1f9d8a 6cce5a b6de2b fee825".split(" ").map(hex),
  diverging: "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f".split(" ").map(hex),
};
const categories = "4e79a7 f28e2b 59a14f b07aa1 76b7b2 e15759 edc948 9c755f".split(" ").map(hex);
const missing = [150, 150, 150];

function colourAt(stops, share) {
  const at = clamp(share, 0, 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((low, k) => Math.round(low + (stops[i + 1][k] - low) * (at - i)));
}

const tables = {};
for (const name in anchors) {
  tables[name] = Array.from({ length: 256 }, (_, i) => colourAt(anchors[name], i / 255));
}

// The colour of a value of a field.
function colourOf(field, value) {
  if (Number.isNaN(value)) return missing;
  if (field.colours === "steps") return categories[Math.round(value) % categories.length];
  const [low, high] = field.range;
  return tables[field.colours][clamp(Math.floor(((value - low) / (high - low)) * 256), 0, 255)];
}

const css = (colour) => `rgb(${colour.join(",")})`;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas of the size at which it is shown; the context has the units of the page.
function fit(canvas, height) {
  const scale = Math.min(2, devicePixelRatio || 1);
  const width = canvas.parentElement.clientWidth;
  const pixels = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  return [context, width];
}

// Lines of text beside the pointer.
function tell(tip, x, y, lines) {
  tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
  tip.hidden = lines.length === 0;
  if (lines.length === 0) return;
  const room = tip.parentElement.clientWidth;
  const left = x + 16 + tip.offsetWidth > room ? Math.max(0, x - tip.offsetWidth - 12) : x + 14;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(4, y - 12)}px`;
}

// Buttons of which one is pressed.
function choice(label, names, pressed, choose) {
  const buttons = names.map((name, i) => {
    const button = make("button", { type: "button", onclick: () => press(i) }, lowered(name));
    return button;
  });
  const press = (i) => {
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === i));
    choose(i);
  };
  buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === pressed));
  const box = make("div", { className: "choice", role: "group", ariaLabel: label }, ...buttons);
  box.press = press;
  return box;
}

function toggle(label, checked, change) {
  const input = make("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
  return make("label", { className: "toggle" }, input, label);
}

const command = (label, run) => make("button", { type: "button", className: "command", onclick: run }, label);

function section(title, ...children) {
  const box = make("section", {}, make("h2", {}, title), ...children);
  document.getElementById("main").append(box);
  return box;
}

// A colour bar with numbers at its ends.
function colourBar(field) {
  const bar = make("div", { className: "bar" }, make("div", {}, inUnit(field.name, field.unit)));
  if (field.colours === "steps") {
    const [low, high] = field.range;
    for (let i = Math.round(low); i <= Math.min(high, low + 15); i++) bar.append(swatch(categories[i % categories.length], String(i)));
    return bar;
  }
  const strip = make("i");
  strip.style.background = `linear-gradient(to right, ${anchors[field.colours].map(css).join(",")})`;
  const [low, high] = field.range;
  const ends = [low, (low + high) / 2, high].map((v) => make("span", {}, digits(v, 2)));
  bar.append(strip, make("div", { className: "ends" }, ...ends));
  return bar;
}

function swatch(colour, name) {
  const square = make("i", { className: "swatch" });
  square.style.background = css(colour);
  return make("span", { className: "key" }, square, name);
}

// What is drawn again after a change of size or theme.
const drawings = [];
const drawAll = () => drawings.forEach((draw) => draw());
