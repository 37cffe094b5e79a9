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

// I/O on descriptors, for fibers and threads. Needs the library weft::io.
//
//   std::byte buffer[4096];
//   const size_t count = weft::io::read(fd, buffer, {.deadline = now + std::chrono::seconds(5)});
//
// Each operation does what the system call of its name does. Where that would have to wait, it suspends the
// fiber, and the worker runs others meanwhile. A fiber goes on with its worker's thread. A thread without a
// scheduler, and code of weft::fair, is blocked. Any thread may call, and a descriptor may be blocking or
// not.
//
// Each has two forms. One throws std::system_error. The other sets `error`, which is clear if all went well,
// and then returns 0, or -1 for a descriptor. As for any descriptor, a number that is not open gives
// std::errc::bad_file_descriptor.
//
// If several fibers wait to read from one descriptor, the first that came is served first; so for writing.
// Memory ordering: none between those who write and those who read.
namespace weft::inline v0_1::io {

using TimePoint = detail::TimePoint;  // of std::chrono::steady_clock

// How an operation that has to wait may end without success. An operation that need not wait succeeds,
// whatever the time. So nothing that was received or sent is lost: the error means that nothing was done.
struct Wait {
  TimePoint deadline = detail::kNever;  // then: std::errc::timed_out
  std::stop_token stop{};               // then: std::errc::operation_canceled
};

// Owns a descriptor. Any thread may call get(), release() and reset() while others do: the number is closed
// once, by who takes it. An operation to which the number was handed before may find the number in use for
// something else; those of Socket and Listener find out that it was closed.
// Lifetime: must not be moved to, or destroyed, while others use it.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  // Closes it as close() does, without a look at errors.
  ~UniqueFd() { reset(); }

  // relaxed, as all here: it is a number, and publishes nothing. That it was closed is seen by the lock of
  // its slot, under which close() cancels operations.
  int get() const noexcept { return fd_.load(std::memory_order_relaxed); }
  explicit operator bool() const noexcept { return get() >= 0; }
  int release() noexcept { return fd_.exchange(-1, std::memory_order_relaxed); }
  WEFT_EXPORT void reset(int fd = -1) noexcept;

 private:
  std::atomic<int> fd_{-1};  // any thread takes it, by an exchange, to close it or to hand it on
};

// Reads what is there, up to the size of `buffer`, once there is something.
// Requires: `buffer` is not empty; otherwise the error is std::errc::invalid_argument.
// Returns: the number of bytes; 0 at the end of the file, and where the other end has closed.
WEFT_EXPORT size_t read(int fd, std::span<std::byte> buffer, const Wait& wait = {});
WEFT_EXPORT size_t read(int fd, std::span<std::byte> buffer, std::error_code& error,
                        const Wait& wait = {}) noexcept;

// Writes as much of `data` as goes in, once something does. Never raises SIGPIPE; the error is then
// std::errc::broken_pipe.
// Returns: the number of bytes.
WEFT_EXPORT size_t write(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t write(int fd, std::span<const std::byte> data, std::error_code& error,
                         const Wait& wait = {}) noexcept;

// The same at a place of a file, whose own position stays. What must come from a disk is read by io_uring,
// where that is the backend(), else on a thread of blocking_call(), as by read() and write(), whose calls on
// one file follow one another. There a read that has begun cannot be ended by a deadline or a stop.
WEFT_EXPORT size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, const Wait& wait = {});
WEFT_EXPORT size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, std::error_code& error,
                          const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, const Wait& wait = {});
WEFT_EXPORT size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, std::error_code& error,
                           const Wait& wait = {}) noexcept;

// The same as read() and write() for several buffers, as of readv(2).
WEFT_EXPORT size_t readv(int fd, std::span<const iovec> buffers, const Wait& wait = {});
WEFT_EXPORT size_t readv(int fd, std::span<const iovec> buffers, std::error_code& error,
                         const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writev(int fd, std::span<const iovec> data, const Wait& wait = {});
WEFT_EXPORT size_t writev(int fd, std::span<const iovec> data, std::error_code& error,
                          const Wait& wait = {}) noexcept;

// For sockets; `flags` as of recv(2). MSG_WAITALL does nothing here: see readAll().
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

// Read until `buffer` is full or the end comes, and write all of `data`; sendAll() is for sockets.
// Returns: the number of bytes, also beside an error. The form that throws does not tell it then.
WEFT_EXPORT size_t readAll(int fd, std::span<std::byte> buffer, const Wait& wait = {});
WEFT_EXPORT size_t readAll(int fd, std::span<std::byte> buffer, std::error_code& error,
                           const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t writeAll(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t writeAll(int fd, std::span<const std::byte> data, std::error_code& error,
                            const Wait& wait = {}) noexcept;
WEFT_EXPORT size_t sendAll(int fd, std::span<const std::byte> data, const Wait& wait = {});
WEFT_EXPORT size_t sendAll(int fd, std::span<const std::byte> data, std::error_code& error,
                           const Wait& wait = {}) noexcept;

// Opens a file, with O_CLOEXEC. `flags` and `mode` as of open(2). By io_uring, or on a thread of
// blocking_call().
WEFT_EXPORT UniqueFd open(const char* path, int flags, mode_t mode = 0666, const Wait& wait = {});
WEFT_EXPORT UniqueFd open(const char* path, int flags, mode_t mode, std::error_code& error,
                          const Wait& wait = {}) noexcept;

// Waits until the file is on the disk. By io_uring, or on a thread of blocking_call().
WEFT_EXPORT void fsync(int fd, const Wait& wait = {});
WEFT_EXPORT void fsync(int fd, std::error_code& error, const Wait& wait = {}) noexcept;

// Closes the descriptor. Operations of other fibers that wait for it end with operation_canceled. (Those of
// threads without a scheduler, which wait in poll(2), do not. Nor does anybody's after ::close(): end the
// waits by shutdown(2) before, or by a stop.) Waits while other fibers are in a system call on it: a moment,
// or as long as a disk, or a terminal that is written to, takes. Blocks where close(2) does.
WEFT_EXPORT void close(UniqueFd&& fd);
WEFT_EXPORT void close(UniqueFd&& fd, std::error_code& error) noexcept;

// Waits until one of `events` holds, as of poll(2): for libraries that bring a descriptor of their own.
// Returns: which of them do, or POLLERR or POLLHUP. A file on a disk, or another descriptor that epoll(7)
// does not take, is always ready to read and to write; a wait for anything else, which could never end, is
// the error std::errc::operation_not_permitted at once.
WEFT_EXPORT short waitFor(int fd, short events, const Wait& wait = {});
WEFT_EXPORT short waitFor(int fd, short events, std::error_code& error, const Wait& wait = {}) noexcept;

// Returns: what does what must wait for a disk: "uring" where the system has io_uring and weft::io is built
// with it, else "epoll", which stands for threads of blocking_call(). The environment variable WEFT_IO may
// ask for either. If it asks for what is not there, a message ends the program here, or at the first such
// operation.
WEFT_EXPORT const char* backend();

// Ends each wait for I/O of fibers of `scheduler` with operation_canceled, also those that begin later. Then
// ~Scheduler, which waits for all tasks, need not wait for peers. An operation that need not wait succeeds
// still. Any thread.
WEFT_EXPORT void cancelAll(const Scheduler& scheduler) noexcept;

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
