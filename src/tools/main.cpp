// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "tools/command.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr const Command* kCommands[] = {&kPs, &kBt, &kTop, &kTrace, &kProfile, &kSymbolize};

// A file that this program opens would else get the number of a standard one that is closed, and what is
// meant for that would go there. What takes its place refuses to be written, or for the input to be read.
// Children have it too.
void fillClosedStandardFiles() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) {
      const int opened = open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (opened != file) {
        throw Failure(std::string("/dev/null cannot be opened (") + std::strerror(errno) +
                      "), and a standard file is closed: begin this program with all three open");
      }
    }
  }
}

const Command* findCommand(const char* name) {
  for (const Command* command : kCommands) {
    if (std::strcmp(command->name, name) == 0) {
      return command;
    }
  }
  return nullptr;
}

[[noreturn]] void failUnknown(const char* name) {
  throw UsageError("there is no command \"" + std::string(name) + "\": `weft help` lists the commands");
}

void printUsage() {
  std::printf("usage: weft COMMAND [ARGUMENT...]\n\nLooks at programs that use the library weft.\n\n");
  for (const Command* command : kCommands) {
    std::printf("  %-12s %s\n", command->name, command->summary);
  }
  std::printf("  %-12s %s\n", "help", "explains a command: weft help COMMAND");
  std::printf("  %-12s %s\n", "--version", "prints the version");
}

int help(Arguments arguments) {
  if (arguments.empty()) {
    printUsage();
    return 0;
  }
  const Command* command = findCommand(arguments[0]);
  if (command == nullptr) {
    failUnknown(arguments[0]);
  }
  std::printf("usage: weft %s %s\n\n%s", command->name, command->arguments, command->help);
  return 0;
}

int runCommand(Arguments arguments) {
  if (arguments.empty()) {
    throw UsageError("a command is missing: `weft help` lists the commands");
  }
  const char* name = arguments[0];
  arguments = arguments.subspan(1);
  if (std::strcmp(name, "help") == 0 || std::strcmp(name, "--help") == 0 || std::strcmp(name, "-h") == 0) {
    return help(arguments);
  }
  if (std::strcmp(name, "--version") == 0) {
    std::puts("weft " WEFT_TOOL_VERSION);
    return 0;
  }
  const Command* command = findCommand(name);
  if (command == nullptr) {
    failUnknown(name);
  }
  if (!arguments.empty() &&
      (std::strcmp(arguments[0], "--help") == 0 || std::strcmp(arguments[0], "-h") == 0)) {
    return help(Arguments(&command->name, 1));
  }
  return command->run(arguments);
}

int run(Arguments arguments) {
  fillClosedStandardFiles();
  const int status = runCommand(arguments);
  flushOutput();
  return status;
}

}  // namespace
}  // namespace weft::inline v0_1::detail::tools

int main(int argc, char** argv) {
  namespace tools = weft::detail::tools;
  try {
    return tools::run(tools::Arguments(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  } catch (const tools::UsageError& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
    return 1;
  }
}
