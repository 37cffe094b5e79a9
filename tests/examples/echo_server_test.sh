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
echo passed
