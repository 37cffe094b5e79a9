# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Linux on x86 of 32 bits (i386), with Debian's package g++-i686-linux-gnu. It has no assembly: fibers are switched by ucontext.
# x86-64 runs its programs, with the libraries that belong to the compiler.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(crossTriple i686-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,--dynamic-linker=/usr/${crossTriple}/lib/ld-linux.so.2 -Wl,-rpath,/usr/${crossTriple}/lib")
# With these processors' costs of a call, gcc 12 takes a std::stop_source for used before its constructor ends.
set(CMAKE_CXX_FLAGS_INIT -Wno-maybe-uninitialized)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
