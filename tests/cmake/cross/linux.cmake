# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# What the toolchain files of this folder share: Debian's compilers for other processors, and qemu-user, which runs what they make.
# Each sets CMAKE_SYSTEM_PROCESSOR and crossTriple, and crossEmulator unless this processor runs what they make.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${crossTriple}-gcc)
set(CMAKE_CXX_COMPILER ${crossTriple}-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${crossTriple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(crossEmulator)
  find_program(WEFT_EMULATOR ${crossEmulator})
  if(NOT WEFT_EMULATOR)
    message(FATAL_ERROR "The tests need the emulator: apt-get install -y qemu-user")
  endif()
  set(CMAKE_CROSSCOMPILING_EMULATOR ${WEFT_EMULATOR} -L ${CMAKE_FIND_ROOT_PATH})
endif()
