#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# The lines are those of factor(1), in the order of the arguments: ordered_output_test.sh <ordered_output>
source "$(dirname "$0")/failing.sh"
program=$1

# expectOrder NUMBER...: what comes out does not depend on the number of workers.
expectOrder() {
  factor "$@" >"$work/expected"
  for workers in 1 16; do
    WEFT_NUM_THREADS=$workers "$program" "$@" | diff "$work/expected" -
  done
}

expectOrder 999999999989 64 97 1 99999999977 2
expectOrder $(seq 1 300)
expectOrder 999999999989 $(seq 500 -1 300)

"$program" >"$work/all"
[ "$(wc -l <"$work/all")" = 8 ]
factor $(cut -d: -f1 "$work/all") | diff - "$work/all"

for argument in 0 -1 x 7x "" 18446744073709551616; do
  fails 2 "is no number" "$program" 12 "$argument"
done
fails 1 "cannot write: No space left" sh -c '"$0" >/dev/full' "$program"
echo passed
