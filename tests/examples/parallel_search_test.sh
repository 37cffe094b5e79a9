#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# The word is found, and ends the search: parallel_search_test.sh <parallel_search>
source "$(dirname "$0")/failing.sh"
program=$1

# expect TEXT ARGUMENT...: what it prints does not depend on the number of workers. A search of all words of eight
# letters takes longer than this lets it.
expect() {
  for workers in 1 16; do
    printed=$(WEFT_NUM_THREADS=$workers timeout 100 "$program" "${@:2}") || {
      echo "FAILED: with $workers workers '${*:2}' ends with $?"
      exit 1
    }
    [ "$printed" = "$1" ] || { echo "FAILED: '${*:2}' prints '$printed'" && exit 1; }
  done
}

expect "end has the hash c2f00318f053500a" c2f00318f053500a 8
expect "a has the hash af63dc4c8601ec8c" af63dc4c8601ec8c 8
[ "$("$program")" = "weft has the hash 3d8b12f619f6348b" ]
# The last word of all.
expect "zzz has the hash ce8f061987a72b9d" ce8f061987a72b9d 3

fails 1 "no word has the hash 0000000000000000" "$program" 0 3
fails 1 "no word" "$program" f5216183ea912259 3
for arguments in x "" "1 0" "1 13" "1 2 3"; do
  fails 2 usage "$program" ${arguments:-""}
done
echo passed
