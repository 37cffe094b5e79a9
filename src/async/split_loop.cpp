// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/parallel/split_loop.h"

#include <limits>

namespace weft::inline v0_1::detail {

// The later half of a stretch, which a thief may take.
struct SplitLoop::Half : TaskNode {
  Half(SplitLoop& whole, Stretch& rest)
      : TaskNode{&runAsTask, nullptr, kForked}, loop(whole), stretch(rest) {}

  static void runAsTask(TaskNode* node, TaskOp) {
    auto& self = *static_cast<Half*>(node);
    LocalDeque* local = ownLocalDeque();
    if (local == nullptr) {
      __builtin_unreachable();  // a task runs on a worker
    }
    beginAsTask();
    ++local->numHalves;
    self.loop.capture(self.exception, [&self, local] {
      if (self.loop.evenGrain_ != 0) {
        self.loop.goOnEvenly(self.stretch);
      } else {
        self.stretch.pace.begin();
        self.loop.runPieces(self.stretch, local, true);
      }
    });
    --local->numHalves;
    detail::finishChild(self.completion);
  }

  SplitLoop& loop;
  Stretch& stretch;
  EscapedException exception;
  ChildCompletion completion;
};

void SplitLoop::runLazily(Stretch& all) {
  if (all.count == 0) {
    return;
  }
  LocalDeque* local = ownLocalDeque();
  if (local == nullptr && !hasToken_) {
    runPiece_(*this, all, all.count);
    return;
  }
  all.pace.begin();
  runPieces(all, local, true);
}

void SplitLoop::runEvenly(Stretch& all, size_t grain, bool isForkedAlways) {
  evenGrain_ = grain;
  isForkedAlways_ = isForkedAlways;
  goOnEvenly(all);
}

// `local` is null where no scheduler is bound, so that nothing may be pushed, and nobody else has a turn.
void SplitLoop::runPieces(Stretch& stretch, LocalDeque* local, bool maySplit) {
  // Without others the first pieces need not leave enough to share.
  maySplit = maySplit && local != nullptr;
  const bool mayBeShared = maySplit && local->numOthers != 0;
  const size_t whole = mayBeShared ? stretch.count : std::numeric_limits<size_t>::max();
  GrainEstimator& pace = stretch.pace;
  while (!isStopped()) {
    if (maySplit && local->hasFewToSteal() && pace.isWorthSharing(stretch.count, *local)) {
      if (!split_(*this, stretch, pace.firstHalf(stretch.count), local)) {
        return;
      }
      pace.begin();
      continue;
    }
    pace.setStride(local != nullptr && local->untilPoll == 1);
    const size_t piece = runPiece_(*this, stretch, pace.nextPiece(stretch.count, whole));
    stretch.count -= piece;
    const bool isLast = stretch.count == 0;
    if (!isLast) {
      pace.note(piece);
    }
    // A piece counts as a dequeue: after it those run whose turn it is, if there are any.
    const bool wasTheirTurn = letOthersRunInTurn(local);
    if (isLast) {
      return;
    }
    if (wasTheirTurn) [[unlikely]] {
      pace.begin();
    }
  }
}

// Called after a piece. `local`: this thread's, or null. Returns: whether others had their turn.
bool SplitLoop::letOthersRunInTurn(LocalDeque* local) {
  if (local == nullptr) {
    return false;
  }
  assertStillBound(local);
  return local->letOthersRunInTurn();
}

// Each part begins right after one of these looks. After a stop, no other node of the tree is visited.
void SplitLoop::goOnEvenly(Stretch& stretch) {
  if (!isStopped()) [[likely]] {
    splitEvenly(stretch);
  }
}

void SplitLoop::splitEvenly(Stretch& stretch) {
  LocalDeque* local = ownLocalDeque();
  if (stretch.count <= evenGrain_) {
    if (stretch.pace.isMeasured()) {
      stretch.pace.begin();
      runPieces(stretch, local, false);
    } else {
      runPiece_(*this, stretch, stretch.count);
      letOthersRunInTurn(local);
    }
    return;
  }
  const size_t numPieces = (stretch.count - 1) / evenGrain_ + 1;
  const bool isForked = local != nullptr && (isForkedAlways_ || local->hasFewToSteal());
  split_(*this, stretch, (numPieces + 1) / 2 * evenGrain_, isForked ? local : nullptr);
}

bool SplitLoop::runHalves(Stretch& first, Stretch& second, LocalDeque* local) {
  Half half(*this, second);
  const bool isPushed = local != nullptr && local->push(half);
  if (isPushed) {
    local->notify();
  }
  EscapedException exception;
  capture(exception, [&] {
    if (evenGrain_ != 0) {
      splitEvenly(first);
    } else {
      runPieces(first, local, isPushed);
    }
  });
  if (isPushed) {
    assertStillBound(local);
  }
  const bool isLeft = !isPushed || local->takeBack(half);
  if (!isLeft) {
    detail::waitForChild(half.completion, what_);
  }
  exception.rethrow();
  half.exception.rethrow();
  if (isLeft && evenGrain_ != 0) {
    goOnEvenly(second);
    return false;
  }
  return isLeft;
}

template <class F>
void SplitLoop::capture(EscapedException& exception, F&& function) {
  exception.capture(std::forward<F>(function));
  if (exception) [[unlikely]] {
    // relaxed, here and below: it only keeps other threads from beginning further pieces.
    hasThrown_.store(true, std::memory_order_relaxed);
  }
}

bool SplitLoop::isStopped() const {
  return hasThrown_.load(std::memory_order_relaxed) || (hasToken_ && token_.stop_requested());
}

}  // namespace weft::inline v0_1::detail
