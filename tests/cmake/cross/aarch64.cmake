# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on aarch64, with Debian's packages g++-aarch64-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(crossTriple aarch64-linux-gnu)
set(crossEmulator qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
