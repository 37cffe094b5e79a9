// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(WITH_WEFT)
#include "work.h"
#endif

// Loads two shared libraries that contain weft, uses them in turns and unloads them:
//   host local|global|lazy same|other|overflow LIBRARY LIBRARY
// lazy: the first is loaded with RTLD_LOCAL and the second with RTLD_GLOBAL, both with RTLD_LAZY.
// other: their versions are not the program's, nor each other's. overflow: the first overflows a stack.
namespace {

constexpr int kResult = 264;

void check(bool is, const char* what) {
  if (!is) {
    const char* const error = dlerror();
    std::fprintf(stderr, "%s %s\n", what, error == nullptr ? "" : error);
    std::exit(1);
  }
}

struct Library {
  void* handle = nullptr;
  int (*run)() = nullptr;
  bool (*isBound)() = nullptr;
  void (*end)() = nullptr;
  void (*overflow)() = nullptr;

  void load(const char* path, int mode) {
    handle = dlopen(path, mode);
    check(handle != nullptr, path);
    run = reinterpret_cast<int (*)()>(dlsym(handle, "run"));
    isBound = reinterpret_cast<bool (*)()>(dlsym(handle, "isBound"));
    end = reinterpret_cast<void (*)()>(dlsym(handle, "end"));
    overflow = reinterpret_cast<void (*)()>(dlsym(handle, "overflow"));
  }
  void use() const {
    std::thread([&] { check(run() == kResult, "what the library has computed"); }).join();
  }
};

#if defined(WITH_WEFT)
// What a library does in a task of the program's, whose weft may be another.
void useInATask(const Library& library) {
  weft::async([&] { check(library.run() == kResult, "what the library has computed in a task"); }).get();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const bool areLazy = std::strcmp(argv[1], "lazy") == 0;
  const int mode =
      areLazy ? RTLD_LAZY : RTLD_NOW | (std::strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
  const bool overflows = std::strcmp(argv[2], "overflow") == 0;
  char** const paths = argv + argc - 2;
#if defined(WITH_WEFT)
  const bool areOther = std::strcmp(argv[2], "other") == 0;
  check(useWeft() == kResult, "what the program has computed");
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
#endif
  // Twice: what is unloaded out of order leaves a hole in the little room that glibc has for such libraries.
  for (int round = 0; round < 2; ++round) {
    Library libraries[2];
    for (int i = 0; i < 2; ++i) {
      libraries[i].load(paths[i], areLazy && i == 1 ? mode | RTLD_GLOBAL : mode);
      if (!areLazy) {
        libraries[i].use();
      }
    }
    for (const Library& library : libraries) {
#if defined(WITH_WEFT)
      check(!areOther || !library.isBound(),
            "a library of another version sees the scheduler of the program");
      useInATask(library);
#endif
      library.use();
    }
    if (overflows) {
      std::thread([&] { libraries[0].overflow(); }).join();
    }
    for (const Library& library : libraries) {
      library.end();
      dlclose(library.handle);
    }
  }
}
