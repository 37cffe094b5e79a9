// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <stop_token>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/parallel/grain_estimator.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// A loop that is split into parts for several threads, in one of two ways:
//
// - Lazily, while it runs, after Tzannes, Caragea, Barua and Vishkin, "Lazy Binary-Splitting: A Run-Time
//   Adaptive Work-Stealing Scheduler" (PPoPP 2010). The caller runs the loop from its beginning, piece by
//   piece. Between two pieces it looks at its deque. While the deque holds little, the caller pushes the
//   later half of the rest there, as a forked child. A thief that takes the child does the same with it. If
//   no thief takes it, its parent goes on with it as if it had never been split off. So a loop that no other
//   thread joins is split into a few hundred parts, whatever its length.
//   It differs from the paper. The deque is filled up to a few children, not to one, so that a loop whose
//   first iterations are its longest still offers something once a child is taken. A loop without a given
//   grain measures its iterations (grain_estimator.h), and pushes nothing that is not worth waking a thread.
// - Evenly: halved at multiples of a grain until single parts are left, in a tree that is the same each time.
//   A part is one piece if the caller gave the grain. Otherwise it runs in pieces, and may be the whole loop.
// In both, ready fibers and due timers of the thread have their turn between two pieces, even if nobody
// shares the loop. LoopOver knows what the loop calls. This class does not, so it is compiled once.
class SplitLoop {
 protected:
  // Iterations of one thread. LoopOver adds where they begin, and their result.
  struct Stretch {
    size_t count;
    GrainEstimator pace;
  };

  // Runs the next `count` iterations of the stretch, or fewer if they get dearer (PieceClock). Shortens it.
  // Returns: how many.
  using RunPiece = size_t(SplitLoop&, Stretch&, size_t count);
  // Splits the stretch after `kept` iterations, and has runHalves() run both halves, with `local`.
  // Returns: whether the second half is left to do. Then the stretch is that half.
  using Split = bool(SplitLoop&, Stretch&, size_t kept, LocalDeque* local);

  SplitLoop(RunPiece* runPiece, Split* split, const std::stop_token& token, const char* what)
      : runPiece_(runPiece), split_(split), token_(token), hasToken_(token.stop_possible()), what_(what) {}
  ~SplitLoop() = default;

  WEFT_EXPORT void runLazily(Stretch& all);
  // `grain`: iterations of a part, which may run in pieces. `isForkedAlways`: even if the deque holds enough.
  WEFT_EXPORT void runEvenly(Stretch& all, size_t grain, bool isForkedAlways);
  // Runs both. A thief may run the second meanwhile, unless `local` is null.
  // Returns: whether the second is left to the caller.
  WEFT_EXPORT bool runHalves(Stretch& first, Stretch& second, LocalDeque* local);

 private:
  struct Half;

  void runPieces(Stretch& stretch, LocalDeque* local, bool maySplit);
  void goOnEvenly(Stretch& stretch);
  void splitEvenly(Stretch& stretch);
  static bool letOthersRunInTurn(LocalDeque* local);
  template <class F>
  void capture(EscapedException& exception, F&& function);
  bool isStopped() const;

  RunPiece* const runPiece_;
  Split* const split_;
  const std::stop_token& token_;
  const bool hasToken_;
  const char* const what_;  // for reports
  size_t evenGrain_ = 0;    // 0: split lazily
  bool isForkedAlways_ = false;
  std::atomic<bool> hasThrown_{false};  // false -> true, by a thread whose piece has thrown
};

template <class Cursor>
constexpr void skip(Cursor& cursor, size_t count) {
  if constexpr (requires { cursor += static_cast<std::ptrdiff_t>(count); }) {
    cursor += static_cast<std::iter_difference_t<Cursor>>(count);
  } else {
    for (; count != 0; --count) {
      ++cursor;
    }
  }
}

// Body: Result                           the result of a part of the loop; default constructible
//       Cursor run(from, count, result)  runs `count` iterations and adds to the part's result;
//                                        returns where they end
//       void append(left, right)         adds to `left` the result of the part that follows it
//       bool isOver(from)                only if the loop may end early: whether nothing from here on is run
template <class Body, class Cursor>
class LoopOver : SplitLoop {
 public:
  using Result = typename Body::Result;

  LoopOver(Body& body, const std::stop_token& token, const char* what)
      : SplitLoop(&LoopOver::runPiece, &LoopOver::split, token, what), body_(body) {}

  // With a grain of 0 the loop measures after how many iterations to look at its deque.
  void lazily(Cursor from, size_t count, size_t grain, Result& result) {
    Place all{{count, GrainEstimator(grain)}, from, result};
    runLazily(all);
  }

  // With a grain of 0 there are parts of `part` iterations, which run in pieces, as in lazily().
  void evenly(Cursor from, size_t count, size_t grain, size_t part, bool isForkedAlways, Result& result) {
    Place all{{count, GrainEstimator(grain)}, from, result};
    runEvenly(all, grain != 0 ? grain : part, isForkedAlways);
  }

  // Runs the loop on this thread, in pieces, as in lazily().
  void alone(Cursor from, size_t count, Result& result) { evenly(from, count, 0, count, false, result); }

 private:
  struct Place : Stretch {
    Cursor from;
    Result& result;
  };

  static bool isOver(const Body& body, const Cursor& from) {
    if constexpr (requires { body.isOver(from); }) {
      return body.isOver(from);
    }
    return false;
  }

  static size_t runPiece(SplitLoop& loop, Stretch& stretch, size_t count) {
    auto& place = static_cast<Place&>(stretch);
    Body& body = static_cast<LoopOver&>(loop).body_;
    PieceClock clock(count, place.pace.stride());
    do {
      place.from = body.run(place.from, clock.next(), place.result);
      if (isOver(body, place.from)) {
        return stretch.count;
      }
    } while (clock.goesOn());
    return count - clock.left();
  }

  static bool split(SplitLoop& loop, Stretch& stretch, size_t kept, LocalDeque* local) {
    auto& self = static_cast<LoopOver&>(loop);
    auto& first = static_cast<Place&>(stretch);
    if (isOver(self.body_, first.from)) {
      return false;
    }
    Result result{};
    Place second{{first.count - kept, first.pace}, first.from, result};
    detail::skip(second.from, kept);
    first.count = kept;
    if (self.runHalves(first, second, local)) {
      first.from = second.from;
      first.count = second.count;
      return true;
    }
    self.body_.append(first.result, std::move(result));
    return false;
  }

  Body& body_;
};

}  // namespace weft::inline v0_1::detail
