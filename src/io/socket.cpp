// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/io_call.h"
#include "io/posix_operations.h"
#include "io/result.h"
#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/finally.h"
#include "weft/io/file.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

namespace weft::inline v0_1::io {
namespace {

using SocketOps = detail::PosixOperations<detail::IoSystem>;

UniqueFd makeSocket(int family, std::error_code& error) noexcept {
  UniqueFd made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error = detail::toErrorCode(made ? 0 : errno);
  return made;
}

// How long serve() waits where the process has no descriptor left, or the system no memory.
constexpr auto kPauseWithoutRoom = std::chrono::milliseconds(10);

bool isForWantOfRoom(const std::error_code& error) {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
         error == std::errc::no_buffer_space || error == std::errc::not_enough_memory;
}

// How many connections of one serve() each worker has. A connection stays on its worker and cannot be stolen,
// so each goes to the worker that has the fewest, whoever is awake.
// Rejected: a listener of the same address for each worker (SO_REUSEPORT), among which the system chooses by
// a hash. That leaves workers with twice as many as others, and the listener is the program's.
class Placement {
 public:
  explicit Placement(Scheduler& scheduler)
      : scheduler_(scheduler), counts_(static_cast<size_t>(scheduler.config().workerThread.count)) {}

  // Runs handler(socket) as a task, and then running.done().
  void start(const std::function<void(Socket)>& handler, Socket socket, const WaitGroup& running) {
    const int worker = take();
    Task task([&handler, end = make_finally([this, worker, running] {
                           giveBack(worker);
                           running.done();
                         }),
               socket = std::move(socket)]() mutable { handler(std::move(socket)); });
    task.setName("connection of io::serve()");
    if (worker >= 0) {
      scheduler_.enqueueOn(worker, std::move(task));
    } else {
      schedule(std::move(task));
    }
  }

 private:
  // Returns: the worker with the fewest; of several the caller's own or the next one behind it; -1 if none.
  int take() {
    const size_t first = static_cast<size_t>(std::max(Scheduler::workerId(), 0));
    std::atomic<uint32_t>* chosen = nullptr;
    for (size_t i = 0; i < counts_.size(); ++i) {
      std::atomic<uint32_t>& count = counts_[(first + i) % counts_.size()];
      // relaxed, all: only counts.
      if (chosen == nullptr ||
          count.load(std::memory_order_relaxed) < chosen->load(std::memory_order_relaxed)) {
        chosen = &count;
      }
    }
    if (chosen == nullptr) {
      return -1;
    }
    chosen->fetch_add(1, std::memory_order_relaxed);
    return static_cast<int>(chosen - counts_.data());
  }

  void giveBack(int worker) {
    if (worker >= 0) {
      counts_[static_cast<size_t>(worker)].fetch_sub(1, std::memory_order_relaxed);
    }
  }

  Scheduler& scheduler_;
  std::vector<std::atomic<uint32_t>> counts_;
};

UniqueFd acceptFor(const UniqueFd* owner, int fd, Endpoint* peer, std::error_code& error,
                   const Wait& wait) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const where = peer != nullptr ? reinterpret_cast<sockaddr*>(&address) : nullptr;
  const detail::IoResult result =
      SocketOps::accept(fd, where, peer != nullptr ? &size : nullptr, wait, owner);
  error = detail::toErrorCode(result.error);
  if (result.error != 0) {
    return UniqueFd();
  }
  if (peer != nullptr) {
    *peer = Endpoint(where, size);
  }
  return UniqueFd(static_cast<int>(result.value));
}

}  // namespace

UniqueFd accept(int fd, Endpoint* peer, std::error_code& error, const Wait& wait) noexcept {
  return acceptFor(nullptr, fd, peer, error, wait);
}

UniqueFd accept(int fd, Endpoint* peer, const Wait& wait) {
  return detail::orThrow("io::accept", fd, [&](auto& error) { return accept(fd, peer, error, wait); });
}

void connect(int fd, const Endpoint& peer, std::error_code& error, const Wait& wait) noexcept {
  error = detail::toErrorCode(SocketOps::connect(fd, peer.data(), peer.size(), wait).error);
}

void connect(int fd, const Endpoint& peer, const Wait& wait) {
  detail::orThrow("io::connect", fd, [&](auto& error) { return connect(fd, peer, error, wait), 0; });
}

Socket::Socket(UniqueFd fd) noexcept : fd_(std::move(fd)) { detail::beginSocket(fd_.get()); }

Socket Socket::connect(const Endpoint& peer, std::error_code& error, const Wait& wait) noexcept {
  UniqueFd fd = makeSocket(peer.family(), error);
  if (!error) {
    io::connect(fd.get(), peer, error, wait);
  }
  return error ? Socket() : Socket(std::move(fd));
}

Socket Socket::connect(const Endpoint& peer, const Wait& wait) {
  return detail::orThrow([&] { return "io::connect, " + peer.toString(); },
                         [&](auto& error) { return connect(peer, error, wait); });
}

size_t Socket::recv(std::span<std::byte> buffer, std::error_code& error, const Wait& wait) noexcept {
  return detail::toSize(SocketOps::receiveBySocket(fd(), buffer, wait, &fd_), error);
}

size_t Socket::recv(std::span<std::byte> buffer, const Wait& wait) {
  return detail::orThrow("io::recv", fd(), [&](auto& error) { return recv(buffer, error, wait); });
}

size_t Socket::recvAll(std::span<std::byte> buffer, std::error_code& error, const Wait& wait) noexcept {
  error.clear();
  return detail::doAll(buffer, [&](std::span<std::byte> rest) { return recv(rest, error, wait); });
}

size_t Socket::recvAll(std::span<std::byte> buffer, const Wait& wait) {
  return detail::orThrow("io::recvAll", fd(), [&](auto& error) { return recvAll(buffer, error, wait); });
}

size_t Socket::send(std::span<const std::byte> data, std::error_code& error, const Wait& wait) noexcept {
  error.clear();
  return detail::doAll(data, [&](std::span<const std::byte> rest) {
    return detail::toSize(SocketOps::send(fd(), rest, 0, wait, &fd_), error);
  });
}

size_t Socket::send(std::span<const std::byte> data, const Wait& wait) {
  return detail::orThrow("io::sendAll", fd(), [&](auto& error) { return send(data, error, wait); });
}

void Socket::shutdownSend(std::error_code& error) noexcept {
  error = detail::toErrorCode(::shutdown(fd(), SHUT_WR) == 0 ? 0 : errno);
}

void Socket::setNoDelay() noexcept {
  const int on = 1;
  ::setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Listener Listener::listen(const Endpoint& at, int backlog, std::error_code& error) noexcept {
  UniqueFd fd = makeSocket(at.family(), error);
  if (error) {
    return {};
  }
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), at.data(), at.size()) != 0 || ::listen(fd.get(), backlog) != 0) {
    error = detail::toErrorCode(errno);
    return {};
  }
  return Listener(std::move(fd));
}

Listener Listener::listen(const Endpoint& at, int backlog) {
  return detail::orThrow([&] { return "io::Listener at " + at.toString(); },
                         [&](auto& error) { return listen(at, backlog, error); });
}

Socket Listener::accept(Endpoint* peer, std::error_code& error, const Wait& wait) noexcept {
  return Socket(acceptFor(&fd_, fd(), peer, error, wait));
}

Socket Listener::accept(Endpoint* peer, const Wait& wait) {
  return Socket(detail::orThrow("io::accept", fd(),
                                [&](auto& error) { return acceptFor(&fd_, fd(), peer, error, wait); }));
}

Endpoint Listener::endpoint() const noexcept {
  std::error_code ignored;
  return Endpoint::ofSocket(fd(), ignored);
}

uint64_t File::size(std::error_code& error) const noexcept {
  struct stat status{};
  error = detail::toErrorCode(::fstat(fd(), &status) == 0 ? 0 : errno);
  return error ? 0 : static_cast<uint64_t>(status.st_size);
}

std::error_code serve(Listener& listener, const std::function<void(Socket)>& handler, const Wait& wait) {
  WEFT_ASSERT_HAS_BOUND_SCHEDULER("io::serve()");
  detail::assertCallable(handler, "io::serve()");
  Placement placement(*Scheduler::get());
  WaitGroup running;
  WEFT_DEFER(running.wait());  // the tasks refer to `handler`
  std::error_code error;
  for (;;) {
    // A connection that is there is accepted, whatever the time. So there might always be one more.
    if (const int ended = detail::endedBy(wait); ended != 0) {
      return detail::toErrorCode(ended);
    }
    Socket accepted(io::accept(listener.fd(), nullptr, error, wait));
    if (accepted) {
      running.add();
      placement.start(handler, std::move(accepted), running);
      continue;
    }
    if (isForWantOfRoom(error)) {
      error = detail::toErrorCode(detail::pauseWithin(wait, kPauseWithoutRoom));
    }
    if (error) {
      return error;
    }
  }
}

}  // namespace weft::inline v0_1::io
