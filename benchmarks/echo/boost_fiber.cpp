// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A fiber of Boost.Fiber for each connection, by operations of Boost.Asio whose handlers run on the same
// thread and make the fiber ready. The first fiber of the thread runs the handlers, and sleeps in the
// io_context where no fiber is ready.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/fiber/all.hpp>

#include <thread>
#include <utility>

#include "problem.h"

namespace {

using boost::asio::ip::tcp;
using boost::fibers::context;

// Suspends the fiber until the handler that `begin` passes on has been called. Returns: how many bytes that
// was given, 0 after an error.
template <class Begin>
size_t await(Begin begin) {
  context* const self = context::active();
  size_t result = 0;
  begin([self, &result](const boost::system::error_code& error, size_t size = 0) {
    result = error ? 0 : size;
    context::active()->schedule(self);
  });
  self->suspend();
  return result;
}

int numFibers = 0;  // that have not ended; the server's thread counts
int numReady = 0;   // that could run

// Boost.Fiber's own has_ready_fibers() counts a fiber that is always ready, which ends fibers.
class CountsReady : public boost::fibers::algo::round_robin {
 public:
  void awakened(context* fiber) noexcept override {
    numReady += countOf(fiber);
    round_robin::awakened(fiber);
  }
  context* pick_next() noexcept override {
    context* const fiber = round_robin::pick_next();
    numReady -= countOf(fiber);
    return fiber;
  }

 private:
  static int countOf(const context* fiber) {
    return fiber != nullptr && !fiber->is_context(boost::fibers::type::dispatcher_context) ? 1 : 0;
  }
};

void sendBack(tcp::socket socket) {
  char buffer[4096];
  boost::system::error_code error;
  socket.set_option(tcp::no_delay(true), error);
  while (const size_t size = await([&](auto handler) {
           socket.async_read_some(boost::asio::buffer(buffer), std::move(handler));
         })) {
    await([&](auto handler) {
      boost::asio::async_write(socket, boost::asio::buffer(buffer, size), std::move(handler));
    });
  }
  numFibers--;
}

void acceptAll(boost::asio::io_context& served, tcp::acceptor& acceptor) {
  while (acceptor.is_open()) {
    tcp::socket socket(served);
    boost::system::error_code result;
    await([&](auto handler) {
      acceptor.async_accept(socket, [&result, handler](const boost::system::error_code& error) mutable {
        result = error;
        handler(error);
      });
    });
    if (!result) {
      numFibers++;
      boost::fibers::fiber(sendBack, std::move(socket)).detach();
    }
  }
  numFibers--;
}

void runHandlers(boost::asio::io_context& served) {
  while (numFibers > 0) {
    if (numReady > 0) {
      served.poll();
      boost::this_fiber::yield();
    } else {
      served.run_one();
    }
  }
}

void run(bench::Run& r) {
  if (!echo::allowConnections(echo::connectionsOf(r))) {
    return r.skip("may not open that many files");
  }
  boost::asio::io_context served(1);
  tcp::acceptor acceptor(served, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const auto work = boost::asio::make_work_guard(served);
  numFibers = 1;
  std::thread thread([&] {
    boost::fibers::use_scheduling_algorithm<CountsReady>();
    boost::fibers::fiber accepting([&] { acceptAll(served, acceptor); });
    runHandlers(served);
    accepting.join();
  });
  echo::measure(r, acceptor.local_endpoint().port());
  boost::asio::post(served, [&] { acceptor.close(); });
  thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "boost_fiber", echo::workloads(run));
}
