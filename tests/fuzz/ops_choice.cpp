// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "world.h"

// The operations that go one way of several: graphs with choices, select() on a list, futures of which one
// wins, and results that come in time or not.
namespace weft::fuzz {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr size_t kLayers = 3, kWays = 3;

// How often each node of a graph has run: in each layer one that chooses, the ways, a node behind the first
// way alone, and one behind all ways.
struct LayerRun {
  std::array<int, kWays> ways{};
  int chosen = 0, behindFirst = 0, joined = 0;
};
struct ChoiceRun {
  std::array<LayerRun, kLayers> layers;
  std::stop_source stop;
};

// The ways are digits of a number. The way of layer `stopping` requests a stop.
auto makeChoices(const std::array<size_t, kLayers>& choices, size_t stopping) {
  DAG<ChoiceRun&>::Builder builder;
  auto last = builder.root();
  for (size_t layer = 0; layer < kLayers; ++layer) {
    const auto way = [&](size_t number) {
      return builder.node([layer, number, stops = layer == stopping](ChoiceRun& run) {
        check(run.layers[layer].chosen == 1, "a way of a graph ran before it was chosen");
        if (number % 2 != 0) {
          yield();
        }
        if (stops) {
          run.stop.request_stop();
        }
        ++run.layers[layer].ways[number];
      });
    };
    const auto first = way(0), second = way(1), third = way(2);
    builder.choice(
        [layer, choice = choices[layer]](ChoiceRun& run) {
          check(layer == 0 || run.layers[layer - 1].joined == 1,
                "a graph chose before the layer above ended");
          ++run.layers[layer].chosen;
          return choice;
        },
        {first, second, third}, {last});
    first.then([layer](ChoiceRun& run) { ++run.layers[layer].behindFirst; });
    last = builder.node([layer](ChoiceRun& run) { ++run.layers[layer].joined; }, {first, second, third});
  }
  return builder.build();
}

// Whether layer `layer` ran as a serial run would have it.
bool isComplete(const LayerRun& layer, size_t choice) {
  bool isRight = layer.chosen == 1 && layer.joined == 1 && layer.behindFirst == (choice == 0 ? 1 : 0);
  for (size_t way = 0; way < kWays; ++way) {
    isRight &= layer.ways[way] == (way == choice ? 1 : 0);
  }
  return isRight;
}

void choose(Actor&, const Op& op) {
  if (Scheduler::get() == nullptr) {
    return;
  }
  const std::array<size_t, kLayers> choices = {op.b % 3u, op.b / 3u % 3u, op.b / 9u % 3u};
  const size_t stopping = op.a % (kLayers + 2u);  // kLayers or more: nobody requests a stop
  const auto dag = makeChoices(choices, stopping);
  for (int round = 0; round < 2; ++round) {
    ChoiceRun run;
    const bool isAll = dag->run(run, run.stop.get_token());
    size_t numComplete = 0;
    for (size_t i = 0; i < kLayers; ++i) {
      const LayerRun& layer = run.layers[i];
      numComplete += isComplete(layer, choices[i]) ? 1 : 0;
      int numWays = 0;
      for (int times : layer.ways) {
        numWays += times;
      }
      check(numWays <= 1 && (numWays == 0 || layer.ways[choices[i]] == 1), "a graph went a way not chosen");
    }
    check(isAll == (numComplete == kLayers), "a graph ran %zu of %zu layers, and says that it ran %s",
          numComplete, kLayers, isAll ? "all" : "not all");
    // The stop comes before the last node of its layer can begin. Leaves above may have to begin still.
    check(isAll == (stopping >= kLayers) && numComplete <= stopping,
          "a graph ran %zu layers, and was stopped in layer %zu", numComplete, stopping);
  }
}

// Channels that a task fills each, and their values, which a select() on a list of cases passes on.
class Funnel {
 public:
  Funnel(const Actor& self, size_t numSources, size_t capacity, int count) : next_(numSources, 0) {
    for (size_t i = 0; i < numSources; ++i) {
      const Channel<int> source(capacity);
      self.spawn([source, count] {
        for (int value = 0; value < count; ++value) {
          source.send(value);
        }
        source.close();
      });
      cases_.push_back(onReceive(source, [this, i](std::optional<int> value) { receive(i, value); }));
    }
  }

  // Sends the values to `sink`, the newest first, until there will be no more.
  void passOn(const Channel<int>& sink) {
    while (!cases_.empty() || !waiting_.empty()) {
      const bool sends = !waiting_.empty();
      if (sends) {
        cases_.push_back(onSend(sink, waiting_.back()));
      }
      hasEnded_ = false;
      const size_t which = weft::select(cases_);
      const bool isSent = sends && which + 1 == cases_.size();
      if (sends) {
        cases_.pop_back();
      }
      if (isSent) {
        waiting_.pop_back();
      } else if (hasEnded_) {
        cases_.erase(cases_.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
  }

 private:
  void receive(size_t source, const std::optional<int>& value) {
    hasEnded_ = !value;
    if (value) {
      check(*value == next_[source], "a select on a list gave %d instead of %d", *value, next_[source]);
      ++next_[source];
      waiting_.push_back(*value);
    }
  }

  std::vector<AnyCase> cases_;
  std::vector<int> next_, waiting_;
  bool hasEnded_ = false;  // what the last case was for
};

void selectFromList(Actor& self, const Op& op) {
  const int numSources = 1 + op.a % 4, count = 1 + op.b % 16;
  const Channel<int> sink(op.a / 4u % 3u);
  const Event ended;
  int sum = 0;
  self.spawn([sink, ended, &sum] {
    for (int value : sink) {
      sum += value;
    }
    ended.signal();
  });
  Funnel(self, static_cast<size_t>(numSources), op.b / 16u % 4u, count).passOn(sink);
  sink.close();
  ended.wait();
  const int wanted = numSources * count * (count - 1) / 2;
  check(sum == wanted, "a select on a list passed on a sum of %d instead of %d", sum, wanted);
}

// A future that may fail, with what happens then: a call, and a value in its place.
void recoverFrom(Actor& self, const Op& op) {
  const int first = op.b % 64;
  const bool throws = op.b >= 128, throwsAgain = op.a % 4 == 3;
  std::atomic<int> numNoticed{0};
  const auto call = [first, throws] {
    if (throws) {
      throw std::runtime_error("first");
    }
    return first;
  };
  const auto notice = [&numNoticed, throwsAgain] {
    ++numNoticed;
    if (throwsAgain) {
      throw std::logic_error("second");
    }
  };
  const auto replace = [throwsAgain](const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::logic_error&) {
      return throwsAgain ? -1 : -2;
    } catch (const std::runtime_error&) {
      return throwsAgain ? -2 : -1;
    }
  };
  const auto chain = [&](auto& executor, Future<int> future) {
    return std::move(future).onError(executor, notice).recover(executor, replace).get();
  };
  const int result = self.canSpawn() && op.a % 2 != 0
                         ? chain(*self.world.scheduler, async(*self.world.scheduler, call))
                         : chain(inlineExecutor(), async(inlineExecutor(), call));
  check(result == (throws ? -1 : first), "a recovered future gave %d after %d", result, first);
  check(numNoticed == (throws ? 1 : 0), "onError() made %d calls", numNoticed.load());
}

// A result that a task gives, or that nobody gives, within a time.
void getWithin(Actor& self, const Op& op) {
  const bool isGiven = op.a % 3 != 0;
  const bool isLong = isGiven && op.a % 3 == 1;
  const auto limit = isLong ? std::chrono::hours(100) : microseconds(4 * op.b);
  const std::stop_source stop;
  Promise<int> promise;
  const auto begin = steady_clock::now();
  auto future = promise.get_future().within(limit, stop);
  std::optional<Promise<int>> unset;
  if (isGiven) {
    self.spawn([promise = std::move(promise), value = op.b]() mutable {
      yield();
      promise.set_value(value);
    });
  } else {
    unset = std::move(promise);
  }
  try {
    const int result = future.get();
    check(isGiven && result == op.b, "a result within a time is %d instead of %d", result, op.b);
  } catch (const TimedOut&) {
    check(!isLong && steady_clock::now() - begin >= limit, "a result timed out early");
    check(stop.stop_requested(), "a result timed out without a stop");
  }
}

// A future of a time, or a stop after a time.
void waitForTime(Actor& self, const Op& op) {
  const microseconds time(4 * op.a);
  const auto begin = steady_clock::now();
  const std::stop_token token = op.how.stop < 0 ? std::stop_token() : self.world.token(op.how.stop);
  const auto isStopBegun = [&] {
    return op.how.stop >= 0 && self.world.isStopBegun[static_cast<size_t>(op.how.stop)];
  };
  if (op.b % 2 == 0) {
    auto future = after(time, token);
    try {
      future.get();
      check(steady_clock::now() - begin >= time, "a future of a time was ready early");
    } catch (const TaskCanceled&) {
      check(isStopBegun(), "a future of a time was stopped by nobody");
    }
    return;
  }
  const StopAfter limit(time, token);
  if (op.b % 4 == 1) {
    const Event never;
    check(!never.wait(limit.token()), "a wait for nothing ended");
    check(isStopBegun() || steady_clock::now() - begin >= time, "a stop after a time came early");
  }
}

// Tasks of which one gives a value; each other waits for a stop, or throws at once. Returns: their futures.
std::vector<Future<int>> compete(const Actor& self, const std::stop_source& stop, const WaitGroup& left,
                                 int count, int winner, int throwers) {
  std::vector<Future<int>> futures;
  for (int i = 0; i < count; ++i) {
    futures.push_back(async(*self.world.scheduler, [i, winner, throwers, left, token = stop.get_token()] {
      const auto end = make_finally([&left] { left.done(); });
      yield();
      if (i != winner && (throwers >> i) % 2 != 0) {
        throw std::runtime_error("a loser");
      }
      if (i != winner) {
        check(!Event().wait(token), "a loser's wait ended without a stop");
      }
      return i;
    }));
  }
  return futures;
}

// The winner fails, as nobody else does, which whenAll() tells the others. The exception is not looked into:
// the C++ library orders its end, which ThreadSanitizer does not see.
void failFast(const std::stop_source& stop, std::vector<Future<int>> futures, int winner) {
  auto& its = futures[static_cast<size_t>(winner)];
  its = its.then(inlineExecutor(), [](int) -> int { throw std::out_of_range("the winner"); });
  bool hasThrown = false;
  try {
    whenAll(stop, std::move(futures)).get();
  } catch (const std::out_of_range&) {
    hasThrown = true;
  }
  check(hasThrown, "whenAll() has lost an exception");
}

// Several tasks, of which the first to end stops the others.
void race(Actor& self, const Op& op) {
  const int count = 1 + op.b % 6, winner = op.b / 6 % count;
  const int way = op.a % 3, throwers = op.a / 3;
  const std::stop_source stop;
  const WaitGroup left(static_cast<unsigned>(count));
  auto futures = compete(self, stop, left, count, winner, way == 1 ? throwers : 0);
  if (way == 0) {
    auto [index, parts] = whenAny(stop, std::move(futures)).get();
    check(static_cast<int>(index) == winner && parts[index].get() == winner, "future %zu won, and not %d",
          index, winner);
  } else if (way == 1) {
    const int result = firstSuccess(stop, std::move(futures)).get();
    check(result == winner, "future %d succeeded, and not %d", result, winner);
  } else {
    failFast(stop, std::move(futures), winner);
  }
  check(stop.stop_requested(), "the others were not stopped");
  left.wait();
}

// The operation, if tasks run beside the script.
template <void (*kRun)(Actor&, const Op&)>
void ifTasksRun(Actor& self, const Op& op) {
  if (self.canSpawn()) {
    kRun(self, op);
  }
}

constexpr OpType kOps[] = {
    {.name = "choose", .a = Arg::Number, .b = Arg::Number, .run = choose},
    {.name = "select from a list", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<selectFromList>},
    {.name = "recover", .a = Arg::Number, .b = Arg::Number, .run = recoverFrom},
    {.name = "get within", .a = Arg::Number, .b = Arg::Number, .run = getWithin},
    {.name = "wait for a time", .a = Arg::Number, .b = Arg::Number, .waits = Waits::Soon, .run = waitForTime},
    {.name = "race", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<race>},
};

}  // namespace

std::span<const OpType> choiceOps() { return kOps; }

}  // namespace weft::fuzz
