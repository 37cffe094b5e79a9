#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Has servers of its own give pages: curl_pages_test.py CURL_PAGES [names of tests...]"""

import http.server
import os
import re
import socket
import subprocess
import sys
import threading
import unittest

from server import LIMIT_SECONDS

PROGRAM = sys.argv.pop(1)
NUM_FIBERS = 8


def download(urls, *arguments):
    """Returns (status, the sorted lines that it prints, the sorted messages)."""
    done = subprocess.run([PROGRAM, *(str(argument) for argument in arguments)], input="".join(url + "\n" for url in urls),
                          text=True, capture_output=True, timeout=2 * LIMIT_SECONDS, check=False,
                          env=dict(os.environ, WEFT_NUM_THREADS="1", no_proxy="*"))
    return done.returncode, sorted(done.stdout.splitlines()), sorted(done.stderr.splitlines())


class Pages(http.server.ThreadingHTTPServer):
    """The page /N has N bytes. /gate answers once `gate` is passed, /moved leads to /5, /silent says nothing."""
    daemon_threads, request_queue_size = True, 128

    def __init__(self, numAtGate=1, family=socket.AF_INET, host="127.0.0.1"):
        self.address_family = family
        super().__init__((host, 0), Handler)
        self.gate = threading.Barrier(numAtGate)
        self.numConnections = 0

    def process_request(self, request, client_address):
        self.numConnections += 1
        super().process_request(request, client_address)

    def url(self, path, host="127.0.0.1"):
        return "http://%s:%d/%s" % (host, self.server_address[1], path)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return super().__enter__()

    def __exit__(self, *arguments):
        self.shutdown()
        super().__exit__(*arguments)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

    def do_GET(self):
        name = self.path[1:]
        if name == "silent":
            self.rfile.read()  # until the client closes
            return
        if name == "gate":
            self.server.gate.wait(LIMIT_SECONDS)
        status = {"missing": 404, "moved": 301}.get(name, 200)
        body = bytes(int(name)) if name.isdigit() else b"hello"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 301:
            self.send_header("Location", "/5")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class CurlPagesTest(unittest.TestCase):
    def test_each_page_is_downloaded(self):
        with Pages() as pages:
            sizes = [i * 100 for i in range(200)] + [5_000_000]
            expected = sorted("200 %d %s" % (size, pages.url(size)) for size in sizes)
            for num_fibers in (1, NUM_FIBERS):
                self.assertEqual(download([pages.url(size) for size in sizes], num_fibers), (0, expected, []))
            self.assertLessEqual(pages.numConnections, 1 + NUM_FIBERS)  # each fiber has kept its own

    def test_as_many_pages_are_downloaded_at_the_same_time_as_there_are_fibers(self):
        with Pages(NUM_FIBERS) as pages:
            url = pages.url("gate")
            self.assertEqual(download(2 * NUM_FIBERS * [url], NUM_FIBERS), (0, 2 * NUM_FIBERS * ["200 5 " + url], []))

    def test_a_name_is_looked_up_and_its_addresses_are_tried(self):
        try:
            socket.getaddrinfo("localhost", None)
        except socket.gaierror:
            self.skipTest("this machine does not know its name 'localhost'")
        with Pages() as pages:
            url = pages.url(7, "localhost")
            self.assertEqual(download([url]), (0, ["200 7 " + url], []))

    def test_other_replies_than_the_page_are_told(self):
        with Pages() as pages:
            moved, missing = pages.url("moved"), pages.url("missing")
            self.assertEqual(download([moved, missing]), (0, ["200 5 " + moved, "404 5 " + missing], []))

    def test_what_fails_is_told_and_the_others_are_downloaded(self):
        with socket.socket() as closed, Pages() as pages:
            closed.bind(("127.0.0.1", 0))  # and does not listen
            refusing = "http://127.0.0.1:%d/" % closed.getsockname()[1]
            status, lines, messages = download([refusing, "none://here/", pages.url(5)], 2)
            self.assertEqual((status, lines, len(messages)), (1, ["200 5 " + pages.url(5)], 2), messages)
            self.assertRegex(messages[0], re.escape(refusing) + ": Could(n't| not) connect to server")
            self.assertEqual(messages[1], "none://here/: Unsupported protocol")
            silent = pages.url("silent")
            self.assertEqual(download([silent], 1, 1), (1, [], [silent + ": Timeout was reached"]))


if __name__ == "__main__":
    unittest.main()
