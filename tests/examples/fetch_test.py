#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fetches from the HTTP server, and from servers that misbehave: fetch_test.py FETCH HTTP_SERVER [tests...]"""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

from server import LIMIT_SECONDS, OwnServer, Server

FETCH, HTTP_SERVER = sys.argv.pop(1), sys.argv.pop(1)
REPLY = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def fetch(urls, seconds=10 * LIMIT_SECONDS):
    """Returns (status, what is printed, the messages)."""
    done = subprocess.run([FETCH, str(seconds)], input="".join(url + "\n" for url in urls), text=True,
                          capture_output=True, timeout=2 * LIMIT_SECONDS)
    return done.returncode, done.stdout, done.stderr.splitlines()


def read_request(client):
    client.settimeout(LIMIT_SECONDS)
    request = b""
    while b"\r\n\r\n" not in request:
        request += client.recv(4096)


class FetchTest(unittest.TestCase):
    def test_a_thousand_urls_are_fetched(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(100):
                with open(os.path.join(folder, str(i)), "wb") as file:
                    file.write(bytes(i * 100))
            with Server(HTTP_SERVER, folder, "0") as server:
                urls = ["http://127.0.0.1:%d/%d" % (server.port, i % 100) for i in range(1000)]
                expected = "1000 fetched, 0 failed, %d bytes\n" % (10 * sum(range(100)) * 100)
                self.assertEqual(fetch(urls), (0, expected, []))

    def test_a_name_is_looked_up(self):
        try:
            socket.getaddrinfo("localhost", None)
        except socket.gaierror:
            self.skipTest("this machine does not know its name 'localhost'")
        with tempfile.TemporaryDirectory() as folder, Server(HTTP_SERVER, folder, "0") as server:
            with open(os.path.join(folder, "file"), "wb") as file:
                file.write(b"hello")
            url = "http://localhost:%d/file" % server.port
            self.assertEqual(fetch([url]), (0, "1 fetched, 0 failed, 5 bytes\n", []))

    def test_fifty_are_fetched_at_a_time(self):
        most = []

        def serve(listener):
            """Answers fifty at a time, once it is clear that nobody else comes before that."""
            for _ in range(3):
                waiting = [listener.accept()[0] for _ in range(50)]
                listener.settimeout(0.2)
                try:
                    waiting.append(listener.accept()[0])
                except socket.timeout:
                    pass
                listener.settimeout(LIMIT_SECONDS)
                most.append(len(waiting))
                for client in waiting:
                    with client:
                        read_request(client)
                        client.sendall(REPLY)

        with OwnServer(serve) as server:
            result = fetch(150 * [server.url])
        self.assertEqual(result, (0, "150 fetched, 0 failed, 750 bytes\n", []))
        self.assertEqual(most, [50, 50, 50])

    def test_one_deadline_is_for_all(self):
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:  # which answers nobody
            url = "http://127.0.0.1:%d/" % listener.getsockname()[1]
            status, printed, messages = fetch(120 * [url], 0.5)
            self.assertEqual((status, printed), (1, "0 fetched, 120 failed, 0 bytes\n"))
            self.assertEqual(messages, 120 * [url + ": " + os.strerror(110)])
            # Those whose turn came later have not even begun.
            listener.setblocking(False)
            self.assertLessEqual(self.count_connections(listener), 50)

    def count_connections(self, listener):
        count = 0
        try:
            while True:
                listener.accept()[0].close()
                count += 1
        except BlockingIOError:
            return count

    def test_what_fails_is_told_and_the_others_are_fetched(self):
        replies = {"/ok": REPLY, "/endless": b"HTTP/1.1 200 OK\r\n\r\nhel", "/lower": REPLY.replace(b"L", b"l"),
                   "/missing": b"HTTP/1.1 404 Not Found\r\n\r\n", "/cut": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx",
                   "/empty": b"", "/head": b"HTTP/1.1 200 OK\r\n"}

        def serve(listener):
            for _ in replies:
                client = listener.accept()[0]
                with client, client.makefile("rb") as lines:
                    target = lines.readline().split()[1].decode()
                    while lines.readline() != b"\r\n":
                        pass
                    client.sendall(replies[target])

        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # and does not listen
            refusing = "http://127.0.0.1:%d/" % closed.getsockname()[1]
            with OwnServer(serve) as server:
                urls = [server.url + target[1:] for target in replies]
                status, printed, messages = fetch(urls + [refusing, "ftp://here/", "http://", "http://:1/"])
        self.assertEqual((status, printed), (1, "3 fetched, 8 failed, 13 bytes\n"))
        wrong = dict(message.split(": ", 1) for message in messages)
        self.assertEqual(wrong.pop(refusing), os.strerror(111))
        self.assertEqual(wrong, {server.url + "missing": "the answer is 'HTTP/1.1 404 Not Found'",
                                 server.url + "cut": "the reply is cut off", server.url + "empty": "the answer is ''",
                                 server.url + "head": "the reply is cut off", "ftp://here/": "this is no http:// URL",
                                 "http://": "this is no http:// URL", "http://:1/": "this is no http:// URL"})


if __name__ == "__main__":
    unittest.main()
