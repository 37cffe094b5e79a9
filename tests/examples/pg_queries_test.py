#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Has a PostgreSQL server of its own answer queries: pg_queries_test.py PG_QUERIES [names of tests...]"""

import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from server import LIMIT_SECONDS

PROGRAM = sys.argv.pop(1)
NUM_FIBERS = 8


def find_tools():
    """Returns: the folder of initdb and pg_ctl, which Debian has outside of PATH."""
    found = shutil.which("pg_ctl")
    folders = [os.path.dirname(os.path.realpath(found))] if found else sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return next((folder for folder in reversed(folders) if os.path.exists(folder + "/initdb")), None)


def find_owner():
    """Returns: the arguments with which subprocess starts a server, which refuses to be root's.

    None if there is no user for it.
    """
    if os.getuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        return None
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


TOOLS, OWNER = find_tools(), find_owner()


class PgQueriesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir="/tmp")  # since the path of a socket has at most 107 bytes
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        if OWNER:
            os.chown(cls.folder, OWNER["user"], OWNER["group"])
        cls.data = os.path.join(cls.folder, "data")
        cls.call("initdb", "--auth=trust", "--username=tester", "--no-sync", "--encoding=UTF8", "--no-locale")
        options = "-F -c listen_addresses= -c unix_socket_directories=" + cls.folder
        cls.addClassCleanup(cls.call, "pg_ctl", "--mode=immediate", "stop")
        cls.call("pg_ctl", "--wait", "--options", options, "--log", os.path.join(cls.folder, "log"), "start")
        cls.info = "host=%s user=tester dbname=postgres" % cls.folder

    @classmethod
    def call(cls, tool, *arguments):
        # What goes to a file ends with the tool. The server would keep a pipe open.
        with open(os.path.join(cls.folder, "output"), "w+", encoding="utf-8") as output:
            ended = subprocess.run([os.path.join(TOOLS, tool), "--pgdata", cls.data, *arguments], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output, timeout=LIMIT_SECONDS, cwd="/", check=False, **OWNER)
            output.seek(0)
            assert ended.returncode == 0, output.read()

    def start(self, queries, *arguments, info=None):
        process = subprocess.Popen([PROGRAM, info or self.info, *(str(argument) for argument in arguments)], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, WEFT_NUM_THREADS="1"))
        process.stdin.write("".join(query + "\n" for query in queries))
        process.stdin.close()
        process.stdin = None
        return process

    def run_queries(self, queries, *arguments, info=None):
        """Returns (status, the lines that it prints, what it says on stderr)."""
        process = self.start(queries, *arguments, info=info)
        rows, messages = process.communicate(timeout=2 * LIMIT_SECONDS)
        return process.returncode, sorted(rows.splitlines()), messages

    def test_each_query_gives_its_value(self):
        queries = ["select %d" % (i * i) for i in range(200)]
        queries += ["select * from (values ('a'), ('b')) as row", "create temporary table t (i int)"]
        expected = sorted([str(i * i) for i in range(200)] + ["a", ""])
        for num_fibers in (1, NUM_FIBERS):
            self.assertEqual(self.run_queries(queries, num_fibers), (0, expected, ""))

    def test_as_many_queries_run_at_the_same_time_as_there_are_fibers(self):
        """All of them wait in the server for a lock, which they get once all are there."""
        with subprocess.Popen([os.path.join(TOOLS, "psql"), "-Atq", self.info], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, bufsize=1) as psql:
            def ask(query):
                psql.stdin.write(query + ";\n")
                return psql.stdout.readline().strip()

            self.assertEqual(ask("select pg_advisory_lock(1)"), "")
            queries = ["select %d, pg_advisory_lock_shared(1)" % i for i in range(2 * NUM_FIBERS)]
            program = self.start(queries, NUM_FIBERS)
            waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
            until = time.monotonic() + LIMIT_SECONDS
            while (count := ask(waiting)) != str(NUM_FIBERS) and time.monotonic() < until and program.poll() is None:
                time.sleep(0.01)
            self.assertEqual(ask("select pg_advisory_unlock(1)"), "t")
            rows, messages = program.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual((count, program.returncode, messages), (str(NUM_FIBERS), 0, ""))
            self.assertEqual(sorted(rows.split()), sorted(str(i) for i in range(2 * NUM_FIBERS)))
            psql.stdin.close()
            psql.wait(LIMIT_SECONDS)

    def test_long_queries_and_rows_come_in_parts(self):
        text = 5_000_000 * "x"
        queries = ["select length('%s')" % text, "select repeat('x', 5000000)"]
        self.assertEqual(self.run_queries(4 * queries), (0, 4 * ["5000000"] + 4 * [text], ""))

    def test_what_fails_is_told_and_the_others_are_run(self):
        queries = ["select 1", "select 1 / 0", "copy pg_class to stdout", "",
                   "select pg_terminate_backend(pg_backend_pid())", "select 2"]
        status, rows, messages = self.run_queries(queries, 1)
        self.assertEqual((status, rows), (1, ["1", "2"]), messages)
        for words in ("select 1 / 0: PGRES_FATAL_ERROR: ERROR:  division by zero",
                      "copy pg_class to stdout: PGRES_COPY_OUT", ": PGRES_EMPTY_QUERY",
                      "pg_backend_pid()): PGRES_FATAL_ERROR: FATAL:  terminating connection"):
            self.assertIn(words, messages)

    def test_what_is_not_done_at_the_deadline_has_failed(self):
        status, rows, messages = self.run_queries(["select pg_sleep(1000)"] * 4, 2, 0.5)
        self.assertEqual((status, rows), (1, []))
        self.assertEqual(messages.count(os.strerror(110)), 4, messages)

    def test_a_server_that_is_not_there_is_told(self):
        status, rows, messages = self.run_queries(["select 1", "select 2"], info="host=%s/none" % self.folder)
        self.assertEqual((status, rows), (1, []))
        self.assertEqual(messages.count("No such file or directory"), 2, messages)


if __name__ == "__main__":
    if TOOLS is None or OWNER is None or not os.path.exists(TOOLS + "/psql"):
        print("this machine has no server of PostgreSQL, or no user for it")
        sys.exit(77)
    unittest.main()
