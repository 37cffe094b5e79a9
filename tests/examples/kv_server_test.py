#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Talks to the key-value server, and puts load on it: kv_server_test.py KV_SERVER KV_LOAD [names of tests...]"""

import os
import signal
import socket
import subprocess
import sys
import unittest

from server import LIMIT_SECONDS, OwnServer, Server, run_without_descriptors

SERVER = sys.argv.pop(1)
LOAD = sys.argv.pop(1)


def load(*arguments, workers=None):
    """Returns (status, what it prints, what it says on stderr)."""
    environment = dict(os.environ) if workers is None else dict(os.environ, WEFT_NUM_THREADS=str(workers))
    ended = subprocess.run([LOAD, *(str(argument) for argument in arguments)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS, env=environment)
    return ended.returncode, ended.stdout, ended.stderr


def lying_server(replies):
    """Replies to each line of its only client with the next reply, and then closes."""

    def serve(listener):
        client, _ = listener.accept()
        with client, client.makefile("rb") as lines:
            for reply in replies:
                lines.readline()
                client.sendall(reply)

    return OwnServer(serve)


class KvServerTest(unittest.TestCase):
    def ask(self, client, requests, replies):
        client.sendall(requests.encode())
        received = b""
        while received.count(b"\n") < replies.count("\n"):
            more = client.recv(65536)
            self.assertTrue(more, "the server has closed after %r" % received)
            received += more
        self.assertEqual(received.decode(), replies)

    def test_a_client_reads_what_another_has_set(self):
        with Server(SERVER, "0") as server, server.connect() as one, server.connect() as other:
            self.ask(one, "GET a\n", "NONE\n")
            self.ask(one, "SET a some words\n", "OK\n")
            self.ask(other, "GET a\n", "VALUE some words\n")
            self.ask(other, "SET a\n", "OK\n")
            self.ask(one, "GET a\n", "VALUE \n")

    def test_many_requests_may_come_at_once_and_in_parts(self):
        with Server(SERVER, "0") as server, server.connect() as client:
            self.ask(client, "SET a 1\nSET b 2\nGET a\nGET b\n", "OK\nOK\nVALUE 1\nVALUE 2\n")
            for character in "GET b":
                client.sendall(character.encode())
            self.ask(client, "\n", "VALUE 2\n")
            count = 2000
            self.ask(client, "".join("SET k%d %d\n" % (i, i) for i in range(count)), count * "OK\n")
            self.ask(client, "".join("GET k%d\n" % i for i in range(count)),
                     "".join("VALUE %d\n" % i for i in range(count)))

    def test_what_is_no_request_is_an_error(self):
        with Server(SERVER, "0") as server, server.connect() as client:
            self.ask(client, "\nhello\nget a\nSET\nSET  1\nGET\n", 5 * "ERROR\n" + "NONE\n")

    def test_a_line_without_end_is_not_kept(self):
        with Server(SERVER, "0") as server, server.connect() as client:
            try:
                client.sendall((1 << 20) * b"x")
                self.assertEqual(client.recv(1), b"")
            except (BrokenPipeError, ConnectionResetError):
                pass

    def test_a_signal_ends_it_while_clients_are_connected(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Server(SERVER, "0") as server, server.connect() as client:
                self.ask(client, "SET a 1\n", "OK\n")
                server.signal(number)
                server.wait()
                self.assertEqual(client.recv(1), b"")

    def test_an_error_is_told(self):
        with Server(SERVER, "0") as server:
            ended = subprocess.run([SERVER, str(server.port)], stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS)
            self.assertEqual((ended.returncode, ended.stderr), (1, "kv_server: cannot listen: Address already in use\n"))
        status, text = run_without_descriptors(SERVER, "0")
        self.assertEqual(status, 1)
        self.assertRegex(text, "Too many open files")


class KvLoadTest(unittest.TestCase):
    def test_all_replies_are_right(self):
        with Server(SERVER, "0") as server:
            status, out, err = load(server.port)
            self.assertEqual((status, out), (0, "10000 right, 0 wrong, 0 connections failed\n"), err)
            self.assertRegex(err, r"^\d+ requests/s, half of them within \d+ us, 99 % within \d+ us\n$")
            for workers in (1, 16):
                status, out, err = load(server.port, 8, 250, workers=workers)
                self.assertEqual((status, out), (0, "2000 right, 0 wrong, 0 connections failed\n"), err)
            self.assertEqual(load(server.port, 3, 0), (0, "0 right, 0 wrong, 0 connections failed\n", ""))

    def test_wrong_replies_are_counted(self):
        with lying_server([b"OK\n", b"VALUE 0\n", b"OK\n", b"VALUE 2\n", b"NONE\n", b"VALUE 2\n"]) as server:
            status, out, _ = load(server.port, 1, 6)
        self.assertEqual((status, out), (1, "4 right, 2 wrong, 0 connections failed\n"))

    def test_a_connection_that_is_closed_has_failed(self):
        with lying_server([b"OK\n", b"VALUE"]) as server:
            status, out, err = load(server.port, 1, 6)
        self.assertEqual((status, out), (1, "0 right, 0 wrong, 1 connections failed\n"))
        self.assertIn("the server has closed the connection", err)

    def test_nobody_listens(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            status, out, err = load(unused.getsockname()[1], 2)
        self.assertEqual((status, out), (1, "0 right, 0 wrong, 2 connections failed\n"))
        self.assertEqual(err.count("Connection refused"), 2)


if __name__ == "__main__":
    unittest.main()
