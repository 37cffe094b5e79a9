#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Has a Redis server of its own count: redis_counters_test.py REDIS_COUNTERS [names of tests...]"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from server import LIMIT_SECONDS, OwnServer

PROGRAM = sys.argv.pop(1)
NUM_FIBERS = 8


def count(server, *arguments):
    """Returns (status, what it prints, the sorted messages)."""
    done = subprocess.run([PROGRAM, str(server), *(str(argument) for argument in arguments)], text=True, capture_output=True,
                          timeout=2 * LIMIT_SECONDS, check=False, env=dict(os.environ, WEFT_NUM_THREADS="1"))
    return done.returncode, done.stdout, sorted(done.stderr.splitlines())


class RedisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir="/tmp")  # since the path of a socket has at most 107 bytes
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = os.path.join(cls.folder, "socket")
        cls.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", cls.path, "--save", "",
                                       "--dir", cls.folder], stdout=subprocess.DEVNULL)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.kill)
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                assert cls.ask("PING") == "+PONG"
                return
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < until and cls.server.poll() is None, "redis-server does not start"
                time.sleep(0.01)

    @classmethod
    def ask(cls, command):
        """Returns: the last line of the reply."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(LIMIT_SECONDS)
            client.connect(cls.path)
            client.sendall((command + "\r\nQUIT\r\n").encode())
            with client.makefile("r", newline="\r\n") as lines:
                return [line.rstrip("\r\n") for line in lines][-2]

    def test_all_commands_are_counted(self):
        for num_fibers, number in ((1, 1), (NUM_FIBERS, 1000), (50, 20), (2, 100_000)):
            self.ask("FLUSHALL")
            right = "%d of %d replies are right\n" % (2 * num_fibers * number, 2 * num_fibers * number)
            self.assertEqual(count(self.path, num_fibers, number), (0, right, []))
            self.assertEqual(self.ask("GET all"), str(num_fibers * number))
            self.assertEqual(self.ask("GET counter%d" % (num_fibers - 1)), str(number))

    def test_an_error_in_a_reply_is_told(self):
        self.ask("FLUSHALL")
        self.ask("SET all text")
        status, printed, messages = count(self.path, 2, 3)
        self.assertEqual((status, printed), (1, "0 of 12 replies are right\n"))
        self.assertEqual(messages, ["counter%d: ERR value is not an integer or out of range" % i for i in range(2)])


class OtherServerTest(unittest.TestCase):
    def test_all_fibers_send_all_their_commands_before_there_is_a_reply(self):
        number, seen = 5, []

        def serve(listener):
            clients = [listener.accept()[0] for _ in range(NUM_FIBERS)]
            for client in clients:
                client.settimeout(LIMIT_SECONDS)
                received = b""
                while received.count(b"INCR") < 2 * number or not received.endswith(b"all\r\n"):
                    received += client.recv(4096)
                seen.append(received.count(b"DEL") + received.count(b"INCR"))
            for client in clients:
                client.sendall(b":0\r\n" + b"".join(b":%d\r\n:%d\r\n" % (i, i) for i in range(1, number + 1)))
                client.close()

        with OwnServer(serve) as server:
            result = count(server.port, NUM_FIBERS, number)
        self.assertEqual(result, (0, "80 of 80 replies are right\n", []))
        self.assertEqual(seen, NUM_FIBERS * [2 * number + 1])

    def test_replies_come_in_parts_and_wrong_ones_are_seen(self):
        def serve(listener):
            with listener.accept()[0] as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for byte in b":1\r\n:1\r\n:1\r\n:1\r\n:2\r\n":  # the fourth is to be 2
                    client.sendall(bytes([byte]))
                client.recv(100_000)

        with OwnServer(serve) as server:
            self.assertEqual(count(server.port, 1, 2), (1, "3 of 4 replies are right\n", []))

    def test_lost_connections_and_silence_are_told(self):
        with OwnServer(lambda listener: listener.accept()[0].close()) as server:
            status, _, messages = count(server.port, 1)
            self.assertEqual((status, len(messages)), (1, 1))
            self.assertRegex(messages[0], "counter0: (Server closed the connection|Connection reset by peer|Broken pipe)")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            status, _, messages = count(silent.getsockname()[1], 2, 1, 0.2)
            self.assertEqual((status, len(messages)), (1, 2))
            self.assertIn(os.strerror(110), messages[0])
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # and does not listen
            self.assertEqual(count(closed.getsockname()[1], 1)[2], ["counter0: Connection refused"])
        self.assertEqual(count("/none", 1)[2], ["counter0: No such file or directory"])


if __name__ == "__main__":
    if shutil.which("redis-server") is None:
        print("this machine has no redis-server")
        sys.exit(77)
    unittest.main()
