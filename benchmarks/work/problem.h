// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Programs whose work is a graph of steps, as real ones have it: how near does a library come to the ideal?
//
//   frame   a frame of a game: 200 systems over 10,000 entities. A system reads two components of each entity
//           and changes a third; it waits for those before it that change what it reads, or read or change
//           what it changes. Some 10 to 90 us each.
//   build   a build of 1,000 steps, each of which waits for one to three others, with costs between 10 us and
//           1 ms; its longest chain takes four tenths of the time that one worker needs
//
//   ms            of a run
//   ideal_ms      what it could take at best: the time of all steps, each measured alone, by the number of
//                 workers, or that of the longest chain if it is more
//   ideal_share   the latter by the former, in percent

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "../common/harness.h"

namespace work {

// For each step those that it waits for, which have lower numbers.
using Dependencies = std::vector<std::vector<size_t>>;

class Frame {
 public:
  explicit Frame(const bench::Run& run) : entities_(run.size<size_t>(10'000, 100)), components_(kComponents) {
    std::mt19937_64 random(1);
    const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
    for (auto& component : components_) {
      component.resize(entities_);
      std::generate(component.begin(), component.end(), [&] { return static_cast<float>(below(100)) / 100; });
    }
    for (size_t i = 0; i < kSystems; i++) {
      System system{below(kComponents), below(kComponents), below(kComponents),
                    1 + static_cast<int>(below(8))};
      while (system.changes == system.readsFirst || system.changes == system.readsSecond) {
        system.changes = below(kComponents);
      }
      systems_.push_back(system);
    }
  }

  size_t size() const { return kSystems; }

  Dependencies dependencies() const {
    Dependencies all(kSystems);
    for (size_t i = 0; i < kSystems; i++) {
      for (size_t before = 0; before < i; before++) {
        if (mustWait(systems_[i], systems_[before])) {
          all[i].push_back(before);
        }
      }
    }
    return all;
  }

  void step(size_t i) {
    const System& system = systems_[i];
    const float* first = components_[system.readsFirst].data();
    const float* second = components_[system.readsSecond].data();
    float* out = components_[system.changes].data();
    for (size_t entity = 0; entity < entities_; entity++) {
      float value = out[entity];
      for (int round = 0; round < system.weight; round++) {
        value = (value + first[entity]) / (1 + second[entity] + value * value);
      }
      out[entity] = value;
    }
  }

  bool operator==(const Frame& other) const { return components_ == other.components_; }

 private:
  static constexpr size_t kSystems = 200;
  static constexpr size_t kComponents = 60;

  struct System {
    size_t readsFirst, readsSecond, changes;
    int weight;
  };

  static bool reads(const System& system, size_t component) {
    return system.readsFirst == component || system.readsSecond == component;
  }
  static bool mustWait(const System& system, const System& before) {
    return reads(system, before.changes) || reads(before, system.changes) || before.changes == system.changes;
  }

  size_t entities_;
  std::vector<std::vector<float>> components_;
  std::vector<System> systems_;
};

class Build {
 public:
  explicit Build(const bench::Run& run)
      : unit_(run.size(1.0, 0.01)), values_(kSteps), costs_(kSteps), all_(kSteps) {
    std::mt19937_64 random(2);
    for (size_t i = 0; i < kSteps; i++) {
      const double share = static_cast<double>(random() % 1000) / 1000;
      costs_[i] = static_cast<int64_t>(unit_ * kCheapest * std::pow(kSpread, share));
      for (size_t j = 1 + random() % 3; j > 0 && i > 0; j--) {
        all_[i].push_back(i - 1 - random() % std::min(i, kReach));
      }
      std::sort(all_[i].begin(), all_[i].end());
      all_[i].erase(std::unique(all_[i].begin(), all_[i].end()), all_[i].end());
    }
  }

  size_t size() const { return kSteps; }
  const Dependencies& dependencies() const { return all_; }

  // Its value depends on its own of the run before and on those of the steps that it waits for.
  void step(size_t i) {
    uint64_t value = values_[i] + i;
    for (size_t before : all_[i]) {
      value ^= values_[before];
    }
    for (int64_t j = 0; j < costs_[i]; j++) {
      value = value * 6364136223846793005u + 1442695040888963407u;
    }
    values_[i] = value;
  }

  bool operator==(const Build& other) const { return values_ == other.values_; }

 private:
  static constexpr size_t kSteps = 1000;
  static constexpr size_t kReach = 8;
  static constexpr double kCheapest = 8'000;  // multiplications
  static constexpr double kSpread = 100;

  double unit_;
  std::vector<uint64_t> values_;
  std::vector<int64_t> costs_;
  Dependencies all_;
};

template <class Program>
void runInOrder(Program& program) {
  for (size_t i = 0; i < program.size(); i++) {
    program.step(i);
  }
}

// The least time of each of some runs, step by step, in nanoseconds.
template <class Program>
std::vector<double> costsOf(Program program, bench::Run& run) {
  std::vector<double> costs(program.size(), 1e18);
  for (int i = 0; i < run.size(5, 1); i++) {
    for (size_t j = 0; j < program.size(); j++) {
      costs[j] = std::min(costs[j], run.onceNs([&] { program.step(j); }));
    }
  }
  return costs;
}

inline double idealNs(const std::vector<double>& costs, const Dependencies& dependencies, int workers) {
  double total = 0, longest = 0;
  std::vector<double> ends(costs.size());
  for (size_t i = 0; i < costs.size(); i++) {
    for (size_t before : dependencies[i]) {
      ends[i] = std::max(ends[i], ends[before]);
    }
    ends[i] += costs[i];
    longest = std::max(longest, ends[i]);
    total += costs[i];
  }
  return std::max(total / workers, longest);
}

// Measures graph.run(), where Graph(program, dependencies) calls program.step(i) for each step in a run.
template <class Graph, class Program>
void measure(bench::Run& run) {
  Program program(run), oracle(run);
  const Dependencies dependencies = program.dependencies();
  const double ideal = idealNs(costsOf(program, run), dependencies, run.workers());
  Graph graph(program, dependencies);
  int runs = 0;
  const double ns = run.medianNs(
      [&] {
        graph.run();
        runs++;
      },
      9);
  for (int i = 0; i < runs; i++) {
    runInOrder(oracle);
  }
  bench::check(program == oracle, "work");
  run.metric("ms", ns / 1e6);
  run.metric("ideal_ms", ideal / 1e6);
  run.metric("ideal_share", 100 * ideal / ns);
}

}  // namespace work
