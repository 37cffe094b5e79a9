#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Says whether programs that were linked with one commit's shared libraries run with another's.

    abi.py OLD [NEW] [--work FOLDER] [--details]   of two commits; NEW is HEAD unless given
    abi.py --folders OLD NEW [--details]           of two folders that have lib*.so and include/ somewhere

Builds libweft.so and libweft_io.so of both commits and compares them by abidiff (apt-get install -y
abigail-tools): which functions and variables they export, and the layout of the classes of include/ that
they use. FOLDER keeps what is built, for the next call. --details prints all that abidiff says.

Ends with 0 if programs run with either library of the two, or if SOVERSION has moved, which keeps the
libraries apart; with 1 if SOVERSION must move; with 2 if the libraries could not be compared.

abidiff does not see what a template or an inline function does, nor a class that only such code uses: whoever
changes one of these and keeps SOVERSION must know that programs with the old code go on working.
"""

import argparse
import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-DBUILD_SHARED_LIBS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_UNITY_BUILD=ON",
           "-DWEFT_BUILD_TESTS=OFF", "-DWEFT_BUILD_EXAMPLES=OFF", "-DWEFT_BUILD_BENCHMARKS=OFF",
           "-DWEFT_INSTALL=OFF", "-DWEFT_TOOLS=OFF"]
# abidiff's exit status is a sum of these.
FAILED, MISUSED, CHANGED = 1, 2, 4
SUMMARY = re.compile(r"^(Functions|Variables|Function symbols|Variable symbols|Unreachable types) "
                     r"(?:changes )?summary: (.*)$", re.M)
COUNT = re.compile(r"(\d+) (Removed|Changed|Added|removed|changed|added)")


class Failure(Exception):
    """What keeps the libraries from being compared."""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failure("%s:\n%s%s" % (" ".join(map(str, command)), done.stdout[-3000:], done.stderr[-3000:]))
    return done.stdout


def build(revision, work):
    """Returns the folder in `work` that has the commit's sources, and its libraries below."""
    commit = run(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", revision + "^{commit}"]).strip()
    folder = work / commit
    if not (folder / "built").exists():
        print("building %s ..." % revision, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["git", "-C", ROOT, "archive", "-o", folder / "sources.tar", commit])
        run(["tar", "-xf", folder / "sources.tar", "-C", folder])
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        # The compiler may know more warnings than that commit's did.
        options = ["--compile-no-warning-as-error", *generator, *OPTIONS]
        run(["cmake", "-S", folder, "-B", folder / "build", *options])
        run(["cmake", "--build", folder / "build", "--parallel", "2"])
        (folder / "built").touch()
    return folder


def libraries(folder):
    """Returns the folder's shared libraries by their names without a version."""
    found = {path.name: path for path in sorted(folder.rglob("lib*.so"))}
    if not found:
        raise Failure("%s has no lib*.so" % folder)
    return found


def headers(folder):
    found = sorted(path for path in folder.rglob("include") if path.is_dir() and "build" not in path.parts)
    if not found:
        raise Failure("%s has no folder include" % folder)
    return min(found, key=lambda path: len(path.parts))


def soname(library):
    found = re.search(r"SONAME.*\[(.*)\]", run(["readelf", "-d", library]))
    if not found:
        raise Failure("%s has no SONAME" % library)
    return found.group(1)


def counts(report):
    """Returns how many parts of the interface were removed, changed and added.

    A class that no exported function takes may come and go: the library's own code has begun or ceased to use
    it.
    """
    total = {"removed": 0, "changed": 0, "added": 0}
    for what, text in SUMMARY.findall(report):
        for number, kind in COUNT.findall(re.sub(r"\(\d+ filtered out\)", "", text)):
            total[kind.lower()] += int(number) if what != "Unreachable types" or kind == "changed" else 0
    return total


def compare(name, old, new, details):
    """Prints what has changed. Returns whether SOVERSION must move."""
    library = libraries(old)[name], libraries(new)[name]
    done = subprocess.run(
        ["abidiff", "--non-reachable-types", "--no-show-locs", "--headers-dir1", headers(old),
         "--headers-dir2", headers(new), *library], capture_output=True, text=True, check=False)
    if done.returncode & (FAILED | MISUSED):
        raise Failure("abidiff: %s%s" % (done.stdout[-3000:], done.stderr[-3000:]))
    if done.returncode & CHANGED and not SUMMARY.search(done.stdout):
        raise Failure("abidiff tells of a change without a summary:\n%s" % done.stdout[-3000:])
    number = counts(done.stdout)
    print("%s: %s" % (name, ", ".join("%d %s" % (count, kind) for kind, count in number.items())))
    print(done.stdout if details else "".join("    %s\n" % line for line in told(done.stdout)), end="")
    return verdict(number, soname(library[0]), soname(library[1]))


def told(report):
    """Returns the lines of abidiff that name what was removed or changed."""
    return [line.strip() for line in report.splitlines()
            if re.match(r"\s*(\[C\]|\[D\] '(?!class|struct|union|enum|typedef))", line)]


def verdict(number, old, new):
    if old != new:
        print("    SOVERSION has moved, from %s to %s: programs find the library that they were linked "
              "with." % (old, new))
        return False
    if number["removed"] or number["changed"]:
        print("    SOVERSION MUST MOVE: both are %s, and programs that were linked with the old one may fail "
              "with the new one. Raise the minor version." % old)
        return True
    if number["added"]:
        print("    SOVERSION may stay: programs that were linked with the old one run with the new one.")
    else:
        print("    SOVERSION stays: the interface is the one that it was.")
    return False


def check(old, new, details):
    """Compares the libraries of two folders. Returns whether SOVERSION must move."""
    names, others = libraries(old).keys(), libraries(new).keys()
    for name in sorted(names - others):
        print("%s is gone: programs that were linked with it do not start." % name)
    for name in sorted(others - names):
        print("%s is new." % name)
    mustMove = [compare(name, old, new, details) for name in sorted(names & others)]
    return any(mustMove) or bool(names - others)


def main():
    parser = argparse.ArgumentParser(description="Compares the interfaces of two commits' shared libraries.")
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default="HEAD")
    parser.add_argument("--folders", action="store_true", help="OLD and NEW are folders, not commits")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--details", action="store_true")
    arguments = parser.parse_args()
    try:
        if not shutil.which("abidiff"):
            raise Failure("there is no abidiff: apt-get install -y abigail-tools")
        with contextlib.ExitStack() as stack:
            if arguments.folders:
                folders = [pathlib.Path(arguments.old), pathlib.Path(arguments.new)]
            else:
                work = arguments.work or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
                folders = [build(revision, work.resolve()) for revision in (arguments.old, arguments.new)]
            return 1 if check(*folders, arguments.details) else 0
    except Failure as failure:
        print("abi.py: %s" % failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
