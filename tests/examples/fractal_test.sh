#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# The picture is one, and does not depend on the number of workers: fractal_test.sh <fractal>
set -euo pipefail
fractal=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

WEFT_NUM_THREADS=1 "$fractal" "$work/one"
WEFT_NUM_THREADS=8 "$fractal" "$work/eight"
cmp "$work/one" "$work/eight"

# A PNG or a PPM, in size and more than a blank sheet.
head=$(head -c 24 "$work/one" | od -An -v -tx1 | tr -d ' \n')
case $head in
  89504e470d0a1a0a0000000d494844520000040000000300) ;;
  50360a3130323420373638*) ;;
  *) echo "no picture: $head" && exit 1 ;;
esac
[ "$(stat -c %s "$work/one")" -gt 100000 ]

# What cannot be written fails.
status=0
"$fractal" "$work/missing/picture" 2>"$work/message" || status=$?
[ "$status" = 1 ] && [ -s "$work/message" ]
status=0
"$fractal" --help 2>"$work/message" || status=$?
[ "$status" = 2 ] && grep -q usage "$work/message"
