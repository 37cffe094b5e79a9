// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tools/command.h"
#include "tools/symbolizer.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kHelp[] =
    "Copies text, and puts the line of the source behind each place in code that a report of weft names:\n"
    "\n"
    "  #3 0x5581 serve(Connection&)+0x12 (server+0x3412)\n"
    "  #3 0x5581 serve(Connection&)+0x12 (server+0x3412) server.cpp:42\n"
    "\n"
    "Functions that are inlined there have further lines. For a task, it is the line of the lambda that the\n"
    "task runs. Without FILE it reads its standard input, and passes each line on as soon as it has come:\n"
    "\n"
    "  ./server 2>&1 | weft symbolize --binary ./server\n"
    "\n"
    "  --binary PATH  a program or library that the text may name. May be given several times.\n"
    "  --pid PID      the files that this process uses\n"
    "\n"
    "What these do not name is looked for where the text says, in the current folder, and in PATH. The\n"
    "files must be those that ran when the text was printed. Lines need debug information (-g), and\n"
    "addr2line of binutils.\n";

// Copies text from a file to the standard output, line by line.
class Filter {
 public:
  explicit Filter(Symbolizer& symbolizer) : symbolizer_(symbolizer) {}

  void copy(int file, const char* name) {
    std::string text;
    char buffer[4096];
    for (;;) {
      const ssize_t size = ::read(file, buffer, sizeof buffer);
      if (size < 0 && errno != EINTR) {
        throw Failure(std::string(name) + " cannot be read: " + std::strerror(errno));
      }
      if (size == 0) {
        break;
      }
      text.append(buffer, size > 0 ? static_cast<size_t>(size) : 0);
      size_t begin = 0;
      for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
        write(explain(std::string_view(text).substr(begin, end - begin)) + "\n");
      }
      text.erase(0, begin);
    }
    if (!text.empty()) {
      write(explain(text));
    }
  }

  bool hasFailed() const { return failure_.has_value(); }

 private:
  // Without addr2line the text passes unchanged.
  std::string explain(std::string_view line) {
    if (!failure_) {
      try {
        return symbolizer_.explain(line);
      } catch (const Failure& failure) {
        failure_ = failure;
        std::fprintf(stderr, "weft: %s\n", failure.what());
      }
    }
    return std::string(line);
  }

  static void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t size = ::write(STDOUT_FILENO, text.data(), text.size());
      if (size < 0 && errno != EINTR) {
        throw Failure(std::string("the output cannot be written: ") + std::strerror(errno));
      }
      text.remove_prefix(size > 0 ? static_cast<size_t>(size) : 0);
    }
  }

  Symbolizer& symbolizer_;
  std::optional<Failure> failure_;
};

int symbolize(Arguments arguments) {
  ModuleFiles modules;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--binary")) {
      modules.addFile(options.value());
    } else if (options.is("--pid")) {
      modules.addProcess(options.processId());
    } else {
      throw UsageError(std::string("symbolize has no option ") + options.name() +
                       ": see `weft help symbolize`");
    }
  }
  signal(SIGPIPE, SIG_IGN);  // of an addr2line that has ended
  Symbolizer symbolizer(modules);
  Filter filter(symbolizer);
  if (options.rest().empty()) {
    filter.copy(STDIN_FILENO, "the standard input");
  }
  for (const char* name : options.rest()) {
    const bool isInput = std::strcmp(name, "-") == 0;
    const int file = isInput ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      throw Failure(std::string(name) + " cannot be opened: " + std::strerror(errno));
    }
    filter.copy(file, name);
    if (!isInput) {
      close(file);
    }
  }
  return filter.hasFailed() ? 1 : 0;
}

}  // namespace

constinit const Command kSymbolize = {"symbolize", "[--binary PATH]... [--pid PID] [FILE...]",
                                      "puts source lines behind the places in code that a report names",
                                      kHelp, symbolize};

}  // namespace weft::inline v0_1::detail::tools
