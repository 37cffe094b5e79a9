// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "explore.h"

// The checker itself, for suites of kThreads threads.
namespace weft::model {

template <rl::thread_id_t kThreads>
struct ExploredSuite : rl::test_suite<ExploredSuite<kThreads>, kThreads> {
  ExploredSuite() {
    areFencesAsymmetric = rl::rand(2) != 0;
    explored.construct(explored.place);
  }
  ~ExploredSuite() { explored.destroy(explored.place); }
  void before() { explored.before(explored.place); }
  void thread(unsigned index) { explored.thread(explored.place, index); }
  void after() { explored.after(explored.place); }
};

// A search of Relacy's through all interleavings, which ends at the latest after params.iteration_count.
template <class Search>
class Limited : public Search {
 public:
  using Search::Search;

  bool iteration_end() {
    isComplete = Search::iteration_end();
    return isComplete || ++tried_ >= this->params_.iteration_count;
  }

  static inline bool isComplete = false;

 private:
  rl::iteration_t tried_ = 0;
};

// Returns: whether no error was found; a second run shows the steps of one.
template <rl::thread_id_t kThreads, class Search>
bool tryAll(rl::test_params& params) {
  using Suite = ExploredSuite<kThreads>;
  rl::ostringstream state;
  if (rl::run_test<Suite, Search>(params, state, false) == rl::test_result_success) {
    return true;
  }
  params.initial_state = state.str();
  params.collect_history = true;
  rl::run_test<Suite, Search>(params, state, true);
  return false;
}

template <rl::thread_id_t kThreads>
bool tryRandom(rl::test_params& params, const char*& extent) {
  extent = "random";
  return tryAll<kThreads, rl::random_scheduler<kThreads>>(params);
}

// `all`, `some`: what is said of a search that came to its end, and of another one.
template <rl::thread_id_t kThreads, class Search>
bool tryThrough(rl::test_params& params, const char*& extent, const char* all, const char* some) {
  const bool ok = tryAll<kThreads, Limited<Search>>(params);
  extent = Limited<Search>::isComplete ? all : some;
  return ok;
}

}  // namespace weft::model
