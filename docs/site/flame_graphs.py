#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the flame graphs of docs/tracing.md: runs service of examples/tracing, has `weft profile` look at it,
and has the page of speedscope draw the stacks in Chromium.

    docs/site/flame_graphs.py PROGRAMS WEFT SPEEDSCOPE [FOLDER]

PROGRAMS has service; WEFT is the program weft; SPEEDSCOPE is the folder dist/release of the npm package
speedscope; FOLDER is docs/images if left out. docs/CONTRIBUTING.md says what this needs.
"""

import functools
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from selenium.webdriver.common.by import By
from trace_pictures import folder_of_pictures, save_picture, start_browser, wait_for

PICTURES = {"tracing_service": ["service"], "tracing_service_mended": ["service", "mended"]}
SECONDS, RATE = 10, 50
TOP, WIDTH, HEIGHT = 121, 984, 232  # of the graph in the page: below the bar of buttons and the overview


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def profile(program, arguments, weft, file):
    with subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        time.sleep(0.5)  # until the sessions are there
        subprocess.run([weft, "profile", "--seconds", str(SECONDS), "--rate", str(RATE), "-o", file,
                        str(process.pid)], check=True)
        process.stdin.close()


def draw(browser, address, file, picture):
    browser.get("about:blank")
    browser.get(address)
    wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "input[type=file]"))[0].send_keys(str(file))
    wait_for(lambda: [e for e in browser.find_elements(By.XPATH, "//*[contains(text(), 'Left Heavy')]")
                      if e.is_displayed()])[-1].click()
    time.sleep(2)  # until it is drawn
    save_picture(browser, TOP, WIDTH, HEIGHT, picture)


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    programs, weft, speedscope = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    pictures = folder_of_pictures(sys.argv[4:])
    handler = functools.partial(Quiet, directory=speedscope)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = start_browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for picture, (program, *arguments) in PICTURES.items():
                file = pathlib.Path(folder) / (picture + ".folded")
                profile(programs / program, arguments, weft, file)
                draw(browser, "http://127.0.0.1:%d/" % server.server_port, file, pictures / (picture + ".png"))
                print(pictures / (picture + ".png"))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
