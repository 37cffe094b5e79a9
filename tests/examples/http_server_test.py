#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Talks to the HTTP server by plain sockets: http_server_test.py PROGRAM [names of tests...]"""

import fcntl
import os
import random
import signal
import socket
import struct
import sys
import tempfile
import termios
import time
import unittest

from server import LIMIT_SECONDS, Server, run_without_descriptors

PROGRAM = sys.argv.pop(1)
SHORT_MS = 500


def files():
    return {"hello.txt": b"hello, world\n", "empty": b"", "index.html": b"<p>index", "a..b": b"dots",
            "with space": b"a space", "large.bin": random.Random(7).randbytes(1_000_000)}


class TooLate(Exception):
    """The server closed the connection without a word, as where the request comes too late."""


class Client:
    def __init__(self, server, **options):
        self.socket = server.connect(**options)
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, target, method="GET", **headers):
        lines = ["%s %s HTTP/1.1" % (method, target), "Host: here"]
        lines += ["%s: %s" % (name.replace("_", "-"), value) for name, value in headers.items()]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    def more(self):
        """Returns whether there was more before the end."""
        data = self.socket.recv(65536)
        self.unread += data
        return data != b""

    def take(self, count):
        while len(self.unread) < count and self.more():
            pass
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def reply(self, has_body=True):
        """Returns (status, headers, body)."""
        while b"\r\n\r\n" not in self.unread:
            if not self.more():
                assert not self.unread, "the end comes after %r" % self.unread
                raise TooLate
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        status, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        assert status.startswith("HTTP/1.1 "), status
        return int(status.split()[1]), headers, self.take(int(headers["Content-Length"])) if has_body else b""

    def get(self, target, **headers):
        self.ask(target, **headers)
        return self.reply()

    def is_at_end(self):
        return not self.unread and not self.more()

    def await_read(self):
        """Returns once the server has read all that was sent."""
        ends = ["%04X" % self.socket.getpeername()[1], "%04X" % self.socket.getsockname()[1]]
        while struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4)))[0] > 0 or \
                self.unread_of(ends) > 0:
            pass

    @staticmethod
    def unread_of(ends):
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table]
        sizes = [int(row[4].split(":")[1], 16) for row in rows[1:]
                 if [end.split(":")[1] for end in row[1:3]] == ends]
        # The table is read in parts. A row that moves meanwhile comes twice, or not at all.
        return max(sizes, default=1)


class HttpServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The server serves a folder beside which there is a secret.
        cls.work = tempfile.TemporaryDirectory()
        cls.folder = os.path.join(cls.work.name, "served")
        os.makedirs(os.path.join(cls.folder, "sub"))
        with open(os.path.join(cls.work.name, "secret"), "wb") as file:
            file.write(b"secret")
        cls.files = files()
        for name, content in cls.files.items():
            with open(os.path.join(cls.folder, name), "wb") as file:
                file.write(content)
        os.mkfifo(os.path.join(cls.folder, "pipe"))

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def serve(self, patience_ms=LIMIT_SECONDS * 2000):
        return Server(PROGRAM, self.folder, "0", str(patience_ms))

    def test_files_are_sent_whole_over_one_connection(self):
        with self.serve() as server, Client(server) as client:
            for name, content in self.files.items():
                status, headers, body = client.get("/" + name.replace(" ", "%20") + "?query")
                self.assertEqual((status, body == content), (200, True), name)
                self.assertNotIn("Connection", headers)
            self.assertEqual(client.get("/")[2], self.files["index.html"])
            self.assertEqual(client.get("http://here/hello.txt")[2], self.files["hello.txt"])
            self.assertEqual(client.get("/hello.txt")[1]["Content-Type"], "text/plain; charset=utf-8")

    def test_what_is_no_file_is_not_found(self):
        with self.serve() as server, Client(server) as client:
            for target in ("/missing", "/sub", "/sub/", "/hello.txt/below", "/pipe", "/" + 300 * "x"):
                self.assertEqual(client.get(target)[0], 404, target)

    def test_no_path_leads_out_of_the_folder(self):
        with self.serve() as server, Client(server) as client:
            for target in ("/../secret", "/sub/../../secret", "/%2e%2e/secret", "/sub/..%2f..%2fsecret",
                           "//../secret", "/..", "/sub/%2E./.%2e/secret", "http://here/../secret"):
                status, _, body = client.get(target)
                self.assertEqual((status, b"secret" in body), (403, False), target)
            for target in ("/hello.txt%00", "/%", "/%4", "/%zz"):
                self.assertEqual(client.get(target)[0], 400, target)

    def test_head_has_the_length_and_no_body(self):
        with self.serve() as server, Client(server) as client:
            for method, target in 2 * (("HEAD", "/hello.txt"), ("HEAD", "/missing"), ("GET", "/hello.txt")):
                client.ask(target, method)
                status, headers, _ = client.reply(has_body=method == "GET")
                self.assertEqual(status, 404 if target == "/missing" else 200)
                self.assertEqual(headers["Content-Length"], "14" if target == "/missing" else "13")

    def test_ranges(self):
        whole = self.files["hello.txt"]
        with self.serve() as server, Client(server) as client:
            for text, begin, end in (("0-4", 0, 5), ("7-7", 7, 8), ("7-", 7, 13), ("-6", 7, 13), ("3-99", 3, 13),
                                     ("-99", 0, 13), ("12-12", 12, 13), ("0-18446744073709551615", 0, 13)):
                status, headers, body = client.get("/hello.txt", Range="bytes=" + text)
                self.assertEqual((status, body), (206, whole[begin:end]), text)
                self.assertEqual(headers["Content-Range"], "bytes %d-%d/13" % (begin, end - 1))
            for text in ("13-", "13-20", "-0"):
                status, headers, _ = client.get("/hello.txt", Range="bytes=" + text)
                self.assertEqual((status, headers["Content-Range"]), (416, "bytes */13"), text)
            for text in ("bytes=4-3", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=0-1,3-4", "lines=1-2",
                         "bytes=0-99999999999999999999"):
                status, _, body = client.get("/hello.txt", Range=text)
                self.assertEqual((status, body), (200, whole), text)
            self.assertEqual(client.get("/hello.txt", Range="bytes=0-1", If_Range='"a"')[0], 200)
            self.assertEqual(client.get("/empty", Range="bytes=0-")[0], 416)
            middle = self.files["large.bin"][300_000:800_001]
            self.assertEqual(client.get("/large.bin", Range="bytes=300000-800000")[2], middle)

    def test_requests_that_come_together_and_in_pieces_are_answered_in_order(self):
        names = ["hello.txt", "a..b", "index.html", "large.bin"] * 10
        requests = b"".join(b"GET /%s HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n" % name.encode() for name in names)
        with self.serve() as server:
            for size in (1, 17, len(requests)):
                with Client(server) as client:
                    begin = 0
                    for name in names[:4] if size == 1 else names:
                        # What comes later is sent as late as possible, so that nobody waits for the other.
                        while b"\r\n\r\n" not in client.unread and begin < len(requests):
                            client.send(requests[begin:begin + size])
                            begin += size
                            client.socket.setblocking(False)
                            try:
                                client.more()
                            except BlockingIOError:
                                pass
                            client.socket.settimeout(LIMIT_SECONDS)
                        status, _, body = client.reply()
                        self.assertEqual((status, body == self.files[name]), (200, True))

    def test_a_connection_is_closed_where_the_client_wants_that(self):
        with self.serve() as server:
            for request in (b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"):
                with Client(server) as client:
                    client.send(request)
                    status, headers, _ = client.reply()
                    self.assertEqual((status, headers["Connection"]), (200, "close"))
                    self.assertTrue(client.is_at_end())

    def test_a_client_of_the_old_version_is_told_that_the_connection_stays(self):
        with self.serve() as server, Client(server) as client:
            for _ in range(3):
                client.send(b"GET /hello.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                status, headers, body = client.reply()
                self.assertEqual((status, headers.get("Connection")), (200, "keep-alive"))
                self.assertEqual(body, self.files["hello.txt"])

    def test_what_others_might_take_for_something_else_ends_the_connection(self):
        requests = ((400, b"GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n"), (400, b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
                    (400, b"GET / HTTP/1.1\r\nHost : h\r\n\r\n"), (400, b"GET / HTTP/1.1\r\nHost: h\r\nX y: z\r\n\r\n"),
                    (400, b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello"),
                    (400, b"GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n"), (505, b"GET / HTTP/9.9\r\nHost: h\r\n\r\n"),
                    (505, b"GET / HTTP/0.9\r\nHost: h\r\n\r\n"), (505, b"GET / HTTP/2.0\r\nHost: h\r\n\r\n"))
        with self.serve() as server:
            for expected, request in requests:
                with Client(server) as client:
                    client.send(request)
                    status, headers, _ = client.reply()
                    self.assertEqual((status, headers.get("Connection")), (expected, "close"), request)
            for host in (b"h:80", b"[::1]:80", b"", b"h "):
                with Client(server) as client:
                    client.send(b"GET /hello.txt HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
                    self.assertEqual(client.reply()[0], 200, host)

    def test_files_take_few_threads(self):
        with self.serve() as server:
            clients = [Client(server) for _ in range(200)]
            for client in clients:
                client.send(4 * b"GET /hello.txt HTTP/1.1\r\nHost: h\r\n\r\n")
            for client in clients:
                self.assertEqual([client.reply()[0] for _ in range(4)], 4 * [200])
            # What became idle stays for ten seconds. The workers and the kernel's own for io_uring come on top.
            self.assertLess(len(os.listdir("/proc/%d/task" % server.process.pid)), 32 + 32 + os.cpu_count())
            for client in clients:
                client.socket.close()

    def test_what_is_not_served_is_refused(self):
        requests = ((400, b"nonsense\r\n\r\n"), (400, b"GET / HTTP/1.1\r\n\r\n"),
                    (400, b"GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
                    (405, b"DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"),
                    (405, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"),
                    (413, b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
                    (413, b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
        with self.serve() as server:
            for status, request in requests:
                with Client(server) as client:
                    client.send(request)
                    self.assertEqual(client.reply()[0], status, request)

    def test_a_header_has_a_limit(self):
        with self.serve() as server:
            for request in (b"GET /" + 9000 * b"x", b"GET / HTTP/1.1\r\nHost: h\r\nX: " + 9000 * b"y",
                            b"GET / HTTP/1.1\r\n" + 3000 * b"a: b\r\n", 9000 * b"\r\n"):
                # The reply arrives also where much more had been sent.
                with Client(server) as client:
                    client.send(request + 200_000 * b"z")
                    self.assertEqual(client.reply()[0], 431, request[:30])
                    client.socket.shutdown(socket.SHUT_WR)
                    self.assertTrue(client.is_at_end())
            with Client(server) as client:
                client.ask("/hello.txt", X=7000 * "y")
                self.assertEqual(client.reply()[0], 200)

    def with_clients(self, server, talk, **options):
        """Calls talk(client) with new clients until one is in time. The server may lose its patience with a client that is
        kept off its processor."""
        while True:
            with Client(server, **options) as client:
                try:
                    return talk(client)
                except (TooLate, ConnectionError):
                    pass

    def test_a_slow_client_is_timed_out(self):
        def begins(client):
            client.send(b"GET / HT")
            self.assertEqual(client.reply()[0], 408)

        def sends_some_bytes_now_and_then(client):  # which does not help
            client.send(b"GET / HTTP/1.1\r\nX: ")
            client.socket.settimeout(0.05)
            while not client.unread:
                try:
                    client.send(50 * b"x")
                    if not client.more():
                        raise TooLate
                except socket.timeout:
                    pass
            client.socket.settimeout(LIMIT_SECONDS)
            self.assertEqual(client.reply()[0], 408)

        def has_nothing_to_ask(client):
            self.assertEqual(client.get("/hello.txt")[0], 200)
            self.assertTrue(client.is_at_end())

        with self.serve(SHORT_MS) as server:
            self.with_clients(server, begins)
            self.with_clients(server, sends_some_bytes_now_and_then)
            self.with_clients(server, has_nothing_to_ask)

    def make_huge_file(self):
        with open(os.path.join(self.folder, "huge"), "wb") as file:
            file.truncate(1 << 30)

    def test_a_client_that_does_not_read_holds_nobody_up(self):
        self.make_huge_file()
        with self.serve() as server, Client(server, receive_buffer=4096) as stuck:
            stuck.ask("/huge")
            self.assertEqual(stuck.reply(has_body=False)[0], 200)
            with Client(server) as client:
                self.assertEqual(client.get("/hello.txt")[0], 200)

    def test_a_client_that_does_not_read_is_given_up(self):
        self.make_huge_file()

        def does_not_read(stuck):
            stuck.ask("/huge")
            self.assertEqual(stuck.reply(has_body=False)[0], 200)
            # The server ends only once it has given the client up.
            server.signal()
            server.wait()
            size = 0
            try:
                while data := stuck.socket.recv(1 << 20):
                    size += len(data)
            except ConnectionResetError:
                pass
            self.assertLess(size, 1 << 30)

        with self.serve(SHORT_MS) as server:
            self.with_clients(server, does_not_read, receive_buffer=4096)

    def test_many_connections(self):
        with self.serve() as server:
            clients = [Client(server) for _ in range(400)]
            for _ in range(2):
                for client in clients:
                    client.ask("/hello.txt")
                for client in clients:
                    self.assertEqual(client.reply()[2], self.files["hello.txt"])
            for client in clients:
                client.socket.close()

    def test_a_stop_lets_the_requests_that_have_begun_come_to_their_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.serve() as server, Client(server) as idle, Client(server) as busy, Client(server) as new:
                self.assertEqual(idle.get("/hello.txt")[0], 200)
                new.send(b"GET /hello.txt HTTP/1.1\r\nHo")
                new.await_read()
                # The reply shows that the server has read the beginning of the next request too.
                busy.send(2 * b"GET /hello.txt HTTP/1.1\r\nHost: h\r\n\r\n" + b"GET /large.bin HTTP/1.1\r\nHo")
                self.assertEqual([busy.reply()[0], busy.reply()[0]], [200, 200])
                server.signal(number)
                self.assertTrue(idle.is_at_end())
                self.await_refusal(server)
                for client, name in ((busy, "large.bin"), (new, "hello.txt")):
                    client.send(b"st: h\r\n\r\n")
                    status, headers, body = client.reply()
                    self.assertEqual((status, headers["Connection"]), (200, "close"))
                    self.assertEqual(body, self.files[name])
                    client.socket.shutdown(socket.SHUT_WR)
                server.wait()

    def await_refusal(self, server):
        begin = time.monotonic()
        while time.monotonic() - begin < LIMIT_SECONDS:
            # A connection that waits to be accepted when the listener is closed is reset, also while it is being made.
            try:
                server.connect().close()
            except ConnectionRefusedError:
                return
            except ConnectionResetError:
                pass
        self.fail("a server that was stopped accepts connections")

    def test_an_error_is_told(self):
        status, text = run_without_descriptors(PROGRAM, self.folder, "0")
        self.assertEqual(status, 1)
        self.assertRegex(text, "cannot .*: Too many open files")

    def test_a_second_signal_ends_all(self):
        with self.serve() as server, Client(server) as idle, Client(server) as busy:
            self.assertEqual(idle.get("/hello.txt")[0], 200)
            busy.send(b"GET /hello.txt HTTP/1.1\r\nHost: h\r\n\r\nGET /large.bin HTTP/1.1\r\nHo")
            self.assertEqual(busy.reply()[0], 200)
            server.signal()
            self.assertTrue(idle.is_at_end())
            server.signal()
            server.wait()
            self.assertTrue(busy.is_at_end())


if __name__ == "__main__":
    unittest.main()
