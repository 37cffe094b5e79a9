# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on powerpc64le, with Debian's packages g++-powerpc64le-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(crossTriple powerpc64le-linux-gnu)
set(crossEmulator qemu-ppc64le)
# With these processors' costs of a call, gcc 12 takes a std::stop_source for used before its constructor ends.
set(CMAKE_CXX_FLAGS_INIT -Wno-maybe-uninitialized)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
