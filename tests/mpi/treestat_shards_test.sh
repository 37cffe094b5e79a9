#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares the totals of treestat_shards with those of treestat:
#   treestat_shards_test.sh <treestat> <command of treestat_shards...>
set -uo pipefail
treestat=$1
shards=("${@:2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

compare() {  # directory, depths...
  local tree=$1 expected actual depth
  # The totals end at an empty line.
  expected=$("$treestat" "$tree" 2>"$work/messages" | sed '/^$/,$d')
  [ -n "$expected" ] || { cat "$work/messages"; failed=1; }
  for depth in "${@:2}"; do
    actual=$("${shards[@]}" "$tree" "$depth" 2>"$work/messages")
    if [ "$actual" != "$expected" ]; then
      echo "FAILED: $tree with depth $depth: expected"
      printf '%s\ngot\n%s\n' "$expected" "$actual"
      cat "$work/messages"
      failed=1
    fi
  done
}

# A tree with files at each depth, and with all that is neither a file nor a directory.
tree=$work/tree
for a in 1 2 3 4 5; do
  for b in 1 2 3; do
    mkdir -p "$tree/a$a/b$b/c/d"
    printf 'two words\n' >"$tree/a$a/b$b/c/d/file.txt"
    printf 'a line\nand a half' >"$tree/a$a/b$b/file.md"
  done
  printf 'one\n' >"$tree/a$a/file"
done
for i in $(seq 40); do
  echo "$i" >"$tree/$i.number"
done
mkdir "$tree/empty"
ln -s file "$tree/a1/sound"
ln -s nothing "$tree/a1/b1/c/broken"
ln -s loop "$tree/a2/loop"
mkfifo "$tree/a3/b3/fifo"

compare "$tree" 1 2 3 9
compare "$tree/empty" 1
"${shards[@]}" "$work/missing" >"$work/out" 2>"$work/messages" && { echo "FAILED: it reads a missing directory"; failed=1; }
grep -q "missing" "$work/messages" || { echo "FAILED: no message of a missing directory"; failed=1; }
exit $failed
