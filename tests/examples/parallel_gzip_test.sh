#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# gunzip gives back what was compressed: parallel_gzip_test.sh <parallel_gzip>
source "$(dirname "$0")/failing.sh"
gzip=$1

: >"$work/empty"
printf x >"$work/byte"
head -c 262144 /dev/zero >"$work/block"  # exactly one
seq 1400000 >"$work/text"
head -c 1000000 /dev/urandom >"$work/random"
for input in empty byte block text random; do
  for workers in 1 16; do
    WEFT_NUM_THREADS=$workers "$gzip" <"$work/$input" >"$work/$input.$workers.gz"
    gunzip -c "$work/$input.$workers.gz" | cmp - "$work/$input"
  done
  cmp "$work/$input.1.gz" "$work/$input.16.gz"
done

# It compresses, and a level means something.
"$gzip" 1 <"$work/text" >"$work/fast.gz"
size=$(stat -c %s "$work/text.1.gz")
[ "$size" -gt 0 ] && [ "$size" -lt 4000000 ] && [ "$size" -lt "$(stat -c %s "$work/fast.gz")" ]

# From a pipe, which gives less than a block at a time.
cat "$work/text" | "$gzip" | gunzip -c | cmp - "$work/text"

for input in byte text; do
  fails 1 "cannot write: No space left" sh -c '"$0" <"$1" >/dev/full' "$gzip" "$work/$input"
done
fails 1 "cannot read: Is a directory" sh -c '"$0" <"$1" >/dev/null' "$gzip" "$work"
for argument in 0 10 --help; do
  fails 2 usage "$gzip" "$argument"
done
echo passed
