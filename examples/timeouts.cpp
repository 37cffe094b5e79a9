// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Asks servers, some of which do not answer: timeouts [MILLISECONDS]. One call has a time limit. Of several
// calls the first answer counts, and the others are stopped. A stop ends a wait and a computation alike. The
// end of the scheduler waits for the tasks that were stopped.

#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace {

enum class Kind {
  Answers,
  Hangs,     // waits for what does not come
  Computes,  // without end
};

// Stands for a server.
struct Server {
  std::string name;
  Kind kind;
};

// Returns: the answer.
// Errors: throws TaskCanceled after a stop.
std::string ask(const Server& server, const std::stop_token& stop) {
  if (server.kind == Kind::Hangs) {
    const weft::Event reply;
    if (!reply.wait(stop)) {
      throw weft::TaskCanceled();
    }
  }
  while (server.kind == Kind::Computes) {
    weft::interruptionPoint(stop);
    weft::yield();  // lets others run on this thread
  }
  return "42 from " + server.name;
}

// Returns: the answer; nothing if none came within the limit.
std::optional<std::string> askWithin(std::chrono::milliseconds limit, const Server& server) {
  const weft::StopAfter stop(limit);
  try {
    return ask(server, stop.token());
  } catch (const weft::TaskCanceled&) {
    return std::nullopt;
  }
}

// Returns: the first answer; nothing if none came within the limit.
std::optional<std::string> askAnyWithin(std::chrono::milliseconds limit, const std::vector<Server>& servers) {
  const weft::StopAfter stop(limit);
  std::vector<weft::Future<std::string>> answers;
  for (const Server& server : servers) {
    answers.push_back(weft::async([server, token = stop.token()] { return ask(server, token); }));
  }
  try {
    return weft::firstSuccess(stop.source(), answers).get();
  } catch (const weft::TaskCanceled&) {
    return std::nullopt;
  }
}

void print(const char* question, const std::optional<std::string>& answer) {
  std::printf("%s: %s\n", question, answer ? answer->c_str() : "no answer in time");
}

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::milliseconds limit(argc > 1 ? std::atoi(argv[1]) : 50);
  if (argc > 2 || limit.count() <= 0) {
    std::fprintf(stderr, "usage: timeouts [MILLISECONDS]\n");
    return 2;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const Server good{"a", Kind::Answers}, silent{"b", Kind::Hangs}, busy{"c", Kind::Computes};
  // Good servers are given all the time they need.
  const std::chrono::minutes patience(1);
  print("one that answers", askWithin(patience, good));
  print("one that hangs", askWithin(limit, silent));
  print("one that computes", askWithin(limit, busy));
  print("the first of three", askAnyWithin(patience, {silent, good, busy}));
  print("the first of two that do not answer", askAnyWithin(limit, {silent, busy}));
}
