# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG: a canvas, and the kinds of charts of the documents. These are ratios to weft, bars with
their spread, and curves with their names.

All have one font, a white ground of their own, and colours that the colour-blind can tell apart. A name
stands beside each bar and at the end of each curve, so that nobody needs the colours.
"""

import html
import math
import statistics
from collections import namedtuple

from table import number

INK, FAINT, GRID, EDGE = "#1f2933", "#66717d", "#e4e7eb", "#d5dae0"
OWN = "#0b5cad"  # weft's line

# `values` are those of all processes.
Bar = namedtuple("Bar", "label values colour")
Panel = namedtuple("Panel", "title bars")
# `points` are (position, values); the axis has a name for each position.
Line = namedtuple("Line", "label points colour is_dashed")
# `base` says what weft takes; `rivals` are (label, time by weft's, colour).
Ratio = namedtuple("Ratio", "title base rivals")


def height_of_head(subtitle):
    """Returns how far the title and the lines of the subtitle reach down."""
    return 51 + 17 * len(subtitle)


class Canvas:
    """A picture with its title and subtitle; what is below `top` is free."""

    def __init__(self, title, subtitle, width, height):
        self.height = height
        self.parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
            'font-family="system-ui, \'Segoe UI\', Helvetica, Arial, sans-serif" font-size="13" fill="%s">'
            % (width, height, width, height, INK),
            '<title>%s</title>' % html.escape(title),
            '<rect x="0.5" y="0.5" width="%d" height="%d" rx="10" fill="#ffffff" stroke="%s"/>'
            % (width - 1, height - 1, EDGE)]
        self.text(20, 31, title, size=17, weight=600)
        for index, line in enumerate(subtitle):
            self.text(20, height_of_head(subtitle[:index]), line, colour=FAINT)
        self.top = height_of_head(subtitle)

    def text(self, x, y, text, colour=None, anchor=None, size=None, weight=None):
        more = "".join(' %s="%s"' % (name, value) for name, value in (
            ("fill", colour), ("text-anchor", anchor), ("font-size", size), ("font-weight", weight)) if value)
        self.parts.append('<text x="%.1f" y="%.1f"%s>%s</text>' % (x, y, more, html.escape(text)))

    def line(self, x1, y1, x2, y2, colour, width=1):
        self.parts.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>'
                          % (x1, y1, x2, y2, colour, width))

    def bar(self, x1, x2, y, height, colour):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%g" rx="2" fill="%s"/>'
                          % (min(x1, x2), y, max(abs(x2 - x1), 1.5), height, colour))

    def curve(self, points, colour, width=2, is_dashed=False):
        self.parts.append('<polyline fill="none" stroke="%s" stroke-width="%g"%s points="%s"/>' % (
            colour, width, ' stroke-dasharray="5 4"' if is_dashed else "",
            " ".join("%.1f,%.1f" % point for point in points)))

    def dot(self, x, y, colour):
        self.parts.append('<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>' % (x, y, colour))

    def svg(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


def shown(value):
    """Returns three digits, or all of those before the point."""
    text = number(value)
    return "{:,}".format(int(text)) if text.isdigit() else text


def times(ratio):
    if ratio < 0.995:
        return "%.2f x" % ratio
    return "%.1f x" % ratio if ratio < 9.95 else "%.0f x" % ratio


class Ratios:
    """For each thing that was measured the time of the others by weft's, around a line that is weft's."""

    WIDTH, PITCH, HEAD, GAP, LEFT, RIGHT = 520, 15, 20, 8, 150, 60
    TICKS = (0.1, 1, 10, 100, 1000)

    def __init__(self, title, subtitle, sections):
        self.title, self.subtitle, self.sections = title, subtitle, sections

    def x(self, ratio):
        low, high = (math.log10(tick) for tick in (self.TICKS[0], self.TICKS[-1]))
        return self.LEFT + (self.WIDTH - self.LEFT - self.RIGHT) * (math.log10(ratio) - low) / (high - low)

    def height_of(self, ratio):
        return self.HEAD + self.PITCH * len(ratio.rivals) + self.GAP

    def svg(self):
        heights = [34 + sum(map(self.height_of, ratios)) for _, ratios in self.sections]
        canvas = Canvas(self.title, self.subtitle, self.WIDTH,
                        height_of_head(self.subtitle) + 18 + sum(heights) + 24)
        y = canvas.top + 18
        for (name, ratios), height in zip(self.sections, heights):
            canvas.text(20, y + 8, name, weight=600, size=14)
            self.draw_section(canvas, y + 24, ratios)
            y += height
        for tick in self.TICKS:
            text, colour, weight = ("weft", OWN, 600) if tick == 1 else ("{:,g} x".format(tick), FAINT, None)
            canvas.text(self.x(tick), canvas.height - 16, text, colour, "middle", weight=weight)
        return canvas.svg()

    def draw_section(self, canvas, top, ratios):
        y = top
        for ratio in ratios:
            bottom = y + self.height_of(ratio) - self.GAP
            for tick in self.TICKS:
                colour, width = (OWN, 2) if tick == 1 else (GRID, 1)
                canvas.line(self.x(tick), y + self.HEAD - 4, self.x(tick), bottom, colour, width)
            canvas.text(20, y + 13, ratio.title)
            canvas.text(self.WIDTH - 20, y + 13, ratio.base, anchor="end", colour=OWN, weight=600)
            for index, (label, value, colour) in enumerate(ratio.rivals):
                self.draw_rival(canvas, y + self.HEAD + self.PITCH * index, label, value, colour)
            y = bottom + self.GAP

    def draw_rival(self, canvas, y, label, value, colour):
        canvas.text(self.LEFT - 8, y + 11, label, anchor="end", colour=FAINT)
        canvas.bar(self.x(1), self.x(value), y + 1.5, 10, colour)
        canvas.text(self.x(max(value, 1)) + 6, y + 11, times(value))


class Bars:
    """Panels of bars, each panel with a scale of its own from 0; a thin line goes from minimum to maximum."""

    WIDTH, PITCH, HEAD, GAP, LEFT, RIGHT = 640, 21, 24, 12, 186, 110

    def __init__(self, title, subtitle, panels):
        self.title, self.subtitle, self.panels = title, subtitle, panels

    def svg(self):
        heights = [self.HEAD + self.PITCH * len(panel.bars) + self.GAP for panel in self.panels]
        canvas = Canvas(self.title, self.subtitle, self.WIDTH,
                        height_of_head(self.subtitle) + 10 + sum(heights) + 6)
        y = canvas.top + 10
        for panel, height in zip(self.panels, heights):
            self.draw_panel(canvas, y, panel)
            y += height
        return canvas.svg()

    def draw_panel(self, canvas, top, panel):
        most = max(max(bar.values) for bar in panel.bars)
        canvas.text(20, top + 12, panel.title, weight=600)

        def x(value):
            return self.LEFT + (self.WIDTH - self.LEFT - self.RIGHT) * value / most

        y = top + self.HEAD
        canvas.line(x(0), y - 3, x(0), y + self.PITCH * len(panel.bars), EDGE)
        for bar in panel.bars:
            median = statistics.median(bar.values)
            canvas.text(self.LEFT - 8, y + 12, bar.label, anchor="end", colour=FAINT)
            canvas.bar(x(0), x(median), y + 1, 14, bar.colour)
            canvas.line(x(min(bar.values)), y + 8, x(max(bar.values)), y + 8, INK)
            canvas.text(x(max(bar.values)) + 7, y + 12, shown(median))
            y += self.PITCH


class Lines:
    """Curves over named positions, on a logarithmic scale; thin lines go from minimum to maximum."""

    WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 420, 62, 186, 52

    def __init__(self, title, subtitle, positions, axis, lines):
        self.title, self.subtitle, self.lines = title, subtitle, lines
        self.positions, self.axis = positions, axis
        values = [value for line in lines for _, of_point in line.points for value in of_point]
        steps = [factor * 10.0 ** power for power in range(-3, 7) for factor in (1, 2, 5)]
        self.low = max(step for step in steps if step <= min(values))
        self.high = min(step for step in steps if step >= max(values))
        powers_only = self.high / self.low > 200
        self.ticks = [step for step in steps if self.low <= step <= self.high and (
            not powers_only or abs(math.log10(step) - round(math.log10(step))) < 0.01)]

    def x(self, position):
        return self.LEFT + (self.WIDTH - self.LEFT - self.RIGHT) * position / (len(self.positions) - 1)

    def y(self, value):
        top = height_of_head(self.subtitle) + 14
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.HEIGHT - self.BOTTOM - (self.HEIGHT - self.BOTTOM - top) * share

    def svg(self):
        canvas = Canvas(self.title, self.subtitle, self.WIDTH, self.HEIGHT)
        for tick in self.ticks:
            canvas.line(self.x(0), self.y(tick), self.x(len(self.positions) - 1), self.y(tick), GRID)
            canvas.text(self.LEFT - 8, self.y(tick) + 4, "{:,g}".format(tick), anchor="end", colour=FAINT)
        for index, name in enumerate(self.positions):
            canvas.text(self.x(index), self.HEIGHT - 32, name, anchor="middle", colour=FAINT)
        middle = (self.LEFT + self.WIDTH - self.RIGHT) / 2
        canvas.text(middle, self.HEIGHT - 13, self.axis, anchor="middle", colour=FAINT)
        for line in self.lines:
            self.draw_line(canvas, line)
        self.draw_names(canvas)
        return canvas.svg()

    def draw_line(self, canvas, line):
        points = [(self.x(position), self.y(statistics.median(values))) for position, values in line.points]
        if len(points) > 1:
            canvas.curve(points, line.colour, 3 if line.label.startswith("weft") else 2, line.is_dashed)
        for (x, y), (_, values) in zip(points, line.points):
            if not line.is_dashed:
                canvas.line(x, self.y(min(values)), x, self.y(max(values)), line.colour)
                canvas.dot(x, y, line.colour)

    def draw_names(self, canvas):
        """Puts each name at the end of its curve, and moves those apart that would cover each other."""
        ends = sorted(((self.y(statistics.median(line.points[-1][1])) + 4, line) for line in self.lines),
                      key=lambda end: end[0])
        places, lowest = [], self.HEIGHT - self.BOTTOM + 4
        for y, _ in ends:
            places.append(max(y, places[-1] + 16) if places else y)
        for index in reversed(range(len(places))):
            places[index] = min(places[index], lowest)
            lowest = places[index] - 16
        for y, (_, line) in zip(places, ends):
            text = "%s  %s" % (line.label, shown(statistics.median(line.points[-1][1])))
            canvas.text(self.x(line.points[-1][0]) + 10, y, text, colour=line.colour, weight=600)
