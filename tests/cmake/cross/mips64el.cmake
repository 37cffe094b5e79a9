# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on mips64el, with Debian's packages g++-mips64el-linux-gnuabi64 and qemu-user. It has no assembly: fibers are
# switched by ucontext.
set(CMAKE_SYSTEM_PROCESSOR mips64)
set(crossTriple mips64el-linux-gnuabi64)
set(crossEmulator qemu-mips64el)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
