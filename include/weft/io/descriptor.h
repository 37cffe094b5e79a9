// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <system_error>

#include "weft/detail/base/deadline.h"
#include "weft/export.h"

struct iovec;
struct msghdr;

namespace weft::inline v0_1 {
class Scheduler;
}

// Reading, writing and waiting on descriptors, for fibers and threads. Needs the library weft::io.
//
//   std::byte buffer[4096];
//   const size_t count = weft::io::read(fd, buffer, {.deadline = now + std::chrono::seconds(5)});
// Each operation does what the system call of its name does. A fiber does not block its thread meanwhile: it
// is suspended, and its worker runs other fibers. A thread without a scheduler, and code of weft::fair, is
// blocked. Any thread may call these functions. A descriptor may be blocking or not.
//
// Each operation has two forms. One throws std::system_error. The other sets or clears `error`, and after an
// error returns 0, or -1 for a descriptor. A number that is not open gives std::errc::bad_file_descriptor.
// Fibers that wait to read from one descriptor are served first come, first served. So are those that wait to
// write.
// Memory ordering: none between those who write and those who read.
namespace weft::inline v0_1::io {

// A time of std::chrono::steady_clock.
using TimePoint = detail::TimePoint;

// When an operation stops waiting. It has then done nothing, and gives an error: nothing received or sent is
// lost. Only readAll(), writeAll() and sendAll() may have done a part: they tell how much. An operation that
// need not wait succeeds, even after the deadline or the stop.
struct Wait {
  TimePoint deadline = detail::kNever;  // after it: std::errc::timed_out
  std::stop_token stop{};               // after a stop: std::errc::operation_canceled
};

// Owns a descriptor, and closes it in its destructor. Any thread may call get(), release() and reset() while
// others do: whoever takes the number closes it, once. But an operation that was given the number before may
// find it in use for another file. Operations of Socket, Listener and Signals notice that it was closed.
// Lifetime: must not be moved to, or destroyed, while others use it.
class UniqueFd {
 public:
  // Owns nothing, or takes over `fd`.
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  // Closes the descriptor as close() does, ignoring errors.
  ~UniqueFd() { reset(); }

  // Return: get(): the number, or -1 if there is none. operator bool: whether there is a number.
  int get() const noexcept {
    // relaxed, as in release(): a number publishes nothing. Operations see its close by the lock of its slot.
    return fd_.load(std::memory_order_relaxed);
  }
  explicit operator bool() const noexcept { return get() >= 0; }
  // Gives the number up to the caller, who closes it.
  // Returns: the number; -1 if there was none.
  int release() noexcept { return fd_.exchange(-1, std::memory_order_relaxed); }
  // Closes the descriptor as close() does, ignoring errors, and takes over `fd`.
  WEFT_EXPORT void reset(int fd = -1) noexcept;

 private:
  std::atomic<int> fd_{-1};  // any thread takes it, by an exchange, to close it or to hand it on
};

// Waits until there is something to read, and reads up to the size of `buffer`.
// Requires: `buffer` is not empty; otherwise the error is std::errc::invalid_argument.
// Returns: the number of bytes; 0 at the end of the file, and if the other end has closed.
WEFT_EXPORT size_t read(int fd, std::span<std::byte> buffer, const Wait& wait = {});
WEFT_EXPORT size_t read(int fd, std::span<std::byte> buffer, std::error_code& error,
                        const Wait& wait = {}) noexcept;

// Waits until something can be written, and writes as much of `data` as fits. If nobody reads any more, gives
// std::errc::broken_pipe, never SIGPIPE.
// Returns: the number of bytes.
WEFT_EXPORT size_t write(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t write(int fd, std::span<const std::byte> data, std::error_code& error,
                         const Wait& wait = {}) noexcept;

// As read() and write(), at an offset of a file. The file's own position stays. What must come from a disk is
// read by io_uring, if it is the backend(), and otherwise by a thread of blocking_call(). read() and write()
// use such a thread in any case, so that their calls on one file follow one another. Once a thread has begun,
// neither deadline nor stop ends the operation early.
WEFT_EXPORT size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, const Wait& wait = {});
WEFT_EXPORT size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, std::error_code& error,
                          const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, const Wait& wait = {});
WEFT_EXPORT size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, std::error_code& error,
                           const Wait& wait = {}) noexcept;

// As read() and write(), for several buffers: see readv(2).
WEFT_EXPORT size_t readv(int fd, std::span<const iovec> buffers, const Wait& wait = {});
WEFT_EXPORT size_t readv(int fd, std::span<const iovec> buffers, std::error_code& error,
                         const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writev(int fd, std::span<const iovec> data, const Wait& wait = {});
WEFT_EXPORT size_t writev(int fd, std::span<const iovec> data, std::error_code& error,
                          const Wait& wait = {}) noexcept;

// Receive from a socket and send to it, as the system calls do: see recv(2) and send(2) for `flags`.
// MSG_WAITALL is not for them: see readAll().
// Returns: the number of bytes; 0 if the other end has closed.
WEFT_EXPORT size_t recv(int fd, std::span<std::byte> buffer, int flags, const Wait& wait = {});
WEFT_EXPORT size_t recv(int fd, std::span<std::byte> buffer, int flags, std::error_code& error,
                        const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t send(int fd, std::span<const std::byte> data, int flags, const Wait& wait = {});
WEFT_EXPORT size_t send(int fd, std::span<const std::byte> data, int flags, std::error_code& error,
                        const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t recvmsg(int fd, msghdr& message, int flags, const Wait& wait = {});
WEFT_EXPORT size_t recvmsg(int fd, msghdr& message, int flags, std::error_code& error,
                           const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t sendmsg(int fd, const msghdr& message, int flags, const Wait& wait = {});
WEFT_EXPORT size_t sendmsg(int fd, const msghdr& message, int flags, std::error_code& error,
                           const Wait& wait = {}) noexcept;

// Read until `buffer` is full or the end comes, and write all of `data`. sendAll() is for sockets.
// Returns: the number of bytes, also after an error, unless it throws.
WEFT_EXPORT size_t readAll(int fd, std::span<std::byte> buffer, const Wait& wait = {});
WEFT_EXPORT size_t readAll(int fd, std::span<std::byte> buffer, std::error_code& error,
                           const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writeAll(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t writeAll(int fd, std::span<const std::byte> data, std::error_code& error,
                            const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t sendAll(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t sendAll(int fd, std::span<const std::byte> data, std::error_code& error,
                           const Wait& wait = {}) noexcept;

// Opens a file, with O_CLOEXEC: see open(2) for `flags` and `mode`. Waits for io_uring, or for a thread of
// blocking_call().
WEFT_EXPORT UniqueFd open(const char* path, int flags, mode_t mode = 0666, const Wait& wait = {});
WEFT_EXPORT UniqueFd open(const char* path, int flags, mode_t mode, std::error_code& error,
                          const Wait& wait = {}) noexcept;

// Waits until the file is on the disk: for io_uring, or for a thread of blocking_call().
WEFT_EXPORT void fsync(int fd, const Wait& wait = {});
WEFT_EXPORT void fsync(int fd, std::error_code& error, const Wait& wait = {}) noexcept;

// Closes the descriptor. Operations of other fibers that wait for it end with operation_canceled. Operations
// of threads without a scheduler do not, since they wait in poll(2). After the system's ::close() no
// operation ends: end waits by shutdown(2) before, or by a stop. Waits while other fibers are in a system
// call on the descriptor: a moment, or as long as a disk takes, or a terminal that is written to. Blocks
// where close(2) does.
WEFT_EXPORT void close(UniqueFd&& fd);
WEFT_EXPORT void close(UniqueFd&& fd, std::error_code& error) noexcept;

// Waits until one of `events` holds: see poll(2). For libraries with descriptors of their own.
// Returns: which of the events hold, or POLLERR or POLLHUP. A disk file, or another descriptor that epoll(7)
// refuses, is always ready to read and to write. A wait for any other event of it could never end, and gives
// std::errc::operation_not_permitted at once.
WEFT_EXPORT short waitFor(int fd, short events, const Wait& wait = {});
WEFT_EXPORT short waitFor(int fd, short events, std::error_code& error, const Wait& wait = {}) noexcept;

// Returns: what waits for disks: "uring" if the system has io_uring and weft::io is built with it, else
// "epoll", which means threads of blocking_call(). The environment variable WEFT_IO may ask for one of the
// two. If the system does not have it, a message ends the program here, or at the first such operation.
WEFT_EXPORT const char* backend();

// Ends all present and later waits for I/O of `scheduler`'s fibers with operation_canceled, so that
// ~Scheduler need not wait for the other ends of connections. An operation that need not wait still succeeds.
// Any thread.
WEFT_EXPORT void cancelAll(const Scheduler& scheduler) noexcept;

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
