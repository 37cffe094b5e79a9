#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of programs that fail have in common: the folder $work, which goes at their end, and fails().
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fails STATUS WORDS COMMAND...: the command ends with the status, and says the words.
fails() {
  local status=0
  "${@:3}" 2>"$work/message" || status=$?
  [ "$status" = "$1" ] && grep -q "$2" "$work/message" || {
    echo "FAILED: '${*:3}' ends with $status and says '$(cat "$work/message")'"
    exit 1
  }
}
