# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of servers have in common: the folder $work, which goes at their end, and the server.
set -uo pipefail
work=$(mktemp -d)
server=
trap 'rm -rf "$work"; kill "$server" 2>/dev/null' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

# serve COMMAND...: starts the server; leaves its process in $server and where it listens in $url.
serve() {
  mkfifo "$work/out"
  "$@" >"$work/out" &
  server=$!
  exec 3<"$work/out"
  read -r line <&3 || fail "the server says nothing"
  url=http://${line#listening on }
}

# endServer SIGNAL: it ends in order, as it is told.
endServer() {
  kill "-$1" "$server"
  read -r line <&3
  [ "$line" = bye ] || fail "at its end the server says '$line'"
  wait "$server" || fail "the server ends with $?"
}
