// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <weft/sanitizers.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace {

struct Mappings {
  Mappings() {
    std::ifstream file("/proc/self/maps");
    for (std::string line; std::getline(file, line);) {
      ++count;
      const size_t dash = line.find('-');
      bytes +=
          std::stoull(line.substr(dash + 1), nullptr, 16) - std::stoull(line.substr(0, dash), nullptr, 16);
    }
  }
  int count = 0;
  unsigned long long bytes = 0;
};

int loadUseAndUnload() {
  void* plugin = dlopen(WEFT_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    ADD_FAILURE() << dlerror();
    return 0;
  }
  const int result = reinterpret_cast<int (*)()>(dlsym(plugin, "useWeft"))();
  dlclose(plugin);
  return result;
}

TEST(UnloadingTest, ALibraryThatUsesWeftStaysWhereItIs) {
  ASSERT_EQ(loadUseAndUnload(), 42);
  // Its threads for blocking calls wait for the next call, in its code.
  EXPECT_NE(dlopen(WEFT_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr)
      << "the library is gone, and its threads are not";
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(loadUseAndUnload(), 42);
  }
  const Mappings before;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(loadUseAndUnload(), 42);
  }
#if WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED
  GTEST_SKIP() << "the sanitizer maps memory of its own";
#endif
  const Mappings after;
  EXPECT_LT(after.count, before.count + 100) << "a round leaves mappings";
  EXPECT_LT(after.bytes, before.bytes + (100ull << 20)) << "a round leaves address space";
}

TEST(UnloadingTest, ALibraryThatDoesNotUseWeftGoes) {
  void* plugin = dlopen(WEFT_TEST_UNUSED_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  dlclose(plugin);
  EXPECT_EQ(dlopen(WEFT_TEST_UNUSED_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr)
      << "nothing is tested: it is kept by something else";
}

}  // namespace
