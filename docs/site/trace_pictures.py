#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/tracing.md: runs the programs of examples/tracing, and has Chromium draw what
their flight recorders wrote.

    docs/site/trace_pictures.py PROGRAMS [FOLDER]    PROGRAMS has long_task and slow_lock;
                                                     FOLDER is docs/images if left out

The picture is that of the panel Performance of Chromium's own DevTools, which need no network. They draw
slices, and no arrows. docs/CONTRIBUTING.md says what this needs.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from selenium import webdriver

PICTURES = {"tracing_long_task": ["long_task"], "tracing_long_task_mended": ["long_task", "mended"],
            "tracing_slow_lock": ["slow_lock"], "tracing_slow_lock_mended": ["slow_lock", "mended"]}
NUM_TRIES = 5
NUM_RUNS = 20  # of which the shortest is drawn: the one that was disturbed least
WIDTH, HEIGHT = 1000, 1600
TOP, FIRST_ROW = 105, 146  # of the chart in DevTools, and of the name of its first row
ROW, LEVEL = 21, 17  # the height of a row that is closed; of each level of slices in one that is open

# All elements, also those in shadow roots.
ALL = """
const all = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e]);
"""
FILE_INPUTS = ALL + "return all(document).filter(e => e.tagName == 'INPUT' && e.type == 'file')"
CHART = ALL + "return all(document).filter(e => e.classList.contains('flame-chart-canvas'))[0]"
# Returns where the last row of the canvas ends that has more than lines of a grid.
USED_HEIGHT = """
const canvas = arguments[0], box = canvas.getBoundingClientRect();
const {data, width, height} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const at = (x, y) => data.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join();
for (let y = height - 1; y > 0; --y) {
  let count = 0;
  for (let x = 0; x < width; x += 3) count += at(x, y) != at(1, height - 2);
  if (count > width / 20) return box.top + y * box.height / height;
}
return box.bottom;
"""


def record(program, arguments, path):
    """Writes the file of a run. Returns: its events."""
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "WEFT_TRACE": str(path)})
    return json.loads(path.read_text(encoding="utf-8"))["traceEvents"]


def shortest(program, arguments, folder):
    """Returns: the file of the shortest of some runs, and its events."""
    runs = {}
    for number in range(NUM_RUNS):
        path = folder / ("%d.json" % number)
        runs[path] = record(program, arguments, path)
    return min(runs.items(), key=lambda run: duration(run[1]))


def duration(events):
    times = [event["ts"] for event in events if "ts" in event]
    return max(times) - min(times)


def levels_of(events):
    """Returns: how deep the slices of each row nest."""
    slices = [event for event in events if event["ph"] == "X"]
    levels, ends = {}, {}
    for event in sorted(slices, key=lambda event: event["ts"]):
        open_ends = [end for end in ends.get(event["tid"], []) if end > event["ts"]]
        ends[event["tid"]] = open_ends + [event["ts"] + event["dur"]]
        levels[event["tid"]] = max(levels.get(event["tid"], 0), len(ends[event["tid"]]))
    return levels


def wait_for(condition):
    """Returns: what `condition` returns as soon as that is true."""
    for _ in range(300):
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise RuntimeError("Chromium does not show the trace")


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--remote-allow-origins=*", "--remote-debugging-port=0"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
    return browser


def save_picture(browser, top, width, height, picture):
    """Writes a part of the page, at its left side, to the file `picture`."""
    clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    picture.write_bytes(base64.b64decode(shot["data"]))


def folder_of_pictures(arguments):
    """Returns: the folder that the only argument names, or docs/images if there is none."""
    images = pathlib.Path(__file__).resolve().parents[1] / "images"
    return pathlib.Path(arguments[0]).resolve() if arguments else images


def click(browser, x, y):
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        browser.execute_cdp_cmd("Input.dispatchMouseEvent",
                                {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
        time.sleep(0.3)  # until it is drawn


def press(browser, label):
    """Presses the button of that label, if there is one."""
    browser.execute_script(ALL + "all(document).filter(e => e.tagName == 'BUTTON' && "
                           "(e.getAttribute('aria-label') || e.title).startsWith(arguments[0]))"
                           ".forEach(e => e.click())", label)
    time.sleep(0.5)


def draw(browser, file, levels, picture):
    """Returns: whether DevTools have drawn all levels of all rows. A click on the name of a row opens it, unless
    a slice lies below."""
    address = browser.capabilities["goog:chromeOptions"]["debuggerAddress"]
    browser.get("http://%s/devtools/devtools_app.html?panel=timeline" % address)
    wait_for(lambda: browser.execute_script(FILE_INPUTS))[0].send_keys(str(file))
    chart = wait_for(lambda: browser.execute_script(CHART))
    time.sleep(2)
    press(browser, "Close")  # a dialog about keys
    press(browser, "Hide sidebar")
    click(browser, 10, FIRST_ROW - ROW + 4)  # opens the process
    for row in reversed(range(len(levels))):
        click(browser, 20, FIRST_ROW + ROW * row)
    click(browser, 600, HEIGHT - 420)  # leaves the last row
    bottom = browser.execute_script(USED_HEIGHT, chart)
    save_picture(browser, TOP, WIDTH - 16, bottom + 4 - TOP, picture)
    expected = FIRST_ROW + sum(ROW + LEVEL * depth for depth in levels.values()) - ROW / 2
    return abs(bottom - expected) < LEVEL


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    programs = pathlib.Path(sys.argv[1]).resolve()
    pictures = folder_of_pictures(sys.argv[2:])
    browser = start_browser()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for picture, (program, *arguments) in PICTURES.items():
                for _ in range(NUM_TRIES):
                    file, events = shortest(programs / program, arguments, folder)
                    if draw(browser, file, levels_of(events), pictures / (picture + ".png")):
                        break
                else:
                    sys.exit("%s lacks some slices" % picture)
                print(pictures / (picture + ".png"))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
