#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Talks to the echo server, and ends it while a client is connected: echo_server_test.sh <echo_server>
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"; kill "$server" 2>/dev/null' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

mkfifo "$work/out"
"$1" 0 >"$work/out" &
server=$!
exec 3<"$work/out"
read -r line <&3 || fail "the server says nothing"
port=${line##*:}
case $line in "listening on 127.0.0.1:"*) ;; *) fail "the server says '$line'" ;; esac

exec 4<>"/dev/tcp/127.0.0.1/$port" || fail "no connection"
exec 5<>"/dev/tcp/127.0.0.1/$port" || fail "no second connection"
for text in hello again; do
  echo "$text" >&4
  read -r reply <&4
  [ "$reply" = "$text" ] || fail "sent '$text', got '$reply'"
done

kill -INT "$server"
read -r line <&3
[ "$line" = bye ] || fail "at its end the server says '$line'"
wait "$server" || fail "the server ends with $?"
echo passed
