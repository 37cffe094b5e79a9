# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on powerpc64le, with Debian's packages g++-powerpc64le-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(crossTriple powerpc64le-linux-gnu)
set(crossEmulator qemu-ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
