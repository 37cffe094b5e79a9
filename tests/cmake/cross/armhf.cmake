# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on ARM of 32 bits (armhf), with Debian's packages g++-arm-linux-gnueabihf and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(crossTriple arm-linux-gnueabihf)
set(crossEmulator qemu-arm)
# With this processor's costs of a call, gcc 12 takes a std::stop_source for used before its constructor ends.
set(CMAKE_CXX_FLAGS_INIT -Wno-maybe-uninitialized)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
