#!/usr/bin/env python3
"""Opens pages in a browser without a window and does what a reader does. Needs playwright and Chromium.

    .ci/browser_pages.py PAGE.html ...              each page has to be drawn and to react, at two sizes, in the light and the dark
    .ci/browser_pages.py --must-fail PAGE.html ...  copies of each page, each broken in one way, have to be refused
    .ci/browser_pages.py --shots FOLDER ...         also saves pictures

Of every page: no script error, no request, no sideways scrolling; what is there turns, zooms, slides and tells values.
"""

import argparse
import hashlib
import base64
import pathlib
import re
import shutil
import sys
import tempfile
import time

from playwright.sync_api import Error, sync_playwright

SIZES = [("desktop", 1280, 900, "light"), ("phone", 390, 844, "dark")]
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
# Without a graphics processor of any kind.
NO_WEBGL = """const whole = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : whole.call(this, kind, ...rest); };"""
# Colours of a canvas: how many, and a number that changes with them.
COLOURS = """(canvas) => {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  const data = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
  const seen = new Map();
  let sum = 0;
  for (const pixel of data) { seen.set(pixel, (seen.get(pixel) ?? 0) + 1); sum = (Math.imul(sum, 31) + pixel) | 0; }
  const background = Math.max(...seen.values());
  return { colours: seen.size, drawn: (data.length - background) / data.length, sum };
}"""


class Refused(Exception):
    """A page that does not do what it should."""


def demand(holds, what):
    if not holds:
        raise Refused(what)


class Reader:
    """A page in a window of some size."""

    def __init__(self, browser, path, width, height, scheme, script=None):
        self.faults = []
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
        self.page = self.context.new_page()
        if script:
            self.page.add_init_script(script)
        self.page.on("pageerror", lambda e: self.faults.append(f"script error: {e}"))
        self.page.on("console", lambda m: self.faults.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") and "GPU stall" not in m.text else None)
        self.page.on("request", lambda r: self.faults.append(f"request: {r.url[:200]}") if not self.is_own(r.url) else None)
        self.page.on("dialog", lambda d: (self.faults.append(f"dialog: {d.message}"), d.dismiss()))
        self.url = path.resolve().as_uri()
        self.page.goto(self.url)
        # The policy of a page forbids what waits for a condition inside it.
        deadline = time.monotonic() + 30
        while not (state := self.page.evaluate("document.documentElement.dataset.state")) and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        demand(state == "ready", f"not drawn: {self.page.locator('#failure').inner_text()}; {self.faults}")
        self.settle()

    def is_own(self, url):
        return url == self.url or url.startswith(("data:", "blob:"))

    def settle(self):
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def see(self, canvas):
        self.settle()
        return canvas.evaluate(COLOURS)

    def changes(self, canvas, what, act):
        before = self.see(canvas)
        act()
        demand(self.see(canvas)["sum"] != before["sum"], f"{what} changes nothing")

    def reads(self, box, across=0.5, down=0.5):
        """Moves the pointer over a view and returns its tip."""
        area = box.bounding_box()
        self.page.mouse.move(area["x"] + across * area["width"], area["y"] + down * area["height"])
        self.settle()
        tip = box.locator(".tip")
        return tip.inner_text() if tip.is_visible() else ""

    def space(self):
        view = self.page.locator("#space")
        if view.count() == 0:
            return
        view.scroll_into_view_if_needed()
        canvas = view.locator("canvas").first
        has_body = self.page.evaluate("page.surface !== null")
        seen = self.see(canvas)
        if has_body:
            demand(seen["drawn"] > 0.01 and seen["colours"] > 20, f"nothing is drawn in 3D: {seen}")
            tips = [self.reads(view, across, down) for across in (0.5, 0.45, 0.55) for down in (0.5, 0.4, 0.6)]
            demand(any(re.search(r"\d", tip) for tip in tips), f"no values under the pointer: {tips}")
        area = view.bounding_box()
        middle = (area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)

        def turn():
            self.page.mouse.move(*middle)
            self.page.mouse.down()
            self.page.mouse.move(middle[0] + 80, middle[1] - 40, steps=3)
            self.page.mouse.up()

        if has_body or self.page.evaluate("page.domain !== null"):
            self.changes(canvas, "turning", turn)
            self.changes(canvas, "zooming", lambda: self.page.mouse.wheel(0, -300))
            self.changes(canvas, "a key", lambda: self.page.keyboard.press("ArrowLeft"))
        ways = view.locator("xpath=..").locator(".choice button")
        for i in range(1, ways.count()):
            self.changes(canvas, f"the colour {ways.nth(i).inner_text()}", lambda i=i: ways.nth(i).click())
        for button in self.page.get_by_role("button", name=re.compile(r"^show \d+$")).all()[:2]:
            self.changes(canvas, "flying to a place", lambda b=button: (b.click(), self.page.wait_for_timeout(100)))

    def slices(self):
        stage = self.page.locator("#slice")
        if stage.count() == 0:
            return
        stage.scroll_into_view_if_needed()
        canvas = stage.locator("canvas")
        seen = self.see(canvas)
        demand(seen["drawn"] > 0.01, f"no slice is drawn: {seen}")
        tip = self.reads(stage)
        demand(re.search(r"\d", tip), f"no values under the pointer: {tip!r}")
        frame = self.page.locator("#frame")
        if frame.is_visible():
            last = self.page.locator("#clock").inner_text()
            first = lambda: frame.fill("0") if frame.input_value() != "0" else frame.fill("1")
            self.changes(canvas, "sliding", first)
            demand(self.page.locator("#clock").inner_text() != last, "the time does not follow the slider")
        cells = self.page.get_by_label("cells of the mesh")
        if cells.is_visible():
            self.changes(canvas, "showing cells", lambda: cells.check())

        def zoom():
            canvas.focus()
            self.page.keyboard.press("+")

        self.changes(canvas, "zooming a slice", zoom)

    def plots(self):
        for stage in self.page.locator(".plot").all():
            stage.scroll_into_view_if_needed()
            canvas = stage.locator("canvas")
            demand(self.see(canvas)["drawn"] > 0.005, "no curve is drawn")
            demand(re.search(r"\d", self.reads(stage)), "no values under the pointer")
            says = stage.locator("xpath=..").locator("output")
            before = says.inner_text()
            canvas.focus()
            self.changes(canvas, "moving the window", lambda: self.page.keyboard.press("ArrowRight"))
            demand(says.inner_text() != before, "the mean does not follow its window")
            self.changes(canvas, "zooming a plot", lambda: self.page.keyboard.press("+"))

    def all(self):
        room = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        demand(room <= 0, f"{room} pixels wider than the window")
        self.space()
        self.slices()
        self.plots()
        self.page.locator("#theme").click()
        self.settle()
        demand(self.page.evaluate("document.querySelectorAll('img, iframe, object, embed, link, base, form, svg').length") == 0, "a name has become an element")
        demand(self.page.evaluate("document.scripts.length") == 3, "a name has become a script")
        demand(not self.faults, "; ".join(self.faults))

    def shots(self, folder, name):
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png", full_page=True)

    def close(self):
        self.context.close()


def check(browser, path, shots=None):
    for name, width, height, scheme in SIZES:
        reader = Reader(browser, path, width, height, scheme)
        if shots:
            reader.shots(shots, f"{path.stem}-{name}")
        reader.all()
        if shots:
            reader.shots(shots, f"{path.stem}-{name}-after")
        reader.close()


def with_script(text, change):
    """A page whose viewer is changed, with the hash of the changed one."""
    head, rest = text.rsplit("<script>", 1)
    script, tail = rest.split("</script>", 1)
    changed = change(script)
    if changed == script:
        raise ValueError("nothing to break")
    digest = lambda s: base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()
    return head.replace(digest(script), digest(changed)) + "<script>" + changed + "</script>" + tail


def broken(text):
    """Copies of a page with one fault each, by what is wrong."""
    yield "a script of another hash", text.replace("function make(", "function make (", 1)
    yield "damaged data", re.sub(r'(id="data">.{40}).{8}', r"\1AAAAAAAA", text, count=1)
    yield "nothing is drawn", with_script(text, lambda s: s.replace("gl.drawArrays(gl.TRIANGLES", "(() => {})(gl.TRIANGLES"))
    yield "no curve or slice", with_script(text, lambda s: s.replace("context.stroke();", "").replace("context.fillRect(", "(() => {})(").replace("context.drawImage(", "(() => {})("))
    yield "it does not turn", with_script(text, lambda s: s.replace("state.yaw -= dx", "").replace("state.pitch = clamp(", "clamp("))
    yield "a request", with_script(text, lambda s: s + "\nfetch('http://127.0.0.1:9/');\n")
    yield "a script error", with_script(text, lambda s: s + "\nsetTimeout(() => { throw new Error('late'); }, 50);\n")
    yield "markup", with_script(text, lambda s: s.replace('document.getElementById("foot").textContent = page.foot', 'document.getElementById("foot").innerHTML = "<img alt=x>"'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--must-fail", action="store_true")
    parser.add_argument("--shots", type=pathlib.Path)
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for path in given.pages:
            if not given.must_fail:
                check(browser, path, given.shots)
                reader = Reader(browser, path, 900, 700, "light", NO_WEBGL)
                reader.all()
                reader.close()
                print(f"{path}: drawn, turned, slid, zoomed; no error, no request")
                continue
            for what, text in broken(path.read_text(encoding="utf-8")):
                copy = pathlib.Path(folder) / "broken.html"
                copy.write_text(text, encoding="utf-8")
                try:
                    check(browser, copy)
                except (Refused, Error) as refused:
                    print(f"{what}: refused, {str(refused).splitlines()[0][:150]}")
                else:
                    print(f"{path}: {what} was not seen", file=sys.stderr)
                    return 1
        browser.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"refused: {refused}")
