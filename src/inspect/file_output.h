// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace weft::inline v0_1::detail::inspect {

// Where a Text writes that goes to a file descriptor: Text text(&FileOutput::write, &output). It keeps the
// first error, and drops what comes after it, so that one look at the end is enough. A signal handler may use
// it; errno stays as it is.
class FileOutput {
 public:
  explicit FileOutput(int descriptor) : descriptor_(descriptor) {}

  static void write(void* output, const char* bytes, size_t size);

  int error() const { return error_; }  // errno of the first write that failed, or 0

 private:
  size_t writeSome(const char* bytes, size_t size);

  const int descriptor_;
  int error_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
