// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/core_file.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/elf_file.h"
#include "inspect/find_layout.h"
#include "inspect/layout.h"
#include "os/system_page_size.h"
#include "temporary_folder.h"
#include "tools/command.h"

namespace core_file_test {

using weft::detail::tools::CoreFile;
using weft::detail::tools::Failure;
namespace inspect = weft::detail::inspect;

template <class T>
std::string bytesOf(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

std::string padded(std::string text) {
  text.resize((text.size() + 3) / 4 * 4);
  return text;
}

// A core file as the system writes it.
class Core {
 public:
  Core() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = inspect::kByteOrder;
    header.e_type = ET_CORE;
    header.e_machine = machineOfThisProgram();
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
  }

  void addNote(uint32_t type, const std::string& content, const std::string& owner = {"CORE\0", 5}) {
    const Elf64_Nhdr note{static_cast<uint32_t>(owner.size()), static_cast<uint32_t>(content.size()), type};
    notes_ += bytesOf(note) + padded(owner) + padded(content);
  }

  void addThread(int id, int signal) {
    elf_prstatus status{};
    status.pr_pid = id;
    status.pr_cursig = static_cast<short>(signal);
    status.pr_reg[0] = static_cast<elf_greg_t>(id) * 100;
    addNote(NT_PRSTATUS, bytesOf(status));
  }

  // The core has `content`, the process had `size` bytes.
  void addSegment(uint64_t address, const std::string& content, uint64_t size) {
    segments_.push_back({address, size, content});
  }

  std::string bytes() const {
    Elf64_Ehdr own = header;
    own.e_phnum = static_cast<uint16_t>(segments_.size() + 1);
    uint64_t offset = sizeof own + own.e_phnum * sizeof(Elf64_Phdr);
    std::string headers = bytesOf(own), contents = notes_;
    headers += bytesOf(Elf64_Phdr{PT_NOTE, 0, offset, 0, 0, notes_.size(), 0, 4});
    offset += notes_.size();
    for (const Segment& each : segments_) {
      headers +=
          bytesOf(Elf64_Phdr{PT_LOAD, PF_R, offset, each.address, 0, each.content.size(), each.size, 1});
      contents += each.content;
      offset += each.content.size();
    }
    return headers + contents;
  }

  Elf64_Ehdr header{};

 private:
  struct Segment {
    uint64_t address, size;
    std::string content;
  };

  static uint16_t machineOfThisProgram() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    Elf64_Ehdr own{};
    file.read(reinterpret_cast<char*>(&own), sizeof own);
    return own.e_machine;
  }

  std::string notes_;
  std::vector<Segment> segments_;
};

class CoreFileTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = folder.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // Returns: what is said of a file with these bytes.
  std::string failureOf(const std::string& bytes) const {
    try {
      const CoreFile core(write("core", bytes));
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }

  static std::string textAt(const CoreFile& core, uint64_t address, size_t size) {
    std::string text(size, '?');
    return core.read(address, text.data(), size) ? text : "unreadable";
  }

  // A core with two threads, a file that is mapped at 0x10000, of which it has the first page, and data at
  // 0x12000.
  Core makeCore(const std::string& mapped) const {
    Core core;
    core.addThread(41, SIGABRT);
    core.addThread(42, 0);
    elf_prpsinfo process{};
    process.pr_pid = 40;
    core.addNote(NT_PRPSINFO, bytesOf(process));
    const uint64_t words[] = {1, 4096, 0x10000, 0x12000, 0};
    core.addNote(NT_FILE, bytesOf(words) + mapped + '\0');
    core.addSegment(0x10000, library().substr(0, 4096), 0x2000);
    core.addSegment(0x12000, "data", 4);
    return core;
  }

  // What the mapped file has: 6,000 bytes of 8,192 that are mapped.
  static std::string library() {
    std::string bytes = ELFMAG + std::string(4092, 'a');
    return bytes + std::string(4, 'b') + std::string(1900, 'c');
  }

  weft::tests::TemporaryFolder folder;
};

TEST_F(CoreFileTest, TellsWhichBitsOfReturnAddressesAreSigned) {
  const auto bitsOf = [this](const Core& core) {
    return CoreFile(write("core", core.bytes())).signatureBits();
  };
  Core core = makeCore("/nowhere");
  EXPECT_EQ(bitsOf(core), 0u);
  const uint64_t dataAndCode[] = {1, 0x007f000000000000};
  core.addNote(NT_ARM_PAC_MASK, bytesOf(dataAndCode));  // another owner's note of that number
  EXPECT_EQ(bitsOf(core), 0u);
  core.addNote(NT_ARM_PAC_MASK, bytesOf(dataAndCode), {"LINUX\0", 6});
  EXPECT_EQ(bitsOf(core), 0x007f000000000000u);
}

TEST_F(CoreFileTest, TellsThePagesOfTheProcess) {
  Core core;
  core.addThread(41, SIGABRT);
  core.addSegment(0x12000, "data", 4);
  EXPECT_EQ(CoreFile(write("none", core.bytes())).pageSize(), weft::detail::systemPageSize());
  uint64_t words[] = {1, 0x10000, 0x40000, 0x50000, 2};
  core.addNote(NT_FILE, bytesOf(words) + "/nowhere" + '\0');
  const CoreFile large(write("large", core.bytes()));
  EXPECT_EQ(large.pageSize(), 0x10000u);
  ASSERT_EQ(large.mappings().size(), 1u);
  EXPECT_EQ(large.mappings()[0].fileOffset, 0x20000u);
  words[1] = 5000;  // of no system
  core.addNote(NT_FILE, bytesOf(words) + "/nowhere" + '\0');
  EXPECT_EQ(CoreFile(write("odd", core.bytes())).pageSize(), 0x10000u);
}

TEST_F(CoreFileTest, TellsTheProcessAndItsThreads) {
  const CoreFile core(write("core", makeCore("/nowhere").bytes()));
  EXPECT_EQ(core.processId(), 40);
  EXPECT_EQ(core.signal(), SIGABRT);
  ASSERT_EQ(core.threads().size(), 2u);
  EXPECT_EQ(core.threads()[0].id, 41);
  EXPECT_EQ(core.threads()[1].id, 42);
  EXPECT_EQ(core.threads()[1].registers.at(0), 4200u);
  ASSERT_EQ(core.mappings().size(), 1u);
  EXPECT_EQ(core.mappings()[0].path, "/nowhere");
  EXPECT_EQ(core.mappings()[0].begin, 0x10000u);
  EXPECT_EQ(core.mappings()[0].end, 0x12000u);
}

TEST_F(CoreFileTest, ReadsWhatTheCoreHasAndElseTheMappedFile) {
  const std::string mapped = write("library", library());
  const CoreFile core(write("core", makeCore(mapped).bytes()));
  EXPECT_TRUE(core.changedFiles().empty());
  EXPECT_EQ(textAt(core, 0x12000, 4), "data");
  EXPECT_EQ(textAt(core, 0x12002, 2), "ta");
  EXPECT_EQ(textAt(core, 0x10ffe, 8), "aabbbbcc");
  EXPECT_EQ(textAt(core, 0x12002, 3), "unreadable");
  EXPECT_EQ(textAt(core, 0xffff, 2), "unreadable");
  EXPECT_EQ(textAt(core, 0x10000 + 6000, 1), "unreadable");  // the file ends before its mapping
  EXPECT_EQ(textAt(core, ~uint64_t{0}, 2), "unreadable");
  EXPECT_EQ(textAt(core, 0x12000, 0), "");
}

TEST_F(CoreFileTest, DoesNotReadAFileThatHasChanged) {
  std::string changed = library();
  changed[100] = 'x';
  const std::string mapped = write("library", changed);
  const CoreFile core(write("core", makeCore(mapped).bytes()));
  EXPECT_EQ(core.changedFiles(), std::vector<std::string>{mapped});
  EXPECT_EQ(textAt(core, 0x10ffe, 2), "aa");
  EXPECT_EQ(textAt(core, 0x11000, 1), "unreadable");
}

// A file with a note, and with an end of the header that `strip` writes anew.
std::string programOf(const std::string& buildId, uint64_t sections, const std::string& code) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = inspect::kByteOrder;
  header.e_type = ET_DYN;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shoff = sections;
  const std::string note = bytesOf(Elf64_Nhdr{4, static_cast<uint32_t>(buildId.size()), NT_GNU_BUILD_ID}) +
                           std::string("GNU\0", 4) + padded(buildId);
  const uint64_t noteAt = sizeof header + 2 * sizeof(Elf64_Phdr), size = 4096 + code.size();
  std::string bytes =
      bytesOf(header) + bytesOf(Elf64_Phdr{PT_LOAD, PF_R, 0, 0, 0, size, size, 4096}) +
      bytesOf(Elf64_Phdr{PT_NOTE, PF_R, noteAt, noteAt, noteAt, note.size(), note.size(), 4}) + note;
  bytes.resize(4096);
  return bytes + code;
}

TEST_F(CoreFileTest, ReadsAFileThatWasStrippedSinceThen) {
  const std::string mapped = write("program", programOf("an id", 0, "code"));
  const auto coreOf = [&](const std::string& program) {
    Core core;
    core.addThread(41, SIGABRT);
    const uint64_t words[] = {1, 4096, 0x10000, 0x12000, 0};
    core.addNote(NT_FILE, bytesOf(words) + mapped + '\0');
    core.addSegment(0x10000, program.substr(0, 4096), 0x2000);
    return write("core", core.bytes());
  };
  const CoreFile same(coreOf(programOf("an id", 12345, "code")));
  EXPECT_TRUE(same.changedFiles().empty());
  EXPECT_EQ(textAt(same, 0x11000, 4), "code");
  const CoreFile other(coreOf(programOf("an ID", 0, "code")));
  EXPECT_EQ(other.changedFiles(), std::vector<std::string>{mapped});
  const CoreFile withoutId(coreOf(programOf("", 12345, "code")));
  EXPECT_EQ(withoutId.changedFiles(), std::vector<std::string>{mapped});
  // A tool that writes a path into a program moves its parts, and leaves the build id.
  const CoreFile moved(coreOf(programOf("an id", 0, "more code")));
  EXPECT_EQ(moved.changedFiles(), std::vector<std::string>{mapped});
}

TEST_F(CoreFileTest, SaysWhyAFileIsNoCoreFileThatItReads) {
  Core core = makeCore("/nowhere");
  EXPECT_EQ(failureOf(core.bytes()), "");
  EXPECT_NE(failureOf("").find("is no core file"), std::string::npos);
  EXPECT_NE(failureOf("some text").find("is no core file"), std::string::npos);
  EXPECT_NE(failureOf(ELFMAG).find("is cut short"), std::string::npos);
  core.header.e_type = ET_EXEC;
  EXPECT_NE(failureOf(core.bytes()).find("is a program or a library"), std::string::npos);
  core.header.e_machine = EM_SPARC;
  EXPECT_NE(failureOf(core.bytes()).find("a machine of another kind (ELF machine 2)"), std::string::npos);
  core.header.e_ident[EI_DATA] = ELFDATA2LSB + ELFDATA2MSB - inspect::kByteOrder;
  core.header.e_machine = __builtin_bswap16(EM_S390);
  EXPECT_NE(failureOf(core.bytes()).find("a machine of another kind (ELF machine 22)"), std::string::npos);
  core.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(failureOf(core.bytes()).find("of a 32-bit process"), std::string::npos);
  EXPECT_THROW(CoreFile{"/nowhere/at/all"}, Failure);
  EXPECT_THROW(CoreFile{folder.path()}, Failure);
}

TEST_F(CoreFileTest, SaysThatACoreIsCutShortWhereverItIsCut) {
  const std::string bytes = makeCore("/nowhere").bytes();
  for (size_t size = SELFMAG; size < bytes.size(); size += size < 2048 ? 1 : 97) {
    EXPECT_NE(failureOf(bytes.substr(0, size)).find("is cut short"), std::string::npos) << size;
  }
}

// Each byte of the headers and notes is changed in turn.
TEST_F(CoreFileTest, SurvivesACoreThatIsDamaged) {
  const std::string bytes = makeCore(write("library", library())).bytes();
  constexpr size_t kContents = 4096 + 4;  // of the segments
  for (size_t i = 0; i < bytes.size() - kContents; ++i) {
    for (const char wrong : {'\0', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = wrong;
      try {
        const CoreFile core(write("core", damaged));
        for (const uint64_t address : {0x10000u, 0x10ffeu, 0x11ffeu, 0x12000u}) {
          textAt(core, address, 64);
        }
      } catch (const Failure&) {
      }
    }
  }
}

TEST_F(CoreFileTest, ReadsTheTableOfALayoutInACoreOfTheSystem) {
  const std::string program = WEFT_TEST_FOLDER "/layout_stripped";
  int input[2], output[2];
  ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (chdir(folder.path().c_str()) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0 &&
        dup2(input[0], STDIN_FILENO) >= 0 && dup2(output[1], STDOUT_FILENO) >= 0) {
      execl(program.c_str(), program.c_str(), nullptr);
    }
    _exit(1);
  }
  close(output[1]);
  std::string schedulers;
  for (char c; ::read(output[0], &c, 1) == 1 && c != '\n';) {
    schedulers += c;
  }
  kill(child, SIGQUIT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  for (const int end : {input[0], input[1], output[0]}) {
    close(end);
  }
  const std::filesystem::directory_iterator file(folder.path());
  if (!WCOREDUMP(status) || file == std::filesystem::directory_iterator()) {
    GTEST_SKIP() << "the system writes no core file into the current folder";
  }
  const CoreFile core(file->path().string());
  EXPECT_EQ(core.processId(), child);
  EXPECT_EQ(core.signal(), SIGQUIT);
  ASSERT_EQ(core.threads().size(), 1u);
  const auto mapping = std::find_if(core.mappings().begin(), core.mappings().end(),
                                    [&](const CoreFile::Mapping& each) { return each.path == program; });
  ASSERT_NE(mapping, core.mappings().end());
  inspect::LayoutTable table{};
  ASSERT_TRUE(core.get(inspect::findTable(core, mapping->begin), table));
  EXPECT_EQ(reinterpret_cast<inspect::Address>(table.schedulers), std::stoull(schedulers, nullptr, 16));
}

}  // namespace core_file_test
