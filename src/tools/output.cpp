// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/command.h"

namespace weft::inline v0_1::detail::tools {

namespace {

// `error`: an errno value.
[[noreturn]] void failToOutput(int error) {
  throw Failure(std::string("the output cannot be written: ") +
                (error == EBADF ? "the standard output is closed" : std::strerror(error)));
}

}  // namespace

void writeOutput(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(STDOUT_FILENO, text.data(), text.size());
    if (size < 0 && errno != EINTR) {
      failToOutput(errno);
    }
    text.remove_prefix(size > 0 ? static_cast<size_t>(size) : 0);
  }
}

void failToWrite(const std::string& path, int error, const char* command) {
  throw Failure(path + " cannot be written (" + std::strerror(error) + "): choose another path with `weft " +
                command + " -o PATH`");
}

void flushOutput() {
  if (std::fflush(stdout) != 0) {
    failToOutput(errno);
  }
}

void SymbolizedOutput::write(std::string_view text) {
  text_.append(text);
  size_t begin = 0;
  for (size_t end; (end = text_.find('\n', begin)) != text_.npos; begin = end + 1) {
    writeOutput(explain(std::string_view(text_).substr(begin, end - begin)) + "\n");
  }
  text_.erase(0, begin);
}

void SymbolizedOutput::finish() {
  if (!text_.empty()) {
    writeOutput(explain(text_));
    text_.clear();
  }
  if (!hasFailed_) {
    symbolizer_.finish();
  }
}

std::string SymbolizedOutput::explain(std::string_view line) {
  if (!hasFailed_) {
    try {
      return symbolizer_.explain(line);
    } catch (const Failure& failure) {
      hasFailed_ = true;
      std::fprintf(stderr, "weft: %s\n", failure.what());
    }
  }
  return std::string(line);
}

}  // namespace weft::inline v0_1::detail::tools
