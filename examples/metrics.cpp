// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Answers GET /metrics with what the scheduler's workers do, in Prometheus' text format: metrics [port].
// Ctrl-C ends it.

#include <weft/io.h>
#include <weft/weft.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

using WorkerStats = weft::Scheduler::WorkerStats;

struct Metric {
  const char *name, *help;
  uint64_t WorkerStats::* member;
};
constexpr Metric kMetrics[] = {
    {"weft_tasks_run_total", "Tasks that have ended.", &WorkerStats::numTasksRun},
    {"weft_steals_total", "Tasks taken from other workers.", &WorkerStats::numSteals},
    {"weft_searches_total", "Times a thread looked for work.", &WorkerStats::numSearches},
    {"weft_parks_total", "Times a thread went to sleep.", &WorkerStats::numParks},
    {"weft_ready_fibers", "Fibers that can go on.", &WorkerStats::numReadyFibers},
    {"weft_tasks", "Queued tasks that other workers may steal.", &WorkerStats::numTasks},
    {"weft_pinned_tasks", "Queued tasks for this thread only.", &WorkerStats::numPinnedTasks},
    {"weft_timers", "Fibers that wait for a time.", &WorkerStats::numTimers},
    {"weft_blocked_fibers", "Fibers that wait.", &WorkerStats::numBlockedFibers},
    {"weft_idle_fibers", "Fibers that are kept for reuse.", &WorkerStats::numIdleFibers},
    {"weft_fibers", "Fibers that exist.", &WorkerStats::numFibers},
};

std::string header(const std::string& name, const char* type, const char* help) {
  return "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

std::string gauge(const std::string& name, const char* help, uint64_t value) {
  return header(name, "gauge", help) + name + ' ' + std::to_string(value) + '\n';
}

std::string label(const WorkerStats& worker) {
  const bool isBound = worker.workerId < 0;
  return "worker=\"" +
         (isBound ? "thread " + std::to_string(worker.threadId) : std::to_string(worker.workerId)) + '"';
}

std::string metrics(const weft::Scheduler::Stats& stats) {
  std::string text;
  for (const auto& [name, help, member] : kMetrics) {
    text += header(name, std::string_view(name).ends_with("_total") ? "counter" : "gauge", help);
    for (const WorkerStats& worker : stats.workers) {
      text += std::string(name) + '{' + label(worker) + "} " + std::to_string(worker.*member) + '\n';
    }
  }
  return text + gauge("weft_injected_tasks", "Tasks in the queues of all workers.", stats.numInjected) +
         gauge("weft_stack_in_use_bytes", "Address space of stacks in use.", stats.stackBytesInUse) +
         gauge("weft_stack_peak_bytes", "The most that stacks in use had.", stats.stackBytesPeak) +
         gauge("weft_stack_mapped_bytes", "Address space of all stacks.", stats.stackBytesMapped);
}

void answer(weft::io::Socket socket, const weft::Scheduler& scheduler, weft::io::Wait wait) {
  wait.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string request;
  char buffer[1024];
  std::error_code error;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < 16 * sizeof(buffer)) {
    const size_t count = socket.recv(std::as_writable_bytes(std::span(buffer)), error, wait);
    if (count == 0) {
      return;
    }
    request.append(buffer, count);
  }
  const bool isKnown = request.starts_with("GET /metrics ");
  const std::string body = isKnown ? metrics(scheduler.stats()) : "see /metrics\n";
  const std::string response = std::string("HTTP/1.1 ") + (isKnown ? "200 OK" : "404 Not Found") +
                               "\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close" +
                               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  socket.send(std::as_bytes(std::span(response)), error, wait);
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);  // before there are further threads
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 9464);
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", port));
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);
  std::stop_source stop;
  auto served = weft::async([&, wait = weft::io::Wait{.stop = stop.get_token()}] {
    return weft::io::serve(listener, [&](auto socket) { answer(std::move(socket), scheduler, wait); }, wait);
  });
  int signal = 0;
  sigwait(&interrupts, &signal);
  stop.request_stop();
  if (const std::error_code error = served.get(); error != std::errc::operation_canceled) {
    std::fprintf(stderr, "cannot accept: %s\n", error.message().c_str());
    return 1;
  }
  std::puts("bye");
}
