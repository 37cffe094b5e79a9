// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Asks servers, some of which do not answer: timeouts [MILLISECONDS]. One call has a time limit. Of several
// calls the first answer counts, and the others are stopped. A stop ends a wait and a computation alike.
// Nothing is left behind: each function waits for the tasks that it has stopped.

#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

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

// Returns: the answer; nothing if none came by the deadline.
std::optional<std::string> askUntil(const Server& server, Clock::time_point deadline) {
  std::stop_source stop;
  weft::Future<std::string> answer =
      weft::async([&server, token = stop.get_token()] { return ask(server, token); });
  if (!answer.wait_until(deadline)) {
    stop.request_stop();
  }
  try {
    return answer.get();  // waits for the task, which refers to `server`
  } catch (const weft::TaskCanceled&) {
    return std::nullopt;
  }
}

// Returns: the first answer; nothing if none came by the deadline.
std::optional<std::string> askAnyUntil(const std::vector<Server>& servers, Clock::time_point deadline) {
  const weft::Channel<std::string> answers(servers.size());  // with room for all: nobody waits to send
  weft::TaskGroup group;
  for (const Server& server : servers) {
    group.run([&server, answers](const std::stop_token& stop) { answers.send(ask(server, stop)); });
  }
  std::optional<std::string> first;
  weft::select(
      weft::onReceive(answers, [&](std::optional<std::string> answer) { first = std::move(answer); }),
      weft::onTimeout(deadline));
  group.cancel();
  group.wait();  // for the tasks, which refer to `servers`
  return first;
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
  const auto patience = std::chrono::minutes(1);
  print("one that answers", askUntil(good, Clock::now() + patience));
  print("one that hangs", askUntil(silent, Clock::now() + limit));
  print("one that computes", askUntil(busy, Clock::now() + limit));
  print("the first of three", askAnyUntil({silent, good, busy}, Clock::now() + patience));
  print("the first of two that do not answer", askAnyUntil({silent, busy}, Clock::now() + limit));
}
