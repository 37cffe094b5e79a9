// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/file_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace weft::inline v0_1::detail::inspect {

// Returns: how many bytes were written; 0 means to try again, or that there was an error.
size_t FileOutput::writeSome(const char* bytes, size_t size) {
  const ssize_t written = ::write(descriptor_, bytes, size);
  if (written > 0) {
    return static_cast<size_t>(written);
  }
  if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    // A pipe that does not block: whoever reads it makes room.
    pollfd writable{descriptor_, POLLOUT, 0};
    ::poll(&writable, 1, -1);
  } else if (written == 0 || errno != EINTR) {
    error_ = written == 0 ? EIO : errno;
  }
  return 0;
}

void FileOutput::write(void* output, const char* bytes, size_t size) {
  auto* const self = static_cast<FileOutput*>(output);
  const int before = errno;
  while (size != 0 && self->error_ == 0) {
    const size_t written = self->writeSome(bytes, size);
    bytes += written;
    size -= written;
  }
  errno = before;
}

}  // namespace weft::inline v0_1::detail::inspect
