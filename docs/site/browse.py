#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the site in a headless Chromium, as a reader does.

    docs/site/browse.py FOLDER    where make.py has made the site; writes FOLDER/screenshots/*.png

Each page loads without an error, at the width of a desk and at that of a phone, where it is not wider than
the screen. Text and code are readable, light and dark. The search finds the page of a name. docs/CONTRIBUTING.md says what it needs.
"""

import functools
import http.server
import pathlib
import sys
import threading

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

DESK, PHONE = (1280, 900), (390, 844)
PICTURES = {"index.html": "first", "docs/tutorial/01_first_task.html": "tutorial",
            "docs/reference/waitgroup.html": "reference", "docs/performance.html": "performance"}
# What somebody looks for, and the page that the search must list.
SEARCHES = {"WaitGroup": "docs/reference/waitgroup.html", "parallelFor": "docs/parallel.html",
            "overflow": "docs/stacks.html"}
SMALLEST_FONT, LEAST_CONTRAST = 12, 4.5

# Returns the texts whose contrast to what is behind them is too low (WCAG 2.1's ratio), or whose font is too
# small.
READABLE = """
const luminance = c => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length == 3 ? [...n, 1] : n; };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
  if (c[3] == 1) return c; } return [255, 255, 255, 1]; };
const bad = new Set();
for (const e of document.querySelectorAll('article :is(h1, p, li, td, pre, pre span)')) {
  if (!e.innerText || !e.innerText.trim()) continue;
  const style = getComputedStyle(e), a = luminance(parse(style.color)), b = luminance(behind(e));
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < arguments[1] || parseFloat(style.fontSize) < arguments[0])
    bad.add(`${e.tagName}.${e.className}: ${contrast.toFixed(1)}, ${style.fontSize}: ` +
            e.innerText.trim().slice(0, 30));
}
return [...bad].slice(0, 5);
"""
BROKEN_PICTURES = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def serve(folder):
    """Returns the address of a server of the folder's files, which runs as long as the program."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d/" % server.server_port


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


def show(browser, address, size, scheme):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(address)


def faults_of_page(browser):
    """Yields what is wrong with the page that is shown."""
    for entry in browser.get_log("browser"):
        if entry["level"] == "SEVERE":
            yield entry["message"]
    if len(browser.find_elements(By.TAG_NAME, "h1")) != 1:
        yield "it has not one title"
    for source in browser.execute_script(BROKEN_PICTURES):
        yield "the picture %s does not load" % source
    wide, width = browser.execute_script("return [document.scrollingElement.scrollWidth, innerWidth]")
    if wide > width:
        yield "it is %d pixels wide on a screen of %d" % (wide, width)
    for text in browser.execute_script(READABLE, SMALLEST_FONT, LEAST_CONTRAST):
        yield "hard to read: " + text


def look_at_pages(browser, address, html, pictures):
    for path in sorted(html.rglob("*.html")):
        name = str(path.relative_to(html))
        if name in ("genindex.html", "search.html"):
            continue
        for size, scheme in ((DESK, "light"), (PHONE, "dark")):
            show(browser, address + name, size, scheme)
            for fault in faults_of_page(browser):
                yield "%s, %s, %d pixels wide: %s" % (name, scheme, size[0], fault)
            if name in PICTURES:
                file = "%s_%s_%s.png" % (PICTURES[name], "desk" if size == DESK else "phone", scheme)
                browser.save_screenshot(str(pictures / file))


def search(browser, address, pictures):
    for word, page in SEARCHES.items():
        show(browser, address + "search.html?q=" + word, DESK, "light")
        link = (By.CSS_SELECTOR, 'ul.search a[href*="%s"]' % page)
        try:
            WebDriverWait(browser, 30).until(lambda driver, link=link: driver.find_elements(*link))
        except TimeoutException:
            yield "the search for %s does not find %s" % (word, page)
        browser.save_screenshot(str(pictures / ("search_%s.png" % word)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    html, pictures = folder / "html", folder / "screenshots"
    pictures.mkdir(exist_ok=True)
    address = serve(html)
    browser = start_browser()
    try:
        faults = [*look_at_pages(browser, address, html, pictures), *search(browser, address, pictures)]
    finally:
        browser.quit()
    numbers = (len(list(html.rglob("*.html"))), len(SEARCHES))
    print("\n".join(faults) or "%d pages, %d searches: all is readable" % numbers)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
