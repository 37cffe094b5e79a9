// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Loaded before a program by LD_PRELOAD: makes what happens now and then to files that are read happen to
// those with certain names, each time, also where root reads everything.
//
//   vanishing*   removed right before it is opened
//   forbidden*   opening it is not allowed
//   shrinking*   halved after the first read
//   failing*     cannot be read beyond the first read
//   slow*        takes a while to read: until there is the file that the environment names by WEFT_SLOW_UNTIL

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string_view lastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int openat(int directory, const char* path, int flags, ...) {
  static auto* const realOpenat = real<int(int, const char*, int, ...)>("openat");
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (lastPart(path).starts_with("vanishing")) {
    unlinkat(directory, path, (flags & O_DIRECTORY) != 0 ? AT_REMOVEDIR : 0);
  }
  if (lastPart(path).starts_with("forbidden")) {
    errno = EACCES;
    return -1;
  }
  return realOpenat(directory, path, flags, mode);
}

extern "C" [[gnu::visibility("default")]] ssize_t read(int fd, void* buffer, size_t size) {
  static auto* const realRead = real<ssize_t(int, void*, size_t)>("read");
  char path[PATH_MAX] = {};
  const auto link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path, sizeof path - 1);
  const std::string_view name =
      lastPart(std::string_view(path, length > 0 ? static_cast<size_t>(length) : 0));
  if (name.starts_with("failing") && lseek(fd, 0, SEEK_CUR) > 0) {
    errno = EIO;
    return -1;
  }
  if (name.starts_with("slow")) {
    const char* const end = std::getenv("WEFT_SLOW_UNTIL");
    do {
      usleep(200'000);
    } while (end != nullptr && access(end, F_OK) != 0);
  }
  const ssize_t result = realRead(fd, buffer, size);
  if (name.starts_with("shrinking") && result > 0) {
    struct stat status{};
    if (fstat(fd, &status) == 0 && truncate(link.c_str(), status.st_size / 2) != 0) {
      std::perror("truncate");
    }
  }
  return result;
}
