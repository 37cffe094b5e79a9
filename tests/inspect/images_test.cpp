// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory_resource>
#include <string>
#include <string_view>

#include "inspect/arena.h"
#include "inspect/demangle.h"
#include "inspect/images.h"
#include "inspect/text.h"
#include "temporary_folder.h"

// What code lies where, and how it is called.

using weft::detail::inspect::Address;
using weft::detail::inspect::Arena;
using weft::detail::inspect::CodePlace;
using weft::detail::inspect::Image;
using weft::detail::inspect::Images;
using weft::detail::inspect::isOfWeft;
using weft::detail::inspect::shortenName;
using weft::detail::inspect::Text;
using weft::detail::inspect::writeOwnFunction;
using weft::detail::inspect::writePlace;

namespace {

[[gnu::noinline, gnu::used]] int functionOfImagesTest(int x) {
  asm volatile("" : "+r"(x));
  return x + 2;
}

std::string written(const CodePlace& place) {
  std::string text;
  {
    Text out(
        [](void* to, const char* part, size_t size) { static_cast<std::string*>(to)->append(part, size); },
        &text);
    writePlace(out, place);
  }
  return text;
}

Address addressOfCode(int (*function)(int)) { return reinterpret_cast<uintptr_t>(function); }

TEST(ImagesTest, NamesAStaticFunctionOfTheProgram) {
  Arena arena;
  Images images(&arena);
  ASSERT_TRUE(images.readMaps(getpid()));
  const CodePlace place = images.place(addressOfCode(&functionOfImagesTest) + 2);
  ASSERT_NE(place.image, nullptr);
  EXPECT_NE(place.function.find("functionOfImagesTest"), std::string::npos);
  EXPECT_EQ(place.offset, 2u);
  const std::string text = written(place);
  EXPECT_NE(text.find("functionOfImagesTest"), std::string::npos) << text;
  EXPECT_NE(text.find("+0x2 ("), std::string::npos) << text;
  const std::string path(place.image->path);
  EXPECT_NE(text.find("(" + path.substr(path.rfind('/') + 1) + "+0x"), std::string::npos) << text;
  EXPECT_EQ(functionOfImagesTest(1), 3);
}

TEST(ImagesTest, NamesAFunctionOfASharedLibrary) {
  Arena arena;
  Images images(&arena);
  ASSERT_TRUE(images.readMaps(getpid()));
  void* code = dlsym(RTLD_DEFAULT, "getppid");
  ASSERT_NE(code, nullptr);
  const CodePlace place = images.place(reinterpret_cast<uintptr_t>(code));
  Dl_info info;
  ASSERT_NE(dladdr(code, &info), 0);
  ASSERT_NE(place.image, nullptr);
  EXPECT_EQ(place.image->bias, reinterpret_cast<uintptr_t>(info.dli_fbase));
  EXPECT_NE(place.function.find("getppid"), std::string::npos) << place.function;
}

TEST(ImagesTest, WhatIsNotMappedHasNoPlace) {
  Arena arena;
  Images images(&arena);
  ASSERT_TRUE(images.readMaps(getpid()));
  EXPECT_EQ(images.find(0), nullptr);
  EXPECT_EQ(images.find(~Address{0}), nullptr);
  int local = 0;
  EXPECT_EQ(images.find(reinterpret_cast<uintptr_t>(&local)), nullptr);
  EXPECT_EQ(written(images.place(0)), "???");
  EXPECT_FALSE(Images(&arena).readMaps(0x7ffffff0));
}

std::string failureOf(const Images& images) {
  std::string text;
  {
    Text out(&weft::detail::inspect::appendTo, &text);
    images.writeFailure(out);
  }
  return text;
}

TEST(ImagesTest, TellsTheFirstFileThatCannotBeRead) {
  Arena arena;
  Images images(&arena);
  images.add(0x1000, 0x2000, 0, "/there/is/no/such/file");
  images.add(0x3000, 0x4000, 0, "/nor/this");
  images.add(0x5000, 0x6000, 0, "/dev/null");  // no ELF file, which is no failure
  EXPECT_NE(images.find(0x5000), nullptr);
  EXPECT_EQ(failureOf(images), "");
  EXPECT_NE(images.find(0x1000), nullptr);
  EXPECT_NE(images.find(0x3000), nullptr);
  const std::string text = failureOf(images);
  EXPECT_TRUE(text.starts_with("Names and calls are missing: /there/is/no/such/file cannot be read ("))
      << text;
  EXPECT_TRUE(text.ends_with(").\n")) << text;
}

TEST(ImagesTest, TellsTheSubstituteThatCannotBeRead) {
  Arena arena;
  Images images(&arena);
  images.add(0x1000, 0x2000, 0, "/there/is/no/such/file", false);
  images.substitute(0, "/nor/this");
  EXPECT_NE(images.find(0x1000), nullptr);
  const std::string text = failureOf(images);
  EXPECT_TRUE(text.starts_with("Names and calls are missing: /nor/this cannot be read (")) << text;
}

TEST(ImagesTest, TellsThatTheMappingsCannotBeRead) {
  Arena arena;
  Images images(&arena);
  EXPECT_FALSE(images.readMaps(0x7ffffff0));
  EXPECT_TRUE(
      failureOf(images).starts_with("Names and calls are missing: /proc/2147483632/maps cannot be read ("))
      << failureOf(images);
}

TEST(ImagesTest, MappingsOfAFileAreOneImage) {
  Arena arena;
  Images images(&arena);
  images.add(0x1000, 0x2000, 0, "/a");
  images.add(0x2000, 0x5000, 0x1000, "/a");
  images.add(0x6000, 0x7000, 0x4000, "/a");
  images.add(0x8000, 0x9000, 0, "/b");
  images.add(0x9000, 0xa000, 0, "/b");   // its parts share a page
  images.add(0xb000, 0x1b000, 0, "/b");  // read by the program
  ASSERT_EQ(images.all().size(), 3u);
  EXPECT_EQ(images.find(0x5800), &images.all()[0]);
  EXPECT_EQ(images.find(0x9800), &images.all()[1]);
  EXPECT_EQ(images.find(0xb000), &images.all()[2]);
  EXPECT_EQ(images.find(0x7000), nullptr);
  EXPECT_EQ(written(images.place(0x9010)), "(b+0x1010)");
}

TEST(ImagesTest, MappingsThatShareAPageOfTheProcessAreOneImage) {
  Arena arena;
  Images images(&arena);
  images.setPageSize(0x10000);
  images.add(0x10000, 0x20000, 0, "/a");
  images.add(0x20000, 0x30000, 0, "/a");  // its parts share a page
  images.add(0x50000, 0x52000, 0, "/b");
  images.add(0x52000, 0x54000, 0, "/b");  // no page of the process is so small
  EXPECT_EQ(images.all().size(), 3u);
  EXPECT_EQ(images.find(0x20000), &images.all()[0]);
}

// A file of headers alone, whose first segment begins in the middle of a large page.
TEST(ImagesTest, AnAddressOfAFileDependsOnThePagesOfTheProcess) {
  struct {
    Elf64_Ehdr header{};
    Elf64_Phdr segment{};
  } bytes;
  std::memcpy(bytes.header.e_ident, ELFMAG, SELFMAG);
  bytes.header.e_ident[EI_CLASS] = ELFCLASS64;
  bytes.header.e_ident[EI_DATA] = weft::detail::inspect::kByteOrder;
  bytes.header.e_phoff = offsetof(decltype(bytes), segment);
  bytes.header.e_phentsize = sizeof bytes.segment;
  bytes.header.e_phnum = 1;
  bytes.segment = {PT_LOAD, PF_R, 0x3000, 0x43000, 0, 0x1000, 0x1000, 0x10000};
  const weft::tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/headers";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  // What the system maps of it, where pages have 4, 16 and 64 KiB. The begin of the file lies at 0x700000.
  for (const Address page : {0x1000, 0x4000, 0x10000}) {
    Arena arena;
    Images images(&arena);
    images.setPageSize(page);
    const Address offset = 0x3000 & ~(page - 1);
    images.add(0x700000 + offset, 0x704000, offset, path);
    const Image* const image = images.find(0x703000);
    ASSERT_NE(image, nullptr);
    ASSERT_NE(image->file, nullptr);
    EXPECT_EQ(image->bias + 0x43000, 0x703000u) << page;
  }
}

TEST(ImagesTest, ASubstituteIsOpenedInPlaceOfTheFile) {
  Arena arena;
  Images images(&arena);
  for (const Address begin : {0x100000000, 0x200000000}) {
    images.add(begin, begin + 0x10000000, 0, begin == 0x100000000 ? "/lib/a" : "/lib/b", false);
  }
  images.substitute(1, "/proc/self/exe");
  EXPECT_EQ(images.find(0x100000000)->file, nullptr);
  ASSERT_NE(images.find(0x200000000)->file, nullptr);
  EXPECT_EQ(images.find(0x200000000)->path, "/lib/b");
}

std::string shortened(std::string_view name) {
  char text[256];
  return {text, shortenName(name, text, sizeof text)};
}

std::string ownFunction(std::string_view mangled) {
  std::string text;
  {
    Text out(
        [](void* to, const char* part, size_t size) { static_cast<std::string*>(to)->append(part, size); },
        &text);
    writeOwnFunction(out, mangled);
  }
  return text;
}

TEST(ImagesTest, HasNamesOfWhatIsInMemoryOnly) {
  Images images(std::pmr::new_delete_resource());
  ASSERT_TRUE(images.readMaps(getpid()));
  const auto [begin, end] = images.kernelCode();
  EXPECT_EQ(begin, getauxval(AT_SYSINFO_EHDR));
  if (begin == 0) {
    GTEST_SKIP() << "the system has no vDSO";
  }
  images.addKernelCode({reinterpret_cast<const unsigned char*>(begin), end - begin});
  int numFound = 0;
  for (Address at = begin; at < end; ++at) {
    const CodePlace place = images.place(at);
    ASSERT_NE(place.image, nullptr);
    EXPECT_EQ(place.image->path, "[vdso]");
    numFound += place.function == "__vdso_clock_gettime" ? 1 : 0;
  }
  EXPECT_GT(numFound, 0);
}

TEST(FunctionNameTest, OfWeftsOwnTellsNoArguments) {
  EXPECT_EQ(ownFunction("_ZN4weft4v0_15Event5State4waitEv"), "weft::Event::State::wait");
  EXPECT_EQ(ownFunction("_ZNK4weft4v0_16detail4PoolIiE3getISt6vectorIiSaIiEEEEiRKT_"),
            "weft::detail::Pool::get");
  EXPECT_EQ(ownFunction("_ZN4weft4v0_112_GLOBAL__N_111scheduleAllEPNS0_6detail8TaskNodeE"),
            "weft::(anonymous namespace)::scheduleAll");
  EXPECT_EQ(ownFunction("_ZNK4weft4v0_16FutureIiEptEv"), "weft::Future::operator->");
  EXPECT_EQ(ownFunction("_ZZN4weft4v0_13runEvENKUlvE_clEv"), "weft::run::{lambda#1}::operator()");
  EXPECT_EQ(ownFunction("weft_run_task"), "weft_run_task");
}

TEST(FunctionNameTest, LeavesOutTheWrapperOfATask) {
  constexpr std::string_view kArguments = "(weft::v0_1::detail::TaskNode*, weft::v0_1::detail::TaskOp)";
  EXPECT_EQ(
      shortened("weft::v0_1::detail::FunctionNode<main::{lambda()#1}>::invokeTask" + std::string(kArguments)),
      "main::{lambda()#1}");
  EXPECT_EQ(shortened("weft::v0_1::detail::TaskGroupCore::GroupTask<f(weft::v0_1::Event)::{lambda()#2}>::"
                      "invokeHere" +
                      std::string(kArguments)),
            "f(weft::Event)::{lambda()#2}");
  EXPECT_EQ(shortened("weft::v0_1::Event::wait() const"), "weft::Event::wait() const");
  EXPECT_EQ(shortened("weft::v0_1::detail::FunctionNode<X>::other()"),
            "weft::detail::FunctionNode<X>::other()");
  EXPECT_EQ(shortened(std::string(1000, 'x')).size(), 256u);
}

TEST(FunctionNameTest, WritesNamesAndPlaces) {
  Image image;
  image.path = "/usr/bin/program";
  CodePlace place;
  place.offset = 0x12;
  place.image = &image;
  place.inImage = 0x3412;
  place.function = "_ZN4weft4v0_15Mutex4lockEv";
  EXPECT_EQ(written(place), "weft::Mutex::lock+0x12 (program+0x3412)");
  place.function = "_ZN4weft4v0_16detail12FunctionNodeIZ4mainEUlvE_E10invokeTaskEPNS1_8TaskNodeENS1_6TaskOpE";
  EXPECT_EQ(written(place), "main::{lambda()#1}+0x12 (program+0x3412)");
  place.function = "_Z_not_understood";
  EXPECT_EQ(written(place), "_Z_not_understood+0x12 (program+0x3412)");
  image.path = "/usr/bin/program (deleted)";
  EXPECT_EQ(written(place), "_Z_not_understood+0x12 (program+0x3412)");
  place.function = "main";
  EXPECT_EQ(written(place), "main+0x12 (program+0x3412)");
  place.function = "";
  EXPECT_EQ(written(place), "(program+0x3412)");
}

bool isWeft(std::string_view function) {
  CodePlace place;
  place.function = function;
  return isOfWeft(place);
}

TEST(FunctionNameTest, KnowsWhatIsWeftsOwn) {
  EXPECT_TRUE(isWeft("weft_fiber_switch"));
  EXPECT_TRUE(isWeft("weft_fiber_call"));
  EXPECT_TRUE(isWeft("weft_run_task"));
  EXPECT_FALSE(isWeft("weft_of_the_user"));
  EXPECT_TRUE(isWeft("_ZN4weft4v0_15Mutex4lockEv"));
  EXPECT_TRUE(isWeft("_ZNK4weft4v0_15Event4waitEv"));
  EXPECT_TRUE(isWeft("_ZZN4weft4v0_16detail6Worker3runEvENKUlvE_clEv"));
  EXPECT_FALSE(isWeft("_ZN4user4v0_15Mutex4lockEv"));
  EXPECT_FALSE(isWeft("main"));
  EXPECT_FALSE(isWeft(""));
  // Tasks: a lambda of main(), one of weft's, and one of weft's that holds a function of the user's.
  EXPECT_FALSE(
      isWeft("_ZN4weft4v0_16detail12FunctionNodeIZ4mainEUlvE_E10invokeTaskEPNS1_8TaskNodeENS1_6TaskOpE"));
  EXPECT_TRUE(
      isWeft("_ZN4weft4v0_16detail12FunctionNodeINS0_12_GLOBAL__N_17InOrderEE10invokeTaskEPNS1_8TaskNodeENS1_"
             "6TaskOpE"));
  EXPECT_FALSE(
      isWeft("_ZN4weft4v0_16detail12FunctionNodeIZNS1_8bindOnceIZ4mainEUlvE_JEEEDaOT_DpOT0_EUlvE_E10"
             "invokeTaskEPNS1_8TaskNodeENS1_6TaskOpE"));
}

}  // namespace
