#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Talks to the echo server, and ends it while a client is connected: echo_server_test.sh <echo_server>
source "$(dirname "$0")/server.sh"

serve "$1" 0
port=${line##*:}
case $line in "listening on 127.0.0.1:"*) ;; *) fail "the server says '$line'" ;; esac

exec 4<>"/dev/tcp/127.0.0.1/$port" || fail "no connection"
exec 5<>"/dev/tcp/127.0.0.1/$port" || fail "no second connection"
for text in hello again; do
  echo "$text" >&4
  read -r reply <&4
  [ "$reply" = "$text" ] || fail "sent '$text', got '$reply'"
done

endServer INT

# With two descriptors beside the standard ones there is none for the worker's epoll. (Nor is there one for the sanitizer that takes
# each object for none where it gets none to look at it.)
if grep -q __ubsan_handle "$1"; then
  echo passed
  exit 0
fi
(ulimit -n 5 && exec timeout 60 "$1" 0 3<&- 4<&- 5<&-) >"$work/out.txt" 2>"$work/errors"
status=$?
[ $status = 1 ] || fail "without descriptors it ends with $status"
grep -q "cannot .*: Too many open files" "$work/errors" || fail "without descriptors it says '$(cat "$work/errors")'"
echo passed
