#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads what the example serves to Prometheus: metrics_test.py PROGRAM [names of tests...]"""

import re
import socket
import sys
import unittest

from server import Server

PROGRAM = sys.argv.pop(1)


class MetricsServer(Server):
    """Runs until it is killed."""

    def __exit__(self, *_):
        assert self.process.poll() is None, "it has ended by itself"
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


SAMPLE = re.compile(r'([a-z_]+)(?:\{([a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*)\})? ([0-9.e+-]+)')


def get(server, path, pieces=1):
    """Returns status, header and body."""
    request = ("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path).encode()
    with server.connect() as client:
        size = -(-len(request) // pieces)
        for i in range(0, len(request), size):
            client.sendall(request[i:i + size])
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    head, body = answer.decode().split("\r\n\r\n", 1)
    return int(head.split()[1]), head, body


class Families:
    """Checks the text format: HELP, TYPE, then the samples of a family. Each family and series comes once."""

    def __init__(self, text):
        self.types, self.samples = {}, {}
        assert text.endswith("\n"), "the last line ends too"
        lines = text.splitlines()
        family = None
        for number, line in enumerate(lines):
            if line.startswith("# HELP "):
                family = line.split()[2]
                assert family not in self.types, family
                kind = re.fullmatch("# TYPE %s (counter|gauge|histogram)" % family, lines[number + 1])
                assert kind, lines[number + 1]
                self.types[family] = kind.group(1)
            elif not line.startswith("# TYPE "):
                name, labels, value = SAMPLE.fullmatch(line).groups()
                suffix = "(_bucket|_sum|_count)" if self.types[family] == "histogram" else ""
                assert re.fullmatch(family + suffix, name), line
                assert (name, labels) not in self.samples, line
                self.samples[name, labels] = float(value)
        for family in (family for family, kind in self.types.items() if kind == "histogram"):
            self.check_histogram(family)
        for family, kind in self.types.items():
            assert family.endswith("_total") == (kind == "counter"), family

    def check_histogram(self, family):
        """Each series has its buckets in order. Each counts those of the one before too, the last all."""
        buckets = {}
        for (name, labels), value in self.samples.items():
            if name == family + "_bucket":
                series, bound = re.fullmatch('(.*),le="(.*)"', labels).groups()
                buckets.setdefault(series, []).append((float(bound.replace("+Inf", "inf")), value))
        assert buckets, family
        for series, counts in buckets.items():
            assert counts == sorted(counts) and len(dict(counts)) == len(counts), counts
            assert [value for _, value in counts] == sorted(value for _, value in counts), counts
            assert counts[-1] == (float("inf"), self.samples[family + "_count", series]), counts
            assert self.samples[family + "_sum", series] >= 0


class MetricsTest(unittest.TestCase):
    def test_prometheus_can_read_it(self):
        with MetricsServer(PROGRAM, "0") as server:
            status, head, body = get(server, "/metrics")
            self.assertEqual(status, 200)
            self.assertIn("Content-Type: text/plain; version=0.0.4", head)
            self.assertIn("Content-Length: %d" % len(body), head)
            families = Families(body)
            self.assertGreater(families.samples["weft_stack_in_use_bytes", None], 0)
            try:
                from prometheus_client.parser import text_string_to_metric_families
            except ImportError:
                return
            self.assertEqual(len(list(text_string_to_metric_families(body))), len(families.types))

    def test_counters_never_fall(self):
        with MetricsServer(PROGRAM, "0") as server:
            before = Families(get(server, "/metrics")[2])
            for _ in range(20):
                get(server, "/metrics")
            after = Families(get(server, "/metrics")[2])
            self.assertEqual(before.samples.keys(), after.samples.keys())
            for (name, labels), value in after.samples.items():
                if before.types.get(name) == "counter":
                    self.assertGreaterEqual(value, before.samples[name, labels], name)
            run, measured = ([sum(value for (name, _), value in families.samples.items() if name == counter)
                              for families in (before, after)]
                             for counter in ("weft_tasks_run_total", "weft_run_seconds_count"))
            self.assertGreaterEqual(run[1], run[0] + 20)
            self.assertGreater(measured[1], measured[0])

    def test_a_request_may_come_in_pieces(self):
        with MetricsServer(PROGRAM, "0") as server:
            self.assertEqual(get(server, "/metrics", pieces=10)[0], 200)

    def test_other_paths_are_unknown(self):
        with MetricsServer(PROGRAM, "0") as server:
            self.assertEqual(get(server, "/")[0], 404)
            self.assertEqual(get(server, "/metricsx")[0], 404)

    def test_a_request_without_end_ends_with_its_stream(self):
        with MetricsServer(PROGRAM, "0") as server, server.connect() as client:
            client.sendall(b"GET")
            client.shutdown(socket.SHUT_WR)
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 404"))


if __name__ == "__main__":
    unittest.main()
