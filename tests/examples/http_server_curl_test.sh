#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fetches files with curl: http_server_curl_test.sh <http_server>. Exits with 77 where there is no curl.
command -v curl >/dev/null || exit 77
source "$(dirname "$0")/server.sh"

fetch() { curl --silent --show-error --fail --max-time 60 --noproxy '*' "$@" || fail "curl $*"; }

mkdir "$work/served"
head -c 3000000 /dev/urandom >"$work/served/large.bin"
echo hello >"$work/served/hello.txt"
serve "$1" "$work/served" 0

fetch -o "$work/whole" "$url/large.bin"
cmp "$work/whole" "$work/served/large.bin" || fail "a file"

# A download that was broken off goes on where it was.
head -c 1000000 "$work/served/large.bin" >"$work/part"
fetch -C - -o "$work/part" "$url/large.bin"
cmp "$work/part" "$work/served/large.bin" || fail "the rest of a file"

# One connection serves all of them.
connects=$(fetch -w '%{num_connects}\n' -o "$work/#1" "$url/{hello.txt,large.bin,hello.txt}" | paste -sd+)
[ "$((connects))" = 1 ] || fail "$connects connections"
cmp "$work/hello.txt" "$work/served/hello.txt" || fail "a small file"

fetch -I "$url/large.bin" | grep -q $'^Content-Length: 3000000\r$' || fail "HEAD"
status=$(curl --silent --noproxy '*' --path-as-is -o "$work/reply" -w '%{http_code}' "$url/../out")
[ "$status" = 403 ] || fail "a path that leads out: $status"

endServer TERM
echo passed
