// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/detail/base/ticks.h"
#include "weft/detail/forkjoin/fork_join.h"

// Estimates how many iterations to run before a look at the deque, and if the rest is worth another thread.
//
// The cost is not known before, so a loop begins alone and measures. Its first piece is one iteration. The
// next pieces grow while they take next to no time. Then the estimate of the rest decides. Below
// kWorthStealing even a thief that searches already costs more than it saves. Below kWorthWaking so does
// waking a thief (12 us for the waker, 32 us until the thief runs, on a virtual machine). The end of a piece
// shows whether its iterations differ from earlier ones. So pieces stay short, and a piece of very many
// iterations looks at the clock meanwhile (PieceClock).
namespace weft::inline v0_1::detail {

inline constexpr uint64_t kLongestPiece = 8;  // microseconds

// Ends a piece early whose iterations have become far dearer than those that it was measured by. Looks at the
// clock every `stride` iterations, since a look costs some 10 ns, like a hundred of the finest iterations.
class PieceClock {
 public:
  PieceClock(size_t count, size_t stride)
      : left_(count), stride_(stride), end_(count > stride ? ticks() + ticksIn(kLongestPiece) : 0) {}

  // Returns: how many iterations to run next.
  size_t next() {
    const size_t count = std::min(left_, stride_);
    left_ -= count;
    return count;
  }
  bool goesOn() const { return left_ != 0 && ticks() < end_; }
  size_t left() const { return left_; }

 private:
  size_t left_;
  const size_t stride_;
  const uint64_t end_;
};

class GrainEstimator {
 public:
  // The loop looks at its deque after `grain` iterations, and shares what is more. With 0 it measures.
  explicit GrainEstimator(size_t grain) : grain_(grain), piece_(grain) {}

  bool isMeasured() const { return grain_ == 0; }

  // A thread begins with the loop, or with what firstHalf() has left of it.
  void begin() {
    if (isMeasured()) {
      done_ = 0;
      last_ = ticks();
    }
  }

  // `count` iterations have run since begin() or the last note().
  void note(size_t count) {
    if (isMeasured()) {
      done_ += count;
      const uint64_t now = ticks();
      const float taken = microsecondsIn(now - last_);
      last_ = now;
      measured_ += taken;
      each_ = taken / static_cast<float>(count);
    }
  }

  // Returns: how many iterations to run next, of `left` out of a part of `whole`.
  size_t nextPiece(size_t left, size_t whole) {
    if (isMeasured()) {
      const size_t grown = std::max<size_t>(piece_ * kGrowth, 1);
      const float most = each_ > kNextToNothing ? kShortPiece : static_cast<float>(kLongestPiece);
      const bool mayGrow = static_cast<float>(grown) * each_ <= most;
      piece_ = mayGrow ? grown : std::max<size_t>(static_cast<size_t>(most / each_), 1);
      if (measured_ < kMeasuredEnough) {
        piece_ = std::min(piece_, std::max<size_t>(whole / kFewestPieces, 1));
      }
      return std::min(aligned(piece_), left);
    }
    return std::min(piece_, left);
  }

  // `isTimed`: a timer may come due on this thread, and its fiber waits for the end of the piece.
  void setStride(bool isTimed) {
    stride_ = !isMeasured() ? std::numeric_limits<size_t>::max() : isTimed ? kTimedStride : kStride;
  }
  // Returns: after how many iterations a piece looks at the clock.
  size_t stride() const { return stride_; }

  // Returns: how many of `left` iterations to keep when the rest is shared.
  size_t firstHalf(size_t left) const {
    const size_t half = left - left / 2;
    return isMeasured() ? aligned(half) : (half - 1) / grain_ * grain_ + grain_;
  }

  // Returns: whether half of `left` iterations should be offered to another thread.
  bool isWorthSharing(size_t left, const LocalDeque& local) const {
    if (left < 2) {
      return false;
    }
    if (!isMeasured()) {
      return left > grain_;
    }
    const float rest = static_cast<float>(left) * each_;
    return local.numOthers != 0 && measured_ >= kMeasuredEnough && rest >= kWorthStealing &&
           (rest >= kWorthWaking || !local.idle.wouldWake());
  }

 private:
  // Rounds down to a multiple of 64 from the beginning of the loop. So the next part begins at a full cache
  // line, even if an element is a byte. Vector instructions across lines would take a third more time.
  size_t aligned(size_t count) const {
    return count < 2 * kAlignment ? count : count - (done_ + count) % kAlignment;
  }

  static constexpr size_t kAlignment = 64;
  static constexpr size_t kGrowth = 16;
  static constexpr size_t kFewestPieces = 8;  // while little is known
  // Multiples of kAlignment. A look after 2,048 makes a loop that adds 10 M floats 7 percent slower. One
  // after 256 makes a loop over floats in the cache 4 to 13 percent slower, and one over bytes 35.
  static constexpr size_t kStride = 8192;
  static constexpr size_t kTimedStride = 256;
  // Microseconds.
  static constexpr float kMeasuredEnough = 1;
  // An iteration beyond some instructions may soon take far more.
  static constexpr float kNextToNothing = 0.01f;
  static constexpr float kShortPiece = 1;
  static constexpr float kWorthStealing = 8;
  static constexpr float kWorthWaking = 25;

  size_t grain_;
  size_t piece_;
  size_t stride_ = std::numeric_limits<size_t>::max();
  size_t done_ = 0;  // iterations since an aligned place
  uint64_t last_ = 0;
  float each_ = 0;      // microseconds of one iteration, by the last measurement
  float measured_ = 0;  // microseconds of all iterations
};

}  // namespace weft::inline v0_1::detail
