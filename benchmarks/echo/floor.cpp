// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A loop around epoll_wait(2) on one thread: each connection is registered once, and what is there is sent
// back at once.

#include <arpa/inet.h>
#include <sys/epoll.h>

#include <thread>

#include "problem.h"

namespace {

class Server {
 public:
  Server() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bench::check(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
    bench::check(listen(listener_, 1024) == 0, "listen");
    add(listener_);
  }

  uint16_t port() const { return echo::portOf(listener_); }

  // Lets run() return once all connections are closed.
  void stop() { shutdown(listener_, SHUT_RDWR); }

  void run() {
    while (!isStopped_ || numOpen_ > 0) {
      epoll_event events[256];
      const int count = epoll_wait(epoll_, events, 256, -1);
      for (int i = 0; i < count; i++) {
        if (events[i].data.fd == listener_) {
          accept();
        } else {
          sendBack(events[i].data.fd);
        }
      }
    }
    close(listener_);
    close(epoll_);
  }

 private:
  void add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    bench::check(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  }

  void accept() {
    int fd;
    while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
      echo::setNoDelay(fd);
      add(fd);
      numOpen_++;
    }
    if (errno == EINVAL) {
      isStopped_ = true;
      epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
    }
  }

  void sendBack(int fd) {
    char buffer[4096];
    const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
    if (size <= 0) {
      close(fd);
      numOpen_--;
      return;
    }
    // Errors are those of a client that has gone.
    [[maybe_unused]] const ssize_t sent = send(fd, buffer, static_cast<size_t>(size), MSG_NOSIGNAL);
  }

  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  int numOpen_ = 0;
  bool isStopped_ = false;
};

void run(bench::Run& r) {
  if (!echo::allowConnections(echo::connectionsOf(r))) {
    return r.skip("may not open that many files");
  }
  Server server;
  std::thread thread([&] { server.run(); });
  echo::measure(r, server.port());
  server.stop();
  thread.join();
}

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "echo", "floor", echo::workloads(run)); }
