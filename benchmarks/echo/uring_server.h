// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the servers over io_uring share.

#pragma once

#include <arpa/inet.h>
#include <liburing.h>
#include <poll.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "problem.h"

namespace echo {

class UringServer {
 public:
  enum class Receives { Once, OncePolled, Multishot };

  explicit UringServer(Receives receives) : receives_(receives) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bench::check(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
    bench::check(listen(listener_, 1024) == 0, "listen");
  }

  uint16_t port() const { return portOf(listener_); }

  // Lets run() return once all connections are closed.
  void stop() { shutdown(listener_, SHUT_RDWR); }

  // On a thread of its own, to which the ring belongs.
  void run() {
    makeRing();
    askForConnection();
    while (!isStopped_ || numOpen_ > 0) {
      bench::check(io_uring_submit_and_wait(&ring_, 1) >= 0 || errno == EINTR, "io_uring_enter");
      unsigned head = 0, count = 0;
      const io_uring_cqe* result = nullptr;
      io_uring_for_each_cqe(&ring_, head, result) {
        take(*result);
        count++;
      }
      io_uring_cq_advance(&ring_, count);
    }
    io_uring_queue_exit(&ring_);
    close(listener_);
  }

 private:
  using Buffer = std::array<char, 1024>;
  static constexpr unsigned kBuffers = 4096;
  static constexpr uint64_t kListener = ~uint64_t{0};

  void makeRing() {
    io_uring_params params{};
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    params.cq_entries = 32768;
    bench::check(io_uring_queue_init_params(4096, &ring_, &params) == 0, "a ring");
    io_uring_register_ring_fd(&ring_);
    if (receives_ != Receives::Multishot) {
      return;
    }
    shared_.resize(kBuffers);
    room_.reset(new (std::align_val_t(4096)) io_uring_buf[kBuffers]{});
    io_uring_buf_reg registered{};
    registered.ring_addr = reinterpret_cast<uintptr_t>(room_.get());
    registered.ring_entries = kBuffers;
    bench::check(io_uring_register_buf_ring(&ring_, &registered, 0) == 0, "a ring of buffers");
    for (unsigned i = 0; i < kBuffers; i++) {
      giveBack(i);
    }
  }

  io_uring_sqe& nextRequest() {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    bench::check(request != nullptr, "room for a request");
    return *request;
  }

  void askForConnection() {
    io_uring_sqe& request = nextRequest();
    io_uring_prep_accept(&request, listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    request.user_data = kListener;
  }

  void askForBytes(int fd) {
    io_uring_sqe& request = nextRequest();
    if (receives_ == Receives::OncePolled) {
      io_uring_prep_poll_add(&request, fd, POLLIN);
    } else if (receives_ == Receives::Once) {
      Buffer& own = ownBuffer(fd);
      io_uring_prep_recv(&request, fd, own.data(), own.size(), 0);
    } else {
      io_uring_prep_recv_multishot(&request, fd, nullptr, 0, 0);
      request.flags |= IOSQE_BUFFER_SELECT;
    }
    request.user_data = static_cast<uint64_t>(fd);
  }

  Buffer& ownBuffer(int fd) {
    const auto place = static_cast<size_t>(fd);
    if (place >= own_.size()) {
      own_.resize(place + 1);
    }
    if (own_[place] == nullptr) {
      own_[place] = std::make_unique<Buffer>();
    }
    return *own_[place];
  }

  void giveBack(unsigned number) {
    auto* const room = reinterpret_cast<io_uring_buf_ring*>(room_.get());
    io_uring_buf_ring_add(room, shared_[number].data(), sizeof(Buffer), static_cast<unsigned short>(number),
                          kBuffers - 1, 0);
    io_uring_buf_ring_advance(room, 1);
  }

  void take(const io_uring_cqe& result) {
    if (result.user_data == kListener) {
      return accept(result.res);
    }
    const int fd = static_cast<int>(result.user_data);
    if (receives_ == Receives::Multishot) {
      takeMultishot(fd, result);
    } else {
      Buffer& own = ownBuffer(fd);
      const bool isPolled = receives_ == Receives::OncePolled;
      const auto size = isPolled ? recv(fd, own.data(), own.size(), 0) : ssize_t{result.res};
      if (sendBack(fd, own.data(), size)) {
        askForBytes(fd);
      }
    }
  }

  void takeMultishot(int fd, const io_uring_cqe& result) {
    const bool isOver = (result.flags & IORING_CQE_F_MORE) == 0;
    bool isOpen = result.res == -ENOBUFS;
    if (!isOpen && (result.flags & IORING_CQE_F_BUFFER) != 0) {
      const unsigned number = result.flags >> IORING_CQE_BUFFER_SHIFT;
      isOpen = sendBack(fd, shared_[number].data(), result.res);
      giveBack(number);
    } else if (!isOpen) {
      sendBack(fd, nullptr, result.res);
    }
    if (isOpen && isOver) {
      askForBytes(fd);
    }
  }

  void accept(int fd) {
    if (fd == -EINVAL) {
      isStopped_ = true;
      return;
    }
    bench::check(fd >= 0, "accept");
    setNoDelay(fd);
    numOpen_++;
    askForBytes(fd);
    askForConnection();
  }

  // Returns: false where the client has gone.
  bool sendBack(int fd, const char* data, ssize_t size) {
    if (size <= 0) {
      close(fd);
      numOpen_--;
      return false;
    }
    // Errors are those of a client that has gone.
    [[maybe_unused]] const ssize_t sent = send(fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
    return true;
  }

  struct Free {
    void operator()(io_uring_buf* buffers) const { ::operator delete[](buffers, std::align_val_t(4096)); }
  };

  const Receives receives_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  io_uring ring_{};
  std::vector<std::unique_ptr<Buffer>> own_;
  std::vector<Buffer> shared_;
  std::unique_ptr<io_uring_buf[], Free> room_;
  int numOpen_ = 0;
  bool isStopped_ = false;
};

inline void serveByRing(bench::Run& run, UringServer::Receives receives) {
  if (!allowConnections(connectionsOf(run))) {
    return run.skip("may not open that many files");
  }
  io_uring tried;
  if (io_uring_queue_init(1, &tried, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) != 0) {
    return run.skip("no io_uring");
  }
  io_uring_queue_exit(&tried);
  UringServer server(receives);
  std::thread thread([&] { server.run(); });
  measure(run, server.port());
  server.stop();
  thread.join();
}

}  // namespace echo
