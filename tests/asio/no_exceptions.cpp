// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft/asio.h in a program without exceptions and run-time type information.

#include <weft/asio.h>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <thread>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

namespace asio::detail {

template <class Exception>
void throw_exception(const Exception& exception) {
  std::printf("%s\n", exception.what());
  std::abort();
}
template void throw_exception(const std::bad_alloc&);

}  // namespace asio::detail

int main() {
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  {
    weft::Scheduler::Binding bound(scheduler);
    weft::WaitGroup done(1);
    weft::schedule([&] {
      asio::error_code error;
      asio::steady_timer timer(context, std::chrono::milliseconds(1));
      timer.async_wait(weft::useFiber);
      timer.expires_at(std::chrono::steady_clock::time_point::max());
      std::stop_source source;
      source.request_stop();
      timer.async_wait(weft::useFiber(source.get_token())[error]);
      std::printf("%s\n", error == asio::error::operation_aborted ? "stopped" : "not stopped");
      done.done();
    });
    done.wait();
  }
  work.reset();
  thread.join();
}
