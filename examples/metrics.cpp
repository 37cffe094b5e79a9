// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Answers GET /metrics with what workers do, in Prometheus' text format, until it is killed: metrics [port].

#include <weft/io.h>
#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

using WorkerStats = weft::Scheduler::WorkerStats;

constexpr struct {
  const char *name, *help;
  uint64_t WorkerStats::* member;
} kMetrics[] = {
    {"weft_tasks_run_total", "Tasks that have ended.", &WorkerStats::numTasksRun},
    {"weft_tasks_in_place_total", "Tasks on top of those that wait.", &WorkerStats::numTasksInPlace},
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
  return std::string("{worker=\"") + (isBound ? "thread " : "") +
         std::to_string(isBound ? worker.threadId : worker.workerId) + '"';
}

std::string histogram(const std::string& name, const std::string& label, const weft::Histogram& seen) {
  std::string text;
  uint64_t upTo = 0;
  for (size_t i = 0; i + 1 < weft::Histogram::kBuckets; ++i) {
    const std::string bound = std::to_string(weft::Histogram::bound(i).count()) + "e-9";
    text +=
        name + "_bucket" + label + ",le=\"" + bound + "\"} " + std::to_string(upTo += seen.counts[i]) + '\n';
  }
  const std::string count = std::to_string(upTo + seen.counts.back()) + '\n';
  return text + name + "_bucket" + label + ",le=\"+Inf\"} " + count + name + "_sum" + label + "} " +
         std::to_string(seen.sum.count()) + "e-9\n" + name + "_count" + label + "} " + count;
}

std::string metrics(const weft::Scheduler::Stats& stats) {
  std::string text;
  for (const auto& [name, help, member] : kMetrics) {
    text += header(name, std::string_view(name).ends_with("_total") ? "counter" : "gauge", help);
    for (const WorkerStats& worker : stats.workers) {
      text += name + label(worker) + "} " + std::to_string(worker.*member) + '\n';
    }
  }
  std::string runTimes =
      header("weft_run_seconds", "histogram", "How long tasks ran until a wait or their end.");
  std::string delays = header("weft_wake_delay_seconds", "histogram", "How long woken fibers were ready.");
  for (const WorkerStats& worker : stats.workers) {
    runTimes += histogram("weft_run_seconds", label(worker), worker.runTimes);
    delays += histogram("weft_wake_delay_seconds", label(worker), worker.wakeDelays);
  }
  return text + runTimes + delays +
         gauge("weft_injected_tasks", "Tasks in the queues of all workers.", stats.numInjected) +
         gauge("weft_stack_in_use_bytes", "Address space of stacks in use.", stats.stackBytesInUse) +
         gauge("weft_stack_peak_bytes", "The most that stacks in use had.", stats.stackBytesPeak) +
         gauge("weft_stack_mapped_bytes", "Address space of all stacks.", stats.stackBytesMapped);
}

void answer(weft::io::Socket socket, const weft::Scheduler& scheduler) {
  const weft::io::Wait wait{.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10)};
  std::string request;
  char buffer[1024];
  std::error_code error;
  for (size_t count = 1; count != 0 && !request.ends_with("\r\n\r\n") && request.size() < 16'000;) {
    count = socket.recv(std::as_writable_bytes(std::span(buffer)), error, wait);
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
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  scheduler.measure(true);
  weft::Scheduler::Binding bound(scheduler);

  const int port = argc > 1 ? std::atoi(argv[1]) : 9464;
  const auto at = weft::io::Endpoint::parse("127.0.0.1", static_cast<uint16_t>(port));
  weft::io::Listener listener = weft::io::Listener::listen(at);
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);
  const std::error_code error =
      weft::io::serve(listener, [&](auto socket) { answer(std::move(socket), scheduler); });
  std::fprintf(stderr, "cannot accept: %s\n", error.message().c_str());
  return 1;
}
