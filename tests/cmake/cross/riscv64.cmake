# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on riscv64, with Debian's packages g++-riscv64-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(crossTriple riscv64-linux-gnu)
set(crossEmulator qemu-riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
