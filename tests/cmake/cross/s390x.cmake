# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on s390x, with Debian's packages g++-s390x-linux-gnu and qemu-user.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(crossTriple s390x-linux-gnu)
set(crossEmulator qemu-s390x)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
