// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "inspect/demangler.h"

// Names of functions, from those that compilers give them.

using weft::detail::inspect::Demangler;

namespace {

std::string demangled(std::string_view name) { return std::string(Demangler().demangle(name)); }

constexpr std::string_view kLong =
    "_ZN4weft4v0_16detail10blockTimedIZNS1_11blockQueuedINS1_9LatchCoreINS1_8WaitListENS1_7StdSyncEEEEEbRNS1_"
    "6WaiterERT_iEUlvE_EEbS9_RKSA_";

TEST(DemanglerTest, FunctionsAndMembers) {
  EXPECT_EQ(demangled("_Z3runv"), "run()");
  EXPECT_EQ(demangled("_Z3runiPKcRSsOd"), "run(int, char const*, std::string&, double&&)");
  EXPECT_EQ(demangled("_ZN4user5Class4callEv"), "user::Class::call()");
  EXPECT_EQ(demangled("_ZNKR4user5Class4callEv"), "user::Class::call() const &");
  EXPECT_EQ(demangled("_ZN4user5ClassC2ERKS0_"), "user::Class::Class(user::Class const&)");
  EXPECT_EQ(demangled("_ZN4user5ClassD1Ev"), "user::Class::~Class()");
  EXPECT_EQ(demangled("_ZN4user5ClassaSEOS0_"), "user::Class::operator=(user::Class&&)");
  EXPECT_EQ(demangled("_ZNK4user5ClasscvbEv"), "user::Class::operator bool() const");
  EXPECT_EQ(demangled("_ZN12_GLOBAL__N_11fEi"), "(anonymous namespace)::f(int)");
  EXPECT_EQ(demangled("_ZL6staticv.constprop.0"), "static() [clone .constprop.0]");
}

TEST(DemanglerTest, TypesAroundNames) {
  EXPECT_EQ(demangled("_Z1fPFvPvE"), "f(void (*)(void*))");
  EXPECT_EQ(demangled("_Z1fPFPFivEcE"), "f(int (*(*)(char))())");
  EXPECT_EQ(demangled("_Z1fRA5_KiPA2_A3_c"), "f(int const (&) [5], char (*) [2][3])");
  EXPECT_EQ(demangled("_Z1fM4TypeFivEMS_i"), "f(int (Type::*)(), int Type::*)");
}

TEST(DemanglerTest, Templates) {
  EXPECT_EQ(demangled("_Z3putIiEvT_"), "put<int>(int)");
  EXPECT_EQ(demangled("_Z3putISt6vectorIiSaIiEEEvRKT_"),
            "put<std::vector<int, std::allocator<int> > >(std::vector<int, std::allocator<int> > const&)");
  EXPECT_EQ(demangled("_Z3putIJicEEvDpOT_"), "put<int, char>(int&&, char&&)");
  EXPECT_EQ(demangled("_Z3putIJEEvDpOT_"), "put<>()");
  EXPECT_EQ(demangled("_ZN1AILm64ELb1ELin1EE3getEv"), "A<64ul, true, -1>::get()");
}

TEST(DemanglerTest, LambdasAndLocalTypes) {
  EXPECT_EQ(demangled("_ZZ4mainENKUlvE_clEv"), "main::{lambda()#1}::operator()() const");
  EXPECT_EQ(demangled("_ZZ4mainENKUlT_E0_clIiEEDaS_"), "main::{lambda(auto)#2}::operator()<int>(int) const");
  EXPECT_EQ(
      demangled("_ZN4weft4v0_16detail12FunctionNodeIZ4mainEUlvE_E10invokeTaskEPNS1_8TaskNodeENS1_6TaskOpE"),
      "weft::v0_1::detail::FunctionNode<main::{lambda()#1}>::invokeTask(weft::v0_1::detail::TaskNode*, "
      "weft::v0_1::detail::TaskOp)");
  // T_ of the function around the lambda is a T_ of the function that gets the lambda.
  const std::string name = demangled(kLong);
  EXPECT_TRUE(name.ends_with("{lambda()#1} const&)")) << name;
}

TEST(DemanglerTest, WhatIsNotUnderstoodHasNoName) {
  for (const char* name : {"", "main", "_Z", "_ZN", "_Z3ru", "_Z1fS_", "_Z1fT_", "_Z1fv2", "_Z1fDTcl1gEE",
                           "_Z99999999999999999999f", "_ZN4userE", "_Z0v"}) {
    const std::string read = demangled(name);
    EXPECT_TRUE(read.empty() || name == std::string_view("_ZN4userE")) << name << ": " << read;
  }
  EXPECT_EQ(demangled("_Z1f" + std::string(100000, 'P')), "");
  EXPECT_EQ(demangled("_Z1f" + std::string(100000, 'i')), "");
}

TEST(DemanglerTest, NamesWithWrongLettersGiveNoFault) {
  uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    auto next = [&random] { return (random = random * 1664525 + 1013904223) >> 8; };
    std::string name(kLong.substr(0, kLong.size() - next() % 4));
    for (int j = 0; j < 3; ++j) {
      name[2 + next() % (name.size() - 2)] = kLong[next() % kLong.size()];
    }
    // Of its own size, for AddressSanitizer.
    const auto copy = std::make_unique<char[]>(name.size());
    name.copy(copy.get(), name.size());
    EXPECT_LE(Demangler().demangle({copy.get(), name.size()}).size(), size_t{10} * 1024);
  }
}

}  // namespace
