// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs SQL queries by libpq: pg_queries CONNECTION [FIBERS [SECONDS]] <QUERIES. Standard input has a query on
// each line. Some fibers (8) have a connection each, so that many queries run at the same time, even on one
// thread. Prints the first value that each gives. All have to be done after some seconds (30).

#include <weft/io.h>
#include <weft/weft.h>

#include <libpq-fe.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A connection of one fiber. Its functions throw what is wrong.
class Connection {
 public:
  // Here libpq blocks the thread to look up the name of a host. A unix socket and `hostaddr` need no look-up.
  Connection(const char* info, const weft::io::Wait& wait) : connection_(PQconnectStart(info)), wait_(wait) {
    require(PQstatus(get()) != CONNECTION_BAD);
    for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = PQconnectPoll(get())) {
      require(next != PGRES_POLLING_FAILED);
      waitFor(next == PGRES_POLLING_READING ? POLLIN : POLLOUT);
    }
    require(PQsetnonblocking(get(), 1) == 0);
  }

  // Returns: the first value of the first row.
  std::string query(const std::string& sql) {
    require(PQsendQueryParams(get(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) == 1);
    while (const int isUnsent = PQflush(get())) {
      require(isUnsent == 1);
      waitFor(POLLIN | POLLOUT);  // the server may have to send something before it takes more
      require(PQconsumeInput(get()) == 1);
    }
    const Result result = receive();
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      throw std::runtime_error(PQresStatus(status) + std::string(": ") + PQresultErrorMessage(result.get()));
    }
    while (receive() != nullptr) {  // to the end of the query, so that another one may follow
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  using Result = std::unique_ptr<PGresult, decltype([](PGresult* result) { PQclear(result); })>;
  PGconn* get() const { return connection_.get(); }
  void require(bool isTrue) const {
    if (!isTrue) {
      throw std::runtime_error(PQerrorMessage(get()));
    }
  }
  // Asks for the socket each time: until it is connected, libpq may try one after another.
  void waitFor(int events) const { weft::io::waitFor(PQsocket(get()), static_cast<short>(events), wait_); }

  Result receive() {
    while (PQisBusy(get()) != 0) {
      waitFor(POLLIN);
      require(PQconsumeInput(get()) == 1);
    }
    return Result(PQgetResult(get()));
  }

  const std::unique_ptr<PGconn, decltype([](PGconn* connection) { PQfinish(connection); })> connection_;
  const weft::io::Wait wait_;
};

// What all fibers share. run() is called by each of them.
struct Work {
  void run() {
    std::optional<Connection> connection;
    for (size_t i = next++; i < queries.size(); i = next++) {
      try {
        Connection& used = connection ? *connection : connection.emplace(info, wait);
        std::puts(used.query(queries[i]).c_str());
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", queries[i].c_str(), error.what());
        connection.reset();  // the next query has a new one
        ++numFailed;
      }
    }
  }

  const char* info;
  weft::io::Wait wait;
  std::vector<std::string> queries{};
  std::atomic<size_t> next{0}, numFailed{0};
};

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::milliseconds limit(argc > 3 ? static_cast<int>(std::atof(argv[3]) * 1e3) : 30'000);
  Work work{argc > 1 ? argv[1] : "", {.deadline = std::chrono::steady_clock::now() + limit}};
  for (std::string line; std::getline(std::cin, line);) {
    work.queries.push_back(line);
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  weft::TaskGroup fibers;
  for (int i = 0; i < (argc > 2 ? std::atoi(argv[2]) : 8); ++i) {
    fibers.run([&] { work.run(); });
  }
  fibers.wait();
  return work.numFailed == 0 ? 0 : 1;
}
