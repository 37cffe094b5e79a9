# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""For the tests of examples: runs a server that prints "listening on ADDRESS:PORT" first, or is one itself."""

import resource
import signal
import socket
import subprocess
import threading
import unittest

LIMIT_SECONDS = 60  # for what would hang if the server were wrong


def run_without_descriptors(*command):
    """Runs a server to which the system grants no descriptor for a worker's epoll. Returns (status, what it says on stderr)."""
    with open(command[0], "rb") as program:
        if b"__ubsan_handle" in program.read():
            raise unittest.SkipTest("the sanitizer takes each object for none where it gets no descriptor to look at it")
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
    return ended.returncode, ended.stderr


class Server:
    """Stops, and must have ended well, at the end of a `with`, unless it has been ended in between."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        elif self.process.poll() is None:
            self.signal()
            self.wait()
        self.process.wait()
        self.process.stdout.close()

    def connect(self, receive_buffer=None):
        client = socket.socket()
        client.settimeout(LIMIT_SECONDS)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            client.connect(("127.0.0.1", self.port))
        except OSError:
            client.close()
            raise
        return client

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        """Waits for the end, and checks that it is a good one."""
        assert self.process.wait(LIMIT_SECONDS) == 0
        assert self.process.stdout.read() == "bye\n"


class OwnServer:
    """Calls serve(listener) on a thread, whose end the end of a `with` waits for."""

    def __init__(self, serve):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.listener.settimeout(LIMIT_SECONDS)
        self.port = self.listener.getsockname()[1]
        self.url = "http://127.0.0.1:%d/" % self.port
        self.thread = threading.Thread(target=serve, args=(self.listener,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join()
        self.listener.close()
