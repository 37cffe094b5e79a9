# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on s390x, with Debian's packages g++-s390x-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(crossTriple s390x-linux-gnu)
set(crossEmulator qemu-s390x)
# With these processors' costs of a call, gcc 12 takes a std::stop_source for used before its constructor ends.
set(CMAKE_CXX_FLAGS_INIT -Wno-maybe-uninitialized)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
