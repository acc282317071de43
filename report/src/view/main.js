// The page, from top to bottom.

let spaceView = null;
let sliceView = null;

// What a page that is loaded again takes up, where the browser lets it.
const storage = (() => {
  try {
    return location.protocol === "file:" ? null : sessionStorage;
  } catch {
    return null;
  }
})();
const keep = (name, value) => storage?.setItem(name, JSON.stringify(value));
const kept = (name) => JSON.parse(storage?.getItem(name) ?? "{}");

const gradeSigns = { ok: "✓", warn: "!", bad: "✕" };
const gradeNames = { ok: "good", warn: "look at this", bad: "wrong" };
const sign = (grade) => make("span", { className: `sign ${grade}`, role: "img", ariaLabel: gradeNames[grade] }, gradeSigns[grade]);

function showHead() {
  const main = document.getElementById("main");
  document.getElementById("title").textContent = page.title;
  document.getElementById("subtitle").textContent = page.subtitle;
  document.getElementById("foot").textContent = page.foot;
  if (page.verdict) {
    const { grade, title, text } = page.verdict;
    const words = make("div", {}, make("b", {}, title), " ", lowered(text));
    main.append(make("div", { className: `verdict ${grade}` }, sign(grade), words));
  }
  const figures = page.figures.map(({ name, value, unit, note }) =>
    make("div", {}, make("dt", {}, lowered(name)), make("dd", {}, value, " ", make("small", {}, unit)), make("small", {}, note)),
  );
  if (figures.length) main.append(make("dl", { className: "figures" }, ...figures));
}

function showTable({ title, head, rows, has_sum, note }) {
  const row = (cells, tag, isSum) => make("tr", { className: isSum ? "sum" : "" }, ...cells.map((cell) => make(tag, {}, lowered(cell))));
  const body = rows.map((cells, i) => row(cells, "td", has_sum && i === rows.length - 1));
  const table = make("table", {}, ...(head.length ? [make("thead", {}, row(head, "th"))] : []), make("tbody", {}, ...body));
  section(title, make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title }, table), ...(note ? [make("p", {}, lowered(note))] : []));
}

function showChecks({ title, rows }, numberFrom) {
  let next = numberFrom;
  const items = rows.map((row) => {
    const words = make("div", {}, lowered(row.title), make("small", {}, lowered(row.note)));
    const buttons = row.places.map((place) => {
      next += 1;
      return command(`show ${next}`, () => spaceView?.flyTo(place));
    });
    if (buttons.length && spaceView) words.append(make("div", { className: "places" }, ...buttons));
    return make("li", {}, sign(row.grade), words);
  });
  section(title, make("ul", {}, ...items));
  return next;
}

function showAll() {
  showHead();
  if (page.surface || page.domain) spaceView = openSpace();
  if (page.slices.length) sliceView = openSlices();
  page.plots.filter((plot) => plot.x.count > 1 && plot.groups.some((g) => g.series.length)).forEach(openPlot);
  page.tables.forEach(showTable);
  page.checks.reduce((next, list) => showChecks(list, next), 0);
  for (const { title, text } of page.texts) {
    const box = make("details", {}, make("summary", {}, title), make("pre", { tabIndex: 0 }, text));
    document.getElementById("main").append(box);
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawAll();
}

async function open() {
  if (typeof DecompressionStream === "undefined") throw new Error("a browser from 2023 on is needed");
  await unpack();
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = kept("theme").name ?? (isDark ? "dark" : "light");
  showAll();
  document.getElementById("theme").onclick = () => {
    const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    keep("theme", { name });
    setTheme(name);
  };
  let asked = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(drawAll);
  }).observe(document.body);
  document.documentElement.dataset.state = "ready";
}

open().catch((error) => {
  const line = document.getElementById("failure");
  line.textContent = `This page could not be drawn: ${error.message}`;
  line.hidden = false;
  document.documentElement.dataset.state = "failed";
  console.error(error);
});
