#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Talks to the chat server: chat_server_test.py PROGRAM [names of tests...]"""

import sys
import unittest

from server import Server, run_without_descriptors

PROGRAM = sys.argv.pop(1)


class Client:
    def __init__(self, server, name, **options):
        self.socket = server.connect(**options)
        self.lines = self.socket.makefile("r", newline="\n")
        self.say(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def say(self, line):
        self.socket.sendall((line + "\n").encode())

    def hear(self):
        """Returns a line, or nothing at the end."""
        return self.lines.readline().removesuffix("\n")


class ChatServerTest(unittest.TestCase):
    def expect(self, line, *clients):
        for client in clients:
            self.assertEqual(client.hear(), line)

    def test_everybody_hears_what_is_said(self):
        with Server(PROGRAM, "0") as server, Client(server, "ann") as ann:
            self.expect("* ann has come", ann)
            ann.say("to myself")
            self.expect("ann: to myself", ann)
            with Client(server, "bob\r") as bob:
                self.expect("* bob has come", ann, bob)
                bob.say("hi\nthere")
                self.expect("bob: hi", ann, bob)
                self.expect("bob: there", ann, bob)
            self.expect("* bob has gone", ann)
            ann.say("")
            self.expect("ann: ", ann)

    def test_many_members_speak_at_once(self):
        with Server(PROGRAM, "0") as server:
            clients = []
            for i in range(20):
                clients.append(Client(server, "c%d" % i))
                self.expect("* c%d has come" % i, *clients)
            for _ in range(10):
                for client in clients:
                    client.say("x")
                heard = [[client.hear() for _ in clients] for client in clients]
                self.assertEqual(sorted(heard[0]), sorted("c%d: x" % i for i in range(20)))
                self.assertTrue(all(lines == heard[0] for lines in heard), "all hear the same, in one order")
            for client in clients:
                client.__exit__()

    def test_a_member_that_does_not_read_has_to_leave(self):
        with Server(PROGRAM, "0") as server, Client(server, "ann") as ann:
            self.expect("* ann has come", ann)
            with Client(server, "carl", receive_buffer=4096) as carl:
                self.expect("* carl has come", ann)
                with Client(server, "bob") as bob:
                    self.expect("* bob has come", ann, bob)
                    self.speak_until_carl_is_too_slow(ann, bob)
                    bob.say("bye")
                    self.expect("bob: bye", ann, bob)
                    # He had some of it, and then the end.
                    count = 0
                    try:
                        while carl.hear():
                            count += 1
                    except ConnectionResetError:
                        pass
                    self.assertLess(count, 5000)

    def speak_until_carl_is_too_slow(self, ann, bob):
        for i in range(5000):
            text = "%d %s" % (i, 900 * "x")
            ann.say(text)
            line = ann.hear()
            if line == "* carl is too slow":
                self.expect(line, bob)
                self.expect("ann: " + text, ann, bob)
                return
            self.assertEqual(line, "ann: " + text)
            self.expect(line, bob)
        self.fail("carl is kept")

    def test_a_line_without_end_is_not_kept(self):
        with Server(PROGRAM, "0") as server, Client(server, "ann") as ann:
            self.expect("* ann has come", ann)
            with Client(server, "bob") as bob:
                self.expect("* bob has come", ann, bob)
                bob.socket.sendall(5000 * b"x")
                self.expect("* bob has gone", ann)

    def test_an_error_is_told(self):
        status, text = run_without_descriptors(PROGRAM, "0")
        self.assertEqual(status, 1)
        self.assertRegex(text, "cannot .*: Too many open files")

    def test_a_stop_sends_all_away(self):
        with Server(PROGRAM, "0") as server, Client(server, "ann") as ann, Client(server, "bob") as bob:
            nameless = server.connect()
            # Each has come, so that its name has been read. What a server has not read when it closes turns the end into a reset.
            for client in (ann, bob):
                self.assertTrue(client.hear())
            server.signal()
            server.wait()
            for client in (ann, bob):
                while client.hear():
                    pass
            try:
                self.assertEqual(nameless.recv(1), b"")
            except ConnectionResetError:
                pass  # it had not been accepted yet
            nameless.close()


if __name__ == "__main__":
    unittest.main()
