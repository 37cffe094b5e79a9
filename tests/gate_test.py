# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs .ci/run in a repository of its own, with programs that only pretend to configure, build and test."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What tests say that fail, and what is told of them: the case, and the first failure.
SAID = """[ RUN      ] SureTest.Holds
[       OK ] SureTest.Holds (0 ms)
[ RUN      ] ShakyTest.Holds/4
a_test.cpp:7: Failure
Expected equality of these values:
  caught
    Which is: 1
  0
[  FAILED  ] ShakyTest.Holds/4 (37 ms)
a_test.cpp:9: Failure
another
"""
DIED = """[ RUN      ] ShakyDeathTest.Ends
a_test.cpp:7: Failure
Death test: { end(); }
    Result: died but not with expected exit code:
            Terminated by signal 6
Actual msg:
[  DEATH   ] weft: fatal: the end
[  FAILED  ] ShakyDeathTest.Ends (3 ms)
"""
RACED = """[ RUN      ] ShakyTest.Holds
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8

[       OK ] ShakyTest.Holds (3 ms)
"""
CRASHED = """[ RUN      ] SureTest.Holds
[       OK ] SureTest.Holds (0 ms)
[ RUN      ] ShakyTest.Holds
the last words
"""
UNITTEST = """.F
FAIL: test_of_all (__main__.AllTest)
----------------------------------------------------------------------
Traceback (most recent call last):
"""
TOLD = {
    SAID: ", case ShakyTest.Holds/4,.* alone: a_test.cpp:7: Failure [|] Expected equality of these values: "
          "[|] caught [|] Which is: 1 [|] 0",
    DIED: ", case ShakyDeathTest.Ends,.* alone: a_test.cpp:7: Failure .* [|] Terminated by signal 6 "
          r"[|] Actual msg: [|] \[  DEATH   \] weft: fatal: the end",
    RACED: ", case ShakyTest.Holds,.* alone: WARNING: ThreadSanitizer: data race .pid=7. [|] Write of size 8",
    CRASHED: ", case ShakyTest.Holds,.* [|] the last words",
    UNITTEST: " of tree .* alone: FAIL: test_of_all .__main__.AllTest.[^\n]*",
    "": " of tree .* alone: ",
}
PATHS = ("include", "src", "benchmarks", "tests/model", "tests/fuzz", "tests/cmake")

# A ctest that notes its arguments. The file `fail` says how often a test fails still.
CTEST = r"""echo "ctest $*" >>"$LOG"
for ((i = 1; i < $#; i++)); do [ "${!i}" != --output-junit ] || { j=$((i + 1)); report=${!j}; }; done
[[ "$*" != *" -N "* ]] || { printf '  Test  #1: deep_one\n  Test  #2: deep_two\n  Test #13: deep_three\n'; exit 0; }
count=$(cat "$FAIL" 2>/dev/null || echo 0)
if [ "$count" -gt 0 ]; then
  echo $((count - 1)) >"$FAIL"
  [ -z "${report:-}" ] || printf '<testsuite><testcase name="good" status="run"/><testcase name="shaky" status="fail">%s</testcase></testsuite>' \
    "<system-out>$SAID</system-out>" >"$report"
  exit 8
fi
"""


class GateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        self.work, self.bin = top / "work", top / "bin"
        self.bin.mkdir()
        for path in (".ci/run", ".ci/unsteady.py", "tests/crowded.sh"):
            (self.work / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.work / path)
        (self.work / "README.md").write_text("apt-get install -y python3 && cmake --workflow --preset test\n")
        (self.work / ".gitignore").write_text("/build/\n")
        for path in PATHS:
            (self.work / path).mkdir(parents=True, exist_ok=True)
            (self.work / path / "file").write_text("text\n")
        for script in ("make.py", "browse.py"):
            path = self.work / "docs/site" / script
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('"""Only pretends."""\n')
        self.log, self.failures = top / "log", top / "fail"
        for name, text in (("cmake", 'echo "cmake $*" >>"$LOG"\n'), ("ctest", CTEST),
                           ("dpkg-query", "echo install ok installed\n")):
            self.fake(name, text)
        own = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "WEFT_"))}
        self.environment = dict(own, PATH="%s:%s" % (self.bin, os.environ["PATH"]), LOG=str(self.log),
                                FAIL=str(self.failures),
                                GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
        for name in ("AUTHOR", "COMMITTER"):
            self.environment.update({"GIT_%s_NAME" % name: "tester", "GIT_%s_EMAIL" % name: "tester@example.org"})
        self.git("init", "-q")
        self.commit()

    def git(self, *command):
        return subprocess.run(("git", *command), cwd=self.work, env=self.environment, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def run_gate(self, *arguments, status=0, **environment):
        """Returns: what it printed."""
        self.log.write_text("")
        done = subprocess.run(("bash", ".ci/run", *arguments), cwd=self.work, env={**self.environment, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def presets(self):
        """Returns: what was configured, in order."""
        return [line.split()[-1] for line in self.log.read_text().splitlines() if line.startswith("cmake --fresh --preset")]

    def stamps(self):
        tree = self.git("rev-parse", "HEAD^{tree}")
        return {path.name[:-len(tree) - 1] for path in (self.work / "build/stamps").glob("*-" + tree)}

    def test_the_tree_chooses_one_further_check(self):
        # `site` builds no preset.
        expected = {(), ("asan",), ("tsan",), ("test",), ("fuzz",), ("gcc-11-release", "clang-14-release"),
                    ("cross-aarch64",)}
        chosen = set()
        for number in range(300):
            if chosen == expected:
                break
            (self.work / "src/file").write_text(str(number))
            self.commit()
            self.run_gate()
            self.assertEqual(self.presets()[0], "test")
            self.assertIn("gate", self.stamps())
            chosen.add(tuple(self.presets()[1:]))
        last = self.presets()
        self.run_gate()
        self.assertEqual(self.presets(), last)
        self.assertEqual(chosen, expected)
        self.run_gate("cross")
        self.assertIn("--target core", self.log.read_text())
        self.assertIn("ctest --preset cross-aarch64 -L ^core$", self.log.read_text())
        self.run_gate("tsan-2")
        self.assertIn("--target half_2", self.log.read_text())
        self.assertIn("ctest --preset tsan -L ^half_2$", self.log.read_text())

    def fake(self, name, text):
        """Puts another program in the place of cmake or ctest."""
        (self.bin / name).write_text("#!/usr/bin/env bash\n" + text)
        (self.bin / name).chmod(0o755)

    def test_a_test_that_fails_twice_fails_the_gate(self):
        self.failures.write_text("2")
        self.assertIn("== failed: test", self.run_gate("test", status=1))
        self.assertNotIn("test", self.stamps())

    def test_a_test_that_fails_once_is_told_last(self):
        for said, told in TOLD.items():
            self.failures.write_text("1")
            printed = self.run_gate("test", SAID=said)
            self.assertIn("-R ^(shaky)$", self.log.read_text())
            self.assertRegex(printed, r"== all of it holds[^\n]*\nUNSTEADY: shaky, in test%s\n\Z" % told)
            kept = (self.work / "build/stamps/unsteady").read_text().splitlines()
            self.assertEqual(kept[-1], printed.splitlines()[-1])
            self.assertRegex(kept[-1], " of tree %s, 20" % self.git("rev-parse", "HEAD^{tree}"))
        self.assertIn("test", self.stamps())

    def test_each_line_of_a_test_that_fails_once_names_it(self):
        self.failures.write_text("1")
        printed = self.run_gate("test", SAID=SAID).splitlines()
        kept = (self.work / "build/stamps/unsteady").read_text().splitlines()
        for line in SAID.splitlines():
            self.assertIn("shaky, in test: " + line, printed)
            self.assertIn("shaky, in test: " + line, kept)
        for line in kept:
            self.assertIn("shaky, in test", line)

    def test_what_draws_a_seed_is_not_tried_again(self):
        for part in ("fuzz", "fuzz-long", "stress-7", "soak", "long", "tsan-long", "release"):
            self.failures.write_text("1")
            self.run_gate(part, status=1)
            self.assertNotIn(part, self.stamps())

    def test_a_run_without_a_report_fails(self):
        self.failures.write_text("1")
        self.run_gate("test")
        self.fake("ctest", "exit 8\n")
        self.assertIn("== failed: asan", self.run_gate("asan", status=1))
        self.fake("ctest", "exit 134\n")
        self.assertIn("== failed: test", self.run_gate("test", status=1))

    def test_no_stamp_where_files_change_meanwhile(self):
        self.fake("cmake", "echo other >src/file\n")
        self.assertIn("no stamp for test", self.run_gate("test"))
        self.assertEqual(self.stamps(), set())

    def test_a_run_of_long_tests_that_finds_none_fails(self):
        self.fake("ctest", "exit 0\n")
        self.run_gate("long", status=1)

    def test_two_runs_at_once_are_refused(self):
        self.fake("cmake", "! bash .ci/run full\n")
        self.assertIn("another run is at work", self.run_gate("test"))

    def test_all_goes_on_where_it_was_and_leaves_what_has_not_changed(self):
        self.run_gate("all", status=2, WEFT_CI_MINUTES="0")
        self.assertEqual(self.presets(), [])
        self.run_gate("asan", "models")
        self.run_gate("all")
        self.assertNotIn("asan", self.presets())
        self.assertIn("tsan", self.presets())
        self.assertNotIn("-L ^models$", self.log.read_text())
        self.run_gate("all")
        self.assertEqual(self.presets(), [])
        (self.work / "benchmarks/file").write_text("other")
        self.commit()
        self.run_gate("all")
        self.assertIn("-L ^benchmarks$", self.log.read_text())
        self.assertNotIn("-L ^models$", self.log.read_text())

    def test_all_fails_if_one_part_does_and_runs_the_others(self):
        self.failures.write_text("2")
        self.assertIn("== failed: test\n", self.run_gate("all", status=1))
        self.assertIn("asan", self.stamps())
        self.assertIn("test\n", self.run_gate("owed"))

    def test_nightly_runs_everything_and_stamps_each_long_test(self):
        self.run_gate("nightly")
        log = self.log.read_text()
        for text in ("-L ^models$", "-L ^headers$", "--preset gcc-11-asan", "--preset cross-aarch64 --output", "--preset cross-s390x -L ^core$ --output",
                     "-R _late(_epoll|_uring)?$", "-R ^(deep_one|deep_two)$",
                     "-R ^(deep_three|)$"):
            self.assertIn(text, log)
        self.assertLessEqual({"stress-1", "stress-20", "long", "long.deep_three"}, self.stamps())
        self.assertEqual(self.run_gate("owed"), "")

    def test_a_long_test_that_fails_keeps_no_other_from_running(self):
        self.failures.write_text("1")
        self.run_gate("long", status=1)
        self.assertIn("-R ^(deep_three|)$", self.log.read_text())
        self.assertEqual(self.stamps(), {"long.deep_three"})

    def test_tests_that_are_skipped_are_told(self):
        self.fake("ctest", CTEST + 'printf "<system-out>a.cpp:1: Skipped\nthe system refuses 64 threads\n\na.cpp:2: Skipped\n' +
                  'nobody else\n</system-out>" >"$report"\n')
        printed = self.run_gate("test")
        self.assertIn("== test: 1 skipped: the system refuses 64 threads\n", printed)
        self.assertEqual(printed.count("skipped"), 1)

    def test_an_unsteady_test_is_told_again(self):
        self.failures.write_text("1")
        self.run_gate("test", SAID=SAID)
        for arguments, status in ((("all",), 0), (("fuzz",), 0), (("fuzz",), 1)):
            self.failures.write_text(str(status))
            printed = self.run_gate(*arguments, status=status)
            self.assertRegex(printed, r"\nUNSTEADY in an earlier run: shaky, in test, case [^\n]*\n\Z")
        (self.work / "src/file").write_text("other")
        self.commit()
        self.failures.write_text("0")
        self.assertNotIn("UNSTEADY", self.run_gate("fuzz"))

    def test_changes_that_are_not_committed_have_no_stamps(self):
        (self.work / "src/file").write_text("other")
        self.assertIn("files differ from the last commit", self.run_gate("test"))
        self.assertEqual(self.stamps(), set())
        self.assertIn("test\n", self.run_gate("owed"))

    def test_what_it_does_not_know_fails_before_anything_runs(self):
        for words in (("nonsense",), ("test", "stress-"), ("crowded-08",), ("all", "test"), ("test asan",)):
            self.run_gate(*words, status=1)
            self.assertEqual(self.log.read_text(), "")
        self.run_gate("all", status=1, WEFT_CI_MINUTES="abc")


if __name__ == "__main__":
    unittest.main()
