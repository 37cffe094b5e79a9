#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles each source of the library alone, without making code, and fails where one includes too little.

    file_by_file.py ROOT COMPILER [--musl]

--musl: against the headers of the C library musl and of libc++, for which COMPILER is a clang. Debian has no C++ library that is
built for musl, so that nothing runs.

Most builds of the tests compile the files of a folder together, and there a file sees what the files before it have
included. A program that adds weft by add_subdirectory() compiles them one by one.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

OPTIONS = ["-std=c++20", "-fsyntax-only", "-Iinclude", "-Isrc", '-DWEFT_TOOL_VERSION=""']


def musl_options(compiler, folder):
    """Returns: the options for musl's headers. Puts what these need beside them into `folder`."""
    def ask(*question):
        return subprocess.run([compiler, *question], capture_output=True, text=True, check=True).stdout.strip()

    architecture = os.uname().machine
    resources = pathlib.Path(ask("-print-resource-dir"))
    libcxx = resources.parents[2] / "include/c++/v1"
    # libc++ was configured for glibc.
    config = (libcxx / "__config_site").read_text()
    (folder / "__config_site").write_text(config.replace("_SITE\n#define", "_SITE\n#define _LIBCPP_HAS_MUSL_LIBC\n#define", 1))
    # Linux's own headers, without those of glibc beside them.
    for name, place in [("linux", "linux"), ("asm-generic", "asm-generic"), ("asm", architecture + "-linux-gnu/asm")]:
        (folder / name).symlink_to(pathlib.Path("/usr/include") / place)
    places = [folder, libcxx, resources / "include", pathlib.Path("/usr/include/%s-linux-musl" % architecture)]
    return ["--target=%s-linux-musl" % architecture, "-fexperimental-library", "-D_GNU_SOURCE", "-nostdinc"] + [
        word for place in places for word in ("-isystem", str(place))]


def complaint(root, compiler, options, source):
    """Returns: what the compiler says of a source that it does not take, or an empty text."""
    run = subprocess.run([compiler, *OPTIONS, *options, source], cwd=root, capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    sources = sorted(str(path.relative_to(root)) for path in root.glob("src/**/*.cpp")
                     if path.parent.name != "mpi")  # which its own presets compile one by one
    if not sources:
        sys.exit("there is no source in %s" % (root / "src"))
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool):
        options = musl_options(compiler, pathlib.Path(folder)) if "--musl" in sys.argv else []
        complaints = list(filter(None, pool.map(lambda source: complaint(root, compiler, options, source), sources)))
    for text in complaints:
        print(text)
    print("%d sources compile alone, %d do not" % (len(sources) - len(complaints), len(complaints)))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
