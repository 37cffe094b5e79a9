// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A part of each test program that runs under qemu-user: programs that it starts run there, too.
//
// qemu-user hands what a program starts to the system, which knows no program of another processor. These
// functions stand before the C library's, for GoogleTest's death tests as well. They start the emulator with
// such a program, and any other as it is. A child of fork() calls them, so that they allocate nothing.

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>

namespace {

constexpr const char* kEmulator[] = {WEFT_TEST_EMULATOR};
constexpr size_t kNumWords = sizeof(kEmulator) / sizeof(kEmulator[0]);
constexpr size_t kMostArguments = 250;

constexpr size_t kMachine = offsetof(Elf64_Ehdr, e_machine);  // of files for 32 bits, too
using Header = std::array<unsigned char, kMachine + 2>;

// Returns: whether the file's first bytes were read.
bool readHeader(const char* path, Header& header) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const ssize_t length = ::read(file, header.data(), header.size());
  ::close(file);
  return length == static_cast<ssize_t>(header.size());
}

// Returns: whether the program is for the processor that this one is for, by the headers of both.
bool isEmulated(const char* path) {
  Header other{};
  Header own{};
  return readHeader(path, other) && std::memcmp(other.data(), ELFMAG, SELFMAG) == 0 &&
         readHeader("/proc/self/exe", own) && std::memcmp(&other[EI_CLASS], &own[EI_CLASS], 2) == 0 &&
         std::memcmp(&other[kMachine], &own[kMachine], 2) == 0;
}

// When a signal ends the program, qemu-user says so on the standard error stream, amid what tests read,
// unless it fails to create a core file. It fails in /proc. The system itself makes no core file of one byte.
[[gnu::constructor]] void keepEmulatorSilent() {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 1;
  if (setrlimit(RLIMIT_CORE, &limit) != 0 || chdir("/proc") != 0) {
    std::perror("the emulator says when a signal ends the program");
  }
}

// What starts a program: its path, and the arguments. These lie in a mapping: GoogleTest's children have
// stacks of two pages, and thread-local variables would fill much of the smallest stack of a thread.
class Command {
 public:
  Command(const char* path, char* const* arguments) : path_(path), arguments_(arguments) {
    if (!isEmulated(path)) {
      return;
    }
    void* const mapping =
        ::mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
      return;
    }
    room_ = new (mapping) Room;
    size_t count = 0;
    auto& words = room_->words;
    for (const char* word : kEmulator) {
      words[count++] = const_cast<char*>(word);
    }
    words[count++] = const_cast<char*>("-0");
    words[count++] = arguments[0];
    // The system knows /proc/self/exe for the emulator.
    auto& file = room_->file;
    const ssize_t length = ::readlink(path, file.data(), file.size() - 1);
    file[length > 0 ? static_cast<size_t>(length) : 0] = '\0';
    words[count++] = length > 0 && file[0] == '/' ? file.data() : const_cast<char*>(path);
    for (size_t i = 1; arguments[i] != nullptr && count < words.size() - 1; ++i) {
      words[count++] = arguments[i];
    }
    words[count] = nullptr;
    path_ = kEmulator[0];
    arguments_ = words.data();
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() {
    if (room_ != nullptr) {
      ::munmap(room_, sizeof(Room));
    }
  }

  const char* path() const { return path_; }
  char* const* arguments() const { return arguments_; }

 private:
  struct Room {
    std::array<char*, kNumWords + kMostArguments> words;
    std::array<char, PATH_MAX> file;
  };

  const char* path_;
  char* const* arguments_;
  Room* room_ = nullptr;
};

}  // namespace

extern "C" {

int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  const Command command(path, arguments);
  return static_cast<int>(::syscall(SYS_execve, command.path(), command.arguments(), environment));
}

int execv(const char* path, char* const arguments[]) noexcept { return execve(path, arguments, environ); }

int execl(const char* path, const char* first, ...) noexcept {
  std::array<char*, kMostArguments> arguments{const_cast<char*>(first)};
  va_list rest;
  va_start(rest, first);
  for (size_t i = 1; arguments[i - 1] != nullptr && i < arguments.size() - 1; ++i) {
    arguments[i] = va_arg(rest, char*);
  }
  va_end(rest);
  return execv(path, arguments.data());
}

// The C library's other name for posix_spawn() has a path that need not be absolute.
int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  const Command command(path, arguments);
  return ::posix_spawnp(child, command.path(), actions, attributes, command.arguments(), environment);
}
}
