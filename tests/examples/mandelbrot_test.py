#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the picture of the Mandelbrot set: mandelbrot_test.py PROGRAM [names of tests...]"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = sys.argv.pop(1)
WIDTH, HEIGHT = 1024, 768
PIXEL = 3  # bytes


def chunks(png):
    """Yields (name, content) of the chunks of a PNG, and checks their sums."""
    place = 8
    while place < len(png):
        size, name = struct.unpack_from(">I4s", png, place)
        content = png[place + 8:place + 8 + size]
        assert struct.unpack_from(">I", png, place + 8 + size)[0] == zlib.crc32(name + content)
        yield name, content
        place += size + 12


def unfilter(kind, row, above):
    """Undoes a filter of a PNG's row, in place."""
    for i in range(len(row)):
        left, up, corner = (row[i - PIXEL], above[i], above[i - PIXEL]) if i >= PIXEL else (0, above[i], 0)
        if kind == 4:
            guess = left + up - corner
            predicted = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        else:
            predicted = (0, left, up, (left + up) // 2)[kind]
        row[i] = (row[i] + predicted) & 255


def rows_of_png(png):
    parts = list(chunks(png))
    assert parts[0] == (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)), parts[0]
    assert parts[-1] == (b"IEND", b"")
    data = zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT"))
    stride = 1 + PIXEL * WIDTH
    assert len(data) == stride * HEIGHT
    rows, above = [], bytearray(PIXEL * WIDTH)
    for begin in range(0, len(data), stride):
        row = bytearray(data[begin + 1:begin + stride])
        if data[begin] != 0:
            unfilter(data[begin], row, above)
        rows.append(row)
        above = row
    return rows


def rows_of_ppm(ppm):
    head = b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT)
    assert ppm.startswith(head) and len(ppm) == len(head) + PIXEL * WIDTH * HEIGHT
    return [ppm[begin:begin + PIXEL * WIDTH] for begin in range(len(head), len(ppm), PIXEL * WIDTH)]


def draw(path, **variables):
    return subprocess.run([PROGRAM, path], env=dict(os.environ, **variables), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class MandelbrotTest(unittest.TestCase):
    def test_the_picture_shows_the_set_whatever_the_number_of_workers(self):
        pictures = []
        for workers in ("1", "16"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "picture")
                ended = draw(path, WEFT_NUM_THREADS=workers)
                self.assertEqual((ended.returncode, ended.stdout), (0, path + ": 1024 x 768 pixels\n"), ended.stderr)
                with open(path, "rb") as picture:
                    pictures.append(picture.read())
        self.assertEqual(pictures[0], pictures[1])
        is_png = pictures[0].startswith(b"\x89PNG\r\n\x1a\n")
        self.look((rows_of_png if is_png else rows_of_ppm)(pictures[0]))

    def look(self, rows):
        def is_black(real, imaginary):
            x, y = round((real + 2.2) * WIDTH / 3.2), HEIGHT // 2 + round(imaginary * WIDTH / 3.2)
            return not any(rows[y][PIXEL * x:PIXEL * (x + 1)])

        for point in ((0, 0), (-1, 0), (-0.5, 0.5), (-1.3, 0), (0.25, -0.5)):
            self.assertTrue(is_black(*point), point)
        for point in ((0.5, 0), (-2.1, 0), (-0.75, 0.3), (0.3, 0.7), (-1, -1)):
            self.assertFalse(is_black(*point), point)
        for y in range(1, HEIGHT // 2):
            self.assertEqual(rows[HEIGHT // 2 - y], rows[HEIGHT // 2 + y], "row %d" % y)

    def test_what_cannot_be_written_fails(self):
        ended = draw("/dev/null/picture")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("/dev/null/picture: ", ended.stderr)

    def test_an_option_is_an_error(self):
        ended = draw("--help")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("usage", ended.stderr)


if __name__ == "__main__":
    unittest.main()
