# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""For .ci/run: reads a report of ctest about tests of which some have failed.

Usage: unsteady.py PART TREE REPORT FOLDER. Prints the regular expression that names these tests. Ends with 1 if
there are none, or more than five. Leaves in FOLDER what .ci/run tells if they pass alone: in `failed` what they
said, in `told` one line of each. Each line of both names the test: a line may be read without those around it.
"""

import pathlib
import re
import sys
import time
import xml.etree.ElementTree

MOST_TESTS = 5
MOST_LINES = 5
MOST_CHARACTERS = 160
# Where a failure begins: of GoogleTest, of a sanitizer, of Python's unittest.
BEGINNING = re.compile(r": Failure$|^=*\d*=*(?:WARNING|ERROR): \w+Sanitizer: |^(?:FAIL|ERROR): \w|: runtime error: ")
END = re.compile(r"$|\[(?!  DEATH)|.*: Failure$")


def is_skipped(test):
    skipped = test.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def failed_tests(report):
    tests = xml.etree.ElementTree.parse(report).getroot()
    return [test for test in tests
            if test.get("status") == "fail" or test.get("status") == "notrun" and not is_skipped(test)]


def first_failure(lines):
    """Returns: the case of GoogleTest that failed first, or None, and what it said then."""
    case = None
    for i, line in enumerate(lines):
        if line.startswith("[ RUN      ] "):
            case = line[len("[ RUN      ] "):]
        elif line.startswith("[       OK ] ") or line.startswith("[  SKIPPED ] "):
            case = None
        elif BEGINNING.search(line):
            further = lines[i + 1:i + MOST_LINES + 1]
            count = next((j for j, each in enumerate(further) if END.match(each)), len(further))
            return case, [line, *further[:count]]
    # It has crashed, or was ended: these are its last words.
    return case, [line for line in lines if line][-3:]


def main():
    part, tree, report, folder = sys.argv[1:]
    tests = failed_tests(report)
    told, said = "", ""
    for test in tests:
        place = "%s, in %s" % (test.get("name"), part)
        lines = (test.findtext("system-out") or "").rstrip().split("\n")
        said += "".join("%s: %s\n" % (place, line) for line in lines)
        case, failure = first_failure(lines)
        told += "UNSTEADY: %s%s of tree %s, %s. It failed, and then passed alone: %s\n" % (
            place, ", case %s," % case if case else "", tree, time.strftime("%FT%TZ", time.gmtime()),
            " | ".join(line.strip()[:MOST_CHARACTERS] for line in failure))
    (pathlib.Path(folder) / "failed").write_text(said)
    (pathlib.Path(folder) / "told").write_text(told)
    print("^(%s)$" % "|".join(re.escape(test.get("name")) for test in tests))
    return 0 if 0 < len(tests) <= MOST_TESTS else 1


if __name__ == "__main__":
    sys.exit(main())
