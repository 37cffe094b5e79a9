#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests treestat on real and on made trees, or its progress on a terminal:
#   treestat_test.sh <treestat> <libtreestat_faults> [progress]
# Exits with 77 where there is no pseudo-terminal for the latter, as in some containers.
set -uo pipefail
treestat=$1
faults=$2
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
failed=0

fail() {
  echo "FAILED: $*"
  failed=1
}

expect() {  # what, expected, actual
  [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# Runs treestat with the arguments; leaves $status, the files out and err, and out without the time in report.
run() {
  "$treestat" "$@" >"$work/out" 2>"$work/err"
  status=$?
  sed '$d' "$work/out" >"$work/report"
}

value() { awk -v name="$1" '$1 == name && NF == 2 { print $2; exit }' "$work/out"; }

# Counts with find and wc. Where wc makes no word of a byte that is no character of the C locale, as treestat does,
# this is the command in treestat's help; versions of wc differ in that, and else such bytes are taken out first.
countWithFindAndWc() {
  if [ "$(printf '\351 a' | LC_ALL=C wc -w)" = 1 ]; then
    find "$1" -type f -print0 | LC_ALL=C wc --files0-from=- | tail -n 1 | awk '{ print $1, $2, $3 }'
  else
    find "$1" -type f -exec sh -c '
      for file; do
        words=$(LC_ALL=C tr -d "\000-\010\016-\037\177-\377" <"$file" | LC_ALL=C wc -w)
        echo "$(wc -l <"$file") $words $(wc -c <"$file")"
      done' sh {} + | awk '{ l += $1; w += $2; b += $3 } END { printf "%d %d %d\n", l, w, b }'
  fi
}

compareWithFind() {  # directory, then options of treestat
  expect "$*: status" 0 "$status"
  expect "$*: files" "$(find "$1" -type f -printf x | wc -c)" "$(value files)"
  expect "$*: directories" "$(find "$1" -type d -printf x | wc -c)" "$(value directories)"
  expect "$*: links" "$(find "$1" -type l -printf x | wc -c)" "$(value links)"
}

testHeaders() {
  local tree=/usr/include/c++ expected
  [ -d "$tree" ] || tree=/usr/include
  expected=$(countWithFindAndWc "$tree")
  for workers in 0 2; do
    run --workers=$workers "$tree"
    compareWithFind "$tree" $workers workers
    expect "$tree, $workers workers" "$expected" "$(value lines) $(value words) $(value bytes)"
  done
  expect "messages" "" "$(cat "$work/err")"
}

makeTree() {
  mkdir "$1" "$1/empty directory" "$1/many" "$1/wide" "$1/names"
  : >"$1/empty"
  printf 'no newline at the end' >"$1/open.txt"
  printf 'a\vb\fc\rd\te f\n' >"$1/spaces.txt"
  printf '\351 a\001b \302\251 \000x \177 y\200z\n' >"$1/bytes.bin"
  head -c 300000 /dev/urandom >"$1/random.bin"
  perl -e 'print "word " x 13107, "across", " \n" x 5, "x" x 200000, "\n"' >"$1/large.txt"
  for i in $(seq 300); do echo $((i % 7)) >"$1/many/$i.c"; done
  for i in $(seq 200); do mkdir "$1/wide/$i" && echo "$i" >"$1/wide/$i/x.h"; done
  perl -e 'chdir $ARGV[0]; @names = ("new\nline", "\xff\xfe.txt", "esc\e[31m", "back\\slash", "-dash", "trailing.");
      for (@names, ".hidden", ".5", "a.tar.gz") { open F, ">", "./$_"; print F $_ }' "$1/names"
}

testMadeTree() {
  local tree=$work/tree expected
  makeTree "$tree"
  ln -s large.txt "$tree/link"
  ln -s . "$tree/self"
  ln -s ../tree "$tree/up"
  expected=$(countWithFindAndWc "$tree")
  for workers in 0 1 8; do
    run --workers $workers --top 1000 "$tree"
    compareWithFind "$tree" $workers workers
    expect "tree, $workers workers" "$expected" "$(value lines) $(value words) $(value bytes)"
    expect "messages" "" "$(cat "$work/err")"
    [ -e "$work/first" ] || cp "$work/report" "$work/first"
    cmp "$work/first" "$work/report" || fail "the report of $workers workers differs"
  done
  grep -qF 'names/new\012line' "$work/out" || fail "a newline in a name"
  grep -qF 'names/\377\376.txt' "$work/out" || fail "bytes in a name that are no text"
  grep -qF 'names/esc\033[31m' "$work/out" || fail "an escape in a name"
  grep -qF 'names/back\134slash' "$work/out" || fail "a backslash in a name"
  expect "rows of files" "$(value files)" "$(grep -c '^  *[0-9][0-9]*  /' "$work/out")"
  expect "type c" "300 300 300" "$(awk '$1 == "c" { print $2, $3, $4 }' "$work/out")"
  expect "type gz" 1 "$(awk '$1 == "gz" { print $2 }' "$work/out")"

  # The files of the table make up the whole.
  expect "sum of types" "$(value files) $(value bytes)" \
    "$(awk 'NF == 5 && $2 ~ /^[0-9]+$/ { f += $2; b += $5 } END { printf "%d %d", f, b }' "$work/out")"

  # DIR itself may be a link; few files may be open.
  ln -s "$tree" "$work/alias"
  run "$work/alias"
  expect "DIR is a link" "$(find "$tree" -type f -printf x | wc -c)" "$(value files)"
  (ulimit -n 64 && "$treestat" --workers 8 "$tree" >"$work/out" 2>"$work/err") || fail "few open files"
  expect "few open files" "$(find "$tree" -type f -printf x | wc -c)" "$(value files)"

  run -t 2 "$tree"
  expect "top 2 of 300" 2 "$(grep -c '/many/[0-9]*\.c$' "$work/out")"
}

# Deeper than the longest path that the system takes.
testDeepTree() {
  local tree=$work/deep
  mkdir "$tree"
  perl -e 'chdir $ARGV[0]; for (1 .. 2000) { mkdir "directory" and chdir "directory" or die }
      open F, ">", "deep.txt"; print F "the bottom\n"' "$tree"
  for workers in 0 1 8; do
    run --workers $workers "$tree"
    expect "deep tree" "0 1 2001" "$status $(value files) $(value directories)"
    expect "deep tree" "1 2 11" "$(value lines) $(value words) $(value bytes)"
  done
  (ulimit -n 64 && "$treestat" --workers 8 "$tree" >"$work/out") || fail "a deep tree with few open files"
}

testOddities() {
  local tree=$work/odd
  mkdir "$tree"
  echo 'one file' >"$tree/file"
  ln -s nowhere "$tree/broken"
  ln -s file/below "$tree/below"
  ln -s b "$tree/a"
  ln -s a "$tree/b"
  ln -s itself "$tree/itself"
  mkfifo "$tree/fifo"
  perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])) or die' "$tree/socket"
  for workers in 0 1 8; do
    run --workers $workers "$tree"
    expect "odd status" 0 "$status"
    expect "odd files" "1 1 2 9" "$(value files) $(value lines) $(value words) $(value bytes)"
    expect "odd counts" "5 2 3 2" "$(value links) $(value broken) $(value loops) $(value special)"
    expect "odd messages" 7 "$(wc -l <"$work/err")"
  done
  for what in 'broken: a broken link' 'itself: a link in a loop' 'fifo: not read' 'socket: not read'; do
    grep -qF "odd/$what" "$work/err" || fail "no message: $what"
  done

  mkdir "$work/flood"
  for i in $(seq 30); do ln -s nowhere "$work/flood/$i"; done
  run "$work/flood"
  expect "flood" "30 21" "$(value broken) $(wc -l <"$work/err")"
  expect "flood" "treestat: 10 more messages are not shown" "$(tail -n 1 "$work/err")"
}

# With faults by a library that is loaded before the program.
runWithFaults() {
  LD_PRELOAD=$faults ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 run "$@"
}

testFaults() {
  local tree=$work/faults
  for workers in 0 1 8; do
    mkdir "$tree" "$tree/vanishing directory" "$tree/forbidden directory"
    echo gone >"$tree/vanishing.txt"
    echo no >"$tree/forbidden.txt"
    head -c 200000 /dev/zero >"$tree/shrinking.txt"
    head -c 200000 /dev/zero >"$tree/failing.txt"
    echo 'good file' >"$tree/good.txt"
    runWithFaults --workers $workers "$tree"
    expect "faults, status" 1 "$status"
    expect "faults, all that is there" "5 3" "$(value files) $(value directories)"
    expect "faults, lines and words" "1 2" "$(value lines) $(value words)"
    expect "faults, bytes" $((65536 + 100000 + 10)) "$(value bytes)"
    expect "faults" "2 1 3" "$(value vanished) $(value shrunk) $(value unreadable)"
    expect "faults, messages" 6 "$(wc -l <"$work/err")"
    for what in 'vanishing.txt: No such file' 'vanishing directory: No such file' 'shrinking.txt: shrank' \
      'forbidden.txt: Permission denied' 'forbidden directory: Permission denied' \
      'failing.txt: Input/output error'; do
      grep -qF "faults/$what" "$work/err" || fail "no message: $what"
    done
    rm -rf "$tree"
  done

  # The system's own refusal, which root does not meet.
  mkdir -p "$tree/closed"
  echo x >"$tree/closed/file"
  echo y >"$tree/secret"
  chmod 0 "$tree/closed" "$tree/secret"
  run "$tree"
  if [ "$(id -u)" = 0 ]; then
    expect "root" "0 2 0" "$status $(value files) $(value unreadable)"
  else
    expect "not root" "1 1 2" "$status $(value files) $(value unreadable)"
  fi
}

testUsage() {
  run --help
  expect "--help" 0 "$status"
  grep -q '^usage: treestat' "$work/out" || fail "--help"
  expect "width of --help" 0 "$(awk 'length > 79' "$work/out" | wc -l)"
  for arguments in "" "--workers=-1 ." "--workers 257 ." "-w x ." "--top 1x ." "--top= ." "--nonsense ." ". ." \
    "/nowhere" "/etc/passwd"; do
    # shellcheck disable=SC2086
    run $arguments
    expect "treestat $arguments: status" 2 "$status"
    expect "treestat $arguments: output" "" "$(cat "$work/out")"
    [ -s "$work/err" ] || fail "treestat $arguments: no message"
  done
  run ""
  expect "empty DIR" 2 "$status"
  "$treestat" "$work/odd" >/dev/full 2>"$work/err"
  expect "output that cannot be written" 2 $?
  mkdir "$work/nothing"
  run "$work/nothing"
  expect "an empty DIR" "0 0 1 0" "$status $(value files) $(value directories) $(value bytes)"
  run "$work/nothing//"
  expect "an empty DIR with slashes" "0 1" "$status $(value directories)"
  run --one-file-system /dev
  expect "--one-file-system" "$(find /dev -xdev -type d -printf x | wc -c)" "$(value directories)"
}

testProgress() {
  if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "SKIPPED: no pseudo-terminal is to be had"
    exit 77
  fi
  mkdir "$work/slow"
  echo slow >"$work/slow/slow.txt"
  echo slow >"$work/slow/slower.txt"
  ln -s nowhere "$work/slow/broken"
  # The reads go on until progress is shown.
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 WEFT_SLOW_UNTIL=$work/shown \
    script -qefc "LD_PRELOAD=$faults $treestat -w 2 $work/slow" /dev/null </dev/null >"$work/typescript" &
  until grep -q '[01] files, 0 MB' "$work/typescript"; do
    kill -0 $! || { fail "no progress on a terminal: $(cat -v "$work/typescript")"; break; }
  done
  touch "$work/shown"
  wait $!
  runWithFaults -w 2 "$work/slow"
  grep -q 'files, [0-9]* MB' "$work/err" && fail "progress where there is no terminal"
}

if [ "${3:-}" = progress ]; then
  testProgress
  exit $failed
fi
testHeaders
testMadeTree
testDeepTree
testOddities
testFaults
testUsage
exit $failed
