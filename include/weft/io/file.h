// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>

#include "weft/export.h"
#include "weft/io/descriptor.h"

namespace weft::inline v0_1::io {

// A file on a disk. Owns its descriptor. What is not in memory is read by io_uring or by a thread of
// blocking_call().
//
//   weft::io::File file = weft::io::File::open("data", O_RDONLY);
class File {
 public:
  // Has no file, or owns that of `fd`.
  File() = default;
  explicit File(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  // Opens a file, as weft::io::open() does.
  static File open(const char* path, int flags, mode_t mode = 0666, const Wait& wait = {}) {
    return File(io::open(path, flags, mode, wait));
  }
  static File open(const char* path, int flags, mode_t mode, std::error_code& error,
                   const Wait& wait = {}) noexcept {
    return File(io::open(path, flags, mode, error, wait));
  }

  // As weft::io::readAt(), writeAt() and fsync(), on this file.
  size_t readAt(std::span<std::byte> buffer, uint64_t offset, const Wait& wait = {}) {
    return io::readAt(fd(), buffer, offset, wait);
  }
  size_t readAt(std::span<std::byte> buffer, uint64_t offset, std::error_code& error,
                const Wait& wait = {}) noexcept {
    return io::readAt(fd(), buffer, offset, error, wait);
  }
  size_t writeAt(std::span<const std::byte> data, uint64_t offset, const Wait& wait = {}) {
    return io::writeAt(fd(), data, offset, wait);
  }
  size_t writeAt(std::span<const std::byte> data, uint64_t offset, std::error_code& error,
                 const Wait& wait = {}) noexcept {
    return io::writeAt(fd(), data, offset, error, wait);
  }
  void sync(const Wait& wait = {}) { fsync(fd(), wait); }
  void sync(std::error_code& error, const Wait& wait = {}) noexcept { fsync(fd(), error, wait); }

  // Asks the system for the size of the file.
  // Returns: the size in bytes.
  WEFT_EXPORT uint64_t size(std::error_code& error) const noexcept;

  // As UniqueFd::get(), operator bool and release(), for the file's descriptor.
  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  UniqueFd release() noexcept { return std::move(fd_); }

 private:
  UniqueFd fd_;
};

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
