// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/debug.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft {
namespace {

// A message under construction, of a size that a small fiber's stack can hold.
class Message {
 public:
  [[gnu::format(printf, 2, 0)]] void append(const char* format, va_list arguments) {
    const size_t room = sizeof(text_) - kReserve - size_;
    const int wanted = std::vsnprintf(text_ + size_, room, format, arguments);
    if (wanted < 0) {
      return;
    }
    if (static_cast<size_t>(wanted) < room) {
      size_ += static_cast<size_t>(wanted);
    } else {
      size_ += room - 1;
      std::memcpy(text_ + size_ - 3, "...", 3);
    }
  }

  [[gnu::format(printf, 2, 3)]] void append(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
  }

  void appendPlace(const char* file, int line) {
    const int written = std::snprintf(text_ + size_, sizeof(text_) - size_, "\n  at %.200s:%d", file, line);
    if (written > 0) {
      size_ += static_cast<size_t>(written);
    }
  }

  void print() {
    text_[size_++] = '\n';
    detail::writeStderr(text_, size_);
  }

 private:
  static constexpr size_t kReserve = 256;  // for the place and the end of the line

  char text_[2048];
  size_t size_ = 0;
};

}  // namespace

void fatal(const char* format, ...) {
  Message message;
  message.append("weft: fatal: ");
  va_list arguments;
  va_start(arguments, format);
  message.append(format, arguments);
  va_end(arguments);
  message.print();
  std::abort();
}

void warn(const char* format, ...) {
  Message message;
  message.append("weft: warning: ");
  va_list arguments;
  va_start(arguments, format);
  message.append(format, arguments);
  va_end(arguments);
  message.print();
}

namespace detail {

void fatalAt(const char* file, int line, const char* format, ...) {
  Message message;
  message.append("weft: fatal: ");
  va_list arguments;
  va_start(arguments, format);
  message.append(format, arguments);
  va_end(arguments);
  message.appendPlace(file, line);
  message.print();
  std::abort();
}

void writeStderr(const char* text, size_t size) noexcept {
  const int error = errno;
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, size);
    if (written > 0) {
      text += written;
      size -= static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      break;
    }
  }
  errno = error;
}

}  // namespace detail
}  // namespace weft
