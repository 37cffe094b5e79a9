// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "tools/command.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kSymbolizeHelp[] =
    "Copies text, and puts the line of the source behind each place in code that a report of weft names:\n"
    "\n"
    "  #3 0x5581 serve(Connection&)+0x12 (server+0x3412)\n"
    "  #3 0x5581 serve(Connection&)+0x12 (server+0x3412) server.cpp:42\n"
    "\n"
    "A place in a sentence gets the innermost line that is yours, and neither weft's nor the standard\n"
    "library's. A call in a list of calls gets its innermost line, and further ones for functions that are\n"
    "inlined there. For a task, it is the line of the lambda that the task runs. Without FILE it reads its\n"
    "standard input, and passes each line on as soon as it has come:\n"
    "\n"
    "  ./server 2>&1 | weft symbolize --binary ./server\n"
    "\n"
    "  --binary PATH  a program or library that the text may name. May be given several times.\n"
    "  --pid PID      the files that this process uses\n"
    "\n"
    "What these do not name is looked for where the text says, in the current folder, and in PATH. The\n"
    "files must be those that ran when the text was printed. Lines need debug information (-g), and\n"
    "addr2line of binutils.\n";

// Copies text from a file to the output, line by line.
void copy(int file, const char* name, SymbolizedOutput& output) {
  char buffer[4096];
  for (;;) {
    const ssize_t size = ::read(file, buffer, sizeof buffer);
    if (size < 0 && errno != EINTR) {
      throw Failure(std::string(name) + " cannot be read: " + std::strerror(errno));
    }
    if (size == 0) {
      break;
    }
    output.write(std::string_view(buffer, size > 0 ? static_cast<size_t>(size) : 0));
  }
}

int symbolize(Arguments arguments) {
  ModuleFiles modules;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--binary")) {
      modules.addFile(options.value());
    } else if (options.is("--pid")) {
      modules.addProcess(options.processId());
    } else {
      options.failUnknown("symbolize");
    }
  }
  SymbolizedOutput output(modules);
  if (options.rest().empty()) {
    copy(STDIN_FILENO, "the standard input", output);
  }
  for (const char* name : options.rest()) {
    const bool isInput = std::strcmp(name, "-") == 0;
    const int file = isInput ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      throw Failure(std::string(name) + " cannot be opened: " + std::strerror(errno));
    }
    copy(file, name, output);
    if (!isInput) {
      close(file);
    }
  }
  output.finish();
  return output.hasFailed() ? 1 : 0;
}

}  // namespace

constinit const Command kSymbolize = {"symbolize", "[--binary PATH]... [--pid PID] [FILE...]",
                                      "puts source lines behind the places in code that a report names",
                                      kSymbolizeHelp, symbolize};

}  // namespace weft::inline v0_1::detail::tools
