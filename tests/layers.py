#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the includes of weft's headers and sources, and fails where one goes up in the list of layers.

    layers.py ROOT

Each folder of include/weft/detail, of src and of src/scheduler may include those that stand before it. A public header is no layer: what it
includes counts as included by whoever includes it. Ends with 1 and names the includes that are wrong. With --reached it lists
the headers that a public header reaches, which are those to be installed.
"""

import pathlib
import re
import sys

DETAIL = ["port", "base", "queue", "park", "wait", "channel", "future", "forkjoin", "parallel", "container", "fair", "asio", "io"]
SCHEDULER = ["policy", "fibers", "queues", "report", "trace", "worker", "core"]
SRC = ["os", "inspect", *("scheduler/" + room for room in SCHEDULER), "sync", "async", "fair", "io", "mpi", "tools"]
LAYERS = ["include/weft/detail/" + folder for folder in DETAIL] + ["src/" + folder for folder in SRC]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


class Tree:
    def __init__(self, root):
        files = [path for part in ("include/weft", "src") for path in (root / part).rglob("*") if path.suffix in (".h", ".cpp")]
        self.root = root
        self.includes = {}
        for path in sorted(files):
            named = INCLUDE.findall(path.read_text(encoding="utf-8"))
            self.includes[str(path.relative_to(root))] = [name for name in map(self.find, named) if name]

    def find(self, included):
        """Returns: the file of weft's that an include names, or None."""
        for folder in ("include", "src"):
            if (self.root / folder / included).is_file():
                return folder + "/" + included
        return None

    def past_public(self, name, seen):
        """Returns: what `name` includes, itself or by public headers."""
        found = []
        for included in self.includes[name]:
            if included in seen:
                continue
            seen.add(included)
            found += [included] if layer(included) else self.past_public(included, seen)
        return found

    def reached(self):
        """Returns: the headers that public ones include, and these."""
        todo = [name for name in self.includes if name.startswith("include/") and not layer(name)]
        seen = set(todo)
        while todo:
            new = [included for included in self.includes[todo.pop()] if included not in seen]
            seen.update(new)
            todo += new
        return sorted(seen)


def layer(name):
    folder = name.rsplit("/", 1)[0]
    return folder if folder.startswith("include/weft/detail") or folder.startswith("src") else None


def problems(tree):
    for name in tree.includes:
        own = layer(name)
        if own is None:
            if any(included.startswith("src/") for included in tree.includes[name]):
                yield f"{name} is public, and includes what is not"
            continue
        if own not in LAYERS:
            yield f"{name} is in no folder that is a layer"
            continue
        for included in tree.past_public(name, set()):
            other = layer(included)
            if other in LAYERS and LAYERS.index(other) > LAYERS.index(own):
                yield f"{name} includes {included}, which is of a later layer"


def main():
    tree = Tree(pathlib.Path(sys.argv[1]))
    if "--reached" in sys.argv:
        print("\n".join(tree.reached()))
        return 0
    found = list(problems(tree))
    print("\n".join(found) or f"{len(tree.includes)} files include nothing of a later layer")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
