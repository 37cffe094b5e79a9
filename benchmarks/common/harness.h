// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What every benchmark program shares: its arguments, its clock, its oracle and the JSON lines it prints.
//
// A program belongs to one question and one library and offers some workloads, each with the worker counts
// that it can be run with:
//
//   prog --list                                  one JSON line per workload and worker count
//   prog --workload NAME --workers N             one measurement, one JSON line; what lists several numbers
//                                                of workers runs with any number
//   prog --tiny [--workload NAME --workers N]    the same with toy sizes; all of them when none is named
//
// A wrong answer ends the process with status 1 and prints no figure.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "process_stats.h"

namespace bench {

// Ends the process unless `ok`. Uses _Exit: the caller may stand on a fiber's stack.
inline void check(bool ok, const char* what) {
  if (!ok) {
    std::fprintf(stderr, "oracle failed: %s\n", what);
    std::_Exit(1);
  }
}

inline int64_t nowNs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Returns: the value below which the share `p` (0 to 1) of `values` lies.
inline double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  auto index = static_cast<size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

// One measurement: a workload with a number of workers.
class Run {
 public:
  Run(std::string workload, int workers, bool tiny)
      : workload_(std::move(workload)), workers_(workers), tiny_(tiny) {}

  const std::string& workload() const { return workload_; }
  int workers() const { return workers_; }
  bool tiny() const { return tiny_; }

  template <class T>
  T size(T full, T tiny) const {
    return tiny_ ? tiny : full;
  }

  // Calls `f` once to warm up, then `repeats` times. Returns: the median time of the latter, in nanoseconds.
  template <class F>
  double medianNs(F&& f, int repeats = 3) {
    if (tiny_) {
      repeats = 1;
    }
    f();
    std::vector<double> times;
    for (int i = 0; i < repeats; i++) {
      times.push_back(onceNs(f));
    }
    return median(times);
  }

  template <class F>
  double onceNs(F&& f) {
    int64_t begin = nowNs();
    f();
    return static_cast<double>(nowNs() - begin);
  }

  void metric(const char* name, double value) { metrics_.emplace_back(name, value); }

  // Says that this machine cannot do the workload; the table then shows why.
  void skip(std::string reason) { skipped_ = std::move(reason); }

  void print(const char* question, const char* library) const {
    std::printf(
        "{\"question\": \"%s\", \"library\": \"%s\", \"workload\": \"%s\", \"workers\": %d, \"metrics\": {",
        question, library, workload_.c_str(), workers_);
    if (!skipped_.empty()) {
      std::printf("}, \"skipped\": \"%s\"}\n", skipped_.c_str());
      return;
    }
    for (auto& [name, value] : metrics_) {
      std::printf("\"%s\": %.6g, ", name.c_str(), value);
    }
    std::printf("\"peak_rss_kib\": %lld}}\n", static_cast<long long>(peakResidentKib()));
    std::fflush(stdout);
  }

 private:
  std::string workload_;
  int workers_;
  bool tiny_;
  std::string skipped_;
  std::vector<std::pair<std::string, double>> metrics_;
};

struct Workload {
  const char* name;
  std::vector<int> workers;
  void (*run)(Run&);
};

struct Arguments {
  std::string workload;
  int workers = -1;
  bool tiny = false;
  bool list = false;

  // Returns: the numbers of workers with which `w` is asked for.
  std::vector<int> countsOf(const Workload& w) const {
    if (!workload.empty() && workload != w.name) {
      return {};
    }
    if (workers < 0) {
      return w.workers;
    }
    const bool isListed = std::find(w.workers.begin(), w.workers.end(), workers) != w.workers.end();
    const bool isScalable = !workload.empty() && workers > 0 && w.workers.size() > 1;
    return isListed || isScalable ? std::vector<int>{workers} : std::vector<int>{};
  }
};

inline Arguments parse(int argc, char** argv) {
  Arguments args;
  for (int i = 1; i < argc; i++) {
    std::string arg = argv[i];
    if (arg == "--tiny") {
      args.tiny = true;
    } else if (arg == "--list") {
      args.list = true;
    } else if (arg == "--workload" && i + 1 < argc) {
      args.workload = argv[++i];
    } else if (arg == "--workers" && i + 1 < argc) {
      args.workers = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--list] [--tiny] [--workload NAME] [--workers N]\n", argv[0]);
      std::exit(2);
    }
  }
  return args;
}

// The whole of a benchmark's main().
inline int runMain(int argc, char** argv, const char* question, const char* library,
                   const std::vector<Workload>& workloads) {
  Arguments args = parse(argc, argv);
  int matches = 0;
  for (auto& w : workloads) {
    for (int workers : args.countsOf(w)) {
      matches++;
      if (args.list) {
        std::printf("{\"workload\": \"%s\", \"workers\": %d}\n", w.name, workers);
        continue;
      }
      Run run(w.name, workers, args.tiny);
      w.run(run);
      run.print(question, library);
    }
  }
  if (matches == 0) {
    std::fprintf(stderr, "%s: no such workload\n", argv[0]);
    return 2;
  }
  return 0;
}

}  // namespace bench
