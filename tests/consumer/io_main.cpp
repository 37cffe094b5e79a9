// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// An application of weft::io: fibers hand a number around through sockets.

#include <weft/io.h>
#include <weft/weft.h>

#include <sys/socket.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <system_error>

int main() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 1;
  }
  const weft::io::Socket first{weft::io::UniqueFd(ends[0])}, second{weft::io::UniqueFd(ends[1])};
  unsigned char count = 0;
  {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
    weft::Scheduler::Binding bound(scheduler);
    weft::WaitGroup done(2);
    for (const int fd : {first.fd(), second.fd()}) {
      weft::schedule([=, &count] {
        const bool begins = fd == ends[0];
        std::byte number[1] = {};
        std::error_code error;
        for (int i = 0; i < 50; ++i) {
          if (begins || i > 0) {
            weft::io::write(fd, number, error);
          }
          weft::io::read(fd, number, error);
          number[0] = static_cast<std::byte>(std::to_integer<int>(number[0]) + 1);
        }
        if (begins) {
          count = std::to_integer<unsigned char>(number[0]);
        } else {
          weft::io::write(fd, number, error);
        }
        done.done();
      });
    }
    done.wait();
  }
  std::printf("%d by %s\n", count, weft::io::backend());
  return count == 100 ? 0 : 1;
}
