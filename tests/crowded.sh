#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# crowded.sh COMMAND...: runs it beside four programs that compute.

hogs=()
trap 'kill "${hogs[@]}"' EXIT
for _ in 1 2 3 4; do
  setpriv --pdeathsig KILL bash -c 'while :; do :; done' &
  hogs+=($!)
done
"$@"
