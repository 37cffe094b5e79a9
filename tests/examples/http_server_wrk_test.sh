#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Asks for files with wrk, over many connections at once: http_server_wrk_test.sh <http_server>. Exits with 77 where there is no wrk.
command -v wrk >/dev/null || exit 77
source "$(dirname "$0")/server.sh"

mkdir "$work/served"
echo hello >"$work/served/small.txt"
head -c 300000 /dev/zero >"$work/served/large.bin"
serve "$1" "$work/served" 0 60000

# ask CONNECTIONS PATH [options of wrk...]: leaves in $said what wrk says. It asks again where no request was answered in its second:
# the machine may have been busy with something else.
ask() {
  local connections=$1 path=$2
  shift 2
  until said=$(wrk --threads 1 --connections "$connections" --duration 1s --timeout 60s "$@" "$url/$path") || fail "wrk: $said"
    echo "$said" | grep -E '^ +[1-9][0-9]* requests in'; do :; done
}

# load CONNECTIONS PATH [options of wrk...]: each request is answered as it should.
load() {
  local connections=$1 path=$2
  ask "$@"
  ! echo "$said" | grep -E 'Non-2xx|Socket errors' || fail "$path, $connections connections"
}

load 1 small.txt
load 200 small.txt
load 20 large.bin
load 50 large.bin --header 'Range: bytes=100000-199999'
# A connection for each request.
ask 20 small.txt --header 'Connection: close'
! echo "$said" | grep -E 'Non-2xx' || fail "Connection: close"
# What is not there is said to be so, each time.
ask 20 missing
all=$(echo "$said" | sed -nE 's/^ +([0-9]+) requests in.*/\1/p')
missing=$(echo "$said" | sed -nE 's/.*Non-2xx or 3xx responses: ([0-9]+)/\1/p')
[ "$all" = "$missing" ] || fail "$all requests of what is missing, $missing errors"

# It stops in order beside a load that goes on: what was asked is answered, and then the connections are closed.
wrk --threads 1 --connections 50 --duration 1h "$url/small.txt" >"$work/last" 2>&1 &
load=$!
port=$(printf '%04X' "${url##*:}")
# Until all are connected, and many have an answer: wrk itself reads much less than that.
until [ "$(grep -c ":$port .* 01 " /proc/net/tcp)" -ge 50 ] && [ "$(sed -n 's/^rchar: //p' "/proc/$load/io")" -ge 100000 ]; do
  kill -0 "$load" || fail "wrk: $(cat "$work/last")"
done
endServer TERM
kill -INT "$load"
wait "$load"
grep -qE '^ +[1-9][0-9]* requests in' "$work/last" || fail "no request was answered: $(cat "$work/last")"
grep -q 'Non-2xx' "$work/last" && fail "requests were refused at the end: $(cat "$work/last")"
echo passed
